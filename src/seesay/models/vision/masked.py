"""Vision-language models that fill slots: VisualBERT, LXMERT, ViLT and FLAVA.

Most questions come without a picture. Each model is then read as its published text-only evaluation
reads it (Hagström & Johansson 2022, for VisualBERT and LXMERT). ViLT and FLAVA make their picture
features themselves, so that a question's picture is shown to them; VisualBERT and LXMERT need the
regions that an object detector found, and read text only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedConfig

from seesay.models.base import TEXT_AND_PICTURES
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.loading import Checkpoint, load_checkpoint, load_component
from seesay.models.hf.masked import MaskedModel, SlotReader
from seesay.models.hf.text_only import lxmert_language, vilt_blank, vilt_states
from seesay.models.options import ModelOptions
from seesay.models.pictures import open_picture

PICTURES = 8  # kept, so that the sentences about one picture share it


class MultimodalReader(SlotReader):
    """States of the text's tokens, and the head that predicts words from them. Subclasses name
    both."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        source: str | Path,
        options: ModelOptions,
    ) -> None:
        super().__init__(checkpoint.model)
        self._name = name
        self._source = source
        self._options = options
        self._images: Any = None  # loaded when the first picture comes
        # a cache of this reader, which goes when the reader goes
        self.see = lru_cache(PICTURES)(self._see)

    def logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        logits: torch.Tensor = self.head(picture)(self.states(ids, picture)[rows, columns])
        return logits.float()

    def first_states(self, ids: torch.Tensor) -> torch.Tensor:
        return self.states(ids, None)[:, 0]

    def states(self, ids: torch.Tensor, picture: str | None) -> torch.Tensor:
        """The last layer's states at the tokens."""
        raise NotImplementedError

    def head(self, picture: str | None) -> Any:
        """The module that turns states into logits."""
        return self.network.cls.predictions

    def pixels(self, picture: str) -> dict[str, torch.Tensor]:
        """The picture as the model's own image processor prepares it."""
        if self._images is None:
            self._images = load_component(
                str(self._source), self._options, "AutoImageProcessor", "model of pictures"
            )
        inputs = self._images(images=open_picture(picture, self._name), return_tensors="pt")
        return {name: tensor.to(self.network.device) for name, tensor in inputs.items()}

    def _see(self, picture: str) -> Any:
        """What the network makes of a picture before it reads the text."""
        raise NotImplementedError


class VisualBertReader(MultimodalReader):
    def states(self, ids: torch.Tensor, picture: str | None) -> torch.Tensor:
        states: torch.Tensor = self.network.visual_bert(input_ids=ids)[0]
        return states


class LxmertReader(MultimodalReader):
    def states(self, ids: torch.Tensor, picture: str | None) -> torch.Tensor:
        return lxmert_language(self.network.lxmert, ids)


class ViltReader(MultimodalReader):
    accepts = TEXT_AND_PICTURES

    def states(self, ids: torch.Tensor, picture: str | None) -> torch.Tensor:
        patches = vilt_blank(self.network) if picture is None else self.see(picture)
        return vilt_states(self.network.vilt, ids, patches)[:, : ids.shape[1]]

    def head(self, picture: str | None) -> Any:
        return self.network.mlm_score

    def _see(self, picture: str) -> tuple[torch.Tensor, torch.Tensor]:
        """ViLT's own embedding of patches, which draws their order, and where they are too many a
        part of them."""
        pixels = self.pixels(picture)
        values = pixels["pixel_values"].to(self.network.dtype)
        embed = self.network.vilt.embeddings.visual_embed
        limit = self.network.config.max_image_length
        # a seed for every picture: the draw must not depend on the pictures before it
        with torch.random.fork_rng():
            torch.manual_seed(0)
            patches, mask, _ = embed(values, pixels["pixel_mask"], max_image_length=limit)
        return patches, mask


class FlavaReader(MultimodalReader):
    """Texts alone: the text tower with `mlm_head`. With a picture: the multimodal encoder with
    `mmm_text_head`."""

    PICTURE_PARTS = re.compile(
        r"^(flava\.(image_model|multimodal_model)\.(?!pooler)|flava\.\w+_to_mm|mmm_text_head\.(transform|decoder))"
    )

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        source: str | Path,
        options: ModelOptions,
    ) -> None:
        super().__init__(checkpoint, name, source, options)
        if not any(map(self.PICTURE_PARTS.search, checkpoint.missing)):
            self.accepts = TEXT_AND_PICTURES

    def states(self, ids: torch.Tensor, picture: str | None) -> torch.Tensor:
        flava = self.network.flava
        text = flava.text_model(input_ids=ids, output_hidden_states=True)
        states: torch.Tensor = text.last_hidden_state
        # the multimodal encoder was trained on texts with pictures only
        if picture is None:
            return states
        # both towers' states before their last layer norm, as in FlavaModel
        patches = self.see(picture).expand(len(ids), -1, -1)
        words = flava.text_to_mm_projection(text.hidden_states[-1])
        joined: torch.Tensor = flava.multimodal_model(torch.cat([patches, words], 1))[0]
        # the picture comes first, after a token of the encoder's own
        return joined[:, -ids.shape[1] :]

    def head(self, picture: str | None) -> Any:
        if picture is None:
            return self.network.mlm_head
        return self.network.mmm_text_head

    def _see(self, picture: str) -> torch.Tensor:
        flava = self.network.flava
        pixels = self.pixels(picture)["pixel_values"].to(self.network.dtype)
        image = flava.image_model(pixel_values=pixels, output_hidden_states=True)
        projected: torch.Tensor = flava.image_to_mm_projection(image.hidden_states[-1])
        return projected


@dataclass(frozen=True)
class Architecture:
    """A vision-language architecture that fills slots: its class, its reader, which weights it can
    do without (a pattern), and how it is read without a picture."""

    network: str
    reader: type[MultimodalReader]
    spare: str
    adaptation: str
    tokenizer: str | None = None
    """Whose tokenizer it shares, for checkpoints that are published without one."""
    changed: tuple[tuple[str, Any], ...] = ()
    """Entries of its configuration that are set when it is loaded."""


ARCHITECTURES = {
    "visual_bert": Architecture(
        "VisualBertForPreTraining",
        VisualBertReader,
        r"pooler|seq_relationship|embeddings\.visual_",
        "VisualBERT is read without regions: its visual embeddings, pooler and seq_relationship "
        "head are not used",
        tokenizer="google-bert/bert-base-uncased",
    ),
    "lxmert": Architecture(
        "LxmertForPreTraining",
        LxmertReader,
        r"pooler|seq_relationship|visn|r_layers|visual_attention\.att|obj_predict_head|answer_head",
        "LXMERT is read with its visual stream removed: visn_fc, r_layers, the visual half of "
        "x_layers, its pooler and all heads but the language model's are not used",
        tokenizer="google-bert/bert-base-uncased",
    ),
    "vilt": Architecture(
        "ViltForMaskedLM",
        ViltReader,
        r"pooler",
        "without a picture ViLT is shown one blank patch, which no token attends to",
    ),
    "flava": Architecture(
        "FlavaForPreTraining",
        FlavaReader,
        r"pooler|logit_scale|_projection|^flava\.(image|multimodal)|^(mim|itm|mmm)|_head\.bias$",
        "FLAVA reads a text alone with its text tower and mlm_head, a text about a picture with "
        "its multimodal encoder and mmm_text_head; its other heads are not used",
        changed=(("init_codebook", False),),  # which makes targets for masked pictures
    ),
}
"""By the model type in a configuration."""


def load_masked(
    name: str,
    source: str | Path,
    options: ModelOptions,
    config: PreTrainedConfig,
) -> MaskedModel:
    """A model of one of ARCHITECTURES in a folder or on the hub."""
    kind = ARCHITECTURES[config.model_type]
    network_class = getattr(transformers, kind.network)
    checkpoint = load_checkpoint(
        name, source, options, network_class, shared_tokenizer=kind.tokenizer, **dict(kind.changed)
    )
    needed = [key for key in checkpoint.missing if not re.search(kind.spare, key)]
    refuse_missing(name, needed, "masked")
    reader = kind.reader(checkpoint, name, source, options)
    model = MaskedModel(
        name,
        checkpoint,
        reader=reader,
        batch_size=options.batch_size,
    )
    model.note(f"'{name}': {kind.adaptation}.", lasting=True)
    return model
