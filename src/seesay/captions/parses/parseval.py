"""PARSEVAL (Black et al., 1991) as evalb does it (Sekine and Collins, 1997): brackets that gold and
test share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from itertools import accumulate

import numpy as np

from seesay.captions.parses.parameters import EvalbParameters
from seesay.captions.parses.trees import Bracket, ParseTree
from seesay.metrics.base import FloatArray, Measurement, Metric, measure, ratio

_FUNCTION = re.compile(r"(?<=.)[-=].*", re.DOTALL)
DEFAULT = EvalbParameters()


class MismatchError(ValueError):
    """Gold and test are not parses of one sentence."""


@dataclass(frozen=True, slots=True)
class ParseScore:
    """One sentence as a row of evalb's table; `unlabelled` are the brackets that match if labels do
    not count."""

    length: int
    matched: int
    unlabelled: int
    gold: int
    test: int
    crossing: int
    words: int
    tags: int


def score(gold: ParseTree, test: ParseTree, parameters: EvalbParameters = DEFAULT) -> ParseScore:
    """Compare two parses of a sentence. Raises MismatchError if their words differ."""
    kept_gold = _kept(gold, parameters)
    kept_test = _kept(test, parameters)
    if sum(kept_gold) != sum(kept_test):
        kept_gold, kept_test = _reconcile(gold, kept_gold, test, kept_test, parameters)
    ours = _words(gold, kept_gold)
    theirs = _words(test, kept_test)
    if len(ours) != len(theirs):
        raise MismatchError(f"the lengths differ: {len(ours)} words in gold, {len(theirs)} in test")
    for (word, _), (other, _) in zip(ours, theirs, strict=True):
        if not parameters.same_word(word, other):
            raise MismatchError(f"the words differ: '{word}' in gold, '{other}' in test")
    golds = _brackets(gold, kept_gold, parameters)
    tests = _brackets(test, kept_test, parameters)
    return ParseScore(
        length=sum(tag not in parameters.delete_for_length for tag in gold.tags),
        matched=_matched(golds, tests, parameters, labelled=True),
        unlabelled=_matched(golds, tests, parameters, labelled=False),
        gold=len(golds),
        test=len(tests),
        crossing=sum(any(_crosses(bracket, other) for other in golds) for bracket in tests),
        words=len(ours),
        tags=sum(parameters.same_label(a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True)),
    )


def _kept(tree: ParseTree, parameters: EvalbParameters) -> list[bool]:
    return [tag not in parameters.delete for tag in tree.tags]


def _reconcile(
    gold: ParseTree,
    kept_gold: list[bool],
    test: ParseTree,
    kept_test: list[bool],
    parameters: EvalbParameters,
) -> tuple[list[bool], list[bool]]:
    """A word that only one side deletes, because the other tagged it wrongly, goes back (evalb
    since 2006)."""
    at_gold = [i for i, tag in enumerate(gold.tags) if tag not in parameters.delete_for_length]
    at_test = [i for i, tag in enumerate(test.tags) if tag not in parameters.delete_for_length]
    if [gold.words[i] for i in at_gold] != [test.words[i] for i in at_test]:
        return kept_gold, kept_test
    kept_gold = list(kept_gold)
    kept_test = list(kept_test)
    for i, j in zip(at_gold, at_test, strict=True):
        kept_gold[i] = kept_test[j] = kept_gold[i] or kept_test[j]
    return kept_gold, kept_test


def _words(tree: ParseTree, kept: list[bool]) -> list[tuple[str, str]]:
    return [
        pair
        for pair, keep in zip(zip(tree.words, tree.tags, strict=True), kept, strict=True)
        if keep
    ]


def _brackets(tree: ParseTree, kept: list[bool], parameters: EvalbParameters) -> list[Bracket]:
    """Brackets over what is left, without function tags, deleted labels and those that cover
    nothing."""
    before = list(accumulate(kept, initial=0))
    brackets = []
    for bracket in tree.brackets:
        label = _FUNCTION.sub("", bracket.label)
        start = before[bracket.start]
        end = before[bracket.end]
        if label and label not in parameters.delete and start < end:
            brackets.append(Bracket(label, start, end))
    return brackets


def _matched(
    golds: list[Bracket], tests: list[Bracket], parameters: EvalbParameters, *, labelled: bool
) -> int:
    """How many test brackets find a gold one that no other has taken."""
    free: dict[tuple[int, int], list[str]] = {}
    for bracket in golds:
        free.setdefault((bracket.start, bracket.end), []).append(bracket.label)
    count = 0
    for bracket in sorted(tests, key=lambda b: not _exact(b, free)):
        labels = free.get((bracket.start, bracket.end), [])
        if labelled:
            labels_that_fit = [x for x in labels if parameters.same_label(x, bracket.label)]
        else:
            labels_that_fit = labels
        if labelled and bracket.label in labels_that_fit:
            choice: str | None = bracket.label
        else:
            choice = next(iter(labels_that_fit), None)
        if choice is not None:
            labels.remove(choice)
            count += 1
    return count


def _exact(bracket: Bracket, free: dict[tuple[int, int], list[str]]) -> bool:
    return bracket.label in free.get((bracket.start, bracket.end), [])


def _crosses(a: Bracket, b: Bracket) -> bool:
    return a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end


_COLUMNS = (*(field.name for field in fields(ParseScore)), "complete", "none", "two", "one")


def statistics(scores: Sequence[ParseScore]) -> FloatArray:
    """One row per sentence, in the order of `_COLUMNS`."""
    rows = [
        (*astuple(s), s.matched == s.gold == s.test, s.crossing == 0, s.crossing <= 2, 1)
        for s in scores
    ]
    return np.asarray(rows, np.float64).reshape(-1, len(_COLUMNS))


def _share(above: str, below: str, sums: FloatArray) -> FloatArray:
    return ratio(sums[..., _COLUMNS.index(above)], sums[..., _COLUMNS.index(below)], undefined=0.0)


def _f1(matched: str, sums: FloatArray) -> FloatArray:
    precision = _share(matched, "test", sums)
    recall = _share(matched, "gold", sums)
    return ratio(2 * precision * recall, precision + recall, undefined=0.0)


def parseval(
    scores: Sequence[ParseScore], parameters: EvalbParameters = DEFAULT
) -> list[Measurement]:
    """evalb's summary: precision, recall and F1, labelled and not, complete match, crossing
    brackets, tags."""
    metrics = []
    for kind, matched in [("labelled", "matched")] * parameters.labelled + [
        ("unlabelled", "unlabelled")
    ]:
        metrics += [
            (
                f"{kind} precision",
                "Share of the test brackets that gold has too.",
                partial(_share, matched, "test"),
            ),
            (
                f"{kind} recall",
                "Share of the gold brackets that test has too.",
                partial(_share, matched, "gold"),
            ),
            (f"{kind} F1", "Harmonic mean of precision and recall.", partial(_f1, matched)),
        ]
    metrics += [
        (
            "complete match",
            "Share of sentences with equal brackets.",
            partial(_share, "complete", "one"),
        ),
        (
            "average crossing",
            "Test brackets that cross a gold one, per sentence.",
            partial(_share, "crossing", "one"),
        ),
        (
            "no crossing",
            "Share of sentences without a crossing bracket.",
            partial(_share, "none", "one"),
        ),
        (
            "two or less crossing",
            "Share of sentences with 2 crossings or fewer.",
            partial(_share, "two", "one"),
        ),
        ("tagging accuracy", "Share of words with the gold tag.", partial(_share, "tags", "words")),
    ]
    return measure(
        [Metric(name, meaning, statistics, value) for name, meaning, value in metrics], scores
    )
