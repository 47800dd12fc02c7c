"""Causal language models: log P(option and the rest of the sentence | what precedes the slot)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import seesay
from seesay import caches
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.files import write_text
from seesay.models.base import GREEDY, Reply, Sampling, TokenScores, summed_scores
from seesay.models.batches import (
    batches_by_budget,
    batches_of_equal_length,
    compute_batches,
    text_batches,
    windows,
)
from seesay.models.chat import PLAIN_NOTE, ChatFormat, conversation
from seesay.models.hf import prefix_tree
from seesay.models.hf.base import TransformersModel
from seesay.models.hf.generation import LINE, generate_replies, left_padded
from seesay.models.hf.layers import layer_logits, layer_states
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import TokenizedOption, tokenize_options
from seesay.questions import SLOT, Prompt, Scores, Task

# Trained on texts that always begin with a beginning-of-text token; tokenizers read from GGUF files
# may omit it.
NEEDS_BEGINNING = ("gemma",)
BRANCHES = 64
APART = 9  # 0, 9, … 63: the first and the last among them
TEXTS = 512  # scored together: captions that begin alike share their beginning
# tokens read at once: the vocabulary's logits at each of them must fit into memory
MAX_WINDOW = 2048
ATTENTION_SPANS = ("sliding_window", "attention_chunk_size", "window_size")

Ids = tuple[int, ...]


class ScoredSpan(NamedTuple):
    """A sentence whose tokens are scored from `start` on; `ranked`, with the first one's rank in
    the vocabulary."""

    ids: Ids
    start: int
    ranked: bool = False


SpanLogps = tuple[list[float], int]
"""The log-probabilities of a span's tokens, and the first one's rank in the vocabulary or 0."""


class CausalModel(TransformersModel):
    """A decoder. Scope `sentence` scores the option and what follows it, `option` the option alone,
    `reply` the option where the reply begins in a chat."""

    family = "causal"
    default_budget = 512
    _format: ChatFormat | None = None

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        *,
        scope: str = "sentence",
        batch_size: int | None = None,
    ) -> None:
        super().__init__(name, checkpoint, batch_size=batch_size)
        self.scope = scope
        self._as_tree = self._remembered_trees()

    def through_chat(self, system: str | None = None) -> CausalModel:
        """This network, asked through its tokenizer's chat template."""
        chatting = copy.copy(self)
        chatting._format = ChatFormat.of(self.name, self._tokenizer, system)
        chatting.chat = chatting._format.digest
        chatting.scope = "reply"
        chatting._notes = {
            note: lasting
            for note, lasting in (self._notes or {}).items()
            if note != self._plain_note
        }
        return chatting

    @property
    def _plain_note(self) -> str:
        return PLAIN_NOTE.format(name=self._loaded_as)

    def prepare(self, task: Task) -> None:
        """Note that there is a chat template which goes unused."""
        if self._format is None and self._tokenizer.chat_template:
            self.note(self._plain_note, lasting=True)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts that begin alike, because those share the most."""
        return batches_by_budget(
            prompts, self._planned, self._characters, lambda prompt: prompt.text
        )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        rows, spans = self._options(prompts)
        return _scores(rows, self._in_memory(partial(self._token_logps, spans)))

    def answer_layers(self, prompts: Sequence[Prompt]) -> list[list[Scores]]:
        """The same, as the head reads it out of each layer."""
        rows, spans = self._options(prompts)
        return [
            _scores(rows, of_layer)
            for of_layer in self._in_memory(partial(self._layer_logps, spans, layer_logits))
        ]

    def _options(
        self, prompts: Sequence[Prompt]
    ) -> tuple[list[list[TokenizedOption]], list[ScoredSpan]]:
        """The options of each prompt as tokens, and what of them is scored."""
        rest = self.scope == "sentence"
        rendered = self._format is not None
        tokenized = tokenize_options(
            self._tokenizer, self._rendered(prompts), rest=rest, rendered=rendered
        )
        rows = [self._with_beginning(row) for row in tokenized]
        return rows, [
            ScoredSpan(option.ids, option.start, option.stop - option.start == 1)
            for row in rows
            for option in row
        ]

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the model writes in its turn of the chat, or without one in the slot, up to the end
        of the line."""
        rows = self._beginnings(prompts)
        self._refuse_too_long(rows, sampling.max_tokens)
        inputs = left_padded(self._tokenizer, rows, self._network.device)
        return generate_replies(
            self._network, self._tokenizer, inputs, sampling, stop=None if self._format else LINE
        )

    def _beginnings(self, prompts: Sequence[Prompt]) -> list[Ids]:
        """What a free answer follows: the conversation, or without a chat the text before the
        slot."""
        texts = [prompt.parts[0].rstrip(" ") for prompt in self._rendered(prompts, thinks=True)]
        encoded = self._tokenizer(texts, add_special_tokens=self._format is None)
        return [self._begin(tuple(ids)) for ids in encoded["input_ids"]]

    def _rendered(self, prompts: Sequence[Prompt], *, thinks: bool = False) -> Sequence[Prompt]:
        """The prompts as the chat template writes them, up to the option; without one, as they
        are."""
        chat = self._format
        if chat is None:
            return prompts
        texts = [
            chat.render(conversation(prompt, chat.system), thinks=thinks) + SLOT
            for prompt in prompts
        ]
        return [
            replace(prompt, text=text, shots=())
            for prompt, text in zip(prompts, texts, strict=True)
        ]

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Every token's log-probability given the ones before it; long texts through a moving
        window."""
        window, step = self._window_and_step(stride)
        for batch in text_batches(texts, TEXTS):
            encoded = self._tokenizer(batch, return_offsets_mapping=True)
            sentences = [self._ended(self._begin(tuple(ids)), end) for ids in encoded["input_ids"]]
            cuts = [windows(len(ids), window, step) for ids in sentences]
            spans = [
                ScoredSpan(ids[begin:stop], first - begin)
                for ids, cut in zip(sentences, cuts, strict=True)
                for begin, stop, first in cut
            ]
            results = iter(self._in_memory(partial(self._token_logps, spans)))
            for row, (ids, cut) in enumerate(zip(sentences, cuts, strict=True)):
                logp = tuple(logp for _ in cut for logp in next(results)[0])
                tokens = tuple(self._tokenizer.convert_ids_to_tokens(list(ids[1:])))
                # the beginning token
                own = len(encoded["input_ids"][row]) and encoded["input_ids"][row][0] == ids[0]
                end_of_text = (len(batch[row]), len(batch[row]))
                offsets = [*map(tuple, encoded["offset_mapping"][row][int(own) :]), end_of_text][
                    : len(tokens)
                ]
                # an end token that the tokenizer writes itself
                if offsets and offsets[-1] == (0, 0):
                    offsets[-1] = end_of_text
                yield TokenScores(tokens, logp, spans=tuple(offsets))

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """Whether texts end with the end token, and the window that moves over long ones."""
        window, step = self._window_and_step(stride)
        ids = self._ended(self._begin(tuple(self._tokenizer("a")["input_ids"])), end)
        ended = len(ids) > 1 and ids[-1] == self._tokenizer.eos_token_id
        return f"eos:{'yes' if ended else 'no'}|window:{window}|stride:{step}"

    def _window_and_step(self, stride: int | None) -> tuple[int, int]:
        window = min(self._max_tokens() or MAX_WINDOW, MAX_WINDOW)
        step = stride or window // 2
        if not 0 < step < window:
            raise UserError(
                f"--stride is {stride}, but the window of '{self.name}' is {window} tokens: give "
                "less."
            )
        return window, step

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the last token; beginnings that texts share are computed
        once."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        return self._last_states(
            texts, lambda inputs, *place: self._network.base_model(**inputs)[0][place]
        )

    def encode_layers(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The state at the last token, layer by layer."""
        return self._last_states(
            texts, lambda *batch: torch.stack(layer_states(self._network, *batch), dim=1)
        )

    def _last_states(
        self, texts: Sequence[str], read: Callable[..., torch.Tensor]
    ) -> NDArray[np.float32]:
        """What `read` makes of each text: it is given a batch's inputs, and the rows and columns of
        the last tokens."""
        sentences = [self._begin(tuple(ids)) for ids in self._tokenizer(list(texts))["input_ids"]]
        self._refuse_too_long(sentences)

        def states(group: Sequence[int]) -> NDArray[np.float32]:
            inputs, cells = self._inputs([sentences[i] for i in group])
            rows, columns = map(self._tensor, zip(*(path[-1] for path in cells), strict=True))
            vectors: NDArray[np.float32] = read(inputs, rows, columns).float().cpu().numpy()
            return vectors

        with torch.inference_mode():
            return np.stack(
                self._in_memory(
                    lambda budget: compute_batches(self._groups(sentences, budget), states)
                )
            )

    def _groups(self, sentences: Sequence[Ids], budget: int) -> list[list[int]]:
        if not self._as_tree:
            return batches_of_equal_length(sentences, budget)
        # a tree's mask replaces the one by which some layers look back a short way only
        config = self._network.config.get_text_config()
        spans = [getattr(config, name, None) for name in ATTENTION_SPANS]
        return prefix_tree.split(
            sentences, min([budget, *(span for span in spans if type(span) is int and span > 0)])
        )

    def _characters(self, prompt: Prompt) -> int:
        before, after = prompt.parts
        if self.scope != "sentence":
            return len(before)
        return len(before) + sum(len(option) + len(after) for option in prompt.options)

    def _token_logps(self, spans: Sequence[ScoredSpan], budget: int) -> list[SpanLogps]:
        """The log-probabilities of each span's tokens, and the first one's rank or 0."""
        return self._layer_logps(spans, lambda *batch: iter([logits_at(*batch)]), budget)[0]

    def _layer_logps(
        self, spans: Sequence[ScoredSpan], read: Callable[..., Iterator[torch.Tensor]], budget: int
    ) -> list[list[SpanLogps]]:
        """The same by each of the logits that `read` gives in turn, at the positions that are
        needed."""
        self._refuse_too_long(span.ids for span in spans)
        fed = [span.ids[:-1] for span in spans]  # the last token is only predicted
        results: list[list[SpanLogps]] = [[([], 0)] * len(spans)]
        with torch.inference_mode():
            for group in self._groups(fed, budget):
                if all(len(fed[i]) < spans[i].start for i in group):
                    continue
                # (row, column) of every position whose logits are needed, numbered in order of
                # first use
                inputs, cells = self._inputs([fed[i] for i in group])
                numbers: dict[tuple[int, int], int] = {}
                for member, i in enumerate(group):
                    for position in range(spans[i].start - 1, len(fed[i])):
                        numbers.setdefault(cells[member][position], len(numbers))
                rows, columns = (
                    torch.tensor(axis, device=self._network.device)
                    for axis in zip(*numbers, strict=True)
                )
                for layer, logits in enumerate(read(self._network, inputs, rows, columns)):
                    if layer == len(results):
                        results.append([([], 0)] * len(spans))
                    normaliser = logits.logsumexp(-1)
                    for member, i in enumerate(group):
                        ids, start, ranked = spans[i]
                        lines = self._tensor([numbers[cell] for cell in cells[member][start - 1 :]])
                        targets = self._tensor(ids[start:])
                        logp = (logits[lines, targets] - normaliser[lines]).tolist()
                        results[layer][i] = (
                            logp,
                            ranks(logits[lines[0]], targets[:1])[0] if ranked else 0,
                        )
        return results

    def _inputs(
        self, sentences: Sequence[Ids]
    ) -> tuple[dict[str, Any], list[list[tuple[int, int]]]]:
        """The network's inputs, and where in them each sentence's tokens are."""
        # one sentence may be longer than a layer's attention span
        if not self._as_tree or len(sentences) == 1:
            rows = {ids: row for row, ids in enumerate(dict.fromkeys(sentences))}
            return (
                {"input_ids": self._tensor(list(rows)), "use_cache": False},
                [[(rows[ids], column) for column in range(len(ids))] for ids in sentences],
            )
        tree = prefix_tree.build(sentences)
        dtype = self._network.dtype
        hidden = torch.from_numpy(~tree.visible()).to(self._network.device)
        mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(
            hidden, torch.finfo(dtype).min
        )
        return (
            {
                "input_ids": self._tensor(tree.ids[None]),
                "position_ids": self._tensor(tree.depths[None]),
                "attention_mask": mask[None, None],
                "use_cache": False,
            },
            [[(0, node) for node in path] for path in tree.paths],
        )

    def _remembered_trees(self) -> bool:
        """Whether the network takes trees, as an earlier trial with the same weights and libraries
        found."""
        network = self._network
        shaping = (type(network).__name__, str(network.dtype), network.device.type)
        versions = (seesay.__version__, torch.__version__, version("transformers"))
        digest = json_digest([self.fingerprint, *shaping, *versions])
        path = caches.TREES.folder / digest
        if path.is_file() and (outcome := path.read_text(errors="replace")) in ("True", "False"):
            return outcome == "True"
        supported = self._supports_trees()
        write_text(path, str(supported))
        return supported

    def _supports_trees(self) -> bool:
        """Whether the architecture heeds a tree's mask and positions; recurrent ones and some
        others do not.

        Found out by trial: short sentences with one beginning must score the same in a tree as
        alone. They are many, so that a node's place in the tree and its depth in a sentence are far
        apart; a few of them are scored alone.
        """
        vocabulary = self._network.config.get_text_config().vocab_size
        sentences = [
            tuple((7 * i + 3 + branch * (i > 1)) % vocabulary for i in range(5))
            for branch in range(BRANCHES)
        ]
        spans = [ScoredSpan(sentence, 1) for sentence in sentences]
        self._as_tree = False
        alone = self._token_logps(spans[::APART], 4 * BRANCHES)
        self._as_tree = True
        try:
            together = self._token_logps(spans, 4 * BRANCHES)
        # there is no telling how an architecture fails on a mask that it does not expect
        except Exception:
            return False
        tolerance = 1e-4 if self._network.dtype.itemsize >= 4 else 0.1
        pairs = zip(alone, together[::APART], strict=True)
        return all(np.allclose(a, b, rtol=0, atol=tolerance) for (a, _), (b, _) in pairs)

    def _begin(self, ids: Ids) -> Ids:
        """The sentence after a beginning-of-text token, so that its first real token has a
        context."""
        tokenizer = self._tokenizer
        if tokenizer.bos_token_id is not None:
            first = tokenizer.bos_token_id
        else:
            first = tokenizer.eos_token_id
        if first is None:
            raise UserError(
                f"The tokenizer of '{self.name}' has no beginning- or end-of-text token to start a "
                "sentence with."
            )
        return ids if ids and ids[0] == first else (int(first), *ids)

    def _ended(self, ids: Ids, end: bool | None) -> Ids:
        """The sentence with or without its end token; None leaves it as the tokenizer wrote it."""
        last = self._tokenizer.eos_token_id
        if end is True and last is None:
            raise UserError(
                f"The tokenizer of '{self.name}' has no end-of-text token: leave --eos out."
            )
        closed = len(ids) > 1 and ids[-1] == last
        if end is None or end == closed:
            return ids
        return (*ids, int(last)) if end else ids[:-1]

    def _with_beginning(self, row: Sequence[TokenizedOption]) -> list[TokenizedOption]:
        """A prompt's options after a beginning token where the model needs one or an option opens
        the text."""
        needed = any(
            option.start == 0 for option in row
        ) or self._network.config.model_type.startswith(NEEDS_BEGINNING)
        shifted = []
        for option in row:
            # some tokenizers close every text
            if self.scope == "sentence":
                read = option.ids
            else:
                read = option.ids[: option.stop]
            ids = self._begin(read) if needed else read
            shift = len(ids) - len(read)
            shifted.append(
                TokenizedOption(ids, option.start + shift, option.stop + shift, option.chars)
            )
        return shifted


def _scores(rows: Sequence[Sequence[TokenizedOption]], logps: Sequence[SpanLogps]) -> list[Scores]:
    """The scores of each prompt, from those of the options of all of them."""
    results = iter(logps)
    scores = []
    for row in rows:
        options = [next(results) for _ in row]
        token_logps = [logp for logp, _ in options]
        single_ranks = [rank for _, rank in options]
        scores.append(summed_scores(token_logps, (option.chars for option in row), single_ranks))
    return scores
