"""Spans of tokens, scored by a causal network: log P(token | the tokens before it).

A `SpanScorer` is given sentences as token ids, and from where on their tokens count. There are
three: `TreeScorer` reads many sentences as one tree, so that what they share is computed once;
`BatchScorer` reads rows of one length, for architectures that do not heed a tree's mask; vLLM's
engine (`models/vllm.py`) makes batches of its own. What is scored and how scores are summed is
the same for all of them, and belongs to `CausalModel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

import seesay
from seesay import caches
from seesay.digests import json_digest
from seesay.files import write_text
from seesay.models.batches import (
    TokenBudget,
    batches_of_equal_length,
    compute_batches,
    max_positions,
)
from seesay.models.hf import prefix_tree
from seesay.models.hf.logits import logits_at, normalisers, ranks

ATTENTION_SPANS = ("sliding_window", "attention_chunk_size", "window_size")
"""What configurations call the number of tokens that a layer looks back."""

# The trial of trees: sentences with one beginning, of which 0, 9, … 63 are scored alone too, so
# that the first and the last of them are among those.
BRANCHES = 64
TRIAL_STEP = 9
TRIAL_LENGTH = 5
TRIAL_BUDGET = 4 * BRANCHES
# In float32, log-probabilities differ in the fifth digit when sums are taken in another order. In
# half precision they may differ by more than 1. An architecture that ignores the mask differs more
# still, about as much as with a wrong mask; one that heeds it, by at most this share of that.
TRIAL_TOLERANCE = 1e-4
TRIAL_SHARE = 1 / 3

Ids = tuple[int, ...]
Cell = tuple[int, int]
"""Row and column of a token in a network's inputs."""

Reader = Callable[..., Iterator[torch.Tensor]]
"""Gives the vocabulary's logits at some cells of the inputs, of one layer after the other."""


class ScoredSpan(NamedTuple):
    """A sentence whose tokens are scored from `start` on; `ranked`, with the first one's rank in
    the vocabulary."""

    ids: Ids
    start: int
    ranked: bool = False

    @property
    def context(self) -> Ids:
        """The tokens that the network reads: the last one is only predicted."""
        return self.ids[:-1]


class SpanScore(NamedTuple):
    """The log-probabilities of a span's tokens, and the first one's rank in the vocabulary or 0."""

    logps: list[float]
    rank: int = 0


class SpanScorer(Protocol):
    """Gives the tokens of spans their log-probabilities."""

    @property
    def max_tokens(self) -> int | None:
        """The length of a sentence at most; None where there is no limit."""

    def score(self, spans: Sequence[ScoredSpan]) -> list[SpanScore]:
        """Score every span, in order."""


class NetworkScorer:
    """Scores spans with a network of transformers in this process. Subclasses say which sentences
    are read together, and how they become inputs."""

    def __init__(self, network: Any, budget: TokenBudget) -> None:
        self.network = network
        self.budget = budget

    @property
    def max_tokens(self) -> int | None:
        """The length of the network's table of positions."""
        return max_positions(self.network)

    def groups(self, sentences: Sequence[Ids], tokens: int) -> list[list[int]]:
        """Return the indices of the sentences, in groups of at most so many tokens."""
        raise NotImplementedError

    def inputs(self, sentences: Sequence[Ids]) -> tuple[dict[str, Any], list[list[Cell]]]:
        """Return the network's inputs for a group, and the cells of each sentence's tokens."""
        raise NotImplementedError

    def score(self, spans: Sequence[ScoredSpan]) -> list[SpanScore]:
        """Score every span by the network's own logits."""
        return self.score_layers(spans, _read_logits)[0]

    def score_layers(self, spans: Sequence[ScoredSpan], read: Reader) -> list[list[SpanScore]]:
        """Score every span by each of the logits that `read` gives in turn."""
        return self.budget.fit(lambda tokens: self.score_within(spans, tokens, read))

    def score_within(
        self,
        spans: Sequence[ScoredSpan],
        tokens: int,
        read: Reader,
    ) -> list[list[SpanScore]]:
        """Score every span by each of the logits, in groups of at most so many tokens."""
        layers = [[SpanScore([])] * len(spans)]
        with torch.inference_mode():
            for group in self.groups([span.context for span in spans], tokens):
                members = [spans[i] for i in group]
                # a text of nothing but its first token has no token to score
                if all(len(span.context) < span.start for span in members):
                    continue
                for layer, scores in enumerate(self._score_group(members, read)):
                    if layer == len(layers):
                        layers.append([SpanScore([])] * len(spans))
                    for i, score in zip(group, scores, strict=True):
                        layers[layer][i] = score
        return layers

    def _score_group(self, spans: Sequence[ScoredSpan], read: Reader) -> Iterator[list[SpanScore]]:
        """Score the spans of one forward pass, layer by layer."""
        inputs, cells = self.inputs([span.context for span in spans])
        # The logits at position i predict token i + 1. Only positions before a scored token go
        # through the output layer, and one that several sentences share goes once: `lines` are
        # the rows of the logits, numbered in order of first use.
        needed = [path[span.start - 1 :] for span, path in zip(spans, cells, strict=True)]
        lines: dict[Cell, int] = {}
        for path in needed:
            for cell in path:
                lines.setdefault(cell, len(lines))
        rows, columns = map(self._tensor, zip(*lines, strict=True))
        for logits in read(self.network, inputs, rows, columns):
            # log softmax at the targets alone: logit minus the log of the normaliser
            normaliser = normalisers(logits)
            scores = []
            for span, path in zip(spans, needed, strict=True):
                at = self._tensor([lines[cell] for cell in path])
                targets = self._tensor(span.ids[span.start :])
                logps = logits[at, targets] - normaliser[at]
                rank = 0
                if span.ranked:
                    (rank,) = ranks(logits[at[0]], targets[:1])
                scores.append(SpanScore(logps.tolist(), rank))
            yield scores

    def read_last(
        self, sentences: Sequence[Ids], read: Callable[..., torch.Tensor]
    ) -> NDArray[np.float32]:
        """Return what `read` makes of each sentence: it is given a group's inputs, and the rows and
        columns of the last tokens."""

        def read_group(group: Sequence[int]) -> NDArray[np.float32]:
            inputs, cells = self.inputs([sentences[i] for i in group])
            rows, columns = map(self._tensor, zip(*(path[-1] for path in cells), strict=True))
            vectors: NDArray[np.float32] = read(inputs, rows, columns).float().cpu().numpy()
            return vectors

        def read_all(tokens: int) -> list[NDArray[np.float32]]:
            return compute_batches(self.groups(sentences, tokens), read_group)

        with torch.inference_mode():
            return np.stack(self.budget.fit(read_all))

    def _rows(self, sentences: Sequence[Ids]) -> tuple[dict[str, Any], list[list[Cell]]]:
        """Return sentences of one length as rows; equal ones are one row."""
        rows: dict[Ids, int] = {}
        cells = []
        for ids in sentences:
            row = rows.setdefault(ids, len(rows))
            cells.append([(row, column) for column in range(len(ids))])
        return {"input_ids": self._tensor(list(rows)), "use_cache": False}, cells

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(
            values,
            dtype=torch.long,
            device=self.network.device,
        )


class BatchScorer(NetworkScorer):
    """Reads sentences of one length as the rows of a batch, which needs no padding."""

    def groups(self, sentences: Sequence[Ids], tokens: int) -> list[list[int]]:
        return batches_of_equal_length(sentences, tokens)

    def inputs(self, sentences: Sequence[Ids]) -> tuple[dict[str, Any], list[list[Cell]]]:
        return self._rows(sentences)


class TreeScorer(NetworkScorer):
    """Reads many sentences as one tree of tokens: beginnings that they share are computed once."""

    def groups(self, sentences: Sequence[Ids], tokens: int) -> list[list[int]]:
        # A tree's mask replaces the one by which some layers look back a short way only: no
        # sentence of a tree may be longer than that way.
        config = self.network.config.get_text_config()
        for name in ATTENTION_SPANS:
            limit = getattr(config, name, None)
            if type(limit) is int and limit > 0:
                tokens = min(tokens, limit)
        return prefix_tree.split(sentences, tokens)

    def inputs(self, sentences: Sequence[Ids]) -> tuple[dict[str, Any], list[list[Cell]]]:
        # a single sentence may be longer than a layer looks back, so it keeps the network's mask
        if len(sentences) == 1:
            return self._rows(sentences)
        tree = prefix_tree.build(sentences)
        dtype = self.network.dtype
        hidden = torch.from_numpy(~tree.visible()).to(self.network.device)
        # added to the attention's logits: 0 where a node sees another, else the lowest number
        mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
        mask.masked_fill_(hidden, torch.finfo(dtype).min)
        inputs = {
            "input_ids": self._tensor(tree.ids[None]),
            # a token's position is its depth in its own sentence, not its place in the tree
            "position_ids": self._tensor(tree.depths[None]),
            "attention_mask": mask[None, None],
            "use_cache": False,
        }
        return inputs, [[(0, node) for node in path] for path in tree.paths]


def choose_scorer(network: Any, budget: TokenBudget, fingerprint: str) -> NetworkScorer:
    """Return the tree scorer where the network takes trees, else the one of batches.

    The outcome of the trial is remembered for the same weights and versions of the libraries."""
    identity = [fingerprint, type(network).__name__, str(network.dtype), network.device.type]
    versions = [seesay.__version__, torch.__version__, version("transformers")]
    path = caches.TREES.folder / json_digest([*identity, *versions])
    outcome = path.read_text(errors="replace") if path.is_file() else ""
    if outcome not in ("True", "False"):
        outcome = str(takes_trees(network, budget))
        write_text(path, outcome)
    if outcome == "True":
        return TreeScorer(network, budget)
    return BatchScorer(network, budget)


def takes_trees(network: Any, budget: TokenBudget) -> bool:
    """Whether the architecture heeds a tree's mask and positions; recurrent ones and some others do
    not.

    Found out by trial: short sentences with one beginning must score the same in a tree as alone.
    They are many, so that a node's place in the tree and its depth in a sentence are far apart; a
    few of them are scored alone.
    """
    vocabulary = network.config.get_text_config().vocab_size
    spans = [ScoredSpan(_trial_sentence(branch, vocabulary), 1) for branch in range(BRANCHES)]

    def logps(scorer: NetworkScorer, spans: Sequence[ScoredSpan]) -> NDArray[np.float64]:
        scores = scorer.score_within(spans, TRIAL_BUDGET, _read_logits)[0]
        return np.array([score.logps for score in scores])

    logps_alone = logps(BatchScorer(network, budget), spans[::TRIAL_STEP])

    def distances(scorer: NetworkScorer) -> NDArray[np.float64]:
        return np.abs(logps(scorer, spans)[::TRIAL_STEP] - logps_alone)

    # there is no telling how an architecture fails on a mask that it does not expect
    try:
        tree_distances = distances(TreeScorer(network, budget))
        if network.dtype.itemsize >= 4:
            return bool(tree_distances.max() <= TRIAL_TOLERANCE)
        unmasked_distances = distances(_UnmaskedScorer(network, budget))
    except Exception:
        return False
    return bool(tree_distances.mean() <= TRIAL_SHARE * unmasked_distances.mean())


class _UnmaskedScorer(TreeScorer):
    """Reads a tree wrongly, to compare with: each node sees all before it, of any sentence."""

    def inputs(self, sentences: Sequence[Ids]) -> tuple[dict[str, Any], list[list[Cell]]]:
        inputs, cells = super().inputs(sentences)
        if "attention_mask" in inputs:  # a single sentence has none
            mask = inputs["attention_mask"]
            hidden = torch.full_like(mask, torch.finfo(mask.dtype).min)
            inputs["attention_mask"] = hidden.triu_(1)
        return inputs, cells


def _trial_sentence(branch: int, vocabulary: int) -> Ids:
    """Return different tokens, of which the first two are the same in every branch."""
    return tuple((7 * i + 3 + branch * (i > 1)) % vocabulary for i in range(TRIAL_LENGTH))


def _read_logits(
    network: Any,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> Iterator[torch.Tensor]:
    """Give the network's own logits, the only ones."""
    yield logits_at(network, inputs, rows, columns)
