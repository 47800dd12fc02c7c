"""The Penn Treebank tokenizer of the COCO evaluation (Stanford's 3.4.1), as a table of patterns.

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


def _join_blanks(text: str) -> str:
    """Write a token that spans blanks with no-break spaces."""
    return re.sub(r"\s", "\xa0", text)


def _name_parentheses(text: str) -> str:
    """Write parentheses by their Penn Treebank names."""
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _name_brackets(text: str) -> str:
    """Write brackets of every kind by their Penn Treebank names."""
    for bracket, name in (("[", "-LSB-"), ("]", "-RSB-"), ("{", "-LCB-"), ("}", "-RCB-")):
        text = text.replace(bracket, name)
    return _name_parentheses(text)


def _straighten(text: str) -> str:
    """Write apostrophes of every kind as the straight one."""
    return re.sub("[’\x92]|&apos;", "'", text)


_SPELLED = {
    "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3",
    "£": "#", "€": "$", "¤": "$", "₠": "$", "\x80": "$", "¢": "cents",
    "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&mdash;": "--",
    "&nbsp;": "",
}  # fmt: skip
"""Signs that the tokenizer writes in ASCII."""

_APOSTROPHE = "(?:['’\x92]|&apos;)"
_CLITIC = f"{_APOSTROPHE}(?:s|d|m|ll|re|ve)"
_BLANK = r"[ \t\xa0\u2000-\u200a\u3000]"
# An address runs to the next blank, quote or bracket, and does not end in punctuation.
_IN_URL = r"[^ \t\n\f\r\"<>|(){}]"
_URL_END = r"[^ \t\n\f\r\"<>|(){}.!?,-]"
_HOST = r"[^ \t\n\f\r\"<>|(){}.!?,/]"
_IN_EMAIL = r"[^ \t\n\f\r\"<>|(){}\xa0]"
_EMAIL_PART = r"[^ \t\n\f\r\"<>|(){}.\xa0]"


class _Classes(NamedTuple):
    """Patterns of the characters and words that other patterns are made of."""

    letter: str
    """Letters, marks and the soft hyphen."""
    alnum: str
    """Letters, marks, digits and the soft hyphen."""
    hard: str
    """Letters, marks and digits, no soft hyphen."""
    pure: str
    """Letters without marks: the inside of a class."""
    digit: str
    """Digits of every script: the inside of a class."""
    word: str
    """Letters and digits that begin with a letter, perhaps joined by full stops."""
    unit: str
    """What hyphens and underscores join."""


def _classes() -> _Classes:
    """Build the classes from Unicode's categories and the tokenizer's list of marks."""
    pure = "A-Za-z" + category("Lu", "Ll", "Lt", "Lm", "Lo")
    digit = "0-9" + category("Nd")
    marks = ranges(lexicon.MARKS)
    letter = f"[{pure}{marks}\xad]"
    alnum = f"[{pure}{marks}{digit}\xad]"
    hard = f"[{pure}{marks}{digit}]"
    return _Classes(
        letter=letter,
        alnum=alnum,
        hard=hard,
        pure=pure,
        digit=digit,
        word=f"{letter}{alnum}*(?:[.!?]{letter}{alnum}*)*",
        unit=f"(?:[dDoOlL]{_APOSTROPHE}{hard})?{hard}+",
    )


Row = str | tuple[str, Write]
"""A pattern, and how the token is written if not as it stands."""


def _tags_and_contractions(kinds: _Classes) -> Iterator[Row]:
    """Return the patterns of markup, bracket names and contractions."""
    apostrophe = _APOSTROPHE
    # SGML tags with their attributes
    name = "[A-Za-z][A-Za-z0-9_:.-]*"
    attribute = rf"{name}(?:{_BLANK}*={_BLANK}*(?:'[^'\r\n]*'|\"[^\"\r\n]*\"))?"
    inside = rf"[!?][A-Za-z-][^>\r\n]*|/?{name}(?:{_BLANK}+{attribute})*{_BLANK}*/?"
    yield f"(<(?:{inside}){_BLANK}*>)", _join_blanks
    yield "(?i)(-(?:lrb|rrb|lsb|rsb|lcb|rcb)-)"
    # words that are two tokens: the second part is right context and comes next
    yield "(?i)(can)(?:not)"
    yield "(?i)(gon|wan)(?:na)"
    yield "(?i)(got)(?:ta)"
    yield "(?i)(lem|gim)(?:me)"
    yield "(?i)('t)(?:is|was)"
    # `isn't` is `is` and `n't`, `dog's` is `dog` and `'s`
    yield rf"(?i)({kinds.letter}*[^\W\d_nN])n{apostrophe}t"
    yield f"(?i)(n{apostrophe}t)", _straighten
    yield f"(?i)({_CLITIC})(?:[^A-Za-z]|$)", _straighten
    yield f"(?i)({kinds.word}){_CLITIC}"


def _words(kinds: _Classes) -> Iterator[Row]:
    """Return the patterns of words, with the apostrophes that do not part them."""
    apostrophe = _APOSTROPHE
    letter = kinds.letter
    yield r"(?i)(ph\.d\.)[A-Za-z]?"
    # abbreviations that may end a sentence: their context is as long as a full stop's
    small = f"{either(lexicon.SMALL_SHORT)}|{either(lexicon.SMALL_SHORT.title())}"
    capital = capitalised(lexicon.CAPITAL_SHORT)
    yield rf"((?:(?i:{either(lexicon.SHORT)})|{capital}|{small})\.)(?:.|$)"
    yield f"({kinds.word})"
    # rock 'n' roll, l'eau, Dunkin' Donuts, 'em
    clipped = f"(?:[Dd]unkin|somethin|[Oo][Ll]){apostrophe}"
    yield f"({apostrophe}n{apostrophe}?|[lLdDjJ]{apostrophe}|{clipped})"
    yield f"({apostrophe}(?:[Ee]m|[Tt]ill?|[Cc]ause))"
    whole = "[Cc]'mon|[Ee]'er|[Ss]'mores|ev'ry|[Ll][Ii]'[Ll]|[Oo]'o|nat'l|[Cc]ap'n|[Nn]or'easter"
    yield f"({whole.replace(chr(39), apostrophe)})"
    # O'Neill, D'Angelo
    yield f"([A-HJ-XZn]{apostrophe}{letter}{{2}}{kinds.alnum}*)"
    yield f"({kinds.unit}(?:[-_]{kinds.unit})*)"
    # Hawai'i, Qu'ran
    yield f"({letter}+[aeiouyAEIOUY](?:{apostrophe}|[`‘])[aeiouA-Z]{letter}*)"
    # y'all is `y'` and `all`
    yield f"([yY]{apostrophe})[A-Za-z]"


def _addresses(kinds: _Classes) -> Iterator[Row]:
    """Return the patterns of web and mail addresses, handles, hashtags and names like AT&T."""
    yield f"(?i)(https?://{_IN_URL}+{_URL_END})"
    host = (
        rf"(?:www\.(?:{_HOST}+\.)+[a-zA-Z]{{2,4}}|"
        rf"(?:{_HOST}+\.)+(?:com|net|org|edu))"
    )
    yield f"(?i)({host}(?:/{_IN_URL}+{_URL_END})?)"
    yield rf"([a-zA-Z0-9]{_IN_EMAIL}*@(?:{_EMAIL_PART}+\.)*{_EMAIL_PART}+)"
    yield f"(@[A-Za-z_][A-Za-z_0-9]*|#{kinds.letter}+)"
    yield "([A-Z]+(?:&|&amp;)[A-Z]+)", lambda text: text.replace("&amp;", "&")


def _numbers(kinds: _Classes) -> Iterator[Row]:
    """Return the patterns of dates, numbers, fractions, phone numbers and `10th`."""
    soft = f"[{kinds.digit}\xad]"
    yield "([0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4})"
    yield f"([-+]?{soft}*(?:[.:,٫٬\xad]{soft}+)+|[-+]?{soft}+)"
    yield r"((?:[0-9]{1,4}[- \xa0]?)?[0-9]{1,4}[/⁄][0-9]{1,4})", _join_blanks
    area = (
        r"(?:\([0-9]{2,3}\)[ \xa0]?|"
        r"(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])"
    )
    phone = rf"({area}[0-9]{{3,4}}[- \xa0]?[0-9]{{3,5}})"
    yield phone, lambda text: _name_parentheses(_join_blanks(text))
    yield r"((?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})"
    yield f"([{kinds.digit}]+[{kinds.pure}]{kinds.hard}*)"


def _compounds_and_abbreviations(kinds: _Classes) -> Iterator[Row]:
    """Return the patterns of words joined by hyphens and slashes, and of words with a full stop."""
    acronym = r"[A-Za-z](?:\.[A-Za-z])+\."
    yield rf"([A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{acronym}|[A-Za-z0-9\xad]+))+)"
    part = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
    yield rf"({part}(?:\\?/{part}){{1,2}})"
    small = f"{either(lexicon.SMALL_TITLES)}|{either(lexicon.SMALL_TITLES.title())}"
    yield rf"((?:(?i:{either(lexicon.TITLES)})|{small})\.)"
    # a full stop before other punctuation ends no sentence: it belongs to the word
    yield rf"((?:{kinds.word}|{kinds.unit}(?:[-_]{kinds.unit})*)\.)[,;:]"
    yield rf"(?i)((?:{either(lexicon.BEFORE_NUMBER)})\.){_BLANK}?[0-9]"
    yield f"({acronym})"
    # an initial keeps its full stop unless a new sentence begins
    yield rf"([A-Za-z])\.{_BLANK}+(?:{capitalised(lexicon.OPENERS)})(?:{_BLANK}|$)"
    yield r"([A-Za-z]\.)"


def _signs(_: _Classes) -> Iterator[Row]:
    """Return the patterns of signs.

    They are currencies, years, smileys, dashes, quotes, brackets and single characters.
    """
    apostrophe = _APOSTROPHE
    yield r"((?:US|HK|NT|NZ|A|C|S)\$)"
    yield r"((?:[A-Za-z]*[0-9]+)+[A-Za-z]*\.[xX])(?=[ .]|$)"
    # the '90s, the class of '99
    yield f"(?i)({apostrophe}[0-9]0s)"
    yield rf"({apostrophe}[0-9]{{2}})(?:{_BLANK}|$)"
    # smileys, western and eastern
    yield r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])(?:[^A-Za-z0-9]|$)", _name_parentheses
    eye = r"[-\^x=~<>']"
    wide = r"[\^x=~<>]"
    asian = (
        rf"{wide}\.{wide}|{eye}_{eye}|"
        rf"\({eye}[_.]?{eye}\)|\([\^x=~<>']-[\^x=~<>'`]\)"
    )
    yield f"({asian})", _name_parentheses
    yield "(-{2,}|[–—―\x96\x97])", lambda _: "--"
    yield r"(\.{3,}|…|\.(?: \.){2,})", lambda _: "..."
    yield "([!?]+)"
    yield r"(\\\*|\*+|_+|<<|>>|#{2,}|@{2,})"
    # quotes; those that the evaluation throws away are all written alike
    yield "(``|'')"
    yield r"(')[A-Za-z][^ \t\n\r\xa0]", lambda _: "'"
    yield f"(?i)({_CLITIC})", _straighten
    yield "([‘’‛\x91\x92]{2})", _straighten_quotes
    yield f"({apostrophe}|[‘‛‹›\x91])", lambda _: "'"
    yield '(["“”«»\x93\x94])', lambda _: "''"
    yield f"({'|'.join(_SPELLED)})", _SPELLED.__getitem__
    yield "(&#[0-9]+;|&[aeiouAEIOU](?:acute|grave|uml);)"
    yield r"([(){}\[\]])", _name_brackets
    yield r"([-.,:;#/@+=_|\\])"
    yield "(\xad)", lambda _: "-"
    yield f"([{ranges(lexicon.SIGNS)}])"


def _straighten_quotes(text: str) -> str:
    """Write curly single quotes as a backtick or a straight quote."""
    return re.sub("[‘‛\x91]", "`", re.sub("[’\x92]", "'", text))


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Return the table, in order of precedence.

    It is built on first use: the classes of characters take some milliseconds.
    """
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
    """Return the token at a place, in its own case, and where it ends.

    What is in no class, such as a blank or an emoji, gives an empty token: it is dropped and parts
    words.
    """
    # No rule begins with a blank, and only one with a quote. A text may hold nothing else, and
    # trying every rule at each place would be slow.
    if text[at] == " ":
        return "", at + 1
    if text[at] == '"':
        return "''", at + 1
    reach = stop = at
    write: Write = str
    for pattern, how in rules():
        match = pattern.match(text, at)
        # The longest match wins, right context counted; a later rule must match more.
        if match is not None and match.end() > reach:
            reach = match.end()
            stop = match.end(1)
            write = how
    if stop == at:
        return "", at + 1
    return write(text[at:stop]).replace("\xad", ""), stop


def lex(text: str) -> list[str]:
    """Return the tokens of a line, in their own case."""
    tokens = []
    at = 0
    while at < len(text):
        token, at = step(text, at)
        if token:
            tokens.append(token)
    return tokens
