"""`seesay.perplexity` and `seesay.surprisals`, of texts under any model that scores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from seesay.api import load_model
from seesay.errors import UserError
from seesay.language.perplexity.score import PerplexityResult, require_scoring
from seesay.language.perplexity.score import perplexity as perplexity_of
from seesay.language.perplexity.surprisal import WordSurprisal, word_surprisals
from seesay.models import Model


def perplexity(
    model: str | Model,
    texts: str | Path | Iterable[str],
    *,
    eos: bool | None = None,
    stride: int | None = None,
    limit: int | None = None,
    **options: Any,
) -> PerplexityResult:
    """Compute perplexity at token, word and sentence level, and bits per word and character.

    The texts are the lines of a file (a path), or are given.
    """
    scorer = load_model(model, **options) if isinstance(model, str) else model
    lines = Path(texts) if isinstance(texts, str | Path) else _texts(texts)
    return perplexity_of(scorer, lines, eos=eos, stride=stride, limit=limit)


def surprisals(
    model: str | Model,
    texts: str | Iterable[str],
    *,
    eos: bool | None = None,
    stride: int | None = None,
    **options: Any,
) -> list[list[WordSurprisal]]:
    """The surprisal of every word of every text, in bits, with those of its pieces.

    A word is what stands between spaces. `eos` and `stride` are as in `perplexity`.
    """
    scorer = load_model(model, **options) if isinstance(model, str) else model
    require_scoring(scorer)
    # A text is iterable too: over its letters.
    listed = [texts] if isinstance(texts, str) else list(_texts(texts))
    words = []
    scored = scorer.score(listed, end=eos, stride=stride)
    for text, scores in zip(listed, scored, strict=True):
        if scores.left_out:
            raise UserError(f"{text[:60]!r} cannot be scored: {scores.left_out}.")
        words.append(word_surprisals(text, scores))
    return words


def _texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts; refuse what is none."""
    for text in texts:
        if not isinstance(text, str):
            raise UserError(f"texts has {text!r}: give texts.")
        yield text
