"""The question and the picture of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seesay.data.pictures import open_rgb
from seesay.errors import UserError, needs_extra
from seesay.models.chat import user_turn
from seesay.questions import SLOT

if TYPE_CHECKING:
    from PIL.Image import Image

    from seesay.models.base import Model


BLANK = 128
"""The gray level of the picture that stands for none, for models that cannot do without."""
BLANK_NOTE = (
    "'{name}' cannot do without a picture: it is asked questions that have none about a plain gray "
    "one."
)


def question(text: str) -> str:
    """The question before the slot, without the cue that a model of text needs before its answer; a
    sentence that goes on after the slot, as one with a blank."""
    before, _, after = text.partition(SLOT)
    if after.strip(" ."):
        return user_turn(text)
    return before.rstrip().removesuffix("Answer:").rstrip()


def blank_picture() -> Image:
    """A plain gray picture."""
    from PIL import Image

    return Image.new("RGB", (224, 224), (BLANK, BLANK, BLANK))


def picture_or_blank(path: str | None, model: Model) -> Image:
    """A prompt's picture; for a model that cannot do without one, a gray one and a note."""
    if path is not None:
        return open_picture(path, model.name)
    model.note(BLANK_NOTE.format(name=model.name))
    return blank_picture()


def open_picture(path: str | None, name: str) -> Image:
    """A picture file, which is untrusted, in RGB; `name` is the model's, for an error."""
    with needs_extra("A task with pictures", "scenes"):
        from PIL import Image, UnidentifiedImageError
    if path is None:
        raise UserError(
            f"{name} answers questions about pictures: use it with a task that has some, such as "
            "malevic-pos."
        )
    try:
        return open_rgb(path)
    except FileNotFoundError as error:
        raise UserError(f"There is no picture '{path}'.") from error
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        ValueError,
        SyntaxError,
    ) as error:
        raise UserError(
            f"'{path}' cannot be opened as a picture ({type(error).__name__})."
        ) from error
