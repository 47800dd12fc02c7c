"""Every architecture, loaded as users load it, scores as plain transformers does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.models.reference import CausalReference, EncoderDecoderReference, MaskedReference
from tests.tiny import CAUSAL, COLORS, MASKED

from seesay.models import ModelOptions, load_model
from seesay.models.hf.causal import CausalModel
from seesay.models.hf.spans import TreeScorer
from seesay.questions import Prompt

Folder = Callable[[str], Path]

END = "The color of the {} is [MASK] ."
MIDDLE = "I saw a very [MASK] {} today."
THINGS = ("apple", "banana", "sky")
WORD_START = {"roberta": "Ġ", "modernbert": "Ġ", "albert": "▁", "deberta-v2": "▁"}


def near(expected: Sequence[float]) -> Any:
    return pytest.approx(expected, abs=1e-5, rel=1e-6)


def prompts(*options: str) -> list[Prompt]:
    return [Prompt(text.format(thing), options) for text in (END, MIDDLE) for thing in THINGS]


@pytest.mark.parametrize("kind", MASKED)
def test_masked_models_score_one_token_as_transformers_does(kind: str, tiny_folder: Folder) -> None:
    reference = MaskedReference(tiny_folder(kind))
    start = WORD_START.get(kind, "")
    for prompt, scores in zip(
        prompts(*COLORS), load_model(str(tiny_folder(kind))).answer(prompts(*COLORS)), strict=True
    ):
        slot = reference.slot(prompt.text)
        tokens = reference.tokenizer.convert_tokens_to_ids([start + colour for colour in COLORS])
        assert scores.logp == near(slot[tokens].tolist())
        assert scores.rank == tuple(int((slot >= slot[token]).sum()) for token in tokens)
        assert set(scores.tokens) == {1}
        assert scores.chars == tuple(map(len, COLORS))


@pytest.mark.parametrize("kind", ["bert", "roberta", "modernbert"])
def test_a_full_stop_may_follow_the_slot_directly(kind: str, tiny_folder: Folder) -> None:
    text = "The color of the sky is [MASK]."
    slot = MaskedReference(tiny_folder(kind)).slot(text)
    tokenizer = MaskedReference(tiny_folder(kind)).tokenizer
    [scores] = load_model(str(tiny_folder(kind))).answer([Prompt(text, COLORS)])
    tokens = tokenizer.convert_tokens_to_ids(
        [WORD_START.get(kind, "") + colour for colour in COLORS]
    )
    assert scores.logp == near(slot[tokens].tolist())


@pytest.mark.parametrize("kind", MASKED)
def test_masked_models_write_several_tokens_left_to_right(kind: str, tiny_folder: Folder) -> None:
    reference = MaskedReference(tiny_folder(kind))
    options = ("light blue", "turquoise", "bluered")
    for prompt, scores in zip(
        prompts(*options), load_model(str(tiny_folder(kind))).answer(prompts(*options)), strict=True
    ):
        pieces = [reference.tokenizer.tokenize(f"is {option}")[1:] for option in options]
        expected = [reference.left_to_right(prompt.text, tokens) for tokens in pieces]
        assert scores.logp == near(expected)
        assert scores.tokens == tuple(map(len, pieces))
        assert min(scores.tokens) > 1
        assert scores.rank == (0, 0, 0)


@pytest.mark.parametrize("kind", CAUSAL)
@pytest.mark.parametrize("scope", ["option", "sentence"])
def test_causal_models_score_as_transformers_does(
    kind: str, scope: str, tiny_folder: Folder
) -> None:
    reference = CausalReference(tiny_folder(kind))
    options = (*COLORS, "light blue", "turquoise", "bluered", "5", "🍎")
    answered = load_model(str(tiny_folder(kind)), ModelOptions(scope=scope)).answer(
        prompts(*options)
    )
    for prompt, scores in zip(prompts(*options), answered, strict=True):
        before, after = prompt.parts
        rest = after if scope == "sentence" else ""
        expected = [reference.given(before.rstrip(), f" {option}{rest}") for option in options]
        assert scores.logp == near(expected)
        assert scores.chars == tuple(len(option + rest) for option in options)


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_slot_that_opens_the_sentence_follows_the_beginning_token(
    kind: str, tiny_folder: Folder
) -> None:
    reference = CausalReference(tiny_folder(kind))
    options = ("Red", "Light blue", "Turquoise")
    [scores] = load_model(str(tiny_folder(kind))).answer(
        [Prompt("[MASK] is the color of the sky.", options)]
    )
    expected = [reference.given("", f"{option} is the color of the sky.") for option in options]
    assert scores.logp == near(expected)


@pytest.mark.parametrize(
    ("kind", "shares"),
    [("gpt2", True), ("llama", True), ("mistral", True), ("bloom", False), ("mamba", False)],
)
def test_which_causal_models_take_trees_is_found_out(
    kind: str, shares: bool, tiny_folder: Folder
) -> None:
    model = load_model(str(tiny_folder(kind)))
    assert isinstance(model, CausalModel)
    assert isinstance(model._scorer, TreeScorer) is shares


@pytest.mark.parametrize(
    ("kind", "shares"), [("gpt2", True), ("llama", True), ("bloom", False), ("mamba", False)]
)
def test_half_precision_is_no_reason_against_trees(
    kind: str, shares: bool, tiny_folder: Folder
) -> None:
    """Sums in another order differ by more there, but by far less than with a wrong mask."""
    model = load_model(str(tiny_folder(kind)), ModelOptions(dtype="bfloat16"))
    assert isinstance(model, CausalModel)
    assert isinstance(model._scorer, TreeScorer) is shares


def test_encoder_decoders_answer_a_lettered_question(tiny_folder: Folder) -> None:
    reference = EncoderDecoderReference(tiny_folder("t5"))
    options = ("red", "light blue", "turquoise")
    [scores] = load_model(str(tiny_folder("t5"))).answer(
        [Prompt("The color of the Sky is [MASK].", options)]
    )
    question = r"the color of the sky is ___. \n (a) red (b) light blue (c) turquoise"
    assert scores.logp == near([reference.answer(question, [0], option) for option in options])
    assert scores.tokens == (1, 2, 10)


def test_encoder_decoders_fill_a_sentinel(tiny_folder: Folder) -> None:
    reference = EncoderDecoderReference(tiny_folder("t5"))
    options = (*COLORS, "light blue", "turquoise")
    model = load_model(str(tiny_folder("t5")), ModelOptions(style="infill"))
    sentinel = reference.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    for prompt, scores in zip(prompts(*options), model.answer(prompts(*options)), strict=True):
        question = prompt.text.replace("[MASK]", "<extra_id_0>")
        expected = [reference.answer(question, [0, sentinel], option) for option in options]
        assert scores.logp == near(expected)
        assert scores.rank is not None
        assert all(rank > 0 for rank in scores.rank[: len(COLORS)])
