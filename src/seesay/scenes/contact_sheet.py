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
_TRUE = (0, 110, 60)
_FALSE = (170, 30, 30)

Example = tuple[Scene, str, bool]
"""A scene, a sentence about it, and whether that is true."""


def sample_examples(config: SceneConfig, plan: ScenePlan, count: int) -> list[Example]:
    """Return the first items of a plan."""
    items = chain.from_iterable(scene_items(config, plan, split) for split in plan.splits())
    examples = []
    for item in islice(items, count):
        examples.append((item.scene, sentence(config, item), item.cell.answer))
    return examples


def read_examples(source: Path, count: int) -> list[Example]:
    """Read scenes of an annotation file or a data set, with a true and a false sentence in turn."""
    files = [source]
    if source.is_dir():
        # a data set of ours, or a folder of the published examples
        files = sorted([*source.glob("annotation/*.json"), *source.glob("annotations_*.json")])
        if not files:
            raise UserError(f"'{source}' has no annotation of scenes.")
    examples: list[Example] = []
    for scene in chain.from_iterable(read(file)[0] for file in files):
        if scene.captions and len(examples) < count:
            true, false = scene.captions[0]
            if len(examples) % 2 == 0:
                examples.append((scene.scene, true, True))
            else:
                examples.append((scene.scene, false, False))
    return examples


def contact_sheet(examples: Sequence[Example], *, columns: int = 5, size: int = 200) -> bytes:
    """Draw a PNG of scenes, each with its sentence and whether that is true."""
    try:
        from PIL import Image, ImageFont
    except ImportError as error:
        raise missing_extra("A contact sheet", "scenes", error) from error
    if not examples:
        raise UserError("There is no scene to show.")
    font = ImageFont.load_default(_STYLE.font_size)
    panels = []
    for scene, text, holds in examples:
        lines = _wrap(text, lambda line: font.getlength(line) <= size)
        # a panel has two lines of text, the second of them empty if the sentence is short
        first, second, *_ = [*lines, ""]
        mark = ("true", _TRUE) if holds else ("false", _FALSE)
        caption = ((first, pictures.INK), (second, pictures.INK), mark)
        panels.append((Image.fromarray(rgb(scene, size)), caption))
    sheet = pictures.contact_sheet(panels, _STYLE, columns=columns, size=size)
    buffer = io.BytesIO()
    # flat colors: a palette makes the file several times smaller
    sheet.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _wrap(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Break a text into lines that fit; a word that is too long has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and fits(f"{lines[-1]} {word}"):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
