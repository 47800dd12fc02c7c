"""CLIP-BERT fills slots: `clip-bert:FOLDER` with imagination, `clip-bert-implicit:FOLDER` without
("explicit" and "implicit" in Norlund et al. 2021)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.condition import StandIn
from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.models.encoders.clip_bert import (
    PROJECTION,
    ClipText,
    first_states,
    imagine,
    load_bert,
    load_imagination,
    predicts_features,
)
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.loading import (
    Checkpoint,
    find_source,
    load_component,
    load_network,
)
from seesay.models.hf.logits import logits_at
from seesay.models.hf.masked import MaskedModel, SlotReader
from seesay.models.options import ModelOptions
from seesay.models.picture_encoder import PictureEncoder, open_known_encoder
from seesay.models.pictures import open_picture
from seesay.models.source import split_clip_bert
from seesay.models.stand_in import View, prepare_view

KEPT_FEATURES = 4096  # texts, so that a large task does not fill the memory


def load_explicit(rest: str, options: ModelOptions) -> MaskedModel:
    """`clip-bert:FOLDER` or `clip-bert:HUB-ID`."""
    return load_masked(f"clip-bert:{rest}", rest, options, imagine=True)


def load_implicit(rest: str, options: ModelOptions) -> MaskedModel:
    """`clip-bert-implicit:FOLDER` or `clip-bert-implicit:HUB-ID`."""
    return load_masked(f"clip-bert-implicit:{rest}", rest, options, imagine=False)


def load_source(
    name: str,
    source: str | Path,
    options: ModelOptions,
    config: object,
) -> MaskedModel:
    """The CLIP-BERT in a folder or on the hub, by whose configuration it was known."""
    return load_masked(name, str(source), options, imagine=True)


def load_masked(
    name: str,
    where: str,
    options: ModelOptions,
    *,
    imagine: bool,
) -> MaskedModel:
    """The CLIP-BERT in a folder or on the hub. One built from a BERT and a CLIP has no trained
    projection: refused."""
    bert, clip = split_clip_bert(name, where)
    if clip:
        raise UserError(
            f"'{name}' has no trained projection from CLIP to BERT, so what it fills a slot with "
            "means nothing: give a CLIP-BERT (clip-bert:FOLDER)."
        )
    imagination = None
    if imagine and not predicts_features(name, bert, options):
        imagination = load_imagination(name, bert, "", options)
    checkpoint = load_bert(name, bert, options, imagination)
    reader: ClipBertReader = ClipBertReader(checkpoint.model)
    if imagination is not None:
        reader = ImaginingReader(checkpoint.model, imagination, options)
    elif imagine:
        reader = PredictingReader(checkpoint.model)
    return ClipBertModel(name, checkpoint, reader, options)


class ClipBertReader(SlotReader):
    """Reads texts alone ("implicit"): no feature follows a sentence."""

    imagination: Model | None = None
    scope = "slot-implicit"

    def features(
        self,
        ids: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor | None:
        """Return what is shown after each sentence; None for nothing."""
        return None

    def logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        inputs = {"input_ids": ids, "features": self.features(ids, texts, picture)}
        return logits_at(self.network, inputs, rows, columns)

    def layer_logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> Iterator[torch.Tensor]:
        """Give the logits that the head reads out of each layer, with the same features."""
        for states in self.network.layer_states(ids, self.features(ids, texts, picture)):
            yield self.network.cls(states[rows, columns]).float()

    def first_states(self, ids: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = first_states(self.network)(ids, self.features(ids, (), None))
        return states


class PredictingReader(ClipBertReader):
    """Shows the network a picture's features, or those that it predicts from the text itself: for a
    CLIP-BERT that was trained on pictures here."""

    scope = "slot-explicit"

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self._encoder_card: Sequence[str] = getattr(network.config, "picture_encoder", ())
        if self._encoder_card:
            self.accepts = TEXT_AND_PICTURES

    @cached_property
    def _encoder(self) -> PictureEncoder:
        name, known = self._encoder_card
        return open_known_encoder(name, known)

    def features(
        self,
        ids: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        if picture is None:
            imagined: torch.Tensor = self.network.imagine(ids)
            return imagined
        vectors = self._encoder.encode([open_picture(picture, self._encoder.name)])
        return torch.from_numpy(vectors).to(ids.device).expand(len(ids), -1)


class ClipBertModel(MaskedModel):
    """A slot's words given the text and, in the explicit way, one feature: the picture's, or what
    the text evokes."""

    _reader: ClipBertReader

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        reader: ClipBertReader,
        options: ModelOptions,
    ) -> None:
        imagination = reader.imagination
        if imagination is not None:
            checkpoint = replace(
                checkpoint,
                fingerprint=f"{checkpoint.fingerprint}-imagining-{imagination.fingerprint}",
            )
        super().__init__(
            name,
            checkpoint,
            reader=reader,
            batch_size=options.batch_size,
        )
        self.scope = reader.scope
        if self.scope == ClipBertReader.scope:
            self.note(f"'{name}' reads texts alone: its {PROJECTION} is not used.", lasting=True)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the first token."""
        imagination = self._reader.imagination
        if imagination is None:
            return super().encode(texts)
        features = imagine(imagination, texts, self._network)
        return self._encode(texts, first_states(self._network), features=features)


class ImaginingReader(ClipBertReader):
    """Shows the network one feature after each sentence: the picture's where there is one, else the
    text's own."""

    sees_text = True
    scope = "slot-explicit"
    imagination: Model

    def __init__(
        self,
        network: Any,
        imagination: Model,
        options: ModelOptions,
    ) -> None:
        super().__init__(network)
        self.imagination = imagination
        self._options = options
        self._features: dict[str, NDArray[np.float32]] = {}
        self._clip: Any = None  # the half that sees, loaded when the first picture comes
        self._stand_in: NDArray[np.float32] | None = None  # the feature of a picture for all texts
        if isinstance(imagination, ClipText) and imagination.sees:
            self.accepts = TEXT_AND_PICTURES
            self.stand_in_note = (
                "beside every question it is shown the pixels of a {kind} picture, and imagines "
                "nothing"
            )

    def showing(self, stand_in: StandIn) -> ImaginingReader:
        """This reader, which shows a picture beside every text that has none."""
        reader = copy.copy(self)
        with torch.inference_mode():
            reader._stand_in = reader._picture_feature(stand_in)
        return reader

    def features(
        self,
        ids: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        seen = self._stand_in if picture is None else self._picture_feature(picture)
        if seen is None:
            features = self._text_features(texts)
        else:
            features = np.repeat(seen, len(ids), axis=0)
        return torch.from_numpy(features).to(ids.device)

    def _text_features(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what texts evoke; those of one prompt come again for every token of every
        option."""
        unique = list(dict.fromkeys(texts))
        new = [text for text in unique if text not in self._features]
        if len(self._features) + len(new) > KEPT_FEATURES:
            # prompts come in order: what was seen long ago does not come again
            self._features.clear()
            new = unique
        if new:
            self._features |= zip(new, self.imagination.encode(new), strict=True)
        return np.stack([self._features[text] for text in texts])

    def _picture_feature(self, view: View) -> NDArray[np.float32]:
        """CLIP's own feature of the picture, after its projection."""
        from transformers import CLIPVisionModelWithProjection

        name = self.imagination.name
        # one picture at a time, and the revision is that of the BERT
        options = replace(self._options, revision=None, device="cpu")
        if self._clip is None:
            loaded = load_network(
                name, find_source(name, None), options, CLIPVisionModelWithProjection
            )
            refuse_missing(name, loaded.missing)
            self._clip = loaded.network, load_component(name, options, "AutoImageProcessor", "CLIP")
        network, images = self._clip
        pixels = prepare_view(view, images, name)["pixel_values"]
        feature: NDArray[np.float32] = network(pixel_values=pixels).image_embeds.float().numpy()
        return feature
