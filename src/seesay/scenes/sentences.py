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
    """The sentence, without a full stop, as the published data writes it."""
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
    """The item's sentence."""
    objects = item.scene.objects
    other = objects[item.other] if item.other is not None else None
    return compose(config.kind, config.adjectives, objects[item.target], item.cell.positive, other)


_NAMED = re.compile(
    rf"The ({'|'.join(SCENE_COLORS)}) ({'|'.join(SHAPES)}) is (?:(?:a|the) )?(\w+)"
    rf"(?: than the ({'|'.join(SCENE_COLORS)}) ({'|'.join(SHAPES)})| \w+)\.?$"
)


def parse_sentence(
    text: str,
) -> tuple[str, str, Adjective, str, bool, tuple[str, str] | None] | None:
    """Color, shape, adjective, degree, whether it is the positive member, and the object compared
    with.

    None if the text is not a sentence of a scene task.
    """
    match = _NAMED.match(text)
    if not match:
        return None
    color, shape, word, other_color, other_shape = match.groups()
    other = (other_color, other_shape) if other_color else None
    for adjective in ADJECTIVES.values():
        for degree in ("positive", "comparative", "superlative"):
            pair = getattr(adjective, degree)
            if word in pair and (degree == "comparative") == (other is not None):
                return color, shape, adjective, degree, word == pair[0], other
    return None
