"""Dual encoders (CLIP, SigLIP): how well a text fits a picture, as the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    from PIL.Image import Image

Vectors = NDArray[np.float32]


class DualEncoder:
    """Pictures and texts in one space."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        from seesay.models.hf.loading import load_component

        self.name = name
        self._network: Any = load_component(
            name,
            options,
            "AutoModel",
            "dual encoder",
        )
        self.dtype = self._network.dtype
        if not hasattr(self._network, "get_image_features"):
            raise UserError(
                f"'{name}' is a {self._network.config.model_type}, not a dual encoder: try CLIP or "
                "SigLIP."
            )
        scale = getattr(self._network, "logit_scale", None)
        self.scale = 1.0 if scale is None else float(scale.detach().exp())
        """What a cosine is multiplied by to be a logit, as learnt."""
        self._images: Any = load_component(
            name,
            options,
            "AutoImageProcessor",
            "dual encoder",
        )
        self._tokenizer: Any = load_component(
            name,
            options,
            "AutoTokenizer",
            "dual encoder",
        )

    def pictures(self, pictures: Sequence[Image]) -> Vectors:
        """One row of length one per picture."""
        import torch

        with torch.inference_mode():
            images = [picture.convert("RGB") for picture in pictures]
            inputs = self._images(images=images, return_tensors="pt")
            return _unit(self._network.get_image_features(pixel_values=inputs["pixel_values"]))

    def texts(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text."""
        import torch

        from seesay.models.hf.tokenization import tokenize

        # SigLIP was trained with every text padded to its full length
        if self._network.config.model_type.startswith("siglip"):
            padding: str | bool = "max_length"
        else:
            padding = True
        with torch.inference_mode():
            inputs = tokenize(
                self.name,
                self._tokenizer,
                list(texts),
                return_tensors="pt",
                padding=padding,
                truncation=True,
                max_length=self._network.config.text_config.max_position_embeddings,
            )
            # not every tokenizer makes a mask
            names = [name for name in ("input_ids", "attention_mask") if name in inputs]
            features = self._network.get_text_features(**{name: inputs[name] for name in names})
            return _unit(features)


def _unit(features: Any) -> Vectors:
    """Rows of length one, from a tensor or from an output that holds one."""
    tensor = getattr(features, "pooler_output", features).float()
    rows: Vectors = (tensor / tensor.norm(dim=-1, keepdim=True)).numpy()
    return rows
