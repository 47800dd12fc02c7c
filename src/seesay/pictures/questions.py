"""Three questions per picture: what is it here, what is it usually, and the latter without the picture (blind)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from seesay.data.colors import COLORS
from seesay.pictures.plan import SIZES, ColorPicture, SizePicture, is_held_out
from seesay.pictures.things import Thing
from seesay.questions import Question

HERE, USUALLY, BLIND = "here", "usually", "blind"

Tags = Callable[[Thing], Mapping[str, str]]
"""Further tags of a thing, such as how sure people are of its colour."""


def color_here(name: str) -> str:
    """The question about the picture, which reasoners are trained on."""
    return f"What is the color of the {name} in this picture?"


def color_questions(pictures: Sequence[ColorPicture], folder: Path, tags: Tags) -> Iterator[Question]:
    """The questions about colours, the blind one of a thing before its others; pictures are `FOLDER/NAME.png`."""
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.subject, str):
            yield _control(picture.name, path, _color_fields(picture.subject, ""), COLORS, picture.color)
            continue
        thing, typical = picture.subject, picture.subject.colors
        shared = {**tags(thing), "category": thing.category, "things": "unmet" if is_held_out(thing) else "met"}
        usual = {color: 1 / len(typical) for color in typical}
        about = _color_fields(thing.name, typical[0], thing.phrase)
        if thing.name not in blind:
            blind.add(thing.name)
            yield _question(thing.name, BLIND, about, COLORS, usual, thing.name, shared)
        shared |= {"condition": picture.condition}
        twin = f"{thing.name} | {BLIND}"
        if picture.condition != "silhouette":
            pulls = {} if picture.color in typical else {"prior": typical}
            gold = {picture.color: 1.0}
            yield _question(picture.name, HERE, about, COLORS, gold, thing.name, shared, path, pulls, twin)
        pulls = {} if picture.color in typical else {"picture": (picture.color,)}
        yield _question(picture.name, USUALLY, about, COLORS, usual, thing.name, shared, path, pulls, twin)


def size_questions(pictures: Sequence[SizePicture], folder: Path) -> Iterator[Question]:
    """The questions about sizes, in the same order."""
    blind: set[str] = set()
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        if isinstance(picture.first, str) or isinstance(picture.second, str):
            names = str(picture.first), str(picture.second)
            yield _control(picture.name, path, _size_fields(*names, "", *names), SIZES, picture.shown)
            continue
        first, second, usual = picture.first, picture.second, picture.usual
        pair = f"{first.name} / {second.name}"
        about = _size_fields(first.name, second.name, usual, first.phrase, second.phrase)
        shared = {"kind": "same category" if first.category == second.category else "different categories"}
        if pair not in blind:
            blind.add(pair)
            yield _question(pair, BLIND, about, SIZES, {usual: 1.0}, pair, shared)
        shared |= {"condition": picture.condition}
        twin, agrees = f"{pair} | {BLIND}", picture.shown == usual
        pulls = {} if agrees else {"prior": (usual,)}
        yield _question(picture.name, HERE, about, SIZES, {picture.shown: 1.0}, pair, shared, path, pulls, twin)
        pulls = {} if agrees else {"picture": (picture.shown,)}
        yield _question(picture.name, USUALLY, about, SIZES, {usual: 1.0}, pair, shared, path, pulls, twin)


_Fields = dict[str, dict[str, str]]


def _color_fields(name: str, usual: str, phrase: str = "") -> _Fields:
    here = {"question": color_here(name), "claim": f"In this picture, the color of the {name} is"}
    usually = {
        "question": f"What is the usual color of {phrase}?",
        "claim": f"In the world, the usual color of {phrase} is",
    }
    return {asked: {"usual": usual, **(here if asked == HERE else usually)} for asked in (HERE, USUALLY, BLIND)}


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
    return {asked: {"usual": usual, **(here if asked == HERE else usually)} for asked in (HERE, USUALLY, BLIND)}


def _control(name: str, path: str, fields: _Fields, options: tuple[str, ...], answer: str) -> Question:
    return _question(name, HERE, fields, options, {answer: 1.0}, name, {"condition": "control"}, path)


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
