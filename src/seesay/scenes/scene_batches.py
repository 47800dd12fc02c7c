"""Scenes as arrays in memory, for training without a file in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import ScenePlan
from seesay.scenes.raster import check_size, rgb
from seesay.scenes.sampling import SceneItem, draw_many
from seesay.scenes.sentences import sentence


@dataclass(frozen=True, slots=True)
class SceneBatch:
    """Pictures (items, rows, columns, 3), their sentences, and whether each is true."""

    pictures: NDArray[np.uint8]
    sentences: tuple[str, ...]
    answers: NDArray[np.bool_]
    items: tuple[SceneItem, ...]


def scene_items(
    config: SceneConfig, plan: ScenePlan, split: str, start: int = 0, stop: int | None = None
) -> Iterator[SceneItem]:
    """The items of a split, in order."""
    stop = plan.splits()[split] if stop is None else stop
    slots = (
        (cell, config.generator(stream, index))
        for _, cell, stream, index in plan.items(split, start, stop)
    )
    return draw_many(config, slots)


def batches(
    config: SceneConfig, plan: ScenePlan, split: str, *, size: int = 224, count: int = 64
) -> Iterator[SceneBatch]:
    """The items of a split in batches. The arrays are new every time and the caller's to keep."""
    check_size(size)
    total = plan.splits()[split]
    for start in range(0, total, count):
        chunk = tuple(scene_items(config, plan, split, start, min(start + count, total)))
        pictures = np.empty((len(chunk), size, size, 3), dtype=np.uint8)
        for picture, item in zip(pictures, chunk, strict=True):
            rgb(item.scene, size, out=picture)
        answers = np.array([item.cell.answer for item in chunk])
        yield SceneBatch(pictures, tuple(sentence(config, item) for item in chunk), answers, chunk)
