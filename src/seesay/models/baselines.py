"""Baselines that need no weights: ties, chance, the most frequent answer or word. And a mock for
tests."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from seesay.digests import text_number
from seesay.errors import UserError, needs_extra
from seesay.models.base import TEXT_AND_PICTURES, Model, choice_scores
from seesay.models.options import ModelOptions
from seesay.plugins import BaselineCard, collect
from seesay.questions import Prompt, Scores, Task
from seesay.registry import load_address, unknown

RAREST = 1e-9  # below what wordfreq distinguishes
FEWEST_ALIKE = 100  # questions with the same options: of fewer, the commonest answer is luck
DOUBT = 1e-6  # what a rule leaves for the options that it does not choose


class Baseline(Model):
    """A rule that gives each option a weight by itself; this one the same to all, so that all of
    them tie."""

    family = "baseline"
    scope = "option"
    accepts = TEXT_AND_PICTURES
    # what is computed in no time is not written to the disk in small parts
    prompts_per_batch = 1024

    def __init__(self, name: str) -> None:
        self.name = self.fingerprint = name

    def prepare(self, task: Task) -> None:
        """Note that examples change nothing."""
        if any(question.shots for question in task.questions):
            self.note(f"'{self.name}' is a rule that reads no examples: --shots changes nothing.")

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return [choice_scores(prompt, _log_shares(self.weights(prompt))) for prompt in prompts]

    def weights(self, prompt: Prompt) -> list[float]:
        """One positive number per option."""
        return [1.0] * len(prompt.options)


def _log_shares(weights: Sequence[float]) -> list[float]:
    total = math.fsum(weights)
    return [math.log(weight / total) for weight in weights]


def labels_by_prompt(task: Task) -> dict[str, tuple[str, ...]]:
    """The labels that the options of each of the task's prompts stand for, by the prompt's key."""
    return {
        template.ask(question, fields).key: question.options
        for template in task.templates
        for question in task.questions
        for fields in (None, task.neutral)
    }


class Majority(Baseline):
    """The answer that is gold most often in the task, whatever the question.

    Options of a question's own (two solutions, two things) are gold once or never: to count them
    would be to read the answer. There it is the place among the options that is gold most often.
    """

    def prepare(self, task: Task) -> None:
        """Count the gold labels, and note which labels each prompt's options stand for."""
        super().prepare(task)
        sizes = Counter(frozenset(question.options) for question in task.questions)
        fewest = min(FEWEST_ALIKE, len(task.questions))
        self._shared = {options for options, size in sizes.items() if size >= fewest}
        self._counts: dict[str | int, float] = {}
        for question in task.questions:
            keys = self._keys(question.options)
            for key, label in zip(keys, question.options, strict=True):
                weight = question.gold.get(label, 0.0)
                self._counts[key] = self._counts.get(key, 0.0) + weight
        self._labels = labels_by_prompt(task)
        by_place = sum(size for options, size in sizes.items() if options not in self._shared)
        if by_place:
            self.note(
                f"{self.name}: {by_place:,} of {len(task.questions):,} questions of '{task.name}' "
                f"have options that fewer than {fewest} questions share; there it chooses the "
                "place among the options that is right most often."
            )

    def _keys(self, labels: Sequence[str]) -> Sequence[str | int]:
        """What is counted for each option: its label, or its place."""
        if frozenset(labels) in self._shared:
            return labels
        return range(len(labels))

    def weights(self, prompt: Prompt) -> list[float]:
        """How often the label or its place is gold, plus one so that none is impossible."""
        return [self._counts[key] + 1.0 for key in self._keys(self._labels[prompt.key])]


class WordFrequency(Baseline):
    """The option that is the most frequent English expression (wordfreq's table: Speer 2022)."""

    def weights(self, prompt: Prompt) -> list[float]:
        """Occurrences per word of running text."""
        with needs_extra("The word-frequency baseline", "models"):
            from wordfreq import word_frequency
        return [max(word_frequency(option, "en"), RAREST) for option in prompt.options]


class Random(Baseline):
    """A random order of the options, always the same for a prompt: what chance looks like in a
    run."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Drawn with each prompt's digest as the seed."""
        scores = []
        for prompt in prompts:
            draw = np.random.Generator(np.random.PCG64(int(prompt.key, 16)))
            weights = 1.0 - draw.random(len(prompt.options))  # none of them 0
            logps = np.log(weights / weights.sum()).tolist()
            scores.append(choice_scores(prompt, logps))
        return scores


class Mock(Baseline):
    """Answers at random, but always the same: `mock:SEED`, or `mock:SEED:MILLISECONDS` to pause
    over each batch."""

    family = "mock"
    prompts_per_batch = Model.prompts_per_batch

    def __init__(
        self,
        name: str,
        seed: str = "0",
        milliseconds: str = "0",
    ) -> None:
        super().__init__(name)
        if not milliseconds.isdecimal():
            raise UserError(
                f"'{name}': the mock's delay is a number of milliseconds, as in mock:0:10."
            )
        self._seed = seed
        self._pause = int(milliseconds) / 1000

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        time.sleep(self._pause)
        return super().answer(prompts)

    def weights(self, prompt: Prompt) -> list[float]:
        """Digits of a digest of seed, text and option."""
        return [
            1.0 + text_number(f"{self._seed}|{prompt.text}|{option}", 4)
            for option in prompt.options
        ]


_CORE = {
    "uniform": BaselineCard(
        f"{__name__}:Baseline", "Every option gets the same, so that all of them tie."
    ),
    "random": BaselineCard(
        f"{__name__}:Random", "A random order of the options, always the same for a prompt."
    ),
    "majority": BaselineCard(
        f"{__name__}:Majority",
        "The answer that is gold most often in the task; of options of a row's own, the place.",
    ),
    "frequency": BaselineCard(
        f"{__name__}:WordFrequency", "The option that is the most frequent English expression."
    ),
}


def baseline_cards() -> dict[str, BaselineCard]:
    """Every baseline by its name: the core's, then those that plug-ins bring."""
    return collect(lambda plugin: plugin.baselines, core=_CORE)


def load_baseline(rest: str, options: ModelOptions) -> Baseline:
    """`baseline:NAME`."""
    validate_baseline(rest)
    baseline: Baseline = load_address(baseline_cards()[rest].maker)(f"baseline:{rest}")
    return baseline


def validate_baseline(name: str) -> None:
    """Refuse a name that is no baseline's."""
    cards = baseline_cards()
    if name not in cards:
        raise unknown("baseline", name, cards, "seesay models")


def load_mock(rest: str, options: ModelOptions) -> Mock:
    """`mock`, `mock:SEED` or `mock:SEED:MILLISECONDS`."""
    if not rest:
        return Mock("mock")
    return Mock(f"mock:{rest}", *rest.split(":")[:2])
