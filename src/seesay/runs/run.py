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
    details = _describe_samples(runs)
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


def _describe_samples(runs: Sequence[Run]) -> list[list[str]]:
    """Return for each run what tells its sample of the questions from the others': its limit, and
    its seed; nothing where all asked the same."""
    limits = {run.manifest.limit for run in runs}
    samples = {(run.manifest.seed, run.manifest.task_fingerprint) for run in runs}
    seeds = {seed for seed, _ in samples}
    # two seeds draw the same questions where the limit takes all of them
    has_seeds = len(seeds) > 1 and len({questions for _, questions in samples}) > 1
    details = []
    for run in runs:
        words = []
        if run.manifest.limit is not None and len(limits) > 1:
            words.append(f"limit {run.manifest.limit}")
        if run.manifest.limit is not None and has_seeds:
            words.append(f"seed {run.manifest.seed}")
        details.append(words)
    return details


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
