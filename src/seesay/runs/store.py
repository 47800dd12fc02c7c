"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each
written atomically."""

from __future__ import annotations

import gc
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

from seesay.digests import file_digest, json_digest, text_digest
from seesay.errors import NewerVersionError, UserError
from seesay.files import damage_as_user_error, refuse_newer, write_json_lines, write_text
from seesay.questions import Answer, Task
from seesay.runs.answer_table import read_answers as read_answers
from seesay.runs.answer_table import write_answers as write_answers
from seesay.runs.figures import figures
from seesay.runs.records import FORMAT, Figure, Manifest
from seesay.runs.run import Run

log = logging.getLogger(__name__)

MANIFEST, JOURNAL, QUESTIONS, REPLIES, ANSWERS, FIGURES = (
    "manifest.json",
    "journal.jsonl",
    "questions.json",
    "replies.jsonl",
    "answers.parquet",
    "metrics.json",
)

_FIGURES = TypeAdapter(list[Figure])
_TASK = TypeAdapter(Task)
_SHAPING = {
    *(
        "seesay",
        "model",
        "family",
        "model_fingerprint",
        "task",
        "task_version",
        "task_fingerprint",
        "templates",
    ),
    *("questions", "limit", "scope", "length", "seed", "resamples", "signature"),
}
_PARSED: WeakValueDictionary[str, Task] = WeakValueDictionary()
"""Tasks that are in use, by the digest of their file."""
_HASHED = re.compile(r"-[0-9a-f]{8}")


def folder_for(root: Path, manifest: Manifest) -> Path:
    """Where a run lives. Everything that shapes an answer or a figure is in the key: a change is
    another run."""
    shaping = manifest.model_dump(include=_SHAPING)
    key = json_digest(shaping, 5, sort_keys=True)
    return root / slug(manifest.model) / slug(manifest.task) / key


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest, written to the run's folder."""
    write_text(folder / MANIFEST, manifest.model_dump_json(indent=2))
    return manifest


def stored_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest of a run that was started before, else this one, which is written.

    A damaged one is written again: the folder's name is a digest of all that it says about the
    answers.
    """
    if (folder / MANIFEST).is_file():
        try:
            with damaged_run(folder):
                return read_manifest(folder / MANIFEST)
        except NewerVersionError:
            raise
        except UserError as error:
            log.warning("%s is written again: %s", folder / MANIFEST, error)
    return write_manifest(folder, manifest)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; one of a newer version is refused."""
    document = json.loads(path.read_bytes())
    refuse_newer(document, FORMAT, f"The run in {path.parent}")
    return Manifest.model_validate(document)


def is_intact(folder: Path, name: str, manifest: Manifest) -> bool:
    """Whether a file is there, and as the run left it, which is not known before the run has
    ended."""
    digest = manifest.digests.get(name)
    return (folder / name).is_file() and (digest is None or file_digest(folder / name) == digest)


def write_replies(path: Path, answers: Sequence[Answer]) -> None:
    """Write the free answers, if there are any, with the option that each names or the reason why
    it names none."""
    rows = [
        {
            "question": a.question,
            "template": a.template,
            "reply": text,
            "outcome": outcome,
            "named": named,
        }
        for a in answers
        for text, outcome, named in a.scores.replies or ()
    ]
    if rows:
        write_json_lines(path, rows)


def write_task(path: Path, task: Task) -> None:
    """Write the task beside its answers, so that a report needs nothing else; each list of options
    stands once."""
    document = _TASK.dump_python(task, mode="json", exclude={"load_splits"})
    numbers: dict[tuple[str, ...], int] = {}
    for question, stored in zip(task.questions, document["questions"], strict=True):
        stored["options"] = numbers.setdefault(question.options, len(numbers))
    write_text(path, json.dumps({**document, "option_lists": list(numbers)}))


def read_task(path: Path) -> Task:
    """Read the task as it was asked; runs that were asked the same share it."""
    content = path.read_bytes()
    digest = text_digest(content)
    if (task := _PARSED.get(digest)) is None:
        document = json.loads(content)
        option_lists = document.pop("option_lists")
        for question in document["questions"]:
            question["options"] = option_lists[question["options"]]
        parsed = _TASK.validate_python(document, strict=False)
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        questions = (
            replace(q, options=shared.setdefault(q.options, q.options)) for q in parsed.questions
        )
        task = _PARSED[digest] = replace(parsed, questions=tuple(questions))
    return task


def finish(folder: Path, run_figures: Sequence[Figure]) -> None:
    """Write the figures, and before them digests of the finished files into the manifest: an edit
    is noticed."""
    content = _FIGURES.dump_json(list(run_figures), indent=2)
    digests = {name: file_digest(folder / name) for name in (QUESTIONS, ANSWERS)} | {
        FIGURES: text_digest(content)
    }
    write_manifest(folder, read_manifest(folder / MANIFEST).model_copy(update={"digests": digests}))
    write_text(folder / FIGURES, content.decode())


def read_run(
    folder: Path, answers: tuple[Answer, ...] | None = None, task: Task | None = None
) -> Run:
    """Read a finished run; `answers` and `task` are its own where they are in memory already.

    Figures that were edited or damaged since are computed again from the answers.
    """
    with damaged_run(folder):
        manifest = read_manifest(folder / MANIFEST)
        for name in (QUESTIONS, ANSWERS):
            if (folder / name).is_file() and not is_intact(folder, name, manifest):
                raise ValueError(f"{name} was changed after the run")
        task = read_task(folder / QUESTIONS) if task is None else task
        answers = read_answers(folder / ANSWERS) if answers is None else answers
        expected = ((q.id, t.name, q.options) for q in task.questions for t in task.templates)
        if len(answers) != len(task.questions) * len(task.templates) or any(
            (answer.question, answer.template, answer.options) != own
            for answer, own in zip(answers, expected, strict=True)
        ):
            raise ValueError("its answers do not match its questions")
        return Run(folder, manifest, task, answers, _read_figures(folder, manifest, task, answers))


def _read_figures(
    folder: Path, manifest: Manifest, task: Task, answers: Sequence[Answer]
) -> tuple[Figure, ...]:
    content = (folder / FIGURES).read_bytes()
    if not is_intact(folder, FIGURES, manifest):
        log.warning(
            "%s was changed after the run: its figures are computed again.", folder / FIGURES
        )
        if any(answer.neutral for answer in answers):
            neutral = task.neutral
        else:
            neutral = {}
        return tuple(figures(manifest, replace(task, neutral=neutral), answers))
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
    """Finished runs at or below the given folders, each once, in order; others are left out with a
    sentence."""
    folders: dict[Path, Path] = {}
    for path in paths:
        below = sorted(p.parent for p in path.rglob(MANIFEST))
        if path in below:
            finished = [path]
        else:
            finished = [folder for folder in below if (folder / FIGURES).is_file()]
        if len(finished) < len(below) and path not in below:
            log.warning(
                "Left out of '%s': %d runs that are not finished.", path, len(below) - len(finished)
            )
        if not finished:
            raise UserError(
                f"There is no finished run in '{path}': give a folder that `seesay probe` wrote."
            )
        for folder in finished:
            folders.setdefault(folder.resolve(), folder)
    runs: list[Run] = []
    errors: list[UserError] = []
    collects = gc.isenabled()
    # what is read stays: looking through it for garbage again and again takes a third of the time
    gc.disable()
    try:
        for folder in folders.values():
            try:
                runs.append(read_run(folder))
            except UserError as error:  # one damaged run does not stop a report of a hundred
                errors.append(error)
    finally:
        if collects:
            gc.enable()
    if not runs:
        raise (
            errors[0]
            if errors
            else UserError("There is no folder of runs: give one that `seesay probe` wrote.")
        )
    for left_out in errors:
        log.warning("Left out: %s", left_out)
    return runs


def slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80 and not _HASHED.fullmatch(safe[-9:]):
        return safe
    return f"{safe[:80]}-{text_digest(name, 4)}"
