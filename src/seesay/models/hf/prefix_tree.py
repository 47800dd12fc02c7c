"""Many sentences as one tree of tokens, so that shared beginnings are computed once.

Sentences that begin alike share their nodes; an attention mask lets a token see its own ancestors
and nothing else. A causal model fed the tree gives every sentence the same hidden states as if it
stood alone (Miao et al. 2024, SpecInfer, use the same device to verify many drafts at once).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.models.batches import pack


@dataclass(frozen=True)
class PrefixTree:
    """Nodes in an order in which parents come first. `paths[i]` are the nodes of sentence i, token
    by token."""

    ids: NDArray[np.int64]
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]
    paths: list[list[int]]

    def visible(self) -> NDArray[np.bool_]:
        """Which node attends to which: itself and its ancestors."""
        mask = np.eye(len(self.ids), dtype=np.bool_)
        # a parent's row is complete by the time that a child copies it
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                mask[node] |= mask[parent]
        return mask


def build(sentences: Sequence[Sequence[int]]) -> PrefixTree:
    """The tree of all the sentences.

    >>> tree = build([(5, 6, 7), (5, 6, 8), (5, 9)])
    >>> tree.ids.tolist(), tree.depths.tolist(), tree.paths
    ([5, 6, 7, 8, 9], [0, 1, 2, 2, 1], [[0, 1, 2], [0, 1, 3], [0, 4]])
    """
    ids: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    paths: list[list[int]] = []
    children: dict[tuple[int, int], int] = {}
    for sentence in sentences:
        node = -1
        path = []
        for depth, token in enumerate(sentence):
            child = children.get((node, token))
            # numbered as they come, so that a parent's number is always lower than its child's
            if child is None:
                child = len(ids)
                children[node, token] = child
                ids.append(token)
                parents.append(node)
                depths.append(depth)
            node = child
            path.append(node)
        paths.append(path)
    return PrefixTree(
        np.array(ids, np.int64), np.array(parents, np.int64), np.array(depths, np.int64), paths
    )


def split(sentences: Sequence[Sequence[int]], budget: int) -> list[list[int]]:
    """Indices of the sentences in groups whose trees have at most `budget` nodes; similar sentences
    go together.

    A sentence longer than the budget is a group of its own.
    """

    def new_nodes(previous: int | None, index: int) -> int:
        """What a sentence adds to a tree. In sorted order none of the earlier sentences shares more
        with it than the previous one."""
        sentence = sentences[index]
        if previous is None:
            return len(sentence)
        shared = 0
        for before, token in zip(sentences[previous], sentence, strict=False):
            if before != token:
                break
            shared += 1
        return len(sentence) - shared

    order = sorted(range(len(sentences)), key=lambda i: tuple(sentences[i]))
    return pack(order, budget, new_nodes)
