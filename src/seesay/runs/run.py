"""A run as the report and the comparison see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.condition import BETWEEN, label
from seesay.grouping import group_by
from seesay.questions import Task
from seesay.runs.answer_table import AnswerTable
from seesay.runs.records import Figure, Manifest


@dataclass(frozen=True)
class Run:
    """Which model was asked what and how (manifest), the questions, the answers and their
    figures."""

    folder: Path
    manifest: Manifest
    task: Task
    answers: AnswerTable
    figures: tuple[Figure, ...]

    @property
    def label(self) -> str:
        """The model's name and how it was asked; `run_labels` tells runs of one label apart."""
        return label(self.manifest.model, self.manifest.condition)


def run_labels(runs: Sequence[Run]) -> list[str]:
    """Return the runs' labels, followed in words by what tells two runs of one label apart ("limit
    20", "scope option").

    Where only some runs asked all the questions, or the published ones, the others say so,
    whichever model they are of; so do samples of different seeds.
    """
    details: list[list[str]] = [[] for _ in runs]
    limits = [run.manifest.limit for run in runs]
    if len(set(limits)) > 1:
        for words, limit in zip(details, limits, strict=True):
            if limit is not None:
                words.append(f"limit {limit}")
    seeds = [run.manifest.seed for run in runs]
    is_one_sample = len({run.manifest.task_fingerprint for run in runs}) == 1
    # samples of one size are told apart by their seeds
    if len(set(seeds)) > 1 and set(limits) != {None} and not is_one_sample:
        for words, seed, limit in zip(details, seeds, limits, strict=True):
            if limit is not None:
                words.append(f"seed {seed}")
    editions = [run.task.edition for run in runs]
    if len(set(editions)) > 1:
        for words, edition in zip(details, editions, strict=True):
            if edition:
                words.append(f"edition {edition}")
    for rows in group_by(range(len(runs)), lambda row: runs[row].label).values():
        _tell_apart([runs[row] for row in rows], [details[row] for row in rows])
    labels = []
    for run, words in zip(runs, details, strict=True):
        if words:
            labels.append(BETWEEN.join([run.label, ", ".join(words)]))
        else:
            labels.append(run.label)
    return labels


def _tell_apart(runs: Sequence[Run], details: Sequence[list[str]]) -> None:
    """Add words to the details of runs of one label until no two have the same."""
    for describe in _DETAILS:
        if len(set(map(tuple, details))) == len(runs):
            return
        texts = list(map(describe, runs))
        # what all of them share tells nothing
        if len(set(texts)) > 1:
            for words, text in zip(details, texts, strict=True):
                if text not in words:
                    words.append(text)


# how it was asked stands before what was computed from it, and times and places come last: they
# differ between any two runs
_DETAILS: tuple[Callable[[Run], str], ...] = (
    lambda run: f"by {run.manifest.condition.how}",
    lambda run: f"sampling {run.manifest.condition.sampling}",
    lambda run: f"scope {run.manifest.condition.scope}",
    lambda run: f"length {run.manifest.condition.length}",
    lambda run: run.manifest.family,
    lambda run: f"{run.manifest.questions} questions",
    lambda run: f"templates {', '.join(run.manifest.templates)}",
    lambda run: f"system {run.manifest.condition.system!r}",
    lambda run: f"seed {run.manifest.seed}",
    lambda run: f"{run.manifest.resamples} resamples",
    lambda run: f"weights {run.manifest.model_fingerprint[:12]}",
    lambda run: f"task {run.manifest.task_version}@{run.manifest.task_fingerprint[:12]}",
    lambda run: f"seesay {run.manifest.seesay}",
    lambda run: f"started {run.manifest.created}",
    lambda run: f"in {run.folder}",
)
"""What may tell two runs of one label apart, the plainest first."""
