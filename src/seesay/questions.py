"""The shared nouns: what is asked (Question, Template, Task), and what came back (Answers).

A question holds the facts, a template says how it is put, and `Template.ask` joins them into a
Prompt: all that a model ever sees."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from seesay.answers import Answer as Answer
from seesay.answers import Answers as Answers
from seesay.answers import Scores as Scores
from seesay.digests import json_digest
from seesay.errors import UserError

SLOT = "[MASK]"
SEPARATOR = "[SEP]"
_CROSSED = " × "
BETWEEN_SHOTS = "\n\n"


@dataclass(frozen=True, slots=True)
class Shot:
    """An in-context example: a text with one slot, the words that may fill it, and the one that
    does."""

    text: str
    options: tuple[str, ...]
    answer: str
    picture: str | None = None

    @property
    def filled(self) -> str:
        """The text with its answer."""
        return self.text.replace(SLOT, self.answer)


def after_shots(shots: Sequence[Shot], text: str) -> str:
    """The text with its examples in front, each with its answer."""
    return BETWEEN_SHOTS.join([*(shot.filled for shot in shots), text])


def resolve_separator(text: str, separator: str | None) -> str:
    """`[SEP]` becomes the model's own separator, or nothing where it has none.

    >>> resolve_separator("What color? [SEP] A: red", None)
    'What color? A: red'
    """
    if separator:
        return text.replace(SEPARATOR, separator)
    return text.replace(f"{SEPARATOR} ", "").replace(SEPARATOR, "")


@lru_cache(maxsize=1 << 15)  # asked for many times in a run, and slow where options are hundreds
def _prompt_key(
    text: str, options: tuple[str, ...], picture: str | None, shots: tuple[object, ...]
) -> str:
    return json_digest(
        [text, options, picture, *([shots] if shots else [])], 12, ensure_ascii=False
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with one slot and the words that may fill it, as a model sees it.

    `fields` are the question's own, for a rule that needs the facts behind the text. `shots` are
    in-context examples; the text begins with them, for models that read nothing but text.
    """

    text: str
    options: tuple[str, ...]
    picture: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)
    shots: tuple[Shot, ...] = ()

    @property
    def asked(self) -> str:
        """The text without its examples."""
        return self.text[len(after_shots(self.shots, "")) :]

    @property
    def is_sentence(self) -> bool:
        """Whether the options are whole sentences."""
        return self.asked == SLOT

    @property
    def parts(self) -> tuple[str, str]:
        """The text before the slot and the text after it."""
        before, _, after = self.text.partition(SLOT)
        return before, after

    @property
    def key(self) -> str:
        """A digest of everything that the model sees: equal prompts are asked once."""
        shots = tuple((shot.text, shot.answer, shot.picture) for shot in self.shots)
        return _prompt_key(self.text, self.options, self.picture, shots)


@dataclass(frozen=True, slots=True)
class Template:
    """One way to put a question. `{field}` takes the question's fields, `[MASK]` marks the slot.

    `words` gives a label its word in this template (`{"larger": "bigger"}`), which may be a field
    (`"{caption}"`); a label without one stands for itself.
    """

    name: str
    text: str
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.text.count(SLOT) != 1:
            raise UserError(f"Template '{self.name}' needs exactly one {SLOT}: {self.text!r}.")

    def ask(self, question: Question, fields: Mapping[str, str] | None = None) -> Prompt:
        """The question put this way; `fields` overrides some of its fields."""
        values = {**question.fields, **(fields or {})}
        text = self.text.format_map(values)
        words = question.options  # shared where nothing is reworded: there may be hundreds
        if self.words:
            words = tuple(
                self.words[label].format_map(values) if label in self.words else label
                for label in words
            )
        # an option that opens the sentence starts with a capital
        if text.startswith(SLOT) and text != SLOT:
            words = tuple(word[:1].upper() + word[1:] for word in words)
        shots = tuple(self._shot(example) for example in question.shots)
        return Prompt(after_shots(shots, text), words, question.picture, values, shots)

    def _shot(self, example: Question) -> Shot:
        prompt = self.ask(example)
        answer = prompt.options[example.options.index(example.best_label)]
        return Shot(prompt.text, prompt.options, answer, prompt.picture)


@dataclass(frozen=True, slots=True)
class Question:
    """Something asked: the fields that fill a template, the labels to choose from, the gold labels
    with their weights.

    `object` names what the question is about: questions about one object are not independent, so
    intervals are clustered by it. `tags` are what results can be sliced by. `picture` is a path,
    for scenes. `shots` are other questions, which are shown before this one with their answers.
    `marks` names sets of labels that a metric of the task's own looks at, such as wrong answers by
    what suggests them. `twin` is the id of the same question asked in another way, with which such
    a metric compares it.
    """

    id: str
    fields: Mapping[str, str]
    options: tuple[str, ...]
    gold: Mapping[str, float]
    object: str
    tags: Mapping[str, str] = field(default_factory=dict)
    picture: str | None = None
    shots: tuple[Question, ...] = ()
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    twin: str = ""

    @property
    def best_label(self) -> str:
        """The gold label of the greatest weight, of equal ones the first."""
        return max(self.gold, key=self.gold.__getitem__)

    @property
    def gold_shares(self) -> dict[str, float]:
        """The gold labels with their weights as shares of the whole."""
        total = sum(self.gold.values()) or 1
        return {label: weight / total for label, weight in self.gold.items()}


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the questions: those that have these tags. Several tags are crossed; their order
    does not matter.

    JSON files hold a slice as an object of tags and values.

    >>> str(Slice.of(segment="pf>=2", answers="colour"))
    'answers=colour × segment=pf>=2'
    """

    items: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(sorted(self.items)))

    @classmethod
    def of(cls, tags: Mapping[str, str] | None = None, **more: str) -> Slice:
        """The slice of these tags and values."""
        return cls(tuple({**(tags or {}), **more}.items()))

    @classmethod
    def parse(cls, text: str) -> Slice:
        """The slice that is printed like this; a text that is no list of `tag=value` is one tag and
        its value."""
        pieces = text.split(_CROSSED)
        if not all("=" in piece for piece in pieces):
            pieces = [text]
        return cls(
            tuple((tag, value) for tag, _, value in (piece.partition("=") for piece in pieces))
        )

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in alphabetical order."""
        return tuple(tag for tag, _ in self.items)

    def __getitem__(self, tag: str) -> str:
        return dict(self.items)[tag]

    def without(self, tag: str) -> Slice | None:
        """The slice with one tag fewer; None where no tag is left."""
        rest = tuple(item for item in self.items if item[0] != tag)
        return Slice(rest) if rest else None

    @property
    def order(self) -> tuple[object, ...]:
        """A sort key under which `pf>=5` stands before `pf>=10`."""
        return tuple((tag, _natural(value)) for tag, value in self.items)

    def __str__(self) -> str:
        return _CROSSED.join(f"{tag}={value}" for tag, value in self.items)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(value: Any) -> Slice:
            if isinstance(value, Slice):
                return value
            return cls.of(dict(value))

        def write(part: Slice, info: Any) -> dict[str, str] | str:
            if info.mode == "json":
                return dict(part.items)
            return str(part)

        serialization = core_schema.plain_serializer_function_ser_schema(write, info_arg=True)
        return core_schema.no_info_plain_validator_function(read, serialization=serialization)


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """A sort key by which numbers within texts are in numerical order."""
    pieces = re.findall(r"\d+|\D+", text)
    digits = [piece.lstrip("0") if piece.isdecimal() else None for piece in pieces]
    return tuple(
        (-1, piece) if d is None else (len(d), d) for piece, d in zip(pieces, digits, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Published:
    """A figure from a paper, shown as it was published."""

    model: str
    metric: str
    value: float
    source: str
    spread: float | None = None
    slice: Slice | None = None


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of a data file that could not be used: where it is and why; `file` names it where there
    are several."""

    row: int
    reason: str
    file: str = ""

    def __str__(self) -> str:
        return f"{f'{self.file}, ' if self.file else ''}row {self.row}: {self.reason}"


@dataclass(frozen=True, slots=True)
class DataSource:
    """A data file that a task was built from, with the beginning of its SHA-256."""

    name: str
    sha256: str
    as_published: bool

    def __str__(self) -> str:
        return f"{self.name} sha256:{self.sha256} ({'as published' if self.as_published else 'not verified'})"


Splits = Mapping[str, tuple["Question", ...]]
"""Questions by `train`, `validation` and `test`."""


@dataclass(frozen=True)
class Task:
    """A named, versioned set of questions with its templates and metrics (the first one is the
    headline).

    `neutral` fills the fields of a prompt that does not name the object: the calibrated rule
    subtracts what a model says to that prompt. `data` lists the files the task was built from,
    `data_notes` what else was done to them, and `as_published` says whether these are the published
    questions, no more and no fewer.

    `nested_by` is a tag whose values are nested sets of the same questions, such as answers that at
    least 2, 5 or 10 people gave: there is a figure for each value of it, and none over all of them.

    What a task supports beyond cloze questions it declares: `choice_templates` for lettered options
    (by default the templates themselves); `linear_text`, what is encoded for a linear probe, with
    `load_splits` to train it on and the published figures of such a probe.
    """

    name: str
    version: str
    title: str
    templates: tuple[Template, ...]
    questions: tuple[Question, ...]
    metrics: tuple[str, ...]
    neutral: Mapping[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    citation: str = ""
    bad_rows: tuple[BadRow, ...] = ()
    data: tuple[DataSource, ...] = ()
    data_notes: tuple[str, ...] = ()
    as_published: bool = False
    nested_by: str = ""
    choice_templates: tuple[Template, ...] = ()
    linear_text: str = ""
    linear_published: tuple[Published, ...] = ()
    load_splits: Callable[[], Splits] | None = field(default=None, compare=False, repr=False)
    licence: str = ""

    def __post_init__(self) -> None:
        if not self.questions:
            raise UserError(f"Task '{self.name}' has no questions: nothing to ask.")
        seen: set[str] = set()
        for question in self.questions:
            if question.id in seen:
                raise ValueError(f"task {self.name}: question id {question.id!r} appears twice")
            seen.add(question.id)
            if not question.gold or set(question.gold) - set(question.options):
                raise ValueError(
                    f"task {self.name}, {question.id}: gold {sorted(question.gold)} is not among "
                    "the options"
                )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that any question offers, in order of first appearance."""
        return tuple(
            dict.fromkeys(label for question in self.questions for label in question.options)
        )

    @property
    def parts(self) -> tuple[Slice | None, ...]:
        """What a headline figure covers: all questions (None), or each set of nested ones, in
        order."""
        if not self.nested_by:
            return (None,)
        values = {
            Slice.of({self.nested_by: question.tags[self.nested_by]}) for question in self.questions
        }
        return tuple(sorted(values, key=lambda part: part.order))

    def splits(self) -> dict[str, Task]:
        """The task by split, `train`, `validation` and `test`, for probes that are trained on
        it."""
        if self.load_splits is None:
            raise UserError(f"'{self.name}' has no training questions.")
        parts = {**self.load_splits()}
        parts.setdefault("test", self.questions)
        return {
            name: replace(
                self, questions=questions, published=self.published if name == "test" else ()
            )
            for name, questions in parts.items()
        }

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything asked: another template, gold label or order of options is another
        task."""
        digest = hashlib.blake2b(digest_size=8)
        for template in self.templates:
            digest.update(
                json.dumps([template.name, template.text, sorted(template.words.items())]).encode()
            )
        for q in self.questions:
            row = [
                q.id,
                sorted(q.fields.items()),
                q.options,
                sorted(q.gold.items()),
                q.object,
                sorted(q.tags.items()),
            ]
            digest.update(json.dumps(row + ([sorted(q.marks.items())] if q.marks else [])).encode())
            if q.picture is not None and Path(q.picture).is_file():
                digest.update(hashlib.blake2b(Path(q.picture).read_bytes()).digest())
        digest.update(json.dumps([self.metrics, sorted(self.neutral.items())]).encode())
        return digest.hexdigest()
