"""StoredAnswers: a file of answers as a model, `answers:FILE`, with figures, comparisons and pages
like any other.

A stored text is matched to the options like a free answer; several texts to one question are
samples. A question without an answer counts as wrong, and the run says how many there are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from seesay.answers import NO_ANSWER
from seesay.data.stored_answers import StoredRow, answer_files, read_stored
from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model, Reply, choice_scores
from seesay.models.options import ModelOptions
from seesay.probes.generated import score_replies
from seesay.questions import BadRow, Prompt, Question, Scores, Task, Template, resolve_separator

SHOWN = 5

Place = tuple[str, str]
"""A question's id and a template's name."""


def load_stored(rest: str, options: ModelOptions) -> Model:
    """The model `answers:FILE`."""
    if not rest:
        raise UserError("Stored answers are named by their file: answers:FILE.")
    path = Path(rest).expanduser()
    return StoredAnswers(f"answers:{rest}", *read_stored(path), _digest(path))


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file in answer_files(path):
        digest.update(file.read_bytes())
    return digest.hexdigest()


class StoredAnswers(Model):
    """Answers by question and template, whoever gave them."""

    family = scope = "stored"
    accepts = TEXT_AND_PICTURES
    probabilities_hint = "store log-probabilities, or several sampled texts per question"

    def __init__(
        self, name: str, rows: Sequence[StoredRow], bad: Sequence[BadRow], fingerprint: str
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._rows = rows
        self._bad = bad
        samples = Counter(
            (row.question, row.template, row.context) for row in rows for _ in row.texts
        )
        self.only_chooses = (
            not any(row.logp is not None for row in rows) and max(samples.values()) == 1
        )
        self._by_prompt: dict[str, list[StoredRow]] = {}

    def restrict(self, task: Task) -> Task:
        """The templates that any answer is of; there is no answer to a prompt that does not name
        the object."""
        answered = {template for _, template in self._located(task)}
        if not answered:
            names = ", ".join(
                dict.fromkeys(str(row.question or row.context) for row in self._rows[:SHOWN])
            )
            raise UserError(
                f"'{self.name}' has no answer to a question of '{task.name}': it is about {names}, "
                "and the questions "
                f"are called {', '.join(question.id for question in task.questions[:SHOWN])}."
            )
        kept = tuple(template for template in task.templates if template.name in answered)
        return replace(task, templates=kept, neutral={})

    def prepare(self, task: Task) -> None:
        """Find the answers to the task's prompts; report what is missing, unknown or cannot be
        used."""
        located = self._located(task)
        self._by_prompt = {}
        missing: list[str] = []
        misfits: list[str] = []
        for template in task.templates:
            for question in task.questions:
                rows = located.get((question.id, template.name), [])
                fitting = [
                    fitted
                    for row in rows
                    if (fitted := _fitted(row, question, template)) is not None
                ]
                self._by_prompt.setdefault(template.ask(question).key, []).extend(fitting)
                missing += [] if fitting else [question.id]
                misfits += [question.id] * (len(rows) - len(fitting))
        used = {id(row) for rows in located.values() for row in rows}
        unknown = [str(row.question or row.context) for row in self._rows if id(row) not in used]
        total = len(task.questions) * len(task.templates)
        for what, examples in (
            (f"of {total:,} questions have no stored answer and count as wrong", missing),
            (f"of {len(self._rows):,} stored answers are to no question of '{task.name}'", unknown),
            ("stored answers have other options than their question", misfits),
            ("rows cannot be read", list(map(str, self._bad))),
        ):
            if examples:
                names = list(dict.fromkeys(examples))
                listed = "; ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
                self.note(f"{self.name}: {len(examples):,} {what} ({listed}).")

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The stored scores, or those of the stored texts."""
        return [self._scores(prompt) for prompt in prompts]

    def _scores(self, prompt: Prompt) -> Scores:
        rows = self._by_prompt.get(prompt.key)
        if rows is None:
            raise UserError(
                f"'{self.name}' are answers that exist: ask without --how, --chat and --shots."
            )
        if not rows:
            return choice_scores(prompt, [NO_ANSWER] * len(prompt.options))
        for row in rows:
            # `_fitted` put them in order
            if row.logp is not None and not isinstance(row.logp, Mapping):
                return choice_scores(prompt, row.logp)
        return score_replies(prompt, [Reply(text) for row in rows for text in row.texts])

    def _located(self, task: Task) -> dict[Place, list[StoredRow]]:
        """The answers to each question in each template, options in the question's order."""
        questions = {question.id: question for question in task.questions}
        if any(row.context for row in self._rows):
            by_context = _contexts(task)
        else:
            by_context = {}
        located: dict[Place, list[StoredRow]] = {}
        for row in self._rows:
            if row.context is not None:
                places = by_context.get(row.context.strip(), [])
                own = [place for place in places if place[0] == row.question]
                places = own or (places if row.question not in questions else [])
            else:
                templates = [t.name for t in task.templates if row.template in (None, t.name)]
                if row.question in questions:
                    places = [(row.question, name) for name in templates]
                else:
                    places = []
            for place in places:
                located.setdefault(place, []).append(row)
        return located


def _contexts(task: Task) -> dict[str, list[Place]]:
    """The questions by what stands before their slot, as lm-eval puts them."""
    places: dict[str, list[Place]] = {}
    for template in task.templates:
        for question in task.questions:
            context = resolve_separator(template.ask(question).parts[0], None).strip()
            places.setdefault(context, []).append((question.id, template.name))
    return places


def _fitted(row: StoredRow, question: Question, template: Template) -> StoredRow | None:
    """The answer with its scores in the order of the question's options; None where it has other
    options."""
    if row.logp is None:
        return row
    if isinstance(row.logp, Mapping) or row.options:
        if isinstance(row.logp, Mapping):
            scores = row.logp
        else:
            scores = dict(zip(row.options, row.logp, strict=False))
        values: list[float | None]
        words = template.ask(question).options
        values = [
            scores.get(label, scores.get(word))
            for label, word in zip(question.options, words, strict=True)
        ]
    else:
        if len(row.logp) == len(question.options):
            values = list(row.logp)
        else:
            values = [None]
    ordered = [logp for logp in values if logp is not None]
    if len(ordered) == len(values):
        return replace(row, logp=ordered, options=())
    return None
