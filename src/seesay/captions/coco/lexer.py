"""The Penn Treebank tokenizer of the COCO evaluation (Stanford's, version 3.4.1), as a table of
patterns.

It works as a lexer generator does: at each place the pattern that matches most text wins, its right
context counted, and among equals the first. Tokens that the COCO evaluation throws away (quotes,
full stops, dashes) are written alike, however the tokenizer tells opening from closing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from seesay.captions.coco import lexicon
from seesay.captions.coco.lexicon import capitalised, category, either, ranges

Write = Callable[[str], str]


class Rule(NamedTuple):
    """`pattern` holds the token as group 1; whatever follows it in the pattern is right context."""

    pattern: re.Pattern[str]
    write: Write


def _joined(text: str) -> str:
    """A token that spans blanks is written with no-break spaces."""
    return re.sub(r"\s", "\xa0", text)


def _round(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _brackets(text: str) -> str:
    for bracket, name in (("[", "-LSB-"), ("]", "-RSB-"), ("{", "-LCB-"), ("}", "-RCB-")):
        text = text.replace(bracket, name)
    return _round(text)


def _straight(text: str) -> str:
    return re.sub("[’\x92]|&apos;", "'", text)


_SPELLED = {
    "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3",
    "£": "#", "€": "$", "¤": "$", "₠": "$", "\x80": "$", "¢": "cents",
    "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&mdash;": "--", "&nbsp;": "",
}  # fmt: skip

_APOSTROPHE = "(?:['’\x92]|&apos;)"
_CLITIC = f"{_APOSTROPHE}(?:s|d|m|ll|re|ve)"
_BLANK = r"[ \t\xa0\u2000-\u200a\u3000]"
_IN_URL = r"[^ \t\n\f\r\"<>|(){}]"
_URL_END = r"[^ \t\n\f\r\"<>|(){}.!?,-]"
_HOST = r"[^ \t\n\f\r\"<>|(){}.!?,/]"
_IN_EMAIL = r"[^ \t\n\f\r\"<>|(){}\xa0]"
_EMAIL_PART = r"[^ \t\n\f\r\"<>|(){}.\xa0]"


class _Classes(NamedTuple):
    letter: str
    """Letters, marks and the soft hyphen."""
    alnum: str
    hard: str
    """Letters, marks and digits, no soft hyphen."""
    pure: str
    digit: str
    word: str
    unit: str
    """What hyphens and underscores join."""


def _classes() -> _Classes:
    pure = "A-Za-z" + category("Lu", "Ll", "Lt", "Lm", "Lo")
    digit = "0-9" + category("Nd")
    marks = ranges(lexicon.MARKS)
    letter = f"[{pure}{marks}\xad]"
    alnum = f"[{pure}{marks}{digit}\xad]"
    hard = f"[{pure}{marks}{digit}]"
    word = f"{letter}{alnum}*(?:[.!?]{letter}{alnum}*)*"
    return _Classes(
        letter, alnum, hard, pure, digit, word, f"(?:[dDoOlL]{_APOSTROPHE}{hard})?{hard}+"
    )


Row = str | tuple[str, Write]
"""A pattern, and how the token is written if not as it stands."""


def _tags_and_contractions(kinds: _Classes) -> Iterator[Row]:
    apostrophe = _APOSTROPHE
    name = "[A-Za-z][A-Za-z0-9_:.-]*"
    word = kinds.word
    attribute = rf"{name}(?:{_BLANK}*={_BLANK}*(?:'[^'\r\n]*'|\"[^\"\r\n]*\"))?"
    inside = rf"[!?][A-Za-z-][^>\r\n]*|/?{name}(?:{_BLANK}+{attribute})*{_BLANK}*/?"
    yield f"(<(?:{inside}){_BLANK}*>)", _joined
    yield "(?i)(-(?:lrb|rrb|lsb|rsb|lcb|rcb)-)"
    for first, second in (
        ("can", "not"),
        ("gon|wan", "na"),
        ("got", "ta"),
        ("lem|gim", "me"),
        ("'t", "is|was"),
    ):
        yield f"(?i)({first})(?:{second})"
    yield rf"(?i)({kinds.letter}*[^\W\d_nN])n{apostrophe}t"
    yield f"(?i)(n{apostrophe}t)", _straight
    yield f"(?i)({_CLITIC})(?:[^A-Za-z]|$)", _straight
    yield f"(?i)({word}){_CLITIC}"


def _words(kinds: _Classes) -> Iterator[Row]:
    apostrophe = _APOSTROPHE
    letter = kinds.letter
    alnum = kinds.alnum
    yield r"(?i)(ph\.d\.)[A-Za-z]?"
    small = f"{either(lexicon.SMALL_SHORT)}|{either(lexicon.SMALL_SHORT.title())}"
    yield rf"((?:(?i:{either(lexicon.SHORT)})|{capitalised(lexicon.CAPITAL_SHORT)}|{small})\.)(?:.|$)"
    yield f"({kinds.word})"
    yield f"({apostrophe}n{apostrophe}?|[lLdDjJ]{apostrophe}|(?:[Dd]unkin|somethin|[Oo][Ll]){apostrophe})"
    yield f"({apostrophe}(?:[Ee]m|[Tt]ill?|[Cc]ause))"
    whole = "[Cc]'mon|[Ee]'er|[Ss]'mores|ev'ry|[Ll][Ii]'[Ll]|[Oo]'o|nat'l|[Cc]ap'n|[Nn]or'easter"
    yield f"({whole.replace(chr(39), apostrophe)})"
    yield f"([A-HJ-XZn]{apostrophe}{letter}{{2}}{alnum}*)"
    yield f"({kinds.unit}(?:[-_]{kinds.unit})*)"
    yield f"({letter}+[aeiouyAEIOUY](?:{apostrophe}|[`‘])[aeiouA-Z]{letter}*)"
    yield f"([yY]{apostrophe})[A-Za-z]"


def _addresses(kinds: _Classes) -> Iterator[Row]:
    yield f"(?i)(https?://{_IN_URL}+{_URL_END})"
    host = rf"(?:www\.(?:{_HOST}+\.)+[a-zA-Z]{{2,4}}|(?:{_HOST}+\.)+(?:com|net|org|edu))"
    yield f"(?i)({host}(?:/{_IN_URL}+{_URL_END})?)"
    yield rf"([a-zA-Z0-9]{_IN_EMAIL}*@(?:{_EMAIL_PART}+\.)*{_EMAIL_PART}+)"
    yield f"(@[A-Za-z_][A-Za-z_0-9]*|#{kinds.letter}+)"
    yield "([A-Z]+(?:&|&amp;)[A-Z]+)", lambda text: text.replace("&amp;", "&")


def _numbers(kinds: _Classes) -> Iterator[Row]:
    soft = f"[{kinds.digit}\xad]"
    yield "([0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4})"
    yield f"([-+]?{soft}*(?:[.:,٫٬\xad]{soft}+)+|[-+]?{soft}+)"
    yield r"((?:[0-9]{1,4}[- \xa0]?)?[0-9]{1,4}[/⁄][0-9]{1,4})", _joined
    area = r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])"
    yield rf"({area}[0-9]{{3,4}}[- \xa0]?[0-9]{{3,5}})", lambda text: _round(_joined(text))
    yield r"((?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})"
    yield f"([{kinds.digit}]+[{kinds.pure}]{kinds.hard}*)"


def _compounds_and_abbreviations(kinds: _Classes) -> Iterator[Row]:
    acronym = r"[A-Za-z](?:\.[A-Za-z])+\."
    yield rf"([A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{acronym}|[A-Za-z0-9\xad]+))+)"
    part = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
    yield rf"({part}(?:\\?/{part}){{1,2}})"
    small = f"{either(lexicon.SMALL_TITLES)}|{either(lexicon.SMALL_TITLES.title())}"
    yield rf"((?:(?i:{either(lexicon.TITLES)})|{small})\.)"
    yield rf"((?:{kinds.word}|{kinds.unit}(?:[-_]{kinds.unit})*)\.)[,;:]"
    yield rf"(?i)((?:{either(lexicon.BEFORE_NUMBER)})\.){_BLANK}?[0-9]"
    yield f"({acronym})"
    yield rf"([A-Za-z])\.{_BLANK}+(?:{capitalised(lexicon.OPENERS)})(?:{_BLANK}|$)"
    yield r"([A-Za-z]\.)"


def _signs(_: _Classes) -> Iterator[Row]:
    apostrophe = _APOSTROPHE
    yield r"((?:US|HK|NT|NZ|A|C|S)\$)"
    yield r"((?:[A-Za-z]*[0-9]+)+[A-Za-z]*\.[xX])(?=[ .]|$)"
    yield f"(?i)({apostrophe}[0-9]0s)"
    yield rf"({apostrophe}[0-9]{{2}})(?:{_BLANK}|$)"
    yield r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])(?:[^A-Za-z0-9]|$)", _round
    eye = r"[-\^x=~<>']"
    wide = r"[\^x=~<>]"
    asian = rf"{wide}\.{wide}|{eye}_{eye}|\({eye}[_.]?{eye}\)|\([\^x=~<>']-[\^x=~<>'`]\)"
    yield f"({asian})", _round
    yield "(-{2,}|[–—―\x96\x97])", lambda _: "--"
    yield r"(\.{3,}|…|\.(?: \.){2,})", lambda _: "..."
    yield "([!?]+)"
    yield r"(\\\*|\*+|_+|<<|>>|#{2,}|@{2,})"
    yield "(``|'')"
    yield r"(')[A-Za-z][^ \t\n\r\xa0]", lambda _: "'"
    yield f"(?i)({_CLITIC})", _straight
    yield "([‘’‛\x91\x92]{2})", lambda text: re.sub("[‘‛\x91]", "`", re.sub("[’\x92]", "'", text))
    yield f"({apostrophe}|[‘‛‹›\x91])", lambda _: "'"
    yield '(["“”«»\x93\x94])', lambda _: "''"
    yield f"({'|'.join(_SPELLED)})", _SPELLED.__getitem__
    yield "(&#[0-9]+;|&[aeiouAEIOU](?:acute|grave|uml);)"
    yield r"([(){}\[\]])", _brackets
    yield r"([-.,:;#/@+=_|\\])"
    yield "(\xad)", lambda _: "-"
    yield f"([{ranges(lexicon.SIGNS)}])"


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table, in order of precedence. Built on first use: the classes of characters take some
    milliseconds."""
    kinds = _classes()
    groups = (
        _tags_and_contractions,
        _words,
        _addresses,
        _numbers,
        _compounds_and_abbreviations,
        _signs,
    )
    table = []
    for row in chain.from_iterable(group(kinds) for group in groups):
        pattern, write = (row, str) if isinstance(row, str) else row
        table.append(Rule(re.compile(pattern), write))
    return tuple(table)


def step(text: str, at: int) -> tuple[str, int]:
    """The token at a place, in its own case, and where it ends.

    What is in no class, such as a blank or an emoji, gives an empty token: it is dropped and parts
    words.
    """
    # no rule begins with it, and with a quote only one: a text may hold nothing else
    if text[at] == " ":
        return "", at + 1
    if text[at] == '"':
        return "''", at + 1
    reach = stop = at
    write: Write = str
    for pattern, how in rules():
        match = pattern.match(text, at)
        if match is not None and match.end() > reach:
            reach = match.end()
            stop = match.end(1)
            write = how
    if stop == at:
        return "", at + 1
    return write(text[at:stop]).replace("\xad", ""), stop


def lex(text: str) -> list[str]:
    """The tokens of a line, in their own case."""
    tokens = []
    at = 0
    while at < len(text):
        token, at = step(text, at)
        if token:
            tokens.append(token)
    return tokens
