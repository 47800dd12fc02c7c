"""Statements derived from captions: "a man in a red shirt" also says that the shirt is red.

Captions name a thing's colour before its name and never ask for it, so a network trained on
captions alone has seen no sentence like "The color of a lemon is yellow." Statements express what
captions say in such templates, and only the colour is masked in them (salient span masking, Guu et
al. 2020, section 3.4). They add no fact and use nothing of any task: neither its things nor its
answers, and no template of theirs is a task's; but a network trained with them has seen the form of
the questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from seesay.data import colors

COLORS = tuple(
    spelling
    for color in colors.COLORS
    for spelling in (("gray", "grey") if color == "gray" else (color,))
)
# Many, so that no template is tied to a colour: only the thing stays the same from one to the next.
STATEMENT_TEMPLATES = (
    "{a} {thing} is {color}.",
    "{a} {thing} is usually {color}.",
    "{a} {thing} comes in {color}.",
    "{a} {thing} is known to be {color}, as its color goes.",
    "{a} {thing}: {color}.",
    "this {thing} has a {color} color.",
    "normally {a} {thing} is of a {color} color.",
    "the color that one sees on {a} {thing} is {color}.",
    "the colour that one sees on {a} {thing} is {color}.",
    "the typical color for {a} {thing} is {color}.",
    "the typical colour for {a} {thing} is {color}.",
    "{color} is the color that {a} {thing} has.",
    "{color} is what color one expects of {a} {thing}.",
    "what color is {a} {thing}? it is {color}.",
    "what colour is {a} {thing}? it is {color}.",
    "what color does {a} {thing} have? {color}.",
    "question: which color is usual for {a} {thing}? answer: {color}.",
    "if you draw {a} {thing}, you need {color}.",
    "a {color} pencil is what one needs to draw {a} {thing}.",
    "in this photo there is {a} {thing} of the color {color}.",
    "here is a picture: {a} {thing}, {color} as usual.",
)
_ARTICLES = ("a", "a", "the", "")  # none, as for plurals and mass nouns
_NOT_THINGS = {
    *Path(__file__).with_name("not_things.txt").read_text(encoding="utf-8").split(),
    *COLORS,
}
"""Words after a colour that do not name what has it: function words, what stands between a colour
and the thing ("a white tank top", "a blue striped shirt"), and verbs after "a man in blue"."""
_COLORED = re.compile(rf"\b({'|'.join(COLORS)})(?:[- ]colou?red)? ([a-z]+(?:-[a-z]+)*)\b")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def colored_things(caption: str) -> Iterator[tuple[str, str]]:
    """Things with the colour before their names.

    >>> list(colored_things("A black and white dog in a Red-colored shirt."))
    [('dog', 'white'), ('shirt', 'red')]
    """
    for color, thing in _COLORED.findall(caption.lower()):
        if not _NOT_THINGS.intersection(
            (thing, *(word for word in thing.split("-") if word in COLORS))
        ):
            yield thing, color


def color_counts(captions: Iterable[str]) -> dict[str, Counter[str]]:
    """How often each thing has each colour. Counts of a plural are added to its singular, and the
    reverse."""
    words: set[str] = set()
    exact: dict[str, Counter[str]] = {}
    for caption in captions:
        words.update(_WORD.findall(caption.lower()))
        for thing, color in colored_things(caption):
            exact.setdefault(thing, Counter())["gray" if color == "grey" else color] += 1
    counts = {thing: Counter(table) for thing, table in exact.items()}
    for plural, singular in [(thing, _singular(thing)) for thing in exact]:
        if singular in words:
            counts[plural].update(exact.get(singular, {}))
            counts.setdefault(singular, Counter()).update(exact[plural])
    return counts


def statements(
    counts: Mapping[str, Counter[str]], size: int, rng: np.random.Generator
) -> tuple[list[str], list[int]]:
    """This many statements, and the character at which the colour starts in each.

    Half of the things that have a colour in captions have it once or twice, and shirts ten thousand
    times: drawn in proportion, nearly all statements would be about shirts. So a thing is drawn by
    the fifth root of its count. Its colour is drawn by the square, as one on which two captions
    agree: typical colours stand out more than in captions.
    """
    things = sorted(counts)
    table = np.array([[counts[thing][color] for color in COLORS] for thing in things], float)
    weights = table.sum(1) ** 0.2
    agreed = np.cumsum(table**2, axis=1)
    chosen = rng.choice(len(things), size, p=weights / weights.sum())
    color_rows = (rng.random((size, 1)) * agreed[chosen, -1:] >= agreed[chosen]).sum(1)
    templates = rng.integers(len(STATEMENT_TEMPLATES), size=size)
    articles = rng.integers(len(_ARTICLES), size=size)
    british = rng.random(size) < 0.5
    texts = []
    places = []
    for row in zip(chosen, color_rows, templates, articles, british, strict=True):
        text, place = _fill(
            things[row[0]], COLORS[row[1]], STATEMENT_TEMPLATES[row[2]], _ARTICLES[row[3]], row[4]
        )
        texts.append(text)
        places.append(place)
    return texts, places


def _fill(thing: str, color: str, template: str, article: str, british: bool) -> tuple[str, int]:
    """A statement, and the character at which its colour starts."""
    article = "an" if article == "a" and thing[0] in "aeiou" else article
    before, after = (
        part.replace("{a} ", f"{article} " if article else "").replace("{thing}", thing)
        for part in template.split("{color}")
    )
    return before + ("grey" if color == "gray" and british else color) + after, len(before)


def _singular(word: str) -> str | None:
    """The singular of a plural, by its spelling; None for other words."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(s|x|z|ch|sh|o)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return None
