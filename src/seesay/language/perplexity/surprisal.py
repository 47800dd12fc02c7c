"""Surprisal word by word: what a model did not expect.

Two models may be compared on the same sentence.

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
    """A word of a sentence, its surprisal in bits, and those of its pieces.

    It is NaN for a word that a model skips.
    """

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
        """Return what `--json` prints: null for what is not finite."""
        row: dict[str, object] = json_value(asdict(self))
        return row


def sentence_surprisals(
    models: Sequence[tuple[str, Sequence[ScoredText]]],
) -> list[SentenceSurprisal]:
    """Return the sentences that every model has scored, word by word."""
    names = _names(models)
    by_line: dict[int, list[ScoredText]] = {}
    for _, texts in models:
        for scored in texts:
            by_line.setdefault(scored.line, []).append(scored)
    sentences = []
    for line, all_scored in by_line.items():
        if len(all_scored) < len(models):
            continue
        surprisals = [word_surprisals(scored.text, scored.scores) for scored in all_scored]
        # A model that scores no end has a gap there, so that all have the same words.
        if any(words[-1].word == END for words in surprisals):
            for words in surprisals:
                if words[-1].word != END:
                    words.append(WordSurprisal(END, math.nan, ()))
        sentence = SentenceSurprisal(
            line,
            all_scored[0].text,
            tuple(word.word for word in surprisals[0]),
            dict(zip(names, map(tuple, surprisals), strict=True)),
        )
        sentences.append(sentence)
    if not sentences:
        raise UserError("The models share no sentence that both of them can score.")
    return sentences


def _names(models: Sequence[tuple[str, Sequence[ScoredText]]]) -> list[str]:
    """Return the models' names; the second of two equal ones is numbered."""
    names: list[str] = []
    for number, (name, _) in enumerate(models, 1):
        names.append(f"{name} ({number})" if name in names else name)
    return names


def word_surprisals(text: str, scores: TokenScores) -> list[WordSurprisal]:
    """Return every word of the text with the pieces that begin in it.

    What follows the text is a word of its own.
    """
    words = list(_WORD.finditer(text))
    pieces: list[list[tuple[str, float]]] = [[] for _ in words]
    after: list[tuple[str, float]] = []
    length = len(text.rstrip())
    current = 0
    tokens = zip(scores.tokens, scores.logp, _spans(text, scores), strict=True)
    for token, logp, (start, stop) in tokens:
        # Not −0.0, which would be printed with its sign.
        piece = (token, -logp / math.log(2) if logp else 0.0)
        if start >= length:
            after.append(piece)
            continue
        first_letter = _first_letter(text, start, stop)
        while current + 1 < len(words) and first_letter >= words[current].end():
            current += 1
        pieces[current].append(piece)
    surprisals = [_word(word[0], parts) for word, parts in zip(words, pieces, strict=True)]
    if after:
        surprisals.append(_word(END, after))
    return surprisals


def _word(word: str, pieces: Sequence[tuple[str, float]]) -> WordSurprisal:
    """Return a word with the sum of its pieces' bits."""
    bits = math.fsum(bits for _, bits in pieces) if pieces else math.nan
    return WordSurprisal(word, bits, tuple(pieces))


def _first_letter(text: str, start: int, stop: int) -> int:
    """Return where a token begins, after the space that may be part of it."""
    inside = text[start:stop]
    return start + len(inside) - len(inside.lstrip())


def _spans(text: str, scores: TokenScores) -> Sequence[tuple[int, int]]:
    """Return the characters of each token.

    A word model does not tell: its tokens are looked for, one after the other.
    """
    if scores.spans:
        return scores.spans
    # As long as the text: the lower case of some letters is two, and would move the places.
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    at = 0
    spans = []
    for token in scores.tokens:
        words = token.replace("_", " ")
        start = lowered.find(words, at)
        stop = start + len(words)
        if start < 0:
            # An unknown word is the next one of the text, and the end is after all of them.
            match = _WORD.search(text, at) if token != "</s>" else None
            start, stop = match.span() if match else (len(text), len(text))
        spans.append((start, stop))
        # Punctuation, which such a model does not read, is passed over.
        punctuation = _WORD.match(text, stop)
        at = punctuation.end() if punctuation else stop
    return spans
