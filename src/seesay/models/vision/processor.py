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

    def __init__(self, source: str | Path, config: Any, options: ModelOptions) -> None:
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
        arguments = {"text": list(texts), "padding": True, "return_tensors": "pt"}
        every = [picture for row in pictures for picture in row]
        try:
            return dict(self.combined(images=every, **arguments))
        except (ValueError, TypeError):  # some want a list of pictures for every text
            return dict(self.combined(images=[list(row) for row in pictures], **arguments))

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
            pixels = dict(
                images(
                    [list(row) for row in pictures], return_tensors="pt", return_row_col_info=True
                )
            )
            rows = pixels.pop("rows")
            columns = pixels.pop("cols")
            side = config.vision_config.image_size // config.vision_config.patch_size
            tokens = side * side // config.scale_factor**2
            marks = [
                [tiles(*tile, tokens) for tile in zip(r, c, strict=True)]
                for r, c in zip(rows, columns, strict=True)
            ]
            mark = "<image>"
        elif hasattr(images, "merge_size"):  # the Qwen family
            pixels = dict(
                images([picture for row in pictures for picture in row], return_tensors="pt")
            )
            mark = tokenizer.convert_ids_to_tokens(config.image_token_id)
            grids = iter(pixels["image_grid_thw"])
            marks = [
                [mark * (int(next(grids).prod()) // images.merge_size**2) for _ in row]
                for row in pictures
            ]
        else:
            raise UserError(
                f"The processor of a {config.model_type} could not be loaded here, and seesay does "
                "not know how to do "
                "without it: install torchvision, or use another model."
            )
        pieces = [text.split(mark) for text in texts]
        if any(len(parts) != len(own) + 1 for parts, own in zip(pieces, marks, strict=True)):
            raise UserError(
                f"The model's chat template does not put one {mark} into the text for each picture."
            )
        marked = [
            "".join(chain(*zip(parts, [*own, ""], strict=True)))
            for parts, own in zip(pieces, marks, strict=True)
        ]
        encoded = dict(tokenizer(marked, padding=True, return_tensors="pt"))
        # which tokens stand for a picture: positions are two-dimensional there
        if hasattr(images, "merge_size"):
            encoded["mm_token_type_ids"] = (encoded["input_ids"] == config.image_token_id).long()
        return {**pixels, **encoded}

    def spellings(self, option: str) -> list[tuple[int, ...]]:
        """The token ids of a reply, in each way that it may be written: with a capital or not,
        after a space or not."""
        texts = [
            f"{space}{word}"
            for space in ("", " ")
            for word in (option, option[:1].upper() + option[1:])
        ]
        ids = [tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
        writable = dict.fromkeys(i for i in ids if i and self.tokenizer.unk_token_id not in i)
        if not writable:
            raise UserError(
                f"The model's tokenizer cannot write the option {option!r}: it becomes an unknown "
                "token."
            )
        return list(writable)


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
    lines = [
        "".join(f"{edge}<row_{r}_col_{c}>{inside}" for c in range(1, columns + 1))
        for r in range(1, rows + 1)
    ]
    return "".join(f"{line}\n" for line in lines) + "\n" + whole
