"""Captions as the COCO evaluation tokenises them: Penn Treebank tokens without punctuation.

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
"""COCO's list of tokens to remove.

It is compared with tokens already in lower case, so the bracket names never match: `-lrb-` stays.
"""

# What no neighbour can change: letters, perhaps hyphens inside, perhaps one mark after. A full stop
# needs two letters before it (an initial looks at the next word) and no abbreviation.
_PLAIN = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)*)('s)?([,;:!?]?|\.)")
_LINE_BREAKS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")


def tokenize(caption: str) -> str:
    """Return a caption's tokens in lower case without punctuation, joined by blanks.

    A line break is a blank.

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
    """Return the tokens of a caption with chunks that are not plain: only those are lexed."""
    tokens: list[str | None] = []
    at = 0
    chunk_begins = True
    while at < len(caption):
        if chunk_begins:
            end = caption.find(" ", at)
            chunk = caption[at:] if end < 0 else caption[at:end]
            plain = _context_free(chunk)
            if plain is not None:
                tokens.append(plain)
                at += len(chunk) + 1
                continue
        # The lexer sees the whole caption: a token may look at, or span, the next chunk.
        token, at = step(caption, at)
        chunk_begins = caption[at - 1] == " "
        token = token.lower()
        if token not in PUNCTUATION:
            tokens.append(token)
    return " ".join(filter(None, tokens))


# Cached, because captions repeat their words: a corpus of millions has some ten thousand.
@lru_cache(maxsize=1 << 17)
def _context_free(chunk: str) -> str | None:
    """Return the tokens of a chunk of text if they are the same in every caption, else None."""
    if not chunk:
        return ""
    match = _PLAIN.fullmatch(chunk)
    if match is None:
        return None
    letters, genitive, mark = match.groups()
    word = letters.lower()
    if mark == "." and (len(word) < 2 or word in ABBREVIATIONS):
        return None
    if not genitive and word not in TWO_TOKENS:
        return word
    tokens = map(str.lower, lex(chunk))
    return " ".join(token for token in tokens if token not in PUNCTUATION)
