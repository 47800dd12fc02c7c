"""The Penn Treebank tokenizer of the COCO evaluation (Stanford's, version 3.4.1), as a table of patterns.

The table was found by asking that tokenizer (every character of the basic plane, 300,000 words with and without a
full stop, in three cases and four contexts), not read from it. It works as a lexer generator does: at each place
the pattern that matches most text wins, its right context counted, and among equals the first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

# Marks that stand inside a word as letters do; every other mark is deleted and so parts the word.
_MARKS = (
    "2c2-2c5 2d2-2df 2e5-2eb 2ed 2ef-36f 375 378-379 384-385 3f6 483-487 55a-55f 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 "
    "615-61a 64b-65e 670 6d6-6e4 6e7-6ed 6fd-6fe 70f 711 730-74c 7a6-7b0 7eb-7f3 900-903 93c 93e-94e 951-955 962-963 "
    "981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd 9d7 9e2-9e3 a01-a03 a3c a3e-a4f a81-a83 abc abe-acf b82 bbe-bc2 bc6-bc8 "
    "bca-bcd c01-c03 c3e-c56 d3e-d44 d46-d48 e31 e34-e3a e47-e4e eb1 eb4-ebc ec8-ecd"
)
# Signs that are a token of their own; what is in no class is deleted.
_SIGNS = (
    "24-27 2a 3b-3e 5c 5e 60 7c 7e a1 a5-a9 ac ae-b4 b6-b9 bf d7 f7 37e 387 589 5be 5c0 5c3 5c6 5f3-5f4 600-603 "
    "606-60c 614 61b 61e-61f 66a 66d 6d4 700-70d 7f6-7f8 964-965 e3f e4f 1fbd 2016-2017 201a 201e-2023 2030-2038 203b "
    "203e-2042 2044 2070 2074-207e 2080-208e 20a4 2100-2101 2103-2106 2108-2109 2114 2116-2118 211e-2123 2125 2127 2129 "
    "212e 213a-213b 2140-2144 214a-214d 214f 2155-215e 2190-2bff 3001-3002 3012 30fb ff01-ff0f ff1a-ff20 ff3b-ff40 "
    "ff5b-ff65 ffe0-ffe1 ffe5-ffe6"
)
_TITLES = (
    "adj adm adv alex assoc asst atty attys ave brig capt cf cie cmdr col comdr cpl dept det dr drs elec ens ft "
    "gen gov govs hon insp jos lieut lt maj messrs mlle mme mr mrs ms msgr mt natl pfc ph pres prof profs pvt rep "
    "reps rev sen sens sfc sgt spc st ste supt treas vs wm "
)
_SHORT = (
    "al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn corp cos ct dak dec esq est etc ext "
    "feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo mon mont neb nev nov oct okla "
    "penn plc rd rt sep sept seq sq sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc wyo "
)
_CAPITAL_SHORT = "ark az del ill la mass miss ore pa tex wash"
_SMALL_SHORT = "ptes pte pty"
_SMALL_TITLES = "mfg mtg"
_BEFORE_NUMBER = "art ca figs fig nos no op pp prop"
# After an initial and a full stop, one of these begins a new sentence.
_OPENERS = (
    "a about according additionally after an as at but earlier he her here however if in it last many more now once one "
    "other our she since so some such that the their then there these they this we what when while yet you"
)


ABBREVIATIONS = frozenset(
    " ".join([_TITLES, _SHORT, _CAPITAL_SHORT, _SMALL_SHORT, _SMALL_TITLES, _BEFORE_NUMBER]).split()
)


class Rule(NamedTuple):
    """`pattern` holds the token as group 1; whatever follows it in the pattern is right context."""

    pattern: re.Pattern[str]
    write: Callable[[str], str]


def _ranges(text: str) -> str:
    parts = [part.split("-") for part in text.split()]
    return "".join("-".join(re.escape(chr(int(end, 16))) for end in part) for part in parts)


def _category(*names: str) -> str:
    """A character class of the basic plane's characters of these categories, as ranges."""
    codes = [code for code in range(0x80, 0xD800) if unicodedata.category(chr(code)) in names]
    codes += [code for code in range(0xF900, 0x10000) if unicodedata.category(chr(code)) in names]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


def _words(text: str) -> str:
    return "|".join(sorted(text.split(), key=lambda word: (-len(word), word)))


def _same(text: str) -> str:
    return text


def _always(token: str) -> Callable[[str], str]:
    return lambda _: token


def _joined(text: str) -> str:
    """A token that spans blanks is written with no-break spaces."""
    return re.sub(r"\s", "\xa0", text)


def _round(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _brackets(text: str) -> str:
    for bracket, name in (
        ("(", "-LRB-"),
        (")", "-RRB-"),
        ("[", "-LSB-"),
        ("]", "-RSB-"),
        ("{", "-LCB-"),
        ("}", "-RCB-"),
    ):
        text = text.replace(bracket, name)
    return text


_FRACTIONS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
_CURRENCY = {"£": "#", "€": "$", "¤": "$", "₠": "$", "\x80": "$", "¢": "cents"}
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&mdash;": "--", "&nbsp;": ""}


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table, in order of precedence. Built on first use: the classes of letters and digits take some milliseconds."""
    pure = "A-Za-z" + _category("Lu", "Ll", "Lt", "Lm", "Lo")
    digit = "0-9" + _category("Nd")
    letter = f"[{pure}{_ranges(_MARKS)}\xad]"
    alnum = f"[{pure}{_ranges(_MARKS)}\xad{digit}]"
    digit_soft = f"[{digit}\xad]"
    apos = "(?:['’\x92]|&apos;)"
    word = f"{letter}{alnum}*(?:[.!?]{letter}{alnum}*)*"
    number = f"(?:[-+]?[{digit}\xad]*(?:[.:,٫٬\xad]{digit_soft}+)+|[-+]?{digit_soft}+)"
    acronym = r"[A-Za-z](?:\.[A-Za-z])+"
    blank = r"[ \t\xa0\u2000-\u200a\u3000]"
    no_url = r" \t\n\f\r\"<>|(){}"
    name = r"[A-Za-z][A-Za-z0-9_:.-]*"
    found: list[Rule] = []

    def add(pattern: str, write: Callable[[str], str] = _same, flags: int = 0) -> None:
        found.append(Rule(re.compile(pattern, flags), write))

    attribute = rf"{name}(?:{blank}*={blank}*(?:'[^'\r\n]*'|\"[^\"\r\n]*\"))?"
    add(rf"(<(?:[!?][A-Za-z-][^>\r\n]*|/?{name}(?:{blank}+{attribute})*{blank}*/?){blank}*>)", _joined)
    add(r"(can)(not)", flags=re.I)
    add(r"(gon|wan)(na)", flags=re.I)
    add(r"(got)(ta)", flags=re.I)
    add(r"(lem|gim)(me)", flags=re.I)
    add(r"('t)(is|was)", flags=re.I)
    add(rf"({letter}*[^\W\d_nN])(n{apos}t)", flags=re.I)
    add(rf"(n{apos}t)", flags=re.I)
    add(rf"({apos}(?:s|d|m|ll|re|ve))[^A-Za-z]", flags=re.I)
    add(rf"({apos}(?:s|d|m|ll|re|ve))$", flags=re.I)
    add(rf"({word})({apos}(?:s|d|m|ll|re|ve))", flags=re.I)
    add(r"(ph\.d\.)[A-Za-z]?", flags=re.I)
    capital = "|".join(f"{w.capitalize()}|{w.upper()}" for w in _CAPITAL_SHORT.split())
    small = f"{_words(_SMALL_SHORT)}|{_words(_SMALL_SHORT.title())}"
    add(rf"((?:(?i:{_words(_SHORT)})|{capital}|{small})\.)(?:.|$)")
    add(rf"({word})")
    add(rf"({apos}n{apos}?|[lLdDjJ]{apos}|(?:[Dd]unkin|somethin|[Oo][Ll]){apos}|{apos}(?:[Ee]m|[Tt]ill?|[Cc]ause))")
    add(
        rf"((?:[Cc]{apos}mon|[Ee]{apos}er|[Ss]{apos}mores|ev{apos}ry|[Ll][Ii]{apos}[Ll]|[Oo]{apos}o|nat{apos}l|[Cc]ap{apos}n|[Nn]or{apos}easter))"
    )
    add(rf"([A-HJ-XZn]{apos}{letter}{{2}}{alnum}*)")
    hard = alnum.replace("\xad", "")
    unit = f"(?:[dDoOlL]{apos}{hard})?{hard}+"
    add(f"({unit}(?:[-_]{unit})*)")
    add(rf"({letter}+[aeiouyAEIOUY]{apos}[aeiouA-Z]{letter}*)")
    add(rf"([yY]{apos})[A-Za-z]")
    add(rf"(https?://[^{no_url}]+[^{no_url}.!?,-])", flags=re.I)
    host = rf"[^{no_url}.!?,/]"
    add(
        rf"((?:www\.(?:{host}+\.)+[a-zA-Z]{{2,4}}|(?:{host}+\.)+(?:com|net|org|edu))(?:/[^{no_url}]+[^{no_url}.!?,-])?)",
        flags=re.I,
    )
    add(rf"([a-zA-Z0-9][^{no_url}\xa0]*@(?:[^{no_url}.\xa0]+\.)*[^{no_url}.\xa0]+)")
    add(rf"(@[A-Za-z_][A-Za-z_0-9]*|#{letter}+)")
    add(r"([A-Z]+(?:&|&amp;)[A-Z]+)", lambda text: text.replace("&amp;", "&"))
    add(r"([0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4})")
    add(rf"({number})")
    add(r"((?:[0-9]{1,4}[- \xa0]?)?[0-9]{1,4}[/⁄][0-9]{1,4})", _joined)
    add(
        r"((?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])[0-9]{3,4}[- \xa0]?[0-9]{3,5})",
        lambda text: _brackets(_joined(text)),
    )
    add(r"((?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})")
    add(rf"([{digit}]+[{pure}]{hard}*)")
    add(rf"([A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:[A-Za-z](?:\.[A-Za-z])+\.|[A-Za-z0-9\xad]+))+)")
    add(r"([A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2})")
    add(rf"((?:(?i:{_words(_TITLES)})|{_words(_SMALL_TITLES)}|{_words(_SMALL_TITLES.title())})\.)")
    add(rf"((?:{word}|{unit}(?:[-_]{unit})*)\.)[,;:]")
    add(rf"((?:{_words(_BEFORE_NUMBER)})\.){blank}?[0-9]", flags=re.I)
    add(rf"({acronym}\.)")
    openers = "|".join(f"{w.capitalize()}|{w.upper()}" for w in _OPENERS.split())
    add(rf"([A-Za-z])\.{blank}+(?:{openers})(?:{blank}|$)")
    add(r"([A-Za-z]\.)")
    add(r"((?:US|HK|NT|NZ|A|C|S)\$)")
    add(rf"({apos}[0-9]0s)", flags=re.I)
    add(rf"({apos}[0-9]{{2}}){blank}")
    add(rf"({apos}[0-9]{{2}})$")
    add(r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])(?:[^A-Za-z0-9]|$)", _round)
    add(
        r"([\^x=~<>]\.[\^x=~<>]|[-\^x=~<>']_[-\^x=~<>']|\([-\^x=~<>'][_.]?[-\^x=~<>']\)|\([\^x=~<>']-[\^x=~<>'`]\))",
        _round,
    )
    add(r"(-{2,}|[–—―\x96\x97])", _always("--"))
    add(r"(\.{3,}|…|\.(?: \.){2,})", _always("..."))
    add(r"([!?]+)")
    add(r"(\\\*|\*+|_+|<<|>>|#{2,}|@{2,})")
    add(r"(``|'')")
    add(rf"({apos})[A-Za-z][^ \t\n\r\xa0]", _always("'"))
    add("([‘’‛\x91\x92]{2})", lambda text: re.sub("[‘‛\x91]", "`", re.sub("[’\x92]", "'", text)))
    add(rf"({apos}|[‘‛‹›\x91])", _always("'"))
    add('(["“”«»\x93\x94])', _always("''"))
    add(f"([{''.join(_FRACTIONS)}])", _FRACTIONS.__getitem__)
    add(f"([{''.join(_CURRENCY)}])", _CURRENCY.__getitem__)
    add(f"({'|'.join(_ENTITIES)})", _ENTITIES.__getitem__)
    add(r"(&#[0-9]+;|&[aeiouAEIOU](?:acute|grave|uml);)")
    add(r"([(){}\[\]])", _brackets)
    add(r"([-.,:;#/@+=_|\\])")
    add("(\xad)", _always("-"))
    add(f"([{_ranges(_SIGNS)}])")
    return tuple(found)


def lex(text: str) -> list[str]:
    """The tokens of a line, in their own case."""
    tokens = []
    at, end = 0, len(text)
    table = rules()
    while at < end:
        best: Rule | None = None
        reach = at
        stop = at
        for rule in table:
            match = rule.pattern.match(text, at)
            if match is not None and match.end() > reach:
                best, reach, stop = rule, match.end(), match.end(1)
        if best is None:
            at += 1
            continue
        token = best.write(text[at:stop]).replace("\xad", "")
        if token:
            tokens.append(token)
        at = stop
    return tokens
