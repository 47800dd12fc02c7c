"""The word lists of the COCO evaluation's Penn Treebank tokenizer.

Found by running it on: every character of the basic plane inside a word, alone and between digits;
300,000 words with a full stop, in three cases and four contexts.
"""

from __future__ import annotations

import re
import unicodedata

# Marks that stand inside a word as letters do; every other mark is deleted and so parts the word.
MARKS = (
    "2c2-2c5 2d2-2df 2e5-2eb 2ed 2ef-36f 375 378-379 384-385 3f6 483-487 "
    "55a-55f 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 615-61a 64b-65e 670 6d6-6e4 "
    "6e7-6ed 6fd-6fe 70f 711 730-74c 7a6-7b0 7eb-7f3 900-903 93c 93e-94e "
    "951-955 962-963 981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd 9d7 9e2-9e3 a01-a03 "
    "a3c a3e-a4f a81-a83 abc abe-acf b82 bbe-bc2 bc6-bc8 bca-bcd c01-c03 "
    "c3e-c56 d3e-d44 d46-d48 e31 e34-e3a e47-e4e eb1 eb4-ebc ec8-ecd"
)
# Signs that are a token of their own; what is in no class is deleted.
SIGNS = (
    "24-27 2a 3b-3e 5c 5e 60 7c 7e a1 a5-a9 ac ae-b4 b6-b9 bf d7 f7 37e 387 589 "
    "5be 5c0 5c3 5c6 5f3-5f4 600-603 606-60c 614 61b 61e-61f 66a 66d 6d4 "
    "700-70d 7f6-7f8 964-965 e3f e4f 1fbd 2016-2017 201a 201e-2023 2030-2038 "
    "203b 203e-2042 2044 2070 2074-207e 2080-208e 20a4 2100-2101 2103-2106 "
    "2108-2109 2114 2116-2118 211e-2123 2125 2127 2129 212e 213a-213b 2140-2144 "
    "214a-214d 214f 2155-215e 2190-2bff 3001-3002 3012 30fb ff01-ff0f ff1a-ff20 "
    "ff3b-ff40 ff5b-ff65 ffe0-ffe1 ffe5-ffe6"
)
TITLES = (
    "adj adm adv alex assoc asst atty attys ave brig capt cf cie cmdr col comdr "
    "cpl dept det dr drs elec ens ft gen gov govs hon insp jos lieut lt maj "
    "messrs mlle mme mr mrs ms msgr mt natl pfc ph pres prof profs pvt rep reps "
    "rev sen sens sfc sgt spc st ste supt treas vs wm"
)
SHORT = (
    "al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn "
    "corp cos ct dak dec esq est etc ext feb fla fri ga inc ind intl jan jr jul "
    "jun kan kans ky ltd mar md mich minn mo mon mont neb nev nov oct okla penn "
    "plc rd rt sep sept seq sq sr sys tel tenn thu thurs tue tues univ va vt "
    "wed wis wisc wyo"
)
CAPITAL_SHORT = "ark az del ill la mass miss ore pa tex wash"
SMALL_SHORT = "ptes pte pty"
SMALL_TITLES = "mfg mtg"
BEFORE_NUMBER = "art ca figs fig nos no op pp prop"
# After an initial and a full stop, one of these begins a new sentence.
OPENERS = (
    "a about according additionally after an as at but earlier he her here "
    "however if in it last many more now once one other our she since so some "
    "such that the their then there these they this we what when while yet you"
)


TWO_TOKENS = frozenset(["cannot", "gonna", "wanna", "gotta", "lemme", "gimme"])
"""The words of letters alone that are two tokens."""
ABBREVIATIONS = frozenset(
    " ".join([TITLES, SHORT, CAPITAL_SHORT, SMALL_SHORT, SMALL_TITLES, BEFORE_NUMBER]).split()
)


def ranges(text: str) -> str:
    """Return the inside of a character class, from code points and ranges in hexadecimal."""
    # A range keeps its hyphen, which in a class means the same.
    return re.sub("[0-9a-f]+", _escape_code, text).replace(" ", "")


def _escape_code(code: re.Match[str]) -> str:
    """Return a character by its code point, escaped for a pattern."""
    return re.escape(chr(int(code[0], 16)))


def category(*names: str) -> str:
    """Return the inside of a character class of Unicode categories.

    It holds the basic plane's characters beyond ASCII that have one of the categories.
    """
    spans: list[list[int]] = []
    for code in range(0x80, 0x10000):
        if unicodedata.category(chr(code)) in names:
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in spans)


def either(words: str) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "|".join(sorted(words.split(), key=lambda word: (-len(word), word)))


def capitalised(words: str) -> str:
    """Return a pattern for any of the words with a capital, or all in capitals."""
    return either(f"{words.title()} {words.upper()}")
