"""A contact sheet: scenes side by side with their sentences."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import chain, islice
from pathlib import Path

from seesay.data import pictures
from seesay.errors import UserError, missing_extra
from seesay.scenes.annotation import read
from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import ScenePlan
from seesay.scenes.raster import rgb
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import sentence
from seesay.scenes.world import Scene

_STYLE = pictures.SheetStyle(
    gap=8, below=2, lines=3, line_height=15, font_size=12, paper=(250, 250, 248)
)
_TRUE, _FALSE = (0, 110, 60), (170, 30, 30)

Example = tuple[Scene, str, bool]
"""A scene, a sentence about it, and whether that is true."""


def sample_examples(config: SceneConfig, plan: ScenePlan, count: int) -> list[Example]:
    """The first items of a plan."""
    items = chain.from_iterable(scene_items(config, plan, split) for split in plan.splits())
    return [(item.scene, sentence(config, item), item.cell.answer) for item in islice(items, count)]


def read_examples(source: Path, count: int) -> list[Example]:
    """Scenes of an annotation file or a data set, with a true and a false sentence in turn."""
    files = [source]
    if source.is_dir():
        files = sorted([*source.glob("annotation/*.json"), *source.glob("annotations_*.json")])
        if not files:
            raise UserError(f"'{source}' has no annotation of scenes.")
    scenes = [scene for file in files for scene in read(file)[0]]
    pairs = [(scene.scene, *scene.captions[0]) for scene in scenes if scene.captions]
    return [
        (scene, false if i % 2 else true, i % 2 == 0)
        for i, (scene, true, false) in enumerate(pairs[:count])
    ]


def contact_sheet(examples: Sequence[Example], *, columns: int = 5, size: int = 200) -> bytes:
    """A PNG of scenes with their sentence and whether it is true."""
    try:
        from PIL import Image, ImageFont
    except ImportError as error:
        raise missing_extra("A contact sheet", "scenes", error) from error
    if not examples:
        raise UserError("There is no scene to show.")
    font = ImageFont.load_default(_STYLE.font_size)
    panels = []
    for scene, text, holds in examples:
        first, second, *_ = [*_wrap(text, lambda line: font.getlength(line) <= size), ""]
        mark = ("true", _TRUE) if holds else ("false", _FALSE)
        panels.append(
            (
                Image.fromarray(rgb(scene, size)),
                ((first, pictures.INK), (second, pictures.INK), mark),
            )
        )
    sheet = pictures.contact_sheet(panels, _STYLE, columns=columns, size=size)
    buffer = io.BytesIO()
    sheet.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _wrap(text: str, fits: Callable[[str], bool]) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
