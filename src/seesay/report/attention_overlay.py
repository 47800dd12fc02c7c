"""Where a reasoner looked, drawn over the picture (Figure 7)."""

from __future__ import annotations

import base64
import io

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.reasoners.attention_maps import Look
from seesay.reasoners.diagnostics import Example
from seesay.report.charts.kernel import WIDTH, chart, element, text
from seesay.scenes.raster import rgb
from seesay.scenes.world import CANVAS, Scene, anchor, extent

SIDE = 192
"""Pixels a side of the pictures."""
PANEL = 140.0
GAP = 10.0
TOP = 22.0
VEIL = (255, 0, 200)
"""A colour that no thing of a scene has."""
_DIM = 0.45
_THICKEST = 0.9

Bytes = NDArray[np.uint8]


def drawn(example: Example, name: str) -> Markup:
    """The picture and, beside it, the picture under each map; the thing that is meant is framed in all of them."""
    picture = rgb(example.scene, SIDE)
    says = f"{'true' if example.yes > 0.5 else 'false'} ({max(example.yes, 1 - example.yes):.2f})"
    holds = f"it is {'true' if example.answer else 'false'}"
    parts = [text(0, 12, f"{name} says {says}; {holds}.", "note", WIDTH)]
    top, left, rows, columns = (PANEL * part for part in _frame(example.scene, example.target))
    panels = [("the picture", picture), *((look.name, under(picture, look)) for look in example.looks)]
    for i, (called, pixels) in enumerate(panels):
        x = i * (PANEL + GAP)
        parts.append(element("image", href=_png(pixels), x=x, y=TOP, width=PANEL, height=PANEL))
        frame = {"x": x + left - 2, "y": TOP + top - 2, "width": columns + 4, "height": rows + 4}
        parts.append(element("rect", **frame, fill="none", stroke="#fff", stroke_dasharray="3 2"))
        parts.append(text(x + PANEL / 2, TOP + PANEL + 14, called, "note middle", PANEL))
    mark = "✓ right" if example.right else "✗ wrong"
    return chart("look", WIDTH, TOP + PANEL + 20, f"{mark}: {example.sentence}", parts)


def under(picture: Bytes, look: Look) -> Bytes:
    """The picture dimmed, with a veil that is thicker where more weight is."""
    side = len(picture)
    if look.boxes is None:
        rows, columns = (np.arange(side) * length // side for length in look.weights.shape)
        thick = above_even(look.weights)[np.ix_(rows, columns)]
    else:
        thick = np.zeros((side, side))
        boxes = np.rint(look.boxes * side).astype(int)
        for weight, (top, left, bottom, right) in zip(look.weights, boxes, strict=True):
            part = thick[top:bottom, left:right]
            np.maximum(part, weight, out=part)
    share = _THICKEST * thick[:, :, None]
    return np.asarray((1 - share) * _DIM * picture + share * np.array(VEIL), dtype=np.uint8)


def above_even(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each cell's weight lies above an even share, from 0 (at or under it) towards 1 (many times as much).

    One who looks everywhere alike so shows nothing, and pictures can be compared with one another.

    >>> above_even(np.array([[4.0, 0.0], [2.0, 2.0]])).tolist()  # an even share is 2
    [[0.5, 0.0], [0.0, 0.0]]
    """
    even = weights.mean()
    return np.asarray(1 - even / np.maximum(weights, even if even > 0 else 1.0))


def _frame(scene: Scene, target: int) -> tuple[float, float, float, float]:
    """Top, left, height and width of the target's box, in shares of the side."""
    thing = scene.objects[target]
    down, across = anchor(thing.shape, thing.radius, thing.turn)
    rows, columns = extent(thing.shape, thing.radius, thing.turn)
    return (thing.row - down) / CANVAS, (thing.column - across) / CANVAS, rows / CANVAS, columns / CANVAS


def _png(pixels: Bytes) -> str:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).quantize(64).save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
