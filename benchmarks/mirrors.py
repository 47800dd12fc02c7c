"""What a probe of ViPhy's sizes owes to mirror images: the published split beside two that share no
pair and no thing.

    python benchmarks/mirrors.py [--data FOLDER] [--model smollm2] [--limit 3000] [--seeds 3]
        [--layers 0,14,-1]

In the published split the mirror image of one test question in five is a training question. For
each split, the layers' probes are tested on the same sample of whole pairs (seed 0): accuracy of
all questions, of those without a mirror image in training, and how often a pair asked the other way
round gets the mirrored answer, each with a 95 % interval clustered by pair. Layer 0 is the
embedding of the last token; "second thing" is a probe of the last layer that reads the second thing
alone ("cup"), so that it cannot compare.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from seesay import metrics
from seesay.metrics import FloatArray, Resamples, ScoredItems
from seesay.models.encoders import load_encoder
from seesay.probes.layers import layer_logps
from seesay.probes.linear import gold_matrix, linear_task, probe_texts
from seesay.probes.vector_cache import LayerCache
from seesay.questions import Task
from seesay.runs.ask import limit_questions
from seesay.runs.layers import ALL, parse_layers
from seesay.runs.learning_curve import twin_scores
from seesay.tasks import load_task

SPLITS = ("viphy-size", "viphy-size-pairs", "viphy-size-things")


def print_figures(name: str, logps: FloatArray, task: Task) -> None:
    """Print the figures of one layer's probes (seeds × questions × labels)."""
    questions = task.questions
    gold = gold_matrix(questions, task.labels).astype(np.float64)
    items = [ScoredItems(scores, gold, twin=twin_scores(task, scores)) for scores in logps]
    is_mirrored = np.array([question.tags.get("mirrored") == "yes" for question in questions])
    parts = {"all": np.ones(len(questions), dtype=bool)}
    if is_mirrored.any():
        parts |= {"not mirrored": ~is_mirrored, "mirrored": is_mirrored}
    objects = [question.object for question in questions]
    # pairs that share a thing are not independent either
    resamples = Resamples(objects, things=[question.things for question in questions])
    cells = []
    for metric_name in ("accuracy", "mirror_consistency"):
        metric = metrics.get(metric_name)
        statistics = np.stack([metric.stats(item) for item in items])
        is_defined = metric.defined(statistics[0])
        for part, rows in parts.items():
            count = int((is_defined & rows).sum())
            if not count:
                continue
            interval = resamples.interval(statistics, metric.value, where=rows)
            spread = metrics.spread([metric(item.take(rows)) for item in items]) or 0.0
            cells.append(
                f"{metric_name}, {part} ({count:,}): {interval.value:.4f} "
                f"({interval.low:.4f}-{interval.high:.4f}), sd {spread:.4f}"
            )
    print(f"  {name}: {'; '.join(cells)}", flush=True)


def sampled(task: Task, limit: int | None) -> Mapping[str, Task]:
    """The splits, with a sample of the test questions."""
    splits = linear_task(task).splits()
    if limit is not None:
        splits["test"] = limit_questions(splits["test"], limit, 0)
    return splits


def main() -> None:
    """Print the figures of every split."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--layers", default=ALL)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cache = LayerCache(load_encoder(arguments.model))
    for name in SPLITS:
        start = time.process_time()
        task = load_task(name, arguments.data)
        splits = sampled(task, arguments.limit)
        sizes = ", ".join(f"{part} {len(split.questions):,}" for part, split in splits.items())
        print(f"{name} ({sizes})", flush=True)
        alone = replace(task, training=replace(task.training, linear_text="{b}"))
        probes = {"": splits, "second thing alone, ": sampled(alone, arguments.limit)}
        for title, parts in probes.items():
            texts = [text for part in parts.values() for text in probe_texts(part)]
            cache.fill(texts)
            layers = "-1" if title else arguments.layers
            numbers = parse_layers(layers, cache.layers(texts))
            logps = layer_logps(cache, parts, numbers, seeds=range(arguments.seeds))
            for number, by_seed in zip(numbers, logps, strict=True):
                print_figures(f"{title}layer {number}", by_seed, parts["test"])
        print(f"  {time.process_time() - start:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
