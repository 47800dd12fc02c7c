"""A causal language model that is shown pictures: `visual-prefix:FOLDER`, or the folder alone.

The folder holds `config.json`, which names the language model and the encoder of pictures by name
and fingerprint, and `model.safetensors`, the projector between the two. Without a picture it is the
language model itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from seesay.errors import UserError
from seesay.files import damage_as_user_error, read_json, write_json
from seesay.language.seeing.prefix_network import PictureEmbeddings, PrefixProjector
from seesay.models.base import TEXT_AND_PICTURES
from seesay.models.files import file_digest
from seesay.models.hf.causal import TransformersCausalModel
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.families import HEADS
from seesay.models.hf.loading import Checkpoint, content_fingerprint, load_checkpoint
from seesay.models.hf.spans import Ids
from seesay.models.hf.tokenization import TokenizedOption
from seesay.models.options import Family, ModelOptions
from seesay.models.picture_encoder import PictureEncoder, open_known_encoder
from seesay.models.pictures import open_picture
from seesay.models.source import ModelSource
from seesay.models.untrusted import refuse_other_sizes
from seesay.questions import Prompt

MODEL_TYPE = "seesay-visual-prefix"
WEIGHTS = "model.safetensors"
FILES = ("config.json", WEIGHTS)
KEPT_PICTURES = 4096
"""Pictures whose features stay in memory: a task asks about each in several templates."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A causal language model by its name, with what was read."""

    name: str
    checkpoint: Checkpoint
    fingerprint: str
    """That of its files, whatever they are read as."""

    @classmethod
    def load(cls, name: str, options: ModelOptions) -> LanguageModel:
        """Load a catalogue name, a folder or a Hub id."""
        import transformers

        options = replace(options, revision=None)
        source = ModelSource.parse(name, options).fetch()
        network_class: Any = getattr(transformers, HEADS[Family.CAUSAL])
        checkpoint = load_checkpoint(name, source, options, network_class)
        refuse_missing(name, checkpoint.missing, Family.CAUSAL)
        return cls(name, checkpoint, content_fingerprint(source, None))

    @property
    def words(self) -> torch.nn.Embedding:
        """The embeddings of its tokens."""
        words: torch.nn.Embedding = self.checkpoint.model.get_input_embeddings()
        return words


def save(
    folder: Path,
    projector: PrefixProjector,
    language_model: LanguageModel,
    encoder: PictureEncoder | None,
) -> None:
    """Write the folder that `load_prefix` reads; the configuration last, so that half a model is
    not taken for one."""
    from safetensors.torch import save_file

    save_file(projector.state_dict(), folder / WEIGHTS)
    config = {
        "model_type": MODEL_TYPE,
        "language_model": [_place(language_model.name, folder), language_model.fingerprint],
        "picture_encoder": encoder and [encoder.name, encoder.fingerprint],
        "features": projector.inner.in_features,
        "hidden": projector.inner.out_features,
        "tokens": projector.tokens,
        "width": projector.width,
    }
    write_json(folder / "config.json", config)


def _place(name: str, folder: Path) -> str:
    """Return how the folder names its language model: one near it by its way from here, so that
    both can be moved."""
    path = Path(name).expanduser()
    if not path.is_dir():
        return name
    way = os.path.relpath(path.resolve(), folder.resolve())
    return way if way.count("..") <= 1 else str(path.resolve())


def load_prefix(rest: str, options: ModelOptions) -> VisualPrefixModel:
    """Load the folder; another language model or encoder than it was trained with is refused."""
    from safetensors.torch import load_file

    folder = Path(rest).expanduser()
    with damage_as_user_error(folder, "a file may be missing: train it again"):
        config = read_json(folder / "config.json")
        weights = load_file(folder / WEIGHTS)
        sizes = {name: config[name] for name in ("features", "hidden", "tokens", "width")}
        refuse_other_sizes(lambda: PrefixProjector(**sizes), weights, sizes)
        projector = PrefixProjector(**sizes)
        projector.load_state_dict(weights)
        place, known = config["language_model"]
        encoder = config["picture_encoder"]
    near = folder / place
    language_model = LanguageModel.load(str(near) if near.is_dir() else place, options)
    if language_model.fingerprint != known:
        raise UserError(
            f"'{rest}' was trained on another '{place}' than there is now: its weights are others."
        )
    if language_model.words.embedding_dim != projector.width:
        raise UserError(f"'{rest}' has embeddings of another width than '{place}'.")
    return VisualPrefixModel(rest, folder, projector, language_model, encoder, options)


class VisualPrefixModel(TransformersCausalModel):
    """The language model, which reads a picture's embeddings before the text."""

    def __init__(
        self,
        name: str,
        folder: Path,
        projector: PrefixProjector,
        language_model: LanguageModel,
        encoder: Sequence[str] | None,
        options: ModelOptions,
    ) -> None:
        checkpoint = language_model.checkpoint
        digest = file_digest(folder / file for file in FILES)
        checkpoint = replace(checkpoint, fingerprint=f"{digest}-{checkpoint.fingerprint}")
        super().__init__(name, checkpoint, scope=options.scope, batch_size=options.batch_size)
        self._projector = projector.eval().to(self._network.device)
        self._table = PictureEmbeddings(language_model.words)
        self._network.set_input_embeddings(self._table)
        self._features: dict[str, torch.Tensor] = {}
        self._encoder = None
        if encoder is not None:
            self.accepts = TEXT_AND_PICTURES
            self._encoder = open_known_encoder(*encoder)

    def _tokenize(self, prompts: Sequence[Prompt]) -> list[list[TokenizedOption]]:
        rows = []
        for picture, row in zip(self._show(prompts), super()._tokenize(prompts), strict=True):
            shift = len(picture)
            options = []
            for option in row:
                ids = (*picture, *option.ids)
                options.append(
                    TokenizedOption(ids, option.start + shift, option.stop + shift, option.chars)
                )
            rows.append(options)
        return rows

    def _beginnings(self, prompts: Sequence[Prompt]) -> list[Ids]:
        pairs = zip(self._show(prompts), super()._beginnings(prompts), strict=True)
        return [(*picture, *ids) for picture, ids in pairs]

    def _show(self, prompts: Sequence[Prompt]) -> list[Ids]:
        """Lay out the embeddings of the prompts' pictures; return the tokens of each prompt's."""
        for prompt in prompts:
            if any(shot.picture is not None for shot in prompt.shots):
                raise UserError(
                    f"'{self.name}' looks at one picture at a time: ask it without --shots."
                )
        pictures = dict.fromkeys(prompt.picture for prompt in prompts if prompt.picture is not None)
        tokens = self._projector.tokens
        ids: dict[str | None, Ids] = {None: ()}
        for number, picture in enumerate(pictures):
            first = self._table.vocabulary + number * tokens
            ids[picture] = tuple(range(first, first + tokens))
        if pictures:
            features = torch.cat([self._look(picture) for picture in pictures])
            with torch.inference_mode():
                embeddings = self._projector(features.to(self._network.device))
            self._table.pictures = embeddings.flatten(end_dim=1)
        return [ids[prompt.picture] for prompt in prompts]

    def _look(self, picture: str) -> torch.Tensor:
        """Return the picture's features."""
        if self._encoder is None:
            raise UserError(
                f"'{self.name}' was trained on features of an unknown encoder: it cannot be shown "
                "a picture."
            )
        if picture not in self._features:
            if len(self._features) >= KEPT_PICTURES:
                self._features.clear()
            image = open_picture(picture, self.name)
            self._features[picture] = torch.from_numpy(self._encoder.encode([image]))
        return self._features[picture]
