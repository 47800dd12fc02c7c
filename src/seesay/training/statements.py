"""Statements made of captions: "a man in a red shirt" also says that the shirt is red.

Captions name a thing's colour before its name and never ask for it, so a network that has read captions alone has seen
no sentence like "The color of a lemon is yellow." Statements say what captions say in such words, and only the colour
is masked in them (salient span masking, Guu et al. 2020, section 3.4). They add no fact and know nothing of any task:
neither its things nor its answers, and no wording is a task's template; but a network trained with them has met the
form of the questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

COLORS = ("black", "blue", "brown", "gray", "grey", "green", "orange", "pink", "purple", "red", "white", "yellow")
# Many, so that no wording has a colour of its own: what stays the same from one to the next is the thing.
WORDINGS = (
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
_ARTICLES = ("a", "a", "the", "")  # none, as for a plural or a mass
_NO_THING = {
    *("a", "an", "and", "are", "as", "at", "by", "for", "from", "haired", "he", "her", "his", "in", "is", "it", "its"),
    *("of", "on", "one", "or", "she", "that", "the", "their", "three", "to", "top", "two", "wearing", "while", "who"),
    *("with", "colored", "coloured", "color", "colour", *COLORS),
    # What stands between a colour and the thing ("a white tank top", "a blue striped shirt").
    *("baseball", "bathing", "brick", "button", "button-down", "button-up", "checkered", "female", "hard", "hooded"),
    *("lab", "leather", "life", "light", "long", "long-sleeved", "male", "plaid", "plastic", "polka", "polo", "race"),
    *("safety", "short", "short-sleeved", "soccer", "sports", "striped", "swim", "swimming", "tank", "tennis"),
    "winter",
    # What a man "in blue" does.
    *("holding", "jumping", "jumps", "playing", "plays", "running", "runs", "sits", "sitting", "standing", "stands"),
    *("walking", "walks"),
}
_COLORED = re.compile(rf"\b({'|'.join(COLORS)})(?:[- ]colou?red)? ([a-z]+(?:-[a-z]+)*)\b")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def colored_things(caption: str) -> Iterator[tuple[str, str]]:
    """A thing and the colour that stands before its name.

    >>> list(colored_things("A black and white dog in a Red-colored shirt."))
    [('dog', 'white'), ('shirt', 'red')]
    """
    for color, thing in _COLORED.findall(caption.lower()):
        if not _NO_THING.intersection((thing, *(word for word in thing.split("-") if word in COLORS))):
            yield thing, color


def color_counts(captions: Iterable[str]) -> dict[str, Counter[str]]:
    """How often a thing is said to be of a colour. What is said of lemons is said of a lemon too, and the reverse."""
    known: set[str] = set()
    said: dict[str, Counter[str]] = {}
    for caption in captions:
        known.update(_WORD.findall(caption.lower()))
        for thing, color in colored_things(caption):
            said.setdefault(thing, Counter())["gray" if color == "grey" else color] += 1
    counts = {thing: Counter(colors) for thing, colors in said.items()}
    for plural, singular in [(thing, _singular(thing)) for thing in said]:
        if singular in known:
            counts[plural].update(said.get(singular, {}))
            counts.setdefault(singular, Counter()).update(said[plural])
    return counts


def statements(counts: Mapping[str, Counter[str]], size: int, rng: np.random.Generator) -> tuple[list[str], list[int]]:
    """So many statements, and at which character the colour stands in each.

    Of the things that captions colour, half are coloured once or twice, and shirts ten thousand times: in proportion,
    nothing would be learnt but shirts. So a thing is drawn by the fifth root of its count. Its colour is drawn by the
    square, as one on which two captions agree: what is typical is said more clearly than captions say it.
    """
    things = sorted(counts)
    table = np.array([[counts[thing][color] for color in COLORS] for thing in things], float)
    weights = table.sum(1) ** 0.2
    agreed = np.cumsum(table**2, axis=1)
    chosen = rng.choice(len(things), size, p=weights / weights.sum())
    colors = (rng.random((size, 1)) * agreed[chosen, -1:] >= agreed[chosen]).sum(1)
    wordings, articles = rng.integers(len(WORDINGS), size=size), rng.integers(len(_ARTICLES), size=size)
    british = rng.random(size) < 0.5
    texts, places = [], []
    for row in zip(chosen, colors, wordings, articles, british, strict=True):
        text, place = _worded(things[row[0]], COLORS[row[1]], WORDINGS[row[2]], _ARTICLES[row[3]], row[4])
        texts.append(text)
        places.append(place)
    return texts, places


def _worded(thing: str, color: str, wording: str, article: str, british: bool) -> tuple[str, int]:
    """A statement, and where the colour stands in it."""
    article = "an" if article == "a" and thing[0] in "aeiou" else article
    before, after = (
        part.replace("{a} ", f"{article} " if article else "").replace("{thing}", thing)
        for part in wording.split("{color}")
    )
    return before + ("grey" if color == "gray" and british else color) + after, len(before)


def _singular(word: str) -> str | None:
    """What a plural is the plural of, by its spelling; None if it is none."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(s|x|z|ch|sh|o)es$", word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else None
