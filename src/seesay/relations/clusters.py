"""Which relations fall together: k-means as published (k = 30, 1000 restarts), and a tree.

Words are put in an order of their vectors' own before anything is drawn, so that the order of the rows and the names of
the words change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay.errors import UserError
from seesay.metrics.base import FloatArray, IntArray
from seesay.relations.vectors import Vectors, cosine, unit

K, RESTARTS = 30, 1000


@dataclass(frozen=True)
class Tree:
    """Merges as SciPy writes them (the two parts, their distance, the size), and the words from leaf to leaf."""

    words: tuple[str, ...]
    merges: FloatArray
    order: tuple[str, ...]

    def members(self) -> list[tuple[int, ...]]:
        """The words under every node: first the words themselves, then the merges in turn."""
        found: list[tuple[int, ...]] = [(i,) for i in range(len(self.words))]
        for left, right, *_ in self.merges:
            found.append(found[int(left)] + found[int(right)])
        return found


@dataclass(frozen=True, slots=True)
class Together:
    """How near two words are to each other, beside all other pairs, and when the tree joins them."""

    a: str
    b: str
    cosine: float
    rank: int
    pairs: int
    distance: float
    merge: int
    merges: int
    joined: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Whether the tree joins the two before it joins either with anything else."""
        return len(self.joined) == 2


def k_means(vectors: Vectors, k: int = K, *, restarts: int = RESTARTS, seed: int = 0) -> list[tuple[str, ...]]:
    """The best of so many restarts, largest cluster first."""
    from sklearn.cluster import KMeans

    if not 1 <= k <= len(vectors.words):
        raise UserError(f"{len(vectors.words)} relations cannot make {k} clusters: choose fewer with --clusters.")
    order = _own_order(vectors.rows)
    labels = KMeans(n_clusters=k, n_init=restarts, random_state=seed).fit_predict(unit(vectors.rows[order]))
    groups = [tuple(sorted(vectors.words[order[i]] for i in np.nonzero(labels == c)[0])) for c in range(k)]
    return sorted((group for group in groups if group), key=lambda group: (-len(group), group))


def tree(vectors: Vectors) -> Tree:
    """Average linkage of cosine distances, neighbouring leaves as like as can be."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(vectors.words) < 2:
        raise UserError("A tree needs two relations at least.")
    distance = np.maximum(1.0 - cosine(vectors.rows), 0.0)
    np.fill_diagonal(distance, 0.0)
    merges = linkage(squareform((distance + distance.T) / 2, checks=False), "average", optimal_ordering=True)
    return Tree(vectors.words, merges, tuple(vectors.words[i] for i in leaves_list(merges)))


def together(vectors: Vectors, pairs: Sequence[tuple[str, str]], made: Tree | None = None) -> list[Together]:
    """Each pair that both have a vector: its cosine and rank among all pairs, and where the tree joins the two."""
    made = made or tree(vectors)
    between = cosine(vectors.rows)
    every = between[np.triu_indices(len(vectors.words), 1)]
    members = made.members()
    found = []
    for a, b in pairs:
        if a not in vectors.place or b not in vectors.place:
            continue
        i, j = vectors.place[a], vectors.place[b]
        step = next(s for s in range(len(made.merges)) if {i, j} <= set(members[len(vectors.words) + s]))
        found.append(
            Together(
                a, b, float(between[i, j]), 1 + int((every > between[i, j] + 1e-12).sum()), len(every),
                float(made.merges[step][2]), step + 1, len(made.merges),
                tuple(vectors.words[m] for m in members[len(vectors.words) + step]),
            )
        )  # fmt: skip
    return found


def _own_order(rows: FloatArray) -> IntArray:
    return np.lexsort(rows.T[::-1])
