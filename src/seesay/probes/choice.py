"""Choice: the options are shown, lettered, and the model picks one. Every rotation of their order is asked.

Models lean to a position: the first, or the last. Over all rotations each option stands in each place once, so that a
leaning that does not depend on the option cancels out of the mean log-probability (Zheng et al. 2024 measure how strong
it can be). How often each place was picked is told, so that the leaning itself is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seesay.models.base import Model
from seesay.models.baselines import Baseline
from seesay.models.multiple_choice import lettered, question
from seesay.questions import SLOT, Prompt, Scores, Task
from seesay.tasks.viphy import kinds

LETTERS_ITSELF = "answer-qa"
"""The scope of UnifiedQA's way of asking, which has the lettered options in it already."""

WHOLE_VOCABULARY = "vocabulary_"


def choice(model: Model) -> Model:
    """The model, asked by choice. A baseline weighs options whatever their order, so it stays as it is."""
    return model if isinstance(model, Baseline) else Choice(model)


def worded(task: Task) -> Task:
    """The task in the wording of its choice questions; a task without one is asked with a blank in its own wordings.

    Who chooses among given options fills no slot from a whole vocabulary: those figures are left out.
    """
    return replace(
        task,
        templates=kinds.KINDS[task.name].choice if task.name in kinds.KINDS else task.templates,
        metrics=tuple(name for name in task.metrics if not name.startswith(WHOLE_VOCABULARY)),
        published=tuple(row for row in task.published if not row.metric.startswith(WHOLE_VOCABULARY)),
    )


class Choice(Model):
    """Wraps a model that answers: every prompt becomes one lettered prompt a rotation of its options."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.family, self.fingerprint = model.name, model.family, model.fingerprint
        self.scope = f"{model.scope}-rotated"
        self.accepts = model.accepts
        self._picked: dict[int, NDArray[np.float64]] = {}
        self._rotated: list[Scores] = []

    def prepare(self, task: Task) -> None:
        """Count positions anew for each task."""
        self._picked, self._rotated = {}, []
        self._model.prepare(task)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """The model's own batches of the prompts as they stand."""
        return self._model.plan([self._lettered(prompt, prompt.options) for prompt in prompts])

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The mean log-probability of each option over the rotations."""
        rotated = [self._lettered(p, _turned(p.options, by)) for p in prompts for by in range(len(p.options))]
        said: dict[int, Scores] = {}
        for batch in self._model.plan(rotated):
            said |= zip(batch, self._model.answer([rotated[i] for i in batch]), strict=True)
        self._rotated += said.values()
        answers, start = [], 0
        for prompt in prompts:
            stop = start + len(prompt.options)
            answers.append(self._together([said[i] for i in range(start, stop)]))
            start = stop
        return answers

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The model's own, and the position bias."""
        bias = self.position_bias() if answered else ""
        return [*self._model.notes(self._rotated if answered else ()), *([bias] if bias else [])]

    def position_bias(self) -> str:
        """How often the option picked stood in each place, over all that was asked since the task began."""
        return " ".join(
            f"Position bias: over {round(times.sum()):,} prompts with {n} lettered options, the one picked stood "
            f"{', '.join(f'({place}) {share:.1%}' for place, share in enumerate(times / times.sum(), start=1))} "
            f"of the time; without a leaning each place would have {1 / n:.1%}."
            for n, times in sorted(self._picked.items())
        )

    def _lettered(self, prompt: Prompt, options: tuple[str, ...]) -> Prompt:
        if self._model.scope == LETTERS_ITSELF:
            return replace(prompt, options=options)
        return replace(prompt, text=f"{question(prompt.text)} {lettered(options)} Answer: {SLOT}", options=options)

    def _together(self, rotations: Sequence[Scores]) -> Scores:
        """Rotation `by` shows option i in place i − by: turned back, row by row, and averaged."""
        logp = np.array([scores.logp for scores in rotations])
        top = logp == logp.max(axis=1, keepdims=True)
        shares = (top / top.sum(axis=1, keepdims=True)).sum(axis=0)  # a tie is shared
        n = len(rotations)
        self._picked[n] = self._picked.get(n, np.zeros(n)) + shares
        back = np.stack([np.roll(row, by) for by, row in enumerate(logp)])
        first = rotations[0]
        return Scores(tuple(back.mean(axis=0).tolist()), first.tokens, first.chars)


def _turned(options: tuple[str, ...], by: int) -> tuple[str, ...]:
    return options[by:] + options[:by]
