"""Pictures and texts as tensors.

A combined processor replaces the mark of a picture by as many tokens as the model makes of it. Some
combined processors also handle video and then need torchvision; for them the same is done here with
the image processor and the tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.hf.loading import hub_arguments
from seesay.models.hf.tokenization import unknown_ids
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from PIL.Image import Image

    Inputs = dict[str, torch.Tensor]
else:
    Inputs = dict


class Processor:
    """The model's combined processor, or its image processor and tokenizer where the combined one
    cannot be loaded."""

    def __init__(
        self,
        source: str | Path,
        config: Any,
        options: ModelOptions,
    ) -> None:
        from transformers import AutoImageProcessor, AutoProcessor, AutoTokenizer

        arguments = hub_arguments(options)
        self.config = config
        try:
            self.combined: Any = AutoProcessor.from_pretrained(source, **arguments)
            self.tokenizer: Any = self.combined.tokenizer
            self.images: Any = self.combined.image_processor
        except (ImportError, ValueError, AttributeError, OSError, TypeError):
            # Video parts need torchvision, which a picture does not.
            self.combined = None
            self.images = AutoImageProcessor.from_pretrained(source, **arguments)
            self.tokenizer = AutoTokenizer.from_pretrained(source, **arguments)
        self.template = getattr(self.combined, "chat_template", None) or getattr(
            self.tokenizer, "chat_template", None
        )
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    def inputs(self, pictures: Sequence[Sequence[Image]], texts: Sequence[str]) -> Inputs:
        """The network's inputs by name; a text may have several pictures, marked in it in order."""
        if not any(pictures):
            return self._without_pictures(texts)
        if self.combined is None:
            return self._prepare_separately(pictures, texts)
        arguments = {
            "text": list(texts),
            "padding": True,
            "return_tensors": "pt",
        }
        rows = [list(row) for row in pictures]
        flat = [picture for row in rows for picture in row]
        try:
            return dict(self.combined(images=flat, **arguments))
        except (ValueError, TypeError):  # some want a list of pictures for every text
            return dict(self.combined(images=rows, **arguments))

    def _without_pictures(self, texts: Sequence[str]) -> Inputs:
        encoded = dict(self.tokenizer(list(texts), padding=True, return_tensors="pt"))
        if hasattr(self.images, "merge_size"):
            encoded["mm_token_type_ids"] = encoded["input_ids"] * 0
        return encoded

    def _prepare_separately(
        self, pictures: Sequence[Sequence[Image]], texts: Sequence[str]
    ) -> Inputs:
        """Inputs made by image processor and tokenizer, for the families whose marks are known."""
        images = self.images
        tokenizer = self.tokenizer
        config = self.config
        if config.model_type in ("smolvlm", "idefics3"):
            pixels, expansions = self._tiled(pictures)
            mark = "<image>"
        elif hasattr(images, "merge_size"):  # the Qwen family
            mark = tokenizer.convert_ids_to_tokens(config.image_token_id)
            pixels, expansions = self._merged(pictures, mark)
        else:
            raise UserError(
                f"The processor of a {config.model_type} could not be loaded here, and seesay does "
                "not know how to do without it: install torchvision, or use another model."
            )
        expanded = [
            _expand_marks(text, mark, row) for text, row in zip(texts, expansions, strict=True)
        ]
        encoded = dict(tokenizer(expanded, padding=True, return_tensors="pt"))
        # which tokens stand for a picture: positions are two-dimensional there
        if hasattr(images, "merge_size"):
            encoded["mm_token_type_ids"] = (encoded["input_ids"] == config.image_token_id).long()
        return {**pixels, **encoded}

    def _tiled(self, pictures: Sequence[Sequence[Image]]) -> tuple[Inputs, list[list[str]]]:
        """Return the pixels of pictures that are cut into tiles, and what marks each picture."""
        rows = [list(row) for row in pictures]
        pixels = dict(self.images(rows, return_tensors="pt", return_row_col_info=True))
        heights = pixels.pop("rows")
        widths = pixels.pop("cols")
        vision = self.config.vision_config
        side = vision.image_size // vision.patch_size
        # the connector joins squares of patches (pixel shuffle)
        tokens = side * side // self.config.scale_factor**2
        expansions = []
        for tile_rows, tile_columns in zip(heights, widths, strict=True):
            grids = zip(tile_rows, tile_columns, strict=True)
            expansions.append([tiles(row, column, tokens) for row, column in grids])
        return pixels, expansions

    def _merged(
        self, pictures: Sequence[Sequence[Image]], mark: str
    ) -> tuple[Inputs, list[list[str]]]:
        """Return the pixels of pictures whose patches are merged, and what marks each picture."""
        flat = [picture for row in pictures for picture in row]
        pixels = dict(self.images(flat, return_tensors="pt"))
        counts = iter(pixels["image_grid_thw"].prod(dim=1).tolist())
        merged = self.images.merge_size**2  # patches that become one token
        expansions = []
        for row in pictures:
            expansions.append([mark * (next(counts) // merged) for _ in row])
        return pixels, expansions

    def spellings(self, option: str) -> list[tuple[int, ...]]:
        """The token ids of a reply, in each way that it may be written: with a capital or not,
        after a space or not."""
        words = (option, option[:1].upper() + option[1:])
        texts = [f"{space}{word}" for space in ("", " ") for word in words]
        writable: dict[tuple[int, ...], None] = {}
        for text in texts:
            ids = tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])
            # spellings that become the same tokens count once
            if ids and unknown_ids(self.tokenizer).isdisjoint(ids):
                writable[ids] = None
        if not writable:
            raise UserError(
                f"The model's tokenizer cannot write the option {option!r}: it becomes an unknown "
                "token."
            )
        return list(writable)


def _expand_marks(text: str, mark: str, expansions: Sequence[str]) -> str:
    """Return the text with the marks of its pictures replaced, one after the other."""
    pieces = text.split(mark)
    if len(pieces) != len(expansions) + 1:
        raise UserError(
            f"The model's chat template does not put one {mark} into the text for each picture."
        )
    return "".join(chain(*zip(pieces, [*expansions, ""], strict=True)))


def tiles(rows: int, columns: int, tokens: int) -> str:
    """The text by which SmolVLM and Idefics3 mark a picture: its tiles row by row, then the whole;
    or only the whole.

    >>> tiles(0, 0, 2)
    '<fake_token_around_image><global-img><image><image><fake_token_around_image>'
    """
    edge = "<fake_token_around_image>"
    inside = "<image>" * tokens
    whole = f"{edge}<global-img>{inside}{edge}"
    if not rows and not columns:
        return whole
    text = ""
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            text += f"{edge}<row_{row}_col_{column}>{inside}"
        text += "\n"
    return f"{text}\n{whole}"
