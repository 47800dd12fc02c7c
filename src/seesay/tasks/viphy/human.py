"""The human row of viphy-color: CoDa's annotators on the things that CoDa and ViPhy share.

This is how the paper obtains its human figure. Its "relaxed accuracy" only asks that the typical
colours of the two have one in common, which is more lenient than the rule for models; the stricter
reading, where people's most frequent colour must be typical, is shown beside it under its own name.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seesay.data import store
from seesay.data.cells import text_field
from seesay.data.knowledge import COLORS, ColorFact
from seesay.data.rows import parse_json_lines
from seesay.errors import UserError
from seesay.metrics.base import BoolArray, FloatArray, ScoredItems
from seesay.metrics.macro_f1 import macro_f1
from seesay.metrics.relaxed_accuracy import RELAXED_ACCURACY
from seesay.metrics.typical_labels import typical_labels
from seesay.questions import Published
from seesay.tasks import coda

log = logging.getLogger(__name__)

SOURCE = "computed from CoDa's annotations"


@dataclass(frozen=True, slots=True)
class HumanFigures:
    """What CoDa's annotators score on the shared things.

    `any_overlap`: a typical colour of theirs is gold. `most_frequent`: their most frequent colour
    is gold. `confidence`: the share of their typical colours that is gold. `macro_f1`: of the
    typical colours, over labels.
    """

    objects: int
    any_overlap: float
    most_frequent: float
    confidence: float
    macro_f1: float


@dataclass(frozen=True, slots=True, eq=False)
class SharedThings:
    """The things that CoDa and ViPhy share: how people spread the colours, their typical ones, and
    ViPhy's (gold)."""

    names: tuple[str, ...]
    shares: FloatArray
    typical: FloatArray
    gold: BoolArray

    @property
    def hits(self) -> BoolArray:
        """Which of people's typical colours are gold."""
        return np.asarray((self.typical > 0) & self.gold)

    @property
    def confidence(self) -> FloatArray:
        """The share of each thing's typical colours that is gold."""
        return np.asarray(np.where(self.gold, self.typical, 0).sum(axis=1))


def shared_things(facts: Sequence[ColorFact], data: Path | None = None) -> SharedThings:
    """CoDa (its folder, or the data folder's) beside facts about the same things.

    Things are matched by the name that CoDa counts in n-grams ("ngram"): 432 of ViPhy's.
    """
    distributions = {question.id: question.gold for question in coda.load(data).questions}
    names, bad = parse_json_lines(
        path := store.require_file("coda", "objects.jsonl", data),
        lambda record: (text_field(record, "class_id").strip("/"), text_field(record, "ngram")),
    )
    if bad:
        log.warning(
            "%d rows of %s cannot be used (%s): their things are left out.", len(bad), path, bad[0]
        )
    by_name = {name: distributions[kind] for kind, name in names.values() if kind in distributions}
    both = [(fact, by_name[fact.object]) for fact in facts if fact.object in by_name]
    if not both:
        raise UserError("CoDa and these colour facts have no thing in common.")
    shares = np.array([[gold.get(color, 0.0) for color in COLORS] for _, gold in both])
    gold = np.array([[color in fact.typical for color in COLORS] for fact, _ in both])
    return SharedThings(
        tuple(fact.object for fact, _ in both), shares, typical_labels(shares), gold
    )


def human_figures(facts: Sequence[ColorFact], data: Path | None = None) -> HumanFigures:
    """What people's colours of the shared things score against the facts."""
    return figures_of(shared_things(facts, data))


def figures_of(things: SharedThings) -> HumanFigures:
    """What people's colours of these things score."""
    tables = (things.hits, things.typical > 0, things.gold)
    counts = np.hstack([table.sum(axis=0) for table in tables]).astype(np.float64)
    with np.errstate(divide="ignore"):
        items = ScoredItems(np.log(things.shares), things.gold.astype(np.float64))
    return HumanFigures(
        objects=len(things.names),
        any_overlap=float(things.hits.any(axis=1).mean()),
        most_frequent=RELAXED_ACCURACY(items),
        confidence=float(things.confidence.mean()),
        macro_f1=float(macro_f1(counts)),
    )


def rows(facts: Sequence[ColorFact]) -> tuple[Published, ...]:
    """Human figures to show beside a model's, where CoDa is in the data folder and usable."""
    if not all(store.find_file("coda", file) for file in ("annotations.jsonl", "objects.jsonl")):
        return ()
    try:
        figures = human_figures(facts)
    except UserError as error:  # models can be asked without the human row
        log.warning("viphy-color is shown without the human row: %s", error)
        return ()
    source = f"{SOURCE}, {figures.objects} things"
    return (
        Published("people (CoDa), any overlap", "relaxed_accuracy", figures.any_overlap, source),
        Published(
            "people (CoDa), most frequent", "relaxed_accuracy", figures.most_frequent, source
        ),
        Published("people (CoDa)", "true_confidence", figures.confidence, source),
        Published("people (CoDa)", "macro_f1", figures.macro_f1, source),
    )
