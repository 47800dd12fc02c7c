"""Tasks as files of others: a seesay task file, an lm-eval task, an inspect_ai task, a data set for
`datasets`.

What a target cannot express is refused in one sentence; nothing is left out in silence.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from seesay.errors import UserError
from seesay.files import atomic_folder
from seesay.questions import Question, Task
from seesay.runs.chosen import accepted_labels

TARGETS = ("seesay", "lm-eval", "inspect", "datasets")
PICTURES = "pictures"
ACCURACIES = ("accuracy", "relaxed_accuracy", "majority_accuracy")


def export(task: Task, folder: Path, target: str) -> list[Path]:
    """Write a task into a new folder, for a target; the files."""
    if target not in TARGETS:
        raise UserError(f"--to is '{target}': choose {', '.join(TARGETS)}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"'{folder}' exists: give the name of a new folder.")
    write: Callable[[Task, Path], None] = import_module(
        f"{__name__}.{target.replace('-', '_')}_target"
    ).write
    with atomic_folder(folder) as unfinished:
        write(task, unfinished)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def right_labels(task: Task, question: Question) -> list[str]:
    """The labels that count as right under the task's accuracy: all gold ones, or the heaviest."""
    return accepted_labels(question, relaxed=accuracy_of(task) == "relaxed_accuracy")


def accuracy_of(task: Task) -> str | None:
    """The first metric of a task that judges answers right or wrong by their label."""
    return next((name for name in task.metrics if name in ACCURACIES), None)


def refuse(task: Task, target: str, *, pictures: bool = False) -> None:
    """Refuse what a target cannot express: pictures, and tasks without an accuracy."""
    if pictures and any(question.picture for question in task.questions):
        raise UserError(f"{target} cannot express '{task.name}': its questions have pictures.")
    if accuracy_of(task) is None:
        raise UserError(
            f"{target} cannot express '{task.name}': its metric is {task.metrics[0]}, not an "
            "accuracy."
        )


def split_questions(task: Task) -> dict[str, tuple[Question, ...]]:
    """The questions by split; those of `test` are the ones that are asked.

    Where probes train on some of the questions that are asked, as in the embedded battery, these
    stay in `test`.
    """
    parts = {} if task.load_splits is None else {**task.load_splits()}
    if parts.pop("test", task.questions) == task.questions:
        tested = set()
    else:
        tested = {q.id for q in task.questions}
    others = {
        name: tuple(q for q in questions if q.id not in tested) for name, questions in parts.items()
    }
    return {
        "test": task.questions,
        **{name: questions for name, questions in others.items() if questions},
    }


def copy_pictures(questions: Iterable[Question], folder: Path) -> dict[str, str]:
    """Pictures by their old path, copied under their own names where these differ; a missing one
    stays missing."""
    copied: dict[str, str] = {}
    taken: set[str] = set()
    for path in dict.fromkeys(
        question.picture for question in questions if question.picture is not None
    ):
        source = Path(path)
        name = source.name
        while name in taken:
            name = f"{len(taken)}-{name}"
        taken.add(name)
        copied[path] = f"{PICTURES}/{name}"
        if source.is_file():
            (folder / PICTURES).mkdir(exist_ok=True)
            shutil.copyfile(source, folder / PICTURES / name)
    return copied
