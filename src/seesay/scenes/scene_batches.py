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
    config: SceneConfig,
    plan: ScenePlan,
    split: str,
    start: int = 0,
    stop: int | None = None,
) -> Iterator[SceneItem]:
    """Draw the items of a split, in order."""
    if stop is None:
        stop = plan.splits()[split]
    # a generator, not a list: millions of items may follow one another
    slots = (
        (cell, config.generator(stream, index))
        for _, cell, stream, index in plan.items(split, start, stop)
    )
    return draw_many(config, slots)


def batches(
    config: SceneConfig,
    plan: ScenePlan,
    split: str,
    *,
    size: int = 224,
    count: int = 64,
) -> Iterator[SceneBatch]:
    """Draw the items of a split in batches of `count`, with pictures of `size` pixels per side.

    The arrays are new every time, and the caller's to keep.
    """
    check_size(size)
    total = plan.splits()[split]
    for start in range(0, total, count):
        stop = min(start + count, total)
        items = tuple(scene_items(config, plan, split, start, stop))
        pictures = np.empty((len(items), size, size, 3), dtype=np.uint8)
        for picture, item in zip(pictures, items, strict=True):
            # painted in place: a batch is in memory once
            rgb(item.scene, size, out=picture)
        sentences = tuple(sentence(config, item) for item in items)
        answers = np.array([item.cell.answer for item in items])
        yield SceneBatch(pictures, sentences, answers, items)
