"""Which phrases are spatial relations, and finding the one that a caption holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from seesay.data.relations import phrases
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.words.vocabulary import joined, phrase_pattern


class Found(NamedTuple):
    """A relation and what stands before and after it: `before + relation + after` is the caption, lower-cased."""

    before: str
    relation: str
    after: str


class Lexicon:
    """A list of relations, longest first: `on top of` is one relation, and neither `on` nor `top`."""

    def __init__(self, relations: Iterable[str] | None = None) -> None:
        self.relations = tuple(dict.fromkeys(_tidy(found) for found in (phrases() if relations is None else relations)))
        if not self.relations or not all(self.relations):
            raise UserError("The list of relations is empty, or one of them is: give one relation a line.")
        self._pattern = phrase_pattern(self.relations)

    def find(self, caption: str) -> list[Found]:
        """Every relation of a caption, in order; where one is part of a longer one, the longer one alone."""
        text = caption.lower()
        return [
            Found(text[: match.start()], _tidy(match[0]), text[match.end() :]) for match in self._pattern.finditer(text)
        ]


def read_lexicon(path: Path) -> Lexicon:
    """A list of one's own: one relation a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a list of relations, one a line ({error}).") from error
    return Lexicon([line for line in lines if line.strip()])


def spellings(model: Model, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The words that get a row, how the model spells them, and the words it does not know.

    A model of words that was trained on joined phrases (`in_front_of`) reads them joined; any other reads them as they
    stand. A word model's row needs all of its words in the vocabulary.
    """
    knows = model.knows
    if not model.whole_words:
        return tuple(words), tuple(words), ()
    joins = any(" " in word and knows(joined(word)) for word in words)
    spelt = {word: joined(word) if joins else word for word in words}
    known = tuple(word for word in words if all(map(knows, spelt[word].split())))
    if len(known) < 2:
        raise UserError("The model knows fewer than two of the relations: was it trained on English captions?")
    return known, tuple(spelt[word] for word in known), tuple(word for word in words if word not in known)


def _tidy(phrase: str) -> str:
    return " ".join(phrase.lower().split())
