"""Do adaptive scores and short forms hold for models that they were not made of?

    python -m benchmarks.items RUNS… --task TASK [--questions 100] [--seeds 60] [--layers MODEL,…]

Of the task those questions count that all of its runs asked. Every model is left out in turn, with
all of its runs; an item model is fitted to the others, and each run that was left out is asked
adaptively from its stored answers. Printed are how often the interval covers the score on all
questions, and the error beside that of as many objects drawn at random. Then, for short forms of
several lengths, that of `seesay tasks lite` among them: the mean error, Kendall's tau, the share of
the pairs that differ significantly which keep their order; beside these the tau that forms could
have at best, were all answers as the item model says (`Worlds`), and the tau of our forms there.
Runs with equal answers are counted once. With `--layers`, linear probes of every layer of these
models are trained and count as runs of theirs; `MODEL:bfloat16` names the type of the weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.metrics.base import FloatArray, IntArray, ScoredItems
from seesay.metrics.item_response import AdaptiveScore, fit_items, short_form
from seesay.metrics.rank_correlation import kendall
from seesay.models.encoders import load_encoder
from seesay.models.options import ModelOptions
from seesay.probes.layers import layer_logps
from seesay.probes.linear import gold_matrix, linear_task, probe_texts
from seesay.probes.vector_cache import LayerCache
from seesay.questions import Task
from seesay.runs.items import (
    differing_pairs,
    distinct_rows,
    fewest_in_order,
    objects_and_kinds,
    response_matrix,
    scores_when_left_out,
)
from seesay.runs.layers import option_matrix
from seesay.runs.run import Run
from seesay.runs.store import find_runs
from seesay.tasks import load_task

LENGTHS = (30, 50, 100, 200, 300)
PROBE_SEEDS = 3
WORLDS = 400
RULE_WORLDS = 20
"""In which forms are chosen anew for every model."""


@dataclass(frozen=True, eq=False)
class Responses:
    """Credits of runs (rows) for questions, and which model each run is of."""

    task: Task
    credits: FloatArray
    models: IntArray

    def others(self, models: Sequence[int]) -> FloatArray:
        """Return the credits of all runs but those of these models."""
        return self.credits[~np.isin(self.models, models)]


def read_responses(task: Task, runs: Sequence[Run], encoders: Sequence[str]) -> Responses:
    """Return what all runs answered to the questions that all of them asked, with the probes of
    every layer of these encoders; runs with equal answers once."""
    by_condition = {
        (run.manifest.model, run.manifest.condition.model_dump_json()): run
        for run in sorted(runs, key=lambda run: len(run.task.questions))
    }
    runs_by_condition = list(by_condition.values())
    probes = [probe_credits(task, encoder) for encoder in encoders]
    ids = [{question.id for question in run.task.questions} for run in runs_by_condition]
    shared_ids = set.intersection(*ids, *(set(by_id) for by_id in probes))
    questions = tuple(question for question in task.questions if question.id in shared_ids)
    task = replace(task, questions=questions)
    rows = list(response_matrix(task, runs_by_condition))
    names = [run.manifest.model for run in runs_by_condition]
    for encoder, by_id in zip(encoders, probes, strict=True):
        of_layers = np.stack([by_id[question.id] for question in questions], axis=1)
        rows += list(of_layers)
        names += [encoder.split(":")[0]] * len(of_layers)
    credits = np.stack(rows)
    distinct = distinct_rows(credits)
    return Responses(
        task, credits[distinct], np.unique(names, return_inverse=True)[1].reshape(-1)[distinct]
    )


def probe_credits(task: Task, encoder: str) -> dict[str, FloatArray]:
    """Return by question the credits of linear probes of every layer and seed."""
    name, _, dtype = encoder.partition(":")
    cache = LayerCache(load_encoder(name, ModelOptions(dtype=dtype or None)))
    splits = linear_task(task).splits()
    texts = [text for split in splits.values() for text in probe_texts(split)]
    cache.fill(texts)
    layers = range(cache.layers(texts))
    logps = layer_logps(cache, splits, layers, seeds=range(PROBE_SEEDS))
    test, labels = splits["test"], splits["train"].labels
    metric = metrics.get(test.metrics[0])
    gold = gold_matrix(test.questions, labels).astype(np.float64)
    offered = option_matrix(test, labels)
    credits = []
    for logp in logps.reshape(-1, *logps.shape[2:]):
        credits.append(metric.stats(ScoredItems(np.where(offered, logp, np.nan), gold))[:, 0])
    by_question = np.stack(credits, axis=1)
    return {question.id: row for question, row in zip(test.questions, by_question, strict=True)}


def describe_adaptive(responses: Responses, count: int, seeds: int) -> str:
    """Return one line about the adaptive scores of models that were left out."""
    objects, _ = objects_and_kinds(responses.task)
    per_object = len(objects) / (objects.max() + 1)
    covered, widths, errors, random_errors = [], [], [], []
    for of_model, model in zip(responses.credits, responses.models, strict=True):
        parameters, _ = fit_items(responses.others([model]))
        truth = of_model.mean()
        for seed in range(seeds):
            score = AdaptiveScore(parameters, objects, seed)
            while score.asked + 8 * per_object <= count:
                score.draw(8, of_model.__getitem__)
            interval = score.interval()
            covered.append(interval.low <= truth <= interval.high)
            widths.append(interval.high - interval.low)
            errors.append(interval.value - truth)
            order = np.random.default_rng(seed).permutation(objects.max() + 1)
            drawn = np.isin(objects, order[: score.draws])
            random_errors.append(of_model[drawn].mean() - truth)
    scores = responses.credits.mean(axis=1)
    return (
        f"{responses.task.name}: {len(scores)} runs that answer differently, of "
        f"{len(np.unique(responses.models))} models, {scores.min():.3f} to {scores.max():.3f}; "
        f"{count} of {len(objects)} questions, {seeds} seeds: covered {np.mean(covered):.1%}, "
        f"width {np.mean(widths):.3f}, error {np.std(errors):.4f}, at random "
        f"{np.std(random_errors):.4f}"
    )


def describe_form(responses: Responses, worlds: Worlds, count: int) -> str:
    """Return one line about short forms that are made without the models asked."""
    objects, kinds = objects_and_kinds(responses.task)
    credits, models = responses.credits, responses.models
    whole = credits.mean(axis=1)
    scores = scores_when_left_out(credits, models, objects, kinds, count)
    in_order = []
    # a form for which both models were left out
    forms: dict[tuple[int, ...], IntArray] = {}
    for pair in differing_pairs(credits, objects):
        left_out = tuple(np.unique(models[pair]).tolist())
        if left_out not in forms:
            forms[left_out] = short_form(responses.others(left_out), objects, kinds, count)
        first, second = credits[pair][:, forms[left_out]].mean(axis=1)
        in_order.append((first - second).round(9) * (whole[pair[0]] - whole[pair[1]]) > 0)
    ordered = f"{np.mean(in_order):.0%}" if in_order else "none"
    best = worlds.best_taus(count)
    low, high = np.quantile(best, [0.05, 0.95])
    return (
        f"{count} questions: error {np.abs(scores - whole).mean():.4f}, tau "
        f"{tau(scores, whole):.2f}, of {len(in_order)} pairs that differ {ordered} in order; in "
        f"worlds that obey the item model at best {np.mean(best):.2f} ({low:.2f} to {high:.2f}), "
        f"by our rule {np.mean(worlds.rule_taus(count)):.2f}"
    )


class Worlds:
    """Made-up answers that obey the item model, of models like the real ones.

    To the item model's probabilities an effect of every kind of object is added for each run. In
    every world runs deviate from these anew, by object, as much as the real ones do. Their scores
    vary as those of the real ones do: what is deviation in these is taken out of the spread of
    abilities.
    """

    def __init__(self, responses: Responses) -> None:
        objects, self._kinds = objects_and_kinds(responses.task)
        p = probabilities(responses.credits, self._kinds[objects])
        totals = by_object(responses.credits, objects)
        expected = by_object(p, objects)
        chance = by_object(p * (1 - p), objects)
        # as a share of the variance that answers by chance would have
        dispersion = ((totals - expected) ** 2).sum(axis=1) / chance.sum(axis=1)
        self._deviations = np.sqrt(dispersion[:, None] * chance)
        variances = np.square(self._deviations)
        unexplained = variances.sum(axis=1).mean() / totals.sum(axis=1).var(ddof=1)
        self._mean = expected.mean(axis=0)
        spread = np.sqrt(max(0.0, 1 - unexplained)) * (expected - self._mean)
        self._expected = self._mean + spread
        self._covariance = spread.T @ spread / len(spread) + np.diag(variances.mean(axis=0))
        self._models = responses.models
        self._per_object = len(objects) / len(self._mean)

    def _draw(self, count: int) -> Iterator[FloatArray]:
        """Yield worlds: what each run gets for each object."""
        rng = np.random.default_rng(0)
        for _ in range(count):
            yield self._expected + rng.normal(size=self._expected.shape) * self._deviations

    def best_taus(self, count: int) -> list[float]:
        """Return Kendall's tau in each world of the best form of so many questions.

        Whoever makes it knows all but the answers: how abilities and effects are spread, how much
        runs deviate, and by which weights each answer tells most of the score on all questions.
        Objects are chosen one by one, always that which explains most of what is left of the
        variance of that score.
        """
        unexplained = self._covariance.copy()
        objects: list[int] = []
        for _ in range(round(count / self._per_object)):
            variances = np.maximum(np.diag(unexplained), 1e-12)
            explained = unexplained.sum(axis=0) ** 2 / variances
            explained[objects] = -1
            best = int(np.argmax(explained))
            objects.append(best)
            unexplained = (
                unexplained - np.outer(unexplained[best], unexplained[best]) / variances[best]
            )
        among_objects = self._covariance[np.ix_(objects, objects)]
        to_all = self._covariance[objects].sum(axis=1)
        weights = np.linalg.lstsq(among_objects, to_all, rcond=None)[0]
        return [
            tau((answers - self._mean)[:, objects] @ weights, answers.sum(axis=1))
            for answers in self._draw(WORLDS)
        ]

    def rule_taus(self, count: int) -> list[float]:
        """Return Kendall's tau in some worlds of the forms that our rule makes there."""
        objects = np.arange(len(self._mean))
        object_count = round(count / self._per_object)
        taus = []
        for answers in self._draw(RULE_WORLDS):
            scores = scores_when_left_out(answers, self._models, objects, self._kinds, object_count)
            taus.append(tau(scores, answers.mean(axis=1)))
        return taus


def probabilities(credits: FloatArray, kinds: IntArray) -> FloatArray:
    """Return by the item model how likely each run is to be right, with an effect of each kind of
    question on each run, ~ N(0, 1)."""
    parameters, abilities = fit_items(credits)
    logits = np.multiply.outer(abilities, parameters.slopes) + parameters.intercepts
    is_of_kind = np.eye(kinds.max() + 1)[kinds]
    effects = np.zeros((len(credits), is_of_kind.shape[1]))
    for _ in range(30):
        p = 1 / (1 + np.exp(-(logits + effects @ is_of_kind.T)))
        gradient = (credits - p) @ is_of_kind - effects
        effects += np.clip(gradient / ((p * (1 - p)) @ is_of_kind + 1), -1, 1)
    return np.asarray(1 / (1 + np.exp(-(logits + effects @ is_of_kind.T))))


def by_object(credits: FloatArray, objects: IntArray) -> FloatArray:
    """Return the sums over the questions about each object."""
    return np.stack([np.bincount(objects, row) for row in credits])


def tau(scores: FloatArray, whole: FloatArray) -> float:
    """Return Kendall's tau-b; scores that were summed in another order are equal all the same."""
    # made-up totals may be below 0, which weights may not
    above_least = whole - whole.min()
    (value,) = kendall(ScoredItems(scores[None].round(9), above_least[None].round(9)))
    return float(np.nan_to_num(value))


def main() -> None:
    """Leave out each model in turn, and print a line for adaptive scores and one for each form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--task", required=True)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--layers", default="")
    options = parser.parse_args()
    runs = [run for run in find_runs(options.runs) if run.task.name == options.task]
    encoders = [name for name in options.layers.split(",") if name]
    responses = read_responses(load_task(options.task), runs, encoders)
    print(describe_adaptive(responses, options.questions, options.seeds), flush=True)
    worlds = Worlds(responses)
    objects, kinds = objects_and_kinds(responses.task)
    default = fewest_in_order(responses.credits, responses.models, objects, kinds)
    print(f"by default {default} questions", flush=True)
    for count in sorted({*LENGTHS, default or 0}):
        if 0 < count < len(responses.task.questions):
            print(describe_form(responses, worlds, count), flush=True)


if __name__ == "__main__":
    main()
