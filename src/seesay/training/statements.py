"""Statements made of captions: "a man in a red shirt" also says that the shirt is red.

Captions name a thing's colour before its name and never ask for it, so a network that has read captions alone has seen
no sentence like "The color of a lemon is yellow." Statements say what a caption says in such words. They add no fact
and know nothing of any task's answers; but a network trained with them has met the form of the questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

COLORS = ("black", "blue", "brown", "gray", "grey", "green", "orange", "pink", "purple", "red", "white", "yellow")
WORDINGS = (
    "the {thing} is {color}.",
    "the color of this {thing} is {color}.",
    "what color is the {thing}? it is {color}.",
    "what color does the {thing} have? {color}.",
    "{color} is the color of the {thing}.",
    "this {thing} has a {color} color.",
)
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


def colored_things(caption: str) -> Iterator[tuple[str, str]]:
    """A thing and the colour that stands before its name.

    >>> list(colored_things("A black and white dog in a Red-colored shirt."))
    [('dog', 'white'), ('shirt', 'red')]
    """
    for color, thing in _COLORED.findall(caption.lower()):
        if thing not in _NO_THING:
            yield thing, color


def statements(captions: Iterable[str], seed: int = 0) -> list[str]:
    """A statement for every coloured thing, its wording drawn by the seed."""
    found = [pair for caption in captions for pair in colored_things(caption)]
    drawn = np.random.default_rng(seed).integers(len(WORDINGS), size=len(found))
    return [WORDINGS[i].format(thing=thing, color=color) for i, (thing, color) in zip(drawn, found, strict=True)]
