"""Sentences about a room, as a person might describe its regions: names, colours, and what stands by what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay.mine.rooms.sampling import RoomObject


def describe(
    rng: np.random.Generator, scene: str, things: Sequence[RoomObject], seen: Sequence[int]
) -> list[tuple[int, str]]:
    """One caption for most of the things that are seen: whose it is (a place in `things`), and the text."""
    captions = []
    for i in seen:
        thing = things[i]
        name = thing.subtype if rng.random() < 0.5 else thing.name
        others = [j for j in seen if things[j].name != thing.name]
        near = min(others, key=lambda j: _apart(thing, things[j]), default=None)
        colored = f"{_article(thing.color)} {thing.color} {name}"
        choices = [f"the {name} is {thing.color}", f"{_article(name)} {name} in the {scene.replace('_', ' ')}", colored]
        if thing.support is not None:
            choices += [f"{colored} on the {things[thing.support].name}"] * 2
        elif near is not None:
            choices += [f"{colored} next to the {things[near].name}"] * 2
        if sum(things[j].name == thing.name for j in seen) == 2:
            choices.append(f"two {_plural(thing.name)} in the {scene.replace('_', ' ')}")
        if rng.random() < 0.8:
            captions.append((i, str(rng.choice(choices))))
    return captions


def _apart(a: RoomObject, b: RoomObject) -> float:
    return float(sum((p - q) ** 2 for p, q in zip(a.at, b.at, strict=True)))


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _plural(name: str) -> str:
    irregular = {"bookshelf": "bookshelves"}
    return irregular.get(name, f"{name}s")
