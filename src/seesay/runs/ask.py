"""Ask a model a task, from prompts to a finished run folder. Killed at any moment, the same call
resumes it."""

from __future__ import annotations

import logging
import platform
import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic

import seesay
from seesay import metrics
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.metrics.scoring_rules import LENGTHS
from seesay.models.base import Model
from seesay.probes.shots import shots_detail
from seesay.progress import ProgressCallback, duration
from seesay.questions import SLOT, Answer, Prompt, Question, Scores, Task, Template
from seesay.runs import store
from seesay.runs.figures import figures
from seesay.runs.journal import Journal, flaw, packed
from seesay.runs.records import Manifest
from seesay.runs.run import Run

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
MANY_OPTIONS = 100
LIBRARIES = ("numpy", "torch", "transformers", "tokenizers", "safetensors")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How a run is made, apart from the model and the task."""

    length: str = "sum"
    limit: int | None = None
    seed: int = 0
    resamples: int = RESAMPLES
    command: str = ""

    def __post_init__(self) -> None:
        if self.length not in LENGTHS:
            raise UserError(
                f"Unknown length rule '{self.length}': choose one of {', '.join(LENGTHS)}."
            )
        if self.limit is not None and self.limit < 1:
            raise UserError(f"--limit is {self.limit}: ask at least one question.")
        check_resampling(self.seed, self.resamples)


def check_resampling(seed: int, resamples: int) -> None:
    """Reject seeds that cannot be used and resamples that would take all memory."""
    if seed < 0:
        raise UserError(f"--seed is {seed}: it cannot be negative.")
    if not FEWEST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        raise UserError(
            f"--resamples is {resamples}: give a number from {FEWEST_RESAMPLES} to "
            f"{MOST_RESAMPLES:,}."
        )


def run(
    model: Model,
    task: Task,
    root: Path,
    settings: Settings,
    progress: ProgressCallback | None = None,
) -> Run:
    """The finished run: read from its folder if it was finished before, else asked as far as it is
    unanswered."""
    task = model.restrict(task)
    model.prepare(task)
    if "pictures" not in model.accepts:
        task = without_pictures(task, model)
    if settings.limit is not None:
        task = limited(task, settings.limit, settings.seed)
    if model.only_chooses:
        task = without_probabilities(task, model)
    manifest = describe(model, task, settings)
    folder = store.folder_for(root, manifest)
    with lock_folder(folder, hint="give this one its own --output"):
        manifest = store.stored_manifest(folder, manifest)
        if not (folder / store.ANSWERS).is_file() or not store.is_intact(
            folder, store.QUESTIONS, manifest
        ):
            store.write_task(folder / store.QUESTIONS, task)
        stored_task = None
        if not (folder / store.ANSWERS).is_file():
            assembled = assemble(
                task, ask(model, task, Journal(folder / store.JOURNAL), progress, folder=folder)
            )
            store.write_replies(folder / store.REPLIES, assembled)
            store.write_answers(folder / store.ANSWERS, assembled, task, settings.length)
            del assembled  # they are read again from the file, which holds them for good
            # as it would be read: its questions are held once
            stored_task = replace(task, load_splits=None)
        elif progress:
            total = manifest.questions * len(manifest.templates)
            progress(total, total)
        with store.damaged_run(folder):
            answers = store.read_answers(folder / store.ANSWERS)
        if not store.is_intact(folder, store.FIGURES, manifest):
            store.finish(folder, figures(manifest, task, answers))
        (folder / store.JOURNAL).unlink(missing_ok=True)
        return store.read_run(folder, answers, stored_task)


def ask(
    model: Model,
    task: Task,
    journal: Journal,
    progress: ProgressCallback | None = None,
    *,
    folder: Path | None = None,
) -> dict[str, Scores]:
    """The model's scores for every distinct prompt of the task. Prompts in the journal are not
    asked again.

    Batches are planned over all prompts, answered or not, so that a resumed run computes the same
    batches and its digits equal those of a run that was never stopped. In `folder`, what the model
    notes is kept in the manifest.
    """
    by_key = {p.key: p for _, _, prompt, neutral in pairs(task) for p in (prompt, neutral) if p}
    keys = list(by_key)
    prompts = list(by_key.values())
    stored = journal.read()
    answered = {
        key: stored[key]
        for key, p in by_key.items()
        if key in stored and len(stored[key].logp) == len(p.options)
    }
    if damaged := journal.damaged + sum(key in stored for key in keys) - len(answered):
        log.warning("%d answers in %s are damaged: they are asked again.", damaged, journal.path)
    del stored
    lengths: dict[bytes, array[int]] = {}
    unanswered = [prompt for key, prompt in by_key.items() if key not in answered]
    del by_key
    if estimate := model.estimate(unanswered):
        log.info("%s", estimate)
    splits = note_split_options(model, unanswered)
    planned = model.plan(prompts)
    places = [indices for indices in planned if not all(keys[i] in answered for i in indices)]
    batches = [[prompts[i] for i in indices] for indices in places]
    if progress and len(batches) < len(planned):
        progress(len(prompts) - sum(map(len, batches)), len(prompts))
    start = monotonic()
    for number, answers in model.answer_batches(batches):
        batch = batches[number]
        scores = {
            keys[i]: checked(prompts[i], of_prompt, model.name)
            for i, of_prompt in zip(places[number], answers, strict=True)
        }
        journal.append(scores)
        answered |= {key: packed(of_prompt, lengths) for key, of_prompt in scores.items()}
        if splits:  # after the first batch there is a rate to go by
            seconds = (monotonic() - start) * size(unanswered) / size(batch)
            log.warning(
                "%s: about %s for %s prompts.",
                model.name,
                duration(seconds),
                f"{len(unanswered):,}",
            )
            splits = False
        collect_notes(model.notes(), folder)
        if progress:
            progress(len(batch), len(prompts))
    notes = model.notes([answered[key] for key in keys])
    for note in notes:
        if note not in model.notes():  # the others were logged when they came up
            log.warning("%s", note)
    collect_notes(notes, folder)
    model.clear_notes()
    return answered


def note_split_options(model: Model, prompts: Sequence[Prompt]) -> bool:
    """Note it where a tokenizer splits most of many options, and return whether it does: every
    piece is predicted."""
    options = max((prompt.options for prompt in prompts), key=len, default=())
    pieces = model.pieces(options) if len(options) >= MANY_OPTIONS else None
    split = sum(count > 1 for count in pieces or ())
    if 2 * split <= len(options):
        return False
    model.note(
        f"The tokenizer of '{model.name}' splits {split} of {len(options)} options into several "
        "pieces: they take "
        "longer to score, and figures over the whole vocabulary leave out questions with such an "
        "answer."
    )
    return True


def size(prompts: Sequence[Prompt]) -> int:
    """The characters of all the sentences, to which the time that they take is about
    proportional."""
    return sum(len(prompt.options) * len(prompt.text) for prompt in prompts)


def collect_notes(notes: Sequence[str], folder: Path | None) -> None:
    """Add notes to the run's manifest: what a model warns of belongs to its figures."""
    if folder and notes:
        manifest = store.read_manifest(folder / store.MANIFEST)
    else:
        manifest = None
    if folder and manifest and (new := [note for note in notes if note not in manifest.notes]):
        store.write_manifest(folder, manifest.model_copy(update={"notes": [*manifest.notes, *new]}))


def checked(prompt: Prompt, scores: Scores, model: str) -> Scores:
    """The scores, if there is one number per option: a model that overflows must not pass for one
    that abstains."""
    if len(scores.logp) != len(prompt.options):
        problem = "one score per option is missing"
    else:
        problem = flaw(scores)
    if problem:
        raise UserError(
            f"'{model}' gave no number for an option of {prompt.text!r}: {problem} (its weights "
            "may be damaged)."
        )
    return scores


def without_pictures(task: Task, model: Model) -> Task:
    """The task for a model that reads text only: the questions that have no picture, if there are
    any."""
    questions = tuple(question for question in task.questions if not question.picture)
    if len(questions) == len(task.questions):
        return task
    if not questions:
        raise UserError(
            f"'{task.name}' asks about pictures, and '{model.name}' reads text only: try "
            "vision:MODEL."
        )
    model.note(
        f"'{model.name}' reads text only: of '{task.name}', it is asked the questions without a "
        "picture."
    )
    return replace(task, questions=questions, published=())


def without_probabilities(task: Task, model: Model) -> Task:
    """The task for a model that only chooses: no gain over a neutral prompt, and right-or-wrong
    metrics only."""
    binary = tuple(name for name in task.metrics if metrics.get(name).binary)
    if not binary:
        raise UserError(
            f"'{task.name}' needs probabilities, which '{model.name}' does not give: "
            f"{model.probabilities_hint}."
        )
    return replace(task, metrics=binary, neutral={})


def pairs(task: Task) -> Iterator[tuple[Question, Template, Prompt, Prompt | None]]:
    """Every question in every template, with the prompt that does not name the object."""
    for question in task.questions:
        for template in task.templates:
            neutral = template.ask(question, task.neutral) if task.neutral else None
            yield question, template, template.ask(question), neutral


def assemble(task: Task, scores: dict[str, Scores]) -> list[Answer]:
    """The answers table, in the task's own order; prompts that occur more than once share their
    scores."""
    return [
        Answer(
            question.id,
            template.name,
            question.options,
            scores[prompt.key],
            scores[neutral.key] if neutral else None,
        )
        for question, template, prompt, neutral in pairs(task)
    ]


def limited(task: Task, limit: int, seed: int) -> Task:
    """At most `limit` questions: whole objects, drawn with a seed, so that what belongs together is
    asked together.

    Only an object that has more questions than the limit is cut. Nested questions that are asked
    alike count once.
    """
    by_object: dict[str, dict[object, list[str]]] = {}
    for question in task.questions:
        if task.nested_by:
            content: object = (tuple(question.fields.items()), question.picture)
        else:
            content = question.id
        by_object.setdefault(question.object, {}).setdefault(content, []).append(question.id)
    chosen: list[list[str]] = []
    for name in random.Random(seed).sample(sorted(by_object), len(by_object)):
        if len(chosen) + len(by_object[name]) <= limit:
            chosen += by_object[name].values()
        elif not chosen:
            chosen = list(by_object[name].values())[:limit]
    kept = {question for alike in chosen for question in alike}
    # published figures are about all the questions, so they are not shown beside a part of them
    return replace(task, questions=tuple(q for q in task.questions if q.id in kept), published=())


def describe(model: Model, task: Task, settings: Settings, details: Sequence[str] = ()) -> Manifest:
    """The manifest, with the signature that every figure carries; `details` are further parts of
    it."""
    signature = "|".join(
        (
            f"task:{task.name}.{task.version}@{task.fingerprint}",
            f"templates:{len(task.templates)}",
            f"questions:{len(task.questions)}",
            f"model:{model.name}@{model.fingerprint}",
            f"family:{model.family}",
            *([] if model.chat is None else [f"chat:{model.chat}"]),
            *shots_detail(task),
            *details,
            *_scoring_detail(model, task),
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
        **asdict(settings),
        model=model.name,
        family=model.family,
        model_fingerprint=model.fingerprint,
        probe=model.probe,
        probe_seed=model.probe_seed,
        task=task.name,
        task_version=task.version,
        task_fingerprint=task.fingerprint,
        templates=[template.name for template in task.templates],
        questions=len(task.questions),
        scope=model.scope,
        signature=signature,
        environment=environment(),
        citation=task.citation,
        data=list(task.data),
        data_notes=list(task.data_notes),
        bad_rows=list(task.bad_rows),
    )


def _scoring_detail(model: Model, task: Task) -> list[str]:
    """How the model scores texts, where options are whole sentences."""
    has_sentences = any(template.text == SLOT for template in task.templates)
    if has_sentences and (scoring := model.describe_scoring()):
        return [scoring]
    return []


def environment() -> dict[str, str]:
    """Versions of Python and of the libraries that compute the answers."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions
