"""The whole caption evaluation: seesay beside pycocoevalcap (Java), the same captions, in one run.

    python benchmarks/captions.py [--sizes 1014 5000 29000] [--data ../shared/data/captions]

Caption 1 of Multi30k against captions 2 to 5: the validation images, then so many training images.
Tables are prepared before the clock starts; loading them counts, and so does starting Java. Every
figure of both is compared. Seconds by the clock depend on what else the machine does; processor
seconds, Java's included, do so less.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import importlib
import io
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seesay.captions import CaptionCorpus, bleu, cider_d, fuse, load, meteor, rouge

VALIDATION = 1014
Times = dict[str, float]
Figures = dict[str, float]


def read(folder: Path, size: int) -> tuple[list[str], list[list[str]]]:
    """Captions and references of the first `size` images."""
    split = "val" if size == VALIDATION else "train"
    columns = []
    for i in range(1, 6):
        with gzip.open(
            folder / f"multi30k.{split}.{i}.en.gz", "rt", encoding="utf-8", newline="\n"
        ) as file:
            columns.append([line.rstrip("\n") for line, _ in zip(file, range(size), strict=False)])
    return columns[0], [list(row) for row in zip(*columns[1:], strict=True)]


class Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.times: Times = {}

    def run(self, step: str, work: Callable[[], Any]) -> Any:
        """Do it, and note how long it took."""
        began = time.perf_counter()
        result = work()
        self.times[step] = time.perf_counter() - began
        return result


def processor() -> float:
    """Processor seconds of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def ours(hypotheses: list[str], references: list[list[str]]) -> tuple[Times, Figures]:
    """seesay's steps."""
    clock = Clock()
    corpus = clock.run("tokens", lambda: CaptionCorpus.tokenized(hypotheses, references))
    blues = clock.run("BLEU", lambda: bleu(corpus))
    best = clock.run("METEOR", lambda: meteor(corpus, load(), os.cpu_count() or 1))
    lcs = clock.run("ROUGE-L", lambda: rouge(corpus))
    consensus = clock.run("CIDEr-D", lambda: cider_d(corpus))
    fused = fuse([blues[-1], best, lcs, consensus])
    return clock.times, {one.name: one.value for one in [*blues, best, lcs, consensus, fused]}


def theirs(hypotheses: list[str], references: list[list[str]]) -> tuple[Times, Figures]:
    """pycocoevalcap's steps, as its `COCOEvalCap.evaluate` takes them."""

    def scorer(name: str) -> Any:
        return getattr(importlib.import_module(f"pycocoevalcap.{name}.{name}"), name.title())

    tokenizer = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer()
    clock = Clock()
    gold = {i: [{"caption": text} for text in row] for i, row in enumerate(references)}
    test = {i: [{"caption": text}] for i, text in enumerate(hypotheses)}
    gts, res = clock.run("tokens", lambda: (tokenizer.tokenize(gold), tokenizer.tokenize(test)))
    with contextlib.redirect_stdout(io.StringIO()):
        blues = clock.run("BLEU", lambda: scorer("bleu")(4).compute_score(gts, res)[0])
    best = clock.run("METEOR", lambda: scorer("meteor")().compute_score(gts, res)[0])
    lcs = clock.run("ROUGE-L", lambda: scorer("rouge")().compute_score(gts, res)[0])
    consensus = clock.run("CIDEr-D", lambda: scorer("cider")().compute_score(gts, res)[0])
    figures = {f"BLEU-{k}": value for k, value in enumerate(blues, 1)}
    figures |= {"METEOR": best, "ROUGE-L": float(lcs), "CIDEr-D": float(consensus)}
    figures["average fusion"] = (
        sum(figures[name] for name in ("BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D")) / 4
    )
    return clock.times, figures


def main() -> None:
    """Print both times by step and size, the ratios, the largest difference, and how both grow."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[VALIDATION, 5000, 29000])
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data/captions"
    )
    arguments = parser.parse_args()
    if not load().complete:
        parser.exit(2, "METEOR's data not found: install pycocoevalcap.\n")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; seconds: seesay | "
        "pycocoevalcap | ratio"
    )
    totals: list[tuple[int, float, float]] = []
    for size in arguments.sizes:
        captions = read(arguments.data, size)
        start = processor()
        left, figures = ours(*captions)
        middle = processor()
        right, expected = theirs(*captions)
        spent = middle - start, processor() - middle
        left["all"], right["all"] = sum(left.values()), sum(right.values())
        steps = "  ".join(
            f"{step} {left[step]:.2f}|{right[step]:.2f}|{right[step] / left[step]:.1f}x"
            for step in left
        )
        apart = max((abs(figures[name] - expected[name]), name) for name in expected)
        print(f"{size:>6} images  {steps}")
        print(f"       processor seconds {spent[0]:.1f}|{spent[1]:.1f}|{spent[1] / spent[0]:.1f}x")
        print(f"       largest difference of a figure {apart[0]:.1e} ({apart[1]})", flush=True)
        totals.append((size, left["all"], right["all"]))
    (n, a, b), (m, c, d) = totals[0], totals[-1]
    if n != m:
        grown = [math.log(late / early) / math.log(m / n) for early, late in ((a, c), (b, d))]
        print(f"growth from {n} to {m}: time ~ images^{grown[0]:.2f} | images^{grown[1]:.2f}")


if __name__ == "__main__":
    main()
