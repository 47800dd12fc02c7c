"""People as a model: a run folder like any other, which `seesay report` and `seesay compare`
read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.judge.items import RatingItem
from seesay.judge.results.agreement import Coefficient
from seesay.judge.results.quality import Judgement
from seesay.judge.study import Study
from seesay.models.base import Model
from seesay.questions import Answer, Question, Scores, Task, Template
from seesay.runs import store
from seesay.runs.ask import Settings, describe
from seesay.runs.figures import figures
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
    details = (
        f"people:{len({judgement.person for judgement in judgements})}",
        f"judgements:{len(judgements)}",
        f"asked:{prompt}",
        *([f"labels:{study.kind}"] if study.kind not in ("rating", "choice") else []),
        f"smoothing:{SMOOTHING:g}",
    )
    settings = Settings(seed=seed, resamples=resamples, command=command)
    manifest = describe(People(name, study, judgements), task, settings, details).model_copy(
        update={"bad_rows": list(study.bad_rows)}
    )
    answers = [
        Answer(question.id, template.name, question.options, share_scores(shares[question.id]))
        for question in task.questions
        for template in task.templates
    ]
    # People are not asked the prompt without the object, so there is nothing to calibrate with.
    run_figures = figures(manifest, replace(task, neutral={}), answers)
    run_figures += [
        _figure(manifest, task, key, value)
        for key, value in coefficients.items()
        if value.low is not None
    ]
    folder = store.folder_for(root, manifest)
    with lock_folder(folder, hint="choose another --output"):
        store.write_manifest(folder, manifest)
        store.write_task(folder / store.QUESTIONS, task)
        store.write_answers(folder / store.ANSWERS, answers, task)
        store.finish(folder, run_figures)
        return store.read_run(folder)


def share_scores(shares: Sequence[float]) -> Scores:
    """Shares of the judgements as smoothed log-probabilities."""
    total = sum(shares) + SMOOTHING * len(shares)
    logp = tuple(math.log((share + SMOOTHING) / total) for share in shares)
    if not any(shares):  # everyone typed something else: no answer is wrong, as it is for models
        logp = (-math.inf,) * len(shares)
    return Scores(logp, (1,) * len(logp), (1,) * len(logp))


def _task_shares(
    study: Study, task: Task, judgements: Sequence[Judgement]
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
        named = counts.setdefault(item.question, [0] * len(item.options))
        for label in judgement.labels:
            named[item.options.index(label)] += 1
    questions = tuple(question for question in task.questions if question.id in counts)
    if not questions:
        raise TooFewJudgementsError(f"No judgement counts yet: {_WAIT}.")
    shares = {
        question: [n / max(sum(chosen), 1) for n in chosen] for question, chosen in counts.items()
    }
    return replace(task, questions=questions), shares, _template(study)


def _pair_shares(
    study: Study, judgements: Sequence[Judgement], seed: int
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
            study.rng("halves", seed, item.id).shuffle(ratings)
            half = (len(ratings) + 1) // 2
            ratings, others = ratings[:half], ratings[half:]
            gold = sum(others) / len(others) if others else None
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


def _pair_question(study: Study, item: RatingItem, gold: float) -> Question:
    a, b = item.words
    options = (study.design.low, study.design.high)
    weights = {
        label: weight for label, weight in zip(options, (1 - gold, gold), strict=True) if weight > 0
    }
    return Question(item.id, {"a": a, "b": b}, options, weights, object=item.id)


class People(Model):
    """The annotators whose judgements count, as one model."""

    family = "people"
    scope = "choice"

    def __init__(self, name: str, study: Study, judgements: Sequence[Judgement]) -> None:
        rows = sorted(
            (judgement.person, judgement.item.id, judgement.value) for judgement in judgements
        )
        self.name = name
        self.fingerprint = json_digest([study.fingerprint, rows])


def _figure(manifest: Manifest, task: Task, metric: str, coefficient: Coefficient) -> Figure:
    return Figure(
        model=manifest.model,
        task=manifest.task,
        metric=metric,
        template=None,
        slice=None,
        **coefficient.model_dump(include={"value", "low", "high"}),
        n=len(task.questions),
        signature=f"{manifest.signature}|metric:{metric}",
    )
