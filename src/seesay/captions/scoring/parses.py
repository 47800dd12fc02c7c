"""Parses against a gold standard, as evalb scores them, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from seesay import __version__
from seesay.captions.defaults import RESAMPLES
from seesay.captions.parses import (
    EvalbParameters,
    MismatchError,
    ParseScore,
    ParseTree,
    parseval,
    score,
)
from seesay.captions.parses.parameters import read_parameters
from seesay.captions.parses.trees import TreeRow, read_trees, split_trees
from seesay.captions.scoring.records import TextComparison, TextRecord, make_records, system_names
from seesay.errors import UserError
from seesay.metrics.bootstrap import Resamples
from seesay.questions import BadRow

ParseSource = Path | str | Sequence[str]
"""A file of Penn Treebank brackets, or the parses in memory, one text per sentence."""


@dataclass(frozen=True)
class ParseScores:
    """The figures of a parser, and the counts of each sentence (from 1) that could be compared."""

    records: list[TextRecord]
    sentences: dict[int, ParseScore]
    left_out: list[str]
    signature: str
    comparisons: list[TextComparison] = field(default_factory=list)
    """None: a parser is scored alone."""

    @property
    def figures(self) -> dict[str, TextRecord]:
        """The figures over all sentences by the name of the metric."""
        return {record.metric: record for record in self.records if record.slice is None}

    def rows(self) -> Iterator[dict[str, object]]:
        """Return one row per sentence."""
        for number, counts in self.sentences.items():
            yield {"sentence": number, **asdict(counts)}


def score_parses(
    gold: ParseSource,
    test: ParseSource,
    *,
    parameters: EvalbParameters | Path | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ParseScores:
    """Score labelled and unlabelled brackets, crossings and tags.

    There are figures over all sentences, and up to evalb's cutoff length.

    `parameters` are evalb's, from its file or in memory; by default those of COLLINS.prm.
    """
    if isinstance(parameters, Path):
        rules = read_parameters(parameters)
    else:
        rules = parameters or EvalbParameters()
    gold_name, golds = _load(gold, "gold")
    test_name, tests = _load(test, "test")
    if len(golds) != len(tests):
        raise UserError(
            f"{gold_name} has {len(golds)} parses and {test_name} has {len(tests)}: they are "
            "paired in order."
        )
    sentences: dict[int, ParseScore] = {}
    left_out: list[str] = []
    for number, rows in enumerate(zip(golds, tests, strict=True), 1):
        result = _compare(number, (gold_name, test_name), rows, rules)
        if isinstance(result, ParseScore):
            sentences[number] = result
        else:
            left_out += result
    if not sentences:
        raise UserError(
            f"No sentence of {test_name} could be compared with {gold_name}: {left_out[0]}."
        )
    if isinstance(parameters, Path):
        source = parameters.name
    elif parameters is None:
        source = "COLLINS.prm"
    else:
        source = "custom"
    line = f"evalb:{source}|sentences:{len(golds)}|boot:{resamples}-seed{seed}|seesay:{__version__}"
    records = []
    for part, scores in _slices(sentences, rules.cutoff).items():
        resampled = Resamples([str(number) for number in scores], resamples, seed)
        measurements = parseval(list(scores.values()), rules)
        name = system_names([test])[0]
        records += make_records("parses", name, measurements, resampled, line, part)
    return ParseScores(records, sentences, left_out, line)


def _slices(
    sentences: dict[int, ParseScore],
    cutoff: int,
) -> dict[str | None, dict[int, ParseScore]]:
    """Return all sentences, and those up to the cutoff length if only some of them are."""
    slices: dict[str | None, dict[int, ParseScore]] = {None: sentences}
    short = {number: counts for number, counts in sentences.items() if counts.length <= cutoff}
    if 0 < len(short) < len(sentences):
        slices[f"length<={cutoff}"] = short
    return slices


def _load(source: ParseSource, name: str) -> tuple[str, list[TreeRow]]:
    """Return what to call the source, and its parses."""
    if isinstance(source, str | Path):
        return str(source), read_trees(Path(source))
    return name, split_trees(list(source))


def _compare(
    number: int,
    names: tuple[str, str],
    rows: tuple[TreeRow, TreeRow],
    rules: EvalbParameters,
) -> ParseScore | list[str]:
    """Return the sentence's counts, or why it cannot be compared."""
    (_, gold), (line, test) = rows
    if isinstance(gold, ParseTree) and isinstance(test, ParseTree):
        try:
            return score(gold, test, rules)
        except MismatchError as error:
            return [f"{names[1]}, line {line}: {error}"]
    reasons = []
    for name, (at, tree) in zip(names, rows, strict=True):
        if isinstance(tree, BadRow):
            reasons.append(f"{name}, line {at}: {tree.reason}")
        elif tree is None:
            reasons.append(f"{name}, line {at}: no parse (sentence {number} skipped)")
    return reasons
