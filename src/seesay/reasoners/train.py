"""Training a reasoner: batches of items, cross-entropy, the best by validation accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.hf.loading import file_digest
from seesay.reasoners import checkpoints
from seesay.reasoners.config import Shape
from seesay.reasoners.dataset import Items
from seesay.reasoners.networks.registry import Recipe, build
from seesay.reasoners.vocabulary import Words
from seesay.training import checkpoint, loop

if TYPE_CHECKING:
    import torch

_ORDER, _TURN = 0, 1  # streams of random numbers
_VALIDATED = 250  # items a batch when nothing is learnt


class Batch(NamedTuple):
    """Looks, words and answers of some items."""

    looks: torch.Tensor
    words: torch.Tensor
    answers: torch.Tensor


@dataclass(frozen=True)
class Batches(Sequence[Batch]):
    """Items in batches, made when they are looked up; with `turn_seed`, each batch turned and mirrored its own way."""

    items: Items
    words: NDArray[np.int64]
    order: NDArray[np.intp]
    size: int
    turn_seed: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return -(-len(self.order) // self.size)

    def __getitem__(self, index: int) -> Batch:  # type: ignore[override]
        import torch

        rows = self.order[index * self.size : (index + 1) * self.size]
        if not len(rows):
            raise IndexError(index)
        looks = torch.from_numpy(self.items.looks[rows])
        if self.turn_seed is not None:
            quarters, mirrored = np.random.default_rng([*self.turn_seed, index]).integers((4, 2))
            looks = torch.rot90(looks, int(quarters), (2, 3))
            looks = looks.flip(3) if mirrored else looks
        return Batch(looks, torch.from_numpy(self.words[rows]), torch.from_numpy(self.items.answers[rows]))


def losses(network: torch.nn.Module, batch: Batch) -> dict[str, torch.Tensor]:
    """Cross-entropy of the answers, and how many are right. A network may ask for more while it learns: `beside`."""
    import torch

    said = network(batch.looks, batch.words)
    right = (said.detach().argmax(1) == batch.answers).float().mean()
    loss = torch.nn.functional.cross_entropy(said, batch.answers)
    if network.training and (beside := getattr(network, "beside", None)) is not None:
        loss = loss + beside(batch.looks, batch.words)
    return {"loss": loss, "accuracy": right}


def measured(network: torch.nn.Module, items: Items, words: NDArray[np.int64]) -> loop.Figures:
    """Loss and accuracy on items that nothing is learnt from; `words` are their sentences."""
    batches = Batches(items, words, np.arange(len(items)), _VALIDATED)
    return loop.mean_losses(network, batches, losses, lambda batch: len(batch.answers))


def train(
    items: Items,
    validation: Items,
    folder: Path,
    recipe: Recipe,
    *,
    settings: Mapping[str, Any],
    start: Path | None = None,
    device: str = "auto",
    progress: Callable[[loop.Progress], None] | None = None,
) -> loop.Result:
    """Train the recipe's network, or go on where the folder's training stopped; the folder then is a model that
    `seesay probe` loads. `settings` say where the items come from: others are refused in a folder that is begun.
    `start` is a trained reasoner whose weights it begins with."""
    import torch

    if recipe.network == "object-centred" and set(items.names) != {"no", "yes"}:
        raise UserError("The object-centred reasoner says yes or no of a thing's size: these items have other answers.")
    checkpoint.not_anothers(folder)
    words, seed = Words.of(items.sentences), recipe.schedule.seed
    torch.manual_seed(seed)
    shape = Shape(words=words, answers=items.names, look=items.looks.shape[1:], **recipe.sizes)
    network = build(recipe.network, shape).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if start is not None:
        checkpoints.take_over(network, shape, start)
        settings = {**settings, "start": file_digest(start / file for file in checkpoints.FILES)}
    known, asked = words.encode(items.sentences), words.encode(validation.sentences)

    def batches(epoch: int) -> Batches:
        order = np.random.default_rng([seed, _ORDER, epoch]).permutation(len(items))
        return Batches(items, known, order, recipe.batch, (seed, _TURN, epoch) if recipe.turns else None)

    shaping = asdict(recipe)
    del shaping["schedule"]
    with _reproducible():
        result = loop.train(
            network, batches, losses, lambda network: measured(network, validation, asked), folder / "training",
            recipe.schedule, {**shaping, **settings}, device=device, progress=progress,
        )  # fmt: skip
    checkpoints.save(folder, network, recipe, shape, items.eye)
    return result


@contextmanager
def _reproducible() -> Iterator[None]:
    """The same digits each time: what has no such way on a GPU says so, and runs."""
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
