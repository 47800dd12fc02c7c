"""Three questions per picture: what is it here, what is it usually, and the latter blind.

A blind question has no picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seesay.data.colors import COLORS
from seesay.pictures.plan import SIZES, ColorPicture, SizePicture, is_held_out
from seesay.pictures.things import Thing
from seesay.questions import Question

HERE = "here"
USUALLY = "usually"
BLIND = "blind"

Tags = Callable[[Thing], Mapping[str, str]]
"""Further tags of a thing, such as how sure people are of its colour."""


def color_here(name: str) -> str:
    """Return the question about the picture, which reasoners are trained on."""
    return f"What is the color of the {name} in this picture?"


def color_questions(
    pictures: Sequence[ColorPicture], folder: Path, tags: Tags
) -> Iterator[Question]:
    """Yield the questions about colours, the blind one of a thing before its others.

    Pictures are `FOLDER/NAME.png`.
    """
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.subject, str):
            fields = _color_fields(picture.subject, "")
            yield _control(picture.name, path, fields, COLORS, picture.color)
            continue
        thing = picture.subject
        subject = _Subject(
            name=thing.name,
            fields=_color_fields(thing.name, thing.colors[0], thing.phrase),
            options=COLORS,
            tags={
                **tags(thing),
                "category": thing.category,
                "things": "unmet" if is_held_out(thing) else "met",
            },
            typical=thing.colors,
        )
        yield from _here_usually_blind(picture, path, subject, picture.color, blind)


def size_questions(pictures: Sequence[SizePicture], folder: Path) -> Iterator[Question]:
    """Yield the questions about sizes, the blind one of a pair before its others.

    Pictures are `FOLDER/NAME.png`.
    """
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.first, str) or isinstance(picture.second, str):
            # shapes are called by their names, and have no article
            names = str(picture.first), str(picture.second)
            fields = _size_fields(*names, "", *names)
            yield _control(picture.name, path, fields, SIZES, picture.shown)
            continue
        first = picture.first
        second = picture.second
        same = first.category == second.category
        subject = _Subject(
            name=f"{first.name} / {second.name}",
            fields=_size_fields(
                first.name, second.name, picture.usual, first.phrase, second.phrase
            ),
            options=SIZES,
            tags={"kind": "same category" if same else "different categories"},
            typical=(picture.usual,),
        )
        yield from _here_usually_blind(picture, path, subject, picture.shown, blind)


_Fields = dict[str, dict[str, str]]
"""The fields of a question by its type."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A thing or a pair of things: its questions, and the labels that are typical of it."""

    name: str
    fields: _Fields
    options: tuple[str, ...]
    tags: Mapping[str, str]
    typical: tuple[str, ...]


def _here_usually_blind(
    picture: ColorPicture | SizePicture,
    path: str,
    subject: _Subject,
    shown: str,
    blind: set[str],
) -> Iterator[Question]:
    """Yield the questions about a picture that shows one label of a subject.

    `blind` are the names of the subjects that have had their blind question before.
    """
    # typical colours are equally right
    usual = {label: 1 / len(subject.typical) for label in subject.typical}
    if subject.name not in blind:
        blind.add(subject.name)
        yield _question(subject.name, BLIND, subject, usual)
    # where the picture shows what is typical, nothing pulls to a wrong answer
    conflict = shown not in subject.typical
    in_picture = replace(subject, tags={**subject.tags, "condition": picture.condition})
    twin = f"{subject.name} | {BLIND}"
    # a silhouette shows no colour of the thing: only its usual one can be asked for
    if picture.condition != "silhouette":
        pulls = {"prior": subject.typical} if conflict else {}
        yield _question(picture.name, HERE, in_picture, {shown: 1.0}, path, pulls, twin)
    pulls = {"picture": (shown,)} if conflict else {}
    yield _question(picture.name, USUALLY, in_picture, usual, path, pulls, twin)


def _color_fields(name: str, usual: str, phrase: str = "") -> _Fields:
    """Return the fields of the questions about a thing's colour."""
    here = {"question": color_here(name), "claim": f"In this picture, the color of the {name} is"}
    usually = {
        "question": f"What is the usual color of {phrase}?",
        "claim": f"In the world, the usual color of {phrase} is",
    }
    return _fields(usual, here, usually)


def _size_fields(
    first: str,
    second: str,
    usual: str,
    a: str,
    b: str,
) -> _Fields:
    """Return the fields of the questions about two things, with and without their articles."""
    choices = "larger than, smaller than or as large as"
    here = {
        "question": f"In this picture, is the {first} {choices} the {second}?",
        "first": f"In this picture, the {first} is",
        "second": f"the {second}",
    }
    usually = {
        "question": f"In the world, is {a} {choices} {b}?",
        "first": f"In the world, {a} is usually",
        "second": b,
    }
    return _fields(usual, here, usually)


def _fields(usual: str, here: dict[str, str], usually: dict[str, str]) -> _Fields:
    in_world = {"usual": usual, **usually}
    return {HERE: {"usual": usual, **here}, USUALLY: in_world, BLIND: in_world}


def _control(
    name: str,
    path: str,
    fields: _Fields,
    options: tuple[str, ...],
    answer: str,
) -> Question:
    """Return the question about a shape, which has nothing typical."""
    subject = _Subject(name, fields, options, {"condition": "control"}, ())
    return _question(name, HERE, subject, {answer: 1.0}, path)


def _question(
    name: str,
    question_type: str,
    subject: _Subject,
    gold: Mapping[str, float],
    picture: str | None = None,
    pulls: Mapping[str, tuple[str, ...]] | None = None,
    twin: str = "",
) -> Question:
    return Question(
        id=f"{name} | {question_type}",
        fields=subject.fields[question_type],
        options=subject.options,
        gold=gold,
        object=subject.name,
        tags={"question_type": question_type, **subject.tags},
        picture=picture,
        marks=pulls or {},
        twin=twin,
    )
