"""Batches by a budget of tokens, and what happens when memory runs out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from seesay.errors import UserError
from seesay.grouping import bounded_batches
from seesay.questions import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedModel

T = TypeVar("T")

CHARS_PER_TOKEN = 4
MEMORY_SIGNS = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")


def batches_by_budget(
    prompts: Sequence[Prompt],
    budget: int,
    characters: Callable[[Prompt], int],
    order: Callable[[Prompt], Any],
) -> list[list[int]]:
    """Indices in the given order of prompts, in batches of at most `budget` estimated tokens and at
    least one prompt.

    Characters stand in for tokens: they are cheap to count, and the same on every machine.
    """

    def tokens(_previous: int | None, index: int) -> int:
        return characters(prompts[index]) // CHARS_PER_TOKEN + 1

    return pack(sorted(range(len(prompts)), key=lambda i: order(prompts[i])), budget, tokens)


def pack(
    order: Iterable[int], budget: int, cost: Callable[[int | None, int], float]
) -> list[list[int]]:
    """Indices in the given order, in batches that cost at most `budget` or hold one index.

    `cost` is what an index adds to a batch after the one before it, or to an empty batch (None).
    """
    batches: list[list[int]] = []
    total = 0.0
    for index in order:
        # what an index costs depends on its neighbour: shared beginnings are paid once
        added = cost(batches[-1][-1], index) if batches else math.inf
        if total + added > budget:
            batches.append([])
            total = 0.0
            added = cost(None, index)
        batches[-1].append(index)
        total += added
    return batches


def compute_batches(
    batches: Iterable[Sequence[int]], compute: Callable[[Sequence[int]], Iterable[T]]
) -> list[T]:
    """What is computed for the indices of each batch, in the order of the indices."""
    results: dict[int, T] = {}
    for batch in batches:
        results |= zip(batch, compute(batch), strict=True)
    return [results[index] for index in range(len(results))]


def text_batches(
    texts: Iterable[str], most: int, *, characters: int = 1 << 18
) -> Iterator[list[str]]:
    """The texts in lists of `most`, or of fewer where they are long, so that memory is bounded."""
    return bounded_batches(texts, most, len, characters)


def batches_of_equal_length(sentences: Sequence[Sequence[int]], budget: int) -> list[list[int]]:
    """Indices of the sentences in batches of one length and of at most `budget` tokens, equal ones
    counted once.

    No batch needs padding, which convolutions and Fourier transforms would let leak into the
    answers.
    """

    def new_tokens(previous: int | None, index: int) -> float:
        sentence = sentences[index]
        if previous is None:
            return len(sentence)
        if len(sentences[previous]) != len(sentence):
            return math.inf  # another batch
        if sentences[previous] == sentence:
            return 0
        return len(sentence)

    order = sorted(range(len(sentences)), key=lambda i: (len(sentences[i]), tuple(sentences[i])))
    return pack(order, budget, new_tokens)


def windows(length: int, window: int, stride: int) -> list[tuple[int, int, int]]:
    """Begin, stop and first scored token of the windows over a text: every token but the first is
    scored once.

    Each window but the first repeats at least `window - stride` tokens, so that none is scored
    without context (the scheme of transformers' guide to the perplexity of texts of any length).

    >>> windows(10, 6, 3)
    [(0, 6, 1), (3, 9, 6), (6, 10, 9)]
    """
    spans = []
    scored = 1
    for begin in range(0, length, stride):
        stop = min(begin + window, length)
        spans.append((begin, stop, scored))
        scored = stop
        if stop == length:
            break
    return spans


def max_positions(model: PreTrainedModel) -> int | None:
    """The number of tokens that the model's table of positions can hold; None where there is no
    such table."""
    try:
        table = getattr(model.config.get_text_config(), "max_position_embeddings", None) or -1
    except NotImplementedError:  # XLNet's and Funnel's way to say "no limit"
        return None
    # RoBERTa and its relatives count from their padding id on, so they read fewer tokens than the
    # table has rows.
    skipped = 0
    for path, module in model.named_modules():
        padding: int | None = getattr(module, "padding_idx", None)
        if path.endswith("position_embeddings") and padding is not None:
            skipped = max(skipped, padding + 1)
    return table - skipped if table > 0 else None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an accelerator or the CPU's allocator reported that memory ran out."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in MEMORY_SIGNS)
    )


class TokenBudget:
    """How many tokens are read at a time: half as many, for good, whenever memory runs out."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        # Plans are made of this one, which stays as it is: a run that is resumed on a machine with
        # less memory must find the batches of its journal again.
        self.planned = 2 * tokens

    def fit(self, compute: Callable[[int], T]) -> T:
        """Return what is computed with this budget, or with less of it."""
        result, self.tokens = halve_until_it_fits(compute, self.tokens)
        return result


def halve_until_it_fits(
    compute: Callable[[int], T], budget: int, *, smallest: int = 16
) -> tuple[T, int]:
    """The result with this budget, halved for as long as memory runs out; and the budget that was
    enough."""
    while True:
        try:
            return compute(budget), budget
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if budget <= smallest:
                raise UserError(
                    f"Out of memory even with batches of {budget} tokens: the model needs a larger "
                    "machine."
                ) from error
            budget //= 2
