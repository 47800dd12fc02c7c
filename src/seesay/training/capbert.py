"""CapBERT: a BERT that has read nothing but captions, or goes on reading captions after other text.

The visual-text baselines of the Memory Colors paper (Norlund et al. 2021; Hagström & Johansson 2022): does a language
model that reads what people say of pictures know colours without seeing one? Masked-language training as in BERT with
whole words masked anew each epoch. Every masked token becomes [MASK]: the 80-10-10 rule does not help (Wettig et al.
2023, section 5), and a slot is always asked as [MASK].

In the second half of the epochs, statements (`seesay.training.statements`) stand in for a share of the captions. Not
before: a network that cannot read yet learns from them how common colours are, and stays there for long.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.models.hf.loading import require_models
from seesay.models.hf.logits import logits_at
from seesay.training import checkpoint, loop, masking, ragged
from seesay.training.captions import CaptionSplit
from seesay.training.statements import color_counts, statements

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LONGEST = 128
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FEWEST = 20
_LETTERS = 150  # the commonest; rarer ones are [UNK]
_VALIDATED = 4_000  # held-out captions looked at while training
_TRAIN, _VALIDATE, _ORDER, _STATE = 0, 1, 2, 3  # streams of random numbers


@dataclass(frozen=True, slots=True)
class CapBertConfig:
    """The network's size and how it reads: `tokens` a batch, `rate` of words masked, `statements` for so large a share
    of the texts in the second half of the epochs."""

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    tokens: int
    rate: float
    dropout: float
    schedule: loop.Schedule
    statements: float = 0.0


PRESETS = {
    "cpu": CapBertConfig(
        layers=4,
        hidden=256,
        heads=4,
        vocabulary=12_000,
        tokens=2_048,
        rate=0.25,
        dropout=0.0,  # a few epochs with new masks each do not overfit (Geiping & Goldstein 2023, section 4.2)
        schedule=loop.Schedule(
            epochs=2, learning_rate=1e-3, warmup=0.06, decay="linear", weight_decay=0.01, validate_every=250
        ),
        statements=0.75,
    ),
    "paper": CapBertConfig(
        layers=12,
        hidden=768,
        heads=12,
        vocabulary=30_522,
        tokens=16_384,
        rate=0.15,
        dropout=0.1,
        schedule=loop.Schedule(
            epochs=20, learning_rate=1e-4, warmup=0.05, decay="linear", weight_decay=0.01, validate_every=500
        ),
    ),
}


def train_tokenizer(texts: Sequence[str], size: int) -> PreTrainedTokenizerBase:
    """WordPiece with BERT's normalisation (lower case, no accents), always the same from the same texts.

    The trainer numbers letters within words as it meets them, in an order that changes from run to run, and breaks ties
    by number. So all letters are given to it beforehand.
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
    common = sorted(counts.keys() - {" "}, key=lambda letter: (-counts[letter], letter))[:_LETTERS]
    letters = sorted({*common, *string.ascii_lowercase, *string.digits, *string.punctuation})
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


def new_network(config: CapBertConfig, vocabulary: int, pad: int) -> PreTrainedModel:
    """A BERT with random weights from the config's seed."""
    require_models()
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(config.schedule.seed)
    return BertForMaskedLM(
        BertConfig(
            vocab_size=vocabulary,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=4 * config.hidden,
            max_position_embeddings=LONGEST,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.dropout,
            pad_token_id=pad,
        )
    )


def losses(network: torch.nn.Module, batch: masking.MaskedBatch) -> dict[str, torch.Tensor]:
    """Cross-entropy at the masks, and how many were filled right; nothing else reaches the output layer."""
    import torch

    inputs = {"input_ids": batch.ids}
    if batch.attention is not None:
        inputs["attention_mask"] = batch.attention
    logits = logits_at(network, inputs, *batch.masked.nonzero(as_tuple=True))  # type: ignore[arg-type]
    right = (logits.detach().argmax(-1) == batch.gold).float()
    return {"loss": torch.nn.functional.cross_entropy(logits, batch.gold), "accuracy": right.mean()}


def pretrain(
    captions: CaptionSplit,
    folder: Path,
    config: CapBertConfig,
    *,
    start: str | None = None,
    tokenizer: str | None = None,
    mix: Sequence[tuple[Sequence[str], float]] = (),
    settings: Mapping[str, Any] | None = None,
    watch: Callable[[PreTrainedModel, PreTrainedTokenizerBase], loop.Measurements] | None = None,
    device: str = "auto",
    progress: Callable[[loop.TrainingProgress], None] | None = None,
) -> loop.Result:
    """Train on captions, mixed with other texts by weight, from random weights or from the masked model `start`; with
    random weights the tokeniser is trained on the texts, or taken from `tokenizer`.

    The folder then is a model that transformers and `seesay probe` load; `training/` in it has the history.
    """
    if len(captions.train) < FEWEST or not captions.held_out:
        raise UserError(
            f"{len(captions.train)} captions to learn from and {len(captions.held_out)} held out are too few: "
            f"give {FEWEST} at least."
        )
    shaping = {
        **asdict(config),
        "captions": captions.fingerprint,
        "start": start,
        "mix": [[weight, CaptionSplit(list(texts), [], []).fingerprint] for texts, weight in mix],
        **({"tokenizer": tokenizer} if tokenizer is not None else {}),
        **(settings or {}),
    }
    del shaping["schedule"]
    if start is not None and tokenizer is not None:
        raise UserError("A model to go on from brings its own tokeniser: give --from or --tokenizer, not both.")
    begun = _load(start) if start is not None else _taken(tokenizer, config) if tokenizer is not None else None
    checkpoint.refuse_foreign_model(folder)
    with lock_folder(folder / "training", hint=checkpoint.OTHER_FOLDER):
        checkpoint.check_settings(
            folder / "training", asdict(config.schedule) | shaping
        )  # before the folder is touched
        return _pretrain(captions, folder, config, begun, mix, shaping, watch, device, progress)


def _pretrain(
    captions: CaptionSplit,
    folder: Path,
    config: CapBertConfig,
    begun: tuple[PreTrainedModel, PreTrainedTokenizerBase] | None,
    mix: Sequence[tuple[Sequence[str], float]],
    shaping: Mapping[str, Any],
    watch: Callable[[PreTrainedModel, PreTrainedTokenizerBase], loop.Measurements] | None,
    device: str,
    progress: Callable[[loop.TrainingProgress], None] | None,
) -> loop.Result:
    """The training itself, in a folder that is held against other processes."""
    counts = color_counts(captions.train) if config.statements else {}
    share = config.statements if counts else 0.0  # captions without a colour have nothing to state
    seed, size = config.schedule.seed, round(share * len(captions.train))

    def stated(*stream: int) -> tuple[list[str], list[int]]:
        return statements(counts, size, np.random.default_rng([seed, _STATE, *stream])) if size else ([], [])

    every = [text for texts in (captions.train, *(texts for texts, _ in mix)) for text in texts]
    network, tokenizer = begun or _new([*every, *stated()[0]], folder, config)
    longest = min(LONGEST, getattr(network.config, "max_position_embeddings", LONGEST))
    parts = [masking.encode(tokenizer, texts, longest) for texts in (captions.train, *(texts for texts, _ in mix))]
    mask, pad = int(tokenizer.mask_token_id), int(tokenizer.pad_token_id)

    def batches(epoch: int) -> masking.MaskedBatches:
        texts, places = stated(epoch) if epoch >= config.schedule.epochs // 2 else ([], [])
        corpora = [*parts, *([masking.encode(tokenizer, texts, longest, places)] if texts else [])]
        corpus = masking.concatenate(corpora)
        each = [1 - share if texts else 1.0, *(weight for _, weight in mix), *([1.0] if texts else [])]
        weights = np.repeat(each, [len(part.ids) for part in corpora])
        rng = np.random.default_rng([seed, _ORDER, epoch])
        cut = ragged.cut(corpus.ids.lengths, ragged.draw(weights, rng), tokens=config.tokens)
        return masking.MaskedBatches(corpus, ragged.shuffled(cut, rng), config.rate, mask, pad, (seed, _TRAIN, epoch))

    held_out = masking.encode(tokenizer, captions.held_out, longest)
    some = np.random.default_rng([seed, _VALIDATE]).permutation(len(held_out.ids))[:_VALIDATED]
    cut = ragged.cut(held_out.ids.lengths, some, tokens=config.tokens)
    validation = masking.MaskedBatches(held_out, cut, config.rate, mask, pad, (seed, _VALIDATE))

    def validate(_: torch.nn.Module) -> loop.Measurements:
        figures = loop.mean_losses(network, validation, losses, lambda batch: len(batch.gold))
        return {**figures, **watch(network, tokenizer)} if watch else figures

    result = loop.train(
        network, batches, losses, validate, folder / "training", config.schedule, shaping,
        device=device, progress=progress,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    network.cpu().save_pretrained(folder)
    return result


def _load(start: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A masked model to go on from."""
    require_models()
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(start)
        network = AutoModelForMaskedLM.from_pretrained(start, dtype=torch.float32, use_safetensors=True)
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(f"Cannot begin from '{start}': {str(error).splitlines()[0]}") from error
    _must_mask(tokenizer, start)
    return network, tokenizer


def _taken(name: str, config: CapBertConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A network with random weights for somebody's tokeniser."""
    require_models()
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(f"Cannot take the tokeniser of '{name}': {str(error).splitlines()[0]}") from error
    _must_mask(tokenizer, name)
    return new_network(config, len(tokenizer), int(tokenizer.pad_token_id)), tokenizer


def _must_mask(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None or not tokenizer.is_fast:
        raise UserError(f"'{name}' has no fast tokeniser with mask and padding tokens: it cannot learn to fill slots.")


def _new(texts: Sequence[str], folder: Path, config: CapBertConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A network with random weights, and a tokeniser from the texts, which is trained once."""
    require_models()
    from transformers import AutoTokenizer

    if not (folder / "tokenizer.json").is_file():
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            train_tokenizer(texts, config.vocabulary).save_pretrained(unfinished)
            for path in sorted(Path(unfinished).iterdir(), key=lambda path: path.name == "tokenizer.json"):
                path.replace(folder / path.name)  # tokenizer.json last: where it is, all of it is
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return new_network(config, len(tokenizer), int(tokenizer.pad_token_id)), tokenizer
