"""The shared nouns: what is asked (Question, Template, Task), and what came back (Scores, Answer).

A question holds the facts, a template says how it is put, and `Template.ask` joins them into a
Prompt: all that a model ever sees."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from seesay.answers import Answer as Answer
from seesay.answers import Scores as Scores
from seesay.braces import fill, references
from seesay.digests import text_digest
from seesay.errors import UserError

SLOT = "[MASK]"
SEPARATOR = "[SEP]"
_CROSSED = " × "
BETWEEN_SHOTS = "\n\n"
THINGS_JOINT = "|"
"""Joins the things of an object that is several."""
EDITION_MARK = "@"
"""Stands between a task's name and that of an edition."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What is put around a question where a model is shown the options or answers freely.

    `one_of` names the options, `few_words` stands where they are too many; `answer` is the cue
    before the answer, `blank` stands before a sentence with a blank.
    """

    answer: str = "Answer:"
    one_of: str = "Answer with one of these: {options}."
    few_words: str = "Answer with one or two words."
    blank: str = "Fill in the blank:"

    def name_options(self, options: Sequence[str]) -> str:
        """Return how to answer with one of these options."""
        return fill(self.one_of, {"options": ", ".join(options)})


ENGLISH = Instructions()


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
    """Return the text with its examples in front, each with its answer."""
    examples = [shot.filled for shot in shots]
    return BETWEEN_SHOTS.join([*examples, text])


def resolve_separator(text: str, separator: str | None) -> str:
    """Return the text with the model's own separator for `[SEP]`, or without where it has none.

    >>> resolve_separator("What color? [SEP] A: red", None)
    'What color? A: red'
    """
    if separator:
        return text.replace(SEPARATOR, separator)
    return text.replace(f"{SEPARATOR} ", "").replace(SEPARATOR, "")


@lru_cache(maxsize=1 << 15)  # asked for many times in a run, and slow where options are hundreds
def _prompt_key(
    text: str,
    options: tuple[str, ...],
    picture: str | None,
    shots: tuple[object, ...],
    question: str | None,
    instructions: Instructions,
) -> str:
    content: list[object] = [picture]
    # most prompts have none
    if shots:
        content.append(shots)
    if question is not None:
        content.append(question)
    if instructions != ENGLISH:
        content.append(astuple(instructions))
    parts = [json.dumps(text, ensure_ascii=False), _options_json(options, ensure_ascii=False)]
    parts += [json.dumps(value, ensure_ascii=False) for value in content]
    return text_digest(f"[{', '.join(parts)}]", 12)


@lru_cache(maxsize=64)  # most questions of a task have the same, which may be thousands
def _options_json(options: tuple[str, ...], *, ensure_ascii: bool = True) -> str:
    """Return the options as they stand in JSON."""
    return json.dumps(options, ensure_ascii=ensure_ascii)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with one slot and the words that may fill it, as a model sees it.

    `fields` are the question's own, for a rule that needs the facts behind the text. `shots` are
    in-context examples; the text begins with them, for models that read nothing but text.
    `question` is the question's id where equal prompts are to be told apart: a model answers them
    alike, but stored answers are to questions. `instructions` are the template's.
    """

    text: str
    options: tuple[str, ...]
    picture: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)
    shots: tuple[Shot, ...] = ()
    question: str | None = None
    instructions: Instructions = ENGLISH

    @property
    def question_text(self) -> str:
        """The text without its examples."""
        return self.text[len(after_shots(self.shots, "")) :]

    @property
    def is_sentence(self) -> bool:
        """Whether the options are whole sentences."""
        return self.question_text == SLOT

    @property
    def parts(self) -> tuple[str, str]:
        """The text before the slot and the text after it."""
        before, _, after = self.text.partition(SLOT)
        return before, after

    @property
    def key(self) -> str:
        """A digest of everything that the model sees: equal prompts are asked once."""
        shots = tuple((shot.text, shot.answer, shot.picture) for shot in self.shots)
        return _prompt_key(
            self.text,
            self.options,
            self.picture,
            shots,
            self.question,
            self.instructions,
        )


@dataclass(frozen=True, slots=True)
class Template:
    """One way to put a question. `{field}` takes the question's fields, `[MASK]` marks the slot.

    `words` gives a label its word in this template (`{"larger": "bigger"}`), which may be a field
    (`"{caption}"`); a label without one stands for itself. `instructions` are what is put around
    the question where options are shown or answers are free, if not in English.
    """

    name: str
    text: str
    words: Mapping[str, str] = field(default_factory=dict)
    instructions: Instructions = ENGLISH

    def __post_init__(self) -> None:
        if self.text.count(SLOT) != 1:
            raise UserError(f"Template '{self.name}' needs exactly one {SLOT}: {self.text!r}.")
        for text in (self.text, *self.words.values()):
            try:
                references(text)
            except ValueError as error:
                raise UserError(f"Template '{self.name}': {error}.") from None

    def ask(self, question: Question, fields: Mapping[str, str] | None = None) -> Prompt:
        """Return the question put this way; `fields` overrides some of its fields."""
        values = {**question.fields, **(fields or {})}
        text = fill(self.text, values)
        words = question.options  # shared where nothing is reworded: there may be hundreds
        if self.words:
            words = tuple(self._word(label, values) for label in words)
        # an option that opens the sentence starts with a capital; a whole sentence has its own
        if text.startswith(SLOT) and text != SLOT:
            words = tuple(word[:1].upper() + word[1:] for word in words)
        shots = tuple(self._shot(example) for example in question.shots)
        return Prompt(
            after_shots(shots, text),
            words,
            question.picture,
            values,
            shots,
            instructions=self.instructions,
        )

    def _word(self, label: str, values: Mapping[str, str]) -> str:
        if label not in self.words:
            return label
        return fill(self.words[label], values)

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
    def things(self) -> tuple[str, ...]:
        """What the question is about, thing by thing: an object may be several ("cat|dog")."""
        return tuple(self.object.split(THINGS_JOINT))

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
        """Return the slice of these tags and values."""
        all_tags = {**(tags or {}), **more}
        return cls(tuple(all_tags.items()))

    @classmethod
    def parse(cls, text: str) -> Slice:
        """Return the slice that is printed like this; a text that is no list of `tag=value` is one
        tag and its value."""
        pieces = text.split(_CROSSED)
        # a value may itself hold the sign between two tags
        if not all("=" in piece for piece in pieces):
            pieces = [text]
        items = []
        for piece in pieces:
            tag, _, value = piece.partition("=")
            items.append((tag, value))
        return cls(tuple(items))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in alphabetical order."""
        return tuple(tag for tag, _ in self.items)

    def __getitem__(self, tag: str) -> str:
        return dict(self.items)[tag]

    def without(self, tag: str) -> Slice | None:
        """Return the slice with one tag fewer; None where no tag remains."""
        items = tuple(item for item in self.items if item[0] != tag)
        if not items:
            return None
        return Slice(items)

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
    """Return a sort key by which numbers within texts are in numerical order."""
    key = []
    for piece in re.findall(r"\d+|\D+", text):
        if piece.isdecimal():
            # the longer number is the greater one: no conversion, however many digits there are
            digits = piece.lstrip("0")
            key.append((len(digits), digits))
        else:
            key.append((-1, piece))
    return tuple(key)


@dataclass(frozen=True, slots=True)
class Published:
    """A figure from a paper, shown as it was published.

    `place` is the table that prints it, as in "Table 4"; a figure without one is from a file of the
    authors, which `source` names.
    """

    model: str
    metric: str
    value: float
    source: str
    spread: float | None = None
    slice: Slice | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of a data file that could not be used: where it is and why; `file` names it where there
    are several."""

    row: int
    reason: str
    file: str = ""

    def __str__(self) -> str:
        place = f"row {self.row}: {self.reason}"
        if self.file:
            return f"{self.file}, {place}"
        return place


@dataclass(frozen=True, slots=True)
class DataSource:
    """A data file that a task was built from, with the beginning of its SHA-256."""

    name: str
    sha256: str
    as_published: bool

    def __str__(self) -> str:
        status = "as published" if self.as_published else "not verified"
        return f"{self.name} sha256:{self.sha256} ({status})"


Splits = Mapping[str, tuple["Question", ...]]
"""Questions by `train`, `validation` and `test`."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the questions of a task come from.

    `data` lists the files that were read, `notes` what else was done to them, and `bad_rows` the
    rows that could not be used. `as_published` says whether these are the published questions, no
    more and no fewer.
    """

    data: tuple[DataSource, ...] = ()
    notes: tuple[str, ...] = ()
    bad_rows: tuple[BadRow, ...] = ()
    licence: str = ""
    citation: str = ""
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Training:
    """What a probe that learns needs from a task: a text to encode, and questions by split.

    `linear_text` is what is encoded for a linear probe, and `linear_published` are the published
    figures of such a probe. `load_splits` gives the questions to learn from; examples before a
    prompt are drawn from them, too.
    """

    linear_text: str = ""
    linear_published: tuple[Published, ...] = ()
    load_splits: Callable[[], Splits] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Task:
    """A named, versioned set of questions with its templates and metrics (the first one is the
    headline).

    `neutral` fills the fields of a prompt that does not name the object: the calibrated rule
    subtracts what a model says to that prompt. `published` are figures of papers about these
    questions.

    `nested_by` is a tag whose values are nested sets of the same questions, such as answers that at
    least 2, 5 or 10 people gave: there is a figure for each value of it, and none over all of them.

    What a task supports beyond cloze questions it declares: `choice_templates` for lettered options
    (by default the templates themselves), `qa_templates` for options that are part of the text (by
    default the first choice template with its options), and `training` for probes that learn.
    """

    name: str
    version: str
    title: str
    templates: tuple[Template, ...]
    questions: tuple[Question, ...]
    metrics: tuple[str, ...]
    neutral: Mapping[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    nested_by: str = ""
    choice_templates: tuple[Template, ...] = ()
    qa_templates: tuple[Template, ...] = ()
    provenance: Provenance = Provenance()
    training: Training = Training()

    def __post_init__(self) -> None:
        if not self.questions:
            raise UserError(f"Task '{self.name}' has no questions: nothing to ask.")
        ids: set[str] = set()
        options: tuple[str, ...] = ()
        offered: set[str] = set()
        for question in self.questions:
            if question.id in ids:
                raise ValueError(f"task {self.name}: question id {question.id!r} appears twice")
            ids.add(question.id)
            # questions in a row often share one list, which may be of thousands
            if question.options is not options:
                options = question.options
                offered = set(options)
            if not question.gold or question.gold.keys() - offered:
                raise ValueError(
                    f"task {self.name}, {question.id}: gold {sorted(question.gold)} is not among "
                    "the options"
                )

    @property
    def series(self) -> str:
        """The name that all editions of the task share."""
        return split_edition(self.name)[0]

    @property
    def edition(self) -> str:
        """Which draw of a renewable task this is; "" for the published one."""
        return split_edition(self.name)[1]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that any question offers, in order of first appearance."""
        # a list that questions share is looked through once
        lists = {id(question.options): question.options for question in self.questions}
        return tuple(dict.fromkeys(chain.from_iterable(lists.values())))

    @property
    def parts(self) -> tuple[Slice | None, ...]:
        """What a headline figure covers: all questions (None), or each set of nested ones, in
        order."""
        if not self.nested_by:
            return (None,)
        values = {question.tags[self.nested_by] for question in self.questions}
        parts = [Slice.of({self.nested_by: value}) for value in values]
        return tuple(sorted(parts, key=lambda part: part.order))

    def splits(self) -> dict[str, Task]:
        """Return the task by split: `train`, `validation` and `test`, for probes that learn."""
        if self.training.load_splits is None:
            raise UserError(f"'{self.name}' has no training questions.")
        parts = {**self.training.load_splits()}
        parts.setdefault("test", self.questions)
        tasks = {}
        for name, questions in parts.items():
            # published figures are about the test questions
            published = self.published if name == "test" else ()
            tasks[name] = replace(self, questions=questions, published=published)
        return tasks

    def without_splits(self) -> Task:
        """Return the task without its training questions: the function that loads them cannot be
        stored."""
        return replace(self, training=replace(self.training, load_splits=None))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything asked: another template, gold label or order of options is another
        task."""
        digest = hashlib.blake2b(digest_size=8)
        for template in self.templates:
            content: list[object] = [template.name, template.text, sorted(template.words.items())]
            if template.instructions != ENGLISH:
                content.append(astuple(template.instructions))
            digest.update(json.dumps(content).encode())
        for question in self.questions:
            digest.update(_question_content(question).encode())
            # by its content: the same picture in another folder is the same question
            if question.picture is not None and Path(question.picture).is_file():
                picture = Path(question.picture).read_bytes()
                digest.update(hashlib.blake2b(picture).digest())
        digest.update(json.dumps([self.metrics, sorted(self.neutral.items())]).encode())
        return digest.hexdigest()


def _question_content(question: Question) -> str:
    """Return what a question adds to the fingerprint of its task, as a list in JSON."""
    content: list[object] = [
        sorted(question.gold.items()),
        question.object,
        sorted(question.tags.items()),
    ]
    # most questions have none
    if question.marks:
        content.append(sorted(question.marks.items()))
    parts = [json.dumps(question.id), json.dumps(sorted(question.fields.items()))]
    parts.append(_options_json(question.options))
    parts += map(json.dumps, content)
    return f"[{', '.join(parts)}]"


def same_question(a: Question, b: Question) -> bool:
    """Whether two questions of one id are the same one."""
    return (a.fields, a.options, a.gold, a.picture) == (b.fields, b.options, b.gold, b.picture)


_EDITION = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def name_edition(name: str, edition: str) -> str:
    """Return what an edition of the task of this name is called.

    >>> name_edition("core-size", "2027-01")
    'core-size@2027-01'
    """
    if not _EDITION.fullmatch(edition):
        raise UserError(
            f"--edition is '{edition}': give a name of small letters, digits, '-', '.' and '_', at "
            "most 32 of them, such as 2027-01."
        )
    series, other = split_edition(name)
    if other:
        raise UserError(f"'{name}' is an edition itself: draw another one of '{series}'.")
    return f"{name}{EDITION_MARK}{edition}"


def split_edition(name: str) -> tuple[str, str]:
    """Return a task's name without its edition, and the edition, which may be "".

    >>> split_edition("core-size@2027-01")
    ('core-size', '2027-01')
    """
    series, _, edition = name.rpartition(EDITION_MARK)
    if series and _EDITION.fullmatch(edition):
        return series, edition
    return name, ""
