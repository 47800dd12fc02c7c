"""The list of spatial relations, and finding them in captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from seesay.data.lines import whole_lines
from seesay.errors import UserError
from seesay.language.relations.inventory import phrases
from seesay.language.words.vocabulary import joined, phrase_pattern
from seesay.models.base import Model


class RelationMatch(NamedTuple):
    """A relation with the text around it.

    `before + relation + after` is the caption in lower case.
    """

    before: str
    relation: str
    after: str


class RelationLexicon:
    """A list of relations, which are found longest first.

    `on top of` is one relation, and neither `on` nor `top`.
    """

    def __init__(self, relations: Iterable[str] | None = None) -> None:
        if relations is None:
            relations = phrases()
        self.relations = tuple(dict.fromkeys(map(_normalize, relations)))
        if not self.relations or not all(self.relations):
            raise UserError(
                "The list of relations is empty, or one of them is: give one relation per line."
            )
        self._pattern = phrase_pattern(self.relations)

    def find(self, caption: str) -> list[RelationMatch]:
        """Return the relations of a caption in order, none of them part of a longer one."""
        text = caption.lower()
        matches = []
        for match in self._pattern.finditer(text):
            before = text[: match.start()]
            after = text[match.end() :]
            matches.append(RelationMatch(before, _normalize(match[0]), after))
        return matches


def read_lexicon(path: Path) -> RelationLexicon:
    """Read a list of relations from a file, one per line."""
    return RelationLexicon(whole_lines(path))


def spellings(
    model: Model,
    words: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the relations that the model knows, how it spells them, and those it does not.

    A word model that was trained on joined phrases (`in_front_of`) reads them joined; any other
    model reads them as they are. A word model knows a phrase if it knows all of its words.
    """
    if not model.whole_words:
        return tuple(words), tuple(words), ()
    # Single words are spelt alike either way: only a phrase tells how the model was trained.
    joins = any(" " in word and model.knows(joined(word)) for word in words)
    spelt = {}
    unknown = []
    for word in words:
        spelling = joined(word) if joins else word
        if all(map(model.knows, spelling.split())):
            spelt[word] = spelling
        else:
            unknown.append(word)
    if len(spelt) < 2:
        raise UserError(
            "The model knows fewer than two of the relations: was it trained on English captions?"
        )
    return tuple(spelt), tuple(spelt.values()), tuple(unknown)


def _normalize(phrase: str) -> str:
    """Return a phrase in lower case, with one blank between words."""
    return " ".join(phrase.lower().split())
