"""People as a model with stored answers: asked like any other, so that `seesay report` and
`seesay compare` read their run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from seesay.answers import NO_ANSWER
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.judge.items import RatingItem
from seesay.judge.results.agreement import Coefficient
from seesay.judge.results.quality import Judgement
from seesay.judge.study import Study
from seesay.metrics.bootstrap import too_few
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.questions import Prompt, Question, Scores, Task, Template
from seesay.runs import ask
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run

SMOOTHING = 1e-6
"""Added to every option's share, so that its logarithm is finite; no figure changes by more than a
millionth per option."""

_WAIT = "wait for participants, or check the thresholds that exclude them"
SIMILARITY = Template("rating", "The words {a} and {b} are [MASK] in meaning.")


class TooFewJudgementsError(UserError):
    """There are not enough judgements for a run."""


def write_human_run(
    study: Study,
    judgements: Sequence[Judgement],
    coefficients: Mapping[str, Coefficient],
    root: Path,
    *,
    name: str = "people",
    resamples: int = 10_000,
    seed: int = 0,
    command: str = "",
) -> Run:
    """Write the run below `root` and return it. `judgements` are those that count."""
    if study.task is not None:
        task, shares, prompt = _task_shares(study, study.task, judgements)
    else:
        task, shares, prompt = _pair_shares(study, judgements, seed)
    details = [
        f"people:{len({judgement.person for judgement in judgements})}",
        f"judgements:{len(judgements)}",
        f"asked:{prompt}",
    ]
    if study.kind not in ("rating", "choice"):
        details.append(f"labels:{study.kind}")
    details.append(f"smoothing:{SMOOTHING:g}")

    names = {question.object for question in task.questions}
    things = {thing for question in task.questions for thing in question.things}
    objects = min(len(names), len(things))

    # they stand beside the figures of the task, under the signature of the run
    def agreement(manifest: Manifest) -> list[Figure]:
        return [
            _figure(manifest, metric, coefficient, objects)
            for metric, coefficient in coefficients.items()
            if coefficient.low is not None
        ]

    return ask.run(
        People(name, study, judgements, shares),
        # the rows that the study left out, which may be others than the task's own
        replace(task, provenance=replace(task.provenance, bad_rows=study.bad_rows)),
        root,
        ask.Settings(
            seed=seed,
            resamples=resamples,
            command=command,
        ),
        details=details,
        more_figures=agreement,
    )


def share_scores(shares: Sequence[float]) -> Scores:
    """Return the shares of the judgements as smoothed log-probabilities."""
    ones = (1,) * len(shares)
    # everyone typed something else: no answer is wrong, as it is for models
    if not any(shares):
        return Scores((NO_ANSWER,) * len(shares), ones, ones)
    total = sum(shares) + SMOOTHING * len(shares)
    logp = tuple(math.log((share + SMOOTHING) / total) for share in shares)
    return Scores(logp, ones, ones)


def _task_shares(
    study: Study,
    task: Task,
    judgements: Sequence[Judgement],
) -> tuple[Task, dict[str, list[float]], str]:
    """The questions that people judged. Their one template stands for all, so the run is comparable
    with models'.

    A label's share is how often it is named among all that are named: whoever names two labels
    counts for both.
    """
    counts: dict[str, list[int]] = {}
    for judgement in judgements:
        item = judgement.item
        assert not isinstance(item, RatingItem)
        option_counts = counts.setdefault(item.question, [0] * len(item.options))
        for label in judgement.labels:
            option_counts[item.options.index(label)] += 1
    questions = tuple(question for question in task.questions if question.id in counts)
    if not questions:
        raise TooFewJudgementsError(f"No judgement counts yet: {_WAIT}.")
    shares: dict[str, list[float]] = {}
    for question_id, option_counts in counts.items():
        # what was typed may name no option, and then nothing is shared
        total = max(sum(option_counts), 1)
        shares[question_id] = [count / total for count in option_counts]
    return replace(task, questions=questions), shares, _template(study)


def _pair_shares(
    study: Study,
    judgements: Sequence[Judgement],
    seed: int,
) -> tuple[Task, dict[str, list[float]], str]:
    """Pairs as questions with the options dissimilar and similar.

    Gold is the file's similarity; where it has none, half of the judgements (drawn by the seed) are
    gold and the other half are people's answers, so that people are never measured against
    themselves.
    """
    values: dict[str, list[float]] = {}
    for judgement in judgements:
        values.setdefault(judgement.item.id, []).append(judgement.number or 0.0)
    pairs = [item for item in study.measured if isinstance(item, RatingItem)]
    referenced = all(item.reference is not None for item in pairs)
    questions: list[Question] = []
    shares: dict[str, list[float]] = {}
    for item in pairs:
        ratings = values.get(item.id, [])
        gold = item.reference
        if not referenced:
            # by item, so that further judgements of one do not change the halves of another
            study.rng("halves", seed, item.id).shuffle(ratings)
            half = (len(ratings) + 1) // 2
            gold_ratings = ratings[half:]
            ratings = ratings[:half]
            gold = sum(gold_ratings) / len(gold_ratings) if gold_ratings else None
        if ratings and gold is not None:
            mean = sum(ratings) / len(ratings)
            shares[item.id] = [1 - mean, mean]
            questions.append(_pair_question(study, item, gold))
    if not questions:
        if referenced:
            few = "No judgement counts"
        else:
            few = "No pair has two judgements that count"
        raise TooFewJudgementsError(f"{few} yet: {_WAIT}.")
    task = Task(
        name=study.name,
        version="1",
        title=study.title,
        templates=(SIMILARITY,),
        questions=tuple(questions),
        metrics=("jensen_shannon", "spearman"),
    )
    return task, shares, "slider, gold:file" if referenced else "slider, gold:other half"


def _template(study: Study) -> str:
    return next(item.template for item in study.measured if not isinstance(item, RatingItem))


def _pair_question(
    study: Study,
    item: RatingItem,
    gold: float,
) -> Question:
    a, b = item.words
    options = (study.design.low, study.design.high)
    weights = dict(zip(options, (1 - gold, gold), strict=True))
    # a label of no weight is not a right answer
    weights = {label: weight for label, weight in weights.items() if weight > 0}
    return Question(
        item.id,
        {"a": a, "b": b},
        options,
        weights,
        object=item.id,
    )


class People(Model):
    """The annotators whose judgements count, as one model: to each prompt it gives the shares of
    the judgements about its question."""

    family = "people"
    scope = "choice"
    accepts = TEXT_AND_PICTURES
    answers_neutral = False  # nobody was asked about no object

    def __init__(
        self,
        name: str,
        study: Study,
        judgements: Sequence[Judgement],
        shares: Mapping[str, Sequence[float]],
    ) -> None:
        rows = sorted(
            (judgement.person, judgement.item.id, judgement.value) for judgement in judgements
        )
        self.name = name
        self.fingerprint = json_digest([study.fingerprint, rows])
        self._shares = shares
        self._by_prompt: dict[str, list[Sequence[float]]] = {}

    def prepare(self, task: Task) -> None:
        """Find the shares that belong to each prompt of the task."""
        self._by_prompt = {}
        for question in task.questions:
            for template in task.templates:
                key = template.ask(question).key
                self._by_prompt.setdefault(key, []).append(self._shares[question.id])

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the shares as scores; questions that read the same are one prompt, and share the
        mean of theirs."""
        return [share_scores(_mean_shares(self._by_prompt[prompt.key])) for prompt in prompts]


def _mean_shares(rows: Sequence[Sequence[float]]) -> Sequence[float]:
    if len(rows) == 1:
        return rows[0]
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _figure(
    manifest: Manifest,
    metric: str,
    coefficient: Coefficient,
    objects: int,
) -> Figure:
    return Figure(
        model=manifest.model,
        condition=manifest.condition,
        task=manifest.task,
        metric=metric,
        template=None,
        slice=None,
        **coefficient.model_dump(include={"value", "low", "high"}),
        n=manifest.questions,
        objects=objects,
        too_few=too_few(objects),
        signature=f"{manifest.signature}|metric:{metric}",
    )
