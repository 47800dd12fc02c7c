"""The Penn Treebank tokenizer of the COCO evaluation (Stanford's, version 3.4.1), as a table of patterns.

It works as a lexer generator does: at each place the pattern that matches most text wins, its right context counted,
and among equals the first. Tokens that the COCO evaluation throws away (quotes, full stops, dashes) are written alike,
however the tokenizer tells opening from closing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
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
    letter, alnum, hard = f"[{pure}{marks}\xad]", f"[{pure}{marks}{digit}\xad]", f"[{pure}{marks}{digit}]"
    word = f"{letter}{alnum}*(?:[.!?]{letter}{alnum}*)*"
    return _Classes(letter, alnum, hard, pure, digit, word, f"(?:[dDoOlL]{_APOSTROPHE}{hard})?{hard}+")


Row = tuple[str, Write | None, bool]
"""Pattern, how the token is written (None: as it stands), whether case does not matter."""


def _tags_and_contractions(kinds: _Classes) -> Iterator[Row]:
    apostrophe, name, word = _APOSTROPHE, "[A-Za-z][A-Za-z0-9_:.-]*", kinds.word
    attribute = rf"{name}(?:{_BLANK}*={_BLANK}*(?:'[^'\r\n]*'|\"[^\"\r\n]*\"))?"
    inside = rf"[!?][A-Za-z-][^>\r\n]*|/?{name}(?:{_BLANK}+{attribute})*{_BLANK}*/?"
    yield f"(<(?:{inside}){_BLANK}*>)", _joined, False
    yield "(-(?:lrb|rrb|lsb|rsb|lcb|rcb)-)", None, True
    for first, second in (("can", "not"), ("gon|wan", "na"), ("got", "ta"), ("lem|gim", "me"), ("'t", "is|was")):
        yield f"({first})(?:{second})", None, True
    yield rf"({kinds.letter}*[^\W\d_nN])n{apostrophe}t", None, True
    yield f"(n{apostrophe}t)", _straight, True
    yield f"({_CLITIC})(?:[^A-Za-z]|$)", _straight, True
    yield f"({word}){_CLITIC}", None, True


def _words(kinds: _Classes) -> Iterator[Row]:
    apostrophe, letter, alnum = _APOSTROPHE, kinds.letter, kinds.alnum
    yield r"(ph\.d\.)[A-Za-z]?", None, True
    small = f"{either(lexicon.SMALL_SHORT)}|{either(lexicon.SMALL_SHORT.title())}"
    yield rf"((?:(?i:{either(lexicon.SHORT)})|{capitalised(lexicon.CAPITAL_SHORT)}|{small})\.)(?:.|$)", None, False
    yield f"({kinds.word})", None, False
    yield f"({apostrophe}n{apostrophe}?|[lLdDjJ]{apostrophe}|(?:[Dd]unkin|somethin|[Oo][Ll]){apostrophe})", None, False
    yield f"({apostrophe}(?:[Ee]m|[Tt]ill?|[Cc]ause))", None, False
    whole = "[Cc]'mon|[Ee]'er|[Ss]'mores|ev'ry|[Ll][Ii]'[Ll]|[Oo]'o|nat'l|[Cc]ap'n|[Nn]or'easter"
    yield f"({whole.replace(chr(39), apostrophe)})", None, False
    yield f"([A-HJ-XZn]{apostrophe}{letter}{{2}}{alnum}*)", None, False
    yield f"({kinds.unit}(?:[-_]{kinds.unit})*)", None, False
    yield f"({letter}+[aeiouyAEIOUY](?:{apostrophe}|[`‘])[aeiouA-Z]{letter}*)", None, False
    yield f"([yY]{apostrophe})[A-Za-z]", None, False


def _addresses(kinds: _Classes) -> Iterator[Row]:
    yield f"(https?://{_IN_URL}+{_URL_END})", None, True
    host = rf"(?:www\.(?:{_HOST}+\.)+[a-zA-Z]{{2,4}}|(?:{_HOST}+\.)+(?:com|net|org|edu))"
    yield f"({host}(?:/{_IN_URL}+{_URL_END})?)", None, True
    yield rf"([a-zA-Z0-9]{_IN_EMAIL}*@(?:{_EMAIL_PART}+\.)*{_EMAIL_PART}+)", None, False
    yield f"(@[A-Za-z_][A-Za-z_0-9]*|#{kinds.letter}+)", None, False
    yield "([A-Z]+(?:&|&amp;)[A-Z]+)", lambda text: text.replace("&amp;", "&"), False


def _numbers(kinds: _Classes) -> Iterator[Row]:
    soft = f"[{kinds.digit}\xad]"
    yield "([0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4})", None, False
    yield f"([-+]?{soft}*(?:[.:,٫٬\xad]{soft}+)+|[-+]?{soft}+)", None, False
    yield r"((?:[0-9]{1,4}[- \xa0]?)?[0-9]{1,4}[/⁄][0-9]{1,4})", _joined, False
    area = r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])"
    yield rf"({area}[0-9]{{3,4}}[- \xa0]?[0-9]{{3,5}})", lambda text: _round(_joined(text)), False
    yield r"((?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})", None, False
    yield f"([{kinds.digit}]+[{kinds.pure}]{kinds.hard}*)", None, False


def _compounds_and_abbreviations(kinds: _Classes) -> Iterator[Row]:
    acronym = r"[A-Za-z](?:\.[A-Za-z])+\."
    yield rf"([A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{acronym}|[A-Za-z0-9\xad]+))+)", None, False
    part = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
    yield rf"({part}(?:\\?/{part}){{1,2}})", None, False
    small = f"{either(lexicon.SMALL_TITLES)}|{either(lexicon.SMALL_TITLES.title())}"
    yield rf"((?:(?i:{either(lexicon.TITLES)})|{small})\.)", None, False
    yield rf"((?:{kinds.word}|{kinds.unit}(?:[-_]{kinds.unit})*)\.)[,;:]", None, False
    yield rf"((?:{either(lexicon.BEFORE_NUMBER)})\.){_BLANK}?[0-9]", None, True
    yield f"({acronym})", None, False
    yield rf"([A-Za-z])\.{_BLANK}+(?:{capitalised(lexicon.OPENERS)})(?:{_BLANK}|$)", None, False
    yield r"([A-Za-z]\.)", None, False


def _signs() -> Iterator[Row]:
    apostrophe = _APOSTROPHE
    yield r"((?:US|HK|NT|NZ|A|C|S)\$)", None, False
    yield r"((?:[A-Za-z]*[0-9]+)+[A-Za-z]*\.[xX])(?=[ .]|$)", None, False
    yield f"({apostrophe}[0-9]0s)", None, True
    yield rf"({apostrophe}[0-9]{{2}})(?:{_BLANK}|$)", None, False
    yield r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])(?:[^A-Za-z0-9]|$)", _round, False
    eye = r"[-\^x=~<>']"
    wide = r"[\^x=~<>]"
    asian = rf"{wide}\.{wide}|{eye}_{eye}|\({eye}[_.]?{eye}\)|\([\^x=~<>']-[\^x=~<>'`]\)"
    yield f"({asian})", _round, False
    yield "(-{2,}|[–—―\x96\x97])", lambda _: "--", False
    yield r"(\.{3,}|…|\.(?: \.){2,})", lambda _: "...", False
    yield "([!?]+)", None, False
    yield r"(\\\*|\*+|_+|<<|>>|#{2,}|@{2,})", None, False
    yield "(``|'')", None, False
    yield r"(')[A-Za-z][^ \t\n\r\xa0]", lambda _: "'", False
    yield f"({_CLITIC})", _straight, True
    yield "([‘’‛\x91\x92]{2})", lambda text: re.sub("[‘‛\x91]", "`", re.sub("[’\x92]", "'", text)), False
    yield f"({apostrophe}|[‘‛‹›\x91])", lambda _: "'", False
    yield '(["“”«»\x93\x94])', lambda _: "''", False
    yield f"({'|'.join(_SPELLED)})", _SPELLED.__getitem__, False
    yield "(&#[0-9]+;|&[aeiouAEIOU](?:acute|grave|uml);)", None, False
    yield r"([(){}\[\]])", _brackets, False
    yield r"([-.,:;#/@+=_|\\])", None, False
    yield "(\xad)", lambda _: "-", False
    yield f"([{ranges(lexicon.SIGNS)}])", None, False


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table, in order of precedence. Built on first use: the classes of characters take some milliseconds."""
    kinds = _classes()
    rows: list[Row] = []
    for group in (_tags_and_contractions, _words, _addresses, _numbers, _compounds_and_abbreviations):
        rows += group(kinds)
    rows += _signs()
    return tuple(Rule(re.compile(pattern, re.I if caseless else 0), write or str) for pattern, write, caseless in rows)


def step(text: str, at: int) -> tuple[str, int]:
    """The token at a place, in its own case, and where it ends.

    What is in no class, such as a blank or an emoji, gives an empty token: it is dropped and parts words.
    """
    if text[at] == " ":  # no rule begins with it, and with a quote only one: a text may hold nothing else
        return "", at + 1
    if text[at] == '"':
        return "''", at + 1
    reach = stop = at
    write: Write = str
    for pattern, how in rules():
        match = pattern.match(text, at)
        if match is not None and match.end() > reach:
            reach, stop, write = match.end(), match.end(1), how
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
