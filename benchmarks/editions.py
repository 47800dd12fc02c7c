"""Do editions of a task measure the same?

    python benchmarks/editions.py spread OUTPUT MODEL… [--task core-size] [--editions 10]
    python benchmarks/editions.py worlds [--task core-size] [--worlds 300]

`spread` asks models several editions (runs in OUTPUT are resumed) and prints how far the scores of
each spread beside what its intervals allow, and how many intervals hold the mean of all editions.
Then every two models, one on one edition and one on another: how far their difference is from that
on all editions, as it is and equated by anchors, and how often the equated interval holds it.

`worlds` does the latter with made-up models whose true difference is known: each knows some things
and some pairs, and two of them know much of the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from statistics import NormalDist

import numpy as np

import seesay
from seesay.digests import text_number
from seesay.models.base import Model
from seesay.questions import Answer, Prompt, Question, Scores, Task
from seesay.runs.answer_table import AnswerTable
from seesay.runs.ask import Settings, describe
from seesay.runs.compare import compare
from seesay.runs.figures import figures
from seesay.runs.run import Run

RESAMPLES = 500
PAIRS = 90
"""Pairs of editions that every two models are compared on, at most."""


class MadeUp(Model):
    """A model of which nothing but the name is needed."""

    family = "mock"

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = name

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Answer nothing: its runs are written by hand."""
        raise NotImplementedError


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    spread = commands.add_parser("spread")
    spread.add_argument("output", type=Path)
    spread.add_argument("models", nargs="+")
    spread.add_argument("--editions", type=int, default=10)
    spread.add_argument("--limit", type=int)
    worlds = commands.add_parser("worlds")
    worlds.add_argument("--worlds", type=int, default=300)
    for command in (spread, worlds):
        command.add_argument("--task", default="core-size")
    options = parser.parse_args()
    if options.command == "spread":
        print_spread(options)
    else:
        print_worlds(options.task, options.worlds)


def print_spread(options: argparse.Namespace) -> None:
    """Ask models the editions, and print how their scores spread and compare."""
    names = [f"{options.task}@edition-{number}" for number in range(options.editions)]
    runs: dict[str, list[Run]] = {}
    for model in options.models:
        results = seesay.probe(
            model, names, limit=options.limit, resamples=2_000, output=options.output
        )
        runs[model] = list(results.runs)
        figures = [run.figures[0] for run in runs[model]]
        values = np.array([figure.value for figure in figures])
        widths = np.array([figure.high - figure.low for figure in figures])
        holding = [figure.low <= values.mean() <= figure.high for figure in figures]
        print(
            f"{model}: mean {values.mean():.3f}, {values.min():.3f} to {values.max():.3f}; sd "
            f"{values.std(ddof=1):.4f}, by its intervals {widths.mean() / 3.92:.4f}; "
            f"{sum(holding)} of {len(holding)} intervals hold the mean"
        )
    errors: list[tuple[float, float, bool]] = []
    generator = np.random.default_rng(0)
    for a, b in combinations(options.models, 2):
        truth = np.mean([run.figures[0].value for run in runs[a]])
        truth -= np.mean([run.figures[0].value for run in runs[b]])
        editions = list(permutations(range(options.editions), 2))
        for place in generator.permutation(len(editions))[:PAIRS]:
            first, second = editions[place]
            errors.append(equating_error(runs[a][first], runs[b][second], float(truth)))
    if errors:
        print_errors(errors)


def equating_error(a: Run, b: Run, truth: float) -> tuple[float, float, bool]:
    """Return how far the plain and the equated difference are off, and whether the interval of the
    latter holds the truth."""
    metric = a.task.metrics[0]
    comparisons = compare([a, b], resamples=RESAMPLES, headline_only=True)
    (comparison,) = [c for c in comparisons if c.metric == metric]
    sign = 1 if comparison.signature_a == a.manifest.signature else -1
    plain = a.figures[0].value - b.figures[0].value - truth
    equated = sign * comparison.difference - truth
    holds = comparison.low <= sign * truth <= comparison.high
    return plain, equated, holds


def print_errors(errors: list[tuple[float, float, bool]]) -> None:
    """Print the mean errors, and the coverage."""
    plain, equated, holds = (np.array(column) for column in zip(*errors, strict=True))
    print(
        f"{len(errors)} comparisons of two models on two editions: error of the plain difference "
        f"{np.sqrt((plain**2).mean()):.4f}, equated {np.sqrt((equated**2).mean()):.4f}, bias "
        f"{equated.mean():+.4f}; the interval holds the truth in {holds.mean():.1%}"
    )


def print_worlds(name: str, count: int) -> None:
    """Compare two made-up models on two editions in each of many worlds."""
    editions = [seesay.load_task(f"{name}@world-{number}") for number in range(12)]
    things = sorted({thing for task in editions for q in task.questions for thing in q.things})
    errors: list[tuple[float, float, bool]] = []
    for seed in range(count):
        generator = np.random.default_rng(seed)
        first, second = generator.choice(len(editions), 2, replace=False)
        shared = dict(zip(things, generator.normal(0, 0.7, len(things)), strict=True))
        skills = generator.normal(0.8, 0.3, 2)
        truths = []
        runs = []
        for side, number in enumerate((first, second)):
            offsets = dict(zip(things, generator.normal(0, 0.4, len(things)), strict=True))
            abilities = {thing: shared[thing] + offsets[thing] for thing in things}
            chances = [
                chance(question, abilities, skills[side], seed)
                for task in editions
                for question in task.questions
            ]
            truths.append(np.mean(chances))
            runs.append(
                made_up_run(editions[number], abilities, skills[side], seed, f"model {side}")
            )
        errors.append(equating_error(runs[0], runs[1], float(truths[0] - truths[1])))
    print_errors(errors)


def chance(question: Question, known: dict[str, float], skill: float, seed: int) -> float:
    """Return the chance of a right answer: by the skill, both things, and what all models find hard
    in this pair."""
    share = (text_number(f"{seed} {question.object}", 4) + 0.5) / 2**32
    pair = NormalDist().inv_cdf(share)
    logit = skill + sum(known[thing] for thing in question.things) + pair
    return float(1 / (1 + np.exp(-logit)))


def made_up_run(task: Task, known: dict[str, float], skill: float, seed: int, name: str) -> Run:
    """Return a run whose answers are right by chance, the gold option's score being the first."""
    generator = np.random.default_rng([seed, len(name), *name.encode()])
    questions = tuple(
        Question(q.id, q.fields, ("right", "wrong"), {"right": 1.0}, q.object)
        for q in task.questions
    )
    plain = Task(task.name, "1", "", task.templates[:1], questions, ("accuracy",))
    answers = []
    for question in questions:
        is_right = generator.random() < chance(question, known, skill, seed)
        logps = (-1.0, -2.0) if is_right else (-2.0, -1.0)
        answers.append(
            Answer(
                question.id,
                plain.templates[0].name,
                question.options,
                Scores(logps, (1, 1), (1, 1)),
            )
        )
    table = AnswerTable.of(answers)
    manifest = describe(MadeUp(name), plain, Settings(seed=seed, resamples=100))
    own_figures = tuple(figures(manifest, plain, table))
    return Run(Path(f"{name} {task.name}"), manifest, plain, table, own_figures)


if __name__ == "__main__":
    main()
