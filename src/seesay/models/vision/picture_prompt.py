"""A text with pictures in it, as tensors.

A combined processor replaces the mark of a picture by as many tokens as the model makes of it. Some combined processors
also handle video and then need torchvision; for them the same is done here from the image processor and the tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

    Inputs = dict[str, torch.Tensor]
else:
    Inputs = dict


def prepare_together(processor: Any, pictures: Sequence[Image], texts: Sequence[str]) -> Inputs:
    """By the model's own processor."""
    try:
        found = processor(images=list(pictures), text=list(texts), padding=True, return_tensors="pt")
    except (ValueError, TypeError):  # some want a list of pictures for every text
        found = processor(images=[[one] for one in pictures], text=list(texts), padding=True, return_tensors="pt")
    return dict(found)


def prepare_apart(images: Any, tokenizer: Any, config: Any, pictures: Sequence[Image], texts: Sequence[str]) -> Inputs:
    """By image processor and tokenizer, for the families whose marks are known."""
    if config.model_type in ("smolvlm", "idefics3"):
        seen = dict(images([[one] for one in pictures], return_tensors="pt", return_row_col_info=True))
        rows, columns = seen.pop("rows"), seen.pop("cols")
        side = config.vision_config.image_size // config.vision_config.patch_size
        tokens = side * side // config.scale_factor**2
        marks = [tiles(r[0], c[0], tokens) for r, c in zip(rows, columns, strict=True)]
        mark = "<image>"
    elif hasattr(images, "merge_size"):  # the Qwen family
        seen = dict(images(list(pictures), return_tensors="pt"))
        mark = tokenizer.convert_ids_to_tokens(config.image_token_id)
        marks = [mark * (int(grid.prod()) // images.merge_size**2) for grid in seen["image_grid_thw"]]
    else:
        raise UserError(
            f"The processor of a {config.model_type} could not be loaded here, and seesay does not know how to do "
            "without it: install torchvision, or use another model."
        )
    if any(text.count(mark) != 1 for text in texts):
        raise UserError(f"The model's chat template does not put one {mark} into the text for the picture.")
    written = [text.replace(mark, replacement) for text, replacement in zip(texts, marks, strict=True)]
    read = dict(tokenizer(written, padding=True, return_tensors="pt"))
    if hasattr(images, "merge_size"):  # which tokens stand for a picture: places are counted in two dimensions there
        read["mm_token_type_ids"] = (read["input_ids"] == config.image_token_id).long()
    return {**seen, **read}


def tiles(rows: int, columns: int, tokens: int) -> str:
    """How SmolVLM and Idefics3 write a picture: its tiles row by row, then the whole; or only the whole.

    >>> tiles(0, 0, 2)
    '<fake_token_around_image><global-img><image><image><fake_token_around_image>'
    """
    edge, inside = "<fake_token_around_image>", "<image>" * tokens
    whole = f"{edge}<global-img>{inside}{edge}"
    if not rows and not columns:
        return whole
    lines = ["".join(f"{edge}<row_{r}_col_{c}>{inside}" for c in range(1, columns + 1)) for r in range(1, rows + 1)]
    return "".join(f"{line}\n" for line in lines) + "\n" + whole
