"""CapBERT: a BERT trained on captions only, or trained further on captions after other text.

The visual-text baselines of the Memory Colors paper (Norlund et al. 2021; Hagström & Johansson
2022), and ViPhy's CapBERT (Singh, Qasemi & Chen 2023): does a language model that reads captions
know colours without seeing one? Masked-language training as in BERT with whole words masked anew
each epoch. Every masked token becomes [MASK]: the 80-10-10 rule does not help (Wettig et al. 2023,
section 5), and a slot is always asked as [MASK]. The authors' presets mask pieces by that rule.

In the second half of the epochs, statements (`language.training.statements`) replace a share of the
captions. Not before: a network that cannot read yet learns only the frequencies of colours from
them, and stays there for long.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seesay.errors import UserError, first_line
from seesay.files import lock_folder, write_text
from seesay.language.training import masking, ragged
from seesay.language.training.caption_features import CaptionFeatures
from seesay.language.training.captions import CaptionSplit
from seesay.language.training.imagination import Imagination, add_features
from seesay.language.training.statements import color_counts, statements
from seesay.models.hf.loading import load_network, read_config
from seesay.models.hf.logits import logits_at
from seesay.models.libraries import require_models
from seesay.models.options import ModelOptions
from seesay.models.source import is_clip_bert
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LONGEST = 128
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FEWEST = 20
UNCLIPPED = 1e9
"""A norm that no gradient has."""
# The commonest letters; rarer ones are [UNK].
_LETTERS = 150
# Held-out captions used for validation: more would take longer than the steps between.
_VALIDATED = 4_000
# Streams of random numbers: each part of an epoch draws from its own, so that a resumed training
# and one with other statements see the same masks and the same order.
_TRAIN, _VALIDATE, _ORDER, _STATEMENTS = range(4)


@dataclass(frozen=True, slots=True)
class CapBertConfig:
    """Layer sizes and training.

    There are `tokens` per batch, or so many `texts`, a `rate` of words masked (or of `pieces`, by
    BERT's rule), and `statements`, the share of the texts that are statements in the second half of
    the epochs.
    """

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    tokens: int
    rate: float
    dropout: float
    schedule: Schedule
    statements: float = 0.0
    texts: int | None = None
    pieces: bool = False
    spread: float = 0.02
    """The standard deviation of random weights; BERT's own is small for a narrow network."""


def _published(
    texts: int,
    **schedule: Any,
) -> CapBertConfig:
    """Return BERT-base as authors trained it, in batches of so many texts: 15 % of pieces masked,
    Adam without decay of weights, gradients as they come."""
    return CapBertConfig(
        layers=12,
        hidden=768,
        heads=12,
        vocabulary=30_522,
        tokens=16_384,
        rate=0.15,
        dropout=0.1,
        schedule=Schedule(optimizer="adam", clip=UNCLIPPED, **schedule),
        texts=texts,
        pieces=True,
    )


PRESETS = {
    # No dropout: a few epochs with new masks each do not overfit (Geiping & Goldstein 2023,
    # "Dropping Dropout").
    "cpu": CapBertConfig(
        layers=4,
        hidden=256,
        heads=4,
        vocabulary=12_000,
        tokens=2_048,
        rate=0.25,
        dropout=0.0,
        statements=0.75,
        schedule=Schedule(
            epochs=2,
            learning_rate=1e-3,
            warmup=0.06,
            decay="linear",
            weight_decay=0.01,
            validate_every=250,
        ),
    ),
    # CapBERT: `pretrain.py` of github.com/Axe--/ViPhy, whose first lines give the batch.
    "viphy": _published(
        128,
        epochs=20,
        learning_rate=1e-5,
    ),
    # BERT-CLIP-BERT-train and BERT-LXMERT-train: `models/runs` of
    # github.com/lovhag/measure-visual-commonsense-knowledge. One processor's batch of 64 over eight
    # steps; the loop is endless, and nobody says when it was stopped.
    "memory-colors": _published(
        512,
        epochs=1,
        learning_rate=5e-5,
        validate_every=1_000,
    ),
    # BERT-LXMERT-train-scratch, ibidem: 88,000 steps, 4,400 of them to warm up, over 9.0 million
    # texts.
    "memory-colors-scratch": _published(
        2_048,
        epochs=20,
        learning_rate=1e-4,
        warmup=0.05,
        decay="linear",
        validate_every=1_000,
    ),
}


def train_tokenizer(texts: Sequence[str], size: int) -> PreTrainedTokenizerBase:
    """Train WordPiece with BERT's normalisation (lower case, no accents).

    It is always the same from the same texts.

    The trainer numbers letters as it meets them, in an order that changes from run to run, and
    breaks ties by number. So all letters are given to it beforehand.
    """
    require_models()
    import string
    from collections import Counter

    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    from transformers import BertTokenizer

    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.normalizer = normalizer = normalizers.BertNormalizer()
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    counts = Counter("".join(normalizer.normalize_str(text) for text in texts))
    by_count = sorted(counts.keys() - {" "}, key=lambda letter: (-counts[letter], letter))
    ascii_letters = string.ascii_lowercase + string.digits + string.punctuation
    letters = sorted({*by_count[:_LETTERS], *ascii_letters})
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=[*SPECIAL, *letters, *(f"##{letter}" for letter in letters)],
        initial_alphabet=letters,
        limit_alphabet=len(letters),
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    return BertTokenizer(vocab=trained.get_vocab(), model_max_length=LONGEST)


def new_network(
    config: CapBertConfig,
    vocabulary: int,
    pad: int,
) -> PreTrainedModel:
    """Make a BERT with random weights, by the config's seed."""
    require_models()
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(config.schedule.seed)
    bert = BertConfig(
        vocab_size=vocabulary,
        hidden_size=config.hidden,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=4 * config.hidden,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout,
        pad_token_id=pad,
        initializer_range=config.spread,
    )
    return BertForMaskedLM(bert)


def losses(network: torch.nn.Module, batch: masking.MaskedBatch) -> dict[str, torch.Tensor]:
    """Return cross-entropy and accuracy at the masks; only they reach the output layer."""
    import torch

    if batch.shown is not None:
        return _pictured_losses(network, batch)
    inputs = {"input_ids": batch.ids}
    if batch.attention is not None:
        inputs["attention_mask"] = batch.attention
    if batch.features is not None:
        inputs["features"] = batch.features
    # The output layer is as wide as the vocabulary: most of the time would go to tokens not asked.
    logits = logits_at(network, inputs, *batch.masked.nonzero(as_tuple=True))  # type: ignore[arg-type]
    right = (logits.detach().argmax(-1) == batch.gold).float()
    return {
        "loss": torch.nn.functional.cross_entropy(logits, batch.gold),
        "accuracy": right.mean(),
    }


def _pictured_losses(network: Any, batch: masking.MaskedBatch) -> dict[str, torch.Tensor]:
    """Return the losses of texts, some of which are read with their picture.

    Of the others the picture's features are predicted, where the network does so.
    """
    import torch

    from seesay.models.encoders.clip_bert_network import standardize

    states = network.states(batch.ids, batch.features, batch.attention, batch.shown)
    logits = network.cls(states[batch.masked])
    right = (logits.detach().argmax(-1) == batch.gold).float()
    loss = torch.nn.functional.cross_entropy(logits, batch.gold)
    losses = {"loss": loss, "accuracy": right.mean()}
    if network.predicts_features:
        assert batch.features is not None
        imagined = network.predict_features(states[batch.hidden])
        targets = standardize(batch.features[batch.hidden])
        # a sum, because a batch may hide no picture
        error = (imagined - targets).square().sum() / max(1, targets.numel())
        losses |= {"loss": loss + error, "imagination": error}
    return losses


# It has a keyword for each option of `seesay pretrain capbert`.
def pretrain(  # noqa: PLR0913
    captions: CaptionSplit,
    folder: Path,
    config: CapBertConfig,
    *,
    start: str | None = None,
    tokenizer: str | None = None,
    imagine: str | None = None,
    features: CaptionFeatures | None = None,
    mix: Sequence[tuple[Sequence[str], float]] = (),
    watch: Callable[[PreTrainedModel, PreTrainedTokenizerBase], loop.Measurements] | None = None,
    device: str = "auto",
    progress: Callable[[loop.TrainingProgress], None] | None = None,
) -> loop.Result:
    """Train on captions, mixed with other texts by weight.

    The weights are random, or those of the masked model `start`.

    With random weights the tokeniser is trained on the texts, or taken from `tokenizer`. With the
    text encoder `imagine` it becomes a CLIP-BERT, which is shown the encoder's vector of each text;
    with `features`, one that is shown those of the caption's picture. Asked without a picture, it
    imagines one: by `imagine` where both are given, or else by what it has learnt to predict from
    the text. The folder then holds a model that `seesay probe` loads (and transformers, without
    what it is shown); `training/` in it has the history.
    """
    if len(captions.train) < FEWEST or not captions.held_out:
        raise UserError(
            f"{len(captions.train)} captions to train on and {len(captions.held_out)} held out "
            f"are too few: give at least {FEWEST}."
        )
    if start is not None and tokenizer is not None:
        raise UserError(
            "A model to start from brings its own tokeniser: give --from or --tokenizer, not both."
        )
    imagination = Imagination(imagine) if imagine is not None else None
    show = _shower(captions, features, imagination, config.schedule.seed)
    settings = {
        **asdict(config),
        "captions": captions.fingerprint,
        "start": start,
        "mix": [[weight, CaptionSplit(list(texts), []).fingerprint] for texts, weight in mix],
    }
    additions = {
        "tokenizer": tokenizer,
        "imagine": imagination and [imagination.name, imagination.fingerprint],
        "features": features and [features.encoder, features.fingerprint],
    }
    settings |= {name: value for name, value in additions.items() if value is not None}
    del settings["schedule"]
    initial = None
    existing = start if start is not None else tokenizer
    if existing is not None:
        initial = _existing(existing, config, weights=start is not None, imagine=show is not None)
    checkpoint.refuse_foreign_model(folder)
    with lock_folder(folder / "training", hint=checkpoint.OTHER_FOLDER):
        # Before the folder changes: another training's files must stay as they are.
        checkpoint.check_settings(folder / "training", config.schedule.settings() | settings)
        colored = _ColorStatements(captions.train, config)
        corpora = [captions.train, *(texts for texts, _ in mix)]
        if initial is None:
            initial = _new([*chain(*corpora), *colored.draw()[0]], folder, config)
        network, bert_tokenizer = initial
        if show:
            network = show(network)
        weights = [weight for _, weight in mix]
        texts = _TrainingTexts(config, bert_tokenizer, network, imagination, features)
        rows = features.train if features else None
        parts = [texts.encode(captions.train, pictures=rows)]
        parts += [texts.encode(corpus) for corpus in corpora[1:]]
        validation = texts.validation(captions.held_out, features.held_out if features else None)

        def validate(_: torch.nn.Module) -> loop.Measurements:
            means = loop.mean_losses(network, validation, losses, lambda batch: len(batch.gold))
            if watch:
                return {**means, **watch(network, bert_tokenizer)}
            return means

        result = loop.train(
            network,
            lambda epoch: texts.batches(epoch, parts, weights, colored),
            losses,
            validate,
            folder / "training",
            config.schedule,
            settings,
            device=device,
            progress=progress,
        )
        bert_tokenizer.save_pretrained(folder)
        network.cpu().save_pretrained(folder)
        return result


def _shower(
    captions: CaptionSplit,
    features: CaptionFeatures | None,
    imagination: Imagination | None,
    seed: int,
) -> Callable[[PreTrainedModel], PreTrainedModel] | None:
    """Return what makes a CLIP-BERT of a BERT; None where it is shown nothing.

    Features that do not fit the captions, their encoder or what imagines are refused.
    """
    if features is None:
        return partial(imagination.shown_to, seed=seed) if imagination else None
    from seesay.models.picture_encoder import open_fitting_encoder

    features.validate(len(captions.train), len(captions.held_out))
    entries: dict[str, object] = {}
    encoder = open_fitting_encoder(features.encoder, features.width)
    if encoder is not None:
        entries = {"picture_encoder": [encoder.name, encoder.fingerprint]}
    if imagination is None:
        entries["predicts_features"] = True
    else:
        if imagination.size != features.width:
            raise UserError(
                f"--imagine '{imagination.name}' has vectors of {imagination.size} numbers and the "
                f"picture features {features.width}: what imagines must be trained with what sees."
            )
        entries["text_encoder"] = imagination.name
    return lambda bert: add_features(
        bert, features.width, "Training with pictures", seed, **entries
    )


class _ColorStatements:
    """Statements of the colours in captions, drawn anew for each epoch."""

    def __init__(self, captions: Sequence[str], config: CapBertConfig) -> None:
        self._counts = color_counts(captions) if config.statements else {}
        self._seed = config.schedule.seed
        # Captions without a colour give no statements.
        self.share = config.statements if self._counts else 0.0
        self._size = round(self.share * len(captions))

    def draw(self, *stream: int) -> tuple[list[str], list[int]]:
        """Draw the statements of an epoch; with each, the character at which the colour starts."""
        if not self._size:
            return [], []
        rng = np.random.default_rng([self._seed, _STATEMENTS, *stream])
        return statements(self._counts, self._size, rng)


class _TrainingTexts:
    """Texts as a network is trained on them: tokenised, in batches, masked."""

    def __init__(
        self,
        config: CapBertConfig,
        tokenizer: PreTrainedTokenizerBase,
        network: PreTrainedModel,
        imagination: Imagination | None,
        features: CaptionFeatures | None = None,
    ) -> None:
        self._config = config
        self._seed = config.schedule.seed
        self._tokenizer = tokenizer
        self._longest = min(LONGEST, getattr(network.config, "max_position_embeddings", LONGEST))
        self._mask = partial(
            masking.MaskedBatches,
            rate=config.rate,
            mask=int(tokenizer.mask_token_id),
            pad=int(tokenizer.pad_token_id),
            vocabulary=len(tokenizer) if config.pieces else None,
            imagine=partial(imagination.features, tokenizer) if imagination else None,
            vectors=features.vectors if features else None,
            shown_share=features.shown if features and not imagination else 1.0,
        )

    def encode(
        self,
        texts: Sequence[str],
        places: Sequence[int] | None = None,
        pictures: ragged.Rows | None = None,
    ) -> masking.TokenizedTexts:
        """Tokenise texts; of those with a place, only the word there is masked. `pictures` are the
        rows of what they describe."""
        return masking.encode(self._tokenizer, texts, self._longest, places, pictures)

    def batches(
        self,
        epoch: int,
        parts: Sequence[masking.TokenizedTexts],
        mix_weights: Sequence[float],
        colored: _ColorStatements,
    ) -> masking.MaskedBatches:
        """Return the batches of an epoch: captions, other texts by weight, and statements."""
        encoded = list(parts)
        weights = [1.0, *mix_weights]
        if epoch >= self._config.schedule.epochs // 2:
            texts, places = colored.draw(epoch)
            if texts:
                # Statements replace captions, so that an epoch is as long as before.
                encoded.append(self.encode(texts, places))
                weights = [1 - colored.share, *mix_weights, 1.0]
        corpus = masking.concatenate(encoded)
        row_weights = np.repeat(weights, [len(part.ids) for part in encoded])
        rng = np.random.default_rng([self._seed, _ORDER, epoch])
        rows = ragged.draw(row_weights, rng)
        batches = self._cut(corpus, rows)
        # Batches are of rows of one length: in random order, or short texts would all come first.
        order = [batches[i] for i in rng.permutation(len(batches))]
        return self._mask(corpus, order, seed=(self._seed, _TRAIN, epoch))

    def _cut(
        self,
        corpus: masking.TokenizedTexts,
        rows: ragged.Rows,
    ) -> list[ragged.Rows]:
        """Return the rows in batches of the config's size, texts of similar length together."""
        lengths = corpus.ids.lengths
        if self._config.texts is not None:
            return ragged.cut(lengths, rows, texts=self._config.texts)
        return ragged.cut(lengths, rows, tokens=self._config.tokens)

    def validation(
        self, texts: Sequence[str], pictures: ragged.Rows | None
    ) -> list[masking.MaskedBatch]:
        """Return batches of held-out texts, always with the same masks."""
        encoded = self.encode(texts, pictures=pictures)
        rng = np.random.default_rng([self._seed, _VALIDATE])
        rows = rng.permutation(len(encoded.ids))[:_VALIDATED]
        batches = self._cut(encoded, rows)
        return list(self._mask(encoded, batches, seed=(self._seed, _VALIDATE)))


def _existing(
    name: str,
    config: CapBertConfig,
    *,
    weights: bool,
    imagine: bool,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a masked model to start from, which may `imagine`.

    Without `weights` it is its tokeniser, and a network with random weights.
    """
    require_models()
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM

    network = None
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        if weights:
            options = ModelOptions(device="cpu")
            imagines = imagine and is_clip_bert(read_config(name, name, options))
            network_class = ClipBertForMaskedLM if imagines else AutoModelForMaskedLM
            network = load_network(name, name, options, network_class).network
    except Exception as error:  # third-party files fail in more ways than can be listed
        if weights:
            problem = f"Cannot start from '{name}'"
        else:
            problem = f"Cannot load the tokeniser of '{name}'"
        raise UserError(f"{problem}: {first_line(error)}") from error
    if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None or not tokenizer.is_fast:
        raise UserError(
            f"'{name}' has no fast tokeniser with mask and padding tokens: it cannot be trained to "
            "fill slots."
        )
    if network is None:
        network = new_network(config, len(tokenizer), int(tokenizer.pad_token_id))
    return network, tokenizer


def _new(
    texts: Sequence[str],
    folder: Path,
    config: CapBertConfig,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Make a network with random weights, and a tokeniser that is trained on the texts once."""
    require_models()
    from transformers import AutoTokenizer

    if not (folder / "tokenizer.json").is_file():
        with tempfile.TemporaryDirectory() as temporary:
            train_tokenizer(texts, config.vocabulary).save_pretrained(temporary)
            # tokenizer.json last: it says that the others are there.
            paths = sorted(
                Path(temporary).iterdir(), key=lambda path: path.name == "tokenizer.json"
            )
            for path in paths:
                write_text(folder / path.name, path.read_text(encoding="utf-8"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return new_network(config, len(tokenizer), int(tokenizer.pad_token_id)), tokenizer
