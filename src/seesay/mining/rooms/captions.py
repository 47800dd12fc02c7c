"""Sentences about a room, as a person might describe its regions: names, colours, and positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.random import Generator

from seesay.mining.rooms.sampling import RoomObject

PLURALS = {"bookshelf": "bookshelves"}
"""Plurals of kinds that do not just take an s."""


def describe(
    rng: Generator,
    scene: str,
    objects: Sequence[RoomObject],
    visible: Sequence[int],
) -> list[tuple[int, str]]:
    """Return captions of most of the visible objects: the index of the object, and the text.

    `visible`: the indices of the objects that are annotated; only they are mentioned, except that a
    support is always named.
    """
    room = scene.replace("_", " ")
    captions = []
    for i in visible:
        subject = objects[i]
        # Half of the captions leave the subtype out, as people do (ViPhy, section 2.1).
        name = subject.subtype if rng.random() < 0.5 else subject.name
        color_phrase = f"{_article(subject.color)} {subject.color} {name}"
        candidates = [
            f"the {name} is {subject.color}",
            f"{_article(name)} {name} in the {room}",
            color_phrase,
        ]
        # Listed twice: a position is drawn as often as two other sentences.
        candidates += _position_phrases(color_phrase, subject, objects, visible) * 2
        if sum(objects[j].name == subject.name for j in visible) == 2:
            plural = PLURALS.get(subject.name, f"{subject.name}s")
            candidates.append(f"two {plural} in the {room}")
        if rng.random() < 0.8:
            captions.append((i, str(rng.choice(candidates))))
    return captions


def _position_phrases(
    color_phrase: str,
    subject: RoomObject,
    objects: Sequence[RoomObject],
    visible: Sequence[int],
) -> list[str]:
    """Return a phrase that says what the subject is on, else what it is next to, or none."""
    if subject.support is not None:
        return [f"{color_phrase} on the {objects[subject.support].name}"]
    others = [objects[j] for j in visible if objects[j].name != subject.name]
    nearest = min(others, key=lambda other: math.dist(subject.at, other.at), default=None)
    if nearest is None:
        return []
    return [f"{color_phrase} next to the {nearest.name}"]


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
