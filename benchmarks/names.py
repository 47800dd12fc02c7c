"""Names from captions: seesay beside a plain spaCy loop (`for caption: nlp(caption)`), in one run.

    python benchmarks/names.py [--size 190530] [--sample 1000] [--processes 2]
        [--data ../shared/data/captions]

seesay counts the names in `--size` captions; the loop runs on a sample of them, since all would
take a quarter of an hour, and the rates are compared. On the sample, every word must have the same
tag. Wall-clock time depends on what else the machine does; processor time less so.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import time
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import spacy

from seesay.mining.caption_nouns import MODEL, count_names, frequent_names, read_captions, tag
from seesay.mining.subtypes import subtypes


def main() -> None:
    """Print both rates, the ratio, the memory, and the number of names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10**9)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parents[2] / "shared/data/captions"
    )
    options = parser.parse_args()
    files = ",".join(str(path) for path in sorted(options.data.glob("*.gz")))
    texts = list(islice(read_captions(f"captions:{files}"), options.size))
    sample = random.Random(0).sample(texts, min(options.sample, len(texts)))
    print(f"Python {platform.python_version()}, spaCy {version('spacy')}, {os.cpu_count()} cores")

    nlp = spacy.load(MODEL)
    start, spent = time.perf_counter(), cpu_seconds()
    plain = [[(token.text_with_ws, token.tag_) for token in nlp(text.lower())] for text in sample]
    clock, work = time.perf_counter() - start, cpu_seconds() - spent
    loop, loop_work = len(sample) / clock, len(sample) / work
    print(
        f"plain loop: {len(sample):,} captions, {clock:.1f} s, {loop:,.0f} per second "
        f"({loop_work:,.0f} per core second)"
    )
    print(f"the same tags: {plain == list(tag(sample))}")

    start, spent = time.perf_counter(), cpu_seconds()
    counts = count_names(
        read_captions(f"captions:{files}") if len(texts) < options.size else texts,
        options.processes,
    )
    clock, work = time.perf_counter() - start, cpu_seconds() - spent
    ours, ours_work = len(texts) / clock, len(texts) / work
    print(
        f"seesay: {len(texts):,} captions, {clock:.1f} s, {ours:,.0f} per second ({ours_work:,.0f} "
        "per core second)"
    )
    print(f"ratio: {ours / loop:.1f} by the clock, {ours_work / loop_work:.1f} by core seconds")
    names = frequent_names(counts)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"memory: {own:.0f} MB here, with the sample's loop and all captions; {largest:.0f} MB in "
        "the largest worker"
    )
    parents = sum(len(children) > 1 for children in subtypes(names).values())
    print(
        f"{len(names):,} names, used {sum(names.values()):,} times; {parents:,} of them have "
        "subtypes"
    )


def cpu_seconds() -> float:
    """Processor seconds of this process and its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
