"""Texts scored token by token and turned into vectors, against plain transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.reference import CausalReference, EncoderDecoderReference, MaskedReference
from tests.tiny import ALL, CAUSAL, MASKED

from seesay.models import Model, load_model

Folder = Callable[[str], Path]

TEXTS = ["The sky is usually light blue.", "I saw a turquoise banana today.", "red", ""]


def scorer(folder: Path) -> Model:
    model = load_model(str(folder))
    assert "score" in model.abilities
    return model


@pytest.mark.parametrize("kind", CAUSAL)
def test_causal_scores_are_transformers_loss(kind: str, tiny_folder: Folder) -> None:
    reference = CausalReference(tiny_folder(kind))
    scored = list(scorer(tiny_folder(kind)).score(TEXTS))
    first = reference.tokenizer.bos_token_id
    for text, results in zip(TEXTS[:3], scored[:3], strict=True):
        ids = reference.tokenizer(text)["input_ids"]
        ids = torch.tensor([ids if ids[0] == first else [first, *ids]])
        with torch.inference_mode():
            loss = reference.model(ids, labels=ids).loss
        assert -np.mean(results.logp) == pytest.approx(float(loss), abs=1e-5)
        assert list(results.tokens) == reference.tokenizer.convert_ids_to_tokens(
            ids[0, 1:].tolist()
        )
    assert (scored[3].tokens, scored[3].logp) == ((), ())


@pytest.mark.parametrize("kind", MASKED)
def test_masked_scores_are_a_pseudo_log_likelihood(kind: str, tiny_folder: Folder) -> None:
    """Each word is masked as a whole and written left to right (Kauf & Ivanova 2023)."""
    reference = MaskedReference(tiny_folder(kind))
    mask = reference.tokenizer.mask_token_id
    for text, results in zip(TEXTS, scorer(tiny_folder(kind)).score(TEXTS), strict=True):
        encoded: Any = reference.tokenizer(text)
        ids, words = encoded["input_ids"], encoded.word_ids()
        expected = []
        for i, word in enumerate(words):
            if word is None:
                continue
            seen = [mask if words[j] == word and j >= i else token for j, token in enumerate(ids)]
            expected.append(float(reference.logps(seen)[i, ids[i]]))
        assert results.logp == pytest.approx(expected, abs=1e-5, rel=1e-6)
        assert len(results.tokens) == len(expected)


def test_texts_may_come_from_a_generator_without_end(tiny_folder: Folder) -> None:
    def endless() -> Any:
        while True:
            yield "red"

    scored = scorer(tiny_folder("gpt2")).score(endless())
    assert next(scored) == next(scored)


@pytest.mark.parametrize("kind", ALL)
def test_encode_returns_one_row_per_text(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    assert "encode" in model.abilities
    both, last = model.encode(TEXTS[:2]), model.encode(TEXTS[1:2])
    assert both.shape == (2, 32)
    assert both.dtype == np.float32
    np.testing.assert_allclose(both[1:], last, atol=1e-6)


def test_where_the_vectors_come_from(tiny_folder: Folder) -> None:
    text = TEXTS[0]
    masked, causal = MaskedReference(tiny_folder("bert")), CausalReference(tiny_folder("gpt2"))
    encoder = EncoderDecoderReference(tiny_folder("t5"))
    first = masked.tokenizer(text, return_tensors="pt")
    last = causal.tokenizer("<|endoftext|>" + text, return_tensors="pt")
    with torch.inference_mode():
        expected = [
            masked.model(**first, output_hidden_states=True).hidden_states[-1][0, 0],
            causal.model(**last, output_hidden_states=True).hidden_states[-1][0, -1],
            encoder.model.encoder(**encoder.tokenizer(text, return_tensors="pt")).last_hidden_state[
                0, 0
            ],
        ]
    for kind, vector in zip(("bert", "gpt2", "t5"), expected, strict=True):
        model = load_model(str(tiny_folder(kind)))
        assert "encode" in model.abilities
        np.testing.assert_allclose(model.encode([text])[0], vector.numpy(), atol=1e-6)
