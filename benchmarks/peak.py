"""How much of what the processor can multiply do the core tasks use?

    python benchmarks/peak.py [--model smollm2] [--prompts 300] [--rounds 3] [--tasks core-color …]
        [--bfloat16] [--json]

Prompts of each core task are asked of one model in two ways, in turn: *matrices*, with PyTorch's
own product of matrices in its linear layers, and *packed*, with the layers that seesay lays out for
oneDNN where that is faster (`seesay.models.hf.packed`). Seconds are of the processor, medians over
the rounds. Work is counted operation by operation; the peak is a product of matrices of the model's
own shapes (512 × hidden × intermediate) in each way. *Of the bound*: attention is PyTorch's own
kernel, which multiplies as *matrices* does, so that no task can be faster than its linear layers at
the way's peak and its attention at that of matrices. What keeps a task from its bound is seen in a
profile: the share of the time in linear layers, in attention, and elsewhere. `--bfloat16` asks a
model in bfloat16, too, and compares its answers.
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
LINEAR = {"aten::addmm", "aten::mm", "mkldnn::_linear_pointwise"}
"""What linear layers are in a profile."""
ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


@dataclass(frozen=True)
class Row:
    """A task asked in one way."""

    task: str
    way: str
    prompts: int
    seconds: float
    gflops: float
    of_peak: float
    """The share of the way's own peak."""
    of_bound: float
    """The least time that linear layers and attention could take, as a share of the time."""
    linear: float
    """The share of the time in linear layers."""
    attention: float
    """The share of the time in attention."""
    apart: float
    """The largest difference of an option's log-probability from the first way's."""
    same: float
    """The share of prompts whose likeliest option is the first way's."""


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
        packed_layer = packed.PackedLinear(layer)
        halves, half_weight = states.bfloat16(), weight.bfloat16()
        return {
            "matrices": peak(lambda: linear(states, weight), operations),
            "packed": peak(lambda: packed_layer(states), operations),
            "bfloat16": peak(lambda: linear(halves, half_weight), operations),
        }


def attention_operations(query: torch.Size, key: torch.Size, *_: object, **__: object) -> int:
    """Return the operations of attention: two products, of every query with every key."""
    batch, heads, queries, size = query
    return 4 * batch * heads * queries * key[-2] * size


def operations(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many operations linear layers and attention take."""
    with FlopCounterMode(
        display=False, custom_mapping={ATTENTION: attention_operations}
    ) as counter:
        work()
    counts = counter.get_flop_counts()["Global"]
    in_attention = counts.get(ATTENTION, 0)
    return sum(counts.values()) - in_attention, in_attention


def shares_of_time(work: Callable[[], object]) -> tuple[float, float]:
    """Return the shares of the time that a profile finds in linear layers, their conversions
    included, and in attention."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work()
    events = profiled.key_averages()
    total = sum(event.self_cpu_time_total for event in events)

    def share(names: set[str]) -> float:
        inside = sum(event.self_cpu_time_total for event in events if event.key in names)
        return float(inside / total)

    return share(LINEAR), share({"aten::_scaled_dot_product_flash_attention_for_cpu"})


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
    packed.is_faster_packed = lambda: way == "packed"
    try:
        options = ModelOptions(dtype="bfloat16") if way == "bfloat16" else ModelOptions()
        return load_model(name, options)
    finally:
        packed.is_faster_packed = is_faster


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
            f"{'of bound':>10}{'linear':>8}{'attention':>11}{'apart':>10}{'same':>7}"
        )
    rows: list[Row] = []
    for name in options.tasks:
        task, prompts = sample(name, options.prompts)
        answers: dict[str, list[Scores]] = {}
        for way, model in models.items():
            model.prepare(task)
            answers[way] = ask(model, prompts)
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, model in models.items():
                seconds[way].append(processor_seconds(partial(ask, model, prompts)))
        first = statistics.median(seconds["matrices"])
        # packed layers do the work of the others, and are not counted
        in_layers, in_attention = operations(partial(ask, models["matrices"], prompts))
        for way, model in models.items():
            median = statistics.median(seconds[way])
            rate = (in_layers + in_attention) / median / 1e9
            attention_peak = tops["bfloat16" if way == "bfloat16" else "matrices"]
            bound = (in_layers / tops[way] + in_attention / attention_peak) / 1e9
            linear_share, attention_share = shares_of_time(partial(ask, model, prompts))
            row = Row(
                task=name,
                way=way,
                prompts=len(prompts),
                seconds=median,
                gflops=rate,
                of_peak=rate / tops[way],
                of_bound=bound / median,
                linear=linear_share,
                attention=attention_share,
                apart=distance(answers["matrices"], answers[way]),
                same=same_choices(answers["matrices"], answers[way]),
            )
            rows.append(row)
            if not options.json:
                print(
                    f"{name:<12}{way:<10}{median:>9.2f}{first / median:>7.2f}{rate:>9.0f}"
                    f"{row.of_peak:>9.0%}{row.of_bound:>10.0%}{row.linear:>8.0%}"
                    f"{row.attention:>11.0%}{row.apart:>10.1e}{row.same:>7.1%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps({"peaks": tops, "rows": [asdict(row) for row in rows]}))


if __name__ == "__main__":
    main()
