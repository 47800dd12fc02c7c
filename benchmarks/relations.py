"""The perplexity matrix in bulk compared with scoring one sentence at a time: equal figures, and
the speed-up.

    python benchmarks/relations.py --captions multi30k.train.1.en.gz …
        [--model FOLDER] [--causal smollm2]
        [--size 100]

The LSTM has the published size (300, 300) and the published vocabulary rule (words seen 100 times
or more); without --model its weights are random, which does not change the time. Contexts are
captions with exactly one of the relations. One sentence at a time is timed on a part of the matrix
(--part) and scaled up: its cost is the same for every cell.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.language.relations.contexts import collect_contexts
from seesay.language.relations.lexicon import RelationLexicon
from seesay.language.relations.matrix import Gap, perplexity_matrix
from seesay.language.training.captions import split
from seesay.language.words.lstm import LstmModel
from seesay.language.words.lstm_network import LstmNetwork
from seesay.language.words.vocabulary import Vocabulary, joined, words
from seesay.models import load_model

RELATIONS = (
    "on",
    "in",
    "with",
    "at",
    "by",
    "near",
    "behind",
    "over",
    "under",
    "above",
    "below",
    "beside",
    "around",
    "through",
    "along",
    "across",
    "against",
    "between",
    "inside",
    "outside",
    "into",
    "onto",
    "off",
    "up",
    "down",
    "past",
    "in front of",
    "next to",
    "on top of",
    "out of",
)
FEWEST = 100


def contexts(paths: Sequence[Path], size: int) -> dict[str, list[Gap]]:
    """The first `size` contexts of each relation that has as many."""
    by_relation = collect_contexts(paths, RelationLexicon(RELATIONS), held_out=0.0).train
    return {
        relation: [*gaps[:size]]
        for relation, gaps in sorted(by_relation.items())
        if len(gaps) >= size
    }


def untrained(lines: Sequence[str]) -> LstmModel:
    """The published network with random weights and its vocabulary."""
    everywhere = [[joined(relation) for relation in RELATIONS]] * FEWEST
    vocabulary = Vocabulary.of([*map(words, lines), *everywhere], smallest=FEWEST)
    torch.manual_seed(0)
    return LstmModel(
        "untrained",
        LstmNetwork(len(vocabulary), embedding=300, hidden=300),
        vocabulary,
        "untrained",
    )


def clean(model: Any, gap: Gap) -> bool:
    """Whether no relation forms a phrase with its neighbours ("along" before "side"): in bulk it is
    read by itself."""
    if not isinstance(model, LstmModel):
        return True
    before, after = gap
    return all(
        model.split(before + relation + after)
        == [*model.split(before), *model.fill(relation), *model.split(after)]
        for relation in RELATIONS
    )


def one_by_one(
    model: Any, gaps: dict[str, list[Gap]], relations: Sequence[str]
) -> NDArray[np.float64]:
    """The same matrix, one sentence at a time."""
    spelt = {
        r: joined(r) if isinstance(model, LstmModel) and model.knows(joined(r)) else r
        for r in relations
    }
    matrix = np.empty((len(relations), len(gaps)))
    for column, group in enumerate(gaps.values()):
        for row, relation in enumerate(relations):
            scored = [
                next(iter(model.score([before + spelt[relation] + after]))).logp
                for before, after in group
            ]
            matrix[row, column] = np.exp(-sum(map(sum, scored)) / sum(map(len, scored)))
    return matrix


def compare(
    name: str, model: Any, gaps: dict[str, list[Gap]], part: int, clock: Callable[[], float]
) -> float:
    """The speed-up; the figures must be equal."""
    perplexity_matrix(model, {r: g[:1] for r, g in gaps.items()}, RELATIONS)  # warms up
    begun = clock()
    bulk = perplexity_matrix(model, gaps, RELATIONS)
    in_bulk = clock() - begun
    cells = sum(map(len, gaps.values())) * len(RELATIONS)
    few = {
        relation: [gap for gap in group if clean(model, gap)][:part]
        for relation, group in gaps.items()
    }
    begun = clock()
    single = one_by_one(model, few, RELATIONS)
    one_at_a_time = clock() - begun
    difference = float(np.abs(perplexity_matrix(model, few, RELATIONS) / single - 1).max())
    one_at_a_time *= cells / (sum(map(len, few.values())) * len(RELATIONS))
    print(
        f"{name}: {bulk.shape[0]} x {bulk.shape[1]}, {cells:,} sentences, "
        f"{torch.get_num_threads()} threads\n"
        f"  in bulk       {in_bulk:9.2f} s\n"
        f"  one at a time {one_at_a_time:9.2f} s   {one_at_a_time / in_bulk:5.1f} x   "
        f"largest relative difference {difference:.1e}"
    )
    assert difference < 1e-4, f"{name}: the figures differ"
    return one_at_a_time / in_bulk


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = Path(__file__).resolve().parents[2] / "shared/data/captions"
    parser.add_argument("--captions", type=Path, nargs="+", default=sorted(shared.glob("*.gz")))
    parser.add_argument("--model", help="a trained LSTM's folder")
    parser.add_argument("--causal", help="a causal model to report as well, as in smollm2")
    parser.add_argument("--size", type=int, default=100, help="contexts of each relation")
    parser.add_argument(
        "--part", type=int, default=10, help="contexts of each relation that are scored one by one"
    )
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--processor-time", action="store_true", help="on a busy machine, with --threads 1"
    )
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    logging.getLogger("seesay").setLevel(logging.ERROR)  # no warnings of unknown words
    clock = time.process_time if args.processor_time else time.perf_counter
    gaps = contexts(args.captions, args.size)
    model = (
        load_model(args.model)
        if args.model
        else untrained(split(args.captions, held_out=0.0).train)
    )
    assert isinstance(model, LstmModel)
    speedup = compare(
        f"LSTM, {len(model.vocabulary):,} words", model, gaps, min(args.part, args.size), clock
    )
    assert speedup >= 10, f"only {speedup:.1f} x faster"
    if args.causal:
        few = {
            relation: group[: max(1, args.size // 20)] for relation, group in list(gaps.items())[:4]
        }
        compare(args.causal, load_model(args.causal), few, 1, clock)


if __name__ == "__main__":
    main()
