"""PARSEVAL (Black et al., 1991) as evalb does it (Sekine and Collins, 1997).

Recall is the share of the gold brackets that the test has, precision the share of the test
brackets that gold has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from itertools import accumulate, compress

import numpy as np

from seesay.captions.parses.parameters import EvalbParameters
from seesay.captions.parses.trees import Bracket, ParseTree
from seesay.metrics.base import FloatArray, Measurement, Metric, measure, ratio

# What follows a label's first hyphen or equals sign is a function tag or an index; a label that
# begins with one, such as -NONE-, keeps it.
_FUNCTION = re.compile(r"(?<=.)[-=].*", re.DOTALL)
DEFAULT = EvalbParameters()


class MismatchError(ValueError):
    """Gold and test are not parses of one sentence."""


@dataclass(frozen=True, slots=True)
class ParseScore:
    """One sentence as a row of evalb's table."""

    length: int
    """Words of the sentence, without traces."""
    matched: int
    """Test brackets that match a gold one."""
    unlabelled: int
    """Test brackets that match if labels do not count."""
    gold: int
    """Brackets of the gold parse."""
    test: int
    """Brackets of the test parse."""
    crossing: int
    """Test brackets that cross a gold one."""
    words: int
    """Words that count, without punctuation."""
    tags: int
    """Words with the gold tag."""


def score(
    gold: ParseTree,
    test: ParseTree,
    parameters: EvalbParameters = DEFAULT,
) -> ParseScore:
    """Compare two parses of a sentence. Raises MismatchError if their words differ."""
    gold_mask = [tag not in parameters.delete for tag in gold.tags]
    test_mask = [tag not in parameters.delete for tag in test.tags]
    if sum(gold_mask) != sum(test_mask):
        _reconcile(gold, gold_mask, test, test_mask, parameters)
    gold_words = list(compress(zip(gold.words, gold.tags, strict=True), gold_mask))
    test_words = list(compress(zip(test.words, test.tags, strict=True), test_mask))
    if len(gold_words) != len(test_words):
        raise MismatchError(
            f"the lengths differ: {len(gold_words)} words in gold, {len(test_words)} in test"
        )
    tags = 0
    for (word, tag), (test_word, test_tag) in zip(gold_words, test_words, strict=True):
        if not parameters.same_word(word, test_word):
            raise MismatchError(f"the words differ: '{word}' in gold, '{test_word}' in test")
        tags += parameters.same_label(tag, test_tag)
    golds = _brackets(gold, gold_mask, parameters)
    tests = _brackets(test, test_mask, parameters)
    return ParseScore(
        length=sum(tag not in parameters.delete_for_length for tag in gold.tags),
        matched=_count_matches(golds, tests, parameters, labelled=True),
        unlabelled=_count_matches(golds, tests, parameters, labelled=False),
        gold=len(golds),
        test=len(tests),
        crossing=sum(_crosses_any(bracket, golds) for bracket in tests),
        words=len(gold_words),
        tags=tags,
    )


def _reconcile(
    gold: ParseTree,
    gold_mask: list[bool],
    test: ParseTree,
    test_mask: list[bool],
    parameters: EvalbParameters,
) -> None:
    """Put back, in both masks, words that only one side deletes.

    The other side tagged such a word wrongly (evalb does so since 2006).
    """
    gold_places = _places_of_words(gold, parameters)
    test_places = _places_of_words(test, parameters)
    if [gold.words[i] for i in gold_places] != [test.words[j] for j in test_places]:
        return
    for i, j in zip(gold_places, test_places, strict=True):
        gold_mask[i] = test_mask[j] = gold_mask[i] or test_mask[j]


def _places_of_words(tree: ParseTree, parameters: EvalbParameters) -> list[int]:
    """Return the places of the words that count for the length: traces do not."""
    return [i for i, tag in enumerate(tree.tags) if tag not in parameters.delete_for_length]


def _brackets(
    tree: ParseTree,
    mask: list[bool],
    parameters: EvalbParameters,
) -> list[Bracket]:
    """Return the brackets over the words of a mask.

    Function tags, deleted labels and brackets that cover nothing are dropped.
    """
    # How many of the mask's words stand before each word: that is its place among them.
    before = list(accumulate(mask, initial=0))
    brackets = []
    for bracket in tree.brackets:
        label = _FUNCTION.sub("", bracket.label)
        start = before[bracket.start]
        end = before[bracket.end]
        if label and label not in parameters.delete and start < end:
            brackets.append(Bracket(label, start, end))
    return brackets


def _count_matches(
    golds: list[Bracket],
    tests: list[Bracket],
    parameters: EvalbParameters,
    *,
    labelled: bool,
) -> int:
    """Count the test brackets that find a gold one that no other has taken."""
    free: dict[tuple[int, int], list[str]] = {}
    for bracket in golds:
        free.setdefault((bracket.start, bracket.end), []).append(bracket.label)

    def has_no_equal(bracket: Bracket) -> bool:
        return bracket.label not in free.get((bracket.start, bracket.end), [])

    count = 0
    # Those with an equal gold bracket choose first: a bracket that fits by an equivalence of labels
    # (ADVP and PRT) must not take the only one that another needs.
    for bracket in sorted(tests, key=has_no_equal):
        labels = free.get((bracket.start, bracket.end), [])
        if labelled:
            label = _find_label(bracket.label, labels, parameters)
        else:
            label = next(iter(labels), None)
        if label is not None:
            labels.remove(label)
            count += 1
    return count


def _find_label(
    label: str,
    labels: list[str],
    parameters: EvalbParameters,
) -> str | None:
    """Return the label itself if it is among the labels, else the first that counts as the same."""
    if label in labels:
        return label
    return next((other for other in labels if parameters.same_label(other, label)), None)


def _crosses_any(a: Bracket, brackets: list[Bracket]) -> bool:
    """Return whether a bracket overlaps one of the others and neither holds the other."""
    return any(
        a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end for b in brackets
    )


# Beside a score's own counts: whether all brackets match, none crosses, at most two cross; and 1.
_COLUMNS = (*(field.name for field in fields(ParseScore)), "complete", "none", "two", "one")


def statistics(scores: Sequence[ParseScore]) -> FloatArray:
    """Return one row per sentence, in the order of `_COLUMNS`."""
    rows = []
    for sentence in scores:
        complete = sentence.matched == sentence.gold == sentence.test
        crossing = sentence.crossing
        rows.append((*astuple(sentence), complete, crossing == 0, crossing <= 2, 1))
    return np.asarray(rows, np.float64).reshape(-1, len(_COLUMNS))


def _share(above: str, below: str, sums: FloatArray) -> FloatArray:
    """Return one column of summed statistics over another, 0 where that is 0."""
    numerator = sums[..., _COLUMNS.index(above)]
    denominator = sums[..., _COLUMNS.index(below)]
    return ratio(numerator, denominator, undefined=0.0)


def _f1(matched: str, sums: FloatArray) -> FloatArray:
    """Return the harmonic mean of precision and recall of summed statistics."""
    precision = _share(matched, "test", sums)
    recall = _share(matched, "gold", sums)
    return ratio(2 * precision * recall, precision + recall, undefined=0.0)


def parseval(
    scores: Sequence[ParseScore],
    parameters: EvalbParameters = DEFAULT,
) -> list[Measurement]:
    """Return evalb's summary.

    It has precision, recall and F1, labelled and not, complete match, crossing brackets and tags.
    """
    metrics = [
        Metric(*row, statistics, partial(_share, *columns), most=most)
        for row, columns, most in _SHARES
    ]
    kinds = [("unlabelled", "unlabelled")]
    if parameters.labelled:
        kinds.insert(0, ("labelled", "matched"))
    brackets = []
    for kind, matched in kinds:
        brackets += [
            Metric(
                f"{kind} precision",
                "Share of the test brackets that gold has too.",
                statistics,
                partial(_share, matched, "test"),
            ),
            Metric(
                f"{kind} recall",
                "Share of the gold brackets that test has too.",
                statistics,
                partial(_share, matched, "gold"),
            ),
            Metric(
                f"{kind} F1",
                "Harmonic mean of precision and recall.",
                statistics,
                partial(_f1, matched),
            ),
        ]
    return measure([*brackets, *metrics], scores)


_SHARES = (
    (
        ("complete match", "Share of sentences with equal brackets."),
        ("complete", "one"),
        1.0,
    ),
    (
        ("average crossing", "Test brackets that cross a gold one, per sentence."),
        ("crossing", "one"),
        math.inf,
    ),
    (
        ("no crossing", "Share of sentences without a crossing bracket."),
        ("none", "one"),
        1.0,
    ),
    (
        ("two or less crossing", "Share of sentences with 2 crossings or fewer."),
        ("two", "one"),
        1.0,
    ),
    (
        ("tagging accuracy", "Share of words with the gold tag."),
        ("tags", "words"),
        1.0,
    ),
)
"""The name and the meaning of each figure beside brackets, and the columns that it divides."""
