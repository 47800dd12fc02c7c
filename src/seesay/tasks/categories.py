"""The kinds of things (Singh, Qasemi & Chen 2023, Table 8): which of 17 a name belongs to, by a sentence encoder.

A category lies where the mean of its name and a few of its things lies; a name belongs to the nearest by cosine. The
things are ours: the published assignment (`extra/obj2cat.json`) is only compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seesay.metrics.agreement import cohen_kappa
from seesay.questions import Task

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""What an encoder does: texts to vectors, one row per text."""

ENCODER = "minilm"

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "animal": ("dog", "cat", "horse", "bird", "elephant", "sheep"),
    "animal body": ("tail", "paw", "beak", "hoof", "fur", "horn"),
    "bathroom": ("toilet", "sink", "bathtub", "shower", "towel", "faucet"),
    "clothing": ("shirt", "jacket", "pants", "hat", "dress", "scarf"),
    "construction": ("building", "wall", "roof", "window", "bridge", "fence"),
    "electronics": ("television", "laptop", "keyboard", "phone", "cable", "camera"),
    "food": ("pizza", "apple", "bread", "cake", "salad", "sauce"),
    "furniture": ("chair", "table", "bed", "sofa", "shelf", "cabinet"),
    "human body": ("hand", "face", "hair", "leg", "eye", "arm"),
    "kitchenware": ("plate", "cup", "fork", "pan", "oven", "bowl"),
    "miscellaneous": ("thing", "number", "shadow", "logo", "picture", "line"),
    "nature": ("tree", "grass", "sky", "mountain", "flower", "beach"),
    "person": ("man", "woman", "child", "player", "crowd", "driver"),
    "sports equipment": ("ball", "bat", "racket", "skateboard", "ski", "helmet"),
    "street": ("sidewalk", "traffic light", "road", "street sign", "pole", "curb"),
    "utility items": ("bag", "box", "umbrella", "bottle", "tool", "rope"),
    "vehicle": ("car", "bus", "train", "truck", "airplane", "wheel"),
}


@dataclass(frozen=True)
class CategoryAgreement:
    """How far two assignments of the same names agree, in all and corrected for chance (Cohen's kappa)."""

    names: int
    share: float
    kappa: float


def assign(names: Sequence[str], encode: Encode) -> dict[str, str]:
    """The nearest category of each name; of two equally near, the first in the alphabet."""
    if not names:
        return {}
    labels = list(CATEGORIES)
    centres = [_unit(encode([label, *CATEGORIES[label]])).mean(axis=0) for label in labels]
    nearest = (_unit(encode(names)) @ _unit(np.stack(centres)).T).argmax(axis=1)
    return {name: labels[place] for name, place in zip(names, nearest, strict=True)}


def tagged(task: Task, encode: Encode) -> Task:
    """The task with a category for every thing that has none, so that results can be sliced by it."""
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
