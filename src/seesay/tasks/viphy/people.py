"""People's row of viphy-color: CoDa's annotators on the things that CoDa and ViPhy share.

The paper's human figure is made this way. Its "relaxed accuracy" asks only that the typical colours of the two have one
in common, which is kinder than the rule for models; the stricter reading, where people's most frequent colour must be
typical, stands beside it under its own name.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seesay.data import jsonl, store
from seesay.data.knowledge import COLORS, ColorFact
from seesay.errors import UserError
from seesay.metrics.macro_f1 import macro_f1
from seesay.metrics.typical_labels import typical_labels
from seesay.questions import Published
from seesay.tasks import coda

SOURCE = "made of CoDa's annotations"


@dataclass(frozen=True, slots=True)
class People:
    """What CoDa's annotators score on the shared things.

    `any_overlap`: a typical colour of theirs is gold. `most_frequent`: their most frequent colour is gold.
    `confidence`: the share of their typical colours that is gold. `macro_f1`: of the typical colours, over labels.
    """

    objects: int
    any_overlap: float
    most_frequent: float
    confidence: float
    macro_f1: float


def people(facts: Sequence[ColorFact], data: Path | None = None) -> People:
    """Compare CoDa (its folder, or the data folder's) with facts about the same things.

    Things are matched by the name that CoDa counts in n-grams ("ngram"): 432 of ViPhy's.
    """
    said = {question.id: question.gold for question in coda.load(data).questions}
    names, bad = jsonl.read(
        path := store.require_file("coda", "objects.jsonl", data),
        lambda record: (jsonl.text_field(record, "class_id").strip("/"), jsonl.text_field(record, "ngram")),
    )
    if bad:
        warnings.warn(
            f"{len(bad)} rows of {path} cannot be used (row {bad[0].row}: {bad[0].reason}): their things are left out.",
            stacklevel=2,
        )
    by_name = {name: said[kind] for kind, name in names.values() if kind in said}
    both = [(fact, by_name[fact.object]) for fact in facts if fact.object in by_name]
    if not both:
        raise UserError("CoDa and these facts about colours share no thing.")
    shares = np.array([[gold.get(color, 0.0) for color in COLORS] for _, gold in both])
    gold = np.array([[color in fact.typical for color in COLORS] for fact, _ in both])
    kept = typical_labels(shares)
    top = shares == shares.max(axis=1, keepdims=True)  # a tie is shared, as relaxed accuracy shares it
    hits = (kept > 0) & gold
    counts = np.hstack([found.sum(axis=0) for found in (hits, kept > 0, gold)]).astype(np.float64)
    return People(
        objects=len(both),
        any_overlap=float(hits.any(axis=1).mean()),
        most_frequent=float(((top & gold).sum(axis=1) / top.sum(axis=1)).mean()),
        confidence=float(np.where(gold, kept, 0).sum(axis=1).mean()),
        macro_f1=float(macro_f1(counts)),
    )


def rows(facts: Sequence[ColorFact]) -> tuple[Published, ...]:
    """People's figures as rows beside a model's, where CoDa is in the data folder and can be used."""
    if not all(store.find_file("coda", file) for file in ("annotations.jsonl", "objects.jsonl")):
        return ()
    try:
        found = people(facts)
    except UserError as error:  # people stand beside the models, who can be asked without them
        warnings.warn(f"viphy-color is asked without the row of people: {error}", stacklevel=2)
        return ()
    source = f"{SOURCE}, {found.objects} things"
    return (
        Published("people (CoDa), any overlap", "relaxed_accuracy", found.any_overlap, source),
        Published("people (CoDa), most frequent", "relaxed_accuracy", found.most_frequent, source),
        Published("people (CoDa)", "true_confidence", found.confidence, source),
        Published("people (CoDa)", "macro_f1", found.macro_f1, source),
    )
