"""WordNet 3.0's noun hyponyms (Fellbaum 1998), from its own files.

`data.noun` and `index.noun` are in Debian's package `wordnet-base` and in any WordNet distribution
(format: wndb(5)).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from seesay.errors import UserError

HYPONYM = "~"
"""The symbol of a pointer from a synset to a narrower one."""
INSTANCE = "@i"
"""The symbol of a pointer from an individual to its kind."""
VISIBLE = {"05", "06", "08", "13", "17", "18", "20", "27"}
"""Lexicographer files of what can be seen: animals, artefacts, bodies, food, objects, people,
plants, substances."""


def find() -> Path:
    """Return the folder of WordNet's files.

    It is `$WNSEARCHDIR`, as for WordNet's own programs, or that of Debian.
    """
    for place in (os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet"):
        if place and (Path(place) / "data.noun").is_file():
            return Path(place)
    raise UserError(
        "WordNet is missing: install Debian's wordnet-base, or set WNSEARCHDIR to the folder of "
        "data.noun."
    )


def hyponyms(names: Collection[str], folder: Path | None = None) -> dict[str, list[str]]:
    """Return the hyponyms of each name among these names, at any depth.

    Names without any are left out. A name stands for its most frequent sense that is visible and
    not an individual: a crane is a machine, not a writer, and a cardigan is not a dog.
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
        visible_senses = [synset for synset in senses[name] if synset in visible]
        # The most frequent comes first.
        if visible_senses:
            by_sense[visible_senses[0]].append(name)
    result: dict[str, list[str]] = {}
    for sense, parents in by_sense.items():
        narrower = [
            name for synset in _descendants(sense, children) for name in by_sense.get(synset, ())
        ]
        if narrower:
            result |= dict.fromkeys(parents, sorted(narrower))
    return result


def _descendants(synset: str, children: Mapping[str, Collection[str]]) -> set[str]:
    """Return all synsets below one, each once: a synset may have several parents."""
    descendants: set[str] = set()
    level = {synset}
    while level := {child for parent in level for child in children.get(parent, ())} - descendants:
        descendants |= level
    return descendants


def _lines(path: Path) -> list[list[str]]:
    """Return the entries of a file as words, without their glosses."""
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: give a folder with WordNet's data.noun and index.noun."
        ) from error
    # The licence above the entries is indented.
    entries = [line for line in text.splitlines() if line and not line.startswith(" ")]
    return [entry.partition(" | ")[0].split() for entry in entries]


def _synsets(path: Path) -> tuple[dict[str, list[str]], set[str]]:
    """Return the hyponyms of each synset, by its offset, and the visible synsets."""
    children: dict[str, list[str]] = {}
    visible = set()
    for offset, file, _, word_count, *fields in _lines(path):
        # Each word has a number, and the number of pointers follows them. A pointer is four fields:
        # symbol, synset, part of speech, words.
        pointers = fields[2 * int(word_count, 16) + 1 :]
        symbols = pointers[::4]
        for symbol, synset in zip(symbols, pointers[1::4], strict=True):
            if symbol == HYPONYM:
                children.setdefault(offset, []).append(synset)
        if file in VISIBLE and INSTANCE not in symbols:
            visible.add(offset)
    return children, visible


def _senses(path: Path) -> dict[str, list[str]]:
    """Return the synsets of each name, the most frequent first."""
    senses = {}
    for lemma, _, synset_count, *fields in _lines(path):
        # The synsets end the line, after symbols of pointers of which there may be any number.
        first = len(fields) - int(synset_count)
        senses[lemma.replace("_", " ")] = fields[first:]
    return senses
