"""Ask a model a task, from prompts to a finished run folder. Killed at any moment, the same call goes on from there."""

from __future__ import annotations

import logging
import math
import platform
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import seesay
from seesay import metrics
from seesay.errors import UserError
from seesay.metrics.scoring_rules import LENGTHS
from seesay.models.base import Model
from seesay.questions import Answer, Prompt, Question, Scores, Task, Template
from seesay.runs import store
from seesay.runs.figures import figures
from seesay.runs.journal import Journal
from seesay.runs.records import Manifest
from seesay.runs.run import Run

log = logging.getLogger(__name__)

RESAMPLES = (100, 1_000_000)
LIBRARIES = ("numpy", "torch", "transformers", "tokenizers", "safetensors")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    """How a run is made, beside the model and the task."""

    length: str = "sum"
    limit: int | None = None
    seed: int = 0
    resamples: int = 10_000
    command: str = ""

    def __post_init__(self) -> None:
        if self.length not in LENGTHS:
            raise UserError(f"Unknown length rule '{self.length}': choose one of {', '.join(LENGTHS)}.")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"--limit is {self.limit}: ask one question at least.")
        check_resampling(self.seed, self.resamples)


def check_resampling(seed: int, resamples: int) -> None:
    """Refuse what cannot be drawn, and what would take all memory."""
    low, high = RESAMPLES
    if seed < 0:
        raise UserError(f"--seed is {seed}: it cannot be negative.")
    if not low <= resamples <= high:
        raise UserError(f"--resamples is {resamples}: give a number from {low} to {high:,}.")


def run(model: Model, task: Task, root: Path, settings: Settings, progress: Progress | None = None) -> Run:
    """The finished run: read from its folder if it was finished before, else asked as far as it is not yet answered."""
    model.prepare(task)
    if settings.limit is not None:
        task = limited(task, settings.limit, settings.seed)
    if any(q.picture for q in task.questions) and "pictures" not in model.accepts:
        raise UserError(f"'{task.name}' asks about pictures, and '{model.name}' reads text alone: try vision:MODEL.")
    if model.scope.startswith("choice"):
        task = for_choice(task, model)
    manifest = describe(model, task, settings)
    folder = store.folder_for(root, manifest)
    with store.alone(folder):
        if not (folder / store.MANIFEST).is_file():
            store.write_text(folder / store.MANIFEST, manifest.model_dump_json(indent=2))
        if not (folder / store.QUESTIONS).is_file():
            store.write_task(folder / store.QUESTIONS, task)
        if (folder / store.ANSWERS).is_file():
            if progress:
                progress(manifest.questions * len(manifest.templates), manifest.questions * len(manifest.templates))
        else:
            said = ask(model, task, Journal(folder / store.JOURNAL), progress)
            keep_notes(model, folder, said)
            store.write_answers(folder / store.ANSWERS, assemble(task, said))
        if not (folder / store.FIGURES).is_file():
            with store.readable(folder):
                answers = store.read_answers(folder / store.ANSWERS)
            store.write_figures(folder / store.FIGURES, figures(manifest, task, answers))
        (folder / store.JOURNAL).unlink(missing_ok=True)
        return store.read_run(folder)


def keep_notes(model: Model, folder: Path, scores: Mapping[str, Scores]) -> None:
    """Add what a reader of the figures should know to the manifest, and log what the model has not logged itself."""
    notes, logged = model.notes(list(scores.values())), model.notes()
    for note in notes:
        if note not in logged:
            log.warning("%s", note)
    manifest = Manifest.model_validate_json((folder / store.MANIFEST).read_bytes())
    if new := [note for note in notes if note not in manifest.notes]:
        manifest = manifest.model_copy(update={"notes": [*manifest.notes, *new]})
        store.write_text(folder / store.MANIFEST, manifest.model_dump_json(indent=2))


def ask(model: Model, task: Task, journal: Journal, progress: Progress | None = None) -> dict[str, Scores]:
    """What the model says to every distinct prompt of the task. The journal's answers are not asked again.

    Batches are planned over all prompts, answered or not, so that a resumed run computes the same batches and its
    digits equal those of a run that was never stopped.
    """
    prompts = list({p.key: p for _, _, prompt, neutral in pairs(task) for p in (prompt, neutral) if p}.values())
    said = journal.read()
    for batch in model.plan(prompts):
        asked = [prompts[i] for i in batch]
        if not all(prompt.key in said for prompt in asked):
            scores = {p.key: checked(p, s, model.name) for p, s in zip(asked, model.answer(asked), strict=True)}
            journal.append(scores)
            said |= scores
        if progress:
            progress(len(batch), len(prompts))
    return said


def checked(prompt: Prompt, scores: Scores, model: str) -> Scores:
    """The scores, if they are one number an option: a model that overflows must not pass for one that abstains."""
    if len(scores.logp) != len(prompt.options) or any(math.isnan(logp) for logp in scores.logp):
        raise UserError(f"'{model}' gave no number for an option of {prompt.text!r} (its weights may be damaged).")
    return scores


def for_choice(task: Task, model: Model) -> Task:
    """The task for a model that only chooses: no gain over a neutral prompt, and right-or-wrong metrics alone."""
    kept = tuple(name for name in task.metrics if metrics.get(name).binary)
    if not kept:
        raise UserError(
            f"'{task.name}' needs probabilities, and '{model.name}' only chooses: {model.probabilities_hint}."
        )
    return replace(task, metrics=kept, neutral={})


def pairs(task: Task) -> list[tuple[Question, Template, Prompt, Prompt | None]]:
    """Every question in every wording, with the prompt that does not name the object."""
    return [
        (question, template, template.ask(question), template.ask(question, task.neutral) if task.neutral else None)
        for question in task.questions
        for template in task.templates
    ]


def assemble(task: Task, said: dict[str, Scores]) -> list[Answer]:
    """The answers table, in the task's own order."""
    return [
        Answer(question.id, template.name, question.options, said[prompt.key], said[neutral.key] if neutral else None)
        for question, template, prompt, neutral in pairs(task)
    ]


def limited(task: Task, limit: int, seed: int) -> Task:
    """At most so many questions: whole objects, drawn with a seed, so that what belongs together is asked together.

    Only an object that has more questions than the limit is cut.
    """
    by_object: dict[str, list[str]] = {}
    for question in task.questions:
        by_object.setdefault(question.object, []).append(question.id)
    chosen: list[str] = []
    for name in random.Random(seed).sample(sorted(by_object), len(by_object)):
        if len(chosen) + len(by_object[name]) <= limit:
            chosen += by_object[name]
        elif not chosen:
            chosen = by_object[name][:limit]
    kept = set(chosen)
    # a published figure rests on all the questions, so it does not stand beside some of them
    return replace(task, questions=tuple(q for q in task.questions if q.id in kept), published=())


def describe(model: Model, task: Task, settings: Settings) -> Manifest:
    """The manifest, with the signature that every figure carries."""
    signature = "|".join(
        (
            f"task:{task.name}.{task.version}@{task.fingerprint}",
            f"templates:{len(task.templates)}",
            f"questions:{len(task.questions)}",
            f"model:{model.name}@{model.fingerprint}",
            f"family:{model.family}",
            f"scope:{model.scope}",
            f"length:{settings.length}",
            f"seed:{settings.seed}",
            f"resamples:{settings.resamples}",
            f"seesay:{seesay.__version__}",
        )
    )
    return Manifest(
        seesay=seesay.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=settings.command,
        model=model.name,
        family=model.family,
        model_fingerprint=model.fingerprint,
        task=task.name,
        task_version=task.version,
        task_fingerprint=task.fingerprint,
        templates=[template.name for template in task.templates],
        questions=len(task.questions),
        limit=settings.limit,
        scope=model.scope,
        length=settings.length,
        seed=settings.seed,
        resamples=settings.resamples,
        signature=signature,
        environment=environment(),
        citation=task.citation,
        data=list(task.data),
        bad_rows=[f"row {bad.row}: {bad.reason}" for bad in task.bad_rows],
    )


def environment() -> dict[str, str]:
    """Versions of what computes the answers."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
