"""Runs put in order for reading: by task, each with a name that no other run of that task bears."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seesay.questions import Task
from seesay.report.formatting import count
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Figure
from seesay.runs.run import Run, labels_of


@dataclass(frozen=True)
class Entry:
    """A run under the name shown for it; `lane` gives its colour and mark, the same throughout a report."""

    run: Run
    label: str
    lane: int

    def figure(self, metric: str, template: str | None = None, part: str | None = None) -> Figure | None:
        """The figure of a metric, for one template or all, for one slice or the whole."""
        for figure in self.run.figures:
            if (figure.metric, figure.template, figure.slice) == (metric, template, part):
                return figure
        return None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The plain metrics of the run in the task's order, then any that the task does not name."""
        present = dict.fromkeys(f.metric for f in self.run.figures if not f.metric.startswith(CALIBRATED))
        named = [metric for metric in self.run.task.metrics if metric in present]
        return (*named, *(metric for metric in present if metric not in named))


@dataclass(frozen=True)
class Group:
    """The runs that asked exactly the same questions."""

    task: Task
    title: str
    anchor: str
    entries: tuple[Entry, ...]

    @property
    def headline(self) -> str:
        return self.task.metrics[0]

    @property
    def way(self) -> str:
        """The way of asking, by its wordings' names."""
        return way_of(self.task)


def way_of(task: Task) -> str:
    """A task's way of asking, by its wordings' names: a probe's is "linear", a choice's "question"."""
    return ", ".join(template.name for template in task.templates)


def group(runs: Sequence[Run]) -> tuple[Group, ...]:
    """Runs by task, in order of first appearance.

    Runs that share a task's name but not its fingerprint (a limited run beside a full one) stand apart:
    side by side their figures would not be comparable.
    """
    tasks: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        tasks.setdefault((run.task.name, run.manifest.task_fingerprint), []).append(run)
    labels = [labels_of(members) for members in tasks.values()]
    lanes = {label: lane for lane, label in enumerate(dict.fromkeys(label for names in labels for label in names))}
    shared = Counter(name for name, _ in tasks)
    ways: dict[str, set[str]] = {}
    for members in tasks.values():
        ways.setdefault(members[0].task.name, set()).add(way_of(members[0].task))
    groups: list[Group] = []
    for index, (members, names) in enumerate(zip(tasks.values(), labels, strict=True), start=1):
        task = members[0].task
        size = f" · {count(len(task.questions), 'question')}" if shared[task.name] > 1 else ""
        asked = f" · asked as: {way_of(task)}" if len(ways[task.name]) > 1 else ""
        slug = re.sub(r"[^a-z0-9]+", "-", task.name.lower()).strip("-")[:40]
        anchor = f"task-{slug}" if slug else f"task-{index}"
        if any(other.anchor == anchor for other in groups):
            anchor = f"{anchor}-{index}"
        entries = tuple(Entry(run, name, lanes[name]) for run, name in zip(members, names, strict=True))
        groups.append(Group(task, (task.title or task.name) + asked + size, anchor, entries))
    return tuple(groups)
