"""Sentences about a room, as a person might describe its regions: names, colours, and positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from seesay.mining.rooms.sampling import RoomObject


def describe(
    rng: np.random.Generator, scene: str, objects: Sequence[RoomObject], visible: Sequence[int]
) -> list[tuple[int, str]]:
    """One caption for most of the visible objects: the index of the object, and the text."""
    captions = []
    for i in visible:
        subject = objects[i]
        name = subject.subtype if rng.random() < 0.5 else subject.name
        others = [j for j in visible if objects[j].name != subject.name]
        nearest = min(others, key=lambda j: math.dist(subject.at, objects[j].at), default=None)
        room = scene.replace("_", " ")
        colored = f"{_article(subject.color)} {subject.color} {name}"
        choices = [
            f"the {name} is {subject.color}",
            f"{_article(name)} {name} in the {room}",
            colored,
        ]
        if subject.support is not None:
            choices += [f"{colored} on the {objects[subject.support].name}"] * 2
        elif nearest is not None:
            choices += [f"{colored} next to the {objects[nearest].name}"] * 2
        if sum(objects[j].name == subject.name for j in visible) == 2:
            if subject.name == "bookshelf":
                plural = "bookshelves"
            else:
                plural = f"{subject.name}s"
            choices.append(f"two {plural} in the {room}")
        if rng.random() < 0.8:
            captions.append((i, str(rng.choice(choices))))
    return captions


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
