"""Checkpoints of one training: which there are, their figures over its steps, and the step at which
each fact is learnt.

A curve is made of runs alone: those of models that are called alike but for the step, as in
`EleutherAI/pythia-70m@step1000` and `my-model/checkpoint-500`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from seesay import metrics
from seesay.condition import label
from seesay.errors import UserError, first_line
from seesay.grouping import group_by
from seesay.models.options import ModelOptions
from seesay.models.source import AT, Kind, ModelSource
from seesay.runs.chosen import explain_answers
from seesay.runs.run import Run

log = logging.getLogger(__name__)

FOLDER = "checkpoint-"
"""How the Trainer of transformers begins the names of its folders."""
_STEP = re.compile(r"(?:step|checkpoint)[-_]?(\d{1,12})")


_COPIED = {"task", "metric", "value", "low", "high", "n", "too_few", "chance"}


class TrainingStep(NamedTuple):
    """A model's name, taken apart: the training, and the step."""

    training: str
    step: int


@dataclass(frozen=True)
class StepFigure:
    """The headline figure at one step, of all questions or of one of their nested sets, with its
    95 % interval."""

    model: str
    step: int
    part: str | None
    task: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    too_few: bool
    chance: float | None

    @property
    def line(self) -> str:
        """What a chart calls the line of which this is a point."""
        return self.model if self.part is None else f"{self.model}, {self.part}"


@dataclass(frozen=True)
class LearntFact:
    """A question, and the step from which on it is answered right at every later checkpoint.

    None where it is not answered right at the last one. `first` is the first checkpoint at which it
    is answered right, whatever came of it.
    """

    model: str
    task: str
    question: str
    object: str
    gold: str
    step: int | None
    first: int | None


@dataclass(frozen=True)
class CheckpointCurve:
    """The checkpoints of one training on one task: headline figures by step, and the facts."""

    model: str
    task: str
    figures: tuple[StepFigure, ...]
    facts: tuple[LearntFact, ...]


def parse_checkpoint(name: str) -> TrainingStep | None:
    """Return the training and the step that a model's name states; None where it states none.

    >>> parse_checkpoint("EleutherAI/pythia-70m@step1000")
    TrainingStep(training='EleutherAI/pythia-70m', step=1000)
    >>> parse_checkpoint("models/mine/checkpoint-500").step
    500
    """
    training, at, revision = name.rpartition(AT)
    if not at:
        training, _, revision = name.rpartition("/")
    match = _STEP.search(revision)
    if not training or match is None:
        return None
    return TrainingStep(training, int(match[1]))


def list_checkpoints(name: str, revisions: str, options: ModelOptions) -> list[str]:
    """Return the names of a model's checkpoints, in order of their steps.

    `revisions` are names or patterns such as `step*`, several by comma: of folders in a folder, or
    of branches and tags on the Hub, which is asked only where there is a pattern.
    """
    patterns = [part.strip() for part in revisions.split(",") if part.strip()]
    if not patterns:
        raise UserError("--revisions is empty: give names such as step1000,step2000, or step*.")
    source = ModelSource.parse(name, options)
    names: Iterable[str]
    if source.kind is Kind.HUB and AT not in name:
        is_pattern = any(set(pattern) & set("*?[") for pattern in patterns)
        names = _hub_revisions(name) if is_pattern else patterns
        joint = AT
    elif source.kind is Kind.FOLDER:
        names = [path.name for path in Path(name).expanduser().iterdir() if path.is_dir()]
        joint = "/"
    else:
        raise UserError(f"--revisions is for folders of checkpoints and Hub ids, not for '{name}'.")
    for pattern in patterns:
        if not any(fnmatch(revision, pattern) for revision in names):
            raise UserError(f"'{name}' has no revision '{pattern}'.")
    checkpoints = [
        f"{source.name}{joint}{revision}"
        for revision in names
        if any(fnmatch(revision, pattern) for pattern in patterns)
    ]
    return sorted(checkpoints, key=_order)


def _order(name: str) -> tuple[int, str]:
    checkpoint = parse_checkpoint(name)
    return (-1 if checkpoint is None else checkpoint.step, name)


def _hub_revisions(name: str) -> list[str]:
    """Return the branches and tags of a model on the Hub."""
    from huggingface_hub import HfApi

    try:
        refs = HfApi().list_repo_refs(name)
    except Exception as error:  # each version of the library has another HTTP client
        raise UserError(
            f"The hub did not list the revisions of '{name}' ({first_line(error)}): name them "
            "without a pattern."
        ) from error
    return [ref.name for ref in (*refs.branches, *refs.tags)]


def checkpoint_curves(runs: Sequence[Run]) -> list[CheckpointCurve]:
    """Return the curves of trainings that were asked at two steps or more.

    Where two runs are of one step of what is called alike, they are of two trainings: which run
    belongs to which is not known, and there is no curve.
    """
    curves = []
    for (training, *_), members in group_by(list(_with_steps(runs)), _curve_key).items():
        steps = [checkpoint.step for checkpoint, _ in members]
        if len(steps) < 2:
            continue
        if len(set(steps)) < len(steps):
            log.warning(
                "There are several runs of one step of '%s' on %s, which belong to several "
                "trainings: no curve is drawn. Give each training its own name.",
                training,
                members[0][1].manifest.task,
            )
            continue
        in_order = sorted(members, key=lambda member: member[0].step)
        curves.append(_curve([(checkpoint.step, run) for checkpoint, run in in_order], training))
    return curves


def _with_steps(runs: Iterable[Run]) -> Iterator[tuple[TrainingStep, Run]]:
    for run in runs:
        checkpoint = parse_checkpoint(run.manifest.model)
        if checkpoint is not None:
            yield checkpoint, run


def _curve_key(member: tuple[TrainingStep, Run]) -> tuple[str, ...]:
    """Return what the runs of one curve have in common: all that shapes a figure but the step."""
    checkpoint, run = member
    manifest = run.manifest
    return (
        checkpoint.training,
        manifest.task,
        manifest.task_fingerprint,
        manifest.condition.model_dump_json(),
        f"{manifest.limit} {manifest.seed}",
    )


def _curve(steps: Sequence[tuple[int, Run]], training: str) -> CheckpointCurve:
    first_run = steps[0][1]
    name = label(training, first_run.manifest.condition)
    task = first_run.task
    figures = []
    for step, run in steps:
        for figure in run.figures:
            is_overall = figure.template is None and figure.slice in task.parts
            if is_overall and figure.metric == task.metrics[0]:
                part = None if figure.slice is None else str(figure.slice)
                values = figure.model_dump(include=_COPIED)
                figures.append(StepFigure(name, step, part, **values))
    return CheckpointCurve(name, task.name, tuple(figures), tuple(_facts(steps, name)))


def _facts(steps: Sequence[tuple[int, Run]], name: str) -> Iterator[LearntFact]:
    """Yield when each question was learnt: right in more than half of its templates counts.

    There are none where a task's answers are neither right nor wrong.
    """
    task = steps[0][1].task
    if not any(metrics.get(metric).binary for metric in task.metrics):
        return
    right_by_step = [(step, _known_questions(run)) for step, run in steps]
    for question in task.questions:
        right_steps = [step for step, questions in right_by_step if question.id in questions]
        learnt = None
        for step, questions in reversed(right_by_step):
            if question.id not in questions:
                break
            learnt = step
        yield LearntFact(
            name,
            task.name,
            question.id,
            question.object,
            ", ".join(question.gold),
            learnt,
            right_steps[0] if right_steps else None,
        )


def _known_questions(run: Run) -> set[str]:
    rows = explain_answers(run.task, run.answers, run.manifest.condition.length)
    shares: dict[str, float] = {}
    for answer, row in zip(run.answers, rows, strict=True):
        shares[answer.question] = shares.get(answer.question, 0.0) + row.right
    half = len(run.task.templates) / 2
    return {question for question, share in shares.items() if share > half}


def curves_json(curves: Sequence[CheckpointCurve]) -> list[dict[str, Any]]:
    """Return the curves for `--json`."""
    return [asdict(curve) for curve in curves]
