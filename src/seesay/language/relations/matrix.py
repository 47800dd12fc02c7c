"""Perplexities of words in one another's contexts: the matrix that P-vectors are made from.

Row v, column u: the perplexity of u's sentences with v in the place of u (Ghanimifard & Dobnik
2019, section 2).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay import __version__
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.language.defaults import MAX_CONTEXTS, MIN_CONTEXTS
from seesay.language.perplexity.score import require_scoring
from seesay.language.relations import ContextPart, PerplexityLevel, pvectors
from seesay.language.relations.contexts import (
    ContextCorpus,
    scorable,
    seen_in_training,
    with_min_contexts,
)
from seesay.language.relations.lexicon import spellings
from seesay.language.relations.pvectors import PerplexityMatrix
from seesay.language.relations.vectors import lstm_embeddings, write_vectors
from seesay.models.base import Model
from seesay.progress import ProgressCallback

log = logging.getLogger(__name__)

BATCH = 512
"""Gaps filled at a time, which bounds memory and reports progress."""

Gap = tuple[str, str]
"""The text before and after a gap."""

SEEN_WARNINGS = {
    "other": (
        "The model was trained on other captions, or with another --seed or --held-out: whether it "
        "has seen these contexts is unknown. Give the files, seed and share of its training."
    ),
    "partly": (
        "Most of these contexts come from captions that the model was trained on; --part held-out "
        "takes the others."
    ),
    "yes": "The model was trained on these contexts.",
}


# It has a keyword for each option of `seesay relations matrix`.
def build_matrix(  # noqa: PLR0913
    model: Model,
    corpus: ContextCorpus,
    folder: Path,
    *,
    part: ContextPart | str = ContextPart.ALL,
    level: PerplexityLevel | str = PerplexityLevel.TOKEN,
    minimum: int = MIN_CONTEXTS,
    most: int | None = MAX_CONTEXTS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    command: str = "",
) -> tuple[PerplexityMatrix, dict[str, Any]]:
    """Write the perplexity of every relation in every relation's contexts to a folder.

    The matrix and its origin are returned.

    A relation needs `minimum` contexts; of more than `most`, a sample is drawn by the seed. An
    interrupted matrix is resumed from the finished columns in the folder. The embeddings of an LSTM
    are written beside it.
    """
    require_scoring(model)
    usable, left_out = scorable(corpus.part(part), model)
    contexts = with_min_contexts(usable, minimum, most, seed)
    # Rows are relations that the model may know, whether or not they have contexts enough.
    words, spelt, unknown = spellings(model, corpus.words(minimum))
    source = Path(model.name).expanduser()
    seen = seen_in_training(source, corpus, part)
    if unknown:
        log.warning("'%s' does not know %s: no row for them.", model.name, ", ".join(unknown))
    if left_out:
        log.warning(
            "%s contexts left out: '%s' does not know all their words.",
            f"{left_out:,}",
            model.name,
        )
    if seen in SEEN_WARNINGS:
        log.warning("%s", SEEN_WARNINGS[seen])
    cells = perplexity_matrix(
        model,
        contexts,
        spelt,
        level=level,
        progress=progress,
        folder=folder / "columns",
    )
    matrix = PerplexityMatrix(words, tuple(contexts), cells)
    about = {
        "model": model.name,
        "fingerprint": model.fingerprint,
        "part": str(part),
        "held_out": corpus.held_out_share,
        "level": str(level),
        "seed": seed,
        "seen_in_training": seen,
        "left_out": left_out,
        "contexts": {word: len(gaps) for word, gaps in contexts.items()},
        "unknown": list(unknown),
        **corpus.summary(),
        "command": command,
        "seesay": __version__,
    }
    pvectors.write(folder, matrix, about)
    embeddings = lstm_embeddings(source, words, spelt)
    if embeddings is not None:
        write_vectors(folder / pvectors.EMBEDDINGS, embeddings)
    return matrix, about


def perplexity_matrix(
    model: Model,
    contexts: Mapping[str, Sequence[Gap]],
    words: Sequence[str],
    *,
    level: PerplexityLevel | str = PerplexityLevel.TOKEN,
    progress: ProgressCallback | None = None,
    folder: Path | None = None,
) -> NDArray[np.float64]:
    """Return the perplexity of every word (rows) in every group of contexts (columns).

    `before + word + after` of a gap (before, after) is a sentence.

    Finished columns are stored in `folder`, so that an interrupted matrix is resumed.
    """
    if level not in list(PerplexityLevel):
        raise UserError(
            f"Unknown perplexity level '{level}': choose one of {', '.join(PerplexityLevel)}."
        )
    empty = [name for name, gaps in contexts.items() if not gaps]
    if empty:
        raise UserError(f"'{empty[0]}' has no contexts: its column has no perplexity.")
    # Column by column: each is stored when it is finished, and the next run begins after it.
    matrix = np.empty((len(words), len(contexts)))
    total = sum(map(len, contexts.values()))
    report = progress or (lambda done, total: None)
    per_token = level == PerplexityLevel.TOKEN
    for column, gaps in enumerate(contexts.values()):
        path = folder / f"{_digest(model, gaps, words)}.npy" if folder else None
        sums = _read_column(path, len(words))
        if sums is None:
            sums = _score_column(model, gaps, words, lambda done: report(done, total))
            if path is not None:
                with atomic_write(path) as unfinished, unfinished.open("wb") as file:
                    np.save(file, sums)
        else:
            report(len(gaps), total)
        logp, tokens = sums
        # Appendix A: equation 6 divides by the tokens, equation 9 by the sentences.
        matrix[:, column] = np.exp(-logp / (tokens if per_token else len(gaps)))
    return matrix


def _score_column(
    model: Model,
    gaps: Sequence[Gap],
    words: Sequence[str],
    report: Callable[[int], None],
) -> NDArray[np.float64]:
    """Return each word's sum of log-probabilities over a group of contexts, and of tokens."""
    sums = np.zeros((2, len(words)))
    for start in range(0, len(gaps), BATCH):
        batch = gaps[start : start + BATCH]
        filled = model.score_filled(batch, words)
        sums += filled.logp.sum(axis=1), filled.tokens.sum(axis=1)
        report(len(batch))
    return sums


def _digest(
    model: Model,
    gaps: Sequence[Gap],
    words: Sequence[str],
) -> str:
    """Return what a finished column depends on: another model or caption makes another column."""
    parts = [model.fingerprint, list(words), [list(gap) for gap in gaps]]
    return json_digest(parts, 12, ensure_ascii=False)


def _read_column(path: Path | None, words: int) -> NDArray[np.float64] | None:
    """Read a finished column; None if there is none or it is damaged."""
    if path is None:
        return None
    try:
        sums: NDArray[np.float64] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return sums if sums.shape == (2, words) else None
