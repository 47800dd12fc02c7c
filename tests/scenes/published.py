"""The published samples of MALeViC: where they are, and k to more decimals than they give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtri
from tests.shared_data import shared

from seesay.scenes.annotation import AnnotatedScene
from seesay.scenes.labels import BIG, WEBER, measure, reference_sets
from seesay.scenes.task_kinds import TaskKind

EXAMPLES = {
    "sup1": "sup1",
    "pos1": "pos1",
    "pos": "pos",
    "set+pos": "set-pos",
    "pos-hard": "data-hard/pos-hard",
    "set+pos-hard": "data-hard/set-pos-hard",
}
WHOLE = {
    "sup1": "sup1/annotation/test_annotation.json",
    "set+pos": "set-pos-compositional/annotation/test_seen_annotation.json",
}


def annotation_files(task: str) -> list[Path]:
    """Every published annotation of a task."""
    folder = shared(f"malevic/examples/{EXAMPLES[task]}")
    files = sorted(folder.glob("annotations_*.json"))
    return files + ([shared(f"malevic/{WHOLE[task]}")] if task in WHOLE else [])


def full_k(known: AnnotatedScene, kind: TaskKind) -> float:
    """A k that rounds to the published one and to which every published distance and probability of
    the scene fits.

    Labels were computed before k was rounded to four decimals: the rounded one misses about 4 % of
    the last digits.
    """
    stored = known.scene.k
    assert stored is not None
    low, high = stored - 5e-5, stored + 5e-5
    values = measure(known.scene.objects, BIG)
    for value, members, label in zip(
        values, reference_sets(known.scene.objects, kind.by_set), known.labels, strict=True
    ):
        top, width = values[members].max(), np.ptp(values[members])
        if width == 0 or label.prob is None or label.distance is None:
            continue
        side = 1 if label.word == "big" else -1
        base = (top - value) / width
        ends = [base + side * (label.distance + error) for error in (-5e-5, 5e-5)]
        low, high = max(low, min(ends)), min(high, max(ends))
        probs = np.clip([label.prob - 5e-5, label.prob + 5e-5], 0, 1)
        ends = [base + side * float(z) * WEBER / BIG.scale / width for z in ndtri(probs)]
        low, high = max(low, min(ends)), min(high, max(ends))
    assert low <= high, f"no k fits scene {known.index}"
    return (low + high) / 2
