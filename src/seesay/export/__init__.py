"""Tasks as files for others.

They become a seesay task file, a data set for `datasets`, or tasks of lm-eval, inspect_ai,
lmms-eval and VLMEvalKit.
What a target cannot express is refused in one sentence; nothing is left out in silence.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from seesay.errors import UserError
from seesay.files import atomic_folder
from seesay.questions import Question, Task
from seesay.runs.chosen import accepted_labels

TARGETS = ("seesay", "lm-eval", "inspect", "datasets", "lmms-eval", "vlmevalkit")
PICTURES = "pictures"
ACCURACIES = ("accuracy", "relaxed_accuracy", "majority_accuracy")


def export(
    task: Task,
    folder: Path,
    target: str,
) -> list[Path]:
    """Write a task into a new folder, for a target, and return the files."""
    if target not in TARGETS:
        raise UserError(f"--to is '{target}': choose one of {', '.join(TARGETS)}.")
    # Files of an older export that are no longer written would be read with the new ones.
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"'{folder}' exists: give the name of a new folder.")
    # Imported by name: the writer of Parquet needs a library that the others do without.
    module = import_module(f"{__name__}.{target.replace('-', '_')}_target")
    with atomic_folder(folder) as unfinished:
        module.write(task, unfinished)
    return sorted(path for path in folder.rglob("*") if path.is_file())


class YamlDumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes plain values, so that every reader of YAML gets the same texts back."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Escape what is not printable: of U+0085 and its like, some readers make a line's end."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


YamlDumper.add_representer(str, _represent_text)


def yaml_text(document: dict[str, Any]) -> str:
    """Return a YAML document; it holds no comment, which a text might end."""
    text: str = yaml.dump(
        document,
        Dumper=YamlDumper,
        sort_keys=False,
        allow_unicode=True,
        width=110,
    )
    return text


def right_labels(task: Task, question: Question) -> list[str]:
    """Return the labels that count as right under the task's accuracy: all gold ones, or the
    heaviest."""
    return accepted_labels(question, relaxed=accuracy_of(task) == "relaxed_accuracy")


def accuracy_of(task: Task) -> str | None:
    """Return the first metric of a task that judges answers right or wrong by their label."""
    return next((name for name in task.metrics if name in ACCURACIES), None)


def refuse(task: Task, target: str) -> None:
    """Refuse what another harness cannot express: tasks without an accuracy."""
    if accuracy_of(task) is None:
        raise UserError(
            f"{target} cannot express '{task.name}': its metric is {task.metrics[0]}, not an "
            "accuracy."
        )


def task_parts(task: Task) -> dict[str, Task]:
    """Return the task by the values of the tag that nests its questions, else whole, under "".

    There is no figure over nested sets of questions: each is a task to other harnesses.
    """
    parts = {}
    for part in task.parts:
        if part is None:
            return {"": task}
        value = part[task.nested_by]
        questions = [
            question for question in task.questions if question.tags[task.nested_by] == value
        ]
        parts[value] = replace(task, questions=tuple(questions))
    return parts


def split_questions(task: Task) -> dict[str, tuple[Question, ...]]:
    """Return the questions by split; those of `test` are the ones that are asked.

    Where probes train on some of the questions that are asked, as in the embedded battery, these
    stay in `test`.
    """
    splits = {"test": task.questions}
    if task.training.load_splits is None:
        return splits
    parts = dict(task.training.load_splits())
    # A question in two splits would let another harness train on what it tests.
    test_ids = set()
    if parts.pop("test", task.questions) != task.questions:
        test_ids = {question.id for question in task.questions}
    for name, questions in parts.items():
        others = tuple(question for question in questions if question.id not in test_ids)
        if others:
            splits[name] = others
    return splits


def copy_pictures(questions: Iterable[Question], folder: Path) -> dict[str, str]:
    """Copy pictures into a folder, and return their new paths by the old ones.

    They keep their names where these differ; a missing picture stays missing.
    """
    new_paths: dict[str, str] = {}
    names: set[str] = set()
    for question in questions:
        if question.picture is None or question.picture in new_paths:
            continue
        source = Path(question.picture)
        name = source.name
        while name in names:
            name = f"{len(names)}-{name}"
        names.add(name)
        new_paths[question.picture] = f"{PICTURES}/{name}"
        if source.is_file():
            (folder / PICTURES).mkdir(exist_ok=True)
            shutil.copyfile(source, folder / PICTURES / name)
    return new_paths
