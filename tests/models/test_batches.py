"""Batches hold everything once, keep their budget, and shrink when memory runs out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.grouping import chunks
from seesay.models.batches import (
    batches_by_budget,
    batches_of_equal_length,
    compute_batches,
    halve_until_it_fits,
    is_out_of_memory,
)
from seesay.questions import Prompt

SENTENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), max_size=20)


@given(SENTENCES, st.integers(1, 40))
def test_batches_of_equal_length(sentences: list[tuple[int, ...]], budget: int) -> None:
    batches = batches_of_equal_length(sentences, budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(sentences)))
    for batch in batches:
        assert len({len(sentences[i]) for i in batch}) == 1
        distinct = {sentences[i] for i in batch}
        assert len(distinct) == 1 or sum(map(len, distinct)) <= budget


@given(st.lists(st.integers(0, 80), max_size=20), st.integers(1, 50))
def test_a_plan_keeps_order_and_budget(lengths: list[int], budget: int) -> None:
    prompts = [Prompt("x" * length, ()) for length in lengths]
    batches = batches_by_budget(prompts, budget, lambda prompt: len(prompt.text), lambda prompt: 0)
    assert [i for batch in batches for i in batch] == list(range(len(prompts)))
    assert all(
        len(batch) == 1 or sum(lengths[i] // 4 + 1 for i in batch) <= budget for batch in batches
    )


def test_a_plan_orders_prompts() -> None:
    prompts = [Prompt(text, ()) for text in "bca"]
    assert batches_by_budget(prompts, 2, lambda prompt: 1, lambda prompt: prompt.text) == [
        [2, 0],
        [1],
    ]


def test_batches_are_computed_one_by_one_and_put_in_order() -> None:
    computed: list[list[int]] = []

    def squares(batch: Sequence[int]) -> list[int]:
        computed.append(list(batch))
        return [i * i for i in batch]

    assert compute_batches([[2, 0], [1]], squares) == [0, 1, 4]
    assert computed == [[2, 0], [1]]


def test_chunks() -> None:
    assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] data. DefaultCPUAllocator: can't allocate memory"
        ),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
        MemoryError(),
    ],
)
def test_the_budget_is_halved_until_the_work_fits(error: Exception) -> None:
    def work(budget: int) -> str:
        if budget > 100:
            raise error
        return "done"

    assert is_out_of_memory(error)
    assert halve_until_it_fits(work, 512) == ("done", 64)


def test_work_that_never_fits_is_given_up() -> None:
    def work(budget: int) -> None:
        raise MemoryError

    with pytest.raises(UserError, match="Out of memory even with batches of 16 tokens"):
        halve_until_it_fits(work, 64)


def test_other_errors_are_not_swallowed() -> None:
    def work(budget: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        halve_until_it_fits(work, 64)
