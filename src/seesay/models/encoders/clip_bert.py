"""CLIP-BERT (Norlund, Hagström & Johansson 2021): a BERT that may be shown one CLIP feature after
its last token.

Layout of a checkpoint, after the published code: a BERT folder (config.json, model.safetensors,
tokenizer) whose config.json says `img_feature_dim` and whose weights hold
`bert.img_projection.weight` and `.bias`. What imagines is the CLIP in the folder `clip` beside
them, else the encoder that `text_encoder` (or `clip_model`) of config.json names, else CLIP
ViT-B/32. Any encoder will do: of a CLIP its projected text feature is taken, of another its vector.

Imagination ("explicit"): the feature of the text itself takes the place of the picture's in
training. A slot is imagined from the text as it is asked, with `[MASK]` in it, as in the published
code. Without imagination ("implicit") the BERT reads the text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, load_complete
from seesay.models.hf.base import Vectors
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.encoding import Reader
from seesay.models.hf.loading import Checkpoint, load_checkpoint, read_config
from seesay.models.options import ModelOptions
from seesay.models.source import FEATURES

if TYPE_CHECKING:
    import torch

PROJECTION = "img_projection"
PREDICTS = "predicts_features"
"""What the configuration of a CLIP-BERT says that was trained on pictures here: it imagines by
itself."""
PUBLISHED_FEATURES = 512
CLIP = "openai/clip-vit-base-patch32"


def folder_of(where: str) -> Path | None:
    path = Path(where).expanduser()
    if not where or not path.is_dir():
        return None
    return path


def load_clip_bert(
    name: str,
    bert: str,
    clip: str,
    options: ModelOptions,
    *,
    imagine: bool,
) -> Model:
    """The encoder of a CLIP-BERT in a folder or on the hub, or of one built from a BERT and a CLIP,
    whose projection is drawn with a seed. A revision is the BERT's."""
    predicts = not clip and predicts_features(name, bert, options)
    imagination = None
    if imagine and not predicts:
        imagination = load_imagination(name, bert, clip, options)
    checkpoint = load_bert(
        name,
        bert,
        options,
        imagination,
        drawn=bool(clip),
        spare=("cls",),
    )
    if imagination is None:
        vectors = first_states(checkpoint.model, imagining=imagine)
        pooling = "first-imagining" if imagine else "first"
        return BatchEncoder(name, checkpoint, vectors, options, pooling=pooling)
    encoder = ImaginingBert(name, checkpoint, imagination, options)
    if clip:
        encoder.note(
            f"'{name}' has no trained projection from CLIP to BERT: one is drawn with a seed.",
            lasting=True,
        )
    return encoder


def predicts_features(name: str, bert: str, options: ModelOptions) -> bool:
    """Whether a checkpoint was trained on pictures here, so that it imagines by itself."""
    config = read_config(name, folder_of(bert) or bert, options)
    return bool(getattr(config, PREDICTS, False))


def load_imagination(
    name: str,
    bert: str,
    clip: str,
    options: ModelOptions,
) -> Model:
    """The encoder whose vectors of texts take the place of pictures' features: `clip`, or the
    checkpoint's own."""
    from transformers import CLIPTextModelWithProjection

    from seesay.models.encoders import load_encoder

    source = folder_of(bert) or bert
    beside = Path(source) / "clip"
    # what lies beside the weights goes before what their configuration names
    if not clip and beside.is_dir():
        clip = str(beside)
    elif not clip:
        config = read_config(name, source, options)
        clip = str(getattr(config, "text_encoder", None) or getattr(config, "clip_model", CLIP))
    # the revision is that of the BERT
    clip_options = replace(options, revision=None)
    if not is_clip(clip, clip_options):
        return load_encoder(clip, clip_options)
    tower = load_complete(
        f"{name} (CLIP: {clip})",
        folder_of(clip) or clip,
        clip_options,
        CLIPTextModelWithProjection,
    )
    return ClipText(clip, tower, clip_options)


class ClipText(BatchEncoder):
    """CLIP's text half with its projection: features that lie in the space of pictures. `sees`: the
    other half is there too."""

    def __init__(
        self,
        name: str,
        tower: Checkpoint,
        options: ModelOptions,
    ) -> None:
        network = tower.model
        self.sees = tower.config.model_type == "clip"
        unread = replace(tower, unused=())  # the half that sees
        super().__init__(
            name, unread, lambda ids: network(input_ids=ids).text_embeds, options, pooling=""
        )
        self.fingerprint = tower.fingerprint


def is_clip(name: str, options: ModelOptions) -> bool:
    """Whether a folder or Hub id is a CLIP's; a name of the catalogue or of another package is
    none."""
    from seesay.models.catalogue import CATALOGUE

    folder = folder_of(name)
    if folder is None and (name in CATALOGUE or ":" in name):
        return False
    return read_config(name, folder or name, options).model_type.startswith("clip")


def load_bert(
    name: str,
    bert: str,
    options: ModelOptions,
    imagination: Model | None,
    *,
    drawn: bool = False,
    spare: Sequence[str] = (),
) -> Checkpoint:
    """The network with its projection: the checkpoint's own, or `drawn` with a seed."""
    import torch

    from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM

    source = folder_of(bert) or bert
    config: Any = read_config(name, source, options)
    features = getattr(config, FEATURES, PUBLISHED_FEATURES)
    if imagination:
        # how wide an encoder's vectors are is seen on any text
        features = imagination.encode(["a"]).shape[1]
    declared = getattr(config, FEATURES, features)
    config.img_feature_dim = features if drawn else declared
    checkpoint = load_checkpoint(
        name,
        source,
        options,
        ClipBertForMaskedLM,
        config=config,
    )
    lacks_projection = any(PROJECTION in key for key in checkpoint.missing)
    if not drawn and (lacks_projection or declared != features):
        raise UserError(
            f"'{name}' holds no {PROJECTION} from the {features} numbers of its text encoder to "
            f"BERT's {config.hidden_size}: name the encoder that it was trained with (text_encoder "
            "in its config.json, or the folder clip)."
        )
    missing = list(checkpoint.missing)
    for part in (*spare, PROJECTION):
        missing = [key for key in missing if part not in key]
    refuse_missing(name, missing)
    if drawn:
        # the same projection in every process, and nobody else's random numbers are touched
        with torch.random.fork_rng():
            torch.manual_seed(0)
            layer = torch.nn.Linear(features, config.hidden_size)
        checkpoint.model.bert.img_projection.load_state_dict(layer.state_dict())
    return checkpoint


class ImaginingBert(BatchEncoder):
    """BERT with the imagined feature of each text after its last token; the vector is the first
    token's state."""

    def __init__(
        self,
        name: str,
        bert: Checkpoint,
        imagination: Model,
        options: ModelOptions,
    ) -> None:
        vectors = first_states(bert.model)
        super().__init__(
            name, bert, vectors, options, pooling=f"first-imagining-{imagination.fingerprint}"
        )
        self._imagination = imagination

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encode(
            texts, self._vectors, features=imagine(self._imagination, texts, self._network)
        )


def first_states(network: Any, *, imagining: bool = False) -> Reader:
    """CLIP-BERT's state at the first token, of texts alone or with a feature after each; one that
    predicts features may be shown its own."""
    if imagining:
        return lambda ids: network.states(ids, network.imagine(ids))[:, 0]
    return lambda *inputs: network.states(*inputs)[:, 0]


def imagine(imagination: Model, texts: Sequence[str], network: Any) -> torch.Tensor:
    """The features that texts evoke, where the network is."""
    import torch

    return torch.from_numpy(imagination.encode(texts)).to(network.device)
