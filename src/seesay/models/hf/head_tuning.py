"""The output head of an encoder-decoder, fine-tuned on questions with their written answers, as
ViPhy trained UnifiedQA (Singh, Qasemi & Chen 2023, section 4): everything else is frozen.

Where the head shares its weights with the embeddings, as in T5's first version, these are tuned
with it, there as here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seesay.models.hf.seq2seq import EncoderDecoderModel
from seesay.progress import ProgressCallback
from seesay.questions import Prompt

IGNORED = -100  # the target of padding, of which the loss takes no notice


@dataclass(frozen=True)
class Example:
    """A question as it is put, and its right answers, of which one is drawn each time."""

    prompt: Prompt
    answers: tuple[str, ...]


@dataclass(frozen=True)
class TunedHead:
    """The head's weights after the best epoch. `history` has the validation accuracy of every
    epoch."""

    weights: tuple[torch.Tensor, ...]
    epoch: int
    history: tuple[float, ...]


@dataclass(frozen=True)
class TuningConfig:
    """The published training."""

    epochs: int = 50
    batch: int = 8
    rate: float = 1e-4


def tune_head(
    model: EncoderDecoderModel,
    examples: Sequence[Example],
    validate: Callable[[], float],
    *,
    seed: int = 0,
    config: TuningConfig,
    progress: ProgressCallback | None = None,
) -> TunedHead:
    """Return the head after the epoch with the best validation accuracy, the first of equals; the
    model is left as it was.

    `validate` gives the accuracy of the model as it is; progress counts epochs. The model is in
    evaluation mode throughout, as encoders of linear probes are.
    """
    parameters = _head_parameters(model.network)
    rng = np.random.default_rng(seed)
    best = _copies(parameters)
    history: list[float] = []
    with _restored(parameters), _only_trainable(model.network, parameters):
        optimizer = torch.optim.Adam(parameters, config.rate)
        for _ in range(config.epochs):
            order = rng.permutation(len(examples))
            for start in range(0, len(order), config.batch):
                batch = [examples[i] for i in order[start : start + config.batch]]
                optimizer.zero_grad()
                _loss(model, batch, rng).backward()
                optimizer.step()
            accuracy = validate()
            if accuracy > max(history, default=-1.0):
                best = _copies(parameters)
            history.append(accuracy)
            if progress:
                progress(1, config.epochs)
    return TunedHead(best, int(np.argmax(history)) + 1, tuple(history))


@contextmanager
def head_of(model: EncoderDecoderModel, head: TunedHead) -> Iterator[None]:
    """Give the model a tuned head for a while."""
    parameters = _head_parameters(model.network)
    with _restored(parameters):
        _assign(parameters, head.weights)
        yield


def _loss(
    model: EncoderDecoderModel,
    batch: Sequence[Example],
    rng: np.random.Generator,
) -> torch.Tensor:
    """Return the loss of one right answer to each question, drawn at random as in the published
    code."""
    answers = [str(rng.choice(example.answers)) for example in batch]
    targets = model.tokenize_answers(answers)
    ids = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, IGNORED)
    inputs = model.question_inputs([example.prompt for example in batch])
    loss: torch.Tensor = model.network(**inputs, labels=ids).loss
    return loss


def _head_parameters(network: Any) -> list[torch.nn.Parameter]:
    return list(network.get_output_embeddings().parameters())


def _copies(parameters: Sequence[torch.nn.Parameter]) -> tuple[torch.Tensor, ...]:
    return tuple(parameter.detach().clone() for parameter in parameters)


def _assign(
    parameters: Sequence[torch.nn.Parameter],
    weights: Sequence[torch.Tensor],
) -> None:
    with torch.no_grad():
        for parameter, values in zip(parameters, weights, strict=True):
            parameter.copy_(values)


@contextmanager
def _restored(parameters: Sequence[torch.nn.Parameter]) -> Iterator[None]:
    """Give parameters back as they were."""
    original = _copies(parameters)
    try:
        yield
    finally:
        _assign(parameters, original)


@contextmanager
def _only_trainable(
    network: Any,
    parameters: Sequence[torch.nn.Parameter],
) -> Iterator[None]:
    """Freeze everything but these parameters for a while."""
    trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
    network.requires_grad_(False)
    for parameter in parameters:
        parameter.requires_grad_(True)
    try:
        yield
    finally:
        network.requires_grad_(False)
        network.zero_grad()
        for parameter in trainable:
            parameter.requires_grad_(True)
