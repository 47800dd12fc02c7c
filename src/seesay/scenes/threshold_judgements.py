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
from seesay.scenes.baselines import NO, YES
from seesay.scenes.labels import measure, reference_sets
from seesay.scenes.lookup import find_scene
from seesay.scenes.rules import find_target
from seesay.scenes.sentences import parse_sentence
from seesay.scenes.threshold_fit import SizeJudgement

COLUMNS = ("size", "set", "big")


def read_judgements(path: Path) -> list[SizeJudgement]:
    """Read a CSV or TSV file, one judgement per row.

    Its columns: `size` of the thing, `set`, the sizes of all things it is compared with, itself
    among them, separated by spaces, and `big` (yes or no, or a share from 0 to 1). Rows of one
    `person` depend on one another; without that column, each stands alone.
    """
    return [_parse(path, row) for row in every_row(path, read_table(path))]


def run_judgements(run: Run) -> list[SizeJudgement]:
    """Return the judgements of a run about scenes; none where it does not ask what is big.

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
    return judgements


def _judge(question: Question, yes: float) -> SizeJudgement | None:
    """Return what a probability of yes says of a question's thing; None for no positive form."""
    sentence = question.fields.get("sentence", "")
    parsed = parse_sentence(sentence)
    if parsed is None or parsed[3] != "positive" or question.picture is None:
        return None
    color, shape, adjective, _, positive, _ = parsed
    scene = find_scene(question.picture).scene
    place = find_target(scene, color, shape, sentence)
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
        big = float(answer in YES if answer in YES | NO else answer)
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
