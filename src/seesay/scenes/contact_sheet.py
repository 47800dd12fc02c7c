"""A contact sheet: scenes side by side with their sentences."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from seesay.errors import UserError, missing_extra
from seesay.scenes.annotation import read
from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import ScenePlan
from seesay.scenes.raster import rgb
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import sentence
from seesay.scenes.world import Scene

GAP = 8
LINE = 15
_PAPER, _INK, _TRUE, _FALSE = (250, 250, 248), (30, 30, 30), (0, 110, 60), (170, 30, 30)


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
    return [(scene, false if i % 2 else true, i % 2 == 0) for i, (scene, true, false) in enumerate(pairs[:count])]


def contact_sheet(examples: Sequence[Example], *, columns: int = 5, size: int = 200) -> bytes:
    """A PNG of scenes with their sentence and whether it is true."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise missing_extra("A contact sheet", "scenes", error) from error
    if not examples:
        raise UserError("There is no scene to show.")
    columns = min(columns, len(examples))
    rows = -(-len(examples) // columns)
    cell = size + 3 * LINE + GAP
    sheet = Image.new("RGB", (columns * (size + GAP) + GAP, rows * cell + GAP), _PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for place, (scene, text, holds) in enumerate(examples):
        left = GAP + place % columns * (size + GAP)
        top = GAP + place // columns * cell
        sheet.paste(Image.fromarray(np.ascontiguousarray(rgb(scene, size))), (left, top))
        lines = _wrap(text, lambda line: pen.textlength(line, font=font) <= size)
        for number, line in enumerate(lines[:2]):
            pen.text((left, top + size + 2 + number * LINE), line, fill=_INK, font=font)
        mark, color = ("true", _TRUE) if holds else ("false", _FALSE)
        pen.text((left, top + size + 2 + 2 * LINE), mark, fill=color, font=font)
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
