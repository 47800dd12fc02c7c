"""Causal language models: log P(option and the rest of the sentence | what precedes the slot).

For an option o between the texts b and a, the score of scope `sentence` is

    log P(o a | b) = Σ_i log P(t_i | b, t_1 … t_i-1)

over the tokens t of o and a as they are cut in the whole sentence, so that options which make what
follows them unlikely lose; scope `option` stops the sum where the option ends, and scope `rest`
begins it there: log P(a | b o), one text under several contexts. `CausalModel` plans batches,
tokenizes, and sums; a `SpanScorer` gives the tokens their log-probabilities.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.command_line import in_callers_words
from seesay.errors import UserError
from seesay.models.base import (
    GREEDY,
    Reply,
    Sampling,
    TokenScores,
    scored_rest,
    summed_scores,
)
from seesay.models.batches import TokenBudget, batches_by_budget, text_batches, windows
from seesay.models.chat import PLAIN_NOTE, ChatFormat, conversation
from seesay.models.hf.base import TokenizerModel
from seesay.models.hf.checkpoint_keys import note_unused
from seesay.models.hf.generation import LINE, generate_replies, left_padded
from seesay.models.hf.layers import count_layers, layer_logits, layer_states
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.spans import (
    Ids,
    NetworkScorer,
    ScoredSpan,
    SpanScore,
    SpanScorer,
    choose_scorer,
)
from seesay.models.hf.tokenization import (
    TokenizedOption,
    begins_texts,
    document_start,
    signed_token,
)
from seesay.questions import SLOT, Prompt, Scores, Task

# Trained on texts that always begin with a beginning-of-text token; tokenizers read from GGUF files
# may omit it.
NEEDS_BEGINNING = ("gemma",)
TEXTS = 512  # scored together: captions that begin alike share their beginning
# tokens read at once: the vocabulary's logits at each of them must fit into memory
MAX_WINDOW = 2048
BUDGET = 512  # tokens that a network reads at a time, unless the user says otherwise


class CausalModel(TokenizerModel):
    """A decoder behind a span scorer. Scope `sentence` scores the option and what follows it,
    `option` the option alone, `rest` what follows it alone, `reply` the option where the reply
    begins in a chat."""

    family = "causal"
    _format: ChatFormat | None = None

    def __init__(
        self,
        name: str,
        fingerprint: str,
        tokenizer: Any,
        scorer: SpanScorer,
        *,
        model_type: str,
        scope: str,
        planned_tokens: int,
    ) -> None:
        super().__init__(name, fingerprint, tokenizer)
        self.scope = scope
        self._scorer = scorer
        self._planned = planned_tokens
        self._start = document_start(tokenizer)
        self._needs_beginning = model_type.startswith(NEEDS_BEGINNING)
        self.beginning = "none"
        if self._start is not None:
            start = signed_token(tokenizer, self._start)
            always = self._needs_beginning or begins_texts(tokenizer)
            self.beginning = start if always else f"none/{start}"

    def through_chat(self, system: str | None = None) -> CausalModel:
        """Return this model, asked through its tokenizer's chat template; both share the scorer."""
        chatting = copy.copy(self)
        chatting._format = ChatFormat.of(self.name, self._tokenizer, system)
        chatting.chat = chatting._format.digest
        chatting.system = system
        chatting.scope = "reply"
        chatting.beginning = "template"
        notes = self._notes or {}
        chatting._notes = {
            note: lasting for note, lasting in notes.items() if note != self._plain_note
        }
        return chatting

    @property
    def _plain_note(self) -> str:
        return in_callers_words(PLAIN_NOTE.format(name=self.name))

    def prepare(self, task: Task) -> None:
        """Note that there is a chat template which goes unused."""
        if self._format is None and self._tokenizer.chat_template:
            self.note(self._plain_note, lasting=True)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts that begin alike, because those share the most."""
        return batches_by_budget(
            prompts, self._planned, self._characters, lambda prompt: prompt.text
        )

    @property
    def _reads_rest(self) -> bool:
        """Whether what follows the option is read."""
        return self.scope in ("sentence", "rest")

    def _characters(self, prompt: Prompt) -> int:
        """How many characters are read: what precedes the slot is read once for all options."""
        before, after = prompt.parts
        if not self._reads_rest:
            return len(before)
        return len(before) + _total_length(prompt.options) + len(prompt.options) * len(after)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        rows = self._tokenize(prompts)
        spans = self._option_spans(rows)
        return _sum_scores(rows, self._scorer.score(spans))

    def _tokenize(self, prompts: Sequence[Prompt]) -> list[list[TokenizedOption]]:
        """Return the options of each prompt as tokens of its sentence."""
        tokenized = self._tokenize_options(
            self._render(prompts),
            rest=self._reads_rest,
            rendered=self._format is not None,
        )
        rows = [self._add_beginning(row) for row in tokenized]
        if self.scope != "rest":
            return rows
        lengths = [len(scored_rest(prompt).lstrip(" ")) for prompt in prompts]
        return [
            [replace(option, chars=chars) for option in row]
            for row, chars in zip(rows, lengths, strict=True)
        ]

    def _option_spans(self, rows: Sequence[Sequence[TokenizedOption]]) -> list[ScoredSpan]:
        """Return what of the options is scored; the rank of one among all words is that of its
        token, so that only options of one token have it."""
        options = [option for row in rows for option in row]
        if self.scope == "rest":
            spans = [ScoredSpan(option.ids, option.stop) for option in options]
        else:
            spans = [
                ScoredSpan(option.ids, option.start, ranked=option.stop - option.start == 1)
                for option in options
            ]
        self._refuse_too_long(span.ids for span in spans)
        return spans

    def _beginnings(self, prompts: Sequence[Prompt]) -> list[Ids]:
        """Return what a free answer follows: the conversation, or without a chat the text before
        the slot, which begins as it does where options are scored."""
        # a space before the slot belongs to the first token of the answer
        texts = [prompt.parts[0].rstrip(" ") for prompt in self._render(prompts, thinks=True)]
        encoded = self._tokenize_texts(texts, add_special_tokens=self._format is None)
        rows: list[Ids] = []
        for ids in map(tuple, encoded["input_ids"]):
            is_begun = len(ids) > 0 and not self._needs_beginning
            rows.append(ids if is_begun else self._begin(ids))
        return rows

    def _render(self, prompts: Sequence[Prompt], *, thinks: bool = False) -> Sequence[Prompt]:
        """Return the prompts as the chat template writes them, up to the option; without one, as
        they are."""
        chat = self._format
        if chat is None:
            return prompts
        rendered = []
        for prompt in prompts:
            text = chat.render(conversation(prompt, chat.system), thinks=thinks)
            # the examples are turns of the conversation now
            rendered.append(replace(prompt, text=text + SLOT, shots=()))
        return rendered

    def score(
        self,
        texts: Iterable[str],
        *,
        end: bool | None = None,
        stride: int | None = None,
    ) -> Iterator[TokenScores]:
        """Every token's log-probability given the ones before it; long texts through a moving
        window."""
        window, step = self._window_and_step(stride)
        if self._tokenizer.chat_template and self._start is not None:
            start = self._tokenizer.convert_ids_to_tokens(self._start)
            self.note(
                f"'{self.name}' has a chat template: its texts are scored as documents, after "
                f"{start}, and not as turns of a chat.",
                lasting=True,
            )
        for batch in text_batches(texts, TEXTS):
            encoded = self._tokenize_texts(batch, return_offsets_mapping=True)
            sentences = [
                self._set_end(self._begin(tuple(ids)), end) for ids in encoded["input_ids"]
            ]
            cuts = [windows(len(ids), window, step) for ids in sentences]
            spans = []
            for ids, cut in zip(sentences, cuts, strict=True):
                spans += [ScoredSpan(ids[begin:stop], first - begin) for begin, stop, first in cut]
            self._refuse_too_long(span.ids for span in spans)
            scores = iter(self._scorer.score(spans))
            for row, (ids, cut) in enumerate(zip(sentences, cuts, strict=True)):
                logps = [logp for _ in cut for logp in next(scores).logps]
                # the first token has no context, and no log-probability
                tokens = self._tokenizer.convert_ids_to_tokens(list(ids[1:]))
                offsets = _offsets(encoded, row, ids, len(batch[row]))
                yield TokenScores(tuple(tokens), tuple(logps), spans=offsets)

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """Whether texts end with the end token, and the window that moves over long ones."""
        window, step = self._window_and_step(stride)
        # whether a tokenizer closes texts by itself is seen on any text
        ids = self._set_end(self._begin(tuple(self._tokenize_texts("a")["input_ids"])), end)
        has_end = len(ids) > 1 and ids[-1] == self._tokenizer.eos_token_id
        # a text has always a token before it, which gives its first token a context
        start = signed_token(self._tokenizer, ids[0])
        return f"bos:{start}|eos:{'yes' if has_end else 'no'}|window:{window}|stride:{step}"

    def describe_encoding(self) -> str:
        """The token before a text that is encoded."""
        if self._start is None:
            return ""
        return f"bos:{signed_token(self._tokenizer, self._start)}"

    def _window_and_step(self, stride: int | None) -> tuple[int, int]:
        window = min(self._max_tokens() or MAX_WINDOW, MAX_WINDOW)
        step = stride or window // 2
        if not 0 < step < window:
            raise UserError(
                f"--stride is {stride}, but the window of '{self.name}' is {window} tokens: give "
                "less."
            )
        return window, step

    def _max_tokens(self) -> int | None:
        return self._scorer.max_tokens

    def _begin(self, ids: Ids) -> Ids:
        """Return the sentence after the token that documents began with in training, so that its
        first real token has a context; it may have that token already."""
        if self._start is None:
            raise UserError(
                f"The tokenizer of '{self.name}' has no beginning- or end-of-text token to start a "
                "sentence with."
            )
        if ids and ids[0] == self._start:
            return ids
        return (self._start, *ids)

    def _set_end(self, ids: Ids, end: bool | None) -> Ids:
        """Return the sentence with or without its end token; None leaves it as the tokenizer wrote
        it."""
        last = self._tokenizer.eos_token_id
        if end is True and last is None:
            raise UserError(
                f"The tokenizer of '{self.name}' has no end-of-text token: leave --eos out."
            )
        # a lone end token is the beginning of an empty text
        has_end = len(ids) > 1 and ids[-1] == last
        if end is None or end == has_end:
            return ids
        if end:
            return (*ids, int(last))
        return ids[:-1]

    def _add_beginning(self, row: Sequence[TokenizedOption]) -> list[TokenizedOption]:
        """Return a prompt's options after a beginning token where the model needs one or an option
        opens the text."""
        # one option that opens its text suffices: all must be scored after the same tokens
        is_needed = self._needs_beginning or any(option.start == 0 for option in row)
        shifted = []
        for option in row:
            # some tokenizers close every text, which is no part of an option
            ids = option.ids if self._reads_rest else option.ids[: option.stop]
            begun = self._begin(ids) if is_needed else ids
            shift = len(begun) - len(ids)
            shifted.append(
                TokenizedOption(begun, option.start + shift, option.stop + shift, option.chars)
            )
        return shifted


class TransformersCausalModel(CausalModel):
    """A causal network of transformers in this process, which also writes, encodes, and is read
    layer by layer."""

    _scorer: NetworkScorer

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        *,
        scope: str = "sentence",
        batch_size: int | None = None,
    ) -> None:
        self._network = checkpoint.model
        self._budget = TokenBudget(batch_size or BUDGET)
        super().__init__(
            name,
            checkpoint.fingerprint,
            checkpoint.tokenizer,
            choose_scorer(self._network, self._budget, checkpoint.fingerprint),
            model_type=self._network.config.model_type,
            scope=scope,
            planned_tokens=self._budget.planned,
        )
        self.parameters = checkpoint.parameters
        note_unused(self, name, checkpoint.unused)

    def layer_count(self) -> int | None:
        """As the network's configuration says."""
        return count_layers(self._network)

    def answer_layers(self, prompts: Sequence[Prompt]) -> list[list[Scores]]:
        """Log-probability, length and rank of every option, as the head reads them out of each
        layer."""
        rows = self._tokenize(prompts)
        layers = self._scorer.score_layers(self._option_spans(rows), layer_logits)
        return [_sum_scores(rows, scores) for scores in layers]

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the model writes in its turn of the chat, or without one in the slot, up to the end
        of the line."""
        rows = self._beginnings(prompts)
        self._refuse_too_long(rows, sampling.max_tokens)
        inputs = left_padded(self._tokenizer, rows, self._network.device)
        stop = None if self._format else LINE
        return generate_replies(
            self._network,
            self._tokenizer,
            inputs,
            sampling,
            stop=stop,
        )

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the last token, which has seen all others."""
        if not texts:
            return np.zeros((0, 0), np.float32)

        def read(inputs: dict[str, Any], *cells: torch.Tensor) -> torch.Tensor:
            states: torch.Tensor = self._network.base_model(**inputs)[0]
            return states[cells]

        return self._scorer.read_last(self._sentences(texts), read)

    def encode_layers(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The state at the last token, layer by layer."""

        def read(*inputs_and_cells: Any) -> torch.Tensor:
            return torch.stack(layer_states(self._network, *inputs_and_cells), dim=1)

        return self._scorer.read_last(self._sentences(texts), read)

    def _sentences(self, texts: Sequence[str]) -> list[Ids]:
        """Return the tokens of texts that are to be encoded."""
        encoded = self._tokenize_texts(list(texts))["input_ids"]
        sentences = [self._begin(tuple(ids)) for ids in encoded]
        self._refuse_too_long(sentences)
        return sentences


@lru_cache(maxsize=64)  # most prompts of a task have the same options, which may be thousands
def _total_length(options: tuple[str, ...]) -> int:
    """Return the characters of all the options."""
    return sum(map(len, options))


def _offsets(
    encoded: Any,
    row: int,
    ids: Ids,
    length: int,
) -> tuple[tuple[int, int], ...]:
    """Return the characters of each token but the first of a text of that length, whose tokens
    `ids` may have been given a beginning and an end that the tokenizer did not write."""
    tokenizer_ids = encoded["input_ids"][row]
    offsets = [tuple(pair) for pair in encoded["offset_mapping"][row]]
    if tokenizer_ids and tokenizer_ids[0] == ids[0]:
        del offsets[0]  # the beginning token is the tokenizer's own
    end_of_text = (length, length)
    offsets = [*offsets, end_of_text][: len(ids) - 1]
    # tokenizers place an end token that they write themselves at the beginning
    if offsets and offsets[-1] == (0, 0):
        offsets[-1] = end_of_text
    return tuple(offsets)


def _sum_scores(
    rows: Sequence[Sequence[TokenizedOption]], scores: Sequence[SpanScore]
) -> list[Scores]:
    """Return the scores of each prompt, from those of the options of all of them."""
    remaining = iter(scores)
    results = []
    for row in rows:
        options = [next(remaining) for _ in row]
        logps = [option.logps for option in options]
        option_ranks = [option.rank for option in options]
        results.append(summed_scores(logps, (option.chars for option in row), option_ranks))
    return results
