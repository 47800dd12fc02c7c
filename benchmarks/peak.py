"""How much of what the processor can multiply do the core tasks use?

    python benchmarks/peak.py [--model smollm2] [--prompts 300] [--rounds 3] [--tasks core-color …]
        [--bfloat16] [--json]

Prompts of each core task are asked of one model in two ways, in turn: *matrices*, with PyTorch's
own product of matrices in its linear layers, and *packed*, with the layers that seesay lays out for
oneDNN where that is faster (`seesay.models.hf.packed`). Seconds are of the processor, medians over
the rounds. The peak is a product of matrices of the model's own shapes (512 × hidden ×
intermediate) in each way.

The *bound* is the sum of what every part takes at the least: each linear layer and each attention
alone, in their own shapes, with nothing else between, and all other operations (norms, activations,
rotations, the mask, reading logits) as bytes that are read and written at the rate at which two
tensors of the size of the states are added. *Of bound* is its share of the time, and *at most* the
share of the peak that would be reached at the bound. Fewer bytes would be moved only by operations
made into one. `--bfloat16` asks a model in bfloat16, too, and compares its answers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

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
ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"
REPEATS = 5
"""How often a part is run alone: the best counts."""


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
    """The least time that all parts could take, as a share of the time."""
    at_most: float
    """The share of the way's own peak that would be reached at the bound."""
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


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of some work."""
    work()
    return min(processor_seconds(work) for _ in range(repeats))


def product(way: str, rows: int, width: int, outputs: int) -> Callable[[], object]:
    """Return a linear layer of random numbers, as a way computes it."""
    kind = torch.bfloat16 if way == "bfloat16" else torch.float32
    states = torch.randn(rows, width).to(kind)
    layer = nn.Linear(width, outputs, bias=False, dtype=kind)
    if way == "packed":
        packed_layer = packed.PackedLinear(layer)
        return lambda: packed_layer(states)
    return lambda: linear(states, layer.weight)


def peaks(network: nn.Module) -> dict[str, float]:
    """Return the peak of each way in GFLOP/s, by a product of the network's own shapes."""
    config: Any = network.config
    shape = (ROWS, config.hidden_size, config.intermediate_size)
    with torch.inference_mode():
        return {
            way: 2 * math.prod(shape) / best_seconds(product(way, *shape), 20) / 1e9
            for way in ("matrices", "packed", "bfloat16")
        }


class Parts(TorchDispatchMode):
    """What a network computes: its linear layers and attention by shape, and the bytes that all
    other operations read and write."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: Counter[tuple[int, int, int]] = Counter()
        self.attention: Counter[tuple[torch.Size, torch.Size]] = Counter()
        self.bytes = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        name = func.name().split(".")[0]
        if name != ATTENTION:
            # a linear layer comes as one operation, which is made of others
            with self:
                results = func.decompose(*args, **kwargs)
            if results is not NotImplemented:
                return results
        results = func(*args, **kwargs)
        if name in ("aten::mm", "aten::addmm"):
            *_, left, right = args
            self.products[left.shape[0], left.shape[1], right.shape[1]] += 1
        elif name == ATTENTION:
            self.attention[args[0].shape, args[1].shape] += 1
        elif not name.startswith("aten::empty"):
            self.bytes += moved_bytes(func, [args, kwargs], results)
        return results

    def operations(self) -> int:
        """Return how many operations linear layers and attention take."""
        in_layers = sum(2 * math.prod(shape) * n for shape, n in self.products.items())
        # two products, of every query with every key
        in_attention = sum(
            4 * query.numel() * key[-2] * n for (query, key), n in self.attention.items()
        )
        return in_layers + in_attention

    def bound(self, way: str, bandwidth: float) -> float:
        """Return the seconds that all parts take at the least."""
        kind = torch.bfloat16 if way == "bfloat16" else torch.float32
        seconds = self.bytes * kind.itemsize / torch.float32.itemsize / bandwidth
        with torch.inference_mode():
            for shape, count in self.products.items():
                seconds += count * best_seconds(product(way, *shape), REPEATS)
            for (query, key), count in self.attention.items():
                queries, keys = torch.randn(query).to(kind), torch.randn(key).to(kind)
                mask = torch.ones(query[-2], key[-2], dtype=torch.bool)
                attend = partial(scaled_dot_product_attention, queries, keys, keys, mask)
                seconds += count * best_seconds(attend, REPEATS)
        return seconds


def moved_bytes(func: Any, inputs: object, results: object) -> int:
    """Return how many bytes an operation reads and writes; a view moves none."""
    read = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    written = [leaf for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor)]
    storages = {tensor.untyped_storage().data_ptr() for tensor in read}
    is_view = any(tensor.untyped_storage().data_ptr() in storages for tensor in written)
    if is_view and not func._schema.is_mutable:
        return 0
    # what is repeated along an axis is in memory once
    return sum(min(tensor.nbytes, tensor.untyped_storage().nbytes()) for tensor in read + written)


def bytes_per_second(network: nn.Module) -> float:
    """Return at which rate tensors of the size of the widest states are added."""
    config: Any = network.config
    states = torch.randn(ROWS, config.intermediate_size)
    total = torch.empty_like(states)
    with torch.inference_mode():
        return 3 * states.nbytes / best_seconds(lambda: torch.add(states, states, out=total), 50)


def parts_of(work: Callable[[], object]) -> Parts:
    """Return what some work computes."""
    parts = Parts()
    with parts:
        work()
    return parts


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

    return share(LINEAR), share({ATTENTION})


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
    # the peak is one processor's: with more threads the processor's time is that of waiting, too
    torch.set_num_threads(1)
    ways = ["matrices", "packed", *(["bfloat16"] if options.bfloat16 else [])]
    models = {way: load(options.model, way=way) for way in ways}
    network: Any = models["matrices"]._network  # type: ignore[attr-defined]
    tops = peaks(network)
    bandwidth = bytes_per_second(network)
    choice = "packed" if packed.is_faster_packed() else "matrices"
    if not options.json:
        print(
            f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, load "
            f"{os.getloadavg()[0]:.1f}; seesay takes: {choice}"
        )
        print("peak, GFLOP/s: " + ", ".join(f"{way} {tops[way]:.0f}" for way in ways))
        print(f"bytes read and written: {bandwidth / 1e9:.0f} GB/s")
        print(
            f"{'task':<12}{'way':<10}{'seconds':>9}{'x':>7}{'GFLOP/s':>9}{'of peak':>9}"
            f"{'of bound':>10}{'at most':>9}{'linear':>8}{'attention':>11}{'apart':>10}{'same':>7}"
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
        # the calls of packed layers do not say their shapes
        parts = parts_of(partial(ask, models["matrices"], prompts))
        for way, model in models.items():
            median = statistics.median(seconds[way])
            rate = parts.operations() / median / 1e9
            of_bound = parts.bound(way, bandwidth) / median
            linear_share, attention_share = shares_of_time(partial(ask, model, prompts))
            row = Row(
                task=name,
                way=way,
                prompts=len(prompts),
                seconds=median,
                gflops=rate,
                of_peak=rate / tops[way],
                of_bound=of_bound,
                at_most=rate / tops[way] / of_bound,
                linear=linear_share,
                attention=attention_share,
                apart=distance(answers["matrices"], answers[way]),
                same=same_choices(answers["matrices"], answers[way]),
            )
            rows.append(row)
            if not options.json:
                print(
                    f"{name:<12}{way:<10}{median:>9.2f}{first / median:>7.2f}{rate:>9.0f}"
                    f"{row.of_peak:>9.0%}{row.of_bound:>10.0%}{row.at_most:>9.0%}{row.linear:>8.0%}"
                    f"{row.attention:>11.0%}{row.apart:>10.1e}{row.same:>7.1%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps({"peaks": tops, "rows": [asdict(row) for row in rows]}))


if __name__ == "__main__":
    main()
