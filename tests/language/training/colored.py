"""Captions of plain pictures, whose colour is mentioned, and their features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from seesay.language.training.caption_features import CaptionFeatures
from seesay.language.training.captions import CaptionSplit
from seesay.models.picture_encoder import HISTOGRAM, open_picture_encoder

COLORS = {"red": (220, 30, 30), "green": (30, 170, 40), "blue": (30, 60, 220)}
THINGS = ("cup", "hat", "box", "car")
TEXT = "the color of the {} is {} ."


def picture(color: str, generator: np.random.Generator) -> Image.Image:
    """A patch of the colour, somewhere on gray."""
    image = Image.new("RGB", (32, 32), (200, 208, 214))
    left, top = generator.integers(0, 12, size=2).tolist()
    shade = tuple(int(level) for level in COLORS[color] + generator.integers(-20, 20, size=3))
    image.paste(tuple(max(0, level) for level in shade), (left, top, left + 18, top + 18))
    return image


def pictured_captions(count: int = 240, held_out: int = 40) -> CaptionSplit:
    """Captions whose colour cannot be known but by looking."""
    generator = np.random.default_rng(0)
    encoder = open_picture_encoder(HISTOGRAM)
    texts = []
    pictures = []
    for _ in range(count + held_out):
        color = str(generator.choice(list(COLORS)))
        texts.append(TEXT.format(generator.choice(THINGS), color))
        pictures.append(picture(color, generator))
    vectors = encoder.encode(pictures)
    features = CaptionFeatures.aligned(vectors[:count], vectors[count:], HISTOGRAM)
    return CaptionSplit(texts[:count], texts[count:], features=features)


def color_starts(texts: list[str]) -> list[int]:
    """Where the colour of each caption begins, with the space before it."""
    return [text.index(" is ") + 3 for text in texts]


def save_pictures(folder: Path) -> dict[str, str]:
    """New pictures, one of each colour, as files."""
    generator = np.random.default_rng(1)
    paths = {}
    for color in COLORS:
        path = folder / f"{color}.png"
        picture(color, generator).save(path)
        paths[color] = str(path)
    return paths
