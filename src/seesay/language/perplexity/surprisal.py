"""Surprisal word by word: what a model did not expect, and where two models differ on the same
sentence.

A word is what stands between spaces; its surprisal is the sum over its pieces, in bits. Words are
the same whatever the tokenizer, so that models can be compared on them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from seesay.errors import UserError
from seesay.files import json_value
from seesay.language.perplexity.score import ScoredText
from seesay.models.base import TokenScores

END = "(end)"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class WordSurprisal:
    """A word of a sentence, its surprisal in bits, and those of its pieces; NaN for a word that a
    model skips."""

    word: str
    bits: float
    pieces: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SentenceSurprisal:
    """A sentence with the surprisals of its words under each model."""

    line: int
    text: str
    words: tuple[str, ...]
    models: dict[str, tuple[WordSurprisal, ...]]

    def as_json(self) -> dict[str, object]:
        """For `--json`: null for what is not finite."""
        row: dict[str, object] = json_value(asdict(self))
        return row


def sentence_surprisals(
    models: Sequence[tuple[str, Sequence[ScoredText]]],
) -> list[SentenceSurprisal]:
    """The sentences that every model has scored, word by word."""
    by_line = [{scored.line: scored for scored in texts} for _, texts in models]
    rows = []
    for scored in models[0][1]:
        each = [lines.get(scored.line) for lines in by_line]
        own = [word_surprisals(other.text, other.scores) for other in each if other is not None]
        if len(own) < len(models):
            continue
        ended = any(words[-1].word == END for words in own)
        padded = [
            (*words, WordSurprisal(END, math.nan, ()))
            if ended and words[-1].word != END
            else tuple(words)
            for words in own
        ]
        names = tuple(word.word for word in padded[0])
        rows.append(
            SentenceSurprisal(
                scored.line, scored.text, names, dict(zip(_names(models), padded, strict=True))
            )
        )
    if not rows:
        raise UserError("The models share no sentence that both of them can score.")
    return rows


def _names(models: Sequence[tuple[str, Sequence[ScoredText]]]) -> list[str]:
    """The models' names; the second of two equal ones is numbered."""
    names = [name for name, _ in models]
    return [f"{name} ({i + 1})" if name in names[:i] else name for i, name in enumerate(names)]


def word_surprisals(text: str, scores: TokenScores) -> list[WordSurprisal]:
    """Every word of the text with the pieces that begin in it; what follows the text is a word of
    its own."""
    words = [match.span() for match in _WORD.finditer(text)]
    pieces: list[list[tuple[str, float]]] = [[] for _ in words]
    rest: list[tuple[str, float]] = []
    current = 0
    for token, logp, (start, stop) in zip(
        scores.tokens, scores.logp, _spans(text, scores), strict=True
    ):
        piece = (token, -logp / math.log(2) if logp else 0.0)
        if start >= len(text.rstrip()):
            rest.append(piece)
            continue
        while current + 1 < len(words) and _first_letter(text, start, stop) >= words[current][1]:
            current += 1
        pieces[current].append(piece)
    rows = [_word(text[slice(*span)], own) for span, own in zip(words, pieces, strict=True)]
    return [*rows, _word(END, rest)] if rest else rows


def _word(word: str, pieces: Sequence[tuple[str, float]]) -> WordSurprisal:
    bits = math.fsum(bits for _, bits in pieces) if pieces else math.nan
    return WordSurprisal(word, bits, tuple(pieces))


def _first_letter(text: str, start: int, stop: int) -> int:
    """Where a token begins, after the space that may be part of it."""
    inside = text[start:stop]
    return start + len(inside) - len(inside.lstrip())


def _spans(text: str, scores: TokenScores) -> Sequence[tuple[int, int]]:
    """The characters of each token. A word model does not tell: its tokens are looked for, one
    after the other."""
    if scores.spans:
        return scores.spans
    # as long as the text
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    at = 0
    spans = []
    for token in scores.tokens:
        words = token.replace("_", " ")
        start = lowered.find(words, at)
        if start < 0:  # an unknown word, or the end
            match = _WORD.search(text, at)
            start, words = (
                (match.start(), match[0]) if match and token != "</s>" else (len(text), "")
            )
        spans.append((start, start + len(words)))
        # punctuation, which such a model does not read
        rest = _WORD.match(text, start + len(words))
        at = rest.end() if rest else start + len(words)
    return spans
