"""The English (Porter2) stemmer as Snowball defined it when METEOR 1.5 was built.

Today's Snowball has moved on (`added` is now `add`, once it was `ad`; `biologist` now loses its
`-ist`), so a current stemming library gives other matches.
"""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl", "gently": "gentl",
    "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
}  # fmt: skip
_INVARIANT = frozenset(["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"])
_INVARIANT_AFTER_PLURAL = frozenset(
    ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"]
)

_CONSONANT_Y = re.compile("(^|[aeiouy])y")
_REGION = re.compile("[aeiouy][^aeiouy]")
_EARLY_REGION = re.compile("gener|commun|arsen")
_VOWEL = re.compile("[aeiouy]")
_SHORT_SYLLABLE = re.compile("(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$")
_PAST = re.compile("(?:eed|eedly|ed|edly|ing|ingly)$")
_STEP_2 = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize", "ization": "ize",
    "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful",
    "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble", "ogi": "og",
    "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
_STEP_3 = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "",
    "ness": "", "ative": "",
}  # fmt: skip
_STEP_4 = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive",
    "ize", "ion",
]  # fmt: skip


def _ending(word: str, endings: list[str]) -> str | None:
    """The longest of the endings that the word has."""
    return max((ending for ending in endings if word.endswith(ending)), key=len, default=None)


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin: after the first consonant that follows a vowel, and after the next
    such."""
    early = _EARLY_REGION.match(word)
    if early:
        first = early.end()
    else:
        match = _REGION.search(word)
        first = match.end() if match else len(word)
    match = _REGION.search(word, first)
    return first, match.end() if match else len(word)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The word's stem.

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
    word = _CONSONANT_Y.sub(r"\1Y", word)
    r1, r2 = _regions(word)
    word = _plural(word)
    if word in _INVARIANT_AFTER_PLURAL:
        return word
    word = _past(word, r1)
    if word[-1:] in ("y", "Y") and len(word) > 2 and word[-2] not in "aeiouy":
        word = word[:-1] + "i"
    word = _derived(word, r1, r2)
    return _final(word, r1, r2).replace("Y", "y")


def _plural(word: str) -> str:
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            word = word[: -len(ending)]
            break
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word[:-2]):
        return word[:-1]
    return word


def _past(word: str, r1: int) -> str:
    match = _PAST.search(word)
    if match is None:
        return word
    ending = match[0]
    if ending.startswith("eed"):
        return word[: match.start() + 2] if match.start() >= r1 else word
    rest = word[: match.start()]
    if not _VOWEL.search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")):
        return rest[:-1]
    if r1 >= len(rest) and _SHORT_SYLLABLE.search(rest):
        return rest + "e"
    return rest


def _derived(word: str, r1: int, r2: int) -> str:
    """Steps 2 to 4: derivational endings, in R1 or R2 only."""
    ending = _ending(word, list(_STEP_2))
    if ending and len(word) - len(ending) >= r1:
        before = word[: -len(ending)]
        allowed = {"ogi": "l", "li": "cdeghkmnrt"}.get(ending)
        if allowed is None or before[-1:] in tuple(allowed):
            word = before + _STEP_2[ending]
    ending = _ending(word, list(_STEP_3))
    if ending and len(word) - len(ending) >= (r2 if ending == "ative" else r1):
        word = word[: -len(ending)] + _STEP_3[ending]
    ending = _ending(word, _STEP_4)
    if ending and len(word) - len(ending) >= r2 and (ending != "ion" or word[-4:-3] in ("s", "t")):
        word = word[: -len(ending)]
    return word


def _final(word: str, r1: int, r2: int) -> str:
    last = len(word) - 1
    if word.endswith("e") and (
        last >= r2 or (last >= r1 and not _SHORT_SYLLABLE.search(word[:-1]))
    ):
        return word[:-1]
    if word.endswith("ll") and last >= r2:
        return word[:-1]
    return word
