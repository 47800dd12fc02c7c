"""How much of what the processor can multiply do the core tasks use?

    python benchmarks/peak.py [--model smollm2] [--prompts 300] [--rounds 3] [--tasks core-color …]
        [--bfloat16] [--json]

Prompts of each core task are asked of one model in two ways, in turn: *matrices*, with PyTorch's
own product of matrices in its linear layers, and *packed*, with the layers that seesay lays out for
oneDNN where that is faster (`seesay.models.hf.packed`). Seconds are of the processor, medians over
the rounds. Work is counted by PyTorch (convolutions and products of matrices, attention included);
the peak is a product of matrices of the model's own shapes (512 × hidden × intermediate), by each
library. What is left below it is read from a profile: the share of the time that is spent in linear
layers, and elsewhere. `--bfloat16` asks a model in bfloat16, too, and compares its answers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import linear
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from seesay.models import ModelOptions, load_model
from seesay.models.base import Model
from seesay.models.hf import packed
from seesay.questions import Prompt, Scores
from seesay.runs.ask import distinct_prompts
from seesay.tasks import load_task

CORE = ("core-color", "core-size", "core-space", "core-parts")
ROWS = 512
LINEAR = {"aten::addmm", "aten::mm", "aten::mkldnn_linear", "aten::linear", "aten::matmul"}
"""What linear layers are in a profile; attention multiplies by other names."""
CONVERSIONS = {"aten::to_mkldnn", "aten::to_dense", "aten::mkldnn_reorder"}


@dataclass(frozen=True)
class Row:
    """A task asked in one way."""

    task: str
    way: str
    prompts: int
    seconds: float
    gflops: float
    share: float
    """Of the way's own peak."""
    in_products: float
    """The share of the time in products of matrices of linear layers."""
    apart: float
    """The largest difference of an option's log-probability from the first way's."""


def sample(name: str, size: int) -> tuple[Any, list[Prompt]]:
    """Return a task and prompts from all over it."""
    task = load_task(name)
    prompts = list(distinct_prompts(task).values())
    step = max(1, len(prompts) // size)
    return task, prompts[::step][:size]


def ask(model: Model, prompts: Sequence[Prompt]) -> list[Scores]:
    """Return the answers, asked in the batches that a run makes."""
    answers: dict[int, Scores] = {}
    for batch in model.plan(prompts):
        scores = model.answer([prompts[i] for i in batch])
        answers.update(zip(batch, scores, strict=True))
    return [answers[i] for i in range(len(prompts))]


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak(multiply: Callable[[], object], operations: int) -> float:
    """Return the GFLOP/s of a product, the best of twenty."""
    multiply()
    return operations / min(processor_seconds(multiply) for _ in range(20)) / 1e9


def peaks(network: nn.Module) -> dict[str, float]:
    """Return the peak of each way, by a product of the network's own shapes."""
    config: Any = network.config
    hidden, wide = config.hidden_size, config.intermediate_size
    states = torch.randn(ROWS, hidden)
    layer = nn.Linear(hidden, wide, bias=False)
    operations = 2 * ROWS * hidden * wide
    with torch.inference_mode():
        weight = layer.weight.detach().clone()
        opaque, opaque_weight = states.to_mkldnn(), weight.to_mkldnn()
        halves, half_weight = states.bfloat16(), weight.bfloat16()
        return {
            "matrices": peak(lambda: linear(states, weight), operations),
            "packed": peak(lambda: linear(opaque, opaque_weight), operations),
            "bfloat16": peak(lambda: linear(halves, half_weight), operations),
        }


def share_in_products(work: Callable[[], object]) -> float:
    """Return the share of the time that a profile finds in linear layers, their conversions
    included."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work()
    events = profiled.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    names = LINEAR | CONVERSIONS
    return sum(event.self_cpu_time_total for event in events if event.key in names) / total


def distance(first: Sequence[Scores], second: Sequence[Scores]) -> float:
    """Return the largest difference of an option's log-probability."""
    pairs = zip(first, second, strict=True)
    return max(float(np.abs(np.subtract(a.logp, b.logp)).max()) for a, b in pairs)


def same_choices(first: Sequence[Scores], second: Sequence[Scores]) -> float:
    """Return the share of prompts whose likeliest option is the same."""
    pairs = zip(first, second, strict=True)
    return float(np.mean([np.argmax(a.logp) == np.argmax(b.logp) for a, b in pairs]))


def load(name: str, *, way: str) -> Model:
    """Load a model whose layers multiply in one of the ways."""
    is_faster = packed.is_faster_packed
    packed.is_faster_packed = lambda: way == "packed"  # type: ignore[assignment]
    try:
        options = ModelOptions(dtype="bfloat16") if way == "bfloat16" else ModelOptions()
        return load_model(name, options)
    finally:
        packed.is_faster_packed = is_faster  # type: ignore[assignment]


def main() -> None:
    """Print one line per task and way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--tasks", nargs="+", default=CORE)
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bfloat16", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ways = ["matrices", "packed", *(["bfloat16"] if options.bfloat16 else [])]
    models = {way: load(options.model, way=way) for way in ways}
    network: Any = models["matrices"]._network  # type: ignore[attr-defined]
    tops = peaks(network)
    choice = "packed" if packed.is_faster_packed() else "matrices"
    if not options.json:
        print(
            f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, load "
            f"{os.getloadavg()[0]:.1f}; seesay takes: {choice}"
        )
        print("peak, GFLOP/s: " + ", ".join(f"{way} {tops[way]:.0f}" for way in ways))
        print(
            f"{'task':<12}{'way':<10}{'seconds':>9}{'x':>7}{'GFLOP/s':>9}{'of peak':>9}"
            f"{'in products':>13}{'apart':>10}{'same':>7}"
        )
    rows: list[Row] = []
    for name in options.tasks:
        task, prompts = sample(name, options.prompts)
        answers: dict[str, list[Scores]] = {}
        for way, model in models.items():
            model.prepare(task)
            answers[way] = ask(model, prompts)
        with FlopCounterMode(display=False) as counter:
            ask(models["matrices"], prompts)
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, model in models.items():
                seconds[way].append(processor_seconds(partial(ask, model, prompts)))
        first = statistics.median(seconds["matrices"])
        for way, model in models.items():
            median = statistics.median(seconds[way])
            rate = counter.get_total_flops() / median / 1e9
            row = Row(
                name,
                way,
                len(prompts),
                median,
                rate,
                rate / tops[way],
                share_in_products(partial(ask, model, prompts)),
                distance(answers["matrices"], answers[way]),
            )
            rows.append(row)
            if not options.json:
                same = same_choices(answers["matrices"], answers[way])
                print(
                    f"{name:<12}{way:<10}{median:>9.2f}{first / median:>7.2f}{rate:>9.0f}"
                    f"{row.share:>9.0%}{row.in_products:>13.0%}{row.apart:>10.1e}{same:>7.1%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps({"peaks": tops, "rows": [asdict(row) for row in rows]}))


if __name__ == "__main__":
    main()
