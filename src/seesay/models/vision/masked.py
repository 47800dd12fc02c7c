"""Vision-language models that fill slots: VisualBERT, LXMERT, ViLT and FLAVA.

Most questions come without a picture. Each model is then read as its published text-only evaluation
reads it (Hagström & Johansson 2022, for VisualBERT and LXMERT). ViLT and FLAVA make their picture
features themselves, so that a question's picture is shown to them; VisualBERT and LXMERT need the
regions that an object detector found, and read text only. All of them can be shown a picture that
stands for none (`StandIn`), to see whether they suffer for want of one.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import torch
import transformers
from transformers import PreTrainedConfig

from seesay.condition import StandIn
from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.loading import Checkpoint, load_checkpoint, load_component
from seesay.models.hf.masked import MaskedModel, SlotReader
from seesay.models.hf.text_only import lxmert_language, vilt_blank, vilt_states
from seesay.models.options import ModelOptions
from seesay.models.stand_in import View, prepare_view, stand_in_regions

PICTURES = 8  # kept, so that the sentences about one picture share it


class MultimodalReader(SlotReader):
    """States of the text's tokens, and the head that predicts words from them. Subclasses name
    both."""

    picture_parts: ClassVar[str] = "(?!)"
    """A pattern of the weights that a network can do without until it is shown a picture."""
    stand_in_note = "beside every question it is shown the pixels of a {kind} picture"

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        source: str | Path,
        options: ModelOptions,
    ) -> None:
        super().__init__(checkpoint.model)
        parts = re.compile(self.picture_parts)
        self.can_see = not any(map(parts.search, checkpoint.missing))
        self.stand_in: StandIn | None = None
        self._name = name
        self._source = source
        self._options = options
        self._images: Any = None  # loaded when the first picture comes
        # a cache of this reader, which goes when the reader goes
        self.see = lru_cache(PICTURES)(self._see)

    def showing(self, stand_in: StandIn) -> MultimodalReader:
        """This reader, which shows a picture beside every text that has none."""
        if not self.can_see:
            raise UserError(
                f"The checkpoint of '{self._name}' lacks the weights that see: ask it without "
                "--picture."
            )
        reader = copy.copy(self)
        reader.stand_in = stand_in
        reader.see = lru_cache(PICTURES)(reader._see)
        # what cannot be shown is refused before the first question
        with torch.inference_mode():
            reader.see(stand_in)
        return reader

    def logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        view = self.stand_in if picture is None else picture
        logits: torch.Tensor = self.head(view)(self.states(ids, view)[rows, columns])
        return logits.float()

    def first_states(self, ids: torch.Tensor) -> torch.Tensor:
        return self.states(ids, None)[:, 0]

    def states(self, ids: torch.Tensor, view: View | None) -> torch.Tensor:
        """The last layer's states at the tokens."""
        raise NotImplementedError

    def head(self, view: View | None) -> Any:
        """The module that turns states into logits."""
        return self.network.cls.predictions

    def pixels(self, view: View) -> dict[str, torch.Tensor]:
        """The picture as the model's own image processor prepares it."""
        if self._images is None:
            self._images = load_component(
                str(self._source), self._options, "AutoImageProcessor", "model of pictures"
            )
        inputs = prepare_view(view, self._images, self._name)
        return {name: tensor.to(self.network.device) for name, tensor in inputs.items()}

    def _see(self, view: View) -> Any:
        """What the network makes of a picture before it reads the text."""
        raise NotImplementedError


class RegionReader(MultimodalReader):
    """Networks that see regions of a picture: their features and boxes."""

    sees_regions = True
    stand_in_note = "beside every question it is shown the regions of a {kind} picture"
    width: ClassVar[str]
    """The entry of the configuration that says how long a region's feature vector is."""

    def _see(self, view: View) -> tuple[torch.Tensor, torch.Tensor]:
        # such a model accepts no picture files, so that none gets here
        if not isinstance(view, StandIn):
            raise TypeError(view)
        regions = stand_in_regions(view, getattr(self.network.config, self.width), self._name)
        # one picture for all the texts of a batch
        features, boxes = (torch.from_numpy(part)[None] for part in regions)
        device = self.network.device
        dtype = self.network.dtype
        return features.to(device, dtype), boxes.to(device, dtype)


class VisualBertReader(RegionReader):
    width = "visual_embedding_dim"
    picture_parts = r"embeddings\.visual_"

    def states(self, ids: torch.Tensor, view: View | None) -> torch.Tensor:
        regions: dict[str, torch.Tensor] = {}
        if view is not None:
            features, _ = self.see(view)
            shape = (len(ids), features.shape[1])
            regions = {
                "attention_mask": torch.ones_like(ids),
                "visual_embeds": features.expand(len(ids), -1, -1),
                "visual_attention_mask": ids.new_ones(shape),
                "visual_token_type_ids": ids.new_ones(shape),
            }
        states: torch.Tensor = self.network.visual_bert(input_ids=ids, **regions)[0]
        # the text comes first
        return states[:, : ids.shape[1]]


class LxmertReader(RegionReader):
    width = "visual_feat_dim"
    picture_parts = r"visn|r_layers|visual_attention\.att"

    def states(self, ids: torch.Tensor, view: View | None) -> torch.Tensor:
        if view is None:
            return lxmert_language(self.network.lxmert, ids)
        features, boxes = (part.expand(len(ids), -1, -1) for part in self.see(view))
        seen = self.network.lxmert(input_ids=ids, visual_feats=features, visual_pos=boxes)
        states: torch.Tensor = seen.language_output
        return states


class ViltReader(MultimodalReader):
    accepts = TEXT_AND_PICTURES

    def states(self, ids: torch.Tensor, view: View | None) -> torch.Tensor:
        patches = vilt_blank(self.network) if view is None else self.see(view)
        return vilt_states(self.network.vilt, ids, patches)[:, : ids.shape[1]]

    def head(self, view: View | None) -> Any:
        return self.network.mlm_score

    def _see(self, view: View) -> tuple[torch.Tensor, torch.Tensor]:
        """ViLT's own embedding of patches, which draws their order, and where they are too many a
        part of them."""
        pixels = self.pixels(view)
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

    picture_parts = (
        r"^flava\.(image_model|multimodal_model)\.(?!pooler)|^flava\.\w+_to_mm"
        r"|^mmm_text_head\.(transform|decoder)"
    )

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        source: str | Path,
        options: ModelOptions,
    ) -> None:
        super().__init__(checkpoint, name, source, options)
        if self.can_see:
            self.accepts = TEXT_AND_PICTURES

    def states(self, ids: torch.Tensor, view: View | None) -> torch.Tensor:
        flava = self.network.flava
        text = flava.text_model(input_ids=ids, output_hidden_states=True)
        states: torch.Tensor = text.last_hidden_state
        # the multimodal encoder was trained on texts with pictures only
        if view is None:
            return states
        # both towers' states before their last layer norm, as in FlavaModel
        patches = self.see(view).expand(len(ids), -1, -1)
        words = flava.text_to_mm_projection(text.hidden_states[-1])
        joined: torch.Tensor = flava.multimodal_model(torch.cat([patches, words], 1))[0]
        # the picture comes first, after a token of the encoder's own
        return joined[:, -ids.shape[1] :]

    def head(self, view: View | None) -> Any:
        if view is None:
            return self.network.mlm_head
        return self.network.mmm_text_head

    def _see(self, view: View) -> torch.Tensor:
        flava = self.network.flava
        pixels = self.pixels(view)["pixel_values"].to(self.network.dtype)
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
    model.note_adaptation(kind.adaptation)
    return model
