"""Sentences about scenes: written and parsed."""

from __future__ import annotations

import re

from seesay.scenes.adjectives import ADJECTIVES, Adjective
from seesay.scenes.config import SceneConfig
from seesay.scenes.sampling import SceneItem
from seesay.scenes.task_kinds import TaskKind
from seesay.scenes.world import SCENE_COLORS, SHAPES, SceneObject


def compose(
    kind: TaskKind,
    words: Adjective,
    obj: SceneObject,
    positive: bool,
    other: SceneObject | None = None,
) -> str:
    """Compose the sentence, without a full stop, as the published data writes it (section 4)."""
    subject = f"The {obj.color} {obj.shape} is"
    word = words.word(kind.degree, positive)
    if kind.degree == "superlative":
        return f"{subject} the {word} {obj.shape}"
    if kind.degree == "comparative":
        if other is None:
            raise ValueError("a comparative needs a second object")
        return f"{subject} {word} than the {other.color} {other.shape}"
    return f"{subject} a {word} {kind.noun or obj.shape}"


def sentence(config: SceneConfig, item: SceneItem) -> str:
    """Return the item's sentence."""
    objects = item.scene.objects
    other = None
    if item.other is not None:
        other = objects[item.other]
    return compose(
        config.kind,
        config.adjectives,
        objects[item.target],
        item.cell.positive,
        other,
    )


_NAME = f"({'|'.join(SCENE_COLORS)}) ({'|'.join(SHAPES)})"
_SENTENCE = re.compile(
    rf"The {_NAME} is (?:(?:a|the) )?(\w+)"
    # either a comparative's second object or the noun
    rf"(?: than the {_NAME}| \w+)\.?$"
)


def parse_sentence(
    text: str,
) -> tuple[str, str, Adjective, str, bool, tuple[str, str] | None] | None:
    """Parse a sentence of a scene task; None if the text is none.

    Returns color, shape, adjective, degree, whether the adjective is the positive member of its
    pair, and the color and shape of the object compared with.
    """
    match = _SENTENCE.match(text)
    if not match:
        return None
    color, shape, word, other_color, other_shape = match.groups()
    other = None
    if other_color:
        other = (other_color, other_shape)
    for adjective in ADJECTIVES.values():
        for degree in ("positive", "comparative", "superlative"):
            # "than" decides: only a comparative has a second object
            pair = getattr(adjective, degree)
            if word in pair and (degree == "comparative") == (other is not None):
                return color, shape, adjective, degree, word == pair[0], other
    return None
