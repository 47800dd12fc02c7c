"""What a reasoner attended to, drawn over the picture (as in MALeViC's Figure 7)."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.data.pictures import png_address
from seesay.reports.charts.kernel import WIDTH, chart, element, text
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.diagnostics import DiagnosedExample
from seesay.scenes.reports.scene_charts import IMAGE_SIZE
from seesay.scenes.world import CANVAS, SceneObject, anchor, extent

PANEL = 140.0
GAP = 10.0
TOP = 22.0
OVERLAY = (255, 0, 200)
"""A color that no thing of a scene has."""
_DIM = 0.45
_MOST_OPAQUE = 0.9
_TRUTH = {True: "true", False: "false"}

Bytes = NDArray[np.uint8]


def attention_chart(example: DiagnosedExample, name: str) -> Markup:
    """Draw the picture, then the picture under each attention map.

    The target is framed in all of them.
    """
    from PIL import Image

    probability = max(example.p_yes, 1 - example.p_yes)
    predicted = f"{_TRUTH[example.p_yes > 0.5]} ({probability:.2f})"
    note = f"{name} says {predicted}; it is {_TRUTH[example.answer]}."
    parts = [text(0, 12, note, "note", WIDTH)]
    picture = rgb(example.scene, IMAGE_SIZE)
    panels = [("the picture", picture)]
    for attention in example.attention:
        panels.append((attention.name, overlay(picture, attention)))
    frame = _frame(example.scene.objects[example.target])
    top, left, rows, columns = (PANEL * length / CANVAS for length in frame)
    for i, (label, pixels) in enumerate(panels):
        x = i * (PANEL + GAP)
        parts.append(
            element(
                "image",
                href=png_address(Image.fromarray(pixels)),
                x=x,
                y=TOP,
                width=PANEL,
                height=PANEL,
            )
        )
        # two units around the target, so that the frame hides none of it
        border = element(
            "rect",
            x=x + left - 2,
            y=TOP + top - 2,
            width=columns + 4,
            height=rows + 4,
            fill="none",
            stroke="#fff",
            stroke_dasharray="3 2",
        )
        parts.append(border)
        parts.append(text(x + PANEL / 2, TOP + PANEL + 14, label, "note middle", PANEL))
    mark = "✓ right" if example.right else "✗ wrong"
    return chart("look", WIDTH, TOP + PANEL + 20, f"{mark}: {example.sentence}", parts)


def overlay(picture: Bytes, attention: AttentionMap) -> Bytes:
    """Return the picture dimmed, with an overlay that is more opaque where the weight is higher."""
    size = len(picture)
    if attention.boxes is None:
        # the cell that every row and column of pixels lies in
        cells = np.ix_(*(np.arange(size) * length // size for length in attention.weights.shape))
        opacity = above_even(attention.weights)[cells]
    else:
        opacity = np.zeros((size, size))
        boxes = np.rint(attention.boxes * size).astype(int)
        for weight, (top, left, bottom, right) in zip(attention.weights, boxes, strict=True):
            # boxes may overlap by a pixel: the higher weight shows
            part = opacity[top:bottom, left:right]
            np.maximum(part, weight, out=part)
    share = _MOST_OPAQUE * opacity[:, :, None]
    mixed = (1 - share) * _DIM * picture + share * np.array(OVERLAY)
    return np.asarray(mixed, dtype=np.uint8)


def above_even(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each cell's weight is above an even share.

    It goes from 0 (at or below it) towards 1 (many times as much). So uniform attention shows
    nothing, and pictures can be compared with one another.

    >>> above_even(np.array([[4.0, 0.0], [2.0, 2.0]])).tolist()  # an even share is 2
    [[0.5, 0.0], [0.0, 0.0]]
    """
    even = weights.mean()
    # weights that are all 0 show nothing
    least = even if even > 0 else 1.0
    return np.asarray(1 - even / np.maximum(weights, least))


def _frame(thing: SceneObject) -> tuple[int, int, int, int]:
    """Return top, left, height and width of a thing's box, in pixels of the canvas."""
    kind = (thing.shape, thing.radius, thing.turn)
    down, across = anchor(*kind)
    return thing.row - down, thing.column - across, *extent(*kind)
