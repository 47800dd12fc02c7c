"""Ask two models until it is settled which is ahead, and no longer.

What is asked about are prompts: a question in one of its templates. They are drawn in a random
order, round by round. After each round an interval that holds at any time (`metrics.sequences`)
says whether the difference on all of them is decided. Each model's answers are in a journal of its
own, in that order: the same command, killed or not, comes to the same decision, and another rival
or a smaller margin goes on from there.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.condition import label
from seesay.defaults import LEVEL, MARGIN
from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import lock_folder, write_json
from seesay.grouping import group_by
from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.bootstrap import Interval
from seesay.metrics.sequences import PairedSequence
from seesay.models.base import Model
from seesay.progress import AtMost, ProgressBars, ProgressCallback
from seesay.quantities import quantity
from seesay.questions import Question, Slice, Task, Template
from seesay.runs import store
from seesay.runs.answer_table import PromptScores
from seesay.runs.ask import (
    Settings,
    answer_prompts,
    assemble,
    describe,
    distinct_prompts,
    keep_notes,
    prepare_task,
)
from seesay.runs.compare import same_question
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.journal import Journal
from seesay.runs.records import Manifest
from seesay.runs.request import Pair

FIRST_ROUND = 16
"""Prompts of the first round; every further one has a sixteenth of those that were asked before."""
SETTLED = "settled.json"
"""What the last command settled, in the folder of its runs."""


class Settlement(Document):
    """What was decided about two models on one task, and what it took."""

    task: str
    """The task's name."""

    metric: str
    """The headline metric."""

    slice: Slice | None
    """The part of the questions; null for all of them."""

    a: str
    """The first model."""

    b: str
    """The second model."""

    difference: float
    """The first model's figure minus the second's in what was asked. It is mostly too far from zero
    where few prompts decided; the interval is not."""

    low: float
    """Lower end of the 95 % interval of the difference, which holds whenever asking stops."""

    high: float
    """Upper end of that interval."""

    margin: float
    """Differences up to this are taken for none."""

    verdict: str
    """`a` or `b` is ahead, or they are `alike` within the margin."""

    asked: int
    """Prompts that each model was asked: a question in one of its templates."""

    prompts: int
    """Prompts of all questions: each in every template."""

    limit: int | None
    """Of how many questions at most the sample is that this is about; null for the whole task."""

    spent: dict[str, float]
    """What servers report for both models, as in the manifest of a run."""

    def __str__(self) -> str:
        where = self.task if self.slice is None else f"{self.task} ({self.slice})"
        difference, low, high = self.difference, self.low, self.high
        # the difference is that of whoever is ahead
        if self.verdict == "b":
            difference, low, high = -difference, -high, -low
        verdicts = {
            "a": f"{self.a} is ahead of {self.b}",
            "b": f"{self.b} is ahead of {self.a}",
            "alike": f"{self.a} and {self.b} differ by no more than {self.margin:g}",
        }
        whole = "the task" if self.slice is None else "this part of the task"
        if self.limit is not None:
            whole = f"the sample (limit {self.limit:,})"
        saved = self.prompts - self.asked
        text = (
            f"{where}: {verdicts[self.verdict]} on {whole} as a whole ({self.metric}, difference "
            f"{low:+.3f} to {high:+.3f}, 95 % whenever one stops; {difference:+.3f} in what was "
            "asked, mostly too large when one stops early), which is about these questions and not "
            "about others of their kind. Asked "
            f"{self.asked:,} of {quantity(self.prompts, 'prompt')}, saved {saved:,} "
            f"({saved / self.prompts:.0%})."
        )
        if "cost" in self.spent:
            cost = self.spent["cost"]
            text += f" It cost {cost:,.4f}, and about {cost * saved / self.asked:,.4f} was saved."
        return text


@dataclass(frozen=True)
class Gathering:
    """A model with its task, and the folder in which its answers are gathered object by object."""

    model: Model
    task: Task
    settings: Settings
    manifest: Manifest
    folder: Path
    scores: PromptScores = field(default_factory=PromptScores)

    @property
    def label(self) -> str:
        """The model and how it is asked."""
        return label(self.model.name, self.model.condition)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Hold the folder for this process while answers are gathered, and keep at the end what the
        model notes of them."""
        with lock_folder(self.folder, hint="give this one its own --output"):
            # a folder of gathered answers is no run, finished or not
            store.mark_gathering(self.folder)
            store.stored_manifest(self.folder, self.manifest)
            yield
            keep_notes(self.model, self.scores.view(self.scores.places), self.folder)

    def part(
        self, questions: Sequence[Question], templates: Sequence[Template] | None = None
    ) -> Task:
        """Return some of the questions, in all templates or in these, with the headline metric."""
        return replace(
            self.task,
            questions=tuple(questions),
            templates=self.task.templates if templates is None else tuple(templates),
            metrics=self.task.metrics[:1],
            # no headline is calibrated
            neutral={},
        )

    def answer(self, parts: Sequence[Task]) -> list[FloatArray]:
        """Ask these parts of the task, and return the statistics of the headline metric in each."""
        # what an earlier round asked is no part of this one: batches are then the same whether the
        # round was interrupted or not
        prompts = {
            key: prompt
            for part in parts
            for key, prompt in distinct_prompts(part).items()
            if key not in self.scores
        }
        journal = Journal(self.folder / store.JOURNAL)
        answered = answer_prompts(self.model, prompts, journal, folder=self.folder, is_round=True)
        for key, scores in zip(prompts, answered.view(prompts), strict=True):
            self.scores.add(key, scores)
        metric = metrics.get(self.task.metrics[0])
        stats = []
        for part in parts:
            items = items_by_template(part, assemble(part, self.scores), self.settings.length)
            stats.append(statistics([metric], items)[metric.name])
        return stats

    def credits(self, questions: Sequence[Question], template_numbers: IntArray) -> FloatArray:
        """Ask each question in the template of that number, and return its credit, NaN where it
        does not count."""
        metric = metrics.get(self.task.metrics[0])
        places_by_template = group_by(range(len(questions)), template_numbers.__getitem__)
        parts = [
            self.part([questions[place] for place in places], [self.task.templates[number]])
            for number, places in places_by_template.items()
        ]
        credits = np.full(len(questions), np.nan)
        for places, stats in zip(places_by_template.values(), self.answer(parts), strict=True):
            (of_template,) = stats
            credits[places] = np.where(metric.defined(of_template), of_template[:, 0], np.nan)
        if np.any((credits < 0) | (credits > 1)):
            raise UserError(
                f"{metric.name} gave a credit that is not from 0 to 1: ask all of "
                f"'{self.task.name}', without --until-settled."
            )
        return credits


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a task that has a figure of its own: its prompts, and what is known of them."""

    slice: Slice | None
    rows: IntArray
    sequence: PairedSequence

    def add(self, rows: IntArray, credits: Sequence[FloatArray]) -> None:
        """Add what two models got for prompts, as far as these belong to the part."""
        belongs = np.isin(rows, self.rows)
        counts = ~np.isnan(credits[0]) & ~np.isnan(credits[1]) & belongs
        gains = np.where(counts, credits[0] - credits[1], 0.0)
        places = np.searchsorted(self.rows, rows[belongs])
        self.sequence.add(places, gains[belongs], counts[belongs].astype(np.float64))


def settle(
    pairs: tuple[Pair, Pair],
    root: Path,
    settings: Settings,
    margin: float = MARGIN,
    progress: ProgressCallback | None = None,
) -> list[Settlement]:
    """Ask two models one prompt after another until the difference of their headline figures is
    decided, and return what was decided about each part of the task."""
    if not 0 <= margin < 1:
        raise UserError(f"--margin is {margin:g}: give a difference of shares, such as 0.02.")
    sides = [gather(model, task, root, settings) for model, task in pairs]
    if sides[0].folder == sides[1].folder:
        raise UserError(f"'{sides[0].label}' is compared with itself: give two models.")
    _validate_headline(sides)
    questions = _shared_questions(sides)
    task = replace(sides[0].task, questions=tuple(questions))
    total = len(questions) * len(task.templates)
    parts = _parts(task)
    settlements: dict[Slice | None, Settlement] = {}
    with ExitStack() as locks:
        for side in sides:
            locks.enter_context(side.open())
        for round_rows in rounds(total, settings.seed):
            open_parts = [part for part in parts if part.slice not in settlements]
            # a part that is settled is asked no longer
            is_open = np.isin(round_rows, np.concatenate([part.rows for part in open_parts]))
            rows = round_rows[is_open]
            template_numbers, places = np.divmod(rows, len(questions))
            round_questions = [questions[place] for place in places]
            credits = [side.credits(round_questions, template_numbers) for side in sides]
            for part in open_parts:
                part.add(rows, credits)
                settlement = _look(sides, part, len(parts), margin)
                if settlement is not None:
                    settlements[part.slice] = settlement
            if progress:
                # all of them are seldom needed
                progress(len(rows), AtMost(total))
            if len(settlements) == len(parts):
                break
    costs: Counter[str] = Counter()
    for side in sides:
        costs.update(store.read_manifest(side.folder / store.MANIFEST).spent)
    return [settlements[part.slice].model_copy(update={"spent": dict(costs)}) for part in parts]


def settle_tasks(
    pairs_by_model: Sequence[Sequence[Pair]],
    root: Path,
    settings: Settings,
    margin: float,
    progress: ProgressBars,
) -> list[Settlement]:
    """Settle each task between two models, and keep what was decided in `settled.json`."""
    if len(pairs_by_model) != 2:
        raise UserError(
            f"--until-settled compares two models: {quantity(len(pairs_by_model), 'model')} named."
        )
    settlements: list[Settlement] = []
    for first, second in zip(*pairs_by_model, strict=True):
        names = [label(model.name, model.condition) for model, _ in (first, second)]
        title = f"{' and '.join(names)} · {first[1].name}, until it is settled"
        with progress(title, "prompts") as advance:
            settlements += settle((first, second), root, settings, margin, advance)
        rows = [settlement.model_dump(mode="json") for settlement in settlements]
        write_json(root / SETTLED, rows)
    return settlements


def gather(model: Model, task: Task, root: Path, settings: Settings) -> Gathering:
    """Prepare a model for its task, and find the folder of its answers."""
    prepared_task, limited_settings = prepare_task(model, task, settings)
    manifest = describe(model, prepared_task, limited_settings, ["asked:by-object"])
    return Gathering(
        model, prepared_task, limited_settings, manifest, store.folder_for(root, manifest)
    )


def _validate_headline(sides: Sequence[Gathering]) -> None:
    """Refuse two tasks that are asked differently, and a metric whose gains have no bounds."""
    names = {side.task.metrics[0] for side in sides}
    templates = {tuple(template.name for template in side.task.templates) for side in sides}
    task = sides[0].task.name
    if len(names) > 1 or len(templates) > 1:
        raise UserError(f"The two models are not asked '{task}' alike: they cannot be compared.")
    metric = metrics.get(names.pop())
    # ranks over a vocabulary are taken over all templates of one text
    is_unfit = metric.signed or metric.lower_is_better or metric.whole_vocabulary
    if not metric.is_mean or is_unfit:
        raise UserError(
            f"'{task}' is measured by {metric.name}, which is no mean of credits from 0 to 1: ask "
            "all of it, without --until-settled."
        )


def _shared_questions(sides: Sequence[Gathering]) -> list[Question]:
    """Return the questions that both models can be asked."""
    first, second = sides
    others = {question.id: question for question in second.task.questions}
    questions = [
        question
        for question in first.task.questions
        if question.id in others and same_question(question, others[question.id])
    ]
    if not questions:
        raise UserError(f"{first.label} and {second.label} share no question: nothing to settle.")
    return questions


def rounds(total: int, seed: int) -> Iterator[IntArray]:
    """Yield the numbers of all prompts in a random order, round by round."""
    order = np.array(random.Random(seed).sample(range(total), total))
    start = 0
    size = FIRST_ROUND
    while start < total:
        yield order[start : start + size]
        start += size
        size = max(FIRST_ROUND // 2, start // 16)


def prompt_groups(task: Task) -> IntArray:
    """Return by which a prompt's gain can be guessed, as numbers of groups: its template with the
    best answer, which some model may give to everything, its template with all right answers, and
    its question.

    Prompts go template by template, the questions of each in order.
    """
    numbers = range(len(task.templates))
    by_answer = [(number, q.best_label) for number in numbers for q in task.questions]
    by_answers = [(number, *sorted(q.gold)) for number in numbers for q in task.questions]
    by_question = [(q.id,) for _ in numbers for q in task.questions]
    return np.stack([_number(by_answer), _number(by_answers), _number(by_question)])


def _number(keys: Sequence[Hashable]) -> IntArray:
    """Return the number of each key, in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _parts(task: Task) -> list[_Part]:
    """Return the parts of a task that have a headline figure, with nothing asked."""
    groups = prompt_groups(task)
    parts = []
    for part in task.parts:
        belongs = [_is_in(question, part) for question in task.questions]
        rows = np.flatnonzero(np.tile(belongs, len(task.templates)))
        parts.append(_Part(part, rows, PairedSequence(groups[:, rows])))
    return parts


def _look(sides: Sequence[Gathering], part: _Part, parts: int, margin: float) -> Settlement | None:
    """Return what the answers so far decide about a part of the task, of so many."""
    # several parts are several chances to err
    interval = part.sequence.interval(1 - (1 - LEVEL) / parts)
    verdict = verdict_of(interval, margin)
    if verdict is None:
        return None
    return Settlement(
        task=sides[0].task.name,
        metric=sides[0].task.metrics[0],
        slice=part.slice,
        a=sides[0].label,
        b=sides[1].label,
        difference=interval.value,
        low=interval.low,
        high=interval.high,
        margin=margin,
        verdict=verdict,
        asked=len(part.sequence.draws.gains),
        prompts=len(part.rows),
        limit=sides[0].manifest.limit,
        spent={},
    )


def _is_in(question: Question, part: Slice | None) -> bool:
    """Whether a question belongs to a part of its task."""
    return part is None or all(question.tags[tag] == value for tag, value in part.items)


def verdict_of(interval: Interval, margin: float) -> str | None:
    """Return who is ahead, or None as long as that is open; a difference that cannot exceed the
    margin is none."""
    if -margin <= interval.low and interval.high <= margin:
        return "alike"
    if interval.low > 0:
        return "a"
    if interval.high < 0:
        return "b"
    return None
