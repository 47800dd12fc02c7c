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
from seesay.data.cells import Cells, text_field
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


@dataclass(
    frozen=True,
    slots=True,
    eq=False,
)
class SharedThings:
    """The things that CoDa and ViPhy share.

    `shares` are how people spread the colours, `typical` their typical ones, and `gold` ViPhy's.
    """

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
    """Return CoDa (its folder, or the data folder's) beside facts about the same things.

    Things are matched by the name that CoDa counts in n-grams ("ngram"): 432 of ViPhy's.
    """
    distributions = {question.id: question.gold for question in coda.load(data).questions}
    path = store.require_file("coda", "objects.jsonl", data)
    names, bad = parse_json_lines(path, _kind_and_name)
    if bad:
        log.warning(
            "%d rows of %s cannot be used (%s): their things are left out.",
            len(bad),
            path,
            bad[0],
        )
    # CoDa's own questions have no n-gram name: the two files are joined by the id of the kind.
    by_name = {name: distributions[kind] for kind, name in names.values() if kind in distributions}
    shared = [fact for fact in facts if fact.object in by_name]
    if not shared:
        raise UserError("CoDa and these colour facts have no thing in common.")
    share_rows = []
    gold_rows = []
    for fact in shared:
        share_rows.append([by_name[fact.object].get(color, 0.0) for color in COLORS])
        gold_rows.append([color in fact.typical for color in COLORS])
    shares = np.array(share_rows)
    return SharedThings(
        names=tuple(fact.object for fact in shared),
        shares=shares,
        typical=typical_labels(shares),
        gold=np.array(gold_rows),
    )


def _kind_and_name(record: Cells) -> tuple[str, str]:
    """Return the id of a kind of thing in CoDa, and its name in n-grams."""
    return text_field(record, "class_id").strip("/"), text_field(record, "ngram")


def human_figures(facts: Sequence[ColorFact], data: Path | None = None) -> HumanFigures:
    """Return what people's colours of the shared things score against the facts.

    `data` is CoDa's folder, by default the one in the data folder.
    """
    return figures_of(shared_things(facts, data))


def figures_of(things: SharedThings) -> HumanFigures:
    """Return what people's colours of these things score."""
    # Macro F1 takes, per label, the true positives, the predictions and the gold answers.
    tables = (things.hits, things.typical > 0, things.gold)
    counts = np.hstack([table.sum(axis=0) for table in tables]).astype(np.float64)
    # A colour that nobody named has the score log 0: it is never the most frequent one.
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
    """Return human figures to show beside a model's.

    There are none where CoDa is not in the data folder, or not usable.
    """
    if not all(store.find_file("coda", file) for file in ("annotations.jsonl", "objects.jsonl")):
        return ()
    try:
        figures = human_figures(facts)
    except UserError as error:
        # Models can be asked without the human row.
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
