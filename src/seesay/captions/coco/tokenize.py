"""Captions as the COCO evaluation tokenises them: Penn Treebank tokens in lower case, its
punctuation list removed.

A tokenised caption is a string with one blank between tokens, as `pycocoevalcap` holds it. That is
not a detail: a phone number or a tag is one token with a no-break space inside, which ROUGE counts
once and BLEU, CIDEr and METEOR (which split at any white space) count as several.
"""

from __future__ import annotations

import re
from functools import lru_cache

from seesay.captions.coco.lexer import lex, step
from seesay.captions.coco.lexicon import ABBREVIATIONS, TWO_TOKENS

PUNCTUATION = frozenset(
    [
        "''",
        "'",
        "``",
        "`",
        "-LRB-",
        "-RRB-",
        "-LCB-",
        "-RCB-",
        ".",
        "?",
        "!",
        ",",
        ":",
        "-",
        "--",
        "...",
        ";",
    ]
)
"""COCO's list. It is compared with tokens already in lower case, so the bracket names never match:
`-lrb-` stays."""

# What no neighbour can change: letters, perhaps hyphens inside, perhaps one mark after. A full stop
# needs two letters before it (an initial looks at the next word) and no abbreviation.
_PLAIN = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)*)('s)?([,;:!?]?|\.)")
_LINE_BREAKS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")


def tokenize(caption: str) -> str:
    """A caption's tokens in lower case without punctuation, joined by blanks. A line break is a
    blank.

    >>> tokenize('A man (in the U.S.) isn\\'t "riding" his bike.')
    "a man -lrb- in the u.s. -rrb- is n't riding his bike"
    """
    if not caption.isascii() or "\n" in caption or "\r" in caption:
        caption = _LINE_BREAKS.sub(" ", caption)
    tokens = [_context_free(chunk) for chunk in caption.split(" ")]
    if None in tokens:
        return _with_context(caption)
    return " ".join(filter(None, tokens))


def _with_context(caption: str) -> str:
    """The same for a caption with chunks that are not plain: only those are lexed."""
    tokens = []
    at = 0
    begins = True
    while at < len(caption):
        if begins:
            end = caption.find(" ", at)
            chunk = caption[at:] if end < 0 else caption[at:end]
            plain = _context_free(chunk)
            if plain is not None:
                if plain:
                    tokens.append(plain)
                at += len(chunk) + 1
                continue
        token, at = step(caption, at)
        begins = caption[at - 1] == " "
        if token and (token := token.lower()) not in PUNCTUATION:
            tokens.append(token)
    return " ".join(tokens)


@lru_cache(maxsize=1 << 17)  # captions repeat their words
def _context_free(chunk: str) -> str | None:
    """The tokens of a chunk of text if they are the same in every caption, else None."""
    if not chunk:
        return ""
    match = _PLAIN.fullmatch(chunk)
    if match is None:
        return None
    word = match[1].lower()
    genitive = match[2]
    mark = match[3]
    if mark == "." and (len(word) < 2 or word in ABBREVIATIONS):
        return None
    if not genitive and word not in TWO_TOKENS:
        return word
    return " ".join(token for token in map(str.lower, lex(chunk)) if token not in PUNCTUATION)
