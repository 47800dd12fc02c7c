"""Causal language models: log P(option and the rest of the sentence | what stands before the slot)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model, TokenScores
from seesay.models.hf import prefix_tree
from seesay.models.hf.batching import bundles, by_budget, equal_lengths, halving, must_fit, positions, windows
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import Spelling, spell
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

AUTO_BUDGET = 512
# Trained never to see a sentence without its beginning mark; tokenisers read from GGUF files may leave it out.
NEEDS_BEGINNING = ("gemma",)
BRANCHES = 64
TEXTS = 512  # scored together: captions that begin alike share their beginning
LONGEST = 2048  # tokens read at once: the vocabulary's logits at each of them must fit into memory
WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")


class Causal(Model):
    """A decoder. Scope `sentence` scores the option and what follows it, `option` the option alone."""

    family = "causal"

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        fingerprint: str,
        *,
        scope: str = "sentence",
        batch_size: int | None = None,
    ) -> None:
        self.name, self.fingerprint, self.scope = name, fingerprint, scope
        self._model, self._tokenizer = model.eval(), tokenizer
        self._budget = batch_size or AUTO_BUDGET
        self._batch_size = 2 * self._budget
        self._as_tree = self._takes_trees()

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts that begin alike, because those share the most."""
        order = sorted(range(len(prompts)), key=lambda i: (prompts[i].text, i))
        return by_budget(prompts, order, self._batch_size, self._characters)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        spelt = [self._rooted(row) for row in spell(self._tokenizer, prompts, rest=self.scope == "sentence")]
        flat = [s for row in spelt for s in row]
        results = iter(
            self._in_memory([s.ids for s in flat], [s.start for s in flat], [s.stop - s.start == 1 for s in flat])
        )
        return [_scores(row, [next(results) for _ in row]) for row in spelt]

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Every token's log-probability given the ones before it; long texts through a moving window."""
        window, step = self._window_and_step(stride)
        for some in bundles(texts, TEXTS):
            sentences = [self._ended(self._begin(tuple(ids)), end) for ids in self._tokenizer(some)["input_ids"]]
            cuts = [windows(len(ids), window, step) for ids in sentences]
            pieces = [
                (ids[begin:stop], first - begin)
                for ids, cut in zip(sentences, cuts, strict=True)
                for begin, stop, first in cut
            ]
            results = iter(
                self._in_memory([ids for ids, _ in pieces], [first for _, first in pieces], [False] * len(pieces))
            )
            for ids, cut in zip(sentences, cuts, strict=True):
                logp = tuple(logp for _ in cut for logp in next(results)[0])
                yield TokenScores(tuple(self._tokenizer.convert_ids_to_tokens(list(ids[1:]))), logp)

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """How `score` reads texts, for a signature: whether they end, and the window that moves over long ones."""
        window, step = self._window_and_step(stride)
        ids = self._ended(self._begin(tuple(self._tokenizer("a")["input_ids"])), end)
        ended = len(ids) > 1 and ids[-1] == self._tokenizer.eos_token_id
        return f"eos:{'yes' if ended else 'no'}|window:{window}|stride:{step}"

    def _window_and_step(self, stride: int | None) -> tuple[int, int]:
        window = min(positions(self._model) or LONGEST, LONGEST)
        step = stride or window // 2
        if not 0 < step < window:
            raise UserError(f"--stride is {stride}: '{self.name}' has a window of {window} tokens: give less.")
        return window, step

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the last token; what texts share at their beginnings is computed once."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        sentences = [self._begin(tuple(ids)) for ids in self._tokenizer(list(texts))["input_ids"]]
        must_fit(self.name, self._model, max(map(len, sentences)))
        rows, self._budget = halving(lambda budget: self._last_states(sentences, budget), self._budget)
        return rows

    def _last_states(self, sentences: Sequence[tuple[int, ...]], budget: int) -> NDArray[np.float32]:
        import torch

        rows: list[NDArray[np.float32] | None] = [None] * len(sentences)
        with torch.inference_mode():
            for group in self._groups(sentences, budget):
                inputs, cells = self._inputs([sentences[i] for i in group])
                states = self._model.base_model(**inputs)[0]
                at = [places[-1] for places in cells]
                found = states[[row for row, _ in at], [column for _, column in at]].float().cpu().numpy()
                for i, row in zip(group, found, strict=True):
                    rows[i] = row
        return np.stack([row for row in rows if row is not None])

    def _groups(self, sentences: Sequence[tuple[int, ...]], budget: int) -> list[list[int]]:
        if self._as_tree:
            return prefix_tree.split(sentences, min(budget, self._window))
        return equal_lengths(sentences, budget)

    def _characters(self, prompt: Prompt) -> int:
        before, after = prompt.parts
        if self.scope == "option":
            return len(before)
        return len(before) + sum(len(option) + len(after) for option in prompt.options)

    def _in_memory(
        self, sentences: Sequence[tuple[int, ...]], starts: Sequence[int], ranked: Sequence[bool]
    ) -> list[tuple[list[float], int]]:
        results, self._budget = halving(lambda budget: self._logps(sentences, starts, ranked, budget), self._budget)
        return results

    def _logps(
        self, sentences: Sequence[tuple[int, ...]], starts: Sequence[int], ranked: Sequence[bool], budget: int
    ) -> list[tuple[list[float], int]]:
        """The log-probabilities of each sentence's tokens from its start on, and the first one's rank where asked."""
        import torch

        must_fit(self.name, self._model, max(map(len, sentences), default=0))
        fed = [ids[:-1] for ids in sentences]  # the last token is only predicted
        results: list[tuple[list[float], int]] = [([], 0)] * len(sentences)
        with torch.inference_mode():
            for group in self._groups(fed, budget):
                if all(len(fed[i]) < starts[i] for i in group):
                    continue
                # (row, column) of every asked position in the batch, numbered in order of first use
                inputs, cells = self._inputs([fed[i] for i in group])
                asked: dict[tuple[int, int], int] = {}
                for member, i in enumerate(group):
                    for position in range(starts[i] - 1, len(fed[i])):
                        asked.setdefault(cells[member][position], len(asked))
                rows, columns = (torch.tensor(axis, device=self._model.device) for axis in zip(*asked, strict=True))
                logits = logits_at(self._model, inputs, rows, columns)
                normaliser = logits.logsumexp(-1)
                for member, i in enumerate(group):
                    lines = self._tensor([asked[cell] for cell in cells[member][starts[i] - 1 :]])
                    targets = self._tensor(sentences[i][starts[i] :])
                    logp = (logits[lines, targets] - normaliser[lines]).tolist()
                    rank = ranks(logits[lines[0]], targets[:1])[0] if ranked[i] else 0
                    results[i] = (logp, rank)
        return results

    def _inputs(self, sentences: Sequence[tuple[int, ...]]) -> tuple[dict[str, Any], list[list[tuple[int, int]]]]:
        """What the model is fed, and where in it each sentence's tokens stand."""
        import torch

        if not self._as_tree or len(sentences) == 1:  # one sentence may be longer than a tree's window
            rows = {ids: row for row, ids in enumerate(dict.fromkeys(sentences))}
            return (
                {"input_ids": self._tensor(list(rows)), "use_cache": False},
                [[(rows[ids], column) for column in range(len(ids))] for ids in sentences],
            )
        grown = prefix_tree.grow(sentences)
        dtype = self._model.dtype
        hidden = torch.from_numpy(~grown.visible()).to(self._model.device)
        mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(hidden, torch.finfo(dtype).min)
        return (
            {
                "input_ids": self._tensor(grown.ids[None]),
                "position_ids": self._tensor(grown.depths[None]),
                "attention_mask": mask[None, None],
                "use_cache": False,
            },
            [[(0, node) for node in path] for path in grown.paths],
        )

    def _takes_trees(self) -> bool:
        """Whether the architecture heeds a tree's mask and positions; recurrent ones and some others do not.

        Found out by asking: short sentences with one beginning must score the same as a tree and each alone. They are
        many, so that a node's place in the tree and its depth in a sentence are far apart.
        """
        vocabulary = self._model.config.get_text_config().vocab_size
        sentences = [tuple((7 * i + 3 + branch * (i > 1)) % vocabulary for i in range(5)) for branch in range(BRANCHES)]
        asked = ([1] * BRANCHES, [False] * BRANCHES, 4 * BRANCHES)
        self._as_tree = False
        scores = [[logp for logp, _ in self._logps(sentences, *asked)]]
        self._as_tree = True
        try:
            scores.append([logp for logp, _ in self._logps(sentences, *asked)])
        except Exception:  # there is no telling how an architecture fails on a mask that it does not expect
            return False
        tolerance = 1e-4 if self._model.dtype.itemsize >= 4 else 0.1
        return all(np.allclose(a, b, rtol=0, atol=tolerance) for a, b in zip(*scores, strict=True))

    def _begin(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The sentence with a first token before it that gives the real first one something to follow."""
        first = self._beginning
        return ids if ids and ids[0] == first else (first, *ids)

    def _ended(self, ids: tuple[int, ...], end: bool | None) -> tuple[int, ...]:
        """The sentence with or without its end token; None leaves it as the tokeniser wrote it."""
        last = self._tokenizer.eos_token_id
        if end is True and last is None:
            raise UserError(f"The tokeniser of '{self.name}' has no end-of-text token: leave --eos out.")
        closed = len(ids) > 1 and ids[-1] == last
        if end is None or end == closed:
            return ids
        return (*ids, int(last)) if end else ids[:-1]

    def _rooted(self, row: Sequence[Spelling]) -> list[Spelling]:
        """A prompt's spellings, with a beginning where the model needs one or an option has nothing before it."""
        bare = any(s.start == 0 for s in row) or self._model.config.model_type.startswith(NEEDS_BEGINNING)
        rooted = []
        for s in row:
            kept = s.ids if self.scope == "sentence" else s.ids[: s.stop]  # some tokenisers close every text
            ids = self._begin(kept) if bare else kept
            shift = len(ids) - len(kept)
            rooted.append(Spelling(ids, s.start + shift, s.stop + shift, s.chars))
        return rooted

    @property
    def _beginning(self) -> int:
        tokenizer = self._tokenizer
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if first is None:
            raise UserError(
                f"The tokeniser of '{self.name}' has no beginning- or end-of-text token to start a sentence with."
            )
        return int(first)

    @property
    def _window(self) -> int:
        """The most nodes a tree may have: its mask replaces the one by which some layers look back a short way only."""
        config = self._model.config.get_text_config()
        spans = [getattr(config, name, None) for name in WINDOWS]
        return min((span for span in spans if type(span) is int and span > 0), default=1 << 30)

    def _tensor(self, values: object) -> torch.Tensor:
        import torch

        return torch.as_tensor(values, dtype=torch.long, device=self._model.device)


def _scores(row: Sequence[Spelling], results: Sequence[tuple[list[float], int]]) -> Scores:
    return Scores(
        logp=tuple(sum(logp) for logp, _ in results),
        tokens=tuple(len(logp) for logp, _ in results),
        chars=tuple(s.chars for s in row),
        rank=tuple(rank for _, rank in results),
    )
