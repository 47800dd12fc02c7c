"""What a reasoner attended to, drawn over the picture (as in MALeViC's Figure 7)."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.reports.charts.kernel import WIDTH, chart, element, text
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.diagnostics import DiagnosedExample
from seesay.scenes.reports.scene_charts import IMAGE_SIZE, png
from seesay.scenes.world import CANVAS, SceneObject, anchor, extent

PANEL = 140.0
GAP = 10.0
TOP = 22.0
OVERLAY = (255, 0, 200)
"""A color that no thing of a scene has."""
_DIM = 0.45
_MOST_OPAQUE = 0.9

Bytes = NDArray[np.uint8]


def attention_chart(example: DiagnosedExample, name: str) -> Markup:
    """The picture, then the picture under each attention map; the target is framed in all of
    them."""
    picture = rgb(example.scene, IMAGE_SIZE)
    predicted = f"{'true' if example.p_yes > 0.5 else 'false'} ({max(example.p_yes, 1 - example.p_yes):.2f})"
    answer = f"it is {'true' if example.answer else 'false'}"
    parts = [text(0, 12, f"{name} says {predicted}; {answer}.", "note", WIDTH)]
    top, left, rows, columns = (
        PANEL * length / CANVAS for length in _frame(example.scene.objects[example.target])
    )
    panels = [
        ("the picture", picture),
        *((look.name, overlay(picture, look)) for look in example.attention),
    ]
    for i, (label, pixels) in enumerate(panels):
        x = i * (PANEL + GAP)
        parts.append(element("image", href=png(pixels), x=x, y=TOP, width=PANEL, height=PANEL))
        frame = {"x": x + left - 2, "y": TOP + top - 2, "width": columns + 4, "height": rows + 4}
        parts.append(element("rect", **frame, fill="none", stroke="#fff", stroke_dasharray="3 2"))
        parts.append(text(x + PANEL / 2, TOP + PANEL + 14, label, "note middle", PANEL))
    mark = "✓ right" if example.right else "✗ wrong"
    return chart("look", WIDTH, TOP + PANEL + 20, f"{mark}: {example.sentence}", parts)


def overlay(picture: Bytes, attention: AttentionMap) -> Bytes:
    """The picture dimmed, with an overlay that is more opaque where the weight is higher."""
    size = len(picture)
    if attention.boxes is None:
        rows, columns = (np.arange(size) * length // size for length in attention.weights.shape)
        opacity = above_even(attention.weights)[np.ix_(rows, columns)]
    else:
        opacity = np.zeros((size, size))
        boxes = np.rint(attention.boxes * size).astype(int)
        for weight, (top, left, bottom, right) in zip(attention.weights, boxes, strict=True):
            part = opacity[top:bottom, left:right]
            np.maximum(part, weight, out=part)
    share = _MOST_OPAQUE * opacity[:, :, None]
    return np.asarray((1 - share) * _DIM * picture + share * np.array(OVERLAY), dtype=np.uint8)


def above_even(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each cell's weight is above an even share, from 0 (at or below it) towards 1 (many
    times as much).

    Uniform attention so shows nothing, and pictures can be compared with one another.

    >>> above_even(np.array([[4.0, 0.0], [2.0, 2.0]])).tolist()  # an even share is 2
    [[0.5, 0.0], [0.0, 0.0]]
    """
    even = weights.mean()
    return np.asarray(1 - even / np.maximum(weights, even if even > 0 else 1.0))


def _frame(thing: SceneObject) -> tuple[int, int, int, int]:
    """Top, left, height and width of a thing's box, in pixels of the canvas."""
    down, across = anchor(thing.shape, thing.radius, thing.turn)
    return thing.row - down, thing.column - across, *extent(thing.shape, thing.radius, thing.turn)
