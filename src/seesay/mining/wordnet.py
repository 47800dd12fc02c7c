"""WordNet 3.0's noun hyponyms (Fellbaum 1998), from its own files.

`data.noun` and `index.noun` are in Debian's package `wordnet-base` and in any WordNet distribution
(format: wndb(5)).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from seesay.errors import UserError

HYPONYM, INSTANCE = "~", "@i"
VISIBLE = {"05", "06", "08", "13", "17", "18", "20", "27"}
"""Lexicographer files of what can be seen: animals, artefacts, bodies, food, objects, people,
plants, substances."""


def find() -> Path:
    """The folder of WordNet's files: `$WNSEARCHDIR`, as for WordNet's own programs, or that of
    Debian."""
    for place in (os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet"):
        if place and (Path(place) / "data.noun").is_file():
            return Path(place)
    raise UserError(
        "WordNet is missing: install Debian's wordnet-base, or set WNSEARCHDIR to the folder of "
        "data.noun."
    )


def hyponyms(names: Collection[str], folder: Path | None = None) -> dict[str, list[str]]:
    """The hyponyms of each name among these names, at any depth; names without any are left out.

    A name stands for its most frequent sense that is visible and not an individual: a crane is a
    machine, not a writer, and a cardigan is not a dog.
    """
    folder = folder or find()
    try:
        children, visible = _synsets(folder / "data.noun")
        senses = _senses(folder / "index.noun")
    except ValueError as error:
        raise UserError(
            f"{folder} holds a damaged data.noun or index.noun ({error}): install WordNet again."
        ) from error
    by_sense: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(set(names) & senses.keys()):
        if (
            sense := next((synset for synset in senses[name] if synset in visible), None)
        ) is not None:
            by_sense[sense].append(name)
    result: dict[str, list[str]] = {}
    for sense, parents in by_sense.items():
        below: set[str] = set()
        stack = list(children.get(sense, ()))
        while stack:
            synset = stack.pop()
            if synset not in below:
                below.add(synset)
                stack += children.get(synset, ())
        if lower := sorted(name for synset in below for name in by_sense.get(synset, ())):
            result |= dict.fromkeys(parents, lower)
    return result


def _lines(path: Path) -> list[list[str]]:
    """The entries of a file as words; the licence above them is indented."""
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: give a folder with WordNet's data.noun and index.noun."
        ) from error
    return [
        line.partition(" | ")[0].split()
        for line in text.splitlines()
        if line and not line.startswith(" ")
    ]


def _synsets(path: Path) -> tuple[dict[str, list[str]], set[str]]:
    """The hyponyms of each synset, by its offset, and the visible synsets."""
    children: dict[str, list[str]] = {}
    visible = set()
    for offset, file, _, count, *rest in _lines(path):
        # after numbered words: symbol, synset, part of speech, words
        pointers = rest[2 * int(count, 16) + 1 :]
        if below := [
            synset
            for symbol, synset in zip(pointers[::4], pointers[1::4], strict=True)
            if symbol == HYPONYM
        ]:
            children[offset] = below
        if file in VISIBLE and INSTANCE not in pointers[::4]:
            visible.add(offset)
    return children, visible


def _senses(path: Path) -> dict[str, list[str]]:
    """The synsets of each name, the most frequent first."""
    return {
        lemma.replace("_", " "): rest[len(rest) - int(synsets) :]
        for lemma, _, synsets, *rest in _lines(path)
    }
