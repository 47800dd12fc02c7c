"""Dual encoders (CLIP, SigLIP): how well a text fits a picture, as the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.questions import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

    from seesay.models.loading import Options

Rows = NDArray[np.float32]


class DualEncoder:
    """Pictures and texts in one space."""

    def __init__(self, name: str, options: Options) -> None:
        from seesay.models.loading import on_hub, require_models

        require_models()
        import torch
        from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

        self.name = name
        source: Any = Path(name).expanduser() if Path(name).expanduser().is_dir() else name
        if source is name and not on_hub(name, options.revision):
            raise UserError(f"Could not load '{name}': no such folder, and the model hub did not give it.")
        where: dict[str, Any] = {"trust_remote_code": options.trust_remote_code, "revision": options.revision}
        try:
            self._model: Any = AutoModel.from_pretrained(
                source, **where, dtype=torch.float32, use_safetensors=None if options.allow_pickle else True
            ).eval()
            if not hasattr(self._model, "get_image_features"):
                kind = self._model.config.model_type
                raise UserError(f"'{name}' is a {kind}, no dual encoder: try CLIP or SigLIP.")
            self._images: Any = AutoImageProcessor.from_pretrained(source, **where)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(source, **where)
        except UserError:
            raise
        except Exception as error:  # other people's files fail in more ways than can be listed
            lines = str(error).strip().splitlines()
            raise UserError(f"Could not load '{name}': {lines[0] if lines else type(error).__name__}") from error

    def pictures(self, pictures: Sequence[Image]) -> Rows:
        """One row of length one a picture."""
        import torch

        with torch.inference_mode():
            inputs = self._images(images=[picture.convert("RGB") for picture in pictures], return_tensors="pt")
            return _unit(self._model.get_image_features(pixel_values=inputs["pixel_values"]))

    def texts(self, texts: Sequence[str]) -> Rows:
        """One row of length one a text."""
        import torch

        # SigLIP was trained with every text padded to its full length
        padding = "max_length" if self._model.config.model_type.startswith("siglip") else True
        limit = self._model.config.text_config.max_position_embeddings
        with torch.inference_mode():
            inputs = self._tokenizer(
                list(texts), return_tensors="pt", padding=padding, truncation=True, max_length=limit
            )
            given = {name: inputs[name] for name in ("input_ids", "attention_mask") if name in inputs}
            return _unit(self._model.get_text_features(**given))


def _unit(features: Any) -> Rows:
    """Rows of length one, from a tensor or from an output that holds one."""
    tensor = getattr(features, "pooler_output", features).float()
    rows: Rows = (tensor / tensor.norm(dim=-1, keepdim=True)).numpy()
    return rows
