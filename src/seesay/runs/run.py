"""A run as the report and the comparison see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.questions import Answer, Task
from seesay.runs.records import Figure, Manifest


@dataclass(frozen=True)
class Run:
    """Which model was asked what and how (manifest), the questions, the answers and their figures."""

    folder: Path
    manifest: Manifest
    task: Task
    answers: tuple[Answer, ...]
    figures: tuple[Figure, ...]


def run_labels(runs: Sequence[Run]) -> list[str]:
    """Model names; a name that occurs more than once is followed by what tells its runs apart."""
    rules: Iterable[Callable[[Run], str]] = (
        lambda run: run.manifest.model,
        lambda run: f"{run.manifest.model} · {run.manifest.length}",
        lambda run: f"{run.manifest.model} · {run.manifest.scope}, {run.manifest.length}",
    )
    for rule in rules:
        names = [rule(run) for run in runs]
        if len(set(names)) == len(names):
            return names
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            names[index] = f"{name} ({seen[name]})"
    return names
