"""What the answers of many models say about each question: an item-response model of a task.

It is stored by the task's name in the data folder, with the runs that it was made of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from seesay import metrics
from seesay.defaults import LEVEL
from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import damage_as_user_error, write_text
from seesay.folders import data_folder
from seesay.grouping import group_by
from seesay.metrics.base import FloatArray, IntArray, ScoredItems
from seesay.metrics.item_response import ItemParameters, fit_items, short_form
from seesay.metrics.rank_correlation import kendall
from seesay.quantities import quantity
from seesay.questions import Question, Task
from seesay.runs.chosen import accepted_labels, explain_answers, is_relaxed
from seesay.runs.compare import same_question
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.run import Run, run_labels
from seesay.runs.store import slug

FEWEST_MODELS = 8
"""With fewer models nothing is known about what tells them apart."""
FEWEST_ANSWERS = 5
"""A question that fewer models answered has no parameters of its own."""
CLOSE_ORDER = 0.9
"""Kendall's tau from which a short form keeps the order of models."""
LENGTHS = 20
"""Short forms of so many parts of a task are tried, each longer by one part."""


class Item(Document):
    """One question, as models answered it."""

    question: str
    """The question's id."""

    object: str
    """What it is about."""

    gold: list[str]
    """The labels that count as right."""

    models: int
    """How many models answered it."""

    credit: float
    """Their mean credit."""

    discrimination: float
    """How steeply credit rises with ability; below 0, better models are more often wrong."""

    intercept: float
    """How easy it is for a model of ability 0, in log-odds."""

    rival: str
    """The label that is not gold and that the better half of the models prefers most, measured by
    how often they prefer it elsewhere."""

    rival_share: float
    """How often these models prefer it, over models and templates."""

    rival_usual: float
    """How often they prefer it in the other questions that offer it and in which it is wrong."""

    people: float | None
    """The share of people's answers that are not the most frequent one; null where gold is no
    people's votes."""


class Rival(NamedTuple):
    """A wrong label of a question, and how often models choose it."""

    label: str
    share: float
    usual: float

    @property
    def excess(self) -> float:
        """How much more often than elsewhere."""
        return self.share - self.usual


class ItemModel(Document):
    """Parameters of all questions of a task, and what they rest on."""

    format: int = 1
    """Version of the format."""

    task: str
    """The task's name."""

    task_fingerprint: str
    """Digest of every question, template and option."""

    metric: str
    """The headline metric, whose credits were fitted."""

    runs: list[str]
    """Signatures of the runs whose answers were fitted."""

    mean: float
    """Mean ability of the models."""

    sd: float
    """Standard deviation of their abilities."""

    items: list[Item]
    """The questions; those whose gold is most likely wrong first."""

    def parameters(self, questions: Sequence[Question]) -> ItemParameters:
        """Return the parameters of these questions, in their order."""
        by_question = {item.question: item for item in self.items}
        unknown = [question.id for question in questions if question.id not in by_question]
        if unknown:
            raise UserError(
                f"The item model of '{self.task}' lacks {len(unknown):,} of {len(questions):,} "
                f"questions, the first is {unknown[0]}: make it anew with `seesay tasks items`."
            )
        items = [by_question[question.id] for question in questions]
        return ItemParameters(
            np.array([item.discrimination for item in items]),
            np.array([item.intercept for item in items]),
            self.mean,
            self.sd,
        )


class ShortForm(NamedTuple):
    """A part of a task that stands for the whole, and how well it does so for models that were not
    known when it was chosen."""

    task: Task
    models: int
    """How many models were asked the whole task; those with equal answers count once. In two
    conditions a model is one, which is left out with both."""
    lowest: float
    """The lowest score of a model on the whole task."""
    highest: float
    """The highest one."""
    mean_error: float
    """How far the figure of a model is off, which had no part in the choice."""
    kendall: float
    """Kendall's tau of these figures with those of the whole task."""
    differing: int
    """Pairs of models that differ significantly on the whole task."""
    kendall_of_differing: float | None
    """Of these pairs, the share that keep their order, asked one form that neither had part in,
    less the share that turn it round; None where no pair differs."""
    in_order: float | None
    """The share that keep their order; None where no pair differs."""
    enough: int | None
    """The fewest questions from which on every length that was tried keeps the order of all models,
    Kendall's tau being 0.9 or more; None where only the whole task does."""


def items_file(task: str) -> Path:
    """Return where the item model of a task is stored."""
    return data_folder() / "items" / f"{slug(task)}.json"


def write_items(model: ItemModel) -> str:
    """Store an item model for all folders of runs, and return where, what it rests on and what uses
    it; one of other runs that it replaces is named."""
    path = items_file(model.task)
    sentence = (
        f"The item model of '{model.task}' ({quantity(len(model.items), 'question')}, "
        f"{quantity(len(model.runs), 'run')}) is kept in {path}: `seesay probe --task "
        f"{model.task} --adaptive` uses it, wherever its runs are."
    )
    if path.is_file():
        try:
            before = set(read_items(model.task).runs)
        except UserError:
            sentence += " It replaces one that could not be read."
        else:
            if before != set(model.runs):
                sentence += (
                    f" It replaces one of {quantity(len(before), 'run')}, of which "
                    f"{len(before & set(model.runs)):,} are the same."
                )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, model.model_dump_json(indent=2))
    return sentence


def read_items(task: str) -> ItemModel:
    """Read the item model that is stored for a task."""
    path = items_file(task)
    if not path.is_file():
        raise UserError(
            f"'{task}' has no item model: `seesay tasks items {task} RUNS` makes one of the "
            f"answers of {FEWEST_MODELS} models or more."
        )
    with damage_as_user_error(f"The item model {path}", "make it anew with `seesay tasks items`"):
        return ItemModel.model_validate_json(path.read_bytes())


def fit_item_model(task: Task, runs: Sequence[Run]) -> ItemModel:
    """Return the item model of a task, from runs that asked it."""
    members = _of_task(task, runs)
    credits = response_matrix(task, members)
    parameters, abilities = fit_items(credits)
    # the better half, by ability: what these say against gold is worth a look
    better = [run for run, a in zip(members, abilities, strict=True) if a >= np.median(abilities)]
    rivals = _rivals(task, better)
    relaxed = is_relaxed(task)
    items = []
    for number, question in enumerate(task.questions):
        of_item = credits[:, number]
        rival = rivals[question.id]
        shares = sorted(question.gold_shares.values())
        items.append(
            Item(
                question=question.id,
                object=question.object,
                gold=accepted_labels(question, relaxed=relaxed),
                models=int((~np.isnan(of_item)).sum()),
                credit=float(np.nanmean(of_item)),
                discrimination=float(parameters.slopes[number]),
                intercept=float(parameters.intercepts[number]),
                rival=rival.label,
                rival_share=rival.share,
                rival_usual=rival.usual,
                # several answers that are equally right are no votes
                people=1 - shares[-1] if len(shares) > 1 and not relaxed else None,
            )
        )
    items.sort(key=lambda item: (item.rival_usual - item.rival_share, item.discrimination))
    return ItemModel(
        task=task.name,
        task_fingerprint=task.fingerprint,
        metric=task.metrics[0],
        runs=[run.manifest.signature for run in members],
        mean=parameters.mean,
        sd=parameters.sd,
        items=items,
    )


def _of_task(task: Task, runs: Sequence[Run]) -> list[Run]:
    """Return the runs of this task, one for each model and condition; too few are refused."""
    if task.nested_by:
        raise UserError(
            f"'{task.name}' has parts that are never mixed ({task.nested_by}), and no item model."
        )
    by_model = {
        (run.manifest.model_fingerprint, run.manifest.condition.model_dump_json()): run
        for run in sorted(runs, key=lambda run: len(run.task.questions))
        if run.manifest.task == task.name and run.task.metrics[0] == task.metrics[0]
    }
    if len(by_model) < FEWEST_MODELS:
        raise UserError(
            f"An item model of '{task.name}' takes the answers of {FEWEST_MODELS} models or more, "
            f"and there are {len(by_model)}: ask {FEWEST_MODELS - len(by_model)} more."
        )
    return list(by_model.values())


def response_matrix(task: Task, runs: Sequence[Run]) -> FloatArray:
    """Return the credit of each run for each question over its templates, NaN where it was not
    asked; questions that too few answered are refused."""
    metric = metrics.get(task.metrics[0])
    if not metric.is_mean or metric.signed:
        raise UserError(f"{metric.name} is no mean of credits: '{task.name}' has no item model.")
    numbers = {question.id: number for number, question in enumerate(task.questions)}
    credits = np.full((len(runs), len(task.questions)), np.nan)
    for row, run in zip(credits, runs, strict=True):
        items = items_by_template(run.task, run.answers, run.manifest.condition.length)
        stats = statistics([metric], items)[metric.name]
        values = metric.value(stats.sum(axis=0))
        for question, value in zip(run.task.questions, values, strict=True):
            number = numbers.get(question.id)
            if number is not None and same_question(question, task.questions[number]):
                row[number] = value
    counts = (~np.isnan(credits)).sum(axis=0)
    rare = np.flatnonzero(counts < FEWEST_ANSWERS)
    if len(rare):
        raise UserError(
            f"{len(rare):,} of {len(task.questions):,} questions of '{task.name}' were answered by "
            f"fewer than {FEWEST_ANSWERS} models ({int((counts == 0).sum()):,} by none), the first "
            f"is {task.questions[rare[0]].id}: ask more models all of it, without --limit."
        )
    return credits


def complete_responses(task: Task, runs: Sequence[Run]) -> tuple[FloatArray, IntArray]:
    """Return the credits of the runs of a task, and the number of the model that each is of; a run
    that was not asked all of it is refused.

    Runs with equal credits count once: who is left out would be known from its double.
    """
    members = _of_task(task, runs)
    credits = response_matrix(task, members)
    is_partial = np.isnan(credits).any(axis=1)
    if is_partial.any():
        partial = run_labels(members)[int(is_partial.argmax())]
        raise UserError(
            "The error of a short form is known only from models that were asked all of "
            f"'{task.name}': leave out {partial}, or ask it plainly, without --limit."
        )
    rows = distinct_rows(credits)
    fingerprints = [members[row].manifest.model_fingerprint for row in rows]
    names, models = np.unique(fingerprints, return_inverse=True)
    if len(names) < FEWEST_MODELS:
        raise UserError(
            f"A short form of '{task.name}' takes {FEWEST_MODELS} models or more that answer "
            f"differently, and there are {len(names)}: ask {FEWEST_MODELS - len(names)} more."
        )
    return credits[rows], models.reshape(-1)


def distinct_rows(credits: FloatArray) -> IntArray:
    """Return the numbers of the rows that equal no earlier one."""
    # what does not count in both is equal, too
    keys = np.nan_to_num(credits, nan=-1.0).round(9)
    _, first = np.unique(keys, axis=0, return_index=True)
    return np.sort(first)


def _rivals(task: Task, runs: Sequence[Run]) -> dict[str, Rival]:
    """Return for each question the wrong label that these models choose most above its usual share.

    A label that they lean to, whatever is asked, says nothing about one question.
    """
    choices: dict[str, Counter[str]] = {question.id: Counter() for question in task.questions}
    for run in runs:
        explained = explain_answers(run.task, run.answers, run.manifest.condition.length)
        for answer, row in zip(run.answers, explained, strict=True):
            if answer.question in choices:
                choices[answer.question][row.chosen] += 1
    relaxed = is_relaxed(task)
    wrong_labels = {}
    answers, times_chosen = Counter[str](), Counter[str]()
    for question in task.questions:
        accepted = accepted_labels(question, relaxed=relaxed)
        labels = sorted(set(question.options) - set(accepted))
        wrong_labels[question.id] = labels
        counts = choices[question.id]
        answers.update(dict.fromkeys(labels, counts.total()))
        times_chosen.update({label: counts[label] for label in labels})
    rivals = {}
    for id_, labels in wrong_labels.items():
        counts = choices[id_]
        total = counts.total()
        shares = [
            Rival(
                label,
                share=counts[label] / max(1, total),
                # where other questions offer it and it is wrong
                usual=(times_chosen[label] - counts[label]) / max(1, answers[label] - total),
            )
            for label in labels
        ]
        rivals[id_] = max(shares, key=lambda rival: rival.excess, default=Rival("", 0.0, 0.0))
    return rivals


def make_short_form(task: Task, runs: Sequence[Run], count: int | None = None) -> ShortForm:
    """Return a fixed part of the task, whole objects, whose plain figure stands for that of the
    whole: so many questions, or the fewest that keep the order of the models.

    The error and Kendall's tau are those for models that were left out when the questions were
    chosen, one at a time. Models that differ significantly are compared on a form for which both
    were left out.
    """
    if count is not None and not 1 <= count < len(task.questions):
        raise UserError(
            f"A short form of {count:,} of the {len(task.questions):,} questions of '{task.name}' "
            "is none: give a smaller number."
        )
    credits, models = complete_responses(task, runs)
    model_count = len(np.unique(models))
    objects, kinds = objects_and_kinds(task)
    enough = fewest_in_order(credits, models, objects, kinds)
    count = enough if count is None else count
    if count is None:
        raise UserError(
            f"No short form of '{task.name}' keeps the order of the {model_count} models "
            f"(Kendall's tau {CLOSE_ORDER:g}), only the whole task does: ask all of it, or give a "
            "number of questions with -n."
        )
    whole = credits.mean(axis=1)
    scores = scores_when_left_out(credits, models, objects, kinds, count)
    mean_error = float(np.abs(scores - whole).mean())
    differing = differing_pairs(credits, objects)
    agreements = []
    for pair in differing:
        others = credits[~np.isin(models, models[pair])]
        rows = short_form(others, objects, kinds, count)
        first, second = credits[pair][:, rows].mean(axis=1)
        # rounded, since equal scores that were summed in another order are ties all the same
        agreements.append(np.sign((first - second).round(9) * (whole[pair[0]] - whole[pair[1]])))
    rows = short_form(credits, objects, kinds, count)
    note = (
        f"{len(rows):,} of {len(task.questions):,} questions, chosen by the answers of "
        f"{model_count} models; for one that was left out the figure is off by {mean_error:.3f} "
        "on average"
    )
    provenance = replace(task.provenance, notes=(*task.provenance.notes, note), as_published=False)
    part = replace(
        task,
        name=f"{task.name}-lite",
        questions=tuple(task.questions[row] for row in rows),
        published=(),
        provenance=provenance,
    )
    return ShortForm(
        task=part,
        models=model_count,
        lowest=float(whole.min()),
        highest=float(whole.max()),
        mean_error=mean_error,
        kendall=_tau(scores, whole),
        differing=len(differing),
        kendall_of_differing=float(np.mean(agreements)) if agreements else None,
        in_order=float(np.mean(np.array(agreements) > 0)) if agreements else None,
        enough=enough,
    )


def objects_and_kinds(task: Task) -> tuple[IntArray, IntArray]:
    """Return the number of each question's object, and that of each object's right answers."""
    names = [question.object for question in task.questions]
    objects = np.unique(names, return_inverse=True)[1].reshape(-1)
    answers = group_by(task.questions, lambda question: question.object)
    by_object = [
        "\n".join(sorted(question.best_label for question in answers[name]))
        for name in sorted(answers)
    ]
    kinds = np.unique(by_object, return_inverse=True)[1].reshape(-1)
    return objects, kinds


def fewest_in_order(
    credits: FloatArray, models: IntArray, objects: IntArray, kinds: IntArray
) -> int | None:
    """Return the fewest questions from which on every length keeps the order of models that were
    left out; None where no form that is shorter than the whole does.

    Tau rises and falls with length: a short form that reaches the threshold while longer ones do
    not has been lucky.
    """
    total = credits.shape[1]
    whole = credits.mean(axis=1)
    fewest = None
    # from the longest down
    for length in sorted({total * part // LENGTHS for part in range(1, LENGTHS)} - {0})[::-1]:
        scores = scores_when_left_out(credits, models, objects, kinds, length)
        if _tau(scores, whole) < CLOSE_ORDER:
            break
        fewest = length
    return fewest


def scores_when_left_out(
    credits: FloatArray, models: IntArray, objects: IntArray, kinds: IntArray, count: int
) -> FloatArray:
    """Return each run's score on the short form that is made without the runs of its model."""
    scores = np.empty(len(credits))
    for model in np.unique(models):
        is_out = models == model
        rows = short_form(credits[~is_out], objects, kinds, count)
        scores[is_out] = credits[np.ix_(is_out, rows)].mean(axis=1)
    return scores


def _tau(scores: FloatArray, whole: FloatArray) -> float:
    """Return Kendall's tau of the scores on a form and on the whole task."""
    # equal scores that were summed in another order are ties all the same
    (tau,) = kendall(ScoredItems(scores[None].round(9), whole[None].round(9)))
    # of models that are all equal no order is kept
    return float(np.nan_to_num(tau))


def differing_pairs(credits: FloatArray, objects: IntArray) -> list[list[int]]:
    """Return the pairs of models whose scores differ significantly (p < 0.05 each): were they
    equal, the sign of an object's difference would be chance, so that the sum has a variance of its
    squares."""
    totals = np.stack([np.bincount(objects, row) for row in credits])
    threshold = NormalDist().inv_cdf((1 + LEVEL) / 2)
    pairs = []
    for a, b in combinations(range(len(credits)), 2):
        gaps = totals[a] - totals[b]
        if abs(gaps.sum()) > threshold * math.sqrt(float((gaps**2).sum())):
            pairs.append([a, b])
    return pairs
