"""Perplexities of words in one another's contexts: the matrix that P-vectors are made from.

Row v, column u: the perplexity of u's sentences with v in the place of u (Ghanimifard & Dobnik 2019, section 3).
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.training.checkpoint import write_whole

LEVELS = ("token", "sentence")
GAPS = 512  # sentences filled at a time: progress is told, and memory has an end

Gap = tuple[str, str]


def perplexity_matrix(
    model: Model,
    contexts: Mapping[str, Sequence[Gap]],
    words: Sequence[str],
    *,
    level: str = "token",
    progress: Callable[[int, int], None] | None = None,
    folder: Path | None = None,
) -> NDArray[np.float64]:
    """Rows words, columns contexts. `before + word + after` of a gap (before, after) is a sentence.

    The published matrix is at token level; the paper's equation is the one of sentence level. In `folder` every
    finished column is kept, so that a long matrix goes on where it was stopped.
    """
    if level not in LEVELS:
        raise UserError(f"There is no perplexity of level '{level}': choose one of {', '.join(LEVELS)}.")
    empty = [name for name, gaps in contexts.items() if not gaps]
    if empty:
        raise UserError(f"'{empty[0]}' has no contexts: its column has no perplexity.")
    matrix = np.empty((len(words), len(contexts)))
    total = sum(map(len, contexts.values()))
    for column, gaps in enumerate(contexts.values()):
        kept = folder / f"{_digest(model, gaps, words)}.npy" if folder else None
        sums = _kept(kept, len(words))
        if sums is None:
            sums = _column(model, gaps, words, lambda done: progress(done, total) if progress else None)
            if kept is not None:
                _keep(kept, sums)
        elif progress:
            progress(len(gaps), total)
        logp, tokens = sums
        matrix[:, column] = np.exp(-logp / (tokens if level == "token" else len(gaps)))
    return matrix


def _column(
    model: Model, gaps: Iterable[Gap], words: Sequence[str], advance: Callable[[int], None]
) -> NDArray[np.float64]:
    """Each word's sum of log-probabilities over a group of contexts, and of tokens."""
    sums = np.zeros((2, len(words)))
    remaining = iter(gaps)
    while some := list(islice(remaining, GAPS)):
        found = model.score_filled(some, words)
        sums += found.logp.sum(axis=1), found.tokens.sum(axis=1)
        advance(len(some))
    return sums


def _digest(model: Model, gaps: Sequence[Gap], words: Sequence[str]) -> str:
    asked = json.dumps([model.fingerprint, list(words), [list(gap) for gap in gaps]], ensure_ascii=False)
    return hashlib.blake2b(asked.encode(), digest_size=12).hexdigest()


def _kept(path: Path | None, words: int) -> NDArray[np.float64] | None:
    """A finished column; None where there is none or it is damaged."""
    try:
        sums = np.load(path, allow_pickle=False) if path else None
    except (OSError, ValueError, EOFError):
        return None
    return sums if sums is not None and sums.shape == (2, words) else None


def _keep(path: Path, sums: NDArray[np.float64]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sink = io.BytesIO()
    np.save(sink, sums)
    write_whole(path, sink.getvalue())
