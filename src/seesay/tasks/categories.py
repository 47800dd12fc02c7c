"""Which of 17 categories a thing belongs to, by a sentence encoder.

The recipe of Singh, Qasemi & Chen 2023: a category is a text "category: object, object, …", and a
name belongs to the one whose vector is nearest by cosine. The texts are those of the authors'
script, by which the published assignment (`extra/obj2cat.json`) was made, with another encoder;
the paper's Table 8 prints shorter ones.
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
"""The objects of each category in the authors' script, the categories in alphabetical order."""


@dataclass(frozen=True)
class CategoryAgreement:
    """How far two assignments of the same names agree, in all and corrected for chance.

    `kappa` is Cohen's.
    """

    names: int
    share: float
    kappa: float


def assign(
    names: Sequence[str],
    encode: Encode,
    categories: Mapping[str, Sequence[str]] = CATEGORIES,
) -> dict[str, str]:
    """Return the nearest category of each name; of two equally near, the first of the categories.

    Cosines are compared, so that the length of a description does not matter.
    """
    if not names:
        return {}
    labels = list(categories)
    texts = [f"{label}: {', '.join(objects)}" for label, objects in categories.items()]
    category_vectors = _unit(encode(texts))
    cosines = _unit(encode(names)) @ category_vectors.T
    nearest = cosines.argmax(axis=1)
    return {name: labels[place] for name, place in zip(names, nearest, strict=True)}


def add_categories(task: Task, encode: Encode) -> Task:
    """Return the task with a category for every thing that has none.

    Results can then be sliced by it.

    Categories that came with the data stay.
    """
    # Each thing once: encoding is what takes time, and many questions are about one thing.
    uncategorised = [q.object for q in task.questions if "category" not in q.tags]
    categories = assign(list(dict.fromkeys(uncategorised)), encode)
    questions = []
    for question in task.questions:
        if "category" not in question.tags:
            tags = {**question.tags, "category": categories[question.object]}
            question = replace(question, tags=tags)
        questions.append(question)
    return replace(task, questions=tuple(questions))


def agreement(first: Mapping[str, str], second: Mapping[str, str]) -> CategoryAgreement:
    """Return the share of shared names that both put into the same category.

    >>> first = {"a": "food", "b": "food", "c": "animal"}
    >>> second = {"a": "food", "b": "animal", "c": "animal", "d": "food"}
    >>> agreement(first, second)
    CategoryAgreement(names=3, share=0.6666666666666666, kappa=0.4)
    """
    names = [name for name in first if name in second]
    if not names:
        return CategoryAgreement(0, float("nan"), float("nan"))
    share = sum(first[name] == second[name] for name in names) / len(names)
    kappa = cohen_kappa([first[name] for name in names], [second[name] for name in names])
    # Rounded so that 0.4 is not printed as 0.39999999999999997.
    return CategoryAgreement(len(names), share, round(kappa, 12))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors of length 1, whose products are cosines."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    # A vector of zeros stays one: it is as near to every category as to any other.
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
