"""CLIP-BERT (Norlund, Hagström & Johansson 2021): a BERT that may be shown one CLIP feature after its last token.

Layout of a checkpoint, after the published code: a BERT folder (config.json, model.safetensors, tokenizer) whose
config.json says `img_feature_dim` and whose weights hold `bert.img_projection.weight` and `.bias`; beside it, in the
folder `clip`, the CLIP whose text tower imagines (else `clip_model` of config.json names one, else CLIP ViT-B/32).

Imagination ("explicit"): the projected CLIP feature of the text itself takes the place of the picture's in training: a
last position without position or type embedding. Without it ("implicit") the BERT reads the text alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.encoders.base import DEFAULT_BUDGET, BatchEncoder, Vectors, find_file, first_token, load_complete
from seesay.models.hf.batching import batches_of_equal_length, halve_until_it_fits, refuse_too_long
from seesay.models.hf.loading import Checkpoint
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch

FEATURES = "img_feature_dim"
PROJECTION = "img_projection"
CLIP = "openai/clip-vit-base-patch32"


def parts_of(name: str, where: str) -> tuple[str, str]:
    """A checkpoint and nothing, or a BERT and a CLIP. A folder's own name may hold a `+`."""
    marks = [place for place, char in enumerate(where) if char == "+"]
    splits = [(where[:place], where[place + 1 :]) for place in marks]
    if not marks or _folder(where):
        splits = [(where, "")]
    bert, clip = next((pair for pair in splits if all(map(_folder, pair))), splits[0])
    if not bert or (marks and not clip and not _folder(where)):
        raise UserError(f"'{name}' needs a checkpoint or two models: clip-bert:FOLDER or clip-bert:BERT+CLIP.")
    for part in filter(None, (bert, clip)):
        if part.startswith((".", "/", "~")) and not _folder(part):
            raise UserError(f"'{part}' is not a folder: give the folder of a model, or a Hub id.")
    return bert, clip


def _folder(where: str) -> Path | None:
    path = Path(where).expanduser()
    return path if where and path.is_dir() else None


def load_clip_bert(name: str, bert: str, clip: str, options: ModelOptions, *, imagine: bool) -> Model:
    """A CLIP-BERT in a folder or on the hub, or one built from a BERT and a CLIP. A revision is the BERT's."""
    from transformers import BertModel, CLIPTextModelWithProjection

    source = _folder(bert) or bert
    checkpoint = load_complete(name, source, options, BertModel, spare=("pooler",))
    if not imagine:
        return BatchEncoder(name, checkpoint, first_token(checkpoint.model), options, pooling="first")
    beside = Path(source) / "clip"
    own_clip = str(beside) if beside.is_dir() else str(getattr(checkpoint.config, "clip_model", CLIP))
    tower = load_complete(
        f"{name} (CLIP: {clip or own_clip})",
        _folder(clip or own_clip) or clip or own_clip,
        replace(options, revision=None),
        CLIPTextModelWithProjection,  # the feature that lies in the space of pictures
    )
    weights = {} if clip else _weights(name, source, options.revision)
    projection = read_projection(name, weights, checkpoint, tower, drawn=bool(clip))
    encoder = ImaginingBert(name, checkpoint, tower, projection, options)
    if clip:
        encoder.note(f"'{name}' has no trained projection from CLIP to BERT: one is drawn with a seed.")
    return encoder


def read_projection(
    name: str, weights: Mapping[str, torch.Tensor], bert: Checkpoint, tower: Checkpoint, *, drawn: bool
) -> torch.nn.Linear:
    """The layer from CLIP's feature to BERT's states: the checkpoint's, or for two models drawn with a seed."""
    import torch

    features = int(tower.model.config.projection_dim)
    hidden = int(bert.model.config.hidden_size)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = torch.nn.Linear(features, hidden)
    if not drawn:
        projection = {
            key.rpartition(f"{PROJECTION}.")[2]: tensor for key, tensor in weights.items() if f"{PROJECTION}." in key
        }
        if set(projection) != {"weight", "bias"} or projection["weight"].shape != (hidden, features):
            raise UserError(
                f"'{name}' holds no {PROJECTION} from CLIP's {features} numbers to BERT's {hidden}: give another CLIP "
                "(clip_model in its config.json, or the folder clip), or clip-bert:BERT+CLIP."
            )
        layer.load_state_dict(projection)
    return layer.to(bert.model.device, bert.model.dtype).eval()


def _weights(name: str, source: str | Path, revision: str | None) -> dict[str, torch.Tensor]:
    """All tensors of a checkpoint's safetensors, in one file or several."""
    from safetensors.torch import load_file

    index = find_file(source, "model.safetensors.index.json", revision)
    files = ["model.safetensors"]
    if index:
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    tensors: dict[str, torch.Tensor] = {}
    for file in files:
        path = find_file(source, file, revision)
        if path is None:
            raise UserError(f"'{name}' has no safetensors weights: convert them with save_pretrained.")
        tensors |= load_file(path)
    return tensors


class ImaginingBert(Model):
    """BERT with the CLIP feature of each text after its last token; the vector is the first token's state."""

    family = "encoder"

    def __init__(
        self, name: str, bert: Checkpoint, tower: Checkpoint, projection: torch.nn.Linear, options: ModelOptions
    ) -> None:
        self.name, self.fingerprint = name, f"{bert.fingerprint}-first-imagining-{tower.fingerprint}"
        self._bert, self._tokenizer, self._projection = bert.model, bert.tokenizer, projection
        self._tower = BatchEncoder(name, tower, lambda ids: tower.model(input_ids=ids).text_embeds, options, pooling="")
        self._budget = options.batch_size or DEFAULT_BUDGET

    def encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), np.float32)
        sentences = [tuple(ids) for ids in self._tokenizer(list(texts))["input_ids"]]
        refuse_too_long(self.name, self._bert, max(map(len, sentences)) + 1)
        imagined = self._tower.encode(texts)
        rows, self._budget = halve_until_it_fits(lambda budget: self._read(sentences, imagined, budget), self._budget)
        return rows

    def _read(self, sentences: Sequence[tuple[int, ...]], imagined: Vectors, budget: int) -> Vectors:
        import torch

        rows = np.empty((len(sentences), self._bert.config.hidden_size), np.float32)
        features = torch.from_numpy(imagined).to(self._bert.device, self._bert.dtype)
        with torch.inference_mode():
            for members in batches_of_equal_length(sentences, budget):
                ids = torch.tensor([sentences[i] for i in members], device=self._bert.device)
                rows[members] = with_feature(self._bert, ids, self._projection(features[members])).float().cpu().numpy()
        return rows


def with_feature(bert: Any, ids: torch.Tensor, feature: torch.Tensor) -> torch.Tensor:
    """The first token's state; the projected feature, layer-normed and without position or type, is the last input."""
    import torch

    embedding = bert.embeddings
    words = embedding(input_ids=ids)
    picture = embedding.dropout(embedding.LayerNorm(feature))[:, None]
    states: torch.Tensor = bert.encoder(torch.cat([words, picture], dim=1), attention_mask=None)[0]
    return states[:, 0]
