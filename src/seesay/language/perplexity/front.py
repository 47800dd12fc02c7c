"""`seesay.perplexity`: the perplexity of texts under any model that scores them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seesay.api import load_model
from seesay.language.perplexity.score import PerplexityResult
from seesay.language.perplexity.score import perplexity as perplexity_of
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
    lines = Path(texts) if isinstance(texts, str) else texts
    return perplexity_of(scorer, lines, eos=eos, stride=stride, limit=limit)
