"""StoredAnswers: a file of answers as a model, `answers:FILE`, with figures, comparisons and pages
like any other.

A stored text is matched to the options like a free answer; a list of texts holds samples. A
question without an answer counts as wrong, and the run says how many there are. Of several answers
to one question equal ones count once; answers that contradict one another are refused, since
nobody can know which of them is meant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from seesay.answers import NO_ANSWER
from seesay.data.stored_answers import StoredRow, answer_files, as_spoken, read_stored
from seesay.errors import UserError
from seesay.matching import match
from seesay.models.base import TEXT_AND_PICTURES, Model, Reply, choice_scores
from seesay.models.options import ModelOptions
from seesay.probes.generated import note_misses, score_replies
from seesay.questions import BadRow, Prompt, Question, Scores, Task, Template, resolve_separator

SHOWN = 5

Place = tuple[str, str]
"""A question's id and a template's name."""

Put = tuple[str, frozenset[str], str | None]
"""What was put before the choices, the choices, and the question's id if it is known."""

ANY_CHOICES = frozenset[str]()


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


class StoredTemplate(Template):
    """A template whose prompts tell questions apart that are put alike: each has its own answer."""

    def ask(self, question: Question, fields: Mapping[str, str] | None = None) -> Prompt:
        """Return the question put this way, with its id."""
        return replace(super().ask(question, fields), question=question.id)

    def __eq__(self, other: object) -> bool:
        """Whether another template puts questions the same way, as the one does that is read from
        the run's folder."""
        if not isinstance(other, Template):
            return NotImplemented
        return all(
            getattr(self, field.name) == getattr(other, field.name) for field in fields(self)
        )

    __hash__ = Template.__hash__


class StoredAnswers(Model):
    """Answers by question and template, whoever gave them."""

    family = scope = "stored"
    accepts = TEXT_AND_PICTURES
    probabilities_hint = "store log-probabilities, or a list of sampled texts for every question"

    def __init__(
        self,
        name: str,
        rows: Sequence[StoredRow],
        bad_rows: Sequence[BadRow],
        fingerprint: str,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._rows = rows
        self._bad_rows = bad_rows
        self._task_name = ""
        self._by_prompt: dict[str, StoredRow | None] = {}

    def restrict(self, task: Task) -> Task:
        """Return the task with the templates that any answer is of; there is no answer to a prompt
        that does not name the object."""
        located = self._locate(task)
        if not located:
            subjects = dict.fromkeys(map(_subject, self._rows[:SHOWN]))
            questions = [question.id for question in task.questions[:SHOWN]]
            raise UserError(
                f"'{self.name}' has no answer to a question of '{task.name}': "
                f"it is about {', '.join(subjects)}, "
                f"and the questions are called {', '.join(questions)}."
            )
        answers = [row for rows in located.values() for row in rows]
        # neither scores nor samples: one answer of that kind among others makes no probability
        self.only_chooses = any(row.logp is None and len(row.texts) == 1 for row in answers)
        answered = {template for _, template in located}
        templates = tuple(
            StoredTemplate(template.name, template.text, template.words, template.instructions)
            for template in task.templates
            if template.name in answered
        )
        return replace(task, templates=templates, neutral={})

    def prepare(self, task: Task) -> None:
        """Find the answers to the task's prompts; report what is missing, unknown or cannot be
        used, and refuse what contradicts itself."""
        located = self._locate(task)
        self._task_name = task.name
        self._by_prompt = {}
        # a row or a question counts once, in however many templates
        misfits: dict[int, str] = {}
        contradictions: dict[str, None] = {}
        for template in task.templates:
            for question in task.questions:
                prompt = template.ask(question)
                answers: list[StoredRow] = []
                for row in located.get((question.id, template.name), []):
                    answer = _order_scores(row, question, prompt)
                    if answer is None:
                        misfits[id(row)] = question.id
                    else:
                        answers.append(answer)
                if _contradict(answers, prompt):
                    contradictions[question.id] = None
                # scores say more than texts that agree with them
                with_scores = [answer for answer in answers if answer.logp is not None]
                self._by_prompt[prompt.key] = next(iter(with_scores or answers), None)
        if contradictions:
            noun = "question" if len(contradictions) == 1 else "questions"
            raise UserError(
                f"'{self.name}' has answers that contradict one another to "
                f"{_count_and_name(noun, contradictions)}: keep one answer to each; several "
                "samples are a list in one row."
            )
        self._refuse_unusable(task, misfits.values())
        # by identity: two equal rows are two answers, and either may be to no question
        used = {id(row) for rows in located.values() for row in rows}
        unknown = [_subject(row) for row in self._rows if id(row) not in used]
        stored = len(self._rows)
        problems = {
            f"of {stored:,} stored answers are to no question of '{task.name}'": unknown,
            "stored answers have other options than their question": misfits.values(),
            "rows cannot be read": list(map(str, self._bad_rows)),
        }
        for problem, subjects in problems.items():
            if subjects:
                self.note(f"{self.name}: {_count_and_name(problem, subjects)}.")

    def _refuse_unusable(self, task: Task, misfits: Collection[str]) -> None:
        """Refuse answers of which none has the options of its question."""
        if any(self._by_prompt.values()):
            return
        raise UserError(
            f"'{self.name}' has no usable answer to '{task.name}': "
            f"{_count_and_name('rows have other options than their question', misfits)}."
        )

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Return the prompts in batches; report which of them, and not of the whole task, have no
        answer."""
        missing = [
            str(prompt.question) for prompt in prompts if not self._by_prompt.get(prompt.key)
        ]
        if missing:
            problem = (
                f"of {len(prompts):,} prompts of '{self._task_name}' have no stored answer: asked, "
                "they count as wrong"
            )
            self.note(f"{self.name}: {_count_and_name(problem, missing)}.")
        return super().plan(prompts)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """Return what was noted of the rows, and how many stored texts named no option."""
        return [*super().notes(answered), *note_misses(answered)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the stored scores, or those of the stored texts."""
        return [self._scores(prompt) for prompt in prompts]

    def _scores(self, prompt: Prompt) -> Scores:
        if prompt.key not in self._by_prompt:
            raise UserError(
                f"'{self.name}' are answers that exist: ask without --how, --chat and --shots."
            )
        answer = self._by_prompt[prompt.key]
        if answer is None:
            return choice_scores(prompt, [NO_ANSWER] * len(prompt.options))
        if answer.logp is not None:
            return choice_scores(prompt, answer.logp)
        return score_replies(prompt, [Reply(text) for text in answer.texts])

    def _locate(self, task: Task) -> dict[Place, list[StoredRow]]:
        """The answers to each question in each template."""
        question_ids = {question.id for question in task.questions}
        template_names = [template.name for template in task.templates]
        places_by_put: dict[Put, list[Place]] = {}
        # prompts are made only where a file knows questions by what was put
        if any(row.context is not None for row in self._rows):
            places_by_put = _places_by_put(task)
        located: dict[Place, list[StoredRow]] = {}
        for row in self._rows:
            places: Sequence[Place] = []
            if row.context is not None:
                # other programs number questions in their own way: an id counts only where it is
                # one of ours
                known_id = row.question if row.question in question_ids else None
                put = (row.context, frozenset(row.options), known_id)
                with_other_choices = (row.context, ANY_CHOICES, known_id)
                places = places_by_put.get(put, [])
                if known_id is not None and not places:
                    places = places_by_put.get(with_other_choices, [])
            elif row.question in question_ids:
                # a row that names no template answers its question in all of them
                names = template_names if row.template is None else [row.template]
                places = [(row.question, name) for name in names if name in template_names]
            for place in places:
                located.setdefault(place, []).append(row)
        return located


def _count_and_name(problem: str, subjects: Collection[str]) -> str:
    """Say how many rows or questions have a problem, with some of their names."""
    names = list(dict.fromkeys(subjects))
    examples = "; ".join(names[:SHOWN])
    if len(names) > SHOWN:
        examples += " …"
    return f"{len(subjects):,} {problem} ({examples})"


def _subject(row: StoredRow) -> str:
    """What a row says it is about: its question's id, or the text that was put."""
    return str(row.question or row.context)


def _places_by_put(task: Task) -> dict[Put, list[Place]]:
    """The questions by what stands before their slot, as lm-eval puts them, by their choices, and
    by their id."""
    places: dict[Put, list[Place]] = {}
    for template in task.templates:
        for question in task.questions:
            prompt = template.ask(question)
            context = as_spoken(resolve_separator(prompt.parts[0], None))
            namings = {frozenset(names) for names in _logged_choices(prompt)}
            place = (question.id, template.name)
            for choices in (ANY_CHOICES, *namings):
                places.setdefault((context, choices, question.id), []).append(place)
                places.setdefault((context, choices, None), []).append(place)
    return places


def _logged_choices(prompt: Prompt) -> Iterator[list[str]]:
    """Yield what another program may have put for each option: with the rest of the sentence, or
    without."""
    _, after = prompt.parts
    ending = resolve_separator(after, None)
    yield [as_spoken(word + ending) for word in prompt.options]
    yield [as_spoken(word) for word in prompt.options]


def _order_scores(
    row: StoredRow,
    question: Question,
    prompt: Prompt,
) -> StoredRow | None:
    """The answer with its scores in the order of the question's options; None where it has other
    options."""
    if row.logp is None:
        return row
    if not row.options:
        # a list without names is taken to be in order
        is_complete = len(row.logp) == len(question.options)
        return row if is_complete else None
    by_name = dict(zip(row.options, row.logp, strict=True))
    # files name options by their labels, or by the words that stand for them in the template
    namings: list[Sequence[str]] = [question.options, prompt.options]
    if row.context is not None:
        namings = [*_logged_choices(prompt), question.options]
    for names in namings:
        if len(set(names)) == len(names) and by_name.keys() >= set(names):
            return replace(row, logp=tuple(by_name[name] for name in names), options=())
    return None


def _contradict(answers: Sequence[StoredRow], prompt: Prompt) -> bool:
    """Whether answers to one question differ: in their scores, in their texts where there are no
    scores, or a text names another option than the one with the best score."""
    scores = {answer.logp for answer in answers if answer.logp is not None}
    texts = {answer.texts for answer in answers if answer.texts}
    if not scores:
        return len(texts) > 1
    logp = next(iter(scores))
    best = {
        option for option, value in zip(prompt.options, logp, strict=True) if value == max(logp)
    }
    for text in (text for samples in texts for text in samples):
        # a text that names none or several may be the question's
        labels = match(text, prompt.options, question=prompt.question_text).labels
        if len(labels) == 1 and labels[0] not in best:
            return True
    return len(scores) > 1
