"""Three questions per picture: what is it here, what is it usually, and the latter without the
picture (blind)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from seesay.data.colors import COLORS
from seesay.pictures.plan import SIZES, ColorPicture, Picture, SizePicture, is_held_out
from seesay.pictures.things import Thing
from seesay.questions import Question

HERE, USUALLY, BLIND = "here", "usually", "blind"

Tags = Callable[[Thing], Mapping[str, str]]
"""Further tags of a thing, such as how sure people are of its colour."""


def color_here(name: str) -> str:
    """The question about the picture, which reasoners are trained on."""
    return f"What is the color of the {name} in this picture?"


def color_questions(
    pictures: Sequence[ColorPicture], folder: Path, tags: Tags
) -> Iterator[Question]:
    """The questions about colours, the blind one of a thing before its others; pictures are
    `FOLDER/NAME.png`."""
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.subject, str):
            yield _control(
                picture.name, path, _color_fields(picture.subject, ""), COLORS, picture.color
            )
            continue
        thing = picture.subject
        typical = picture.subject.colors
        shared = {
            **tags(thing),
            "category": thing.category,
            "things": "unmet" if is_held_out(thing) else "met",
        }
        about = _color_fields(thing.name, typical[0], thing.phrase)
        yield from _here_usually_blind(
            picture, path, about, COLORS, thing.name, shared, picture.color, typical, blind=blind
        )


def size_questions(pictures: Sequence[SizePicture], folder: Path) -> Iterator[Question]:
    """The questions about sizes, in the same order."""
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.first, str) or isinstance(picture.second, str):
            names = str(picture.first), str(picture.second)
            yield _control(
                picture.name, path, _size_fields(*names, "", *names), SIZES, picture.shown
            )
            continue
        first = picture.first
        second = picture.second
        usual = picture.usual
        about = _size_fields(first.name, second.name, usual, first.phrase, second.phrase)
        shared = {
            "kind": "same category" if first.category == second.category else "different categories"
        }
        pair = f"{first.name} / {second.name}"
        yield from _here_usually_blind(
            picture, path, about, SIZES, pair, shared, picture.shown, (usual,), blind=blind
        )


def _here_usually_blind(
    picture: Picture,
    path: str,
    about: _Fields,
    options: tuple[str, ...],
    subject: str,
    tags: Mapping[str, str],
    shown: str,
    typical: tuple[str, ...],
    *,
    blind: set[str],
) -> Iterator[Question]:
    """The questions about a picture that shows one label of a subject with typical ones; `blind`
    are the subjects that were asked about without a picture before."""
    usual = {label: 1 / len(typical) for label in typical}
    if subject not in blind:
        blind.add(subject)
        yield _question(subject, BLIND, about, options, usual, subject, tags)
    tags = {**tags, "condition": picture.condition}
    twin = f"{subject} | {BLIND}"
    for asked, gold, source, pull in (
        (HERE, {shown: 1.0}, "prior", typical),
        (USUALLY, usual, "picture", (shown,)),
    ):
        pulls = {} if shown in typical else {source: pull}
        if asked == USUALLY or picture.condition != "silhouette":
            yield _question(
                picture.name, asked, about, options, gold, subject, tags, path, pulls, twin
            )


_Fields = dict[str, dict[str, str]]


def _color_fields(name: str, usual: str, phrase: str = "") -> _Fields:
    here = {"question": color_here(name), "claim": f"In this picture, the color of the {name} is"}
    usually = {
        "question": f"What is the usual color of {phrase}?",
        "claim": f"In the world, the usual color of {phrase} is",
    }
    return _fields(usual, here, usually)


def _size_fields(first: str, second: str, usual: str, a: str, b: str) -> _Fields:
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
    name: str, path: str, fields: _Fields, options: tuple[str, ...], answer: str
) -> Question:
    return _question(
        name, HERE, fields, options, {answer: 1.0}, name, {"condition": "control"}, path
    )


def _question(
    name: str,
    asked: str,
    fields: _Fields,
    options: tuple[str, ...],
    gold: Mapping[str, float],
    subject: str,
    tags: Mapping[str, str],
    picture: str | None = None,
    pulls: Mapping[str, tuple[str, ...]] | None = None,
    blind: str = "",
) -> Question:
    return Question(
        id=f"{name} | {asked}",
        fields=fields[asked],
        options=options,
        gold=gold,
        object=subject,
        tags={"asked": asked, **tags},
        picture=picture,
        marks=pulls or {},
        twin=blind,
    )
