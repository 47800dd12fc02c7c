"""Batches by a budget of tokens, and what happens when memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from seesay.questions import Prompt, UserError

T = TypeVar("T")

CHARS_A_TOKEN = 4


def by_budget(
    prompts: Sequence[Prompt], order: Sequence[int], budget: int, characters: Callable[[Prompt], int]
) -> list[list[int]]:
    """Indices in the given order, cut where the estimated tokens pass the budget; every batch holds one at least.

    Characters stand in for tokens: cheap to count, and the same on every machine.
    """
    batches: list[list[int]] = []
    cost = 0
    for index in order:
        tokens = characters(prompts[index]) // CHARS_A_TOKEN + 1
        if not batches or cost + tokens > budget:
            batches.append([])
            cost = 0
        batches[-1].append(index)
        cost += tokens
    return batches


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an accelerator or the CPU's allocator said that memory ran out."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and any(sign in str(error).lower() for sign in ("out of memory", "can't allocate memory", "not enough memory"))
    )


def halving(work: Callable[[int], T], budget: int, *, smallest: int = 16) -> tuple[T, int]:
    """The work done with this budget, or with half of it for as long as memory runs out; and the budget that held."""
    while True:
        try:
            return work(budget), budget
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if budget <= smallest:
                raise UserError(
                    f"Out of memory even with batches of {budget} tokens: the model needs a larger machine."
                ) from error
            budget //= 2
