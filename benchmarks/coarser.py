"""Write a model's weights rounded to fewer bits, to measure what quantisation costs.

    python benchmarks/coarser.py MODEL BITS OUTPUT
    seesay probe MODEL OUTPUT --task core-parts,core-color,memory-colors

MODEL is a name of `seesay models` or a folder. Every matrix of its layers is rounded as GGUF's Q4_1
does: blocks of 32 weights, each with its lowest value and the step between values, here with BITS
bits a weight. Embeddings stay as they are, as in most GGUF files. This is plain rounding: what is
made for few bits, such as IQ2_XXS, weighs weights by how much they matter and loses less.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seesay.models.options import ModelOptions
from seesay.models.source import ModelSource

BLOCK = 32


def round_weights(weights: torch.Tensor, bits: int) -> torch.Tensor:
    """Return the weights rounded block by block to 2 ** bits values between their ends.

    >>> round_weights(torch.arange(32.0), 1).unique().tolist()
    [0.0, 31.0]
    """
    blocks = weights.reshape(-1, BLOCK)
    low = blocks.amin(dim=1, keepdim=True)
    step = (blocks.amax(dim=1, keepdim=True) - low) / (2**bits - 1)
    # a block of equal weights has no step
    step = step.clamp_min(torch.finfo(weights.dtype).tiny)
    steps = ((blocks - low) / step).round()
    rounded: torch.Tensor = steps * step + low
    return rounded.reshape(weights.shape)


def main() -> None:
    """Write the coarser model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("bits", type=int)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    source = ModelSource.parse(options.model, ModelOptions()).fetch()
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    errors = []
    with torch.no_grad():
        for layer in model.model.layers.modules():
            if isinstance(layer, torch.nn.Linear):
                weights = round_weights(layer.weight, options.bits)
                errors.append(float((weights - layer.weight).norm() / layer.weight.norm()))
                layer.weight.copy_(weights)
    model.save_pretrained(options.output)
    AutoTokenizer.from_pretrained(source).save_pretrained(options.output)
    mean_error = sum(errors) / len(errors)
    print(f"{options.output}: {len(errors)} matrices, relative error {mean_error:.3f} on average")


if __name__ == "__main__":
    main()
