"""Which relations cluster together: k-means as published (k = 30, 1000 restarts), average linkage.

k-means gets the words in an order that depends on their vectors alone, so that the order of the
rows and the names of the words change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay.errors import UserError
from seesay.language.defaults import CLUSTERS, RESTARTS
from seesay.language.relations.vectors import WordVectors, cosine, unit
from seesay.metrics.base import FloatArray


@dataclass(frozen=True)
class Dendrogram:
    """SciPy's merges (the two nodes, their distance, the size), and the words in the order of the
    leaves."""

    words: tuple[str, ...]
    merges: FloatArray
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairProximity:
    """How near two words are to each other: their cosine's rank among all pairs, and the merge that
    joins them."""

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
    def percentile(self) -> float:
        """The share of the other pairs that are farther apart, in per cent."""
        if self.pairs > 1:
            return 100 * (self.pairs - self.rank) / (self.pairs - 1)
        return 100.0

    @property
    def joined_directly(self) -> bool:
        """Whether the two are joined before either is joined with anything else."""
        return len(self.joined) == 2


def k_means(
    vectors: WordVectors, k: int = CLUSTERS, *, restarts: int = RESTARTS, seed: int = 0
) -> list[tuple[str, ...]]:
    """The clusters of the best restart, largest first."""
    from sklearn.cluster import KMeans

    if not 1 <= k <= len(vectors.words):
        raise UserError(
            f"{len(vectors.words)} relations cannot make {k} clusters: choose fewer with "
            "--clusters."
        )
    order = np.lexsort(vectors.rows.T[::-1])
    labels = KMeans(n_clusters=k, n_init=restarts, random_state=seed).fit_predict(
        unit(vectors.rows[order])
    )
    groups = [
        tuple(sorted(vectors.words[order[i]] for i in np.nonzero(labels == c)[0])) for c in range(k)
    ]
    return sorted((group for group in groups if group), key=lambda group: (-len(group), group))


def average_linkage(vectors: WordVectors) -> Dendrogram:
    """Average linkage of cosine distances, with neighbouring leaves as similar as possible."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(vectors.words) < 2:
        raise UserError("A dendrogram needs at least two relations.")
    distance = np.maximum(1.0 - cosine(vectors.rows), 0.0)
    np.fill_diagonal(distance, 0.0)
    merges = linkage(
        squareform((distance + distance.T) / 2, checks=False), "average", optimal_ordering=True
    )
    return Dendrogram(vectors.words, merges, tuple(vectors.words[i] for i in leaves_list(merges)))


def pair_proximity(
    vectors: WordVectors, pairs: Sequence[tuple[str, str]], tree: Dendrogram | None = None
) -> list[PairProximity]:
    """The proximity of each pair whose words both have a vector."""
    tree = tree or average_linkage(vectors)
    similarity = cosine(vectors.rows)
    all_pairs = similarity[np.triu_indices(len(vectors.words), 1)]
    nodes: list[tuple[int, ...]] = [(i,) for i in range(len(vectors.words))]
    for left, right, *_ in tree.merges:
        nodes.append(nodes[int(left)] + nodes[int(right)])
    merged = nodes[len(vectors.words) :]
    proximities = []
    for a, b in pairs:
        if a not in vectors.index or b not in vectors.index:
            continue
        i = vectors.index[a]
        j = vectors.index[b]
        step = next(s for s, node in enumerate(merged) if {i, j} <= set(node))
        proximities.append(
            PairProximity(
                a,
                b,
                float(similarity[i, j]),
                1 + int((all_pairs > similarity[i, j] + 1e-12).sum()),
                len(all_pairs),
                float(tree.merges[step][2]),
                step + 1,
                len(tree.merges),
                tuple(vectors.words[m] for m in merged[step]),
            )
        )
    return proximities
