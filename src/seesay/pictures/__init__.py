"""Pictures of real things whose colour and size we control.

Does a model say what it sees, or what it knows?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seesay.lazy import lazy_names

if TYPE_CHECKING:
    from seesay.pictures.dataset_writer import write_pictures
    from seesay.pictures.drawing import png, rgb
    from seesay.pictures.plan import ColorPicture, SizePicture, color_pictures, size_pictures
    from seesay.pictures.things import Thing, color_things, left_out, size_things

__all__ = [
    "ColorPicture",
    "SizePicture",
    "Thing",
    "color_pictures",
    "color_things",
    "left_out",
    "png",
    "rgb",
    "size_pictures",
    "size_things",
    "write_pictures",
]

__getattr__ = lazy_names(
    __name__,
    {
        "dataset_writer": "write_pictures",
        "drawing": "png rgb",
        "plan": "ColorPicture SizePicture color_pictures size_pictures",
        "things": "Thing color_things left_out size_things",
    },
)
