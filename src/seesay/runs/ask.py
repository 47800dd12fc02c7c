"""Ask a model a task, from prompts to a finished run folder. Killed at any moment, the same call
resumes it."""

from __future__ import annotations

import logging
import platform
import random
import reprlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from time import monotonic

import numpy as np

import seesay
from seesay import metrics
from seesay.condition import Condition, How, label
from seesay.defaults import LARGEST_SEED, RESAMPLES
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.metrics.scoring_rules import LENGTHS
from seesay.models.base import Model
from seesay.probes.shots import shots_detail
from seesay.progress import Kept, ProgressCallback, duration, rate
from seesay.quantities import quantity
from seesay.questions import SLOT, Prompt, Question, Scores, Task, Template
from seesay.runs import store
from seesay.runs.answer_table import NO_SCORES, AnswerTable, PromptScores
from seesay.runs.figures import figures
from seesay.runs.journal import Journal, describe_flaw
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run
from seesay.shards import RUN, WHOLE, Shard, write_shard

FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 1_000_000
MANY_OPTIONS = 100
MANY_TEXTS = 300_000
"""Options of all prompts from which on a network takes more than ten minutes: a small one scores
some hundreds per second on two cores."""
LONG = 600  # seconds from which on it is said how long a run takes
RATE_SECONDS = 3  # of answering, after which there is a rate to go by
LOAD_SECONDS = 60  # that loading a model takes at most, as a rule
MANY_OF_ONE = 20  # questions about one object: of those that have more, a limit of 100 takes few
WEIGH_ALONE = ("completions", "dual-encoder", "encoder-decoder", "vision")
"""Families that score an option by itself, besides those that score texts."""
LIBRARIES = ("numpy", "torch", "transformers", "tokenizers", "safetensors")

log = logging.getLogger(__name__)

MoreFigures = Callable[[Manifest], Sequence[Figure]]
"""Figures that a run has beside those of the task's metrics."""


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
        if self.limit is not None and type(self.limit) is not int:
            raise UserError(f"--limit is {self.limit!r}: give a whole number.")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"--limit is {self.limit}: ask at least one question.")
        validate_resampling(self.seed, self.resamples)


def validate_resampling(
    seed: int,
    resamples: int,
) -> None:
    """Reject seeds that cannot be used and resamples that would take all memory."""
    if not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"--seed is {seed}: give a number from 0 to {LARGEST_SEED:,}.")
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
    *,
    details: Sequence[str] = (),
    more_figures: MoreFigures | None = None,
) -> Run:
    """Return the finished run: read from its folder if it was finished before, else asked as far
    as it is unanswered.

    `details` are further parts of the signature.
    """
    task, settings = prepare_task(model, task, settings)
    manifest = describe(model, task, settings, details)
    folder = store.folder_for(root, manifest)
    # two processes that append to one journal would tear each other's lines
    with lock_folder(folder, hint="give this one its own --output"):
        manifest = store.stored_manifest(folder, manifest)
        answered_before = (folder / store.ANSWERS).is_file()
        if not answered_before:
            warn_of_size(model, task)
        if not answered_before or not store.is_intact(folder, store.QUESTIONS, manifest):
            store.write_task(folder / store.QUESTIONS, task)
        stored_task = None
        # the task stays what it is, so that its run stands beside those of other models
        asked_task = task if model.answers_neutral else replace(task, neutral={})
        if not answered_before:
            answers = _ask_into(folder, model, asked_task, settings, progress)
            # as it would be read: its questions are held once
            stored_task = task.without_splits()
        else:
            with store.damaged_run(folder):
                answers = store.read_answers(folder / store.ANSWERS)
            if progress:
                total = manifest.questions * len(manifest.templates)
                progress(Kept(total), total)
        if not store.is_intact(folder, store.FIGURES, manifest):
            run_figures = figures(manifest, asked_task, answers)
            if more_figures is not None:
                run_figures += more_figures(manifest)
            store.finish(folder, run_figures)
        # only now: until the figures are there, a killed run is resumed from its journal
        (folder / store.JOURNAL).unlink(missing_ok=True)
        return store.read_run(folder, answers, stored_task)


def run_shard(
    model: Model,
    task: Task,
    root: Path,
    settings: Settings,
    shard: Shard,
    progress: ProgressCallback | None = None,
) -> Path:
    """Ask this share of the prompts, and return the folder in which `runs.merge` finds the
    answers.

    Batches are those of a run that is not shared out, and so are the digits.
    """
    task, settings = prepare_task(model, task, settings)
    manifest = describe(model, task, settings)
    folder = store.folder_for(root / shard.folder, manifest)
    with lock_folder(folder, hint="give this one its own --output"):
        manifest = store.stored_manifest(folder, manifest)
        write_shard(folder, shard, RUN, {}, finished=False)
        warn_of_size(model, task)
        store.write_task(folder / store.QUESTIONS, task)
        journal = Journal(folder / store.JOURNAL)
        answer_prompts(model, distinct_prompts(task), journal, progress, folder=folder, shard=shard)
        write_shard(folder, shard, RUN, {}, finished=True)
    return folder


def _ask_into(
    folder: Path,
    model: Model,
    task: Task,
    settings: Settings,
    progress: ProgressCallback | None,
) -> AnswerTable:
    """Ask the task, write the answers, and return them as they would be read."""
    answers = ask(model, task, Journal(folder / store.JOURNAL), progress, folder=folder)
    write_answers(folder, answers, task, settings.length)
    return answers


def write_answers(folder: Path, answers: AnswerTable, task: Task, length: str) -> None:
    """Write the answers to a run's folder; the table keeps what would be read from there."""
    store.write_replies(folder / store.REPLIES, answers)
    store.write_answers(folder / store.ANSWERS, answers, task, length)
    answers.columns.drop_details()


def prepare_task(
    model: Model,
    task: Task,
    settings: Settings,
) -> tuple[Task, Settings]:
    """Return the task as this model can be asked it and prepare the model for it; the settings are
    those of `limit_task`."""
    task = model.restrict(task)
    # before anything is taken away: a baseline counts the answers of the whole task
    model.prepare(task)
    if "pictures" not in model.accepts:
        task = drop_pictures(task, model)
    task, settings = limit_task(model, task, settings)
    if model.only_chooses:
        task = drop_probabilities(task, model)
    if not weighs_alone(model):
        task = drop_comparisons(task, model)
    return task, settings


def ask(
    model: Model,
    task: Task,
    journal: Journal,
    progress: ProgressCallback | None = None,
    *,
    folder: Path | None = None,
) -> AnswerTable:
    """Ask every distinct prompt of the task, and return the answers to its questions."""
    # equal prompts are asked once, such as the one that names no object for hundreds of questions
    by_key = distinct_prompts(task)
    answered = answer_prompts(model, by_key, journal, progress, folder=folder)
    return assemble(task, answered)


def answer_prompts(
    model: Model,
    by_key: Mapping[str, Prompt],
    journal: Journal,
    progress: ProgressCallback | None = None,
    *,
    folder: Path | None = None,
    shard: Shard = WHOLE,
    is_round: bool = False,
) -> PromptScores:
    """Ask prompts, or a share of them, and return their scores. Those in the journal are not asked
    again.

    Batches are planned over all prompts, answered or not, so that a resumed run computes the same
    batches and its digits equal those of a run that was never stopped. In `folder`, what the model
    notes is kept in the manifest; what it notes of all answers is the caller's to keep
    (`keep_notes`) where this is one round of several.
    """
    keys = list(by_key)
    prompts = list(by_key.values())
    answered = _read_journal(journal, by_key)
    planned = shard.take(model.plan(prompts))
    to_ask = sorted(i for indices in planned for i in indices)
    unanswered = [prompts[i] for i in to_ask if keys[i] not in answered]
    if estimate := model.estimate(unanswered):
        log.info("%s", estimate)
    forecast = _Forecast(model, unanswered, at_once=note_split_options(model, unanswered))
    places: list[list[int]] = []
    batches: list[list[Prompt]] = []
    for indices in planned:
        # a batch that is answered in part is asked as a whole: its digits depend on its company
        if not all(keys[i] in answered for i in indices):
            places.append(indices)
            batches.append([prompts[i] for i in indices])
    if progress and len(batches) < len(planned):
        progress(Kept(len(to_ask) - sum(map(len, batches))), len(to_ask))
    spent = _Spent(model, folder)
    try:
        for number, answers in model.answer_batches(batches):
            batch = batches[number]
            _validate_answers(batch, answers, model.name)
            scores: dict[str, Scores] = {}
            for i, prompt_scores in zip(places[number], answers, strict=True):
                validate_scores(prompts[i], prompt_scores, model.name)
                scores[keys[i]] = prompt_scores
            # on the disk before it is counted: a kill after this line loses nothing
            journal.append(scores)
            for key, prompt_scores in scores.items():
                answered.add(key, prompt_scores)
            forecast.count(batch)
            # now and not at the end, which a killed run does not reach
            collect_notes(model.notes(), folder)
            spent.keep()
            if progress:
                progress(len(batch), len(to_ask))
    finally:
        # a batch that fails half-way was paid for all the same
        spent.keep()
    spent.tell()
    if not is_round:
        keep_notes(model, answered.view(keys[i] for i in to_ask), folder)
    return answered


def distinct_prompts(task: Task) -> dict[str, Prompt]:
    """Return every prompt of the task once, by its key, in order of first appearance."""
    prompts: dict[str, Prompt] = {}
    for _, _, prompt, neutral in pairs(task):
        prompts[prompt.key] = prompt
        if neutral:
            prompts[neutral.key] = neutral
    return prompts


def _read_journal(journal: Journal, prompts: Mapping[str, Prompt]) -> PromptScores:
    """Return what the journal holds of these prompts; entries that do not fit count as damaged."""
    answered = PromptScores()
    misfits: set[str] = set()
    for key, scores in journal.entries():
        if key not in prompts:
            continue
        # a batch that was asked again stands twice in the journal: the later entry counts
        if len(scores.logp) == len(prompts[key].options):
            answered.add(key, scores)
            misfits.discard(key)
        else:
            answered.discard(key)
            misfits.add(key)
    if damaged := journal.damaged + len(misfits):
        log.warning("%d answers in %s are damaged: they are asked again.", damaged, journal.path)
    return answered


def warn_of_size(model: Model, task: Task) -> None:
    """Warn of a task that keeps a network busy for long, before its prompts are even made."""
    texts = len(task.templates) * sum(len(question.options) for question in task.questions)
    if model.parameters is None or texts < MANY_TEXTS:
        return
    prompts = len(task.templates) * len(task.questions)
    log.warning(
        "%s: '%s' has %s prompts with %s options in all. How long they take is said after the "
        "first of them; --limit 100 asks a sample.",
        label(model.name, model.condition),
        task.name,
        f"{prompts:,}",
        f"{texts:,}",
    )


class _Forecast:
    """Says once how long prompts take, as soon as there is a rate to go by: of many options, and of
    prompts that take long.

    The first batch tells it `at_once`, or where it takes long itself; else it may be slow only
    because the model is loaded for it, and the clock starts when it ends.
    """

    def __init__(self, model: Model, prompts: Sequence[Prompt], *, at_once: bool) -> None:
        self._model = model
        self._prompts = len(prompts)
        self._characters = count_characters(prompts)
        self._is_large = sum(len(prompt.options) for prompt in prompts) >= MANY_TEXTS
        self._first_seconds = 0 if at_once else LOAD_SECONDS
        self._start = monotonic()
        self._answered: int | None = None
        self._is_told = False

    def count(self, batch: Sequence[Prompt]) -> None:
        """Count a batch that has been answered."""
        if self._is_told:
            return
        characters = count_characters(batch)
        seconds = monotonic() - self._start
        if self._answered is not None:
            self._answered += characters
            if seconds >= RATE_SECONDS:
                self._tell(seconds / self._answered, LONG)
        elif seconds >= self._first_seconds:
            self._tell(seconds / characters, 0)
        else:
            self._answered = 0
            self._start = monotonic()

    def _tell(self, seconds_per_character: float, least: float) -> None:
        """Log the time of all prompts, of few options where it is so many seconds at least."""
        self._is_told = True
        seconds = seconds_per_character * self._characters
        if seconds < least and not self._is_large:
            return
        log.warning(
            "%s: about %s for %s prompts, at %s.",
            label(self._model.name, self._model.condition),
            duration(seconds),
            f"{self._prompts:,}",
            rate(self._prompts / seconds, "prompts"),
        )


def keep_notes(
    model: Model,
    scores: Sequence[Scores],
    folder: Path | None,
) -> None:
    """Keep what the model notes about all its answers; what belongs to this run it may forget."""
    notes = model.notes(scores)
    for note in notes:
        if note not in model.notes():  # the others were logged when they came up
            log.warning("%s", note)
    collect_notes(notes, folder)
    model.clear_notes()


def note_split_options(
    model: Model,
    prompts: Sequence[Prompt],
) -> bool:
    """Note it where a tokenizer splits most of many options, and return whether it does: every
    piece is predicted."""
    # the longest list stands for all: tokenizing the options of every prompt would take minutes
    options = max((prompt.options for prompt in prompts), key=len, default=())
    pieces = model.pieces(options) if len(options) >= MANY_OPTIONS else None
    split = sum(count > 1 for count in pieces or ())
    if 2 * split <= len(options):
        return False
    model.note(
        f"The tokenizer of '{model.name}' splits {split} of {len(options)} options into several "
        "pieces: they take longer to score, and figures over the whole vocabulary leave out "
        "questions with such an answer."
    )
    return True


def count_characters(prompts: Sequence[Prompt]) -> int:
    """Return the characters of all the sentences, to which the time that they take is about
    proportional."""
    return sum(len(prompt.options) * len(prompt.text) for prompt in prompts)


def collect_notes(
    notes: Sequence[str],
    folder: Path | None,
) -> None:
    """Add notes to the run's manifest: what a model warns of belongs to its figures."""
    if folder is None or not notes:
        return
    manifest = store.read_manifest(folder / store.MANIFEST)
    new_notes = [note for note in notes if note not in manifest.notes]
    if new_notes:
        store.change_manifest(folder, notes=[*manifest.notes, *new_notes])


class _Spent:
    """Keeps in a run's manifest what a paid model takes for it, call by call."""

    def __init__(self, model: Model, folder: Path | None) -> None:
        self._model = model
        self._folder = folder
        self._before = model.spent()
        self._total: Counter[str] = Counter()
        if folder is not None and self._before:
            self._total.update(store.read_manifest(folder / store.MANIFEST).spent)

    def keep(self) -> None:
        """Add what was taken since the last call."""
        now = self._model.spent()
        if now == self._before:
            return
        self._total.update(now)
        self._total.subtract(self._before)
        self._before = now
        if self._folder is not None:
            store.change_manifest(self._folder, spent=dict(self._total))

    def tell(self) -> None:
        """Say what the run has taken, earlier calls included."""
        if not self._total:
            return
        counts = dict(self._total)
        cost = counts.pop("cost", None)
        counted = ", ".join(
            f"{amount:,.0f} {name.replace('_', ' ')}" for name, amount in counts.items()
        )
        at_prices = "" if cost is None else f", {cost:,.4f} at the prices given"
        log.info("The server reports %s%s.", counted, at_prices)


def _validate_answers(batch: Sequence[Prompt], answers: object, model: str) -> None:
    """Reject what a model of somebody else gave for a batch, where it is not `Scores` for each
    prompt."""
    if isinstance(answers, Sequence):
        are_scores = all(isinstance(scores, Scores) for scores in answers)
        if are_scores and len(answers) == len(batch):
            return
    raise UserError(
        f"'{model}' answered {quantity(len(batch), 'prompt')} with {reprlib.repr(answers)}: "
        "`answer` returns a list with the seesay Scores of each prompt."
    )


def validate_scores(
    prompt: Prompt,
    scores: Scores,
    model: str,
) -> None:
    """Reject scores that are not one number per option: a model that overflows must not pass for
    one that abstains."""
    if len(scores.logp) != len(prompt.options):
        problem = "one score per option is missing"
    else:
        problem = describe_flaw(scores)
    if problem:
        raise UserError(
            f"'{model}' gave no number for an option of {prompt.text!r}: {problem} (its weights "
            "may be damaged)."
        )


def drop_pictures(
    task: Task,
    model: Model,
) -> Task:
    """Return the task for a model that reads text only: the questions that have no picture, if
    there are any."""
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


def drop_probabilities(
    task: Task,
    model: Model,
) -> Task:
    """Return the task for a model that only chooses: no gain over a neutral prompt, and
    right-or-wrong metrics only."""
    binary = tuple(name for name in task.metrics if metrics.get(name).binary)
    if not binary:
        raise UserError(
            f"'{task.name}' needs probabilities, which '{model.name}' does not give: "
            f"{model.probabilities_hint}."
        )
    return replace(task, metrics=binary, neutral={})


def weighs_alone(model: Model) -> bool:
    """Return whether an option's score does not depend on the options beside it."""
    if model.only_chooses or model.letters_options or model.condition.how is not How.CLOZE:
        return False
    return "score" in model.abilities or model.family in WEIGH_ALONE


def drop_comparisons(
    task: Task,
    model: Model,
) -> Task:
    """Return the task without metrics that compare the scores of different questions."""
    names = tuple(name for name in task.metrics if not metrics.get(name).across_questions)
    if len(names) == len(task.metrics):
        return task
    others = ", ".join(name for name in task.metrics if name not in names)
    problem = f"'{model.name}' weighs the options of a question against each other"
    if not names:
        raise UserError(f"{problem}, and {others} compares questions: ask another model.")
    model.note(f"{problem}: there is no {others}, which compares questions.")
    return replace(task, metrics=names)


def pairs(
    task: Task,
) -> Iterator[tuple[Question, Template, Prompt, Prompt | None]]:
    """Yield every question in every template, with the prompt that does not name the object."""
    for question in task.questions:
        for template in task.templates:
            neutral = template.ask(question, task.neutral) if task.neutral else None
            yield question, template, template.ask(question), neutral


def assemble(task: Task, scores: PromptScores) -> AnswerTable:
    """Return the answers in the task's own order; prompts that occur more than once share their
    scores."""
    places = array("i")
    neutral_places = array("i")
    for _, _, prompt, neutral in pairs(task):
        places.append(scores.places[prompt.key])
        neutral_places.append(scores.places[neutral.key] if neutral else NO_SCORES)
    names = [template.name for template in task.templates]
    return AnswerTable(
        [question.id for question in task.questions for _ in names],
        names * len(task.questions),
        [question.options for question in task.questions for _ in names],
        scores.columns,
        np.asarray(places),
        np.asarray(neutral_places),
    )


def limit_task(
    model: Model,
    task: Task,
    settings: Settings,
) -> tuple[Task, Settings]:
    """Return the task with as many questions as the settings allow; what was drawn apart from whole
    objects is noted. A limit that takes nothing away is no limit in the settings that come back."""
    if settings.limit is None:
        return task, settings
    limited = limit_questions(task, settings.limit, settings.seed)
    if limited is task:
        return task, replace(settings, limit=None)
    for note in limited.provenance.notes[len(task.provenance.notes) :]:
        model.note(f"{task.name}: {note}.")
    return limited, settings


def limit_questions(
    task: Task,
    limit: int,
    seed: int,
) -> Task:
    """Return the task with at most `limit` questions, drawn with a seed.

    Objects are taken whole, so that what belongs together is asked together. Of objects that have
    so many questions that few of them would be taken, a share of each is asked, and a note says so.
    Where that would leave out a part of the headline, questions of every part are taken in turn, as
    another note says. Nested questions that are asked alike count once. A task without more
    questions stays as it is.
    """
    by_object = _question_ids_by_object(task)
    total = sum(map(len, by_object.values()))
    if total <= limit:
        return task
    largest = max(MANY_OF_ONE, limit // 10)
    large = {name: alike for name, alike in by_object.items() if len(alike) > largest}
    small = {name: alike for name, alike in by_object.items() if name not in large}
    share_of_large = round(limit * sum(map(len, large.values())) / total)
    sampled = _draw_objects(small, limit - share_of_large, seed)
    sampled += _draw_share_of_each(large, share_of_large, seed)
    note = ""
    if large:
        note = (
            f"--limit {limit} takes a share of the questions about each object that has more than "
            f"{largest:,} of them ({len(large):,} of {len(by_object):,} objects), and whole "
            "objects otherwise"
        )
    limited = _take_questions(task, sampled)
    if limited.parts != task.parts:
        limited = _take_questions(task, _draw_in_turn(task, by_object, limit, seed))
        note = _note_parts(task, limited, limit)
    if not note:
        return limited
    provenance = task.provenance
    return replace(limited, provenance=replace(provenance, notes=(*provenance.notes, note)))


def _take_questions(task: Task, sampled: QuestionIds) -> Task:
    """Return the task with these questions only."""
    ids = {question for alike in sampled for question in alike}
    questions = tuple(question for question in task.questions if question.id in ids)
    # published figures are about all the questions, so they are not shown beside a part of them
    return replace(task, questions=questions, published=())


QuestionIds = Sequence[list[str]]
"""The ids of questions; those that are asked alike stand together."""


def _question_ids_by_object(task: Task) -> dict[str, QuestionIds]:
    by_object: dict[str, dict[object, list[str]]] = {}
    for question in task.questions:
        if task.nested_by:
            # the sets of nested questions ask the same: to cut one of them would break the nesting
            content: object = (tuple(question.fields.items()), question.picture)
        else:
            content = question.id
        by_object.setdefault(question.object, {}).setdefault(content, []).append(question.id)
    return {name: list(by_content.values()) for name, by_content in by_object.items()}


def _draw_objects(
    by_object: Mapping[str, QuestionIds],
    limit: int,
    seed: int,
) -> list[list[str]]:
    """Draw whole objects; only one that has more questions than the limit is cut."""
    sampled: list[list[str]] = []
    # sorted first, so that the draw does not depend on the order of the file
    for name in random.Random(seed).sample(sorted(by_object), len(by_object)):
        if len(sampled) + len(by_object[name]) <= limit:
            sampled += by_object[name]
        elif not sampled:
            sampled = list(by_object[name][:limit])
    return sampled


def _draw_in_turn(
    task: Task,
    by_object: Mapping[str, QuestionIds],
    limit: int,
    seed: int,
) -> list[list[str]]:
    """Draw questions of every part of the headline in turn, whatever objects they are about."""
    parts = {question.id: question.tags[task.nested_by] for question in task.questions}
    counts = Counter(parts.values())
    # sorted first, so that the draw does not depend on the order of the file
    questions = sorted(alike for of_object in by_object.values() for alike in of_object)
    by_part: dict[str, list[list[str]]] = {part: [] for part in counts}
    for alike in random.Random(seed).sample(questions, len(questions)):
        # what is asked alike may stand in several parts: it is drawn for the smallest of them
        smallest = min((parts[question] for question in alike), key=counts.__getitem__)
        by_part[smallest].append(alike)
    turns = zip_longest(*(by_part[part] for part in sorted(counts, key=lambda p: (counts[p], p))))
    return [alike for turn in turns for alike in turn if alike][:limit]


def _note_parts(task: Task, limited: Task, limit: int) -> str:
    """Return which parts of the headline a small sample has, and how many questions have all."""
    present = [part[task.nested_by] for part in limited.parts if part]
    missing = [part[task.nested_by] for part in task.parts if part and part not in limited.parts]
    text = (
        f"--limit {limit} is too small for whole objects: questions with each {task.nested_by} are "
        f"taken in turn ({', '.join(present)})"
    )
    if not missing:
        return text
    return f"{text}, and none with {', '.join(missing)}: --limit {len(task.parts)} has all of them"


def _draw_share_of_each(
    by_object: Mapping[str, QuestionIds],
    limit: int,
    seed: int,
) -> list[list[str]]:
    """Draw questions about every object, in proportion to how many there are about it."""
    total = sum(map(len, by_object.values()))
    draw = random.Random(seed)
    names = draw.sample(sorted(by_object), len(by_object))
    shares = {name: limit * len(by_object[name]) / total for name in names}
    counts = {name: int(share) for name, share in shares.items()}
    # what rounding leaves over goes to the largest remainders, of equal ones the first drawn
    by_remainder = sorted(names, key=lambda name: counts[name] - shares[name])
    for name in by_remainder[: limit - sum(counts.values())]:
        counts[name] += 1
    sampled: list[list[str]] = []
    for name in names:
        sampled += draw.sample(sorted(by_object[name]), counts[name])
    return sampled


def describe(
    model: Model,
    task: Task,
    settings: Settings,
    details: Sequence[str] = (),
    condition: Condition | None = None,
) -> Manifest:
    """Return the manifest, with the signature that every figure carries.

    The condition is the model's own unless another one is given.
    """
    # the length rule is applied to stored scores, so that the model has no part in it
    condition = (condition or model.condition).replace(length=settings.length)
    return Manifest(
        seesay=seesay.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=settings.command,
        model=model.name,
        family=model.family,
        model_fingerprint=model.fingerprint,
        parameters=model.parameters,
        diet=dict(model.diet),
        condition=condition,
        task=task.name,
        task_version=task.version,
        task_fingerprint=task.fingerprint,
        templates=[template.name for template in task.templates],
        questions=len(task.questions),
        limit=settings.limit,
        seed=settings.seed,
        resamples=settings.resamples,
        signature=sign(
            model,
            task,
            settings,
            condition,
            details,
        ),
        environment=environment(),
        citation=task.provenance.citation,
        data=list(task.provenance.data),
        data_notes=list(task.provenance.notes),
        bad_rows=list(task.provenance.bad_rows),
    )


def sign(
    model: Model,
    task: Task,
    settings: Settings,
    condition: Condition,
    details: Sequence[str] = (),
) -> str:
    """Return the signature: all that shapes a number, in one line."""
    return "|".join(
        (
            f"task:{task.name}.{task.version}@{task.fingerprint}",
            f"templates:{len(task.templates)}",
            f"questions:{len(task.questions)}",
            f"model:{model.name}@{model.fingerprint}",
            f"family:{model.family}",
            *condition.signature_parts,
            *shots_detail(task),
            *details,
            *_scoring_detail(model, task, condition),
            f"scope:{condition.scope}",
            f"length:{condition.length}",
            f"seed:{settings.seed}",
            f"resamples:{settings.resamples}",
            f"seesay:{seesay.__version__}",
        )
    )


def _scoring_detail(
    model: Model,
    task: Task,
    condition: Condition,
) -> list[str]:
    """How the model reads texts: what stands before them, and more where options are whole
    sentences."""
    if condition.how.trains:
        scoring = model.describe_encoding()
    elif any(template.text == SLOT for template in task.templates):
        scoring = model.describe_scoring()
    else:
        scoring = f"bos:{model.beginning}" if model.beginning else ""
    return [scoring] if scoring else []


def environment() -> dict[str, str]:
    """Return the versions of Python and of the libraries that compute the answers."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions
