"""StoredAnswers: a file of answers as a model, `answers:FILE`, with figures, comparisons and pages
like any other.

A stored text is matched to the options like a free answer; several texts to one question are
samples. A question without an answer counts as wrong, and the run says how many there are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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


def load_stored(
    rest: str,
    options: ModelOptions,
) -> Model:
    """Return the model `answers:FILE`."""
    if not rest:
        raise UserError("Stored answers are named by their file: answers:FILE.")
    path = Path(rest).expanduser()
    rows, bad_rows = read_stored(path)
    return StoredAnswers(
        f"answers:{rest}",
        rows,
        bad_rows,
        _digest(path),
    )


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
        self,
        name: str,
        rows: Sequence[StoredRow],
        bad_rows: Sequence[BadRow],
        fingerprint: str,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.only_chooses = _only_choose(rows)
        self._rows = rows
        self._bad_rows = bad_rows
        self._by_prompt: dict[str, list[StoredRow]] = {}

    def restrict(self, task: Task) -> Task:
        """Return the task with the templates that any answer is of; there is no answer to a prompt
        that does not name the object."""
        answered = {template for _, template in self._locate(task)}
        if not answered:
            subjects = dict.fromkeys(map(_subject, self._rows[:SHOWN]))
            questions = [question.id for question in task.questions[:SHOWN]]
            raise UserError(
                f"'{self.name}' has no answer to a question of '{task.name}': "
                f"it is about {', '.join(subjects)}, "
                f"and the questions are called {', '.join(questions)}."
            )
        templates = tuple(template for template in task.templates if template.name in answered)
        return replace(task, templates=templates, neutral={})

    def prepare(self, task: Task) -> None:
        """Find the answers to the task's prompts; report what is missing, unknown or cannot be
        used."""
        located = self._locate(task)
        self._by_prompt = {}
        missing: list[str] = []
        misfits: list[str] = []
        for template in task.templates:
            for question in task.questions:
                key = template.ask(question).key
                fitting = self._by_prompt.setdefault(key, [])
                has_answer = False
                for row in located.get((question.id, template.name), []):
                    ordered = _order_scores(row, question, template)
                    if ordered is None:
                        misfits.append(question.id)
                    else:
                        has_answer = True
                        fitting.append(ordered)
                if not has_answer:
                    missing.append(question.id)
        # by identity: two equal rows are two answers, and either may be to no question
        used = {id(row) for rows in located.values() for row in rows}
        unknown = [_subject(row) for row in self._rows if id(row) not in used]
        asked = len(task.questions) * len(task.templates)
        stored = len(self._rows)
        self._note_rows(f"of {asked:,} questions have no stored answer and count as wrong", missing)
        self._note_rows(
            f"of {stored:,} stored answers are to no question of '{task.name}'",
            unknown,
        )
        self._note_rows("stored answers have other options than their question", misfits)
        self._note_rows("rows cannot be read", list(map(str, self._bad_rows)))

    def _note_rows(
        self,
        problem: str,
        rows: Sequence[str],
    ) -> None:
        """Note how many rows have a problem, with some of their names."""
        if not rows:
            return
        names = list(dict.fromkeys(rows))
        examples = "; ".join(names[:SHOWN])
        if len(names) > SHOWN:
            examples += " …"
        self.note(f"{self.name}: {len(rows):,} {problem} ({examples}).")

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the stored scores, or those of the stored texts."""
        return [self._scores(prompt) for prompt in prompts]

    def _scores(self, prompt: Prompt) -> Scores:
        rows = self._by_prompt.get(prompt.key)
        if rows is None:
            raise UserError(
                f"'{self.name}' are answers that exist: ask without --how, --chat and --shots."
            )
        if not rows:
            return choice_scores(prompt, [NO_ANSWER] * len(prompt.options))
        replies: list[Reply] = []
        for row in rows:
            # `_order_scores` made a list of every mapping
            if row.logp is not None and not isinstance(row.logp, Mapping):
                return choice_scores(prompt, row.logp)
            replies += map(Reply, row.texts)
        return score_replies(prompt, replies)

    def _locate(self, task: Task) -> dict[Place, list[StoredRow]]:
        """The answers to each question in each template."""
        question_ids = {question.id for question in task.questions}
        template_names = [template.name for template in task.templates]
        by_context: dict[str, list[Place]] = {}
        # prompts are made only where a file knows questions by what was put
        if any(row.context for row in self._rows):
            by_context = _contexts(task)
        located: dict[Place, list[StoredRow]] = {}
        for row in self._rows:
            places: Sequence[Place] = []
            if row.context is not None:
                places = _places_in_context(row, by_context, question_ids)
            elif row.question in question_ids:
                # a row that names no template answers its question in all of them
                names = template_names if row.template is None else [row.template]
                places = [(row.question, name) for name in names if name in template_names]
            for place in places:
                located.setdefault(place, []).append(row)
        return located


def _only_choose(rows: Sequence[StoredRow]) -> bool:
    """Whether the rows hold neither scores nor several texts to one question, which would give
    probabilities."""
    if any(row.logp is not None for row in rows):
        return False
    samples = Counter[tuple[str | None, ...]]()
    for row in rows:
        samples[row.question, row.template, row.context] += len(row.texts)
    return max(samples.values()) == 1


def _subject(row: StoredRow) -> str:
    """What a row says it is about: its question's id, or the text that was put."""
    return str(row.question or row.context)


def _places_in_context(
    row: StoredRow,
    by_context: Mapping[str, Sequence[Place]],
    question_ids: Collection[str],
) -> Sequence[Place]:
    """The questions that were put in a logged text. Other programs number questions in their own
    way, so that an id counts only where it is one of ours."""
    places = by_context.get((row.context or "").strip(), [])
    same_question = [place for place in places if place[0] == row.question]
    if same_question:
        return same_question
    return [] if row.question in question_ids else places


def _contexts(task: Task) -> dict[str, list[Place]]:
    """The questions by what stands before their slot, as lm-eval puts them."""
    places: dict[str, list[Place]] = {}
    for template in task.templates:
        for question in task.questions:
            prompt = template.ask(question)
            before, _ = prompt.parts
            context = resolve_separator(before, None).strip()
            place = (question.id, template.name)
            places.setdefault(context, []).append(place)
    return places


def _order_scores(
    row: StoredRow,
    question: Question,
    template: Template,
) -> StoredRow | None:
    """The answer with its scores in the order of the question's options; None where it has other
    options."""
    if row.logp is None:
        return row
    if isinstance(row.logp, Mapping):
        by_option = row.logp
    elif row.options:
        by_option = dict(zip(row.options, row.logp, strict=False))
    else:
        # a list without names is taken to be in order
        is_complete = len(row.logp) == len(question.options)
        return row if is_complete else None
    # files name options by their labels, or by the words that stand for them in the template
    words = template.ask(question).options
    values = [
        by_option.get(label, by_option.get(word))
        for label, word in zip(question.options, words, strict=True)
    ]
    ordered = [logp for logp in values if logp is not None]
    if len(ordered) < len(values):
        return None
    return replace(row, logp=ordered, options=())
