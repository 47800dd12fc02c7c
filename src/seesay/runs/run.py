"""A run as the report and the comparison see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.grouping import group_by
from seesay.questions import Answer, Task
from seesay.runs.records import Figure, Manifest


@dataclass(frozen=True)
class Run:
    """Which model was asked what and how (manifest), the questions, the answers and their
    figures."""

    folder: Path
    manifest: Manifest
    task: Task
    answers: tuple[Answer, ...]
    figures: tuple[Figure, ...]


def run_labels(runs: Sequence[Run]) -> list[str]:
    """Model names, followed in words by what tells two runs of one model apart ("limit 20", "scope
    option").

    Where only some runs asked all the questions, the others say so, whichever model they are of.
    """
    several_limits = len({run.manifest.limit for run in runs}) > 1
    details: list[list[str]] = [
        [f"limit {run.manifest.limit}"] if several_limits and run.manifest.limit is not None else []
        for run in runs
    ]
    for rows in group_by(range(len(runs)), lambda row: runs[row].manifest.model).values():
        for describe in _DETAILS:
            if len({tuple(details[row]) for row in rows}) == len(rows):
                break
            words = [describe(runs[row]) for row in rows]
            if len(set(words)) > 1:
                for row, text in zip(rows, words, strict=True):
                    details[row].append(text)
    return [
        f"{run.manifest.model} · {', '.join(words)}" if words else run.manifest.model
        for run, words in zip(runs, details, strict=True)
    ]


_DETAILS: tuple[Callable[[Run], str], ...] = (
    lambda run: f"scope {run.manifest.scope}",
    lambda run: f"length {run.manifest.length}",
    lambda run: run.manifest.family,
    lambda run: f"{run.manifest.questions} questions",
    lambda run: f"templates {', '.join(run.manifest.templates)}",
    lambda run: f"seed {run.manifest.seed}",
    lambda run: f"{run.manifest.resamples} resamples",
    lambda run: f"weights {run.manifest.model_fingerprint[:12]}",
    lambda run: f"task {run.manifest.task_version}@{run.manifest.task_fingerprint[:12]}",
    lambda run: f"seesay {run.manifest.seesay}",
    lambda run: f"started {run.manifest.created}",
    lambda run: f"in {run.folder}",
)
"""What may tell two runs of one model apart, the plainest first."""
