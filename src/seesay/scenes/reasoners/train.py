"""Training a reasoner: batches of items, cross-entropy, the best weights by validation accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.files import file_digest
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.config import NetworkConfig, ReasonerConfig
from seesay.scenes.reasoners.dataset import ReasonerDataset
from seesay.scenes.reasoners.networks.registry import build, network_class
from seesay.scenes.reasoners.vocabulary import SPECIAL, SentenceVocabulary
from seesay.training import checkpoint, loop

if TYPE_CHECKING:
    import torch

    from seesay.scenes.reasoners.networks.base import ReasonerNetwork

# streams of random numbers
_ORDER = 0
_AUGMENT = 1
_VALIDATION_BATCH = 250


class ReasonerBatch(NamedTuple):
    """Features, word ids and answers of some items."""

    features: torch.Tensor
    words: torch.Tensor
    answers: torch.Tensor


@dataclass(frozen=True)
class ReasonerBatches(Sequence[ReasonerBatch]):
    """Batches, made when they are looked up.

    With `augment_seed`, about half of them are mirrored.
    """

    items: ReasonerDataset
    words: NDArray[np.int64]
    order: NDArray[np.intp]
    size: int
    augment_seed: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return -(-len(self.order) // self.size)

    def __getitem__(self, index: int) -> ReasonerBatch:  # type: ignore[override]
        import torch

        rows = self.order[index * self.size : (index + 1) * self.size]
        if not len(rows):
            raise IndexError(index)
        features = torch.from_numpy(self.items.features[rows])
        if self.augment_seed is not None:
            # a generator of its own for every batch: a resumed training makes the same ones
            mirrored = np.random.default_rng([*self.augment_seed, index]).integers(2)
            features = features.transpose(2, 3) if mirrored else features
        words = torch.from_numpy(self.words[rows])
        answers = torch.from_numpy(self.items.answers[rows])
        return ReasonerBatch(features, words, answers)


def losses(network: ReasonerNetwork, batch: ReasonerBatch) -> dict[str, torch.Tensor]:
    """Return the cross-entropy of the answers, and the accuracy.

    While the network is trained, its auxiliary loss is added.
    """
    import torch

    logits = network(batch.features, batch.words)
    accuracy = (logits.detach().argmax(1) == batch.answers).float().mean()
    loss = torch.nn.functional.cross_entropy(logits, batch.answers)
    if network.training:
        auxiliary = network.auxiliary_loss(batch.features, batch.words)
        if auxiliary is not None:
            loss = loss + auxiliary
    return {"loss": loss, "accuracy": accuracy}


def validate(
    network: ReasonerNetwork, items: ReasonerDataset, words: NDArray[np.int64]
) -> loop.Measurements:
    """Return loss and accuracy on held-out items; `words` are their encoded sentences."""
    batches = ReasonerBatches(items, words, np.arange(len(items)), _VALIDATION_BATCH)
    return loop.mean_losses(network, batches, losses, lambda batch: len(batch.answers))


def train(
    items: ReasonerDataset,
    validation: ReasonerDataset,
    folder: Path,
    config: ReasonerConfig,
    *,
    settings: Mapping[str, Any],
    start: Path | None = None,
    device: str = "auto",
    progress: Callable[[loop.TrainingProgress], None] | None = None,
) -> loop.Result:
    """Train a network, or resume the folder's training.

    The folder then holds a model that `seesay probe` loads. `settings` identify the items: a folder
    that was begun with others is refused. `start` is a trained reasoner whose weights the network
    starts from.
    """
    import torch

    answers = network_class(config.network).answers
    if answers is not None and answers != set(items.answer_names):
        raise UserError(
            f"The network {config.network} answers {' or '.join(sorted(answers))}: these items "
            "have other answers."
        )
    checkpoint.refuse_foreign_model(folder)
    vocabulary = SentenceVocabulary.of(items.sentences, cased=config.published_tokens)
    answer_names = items.answer_names
    if config.published_tokens:
        answer_names = (*SPECIAL, *answer_names)
    items = items.renumber(answer_names)
    validation = validation.renumber(answer_names)
    seed = config.schedule.seed
    # before the network is built: its first weights are drawn here
    torch.manual_seed(seed)
    shape = items.features.shape[1:]
    network_config = NetworkConfig(
        vocabulary,
        answer_names,
        shape,
        **config.sizes,
    )
    network = build(config.network, network_config)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if start is not None:
        checkpoints.copy_weights(network, network_config, start)
        settings = {**settings, "start": file_digest(start / file for file in checkpoints.FILES)}
    # encoded once, not in every epoch
    words = vocabulary.encode(items.sentences)
    validation_words = vocabulary.encode(validation.sentences)

    def batches(epoch: int) -> ReasonerBatches:
        order = np.random.default_rng([seed, _ORDER, epoch]).permutation(len(items))
        augment_seed = (seed, _AUGMENT, epoch) if config.augment else None
        return ReasonerBatches(items, words, order, config.batch_size, augment_seed)

    with _deterministic():
        result = loop.train(
            network,
            batches,
            losses,
            lambda network: validate(network, validation, validation_words),
            folder / "training",
            config.schedule,
            checkpoints.training_settings(config, settings),
            luck=partial(accuracy_by_luck, validation.answers),
            device=device,
            progress=progress,
        )
    checkpoints.save(folder, network, config, network_config, items.fingerprint)
    return result


def accuracy_by_luck(answers: NDArray[np.int64], validations: int) -> float:
    """Return the accuracy that guesses exceed in one training of twenty.

    A guess is right as often as the commonest answer is, and the best of so many validations counts
    (Bonferroni), by the normal approximation.

    >>> round(accuracy_by_luck(np.array([0, 1] * 50), 10), 3)
    0.629
    """
    share = float(np.bincount(answers).max()) / len(answers)
    deviation = math.sqrt(share * (1 - share) / len(answers))
    return share + NormalDist().inv_cdf(1 - 0.05 / validations) * deviation


@contextmanager
def _deterministic() -> Iterator[None]:
    """Compute the same digits each time.

    An operation without a deterministic version on a GPU warns and runs.
    """
    import torch

    deterministic: Any = torch.utils.deterministic
    enabled = torch.are_deterministic_algorithms_enabled()
    fill = deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    # filling costs time, and nothing here reads memory before writing it
    deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(enabled)
        deterministic.fill_uninitialized_memory = fill
