"""METEOR's own tokenizer (`-norm`), which it runs over the Penn Treebank tokens.

What it does was found by running version 1.5.

Its substitutions never overlap: a character that one of them has looked at is not looked at again
in the same pass, so `a-b-c` becomes `a b-c`. That is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import zip_longest

from seesay.captions.coco.ngrams import Words, number_words

_LETTERS = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿꙀ-ꙮ꙾-ꚗ"
_ALNUM = "0-9" + _LETTERS
_PASSES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("[“”]", '"'),
        ("[‘’`]", "'"),
        ("''", '"'),
        ("--", "-"),
        (rf"([^{_ALNUM}\s.',-])", r" \1 "),
        ("–", "-"),
        (r"(\.{2,})", r" \1 "),
        ("([^0-9]),([^0-9])", r"\1 , \2"),
        ("([0-9]),([^0-9])", r"\1 , \2"),
        ("([^0-9]),([0-9])", r"\1 , \2"),
        (f"([^{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (f"([^{_ALNUM}])'([{_LETTERS}])", r"\1 ' \2"),
        (f"([{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (f"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
        ("([0-9])'s", r"\1 's"),
        (f"([{_ALNUM}.])-([{_ALNUM}])", r"\1 \2"),
    )
]
_LETTER = re.compile(f"[{_LETTERS}]")
_PLAIN = re.compile("[a-z ]*")


@dataclass(frozen=True)
class Prefixes:
    """Words whose full stop ends no sentence."""

    always: AbstractSet[str] = frozenset()
    """Words of which that is always true."""
    before_number: AbstractSet[str] = frozenset()
    """Words of which that is true before a number."""

    @classmethod
    def parse(cls, text: str) -> Prefixes:
        """Parse METEOR's list.

        It has one word per line, `#` before comments, and `#NUMERIC_ONLY#` after some words.
        """
        always: set[str] = set()
        before_number: set[str] = set()
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            word, *mark = line.split()
            (before_number if mark else always).add(word)
        return cls(frozenset(always), frozenset(before_number))


def normalize(text: str, prefixes: Prefixes) -> list[str]:
    """Return the words of a text as METEOR's matchers see them, in lower case."""
    # Most captions are plain, and none of the passes would change one.
    if _PLAIN.fullmatch(text):
        return text.split()
    text = f" {text} "
    for pattern, replacement in _PASSES:
        text = pattern.sub(replacement, text)
    words = text.split()
    tokens: list[str] = []
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        tokens += _split_stop(word, following, prefixes)
    return " ".join(tokens).lower().split()


def normalize_all(texts: Iterable[str], prefixes: Prefixes) -> Words:
    """Return the words of many texts as METEOR's matchers see them, numbered."""
    return number_words([" ".join(normalize(text, prefixes)) for text in texts])


def _split_stop(
    word: str,
    following: str,
    prefixes: Prefixes,
) -> list[str]:
    """Split off a word's last full stop, unless the sentence seems to go on.

    An acronym loses all its stops.
    """
    stem = word[:-1]
    if not stem or not word.endswith(".") or word.endswith(".."):
        return [word]
    if "." in stem and _LETTER.search(stem):
        return [stem.replace(".", "")]
    if stem in prefixes.always or "a" <= following[:1] <= "z":
        return [word]
    if stem in prefixes.before_number and "0" <= following[:1] <= "9":
        return [word]
    return [stem, "."]
