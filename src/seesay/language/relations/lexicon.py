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
    """A relation with the text around it: `before + relation + after` is the caption in lower
    case."""

    before: str
    relation: str
    after: str


class RelationLexicon:
    """A list of relations, longest first: `on top of` is one relation, and neither `on` nor
    `top`."""

    def __init__(self, relations: Iterable[str] | None = None) -> None:
        self.relations = tuple(
            dict.fromkeys(map(_normalize, phrases() if relations is None else relations))
        )
        if not self.relations or not all(self.relations):
            raise UserError(
                "The list of relations is empty, or one of them is: give one relation per line."
            )
        self._pattern = phrase_pattern(self.relations)

    def find(self, caption: str) -> list[RelationMatch]:
        """The relations of a caption in order, without those that are part of a longer one."""
        text = caption.lower()
        return [
            RelationMatch(text[: match.start()], _normalize(match[0]), text[match.end() :])
            for match in self._pattern.finditer(text)
        ]


def read_lexicon(path: Path) -> RelationLexicon:
    """A list of relations from a file, one per line."""
    return RelationLexicon(whole_lines(path))


def spellings(
    model: Model, words: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The relations that the model knows, how it spells them, and the relations that it does not
    know.

    A word model that was trained on joined phrases (`in_front_of`) reads them joined; any other
    model reads them as they are. A word model knows a phrase if it knows all of its words.
    """
    if not model.whole_words:
        return tuple(words), tuple(words), ()
    joins = any(" " in word and model.knows(joined(word)) for word in words)
    spelt = {word: joined(word) if joins else word for word in words}
    known = tuple(word for word in words if all(map(model.knows, spelt[word].split())))
    if len(known) < 2:
        raise UserError(
            "The model knows fewer than two of the relations: was it trained on English captions?"
        )
    return (
        known,
        tuple(spelt[word] for word in known),
        tuple(word for word in words if word not in known),
    )


def _normalize(phrase: str) -> str:
    return " ".join(phrase.lower().split())
