"""Records of other people (JSON objects, rows of tables and data sets) as captions with the
pictures they describe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from seesay.questions import BadRow

Record = Mapping[str, Any]

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
        """All of them."""
        return [*self.texts, *self.answers, *filter(None, [self.picture])]


def find_fields(names: Iterable[str]) -> Fields | None:
    """The fields that hold captions, or questions with answers; None if there is none."""
    names = [name.strip() for name in names]
    texts = next(
        filter(None, ([name for name in names if kind.fullmatch(name)] for kind in _TEXTS)), None
    )
    if texts is None:
        return None
    if texts[0].lower() == "question":
        answers = tuple(name for name in _ANSWERS if name in names)[:1]
    else:
        answers = ()
    if texts[0].lower() == "question" and not answers:
        return None
    return Fields(
        tuple(texts),
        answers,
        next((name for kind in _PICTURES for name in names if kind.fullmatch(name)), None),
    )


def captions_of(
    fields: Fields, record: object, row: int, pictures: str
) -> Iterator[Caption | BadRow]:
    """The captions of a record, or why it has none. `pictures` is the collection that numbers the
    pictures."""
    if not isinstance(record, Mapping):
        yield BadRow(row, "not a JSON object")
        return
    picture = record.get(fields.picture) if fields.picture else None
    named = f"{pictures}:{picture if isinstance(picture, int | str) else f'row {row}'}"
    for name in fields.texts:
        value = record.get(name)
        if fields.answers:
            value = {"question": value, "answer": record.get(fields.answers[0])}
        for text in texts_of(value):
            if text is None:
                yield BadRow(
                    row,
                    f"no text in '{name}'" if not fields.answers else "no question or no answer",
                )
            else:
                yield Caption(text, named, row)


def texts_of(value: object) -> Iterator[str | None]:
    """The texts in a field: one, a list of them, or objects that hold one; None for what is no
    text.

    A question is read with its answer, as CLIP-BERT was trained on Visual Genome's.
    """
    if isinstance(value, str):
        yield None if "\N{REPLACEMENT CHARACTER}" in value else " ".join(value.split())
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)
    elif isinstance(value, Mapping) and "question" in value:
        question = value["question"]
        answer = answer_of(value)
        complete = isinstance(question, str) and question.strip() and answer
        yield from texts_of(f"{question} {answer}" if complete else None)
    elif isinstance(value, Mapping) and any(name in value for name in _INNER):
        yield from texts_of(next(value[name] for name in _INNER if name in value))
    else:
        yield None


def answer_of(record: Record) -> str | None:
    """The answer in a record; of several people's, the commonest, and the first of equals."""
    value = next((record[name] for name in _ANSWERS if name in record), None)
    if isinstance(value, list):
        answers = [part.get("answer") if isinstance(part, Mapping) else part for part in value]
        common = Counter(answer for answer in answers if isinstance(answer, str)).most_common(1)
        value = common[0][0] if common else None
    return value if isinstance(value, str) and value.strip() else None
