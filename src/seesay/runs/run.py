"""A run as the report and the comparison see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.questions import Answer, Task
from seesay.runs.schema import Figure, Manifest


@dataclass(frozen=True)
class Run:
    """What was asked of whom (manifest), the questions, the answers and the figures made of them."""

    folder: Path
    manifest: Manifest
    task: Task
    answers: tuple[Answer, ...]
    figures: tuple[Figure, ...]
