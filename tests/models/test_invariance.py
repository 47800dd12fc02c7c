"""A prompt's scores do not depend on what else is asked, in what order, or how much at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tiny import ALL, CAUSAL, COLORS

from seesay.models import Model, ModelOptions, load_model
from seesay.models.hf.causal import TransformersCausalModel
from seesay.models.hf.masked import MaskedModel
from seesay.models.hf.seq2seq import EncoderDecoderModel
from seesay.questions import Prompt, Scores

Folder = Callable[[str], Path]

PROMPTS = [
    Prompt("The color of the apple is [MASK].", COLORS),
    Prompt("The color of the banana is [MASK].", (*COLORS, "turquoise", "light blue")),
    Prompt("I saw a very [MASK] sky in the snow today.", ("blue", "light blue", "light")),
    Prompt("I saw a very [MASK] sky in the snow today.", ("blue", "light blue", "light")),
    Prompt("[MASK] is it.", ("Red", "Turquoise", "Dark red")),
    Prompt("It is [MASK]", ("red", "redredred", "dark dark dark blue")),
    Prompt(
        "What color is a naïve 🍎 banana, usually? [SEP] Answer: [MASK].", ("orange", "dark green")
    ),
    Prompt(
        "the the the the the the the the the the the the the the sky is usually [MASK] today.",
        COLORS,
    ),
]
BUDGETS = (16, 64, 4096)


def same(results: Iterable[Scores], expected: Iterable[Scores]) -> None:
    for actual, reference in zip(results, expected, strict=True):
        assert actual.logp == pytest.approx(reference.logp, abs=1e-5, rel=1e-6)
        assert (actual.tokens, actual.chars, actual.rank) == (
            reference.tokens,
            reference.chars,
            reference.rank,
        )


def answered_by_plan(model: Model, prompts: list[Prompt]) -> list[Scores]:
    results: dict[int, Scores] = {}
    for batch in model.plan(prompts):
        results |= zip(batch, model.answer([prompts[i] for i in batch]), strict=True)
    return [results[i] for i in range(len(prompts))]


@pytest.mark.parametrize(
    ("kind", "scope"),
    [*((kind, "sentence") for kind in ALL), *((kind, "option") for kind in CAUSAL)],
)
def test_budget_and_order_change_nothing(kind: str, scope: str, tiny_folder: Folder) -> None:
    alone_model = load_model(str(tiny_folder(kind)), ModelOptions(scope=scope))
    alone = [alone_model.answer([prompt])[0] for prompt in PROMPTS]
    order = list(range(len(PROMPTS)))
    random.Random(7).shuffle(order)
    for budget in BUDGETS:
        model = load_model(str(tiny_folder(kind)), ModelOptions(scope=scope, batch_size=budget))
        same(model.answer([PROMPTS[i] for i in order]), [alone[i] for i in order])
        same(answered_by_plan(model, PROMPTS), alone)


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "mamba", "t5"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    selected=st.lists(st.integers(0, len(PROMPTS) - 1), max_size=6),
    budget=st.sampled_from([16, 40, 300]),
)
def test_any_selection_scores_the_same(
    kind: str, tiny_folder: Folder, selected: list[int], budget: int
) -> None:
    model, alone = loaded(tiny_folder(kind))
    model._budget.tokens = budget
    same(model.answer([PROMPTS[i] for i in selected]), [alone[i] for i in selected])


@cache
def loaded(
    folder: Path,
) -> tuple[MaskedModel | TransformersCausalModel | EncoderDecoderModel, list[Scores]]:
    model = load_model(str(folder))
    assert isinstance(model, MaskedModel | TransformersCausalModel | EncoderDecoderModel)
    return model, [model.answer([prompt])[0] for prompt in PROMPTS]


@pytest.mark.parametrize("kind", ALL)
def test_plans_hold_every_prompt_once_whatever_the_memory(kind: str, tiny_folder: Folder) -> None:
    model, _ = loaded(tiny_folder(kind))
    before = model.plan(PROMPTS)
    assert sorted(i for batch in before for i in batch) == list(range(len(PROMPTS)))
    model._budget.tokens = 16
    assert model.plan(PROMPTS) == before


@pytest.mark.parametrize("kind", ["bert", "gpt2", "mamba", "t5"])
@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."),
    ],
    ids=["accelerator", "cpu"],
)
def test_running_out_of_memory_halves_the_batches_and_changes_no_score(
    kind: str, error: Exception, tiny_folder: Folder
) -> None:
    model = load_model(str(tiny_folder(kind)))
    assert isinstance(model, MaskedModel | TransformersCausalModel | EncoderDecoderModel)
    expected = model.answer(PROMPTS)
    before = model._budget.tokens
    sizes: list[int] = []

    def refuse(
        _module: torch.nn.Module, args: tuple[torch.Tensor, ...], kwargs: dict[str, torch.Tensor]
    ) -> None:
        ids = kwargs["input_ids"] if "input_ids" in kwargs else kwargs["decoder_input_ids"]
        sizes.append(ids.numel())
        if ids.numel() > 100:
            raise error

    model._network.register_forward_pre_hook(refuse, with_kwargs=True)
    same(model.answer(PROMPTS), expected)
    assert max(sizes) > 100
    assert model._budget.tokens < before


def test_nothing_asked_is_nothing_answered(tiny_folder: Folder) -> None:
    for kind in ("bert", "gpt2", "t5"):
        assert load_model(str(tiny_folder(kind))).answer([]) == []


def test_a_window_that_looks_back_a_few_tokens_is_kept(tiny_folder: Folder) -> None:
    long = Prompt("the " * 30 + "sky is [MASK] .", ("red", "blue"))
    model = load_model(str(tiny_folder("mistral")))
    together = model.answer([long, Prompt("the " * 30 + "snow is [MASK] .", ("red", "blue"))])[0]
    same([together], model.answer([long]))
