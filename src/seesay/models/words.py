"""Words, for the models that read words: lower case, no punctuation, as in the published set-up.

Ghanimifard & Dobnik 2019 lower-case their captions; a spatial relation of several words is one token of their language
model ("in front of" → `in_front_of`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from seesay.questions import UserError

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
SPECIAL = (UNKNOWN, BEGIN, END)
WORD = re.compile(r"\w+(?:['’-]\w+)*")


def words(text: str) -> list[str]:
    """The words of a text; apostrophes, hyphens and underscores hold a word together.

    >>> words("A man's T-shirt, in_front_of 2 cats.")
    ['a', "man's", 't-shirt', 'in_front_of', '2', 'cats']
    """
    return [word.replace("’", "'") for word in WORD.findall(text.lower())]


def joined(phrase: str) -> str:
    """An expression of several words as one token.

    >>> joined("in front of")
    'in_front_of'
    """
    return "_".join(phrase.split())


class Vocabulary:
    """Tokens and their numbers; the first three are the unknown word, a sentence's beginning and its end."""

    def __init__(self, tokens: Sequence[str]) -> None:
        if tuple(tokens[:3]) != SPECIAL or len(set(tokens)) != len(tokens):
            raise UserError(f"A vocabulary begins with {', '.join(SPECIAL)} and holds every token once.")
        self.tokens = tuple(tokens)
        self.number = {token: i for i, token in enumerate(self.tokens)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, smallest: int = 1) -> Vocabulary:
        """The words that stand in the sentences `smallest` times or more, the commonest first."""
        counts = Counter(word for sentence in sentences for word in sentence)
        kept = [word for word, count in counts.items() if count >= smallest and word not in SPECIAL]
        return cls([*SPECIAL, *sorted(kept, key=lambda word: (-counts[word], word))])

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """From a file with a token a line."""
        return cls(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def save(self, path: Path) -> None:
        """To a file with a token a line."""
        path.write_text("\n".join(self.tokens) + "\n", encoding="utf-8")

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.number

    def sentence(self, sentence: Iterable[str]) -> list[int]:
        """A sentence's numbers between its beginning and its end; a word that is not here is the unknown one.

        >>> Vocabulary([*SPECIAL, "cat"]).sentence(["a", "cat"])
        [1, 0, 3, 2]
        """
        return [1, *(self.number.get(word, 0) for word in sentence), 2]
