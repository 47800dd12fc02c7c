"""Ask two models until it is settled which is ahead, and no longer.

Objects are asked about in a random order, round by round. After each round an interval that holds
at any time (`metrics.sequences`) says whether the difference is decided. Each model's answers are
in a journal of its own, in that order: the same command, killed or not, comes to the same decision,
and another rival or a smaller margin goes on from there.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
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
from seesay.metrics.base import FloatArray, Metric, ScoredItems
from seesay.metrics.bootstrap import Interval
from seesay.metrics.sequences import PairedGains, interval_at_any_time
from seesay.models.base import Model
from seesay.progress import ProgressBars, ProgressCallback
from seesay.quantities import quantity
from seesay.questions import Question, Slice, Task
from seesay.runs import store
from seesay.runs.answer_table import PromptScores
from seesay.runs.ask import (
    Settings,
    answer_prompts,
    assemble,
    describe,
    distinct_prompts,
    prepare_task,
    run,
)
from seesay.runs.compare import same_question
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.journal import Journal
from seesay.runs.records import Manifest
from seesay.runs.request import Pair
from seesay.runs.run import Run

FIRST_ROUND = 16
"""Objects of the first round; every further one has an eighth of those that were asked about."""
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
    """The first model's figure minus the second's, on what was asked."""

    low: float
    """Lower end of the 95 % interval of the difference, which holds whenever asking stops."""

    high: float
    """Upper end of that interval."""

    margin: float
    """Differences up to this are taken for none."""

    verdict: str
    """`a` or `b` is ahead, they are `alike` within the margin, or it is `open`."""

    of_these_questions: bool
    """Whether the difference is the one on all of the task's questions, as where objects share
    things; else it is the one on objects of this kind."""

    asked: int
    """Questions that each model was asked."""

    questions: int
    """Questions that the task has."""

    spent: dict[str, float]
    """What servers report for both models, as in the manifest of a run."""

    def __str__(self) -> str:
        where = self.task if self.slice is None else f"{self.task} ({self.slice})"
        distance = abs(self.difference)
        verdicts = {
            "a": f"{self.a} is ahead of {self.b} by {distance:.3f}",
            "b": f"{self.b} is ahead of {self.a} by {distance:.3f}",
            "alike": f"{self.a} and {self.b} differ by no more than {self.margin:g}",
            "open": f"{self.a} and {self.b} are not shown to differ, nor to be alike",
        }
        about = " on all of its questions" if self.of_these_questions else ""
        saved = self.questions - self.asked
        text = (
            f"{where}: {verdicts[self.verdict]}{about} ({self.metric}, difference "
            f"{self.low:+.3f} to {self.high:+.3f}, 95 % whenever one stops). Asked "
            f"{self.asked:,} of {quantity(self.questions, 'question')}, saved {saved:,} "
            f"({saved / self.questions:.0%})."
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
        """Hold the folder for this process while answers are gathered."""
        with lock_folder(self.folder, hint="give this one its own --output"):
            # a folder of gathered answers is no run, finished or not
            store.mark_gathering(self.folder)
            store.stored_manifest(self.folder, self.manifest)
            yield

    def answer(self, questions: Sequence[Question]) -> FloatArray:
        """Ask these questions and return the statistics of the headline metric."""
        part = replace(self.task, questions=tuple(questions), metrics=self.task.metrics[:1])
        if not self.model.answers_neutral:
            part = replace(part, neutral={})
        # what an earlier round asked, such as the prompt that names no object, is no part of this
        # one: batches are then the same whether the round was interrupted or not
        prompts = {
            key: prompt for key, prompt in distinct_prompts(part).items() if key not in self.scores
        }
        journal = Journal(self.folder / store.JOURNAL)
        answered = answer_prompts(self.model, prompts, journal, folder=self.folder)
        for key, scores in zip(prompts, answered.view(prompts), strict=True):
            self.scores.add(key, scores)
        items = items_by_template(part, assemble(part, self.scores), self.settings.length)
        metric = metrics.get(part.metrics[0])
        return statistics([metric], items)[metric.name]


def settle(
    pairs: tuple[Pair, Pair],
    root: Path,
    settings: Settings,
    margin: float = MARGIN,
    progress: ProgressCallback | None = None,
) -> tuple[list[Run], list[Settlement]]:
    """Ask two models about one object after another until the difference of their headline
    figures is decided, and return a run of each with what was decided."""
    if not 0 <= margin < 1:
        raise UserError(f"--margin is {margin:g}: give a difference of shares, such as 0.02.")
    sides = [gather(model, task, root, settings) for model, task in pairs]
    if sides[0].folder == sides[1].folder:
        raise UserError(f"'{sides[0].label}' is compared with itself: give two models.")
    _validate_headline(sides)
    population = _shared_questions(sides)
    by_object = group_by(population, lambda question: question.object)
    asked_questions: list[Question] = []
    stats: list[list[FloatArray]] = [[], []]
    settlements: list[Settlement] = []
    with ExitStack() as locks:
        for side in sides:
            locks.enter_context(side.open())
        for names in rounds(sorted(by_object), settings.seed):
            questions = [question for name in names for question in by_object[name]]
            asked_questions += questions
            for side, side_stats in zip(sides, stats, strict=True):
                side_stats.append(side.answer(questions))
            so_far = [np.concatenate(side_stats, axis=1) for side_stats in stats]
            settlements = _look(sides, asked_questions, so_far, population, margin)
            if progress:
                progress(len(questions), len(population))
            if all(settlement.verdict != "open" for settlement in settlements):
                break
        runs = [_finish(side, asked_questions, root, margin) for side in sides]
    return runs, settlements


def settle_tasks(
    pairs_by_model: Sequence[Sequence[Pair]],
    root: Path,
    settings: Settings,
    margin: float,
    progress: ProgressBars,
) -> tuple[list[Run], list[Settlement]]:
    """Settle each task between two models, and keep what was decided in `settled.json`."""
    if len(pairs_by_model) != 2:
        raise UserError(
            f"--until-settled compares two models: {quantity(len(pairs_by_model), 'model')} named."
        )
    runs: list[Run] = []
    settlements: list[Settlement] = []
    for first, second in zip(*pairs_by_model, strict=True):
        names = [label(model.name, model.condition) for model, _ in (first, second)]
        with progress(f"{' and '.join(names)} · {first[1].name}", "questions") as advance:
            task_runs, task_settlements = settle((first, second), root, settings, margin, advance)
        runs += task_runs
        settlements += task_settlements
        rows = [settlement.model_dump(mode="json") for settlement in settlements]
        write_json(root / SETTLED, rows)
    return runs, settlements


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
    if not metric.is_mean or metric.signed or metric.lower_is_better:
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


def rounds(objects: Sequence[str], seed: int) -> Iterator[list[str]]:
    """Yield the objects in a random order, round by round."""
    order = random.Random(seed).sample(objects, len(objects))
    start = 0
    size = FIRST_ROUND
    while start < len(order):
        yield order[start : start + size]
        start += size
        size = max(FIRST_ROUND // 2, start // 8)


def _look(
    sides: Sequence[Gathering],
    asked_questions: Sequence[Question],
    stats: Sequence[FloatArray],
    population: Sequence[Question],
    margin: float,
) -> list[Settlement]:
    """Return what the answers so far decide about each part of the task."""
    task = replace(sides[0].task, questions=tuple(population))
    metric = metrics.get(task.metrics[0])
    parts = task.parts
    # several parts are several chances to err
    level = 1 - (1 - LEVEL) / len(parts)
    costs: Counter[str] = Counter()
    for side in sides:
        costs.update(store.read_manifest(side.folder / store.MANIFEST).spent)
    settlements = []
    for part in parts:
        in_part = [question for question in population if _is_in(question, part)]
        where = np.array([_is_in(question, part) for question in asked_questions])
        pair = paired_gains(
            metric,
            asked_questions,
            [np.where(where[:, None], side, 0.0) for side in stats],
            in_part,
        )
        interval = interval_at_any_time(pair, level)
        settlements.append(
            Settlement(
                task=task.name,
                metric=metric.name,
                slice=part,
                a=sides[0].label,
                b=sides[1].label,
                difference=interval.value,
                low=interval.low,
                high=interval.high,
                margin=margin,
                verdict=verdict_of(interval, margin),
                of_these_questions=pair.population is not None,
                asked=int(where.sum()),
                questions=len(in_part),
                spent=dict(costs),
            )
        )
    return settlements


def _is_in(question: Question, part: Slice | None) -> bool:
    """Whether a question belongs to a part of its task."""
    return part is None or all(question.tags[tag] == value for tag, value in part.items)


def paired_gains(
    metric: Metric[ScoredItems],
    asked_questions: Sequence[Question],
    stats: Sequence[FloatArray],
    population: Sequence[Question],
) -> PairedGains:
    """Return what the first model gained on each object, in the order asked; templates share a
    question's credit equally."""
    both = metric.defined(stats[0]) & metric.defined(stats[1])
    credit = [np.where(both, side[..., 0], 0.0) for side in stats]
    if any(np.any((side < 0) | (side > 1)) for side in credit):
        raise UserError(f"{metric.name} gave a credit that is not from 0 to 1: ask all questions.")
    by_question = (credit[0] - credit[1]).mean(axis=0)
    weights = both.mean(axis=0)
    numbers = {
        name: number for number, name in enumerate(dict.fromkeys(q.object for q in asked_questions))
    }
    rows = [numbers[question.object] for question in asked_questions]
    gains = np.bincount(rows, by_question).astype(np.float64)
    counts = np.bincount(rows, weights).astype(np.float64)
    # an object that has no question of this part says nothing
    is_drawn = counts > 0
    sizes = Counter(question.object for question in population)
    shares_things = any(len(question.things) > 1 for question in population)
    return PairedGains(
        gains[is_drawn],
        counts[is_drawn],
        largest=max(sizes.values()),
        population=len(sizes) if shares_things else None,
    )


def verdict_of(interval: Interval, margin: float) -> str:
    """Return who is ahead; a difference that cannot exceed the margin is none."""
    if -margin <= interval.low and interval.high <= margin:
        return "alike"
    if interval.low > 0:
        return "a"
    if interval.high < 0:
        return "b"
    return "open"


def _finish(side: Gathering, asked_questions: Sequence[Question], root: Path, margin: float) -> Run:
    """Make a run of the answers that were gathered."""
    ids = {question.id for question in asked_questions}
    questions = tuple(question for question in side.task.questions if question.id in ids)
    task = replace(side.task, questions=questions, published=())
    details = [f"until-settled:{margin:g}", f"of:{len(side.task.questions)}"]
    # what is left of a limited task is within the limit
    settings = replace(side.settings, limit=None)
    folder = store.folder_for(root, describe(side.model, task, settings, details))
    if not (folder / store.FIGURES).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(side.folder / store.JOURNAL, folder / store.JOURNAL)
    finished_run = run(side.model, task, root, settings, details=details)
    gathered_manifest = store.read_manifest(side.folder / store.MANIFEST)
    note = (
        "Questions were asked until the difference to another model was settled: tests that take "
        "their number for fixed do not hold; read the interval in settled.json."
    )
    store.change_manifest(
        finished_run.folder, spent=gathered_manifest.spent, notes=[*gathered_manifest.notes, note]
    )
    return store.read_run(finished_run.folder, finished_run.answers, finished_run.task)
