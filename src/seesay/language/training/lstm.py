"""The language model of Ghanimifard & Dobnik (2019), from a caption file: words in, next word out.

Preset `paper` is as published: embedding 300, LSTM 300, Adam, 20 epochs, batches of 1,024
sentences; a sentence with a word seen fewer than 100 times is dropped. Preset `cpu` is for two
cores and a small corpus: rare words become <unk>, their sentences stay, and smaller batches take
more steps in the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seesay.errors import UserError
from seesay.language.training import ragged
from seesay.language.training.captions import CaptionSplit, join_phrases
from seesay.language.words import lstm
from seesay.language.words.vocabulary import Vocabulary, words
from seesay.models.libraries import require_models
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

if TYPE_CHECKING:
    import torch

    from seesay.language.words.lstm_network import LstmNetwork

FEWEST = 20
PAD = -100
"""The gold word after a sentence's end, which cross-entropy ignores."""
_VALIDATED = 4_000
# Streams of random numbers: the order of the epochs does not depend on the validation.
_ORDER, _VALIDATE = range(2)


@dataclass(frozen=True, slots=True)
class LstmConfig:
    """Layer sizes, vocabulary, batches and training.

    With `drop`, a sentence with a rare word is dropped.
    """

    embedding: int
    hidden: int
    dropout: float
    smallest_count: int
    drop: bool
    sentences: int
    schedule: Schedule


PRESETS = {
    "cpu": LstmConfig(
        embedding=256,
        hidden=256,
        dropout=0.1,
        smallest_count=20,
        drop=False,
        sentences=128,
        schedule=Schedule(epochs=3, learning_rate=3e-3, warmup=0.02, decay="linear"),
    ),
    "paper": LstmConfig(
        embedding=300,
        hidden=300,
        dropout=0.0,
        smallest_count=100,
        drop=True,
        sentences=1024,
        schedule=Schedule(epochs=20, learning_rate=1e-3, clip=float("inf")),
    ),
}


class LstmBatch(NamedTuple):
    """Word ids of sentences, and the next word of each (PAD after the end)."""

    ids: torch.Tensor
    gold: torch.Tensor


@dataclass(frozen=True)
class LstmBatches(Sequence[LstmBatch]):
    """Batches of sentences."""

    sentences: ragged.Ragged
    batch_rows: list[ragged.Rows]

    def __len__(self) -> int:
        return len(self.batch_rows)

    def __getitem__(self, index: int) -> LstmBatch:  # type: ignore[override]
        import torch

        rows = torch.from_numpy(self.sentences.matrix(self.batch_rows[index], PAD))
        # What is read must be a word, even where it is padding; what is predicted tells it apart.
        return LstmBatch(rows[:, :-1].clamp(min=0), rows[:, 1:])


def losses(network: LstmNetwork, batch: LstmBatch) -> dict[str, torch.Tensor]:
    """Return the cross-entropy per word and the share of predicted words.

    The end of the sentence counts as a word.
    """
    import torch

    hidden, _ = network.states(batch.ids)
    real = batch.gold != PAD
    logits = network.output(hidden[real])
    gold = batch.gold[real]
    right = (logits.detach().argmax(-1) == gold).float()
    return {
        "loss": torch.nn.functional.cross_entropy(logits, gold),
        "accuracy": right.mean(),
    }


def pretrain(
    captions: CaptionSplit,
    folder: Path,
    config: LstmConfig,
    *,
    phrases: Sequence[str] = (),
    device: str = "auto",
    progress: Callable[[loop.TrainingProgress], None] | None = None,
) -> loop.Result:
    """Train on captions, with `phrases` as single words (`on top of` → `on_top_of`).

    The folder then holds a model.
    """
    require_models()
    import torch

    from seesay.language.words.lstm_network import LstmNetwork

    checkpoint.refuse_foreign_model(folder)
    train, held_out, vocabulary = read(captions, config, phrases)
    seed = config.schedule.seed
    torch.manual_seed(seed)
    network = LstmNetwork(len(vocabulary), config.embedding, config.hidden, dropout=config.dropout)
    sentences = ragged.Ragged.of(map(vocabulary.sentence, train))
    unseen = ragged.Ragged.of(map(vocabulary.sentence, held_out))
    rows = np.random.default_rng([seed, _VALIDATE]).permutation(len(unseen))[:_VALIDATED]
    validation = LstmBatches(unseen, ragged.cut(unseen.lengths, rows, texts=config.sentences))

    def batches(epoch: int) -> LstmBatches:
        rng = np.random.default_rng([seed, _ORDER, epoch])
        shuffled = rng.permutation(len(sentences))
        cut = ragged.cut(sentences.lengths, shuffled, texts=config.sentences)
        # Batches are of sentences of one length: in random order, or short ones would come first.
        return LstmBatches(sentences, [cut[i] for i in rng.permutation(len(cut))])

    def validate(_: torch.nn.Module) -> loop.Measurements:
        means = loop.mean_losses(
            network,
            validation,
            losses,
            lambda batch: int((batch.gold != PAD).sum()),
        )
        return {**means, "perplexity": float(np.exp(means["loss"]))}

    settings = {**asdict(config), "captions": captions.fingerprint, "phrases": sorted(phrases)}
    del settings["schedule"]
    result = loop.train(
        network,
        batches,
        losses,
        validate,
        folder / "training",
        config.schedule,
        settings,
        device=device,
        progress=progress,
    )
    lstm.save(folder, network.to("cpu"), vocabulary, drop=config.drop)
    return result


def read(
    captions: CaptionSplit,
    config: LstmConfig,
    phrases: Sequence[str],
) -> tuple[list[list[str]], list[list[str]], Vocabulary]:
    """Return sentences to train on, held-out sentences, and the vocabulary of the first."""
    train = list(map(words, join_phrases(captions.train, phrases)))
    held_out = list(map(words, join_phrases(captions.held_out, phrases)))
    vocabulary = Vocabulary.of(train, smallest=config.smallest_count)
    hint = ""
    if config.drop:
        train = _without_unknown(train, vocabulary)
        held_out = _without_unknown(held_out, vocabulary)
        hint = f": a word seen fewer than {config.smallest_count} times drops its sentence"
    if len(train) < FEWEST or not held_out:
        raise UserError(
            f"{len(train)} sentences to train on and {len(held_out)} held out are too few "
            f"({FEWEST} at least){hint}."
        )
    if len(vocabulary) < FEWEST:
        raise UserError(
            f"Only {len(vocabulary)} words are in the captions {config.smallest_count} times or "
            "more: give more captions, or a lower --smallest-count."
        )
    return train, held_out, vocabulary


def _without_unknown(sentences: list[list[str]], vocabulary: Vocabulary) -> list[list[str]]:
    """Return the sentences of which all words are in the vocabulary."""
    return [sentence for sentence in sentences if vocabulary.number.keys() >= set(sentence)]
