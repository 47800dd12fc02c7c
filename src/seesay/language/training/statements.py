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

# Both spellings of gray, side by side: the order of the colours decides what is drawn.
_GRAY = colors.COLORS.index("gray")
COLORS = (*colors.COLORS[: _GRAY + 1], "grey", *colors.COLORS[_GRAY + 1 :])
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
_ARTICLES = ("a", "a", "the", "")
"""The articles to draw from; none, as for plurals and mass nouns, is one of them."""
_NOT_THINGS = {
    *Path(__file__).with_name("not_things.txt").read_text(encoding="utf-8").split(),
    *COLORS,
}
"""Words after a colour that do not name what has it.

They are function words, what stands between a colour and the thing ("a white tank top", "a blue
striped shirt"), and verbs after "a man in blue".
"""
_COLORED = re.compile(rf"\b({'|'.join(COLORS)})(?:[- ]colou?red)? ([a-z]+(?:-[a-z]+)*)\b")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def colored_things(caption: str) -> Iterator[tuple[str, str]]:
    """Return things with the colour before their names.

    >>> list(colored_things("A black and white dog in a Red-colored shirt."))
    [('dog', 'white'), ('shirt', 'red')]
    """
    for color, thing in _COLORED.findall(caption.lower()):
        # `blue-green` is a colour as well, and `red-brick` is no thing.
        parts = [word for word in thing.split("-") if word in COLORS]
        if thing not in _NOT_THINGS and not parts:
            yield thing, color


def color_counts(captions: Iterable[str]) -> dict[str, Counter[str]]:
    """Count how often each thing has each colour.

    Counts of a plural are added to its singular, and the reverse.
    """
    words: set[str] = set()
    exact: dict[str, Counter[str]] = {}
    for caption in captions:
        words.update(_WORD.findall(caption.lower()))
        for thing, color in colored_things(caption):
            spelling = "gray" if color == "grey" else color
            exact.setdefault(thing, Counter())[spelling] += 1
    counts = {thing: Counter(table) for thing, table in exact.items()}
    for plural in exact:
        singular = _singular(plural)
        # A word of the captions: `bus` is not the plural of `bu`.
        if singular in words:
            counts[plural].update(exact.get(singular, {}))
            counts.setdefault(singular, Counter()).update(exact[plural])
    return counts


def statements(
    counts: Mapping[str, Counter[str]],
    size: int,
    rng: np.random.Generator,
) -> tuple[list[str], list[int]]:
    """Draw this many statements; with each, the character at which the colour starts.

    Half of the things that have a colour in captions have it once or twice, and shirts ten thousand
    times: drawn in proportion, nearly all statements would be about shirts. So a thing is drawn by
    the fifth root of its count. Its colour is drawn by the square, as one on which two captions
    agree: typical colours stand out more than in captions.
    """
    things = sorted(counts)
    table = np.zeros((len(things), len(COLORS)))
    for row, thing in zip(table, things, strict=True):
        row[:] = [counts[thing][color] for color in COLORS]
    weights = table.sum(1) ** 0.2
    thing_rows = rng.choice(len(things), size, p=weights / weights.sum())
    # A colour is drawn where a random number falls among the cumulated squares.
    cumulated = np.cumsum(table**2, axis=1)[thing_rows]
    color_rows = (rng.random((size, 1)) * cumulated[:, -1:] >= cumulated).sum(1)
    templates = rng.integers(len(STATEMENT_TEMPLATES), size=size)
    articles = rng.integers(len(_ARTICLES), size=size)
    british = rng.random(size) < 0.5
    texts = []
    places = []
    for i in range(size):
        text, place = _fill(
            things[thing_rows[i]],
            COLORS[color_rows[i]],
            STATEMENT_TEMPLATES[templates[i]],
            _ARTICLES[articles[i]],
            british[i],
        )
        texts.append(text)
        places.append(place)
    return texts, places


def _fill(
    thing: str,
    color: str,
    template: str,
    article: str,
    british: bool,
) -> tuple[str, int]:
    """Return a statement, and the character at which its colour starts."""
    if article == "a" and thing[0] in "aeiou":
        article = "an"
    if color == "gray" and british:
        color = "grey"
    text = template.replace("{a} ", f"{article} " if article else "")
    before, after = text.replace("{thing}", thing).split("{color}")
    return before + color + after, len(before)


def _singular(word: str) -> str | None:
    """Return the singular of a plural, by its spelling; None for other words."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(s|x|z|ch|sh|o)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return None
