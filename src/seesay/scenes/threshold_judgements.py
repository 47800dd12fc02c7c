"""Judgements of size for `threshold_fit`: from runs about scenes, and from tables.

A run of people (`seesay judge export`), of a model or of a trained reasoner has the same form, so
that the same fit says where each of them draws the line.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seesay.data.rows import Row, every_row, read_table
from seesay.errors import UserError
from seesay.metrics.base import softmax
from seesay.questions import Question
from seesay.runs.run import Run
from seesay.scenes.baselines import YES
from seesay.scenes.labels import measure, reference_sets
from seesay.scenes.lookup import find_scene
from seesay.scenes.sentences import parse_sentence
from seesay.scenes.threshold_fit import SizeJudgement

COLUMNS = ("size", "set", "big")
_ANSWERS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def read_judgements(path: Path) -> tuple[list[SizeJudgement], int]:
    """Read a CSV or TSV file, one judgement per row; return them, and how many are left out.

    Its columns: `size` of the thing, `set`, the sizes of all things it is compared with, itself
    among them, separated by spaces, and `big` (yes or no, or a share from 0 to 1). Rows of one
    `person` depend on one another; without that column, each stands alone.
    """
    judgements = [_parse(path, row) for row in every_row(path, read_table(path))]
    return with_thresholds(judgements)


def run_judgements(run: Run) -> tuple[list[SizeJudgement], int]:
    """Return the judgements of a run about scenes, and how many are left out.

    Of the templates that a question was asked in, the mean probability counts.
    """
    questions = {question.id: question for question in run.task.questions}
    shares: dict[str, list[float]] = {}
    for answer in run.answers:
        (probabilities,) = softmax(np.array([answer.scores.logp], dtype=np.float64))
        is_yes = [option.lower() in YES for option in answer.options]
        shares.setdefault(answer.question, []).append(float(probabilities[is_yes].sum()))
    judgements = []
    for name, values in shares.items():
        judgement = _judge(questions[name], float(np.mean(values)))
        if judgement is not None:
            judgements.append(judgement)
    if not judgements:
        raise UserError(
            f"The run in {run.folder} has no question whether something is big: give one of "
            "malevic-pos1, malevic-pos, malevic-set-pos or their hard tests."
        )
    return with_thresholds(judgements)


def with_thresholds(judgements: list[SizeJudgement]) -> tuple[list[SizeJudgement], int]:
    """Return the judgements whose set has a range, and how many have none."""
    usable = [judgement for judgement in judgements if judgement.has_threshold]
    return usable, len(judgements) - len(usable)


def _judge(question: Question, yes: float) -> SizeJudgement | None:
    """Return what a probability of yes says of a question's thing; None for no positive form."""
    sentence = question.fields.get("sentence", "")
    parsed = parse_sentence(sentence)
    if parsed is None or question.picture is None:
        return None
    color, shape, adjective, degree, positive, _ = parsed
    if degree != "positive":
        return None
    scene = find_scene(question.picture).scene
    place, *others = scene.places(color, shape)
    if others:
        raise UserError(f"'{sentence}': the scene has several, so the thing is not clear.")
    sizes = measure(scene.objects, adjective)
    # SET+POS names the thing's shape again where POS says "object"
    by_set = not sentence.endswith(" object")
    members = reference_sets(scene.objects, by_set)[place]
    # whoever denies that it is small calls it big: no other word is offered
    big = yes if positive else 1 - yes
    return SizeJudgement(
        sizes=tuple(sizes[members].tolist()),
        size=float(sizes[place]),
        big=big,
        cluster=question.object,
    )


def _parse(path: Path, row: Row) -> SizeJudgement:
    """Return the judgement of a table's row."""
    for column in COLUMNS:
        if not row.cells.get(column):
            raise UserError(f"{path}, row {row.number}: the column '{column}' is missing or empty.")
    answer = row.cells["big"].lower()
    try:
        sizes = tuple(map(float, row.cells["set"].split()))
        size = float(row.cells["size"])
        big = _ANSWERS[answer] if answer in _ANSWERS else float(answer)
    except ValueError as error:
        raise UserError(
            f"{path}, row {row.number}: sizes are numbers, 'big' is yes, no or a share ({error})."
        ) from error
    if not np.isfinite((*sizes, size)).all() or size not in sizes or not 0 <= big <= 1:
        raise UserError(
            f"{path}, row {row.number}: the set must have the thing's own size among others, all "
            "finite, and 'big' lies between 0 and 1."
        )
    return SizeJudgement(sizes, size, big, row.cells.get("person") or str(row.number))
