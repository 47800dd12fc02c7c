"""WordNet 3.0's noun hyponyms (Fellbaum 1998), from its own files: what a thing's kinds are called.

The files `data.noun` and `index.noun` are in Debian's package `wordnet-base`, or in any WordNet distribution (formats:
wndb(5)).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from seesay.errors import UserError

HYPONYM, INSTANCE = "~", "@i"
VISIBLE = {"05", "06", "08", "13", "17", "18", "20", "27"}
"""Lexicographers' files of what can be seen: animals, artefacts, bodies, food, objects, people, plants, substances."""


def find() -> Path:
    """The folder of WordNet's files: `$WNSEARCHDIR`, as for WordNet's own programs, or where Debian puts it."""
    for place in (os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet"):
        if place and (Path(place) / "data.noun").is_file():
            return Path(place)
    raise UserError(
        "There is no WordNet: install Debian's wordnet-base, or set WNSEARCHDIR to a folder with data.noun."
    )


def hyponyms(wanted: Collection[str], folder: Path | None = None) -> dict[str, list[str]]:
    """For each wanted name that has any: the wanted names of its kinds, at any depth.

    Every name is taken in its commonest sense that can be seen and is no individual: a crane is a machine before it is
    a writer, and a cardigan no dog.
    """
    folder = folder or find()
    kinds, visible = _synsets(folder / "data.noun")
    senses = _senses(folder / "index.noun")
    called: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(set(wanted) & senses.keys()):
        if (sense := next((synset for synset in senses[name] if synset in visible), None)) is not None:
            called[sense].append(name)
    found: dict[str, list[str]] = {}
    for sense, names in called.items():
        below: set[str] = set()
        stack = list(kinds.get(sense, ()))
        while stack:
            synset = stack.pop()
            if synset not in below:
                below.add(synset)
                stack += kinds.get(synset, ())
        if lower := sorted(name for synset in below for name in called.get(synset, ())):
            found |= dict.fromkeys(names, lower)
    return found


def _lines(path: Path) -> list[list[str]]:
    """The entries of a file as words; the licence above them is indented."""
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise UserError(f"{path} cannot be read: give a folder with WordNet's data.noun and index.noun.") from error
    return [line.partition(" | ")[0].split() for line in text.splitlines() if line and not line.startswith(" ")]


def _synsets(path: Path) -> tuple[dict[str, list[str]], set[str]]:
    """The hyponyms of each synset, by its offset, and the synsets that can be seen."""
    kinds: dict[str, list[str]] = {}
    visible = set()
    for offset, file, _, count, *rest in _lines(path):
        pointers = rest[2 * int(count, 16) + 1 :]  # after the words, each with a number: symbol, synset, kind, words
        if below := [synset for symbol, synset in zip(pointers[::4], pointers[1::4], strict=True) if symbol == HYPONYM]:
            kinds[offset] = below
        if file in VISIBLE and INSTANCE not in pointers[::4]:
            visible.add(offset)
    return kinds, visible


def _senses(path: Path) -> dict[str, list[str]]:
    """The synsets of each name, the commonest first."""
    senses: dict[str, list[str]] = {}
    for lemma, _, synsets, *rest in _lines(path):
        senses[lemma.replace("_", " ")] = rest[len(rest) - int(synsets) :]
    return senses
