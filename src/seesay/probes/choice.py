"""ChoiceModel: the options are shown, lettered, and the model picks one. Every rotation of their
order is asked.

Models lean to a position: the first, or the last. Over all rotations each option stands in each
position once, so that a leaning that does not depend on the option cancels out of the mean
log-probability (Zheng et al. 2024 measure how strong it can be). How often each position was picked
is reported, so that the leaning itself is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from seesay.models.base import Model
from seesay.models.baselines import Baseline
from seesay.models.batches import compute_batches
from seesay.models.multiple_choice import lettered, question
from seesay.models.wrapped import RephrasedModel, rephrase
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.questions import SLOT, Prompt, Scores, Task

LETTERED_SCOPE = "answer-qa"
"""The scope of UnifiedQA's way of asking, whose prompts contain the lettered options already."""


def choice_model(model: Model) -> Model:
    """The model, asked by choice. A baseline weighs options whatever their order, so it stays as it
    is."""
    return model if isinstance(model, Baseline) else ChoiceModel(model)


def choice_task(task: Task) -> Task:
    """The task with its choice templates; a task without any is asked with a blank in its own
    templates.

    Choosing among given options says nothing about the whole vocabulary: those metrics are left
    out.
    """
    return replace(
        without_vocabulary_metrics(task), templates=task.choice_templates or task.templates
    )


class ChoiceModel(RephrasedModel):
    """Wraps a model that answers: every prompt becomes one lettered prompt per rotation of its
    options."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.scope = f"{model.scope}-rotated"
        self._rotated: list[Scores] = []

    def through_chat(self, system: str | None = None) -> Model:
        """The same choices in a chat."""
        return ChoiceModel(self._model.through_chat(system))

    def prepare(self, task: Task) -> None:
        """Prepare the wrapped model."""
        self._rotated = []
        super().prepare(task)

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """That of all rotations."""
        return self._model.estimate(
            [self._put(prompt) for prompt in prompts for _ in prompt.options]
        )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The mean log-probability of each option over the rotations."""
        rotated = [
            self._lettered(p, _rotated(p.options, by))
            for p in prompts
            for by in range(len(p.options))
        ]
        batches = self._model.plan(rotated)
        answers = compute_batches(
            batches, lambda batch: self._model.answer([rotated[i] for i in batch])
        )
        self._rotated += answers
        in_order = iter(answers)
        return [_average(list(islice(in_order, len(prompt.options)))) for prompt in prompts]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The model's own notes, and how often the option picked stood in each position."""
        picks: dict[int, list[Sequence[float]]] = {}
        for scores in answered:
            if scores.picks is not None:
                picks.setdefault(len(scores.picks), []).append(scores.picks)
        # the model answered the rotations, not their mean
        notes = super().notes(self._rotated if answered else ())
        return [*notes, *(_position_bias(np.array(rows)) for _, rows in sorted(picks.items()))]

    def _put(self, prompt: Prompt) -> Prompt:
        """The prompt in its first rotation."""
        return self._lettered(prompt, prompt.options)

    def _lettered(self, prompt: Prompt, options: tuple[str, ...]) -> Prompt:
        if self._model.scope == LETTERED_SCOPE:
            return replace(prompt, options=options)

        def with_letters(text: str, offered: tuple[str, ...]) -> str:
            rotated = options if offered == prompt.options else offered
            return f"{question(text)} {lettered(rotated)} Answer: {SLOT}"

        return replace(rephrase(prompt, with_letters), options=options)


def _average(rotations: Sequence[Scores]) -> Scores:
    """Rotation `by` shows option i in position i − by: rotated back, row by row, and averaged."""
    logp = np.array([scores.logp for scores in rotations])
    top = logp == logp.max(axis=1, keepdims=True)
    picks = (top / top.sum(axis=1, keepdims=True)).sum(axis=0)  # a tie is shared
    answered = ~np.isneginf(logp).all(axis=1, keepdims=True)
    if answered.any():
        logp = np.where(answered, logp, 0.0)  # without an answer this order says nothing
    aligned = np.stack([np.roll(row, by) for by, row in enumerate(logp)])
    first = rotations[0]
    return Scores(
        tuple(aligned.mean(axis=0).tolist()), first.tokens, first.chars, picks=tuple(picks.tolist())
    )


def _position_bias(picks: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> str:
    times = picks.sum(axis=0)
    shares = ", ".join(
        f"({place}) {share:.1%}" for place, share in enumerate(times / times.sum(), start=1)
    )
    return (
        f"Position bias: over {round(times.sum()):,} prompts with {len(times)} lettered options, "
        "the one picked stood "
        f"{shares} of the time; without a leaning each position would have {1 / len(times):.1%}."
    )


def _rotated(options: tuple[str, ...], by: int) -> tuple[str, ...]:
    return options[by:] + options[:by]
