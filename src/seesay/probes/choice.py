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

from seesay.braces import double_braces
from seesay.condition import How
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.models.base import Model
from seesay.models.baselines import Baseline
from seesay.models.batches import compute_batches
from seesay.models.multiple_choice import lettered, question, with_options
from seesay.models.wrapped import RephrasedModel, rephrase
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.questions import SLOT, Prompt, Scores, Task


def choice_model(model: Model) -> Model:
    """Return the model, asked by choice. A baseline weighs options whatever their order, so it
    stays as it is."""
    return model if isinstance(model, Baseline) else ChoiceModel(model)


def choice_task(task: Task) -> Task:
    """Return the task with its choice templates; a task without any is asked with a blank in its
    own templates.

    Choosing among given options says nothing about the whole vocabulary: those metrics are left
    out.
    """
    return replace(
        without_vocabulary_metrics(task), templates=task.choice_templates or task.templates
    )


def written_question(task: Task) -> str:
    """Return the task's first choice template with the options lettered in it, in UnifiedQA's
    format.

    It is one text for every question, so that all of them must offer the same options.
    """
    if not task.choice_templates or len({question.options for question in task.questions}) > 1:
        raise UserError(
            f"'{task.name}' has no question with the same options throughout: use --how linear or "
            "choice."
        )
    template = task.choice_templates[0]
    # A label is no template, unlike the word that stands for it.
    options = [template.words.get(label, double_braces(label)) for label in task.labels]
    return with_options(template.text, options)


class ChoiceModel(RephrasedModel):
    """Wraps a model that answers: every prompt becomes one lettered prompt per rotation of its
    options.

    Each rotation is a prompt of its own to the model, which plans their batches; the answers are
    put together again prompt by prompt, so that a journal holds one line for all rotations.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.condition = model.condition.replace(how=How.CHOICE)
        self._rotated: list[Scores] = []

    def through_chat(self, system: str | None = None) -> Model:
        """The same choices in a chat."""
        return ChoiceModel(self._model.through_chat(system))

    def prepare(self, task: Task) -> None:
        """Prepare the wrapped model."""
        self._rotated = []
        super().prepare(task)

    def estimate(
        self,
        prompts: Sequence[Prompt],
        max_tokens: int | None = None,
    ) -> str:
        """Return what asking all rotations will take."""
        rotations = [self._put(prompt) for prompt in prompts for _ in prompt.options]
        return self._model.estimate(rotations)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the mean log-probability of each option over the rotations."""
        rotations = []
        for prompt in prompts:
            for by in range(len(prompt.options)):
                rotations.append(self._lettered(prompt, _rotate(prompt.options, by)))
        batches = self._model.plan(rotations)

        def answer_batch(batch: Sequence[int]) -> list[Scores]:
            return self._model.answer([rotations[i] for i in batch])

        answers = compute_batches(batches, answer_batch)
        self._rotated += answers
        in_order = iter(answers)
        return [_average(list(islice(in_order, len(prompt.options)))) for prompt in prompts]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """Return the model's own notes, and how often the option picked stood in each position."""
        # the model answered the rotations, not their mean
        rotations = self._rotated if answered else ()
        return [*super().notes(rotations), *note_positions(answered)]

    def _put(self, prompt: Prompt) -> Prompt:
        """The prompt in its first rotation."""
        return self._lettered(prompt, prompt.options)

    def _lettered(
        self,
        prompt: Prompt,
        options: tuple[str, ...],
    ) -> Prompt:
        if self._model.letters_options:
            return replace(prompt, options=options)

        def with_letters(
            text: str,
            offered: tuple[str, ...],
        ) -> str:
            # examples before the question keep the order of their own options
            shown = options if offered == prompt.options else offered
            return f"{question(text)} {lettered(shown)} {prompt.instructions.answer} {SLOT}"

        return replace(rephrase(prompt, with_letters), options=options)


def _average(rotations: Sequence[Scores]) -> Scores:
    """The mean over the rotations, option by option, and how often each position was picked."""
    logp = np.array([scores.logp for scores in rotations])
    top = logp == logp.max(axis=1, keepdims=True)
    shares = top / top.sum(axis=1, keepdims=True)  # a tie is shared
    picks = shares.sum(axis=0)
    answered = ~np.isneginf(logp).all(axis=1, keepdims=True)
    # an order without an answer says nothing, and must not make the whole mean −inf
    if answered.any():
        logp = np.where(answered, logp, 0.0)
    # rotation `by` shows option i in position i − by: rolled back, columns are options
    aligned = np.stack([np.roll(row, by) for by, row in enumerate(logp)])
    means = aligned.mean(axis=0)
    first = rotations[0]
    return Scores(
        tuple(means.tolist()),
        first.tokens,
        first.chars,
        picks=tuple(picks.tolist()),
    )


def note_positions(answered: Sequence[Scores]) -> list[str]:
    """Return how often the option picked stood in each position, where options were rotated."""
    picks = [scores.picks for scores in answered if scores.picks is not None]
    # positions are comparable only among prompts with as many options
    by_size = sorted(group_by(picks, len).items())
    return [_position_bias(np.array(rows)) for _, rows in by_size]


def _position_bias(
    picks: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> str:
    counts = picks.sum(axis=0)
    total = counts.sum()
    shares = []
    for position, share in enumerate(counts / total, start=1):
        shares.append(f"({position}) {share:.1%}")
    unbiased = 1 / len(counts)
    return (
        f"Position bias: over {round(total):,} prompts "
        f"with {len(counts)} lettered options, the one picked stood "
        f"{', '.join(shares)} of the time; "
        f"without a leaning each position would have {unbiased:.1%}."
    )


def _rotate(
    options: tuple[str, ...],
    by: int,
) -> tuple[str, ...]:
    return options[by:] + options[:by]
