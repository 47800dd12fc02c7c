"""Records of other people as captions with the pictures they describe.

They are JSON objects, or rows of tables and data sets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from seesay.questions import BadRow

Record = Mapping[str, Any]

# Published corpora call these fields by many names; the first kind that a record has is taken.
_TEXTS = tuple(
    re.compile(name, re.IGNORECASE)
    for name in (
        r"captions?([_ ]?\d+)?",
        r"sentences?(_raw)?",
        "text",
        "comment",
        "phrase",
        "regions",
        "qas",
        "question",
    )
)
"""Fields with text, the likeliest first. jxie/flickr8k and others number them: caption_0,
caption_1, …"""
_PICTURES = tuple(
    re.compile(name, re.IGNORECASE)
    for name in (
        r"(image|img|coco|picture)_?id",
        r"(image_?|file_?)name",
        "(image_?)?url",
        "image",
        "id",
    )
)
_INNER = ("raw", "caption", "phrase", "text")
_ANSWERS = ("answer", "multiple_choice_answer", "answers")


class Caption(NamedTuple):
    """A caption, a name for the picture that it describes, and its row in the source (from 1)."""

    text: str
    picture: str
    row: int


class Fields(NamedTuple):
    """The fields of a record that hold its texts, its answers and its picture."""

    texts: tuple[str, ...]
    answers: tuple[str, ...] = ()
    picture: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of all fields that are read."""
        names = [*self.texts, *self.answers]
        if self.picture is not None:
            names.append(self.picture)
        return names


def find_fields(names: Iterable[str]) -> Fields | None:
    """Return the fields that hold captions, or questions with answers; None if there is none."""
    names = [name.strip() for name in names]
    texts = _first_match(names, _TEXTS)
    if not texts:
        return None
    answers: list[str] = []
    if texts[0].lower() == "question":
        # A question without its answer describes nothing of a picture.
        answers = [name for name in _ANSWERS if name in names][:1]
        if not answers:
            return None
    pictures = _first_match(names, _PICTURES)
    return Fields(tuple(texts), tuple(answers), next(iter(pictures), None))


def _first_match(names: Sequence[str], kinds: Iterable[re.Pattern[str]]) -> list[str]:
    """Return the names of the first kind that any name is of."""
    for kind in kinds:
        matches = [name for name in names if kind.fullmatch(name)]
        if matches:
            return matches
    return []


def captions_of(
    fields: Fields,
    record: object,
    row: int,
    pictures: str,
) -> Iterator[Caption | BadRow]:
    """Yield the captions of a record, or why it has none.

    `pictures` is the collection that numbers the pictures.
    """
    if not isinstance(record, Mapping):
        yield BadRow(row, "not a JSON object")
        return
    picture = record.get(fields.picture) if fields.picture else None
    # A record that names no picture describes one of its own.
    if not isinstance(picture, int | str):
        picture = f"row {row}"
    for name in fields.texts:
        value = record.get(name)
        problem = f"no text in '{name}'"
        if fields.answers:
            value = {"question": value, "answer": record.get(fields.answers[0])}
            problem = "no question or no answer"
        for text in texts_of(value):
            if text is None:
                yield BadRow(row, problem)
            else:
                yield Caption(text, f"{pictures}:{picture}", row)


def texts_of(value: object) -> Iterator[str | None]:
    """Yield the texts in a field: one, a list of them, or objects that hold one.

    None stands for what is no text. A question is read with its answer, as CLIP-BERT was trained on
    Visual Genome's.
    """
    if isinstance(value, str):
        # The mark of a byte that could not be decoded: the text was damaged on its way here.
        if "\N{REPLACEMENT CHARACTER}" in value:
            yield None
        else:
            yield " ".join(value.split())
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)
    elif isinstance(value, Mapping) and "question" in value:
        question = value["question"]
        answer = answer_of(value)
        if isinstance(question, str) and question.strip() and answer:
            yield from texts_of(f"{question} {answer}")
        else:
            yield None
    elif isinstance(value, Mapping) and any(name in value for name in _INNER):
        yield from texts_of(next(value[name] for name in _INNER if name in value))
    else:
        yield None


def answer_of(record: Record) -> str | None:
    """Return the answer in a record.

    Of several people's it is the commonest, and the first of equals.
    """
    value = next((record[name] for name in _ANSWERS if name in record), None)
    if isinstance(value, list):
        # VQA's list holds an object per person, others hold the texts themselves.
        answers = [part.get("answer") if isinstance(part, Mapping) else part for part in value]
        counts = Counter(answer for answer in answers if isinstance(answer, str))
        value = max(counts, key=counts.__getitem__, default=None)
    if isinstance(value, str) and value.strip():
        return value
    return None
