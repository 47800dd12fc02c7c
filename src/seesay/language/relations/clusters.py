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
    """SciPy's merges (the two nodes, their distance, the size).

    `order` has the words in the order of the leaves.
    """

    words: tuple[str, ...]
    merges: FloatArray
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairProximity:
    """How near two words are to each other.

    It is measured by their cosine's rank among all pairs, and by the merge that joins them.
    """

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
    vectors: WordVectors,
    k: int = CLUSTERS,
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> list[tuple[str, ...]]:
    """Return the clusters of the best restart, largest first."""
    from sklearn.cluster import KMeans

    if not 1 <= k <= len(vectors.words):
        raise UserError(
            f"{len(vectors.words)} relations cannot make {k} clusters: choose fewer with "
            "--clusters."
        )
    # Sorted by the vectors: k-means depends on the order of the rows.
    order = np.lexsort(vectors.rows.T[::-1])
    estimator = KMeans(n_clusters=k, n_init=restarts, random_state=seed)
    labels = estimator.fit_predict(unit(vectors.rows[order]))
    groups: dict[int, list[str]] = {}
    for row, label in zip(order, labels, strict=True):
        groups.setdefault(int(label), []).append(vectors.words[row])
    clusters = [tuple(sorted(group)) for group in groups.values()]
    return sorted(clusters, key=lambda cluster: (-len(cluster), cluster))


def average_linkage(vectors: WordVectors) -> Dendrogram:
    """Return the average linkage of cosine distances, neighbouring leaves as similar as
    possible."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(vectors.words) < 2:
        raise UserError("A dendrogram needs at least two relations.")
    # Rounding may leave a distance just below zero, or two that are not quite symmetrical.
    distance = np.maximum(1.0 - cosine(vectors.rows), 0.0)
    np.fill_diagonal(distance, 0.0)
    condensed = squareform((distance + distance.T) / 2, checks=False)
    merges = linkage(condensed, "average", optimal_ordering=True)
    order = tuple(vectors.words[i] for i in leaves_list(merges))
    return Dendrogram(vectors.words, merges, order)


def pair_proximity(
    vectors: WordVectors,
    pairs: Sequence[tuple[str, str]],
    tree: Dendrogram | None = None,
) -> list[PairProximity]:
    """Return the proximity of each pair whose words both have a vector."""
    tree = tree or average_linkage(vectors)
    similarity = cosine(vectors.rows)
    all_pairs = similarity[np.triu_indices(len(vectors.words), 1)]
    groups = _merged_groups(tree)
    proximities = []
    for a, b in pairs:
        if a not in vectors.index or b not in vectors.index:
            continue
        pair_cosine = similarity[vectors.index[a], vectors.index[b]]
        # Equal cosines may differ in the last digit: such a pair is not nearer.
        nearer = int((all_pairs > pair_cosine + 1e-12).sum())
        step = next(i for i, group in enumerate(groups) if {a, b} <= set(group))
        proximity = PairProximity(
            a=a,
            b=b,
            cosine=float(pair_cosine),
            rank=1 + nearer,
            pairs=len(all_pairs),
            distance=float(tree.merges[step][2]),
            merge=step + 1,
            merges=len(tree.merges),
            joined=groups[step],
        )
        proximities.append(proximity)
    return proximities


def _merged_groups(tree: Dendrogram) -> list[tuple[str, ...]]:
    """Return the words of each merge, in the order of the merges."""
    # SciPy numbers the words first, and then the merges as they are made.
    nodes: list[tuple[str, ...]] = [(word,) for word in tree.words]
    for left, right, *_ in tree.merges:
        nodes.append(nodes[int(left)] + nodes[int(right)])
    return nodes[len(tree.words) :]
