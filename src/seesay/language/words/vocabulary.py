"""Words, for the models that read words: lower case, no punctuation, as in the published set-up.

Ghanimifard & Dobnik 2019 lower-case their captions; a spatial relation of several words is one
token of their language model ("in front of" → `in_front_of`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from seesay.errors import UserError

UNKNOWN = "<unk>"
BEGIN = "<s>"
END = "</s>"
SPECIAL = (UNKNOWN, BEGIN, END)
WORD = re.compile(r"\w+(?:['’-]\w+)*")
# Not inside a word: `built-in` holds no `in`.
_EDGE_BEFORE = r"(?<![\w'’-])"
_EDGE_AFTER = r"(?![\w'’-])"


def words(text: str) -> list[str]:
    """Return the words of a text; apostrophes, hyphens and underscores are part of a word.

    >>> words("A man's T-shirt, in_front_of 2 cats.")
    ['a', "man's", 't-shirt', 'in_front_of', '2', 'cats']
    """
    return [word.replace("’", "'") for word in WORD.findall(text.lower())]


def joined(phrase: str) -> str:
    """Return an expression of several words as one token.

    >>> joined("in front of")
    'in_front_of'
    """
    return "_".join(phrase.split())


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases as whole words, the longest first.

    `on top of` is neither `on` nor `top`.

    Phrases that begin with the same word share it in the pattern, so that a word is compared once,
    not 97 times.
    """
    tails: dict[str, list[str]] = {}
    for phrase in phrases:
        first, _, tail = phrase.partition(" ")
        tails.setdefault(first, []).append(tail)
    parts = []
    for first in sorted(tails, key=lambda word: (-len(word), word)):
        part = re.escape(first)
        longer = sorted(filter(None, tails[first]), key=_longest_first)
        if longer:
            alternatives = "|".join(map(_spaced, longer))
            part += rf"(?:\s+(?:{alternatives}){_EDGE_AFTER})"
            # The first word may be a phrase by itself as well.
            if "" in tails[first]:
                part += "?"
        parts.append(part)
    return re.compile(_EDGE_BEFORE + "(?:" + "|".join(parts) + ")" + _EDGE_AFTER, re.IGNORECASE)


def _longest_first(phrase: str) -> tuple[int, int, str]:
    """Return a key that sorts phrases by words, then by letters, the longest first."""
    return -len(phrase.split()), -len(phrase), phrase


def _spaced(phrase: str) -> str:
    """Return a pattern of a phrase with any white space between its words."""
    return r"\s+".join(map(re.escape, phrase.split()))


def joiner(phrases: Iterable[str]) -> Callable[[str], str]:
    """Return a function that makes every phrase of several words in a text one word.

    Training and scoring both read through it.

    >>> joiner(["on", "top of", "on top of"])("A cat on top of a box, on fire.")
    'A cat on_top_of a box, on fire.'
    """
    # A phrase of one word is a word already.
    several = [" ".join(phrase.split()) for phrase in phrases if len(phrase.split()) > 1]
    if not several:
        return lambda text: text
    pattern = phrase_pattern(several)
    return lambda text: pattern.sub(lambda match: joined(match[0]), text)


class Vocabulary:
    """Tokens and their ids.

    The first three are the unknown word, a sentence's beginning and its end.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tuple(tokens)
        self.number = {token: i for i, token in enumerate(self.tokens)}
        if self.tokens[:3] != SPECIAL or len(self.number) != len(self.tokens):
            raise UserError(
                f"A vocabulary begins with {', '.join(SPECIAL)} and holds every token once."
            )

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, smallest: int = 1) -> Vocabulary:
        """Make a vocabulary of the words that occur at least `smallest` times in sentences.

        The most frequent is the first.
        """
        counts = Counter(chain.from_iterable(sentences))
        for token in SPECIAL:
            counts.pop(token, None)
        frequent = [word for word, count in counts.items() if count >= smallest]
        # By name where counts are equal: the order of the captions must not number the words.
        frequent.sort(key=lambda word: (-counts[word], word))
        return cls([*SPECIAL, *frequent])

    def replace_unknown(self, sentence: Iterable[str]) -> list[str]:
        """Return a sentence with the unknown word for each that is not in the vocabulary."""
        return [word if word in self.number else UNKNOWN for word in sentence]

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read a file with one token per line."""
        return cls(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def save(self, path: Path) -> None:
        """Write a file with one token per line."""
        path.write_text("\n".join(self.tokens) + "\n", encoding="utf-8")

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.number

    def sentence(self, sentence: Iterable[str]) -> list[int]:
        """Return a sentence's ids between beginning and end.

        A word that is not in the vocabulary is the unknown one.

        >>> Vocabulary([*SPECIAL, "cat"]).sentence(["a", "cat"])
        [1, 0, 3, 2]
        """
        return [1, *(self.number.get(word, 0) for word in sentence), 2]
