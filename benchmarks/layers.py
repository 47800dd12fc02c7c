"""Probes of every layer beside a probe of the last one alone: processor time, and what the vectors
take on disk.

    python benchmarks/layers.py [--data FOLDER] [--model smollm2] [--questions 4000,1000,3000]
        [--seeds 3] [-o FOLDER]

ViPhy's sizes, of each split so many questions, whole objects drawn with seed 0. Both encode with an
empty cache, train and answer; the control task is trained afterwards and not timed. With `-o` the
page of the layers is written there.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from seesay.models.base import Model
from seesay.models.encoders import load_encoder
from seesay.probes.layers import layer_logps
from seesay.probes.linear import encode_split, linear_task, probe_texts, train_probe
from seesay.probes.linear_layer import log_softmax, with_bias
from seesay.probes.vector_cache import LayerCache, VectorCache
from seesay.progress import no_progress
from seesay.questions import Task
from seesay.reports.pages.layers import write_layers
from seesay.runs.ask import Settings, limit_questions
from seesay.runs.layers import probe_layers
from seesay.tasks import load_task


def last_alone(
    encoder: Model, splits: dict[str, Task], seeds: int, folder: Path
) -> tuple[float, float]:
    """Processor seconds of encoding, and of training and answering."""
    cache, start = VectorCache(encoder, folder), time.process_time()
    cache.fill([text for part in splits.values() for text in probe_texts(part)])
    encoded = time.process_time()
    for seed in range(seeds):
        probe = train_probe(cache, splits, seed=seed)
        log_softmax(
            with_bias(encode_split(cache, splits["test"], probe.labels).vectors)
            @ probe.layer.weights
        )
    return encoded - start, time.process_time() - encoded


def all_layers(cache: LayerCache, splits: dict[str, Task], seeds: int) -> tuple[float, float]:
    """The same for every layer."""
    start = time.process_time()
    texts = [text for part in splits.values() for text in probe_texts(part)]
    cache.fill(texts)
    encoded = time.process_time()
    layer_logps(cache, splits, range(cache.layers(texts)), seeds=range(seeds))
    return encoded - start, time.process_time() - encoded


def main() -> None:
    """Print the two times and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--questions", default="4000,1000,3000")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    splits = linear_task(load_task("viphy-size", arguments.data)).splits()
    for name, count in zip(
        ("train", "validation", "test"), arguments.questions.split(","), strict=True
    ):
        splits[name] = limit_questions(splits[name], int(count), 0)
    encoder = load_encoder(arguments.model)
    with tempfile.TemporaryDirectory() as folder:
        alone = last_alone(encoder, splits, arguments.seeds, Path(folder) / "last")
        cache = LayerCache(encoder, Path(folder) / "all")
        layers = all_layers(cache, splits, arguments.seeds)
        for title, (encoding, probes) in (("last layer", alone), ("all layers", layers)):
            print(
                f"{title}: encoding {encoding:.1f} s, probes {probes:.1f} s, together "
                f"{encoding + probes:.1f} s"
            )
        print(f"{sum(layers) / sum(alone):.2f} x")
        curve = probe_layers(cache, splits, Settings(), seeds=arguments.seeds, progress=no_progress)
    print(f"{len(curve.figures)} layers, kept vectors {curve.vector_bytes:,} bytes")
    for f in curve.figures:
        print(
            f"{f.layer:3} {f.value:.3f} ({f.low:.3f}-{f.high:.3f}), control {f.control:.3f}, "
            f"{f.selectivity:.3f}"
        )
    if arguments.output:
        print(write_layers(arguments.output / "layers.html", [curve]))


if __name__ == "__main__":
    main()
