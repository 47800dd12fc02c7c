"""Causal language models: a small transformer raised on texts, and a visual prefix for any.

The transformer is a Llama with its own tokeniser of bytes. A visual prefix is a projector from a
picture's features to a few embeddings before the text (Tsimpoukelli et al. 2021, Frozen; Mokady et
al. 2021, ClipCap): the language model stays as it is, and the projector learns what to put there so
that it says the right words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.language.training.caption_features import UNSEEN, CaptionFeatures
from seesay.language.training.captions import CaptionSplit
from seesay.language.training.ragged import Ragged, Rows, cut
from seesay.models.base import SEPARATOR
from seesay.models.hf.logits import logits_at
from seesay.models.libraries import require_models
from seesay.models.options import ModelOptions
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from seesay.language.seeing.prefix_network import PrefixProjector
    from seesay.models.picture_encoder import PictureEncoder

LONGEST = 128
# Held-out texts used for validation: more would take longer than the steps between.
_VALIDATED = 2_000
# Streams of random numbers.
_ORDER, _VALIDATE = range(2)

Progress = Callable[[loop.TrainingProgress], None]


@dataclass(frozen=True, slots=True)
class CausalConfig:
    """Layer sizes and training of a small transformer; `tokens` per batch."""

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    tokens: int
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class PrefixConfig:
    """Embeddings before the text, the width between features and embeddings, and training."""

    prefix: int
    hidden: int
    tokens: int
    schedule: Schedule


PRESET = CausalConfig(
    layers=4,
    hidden=128,
    heads=4,
    vocabulary=4_000,
    tokens=2_048,
    schedule=Schedule(epochs=4, learning_rate=2e-3, warmup=0.05, decay="linear", weight_decay=0.01),
)
PREFIX_PRESET = PrefixConfig(
    prefix=4,
    hidden=256,
    tokens=512,
    schedule=Schedule(epochs=4, learning_rate=1e-3, warmup=0.05, decay="linear"),
)


class CausalBatch(NamedTuple):
    """Token ids, which of them are predicted, and the features of the pictures before them."""

    ids: torch.Tensor
    predicted: torch.Tensor
    features: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class CausalTexts:
    """Tokenised texts; row i is predicted from its token `starts[i]` on, and describes the picture
    `pictures[i]` of the `vectors`."""

    ids: Ragged
    starts: Rows
    pictures: Rows
    vectors: np.ndarray[Any, np.dtype[np.float32]] | None = None

    def batches(self, tokens: int, seed: tuple[int, ...], most: int | None = None) -> CausalBatches:
        """Return the texts in batches of similar length, in random order."""
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(self.ids))[:most]
        batch_rows = cut(self.ids.lengths, rows, tokens=tokens)
        return CausalBatches(self, [batch_rows[i] for i in rng.permutation(len(batch_rows))])


@dataclass(frozen=True, slots=True)
class CausalBatches(Sequence[CausalBatch]):
    """Batches that are made when they are looked up."""

    texts: CausalTexts
    batch_rows: list[Rows]

    def __len__(self) -> int:
        return len(self.batch_rows)

    def __getitem__(self, index: int) -> CausalBatch:  # type: ignore[override]
        import torch

        rows = self.batch_rows[index]
        texts = self.texts
        ids = texts.ids.matrix(rows, 0)
        places = np.arange(ids.shape[1])
        real = places < texts.ids.lengths[rows][:, None]
        predicted = real & (places >= texts.starts[rows][:, None])
        features = None
        if texts.vectors is not None:
            features = torch.from_numpy(texts.vectors[texts.pictures[rows]])
        return CausalBatch(torch.from_numpy(ids), torch.from_numpy(predicted), features)


def train_tokenizer(texts: Sequence[str], size: int) -> PreTrainedTokenizerBase:
    """Train a tokeniser of bytes, which writes `<|endoftext|>` before every text.

    It is always the same from the same texts: all bytes are given to it in order.
    """
    require_models()
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=[SEPARATOR],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    trained.post_processor = processors.TemplateProcessing(
        single=f"{SEPARATOR} $A", special_tokens=[(SEPARATOR, trained.token_to_id(SEPARATOR))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained,
        bos_token=SEPARATOR,
        eos_token=SEPARATOR,
        pad_token=SEPARATOR,
        model_max_length=LONGEST,
    )


def new_network(config: CausalConfig, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Make a Llama with random weights, by the config's seed."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(config.schedule.seed)
    end = int(tokenizer.eos_token_id)
    llama = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.hidden,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=4 * config.hidden,
        max_position_embeddings=LONGEST,
        tie_word_embeddings=True,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
    )
    return LlamaForCausalLM(llama)


def losses(network: Any, batch: CausalBatch, prefix: torch.Tensor | None = None) -> dict[str, Any]:
    """Return cross-entropy and accuracy at the tokens that are predicted, after the prefix."""
    import torch

    rows, columns = batch.predicted.nonzero(as_tuple=True)
    gold = batch.ids[rows, columns]
    inputs: dict[str, Any] = {"input_ids": batch.ids, "use_cache": False}
    shift = 0
    if prefix is not None:
        words = network.get_input_embeddings()(batch.ids)
        inputs = {"inputs_embeds": torch.cat([prefix, words], dim=1), "use_cache": False}
        shift = prefix.shape[1]
    # A token is predicted at the place before it. Padding stands behind all that is predicted.
    logits = logits_at(network, inputs, rows, columns + shift - 1)
    right = (logits.detach().argmax(-1) == gold).float()
    loss = torch.nn.functional.cross_entropy(logits, gold)
    return {"loss": loss, "accuracy": right.mean()}


def pretrain(
    captions: CaptionSplit,
    folder: Path,
    config: CausalConfig = PRESET,
    *,
    device: str = "auto",
    progress: Progress | None = None,
) -> loop.Result:
    """Train a small transformer on texts; the folder then holds a model of transformers."""
    _refuse_few(captions)
    require_models()
    settings = {**asdict(config), "captions": captions.fingerprint}
    del settings["schedule"]
    checkpoint.refuse_foreign_model(folder)
    with lock_folder(folder / "training", hint=checkpoint.OTHER_FOLDER):
        checkpoint.check_settings(folder / "training", config.schedule.settings() | settings)
        tokenizer = train_tokenizer(captions.train, config.vocabulary)
        network = new_network(config, tokenizer)
        train = _encode(tokenizer, captions.train)
        held_out = _encode(tokenizer, captions.held_out)
        result = _train(
            network, losses, (train, held_out), folder, config, settings, device, progress
        )
        tokenizer.save_pretrained(folder)
        network.cpu().save_pretrained(folder)
        return result


def train_prefix(
    captions: CaptionSplit,
    folder: Path,
    config: PrefixConfig = PREFIX_PRESET,
    *,
    language_model: str,
    starts: tuple[Sequence[int], Sequence[int]] | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> loop.Result:
    """Train a projector from the features of the captions' pictures into a frozen language model.

    `starts` gives the character of each training and held-out caption from which it is predicted;
    by default that is all of it. The folder is a model that `seesay probe` loads.
    """
    from seesay.language.seeing.prefix_model import LanguageModel, save

    features = _require_features(captions)
    encoder = _open_encoder(features)
    frozen = LanguageModel.load(language_model, ModelOptions(device="cpu"))
    settings = {
        **asdict(config),
        "captions": captions.fingerprint,
        "features": [features.encoder, features.fingerprint],
        "language_model": frozen.fingerprint,
    }
    if starts is not None:
        settings["starts"] = [sum(part) for part in starts]
    del settings["schedule"]
    checkpoint.refuse_foreign_model(folder)
    with lock_folder(folder / "training", hint=checkpoint.OTHER_FOLDER):
        checkpoint.check_settings(folder / "training", config.schedule.settings() | settings)
        network = frozen.checkpoint.model.requires_grad_(False)
        projector = _new_projector(config, features.width, frozen.words)
        train_starts, test_starts = starts or (None, None)
        tokenizer = frozen.checkpoint.tokenizer
        parts = (
            _encode(tokenizer, captions.train, train_starts, features, features.train),
            _encode(tokenizer, captions.held_out, test_starts, features, features.held_out),
        )

        def prefix_losses(projector: PrefixProjector, batch: CausalBatch) -> dict[str, Any]:
            assert batch.features is not None
            network.to(batch.ids.device)
            return losses(network, batch, projector(batch.features))

        result = _train(projector, prefix_losses, parts, folder, config, settings, device, progress)
        save(folder, projector.cpu(), frozen, encoder)
        return result


def _train(
    network: Any,
    losses: Callable[[Any, CausalBatch], dict[str, Any]],
    parts: tuple[CausalTexts, CausalTexts],
    folder: Path,
    config: CausalConfig | PrefixConfig,
    settings: dict[str, Any],
    device: str,
    progress: Progress | None,
) -> loop.Result:
    """Train on the first part of the texts, and validate on the second."""
    train, held_out = parts
    seed = config.schedule.seed
    validation = held_out.batches(config.tokens, (seed, _VALIDATE), _VALIDATED)

    def count(batch: CausalBatch) -> int:
        return int(batch.predicted.sum())

    return loop.train(
        network,
        lambda epoch: train.batches(config.tokens, (seed, _ORDER, epoch)),
        losses,
        lambda network: loop.mean_losses(network, validation, losses, count),
        folder / "training",
        config.schedule,
        settings,
        device=device,
        progress=progress,
    )


def _encode(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    starts: Sequence[int] | None = None,
    features: CaptionFeatures | None = None,
    pictures: Rows | None = None,
) -> CausalTexts:
    """Tokenise texts; one that is too long is cut.

    Each has its end, but for those of which a part is predicted: the language model knows it.
    """
    encoded = tokenizer(list(texts), return_offsets_mapping=True, verbose=False)
    end = int(tokenizer.eos_token_id)
    ids = []
    first_tokens = []
    for row, tokens in enumerate(encoded["input_ids"]):
        ending = [end] if starts is None else []
        ids.append([*tokens, *ending][:LONGEST])
        # The first token has no context but a picture.
        start = 0 if features is not None else 1
        if starts is not None:
            ends = [stop for _, stop in encoded["offset_mapping"][row]]
            start = int(np.searchsorted(ends, starts[row], side="right"))
        first_tokens.append(start)
    vectors = None if features is None else features.vectors
    if pictures is None:
        pictures = np.full(len(ids), UNSEEN)
    return CausalTexts(Ragged.of(ids), np.array(first_tokens), pictures, vectors)


def _new_projector(
    config: PrefixConfig, features: int, words: torch.nn.Embedding
) -> PrefixProjector:
    """Make a projector with random weights, whose embeddings are as long as those of words."""
    import torch

    from seesay.language.seeing.prefix_network import PrefixProjector

    torch.manual_seed(config.schedule.seed)
    projector = PrefixProjector(features, config.hidden, config.prefix, words.embedding_dim)
    projector.scale.copy_(words.weight.detach().std())
    return projector


def _require_features(captions: CaptionSplit) -> CaptionFeatures:
    """Return the features of captions each of which has a picture."""
    _refuse_few(captions)
    features = captions.features
    if features is None:
        raise UserError("A visual prefix is trained on pictures: give their features.")
    features.validate(len(captions.train), len(captions.held_out))
    if (features.train == UNSEEN).any() or (features.held_out == UNSEEN).any():
        raise UserError("A visual prefix is trained on captions that all have a picture.")
    return features


def _open_encoder(features: CaptionFeatures) -> PictureEncoder | None:
    from seesay.models.picture_encoder import open_fitting_encoder

    return open_fitting_encoder(features.encoder, features.width)


def _refuse_few(captions: CaptionSplit) -> None:
    if not captions.train or not captions.held_out:
        raise UserError(
            f"{len(captions.train)} texts to train on and {len(captions.held_out)} held out are "
            "too few: give some of both."
        )
