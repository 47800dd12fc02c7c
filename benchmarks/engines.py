"""What other engines would give for the default model: size, start, speed, and how far their
log-probabilities are from those of float32.

    python benchmarks/engines.py

PyTorch in float32 (as seesay computes on a processor) and in bfloat16, and llama.cpp (the wheel
xllamacpp) on the same GGUF file, each in a process of its own with one thread. Seconds are the
processor's. ONNX Runtime is listed by its size: no registry has the model's graph, and to export it
takes PyTorch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.gguf import convert_gguf

PROMPTS = (
    "The color of a banana is",
    "The color of snow is",
    "An elephant is larger than a",
    "A cat is smaller than a",
    "The sky above the sea is",
    "A bicycle has two",
)
TEXT = "The lamp stands on the table by the window, and a cat sleeps under it while it rains. " * 24
LIKELIEST = 20
"""Tokens after each prompt that are compared."""

PACKAGES = {
    "float32": ("torch", "transformers", "tokenizers", "safetensors", "sympy", "networkx"),
    "bfloat16": ("torch", "transformers", "tokenizers", "safetensors", "sympy", "networkx"),
    "llama.cpp": ("xllamacpp",),
    "ONNX Runtime": ("onnxruntime",),
}
Answers = dict[str, dict[str, float]]


def with_llama_cpp(weights: Path) -> tuple[float, float, Answers]:
    """The seconds to start, the tokens per second, and the log-probabilities after each prompt."""
    start = time.process_time()
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx, parameters.n_parallel, parameters.warmup = 2048, 1, False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    seconds_to_start = time.process_time() - start

    def complete(prompt: str) -> dict[str, Any]:
        request = {"prompt": prompt, "n_predict": 1, "n_probs": LIKELIEST, "cache_prompt": False}
        reply = server.handle_completions({**request, "temperature": -1.0})
        document = json.loads(reply) if isinstance(reply, str | bytes) else reply
        completion: dict[str, Any] = document[0] if isinstance(document, list) else document
        return completion

    answers = {}
    for prompt in PROMPTS:
        (token,) = complete(prompt)["choices"][0]["logprobs"]["content"]
        answers[prompt] = {row["token"]: row["logprob"] for row in token["top_logprobs"]}
    start = time.process_time()
    tokens = complete(TEXT)["usage"]["prompt_tokens"]
    return seconds_to_start, tokens / (time.process_time() - start), answers


def with_pytorch(weights: Path, dtype: str) -> tuple[float, float, Answers]:
    """The same of PyTorch."""
    folder = convert_gguf(weights)
    start = time.process_time()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    seconds_to_start = time.process_time() - start
    answers = {}
    with torch.inference_mode():
        for prompt in PROMPTS:
            ids = torch.tensor([tokenizer(prompt)["input_ids"]])
            logp = model(ids).logits[0, -1].float().log_softmax(-1)
            answers[prompt] = {
                str(tokenizer.decode([i])): value for i, value in enumerate(logp.tolist())
            }
        ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
        start = time.process_time()
        model(ids, logits_to_keep=1)
    return seconds_to_start, ids.numel() / (time.process_time() - start), answers


ENGINES: dict[str, Callable[[Path], tuple[float, float, Answers]]] = {
    "float32": lambda weights: with_pytorch(weights, "float32"),
    "bfloat16": lambda weights: with_pytorch(weights, "bfloat16"),
    "llama.cpp": with_llama_cpp,
}


def megabytes(packages: tuple[str, ...]) -> float:
    """What packages take on the disk."""
    files = [file for name in packages for file in distribution(name).files or ()]
    paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def difference(answers: Answers, reference: Answers) -> float:
    """How far log-probabilities are from the reference's, at its likeliest tokens."""
    largest = 0.0
    for prompt, expected in reference.items():
        likeliest = sorted(expected, key=lambda token: -expected[token])[:LIKELIEST]
        both = [token for token in likeliest if token in answers[prompt]]
        largest = max(largest, *(abs(answers[prompt][t] - expected[t]) for t in both))
    return largest


def main() -> None:
    """Measure each engine in a process of its own."""
    weights = CATALOGUE["smollm2"].fetch()
    convert_gguf(weights)
    reference: Answers = {}
    for name, packages in PACKAGES.items():
        row = f"{name:<14}{megabytes(packages):6.0f} MB"
        if name in ENGINES:
            ended = subprocess.run(
                [sys.executable, __file__, name],
                check=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            # llama.cpp logs to the same place
            start, speed, answers = json.loads(ended.stdout.splitlines()[-1])
            reference = reference or answers
            row += f"   start {start:5.1f} s   {speed:5.0f} tokens/s"
            row += (
                f"   largest difference of a log-probability {difference(answers, reference):.2f}"
            )
        print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(ENGINES[sys.argv[1]](CATALOGUE["smollm2"].fetch())))
    else:
        main()
