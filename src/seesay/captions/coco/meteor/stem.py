"""The English (Porter2) stemmer as Snowball defined it when METEOR 1.5 was built.

Today's Snowball has moved on (`added` is now `add`, once it was `ad`; `biologist` now loses its
`-ist`), so a current stemming library gives other matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# Words that the steps would stem wrongly, and words that they must not touch.
_IRREGULAR = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
_INVARIANT = frozenset(["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"])
_INVARIANT_AFTER_PLURAL = frozenset(
    ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"]
)

# Snowball's definitions: y is a vowel unless it begins the word or follows one; a region begins
# after a vowel and a consonant; a short syllable is a vowel between consonants, or one that begins
# the word.
_CONSONANT_Y = re.compile("(^|[aeiouy])y")
_REGION = re.compile("[aeiouy][^aeiouy]")
_EARLY_REGION = re.compile("gener|commun|arsen")
_VOWEL = re.compile("[aeiouy]")
_SHORT_SYLLABLE = re.compile("(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$")
_PAST = re.compile("(?:eed|eedly|ed|edly|ing|ingly)$")
_STEP_2 = {
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "entli": "ent",
    "izer": "ize",
    "ization": "ize",
    "ational": "ate",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "aliti": "al",
    "alli": "al",
    "fulness": "ful",
    "ousli": "ous",
    "ousness": "ous",
    "iveness": "ive",
    "iviti": "ive",
    "biliti": "ble",
    "bli": "ble",
    "ogi": "og",
    "fulli": "ful",
    "lessli": "less",
    "li": "",
}
_STEP_3 = {
    "tional": "tion",
    "ational": "ate",
    "alize": "al",
    "icate": "ic",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
    "ative": "",
}
_STEP_4 = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement",
    "ment", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
]  # fmt: skip

_LETTERS_BEFORE = {"ogi": tuple("l"), "li": tuple("cdeghkmnrt")}
"""The letters after which two endings of step 2 count."""


def _longest_ending(word: str, endings: Iterable[str]) -> str | None:
    """Return the longest of the endings that the word has."""
    return max((ending for ending in endings if word.endswith(ending)), key=len, default=None)


def _regions(word: str) -> tuple[int, int]:
    """Return where the regions R1 and R2 begin.

    R1 is what follows the first consonant after a vowel, R2 the same within R1.
    """
    early = _EARLY_REGION.match(word)
    first = early.end() if early else _region_start(word, 0)
    return first, _region_start(word, first)


def _region_start(word: str, start: int) -> int:
    """Return where the next region begins, at the word's end if there is none."""
    match = _REGION.search(word, start)
    return match.end() if match else len(word)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the word's stem.

    >>> stem("riding"), stem("added"), stem("happily")
    ('ride', 'ad', 'happili')
    """
    if len(word) < 3:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _INVARIANT:
        return word
    word = word.removeprefix("'")
    # A capital Y is a consonant from here on: `youth` begins with one, `say` ends in one.
    word = _CONSONANT_Y.sub(r"\1Y", word)
    # The regions are those of the whole word: what is cut off later does not move them.
    r1, r2 = _regions(word)
    word = _strip_plural(word)
    if word in _INVARIANT_AFTER_PLURAL:
        return word
    word = _strip_past(word, r1)
    # Step 1c: y after a consonant becomes i, unless the word is only two letters long.
    if word[-1:] in ("y", "Y") and len(word) > 2 and word[-2] not in "aeiouy":
        word = word[:-1] + "i"
    word = _strip_derivation(word, r1, r2)
    return _strip_final(word, r1, r2).replace("Y", "y")


def _strip_plural(word: str) -> str:
    """Take off the genitive (step 0) and the plural (step 1a)."""
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            word = word[: -len(ending)]
            break
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        # `ties` becomes `tie`, `cries` becomes `cri`.
        return word[:-2] if len(word) > 4 else word[:-1]
    if not word.endswith("s") or word.endswith(("us", "ss")):
        return word
    # The vowel must not be right before the s: `gaps` loses it, `gas` does not.
    return word[:-1] if _VOWEL.search(word[:-2]) else word


def _strip_past(word: str, r1: int) -> str:
    """Take off the endings of verbs (step 1b)."""
    match = _PAST.search(word)
    if match is None:
        return word
    if match[0].startswith("eed"):
        return word[: match.start() + 2] if match.start() >= r1 else word
    base = word[: match.start()]
    if not _VOWEL.search(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base.endswith(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")):
        return base[:-1]
    # A short word gets its e back: `hoping` is `hope`, `hopping` was `hop` above.
    if r1 >= len(base) and _SHORT_SYLLABLE.search(base):
        return base + "e"
    return base


def _strip_derivation(word: str, r1: int, r2: int) -> str:
    """Take off derivational endings, in R1 or R2 only (steps 2 to 4)."""
    ending = _longest_ending(word, _STEP_2)
    if ending and len(word) - len(ending) >= r1:
        base = word[: -len(ending)]
        # Two endings count only after some letters. The longest ending decides: no shorter one is
        # tried after it.
        letters = _LETTERS_BEFORE.get(ending)
        if letters is None or base[-1:] in letters:
            word = base + _STEP_2[ending]
    ending = _longest_ending(word, _STEP_3)
    if ending:
        region = r2 if ending == "ative" else r1
        if len(word) - len(ending) >= region:
            word = word[: -len(ending)] + _STEP_3[ending]
    ending = _longest_ending(word, _STEP_4)
    if ending is None or len(word) - len(ending) < r2:
        return word
    if ending == "ion" and word[-4:-3] not in ("s", "t"):
        return word
    return word[: -len(ending)]


def _strip_final(word: str, r1: int, r2: int) -> str:
    """Take off a last e or the second l (step 5)."""
    last = len(word) - 1
    if word.endswith("e"):
        if last >= r2:
            return word[:-1]
        # An e after a short syllable is part of the word: `vile` keeps it.
        if last >= r1 and not _SHORT_SYLLABLE.search(word[:-1]):
            return word[:-1]
    if word.endswith("ll") and last >= r2:
        return word[:-1]
    return word
