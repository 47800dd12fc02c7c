"""The kinds of things (Singh, Qasemi & Chen 2023, Table 8): which of 17 a name belongs to, by a
sentence encoder.

The paper's recipe: a category is the text "category: object, object, …" of its Table 8, and a name
belongs to the one whose vector is nearest by cosine. The published assignment
(`extra/obj2cat.json`) was made with another encoder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.metrics.agreement import cohen_kappa
from seesay.questions import Task

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""What an encoder does: texts to vectors, one row per text."""

ENCODER = "minilm"

CATEGORIES: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
"""The paper's Table 8, the categories in alphabetical order."""


@dataclass(frozen=True)
class CategoryAgreement:
    """How far two assignments of the same names agree, in all and corrected for chance (Cohen's
    kappa)."""

    names: int
    share: float
    kappa: float


def assign(names: Sequence[str], encode: Encode) -> dict[str, str]:
    """The nearest category of each name; of two equally near, the first in the alphabet."""
    if not names:
        return {}
    labels = list(CATEGORIES)
    described = encode([f"{label}: {', '.join(objects)}" for label, objects in CATEGORIES.items()])
    nearest = (_unit(encode(names)) @ _unit(described).T).argmax(axis=1)
    return {name: labels[place] for name, place in zip(names, nearest, strict=True)}


def tagged(task: Task, encode: Encode) -> Task:
    """The task with a category for every thing that has none, so that results can be sliced by
    it."""
    uncategorised = dict.fromkeys(q.object for q in task.questions if "category" not in q.tags)
    categories = assign(list(uncategorised), encode)
    questions = tuple(
        q if "category" in q.tags else replace(q, tags={**q.tags, "category": categories[q.object]})
        for q in task.questions
    )
    return replace(task, questions=questions)


def agreement(ours: Mapping[str, str], theirs: Mapping[str, str]) -> CategoryAgreement:
    """The share of shared names that both put into the same category.

    >>> agreement({"a": "food", "b": "food", "c": "animal"}, {"a": "food", "b": "animal", "c": "animal", "d": "food"})
    CategoryAgreement(names=3, share=0.6666666666666666, kappa=0.4)
    """
    shared = [name for name in ours if name in theirs]
    if not shared:
        return CategoryAgreement(0, float("nan"), float("nan"))
    first, second = ([assignment[name] for name in shared] for assignment in (ours, theirs))
    share = sum(a == b for a, b in zip(first, second, strict=True)) / len(shared)
    return CategoryAgreement(len(shared), share, round(cohen_kappa(first, second), 12))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
