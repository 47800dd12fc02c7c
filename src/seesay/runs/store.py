"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each
written atomically."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

from seesay.digests import file_digest, json_digest, text_digest
from seesay.errors import NewerVersionError, UserError
from seesay.files import (
    damage_as_user_error,
    refuse_newer,
    write_json,
    write_json_lines,
    write_text,
)
from seesay.processors import without_garbage_collection
from seesay.quantities import quantity
from seesay.questions import Question, Task
from seesay.runs.answer_file import read_answers as read_answers
from seesay.runs.answer_file import write_answers as write_answers
from seesay.runs.answer_table import AnswerTable
from seesay.runs.figures import figures, without_unasked_neutral
from seesay.runs.records import FORMAT, Figure, Manifest
from seesay.runs.run import Run
from seesay.shards import SHARD

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
QUESTIONS = "questions.json"
REPLIES = "replies.jsonl"
ANSWERS = "answers.parquet"
FIGURES = "metrics.json"
GATHERING = "gathering.json"
"""Marks a folder of answers from which runs are made: it is no run itself."""

_FIGURES = TypeAdapter(list[Figure])
_TASK = TypeAdapter(Task)
_QUESTION_FIELDS = [field.name for field in fields(Question)]
_SHAPING = {
    "seesay",
    "model",
    "family",
    "model_fingerprint",
    "condition",
    "task",
    "task_version",
    "task_fingerprint",
    "templates",
    "questions",
    "limit",
    "seed",
    "resamples",
    "signature",
}
_PARSED: WeakValueDictionary[str, Task] = WeakValueDictionary()
"""Tasks that are in use, by the digest of their file."""
_HASHED = re.compile(r"-[0-9a-f]{8}")


def folder_for(root: Path, manifest: Manifest) -> Path:
    """Return where a run lives.

    Everything that shapes an answer or a figure is in the key: a change is another run.
    """
    shaping = manifest.model_dump(include=_SHAPING)
    key = json_digest(shaping, 5, sort_keys=True)
    return root / slug(manifest.model) / slug(manifest.task) / key


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Write the manifest to the run's folder, and return it."""
    write_text(folder / MANIFEST, manifest.model_dump_json(indent=2))
    return manifest


def stored_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Return the manifest of a run that was started before; else write this one, and return it.

    A damaged one is written again: the folder's name is a digest of all that it says about the
    answers.
    """
    if (folder / MANIFEST).is_file():
        try:
            with damaged_run(folder):
                return read_manifest(folder / MANIFEST)
        except NewerVersionError:
            raise
        except UserError:
            log.warning("%s is damaged, and is written again.", folder / MANIFEST)
    return write_manifest(folder, manifest)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; one of a newer version is refused."""
    document = json.loads(path.read_bytes())
    refuse_newer(document, FORMAT, f"The run in {path.parent}")
    return Manifest.model_validate(document)


def change_manifest(folder: Path, **changes: object) -> None:
    """Write the manifest of a run's folder with other values in these fields."""
    manifest = read_manifest(folder / MANIFEST)
    write_manifest(folder, manifest.model_copy(update=changes))


def mark_gathering(folder: Path) -> None:
    """Say that answers are gathered in the folder for runs that stand elsewhere."""
    write_json(folder / GATHERING, {"format": FORMAT})


def is_intact(folder: Path, name: str, manifest: Manifest) -> bool:
    """Whether a file is there, and as the run left it.

    How it was left is not known before the run has ended.
    """
    path = folder / name
    if not path.is_file():
        return False
    digest = manifest.digests.get(name)
    return digest is None or file_digest(path) == digest


def write_replies(path: Path, answers: AnswerTable) -> None:
    """Write the free answers, if there are any.

    Each stands with the option that it names, or the reason why it names none.
    """
    rows = [
        {
            "question": question,
            "template": template,
            "reply": text,
            "outcome": outcome,
            "named": named,
        }
        for (question, template), replies in zip(answers.keys, answers.replies, strict=True)
        for text, outcome, named in replies
    ]
    if rows:
        write_json_lines(path, rows)


def write_task(path: Path, task: Task) -> None:
    """Write the task beside its answers, so that a report needs nothing else.

    Each list of options stands once.
    """
    document = _TASK.dump_python(
        task,
        mode="json",
        exclude={"training": {"load_splits"}, "questions": {"__all__": {"options"}}},
    )
    # property norms have 614 options in each of 6,000 questions
    numbers: dict[tuple[str, ...], int] = {}
    for row, question in enumerate(task.questions):
        stored = document["questions"][row]
        stored["options"] = numbers.setdefault(
            question.options,
            len(numbers),
        )
        document["questions"][row] = {name: stored[name] for name in _QUESTION_FIELDS}
    document["option_lists"] = list(numbers)
    write_text(path, json.dumps(document))


def read_task(path: Path) -> Task:
    """Read the task as it was asked; runs that were asked the same share it."""
    content = path.read_bytes()
    digest = text_digest(content)
    task = _PARSED.get(digest)
    if task is None:
        task = _parse_task(content)
        _PARSED[digest] = task
    return task


def _parse_task(content: bytes) -> Task:
    document = json.loads(content)
    option_lists = document.pop("option_lists")
    for question in document["questions"]:
        question["options"] = option_lists[question["options"]]
    parsed = _TASK.validate_python(document, strict=False)
    # validation makes a tuple for each question: equal ones become one again
    options: dict[tuple[str, ...], tuple[str, ...]] = {}
    questions = [
        replace(question, options=options.setdefault(question.options, question.options))
        for question in parsed.questions
    ]
    return replace(parsed, questions=tuple(questions))


def finish(folder: Path, run_figures: Sequence[Figure]) -> None:
    """Write the figures, and before them digests of the finished files into the manifest.

    So an edit is noticed.
    """
    content = _FIGURES.dump_json(list(run_figures), indent=2)
    digests = {name: file_digest(folder / name) for name in (QUESTIONS, ANSWERS)}
    digests[FIGURES] = text_digest(content)
    change_manifest(folder, digests=digests)
    # the figures come last: where they are, the run is finished
    write_text(folder / FIGURES, content.decode())


def read_run(folder: Path, answers: AnswerTable | None = None, task: Task | None = None) -> Run:
    """Read a finished run, but not its answers and its task where they are in memory already.

    Figures that were edited or damaged since are computed again from the answers.
    """
    with damaged_run(folder):
        manifest = read_manifest(folder / MANIFEST)
        for name in (QUESTIONS, ANSWERS):
            if (folder / name).is_file() and not is_intact(folder, name, manifest):
                raise ValueError(f"{name} was changed after the run")
        if task is None:
            task = read_task(folder / QUESTIONS)
        if answers is None:
            answers = read_answers(folder / ANSWERS)
        if not _are_answers_to(task, answers):
            raise ValueError("its answers do not match its questions")
        run_figures = _read_figures(folder, manifest, task, answers)
        return Run(folder, manifest, task, answers, run_figures)


def _are_answers_to(task: Task, answers: AnswerTable) -> bool:
    """Whether there is one answer per question and template, in the task's order."""
    questions = [question for question in task.questions for _ in task.templates]
    templates = list(task.templates) * len(task.questions)
    return (
        answers.questions == [question.id for question in questions]
        and answers.templates == [template.name for template in templates]
        and answers.options == [question.options for question in questions]
    )


def _read_figures(
    folder: Path,
    manifest: Manifest,
    task: Task,
    answers: AnswerTable,
) -> tuple[Figure, ...]:
    content = (folder / FIGURES).read_bytes()
    if not is_intact(folder, FIGURES, manifest):
        log.warning(
            "%s was changed after the run: its figures are computed again.",
            folder / FIGURES,
        )
        return tuple(figures(manifest, without_unasked_neutral(task, answers), answers))
    return tuple(_FIGURES.validate_json(content))


@contextmanager
def damaged_run(folder: Path) -> Iterator[None]:
    """One sentence for whatever keeps a run's files from being read."""
    try:
        with damage_as_user_error(f"The run in {folder}", "delete the folder and run again"):
            yield
    except UserError as error:
        if isinstance(missing := error.__cause__, FileNotFoundError):
            name = Path(missing.filename or "a file").name
            raise UserError(
                f"{folder} is not a finished run ({name} is missing): run the same command again."
            ) from error
        raise


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Read the finished runs at or below the given folders, each once, in order.

    Others are left out with a sentence.
    """
    # a run may be below two of the folders, or be given by a link
    folders: dict[Path, Path] = {}
    for path in paths:
        for folder in _finished_below(path):
            folders.setdefault(folder.resolve(), folder)
    runs: list[Run] = []
    errors: list[UserError] = []
    with without_garbage_collection():
        for folder in folders.values():
            try:
                runs.append(read_run(folder))
            except UserError as error:  # one damaged run does not stop a report of a hundred
                errors.append(error)
    if not runs and errors:
        raise errors[0]
    if not runs:
        raise UserError("There is no folder of runs: give one that `seesay probe` wrote.")
    for reason in errors:
        log.warning("Left out: %s", reason)
    return runs


def other_runs(root: Path, known: Sequence[Run]) -> list[Run]:
    """Read the finished runs that `seesay probe` wrote to its folder earlier, beside the known
    ones; what cannot be read is left out with a sentence."""
    known_folders = {run.folder.resolve() for run in known}
    runs: list[Run] = []
    with without_garbage_collection():
        # model, task, key: a folder of runs that lies in this one is another folder's
        for figures_file in sorted(root.glob(f"*/*/*/{FIGURES}")):
            folder = figures_file.parent
            if folder.resolve() in known_folders or _lacks_manifest(folder):
                continue
            try:
                runs.append(read_run(folder))
            except UserError as error:
                log.warning("Left out of the page: %s", error)
    return runs


def _lacks_manifest(folder: Path) -> bool:
    """Return whether a folder with figures does not say whose they are; a run's is reported."""
    if (folder / MANIFEST).is_file():
        return False
    # other programs call a file so, too
    if (folder / ANSWERS).is_file():
        log.warning("Left out: the run in %s has no %s.", folder, MANIFEST)
    return True


def _finished_below(path: Path) -> list[Path]:
    """Return the folders of finished runs at or below a folder; log how many are not finished."""
    folders = sorted(
        manifest.parent
        for manifest in path.rglob(MANIFEST)
        # a share of a run has no figures of its own: `seesay merge` makes a run of all of them
        if not any((manifest.parent / name).is_file() for name in (SHARD, GATHERING))
    )
    for figures_file in sorted(path.rglob(FIGURES)):
        _lacks_manifest(figures_file.parent)
    # a run that is named itself is read, finished or not: reading it says what is missing
    if path in folders:
        return [path]
    finished = [folder for folder in folders if (folder / FIGURES).is_file()]
    # a run that was refused has no answers, and nothing is left out with it
    unfinished = 0
    for folder in set(folders) - set(finished):
        unfinished += any((folder / name).is_file() for name in (JOURNAL, ANSWERS))
    if unfinished:
        unfinished_runs = quantity(unfinished, "unfinished run")
        log.warning("Left out of '%s': %s.", path, unfinished_runs)
    if not finished:
        raise UserError(
            f"There is no finished run in '{path}': give a folder that `seesay probe` wrote."
        )
    return finished


def slug(name: str) -> str:
    """Return a name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    # a name that ends like a digest gets one of its own, lest it be taken for another's
    looks_digested = _HASHED.fullmatch(safe[-9:])
    if safe == name and len(safe) <= 80 and not looks_digested:
        return safe
    return f"{safe[:80]}-{text_digest(name, 4)}"
