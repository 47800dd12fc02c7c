"""Words, for the models that read words: lower case, no punctuation, as in the published set-up.

Ghanimifard & Dobnik 2019 lower-case their captions; a spatial relation of several words is one
token of their language model ("in front of" → `in_front_of`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from seesay.errors import UserError

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
SPECIAL = (UNKNOWN, BEGIN, END)
WORD = re.compile(r"\w+(?:['’-]\w+)*")
_EDGE_BEFORE, _EDGE_AFTER = r"(?<![\w'’-])", r"(?![\w'’-])"


def words(text: str) -> list[str]:
    """The words of a text; apostrophes, hyphens and underscores are part of a word.

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


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the phrases as whole words, the longest first: `on top of` is neither `on` nor
    `top`.

    Phrases that begin with the same word share it in the pattern, so that a word is compared once,
    not 97 times.
    """
    tails: dict[str, list[str]] = {}
    for phrase in phrases:
        first, _, rest = phrase.partition(" ")
        tails.setdefault(first, []).append(rest)
    parts = []
    for first in sorted(tails, key=lambda word: (-len(word), word)):
        rests = sorted(
            (rest for rest in tails[first] if rest),
            key=lambda rest: (-len(rest.split()), -len(rest), rest),
        )
        tail = "|".join(r"\s+".join(map(re.escape, rest.split())) for rest in rests)
        parts.append(
            re.escape(first)
            + (
                rf"(?:\s+(?:{tail}){_EDGE_AFTER})" + ("?" if "" in tails[first] else "")
                if tail
                else ""
            )
        )
    return re.compile(_EDGE_BEFORE + "(?:" + "|".join(parts) + ")" + _EDGE_AFTER, re.IGNORECASE)


def joiner(phrases: Iterable[str]) -> Callable[[str], str]:
    """Makes every phrase of several words in a text one word. Training and scoring both read
    through it.

    >>> joiner(["on", "top of", "on top of"])("A cat on top of a box, on fire.")
    'A cat on_top_of a box, on fire.'
    """
    several = [" ".join(phrase.split()) for phrase in phrases if len(phrase.split()) > 1]
    if not several:
        return lambda text: text
    pattern = phrase_pattern(several)
    return lambda text: pattern.sub(lambda match: joined(match[0]), text)


class Vocabulary:
    """Tokens and their ids; the first three are the unknown word, a sentence's beginning and its
    end."""

    def __init__(self, tokens: Sequence[str]) -> None:
        if tuple(tokens[:3]) != SPECIAL or len(set(tokens)) != len(tokens):
            raise UserError(
                f"A vocabulary begins with {', '.join(SPECIAL)} and holds every token once."
            )
        self.tokens = tuple(tokens)
        self.number = {token: i for i, token in enumerate(self.tokens)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, smallest: int = 1) -> Vocabulary:
        """The words that occur at least `smallest` times in the sentences, the most frequent
        first."""
        counts = Counter(word for sentence in sentences for word in sentence)
        frequent = [
            word for word, count in counts.items() if count >= smallest and word not in SPECIAL
        ]
        return cls([*SPECIAL, *sorted(frequent, key=lambda word: (-counts[word], word))])

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """From a file with one token per line."""
        return cls(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def save(self, path: Path) -> None:
        """To a file with one token per line."""
        path.write_text("\n".join(self.tokens) + "\n", encoding="utf-8")

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.number

    def sentence(self, sentence: Iterable[str]) -> list[int]:
        """A sentence's ids between beginning and end; a word that is not in the vocabulary is the
        unknown one.

        >>> Vocabulary([*SPECIAL, "cat"]).sentence(["a", "cat"])
        [1, 0, 3, 2]
        """
        return [1, *(self.number.get(word, 0) for word in sentence), 2]
