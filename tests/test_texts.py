"""`seesay.score`, `surprisals` and `encode`: beside minicons' calls on a real language model, and
what they refuse."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.shared_data import shared
from tests.tiny import save_tiny

import seesay
from seesay.errors import UserError
from seesay.models import Model

PAIRS = [
    ("Once upon a time there was a", "dog"),
    ("The sky is", "blue"),
    ("Once upon a time there was a", "little girl"),
    ("Lily and Tom went to the", "park."),
]
TEXTS = ["The little dog ran to the park.", "Lily was sad."]
# two implementations of one float32 network, in other batches
CLOSE = 1e-4


@pytest.fixture(scope="module")
def folder() -> str:
    return str(shared("tinystories260k"))


@pytest.fixture(scope="module")
def model(folder: str) -> Model:
    return seesay.load_model(folder)


@pytest.fixture(scope="module")
def minicons(folder: str) -> Any:
    return pytest.importorskip("minicons.scorer").IncrementalLMScorer(folder, "cpu")


def test_scores_equal_minicons_conditional_scores(model: Model, minicons: Any) -> None:
    contexts, options = map(list, zip(*PAIRS, strict=True))
    summed = minicons.conditional_score(contexts, options, reduction=lambda logp: logp.sum().item())
    assert seesay.score(model, PAIRS) == pytest.approx(summed, abs=CLOSE)
    # minicons' default is the mean over tokens
    means = minicons.conditional_score(contexts, options)
    assert seesay.score(model, PAIRS, length="mean") == pytest.approx(means, abs=CLOSE)


def test_surprisals_equal_minicons_token_scores(model: Model, minicons: Any) -> None:
    """After the token that documents begin with, which minicons is given as text."""
    documents = [f"<s> {text}" for text in TEXTS]
    rows = minicons.token_score(documents, surprisal=True, base_two=True)
    for words, row in zip(seesay.surprisals(model, TEXTS), rows, strict=True):
        pieces = [piece for word in words for piece in word.pieces]
        assert [token for token, _ in pieces] == [token for token, _ in row[1:]]
        bits = [bits for _, bits in row[1:]]
        assert [bits for _, bits in pieces] == pytest.approx(bits, abs=CLOSE)
        # a word is the sum of its pieces
        assert sum(word.bits for word in words) == pytest.approx(sum(bits), abs=CLOSE)
    sequences = minicons.sequence_score(documents, reduction=lambda logp: logp.sum().item())
    assert seesay.score(model, [("", text) for text in TEXTS]) == pytest.approx(
        sequences, abs=CLOSE
    )
    assert [word.word for word in seesay.surprisals(model, TEXTS[1])[0]] == TEXTS[1].split()


def test_vectors_equal_minicons_representations(folder: str) -> None:
    """A word of one token, after the beginning of a text; inner layers through the final norm."""
    cwe = pytest.importorskip("minicons.cwe").CWE(folder)
    sentence = "the little"
    layers = cwe.model.config.num_hidden_layers
    for layer in (0, 2, layers):
        states = cwe.extract_representation([(f"<s> {sentence}", "little")], layer=layer)
        reference = states.detach() if layer == layers else cwe.model.norm(states).detach()
        own = seesay.encode(folder, [sentence, "a dog"], layer=layer)
        assert own.shape == (2, cwe.model.config.hidden_size)
        np.testing.assert_allclose(own[0], reference[0].numpy(), atol=CLOSE)
    last = seesay.encode(folder, sentence)
    np.testing.assert_array_equal(last, seesay.encode(folder, sentence, layer=-1))


def test_where_an_option_stands(model: Model) -> None:
    """After a space, whether or not the context ends in one, or in the slot, with what follows."""
    (plain,) = seesay.score(model, [("The sky is", "blue")])
    for pair in (("The sky is ", "blue"), ("The sky is", " blue"), ("The sky is [MASK]", "blue")):
        assert seesay.score(model, [pair]).tolist() == pytest.approx([plain], abs=CLOSE)
    (inside,) = seesay.score(model, [("The sky is [MASK] today.", "blue")])
    # the chain rule: the option, then the text after it
    (rest,) = seesay.score(model, [("The sky is blue", "today.")])
    assert inside == pytest.approx(plain + rest, abs=CLOSE)
    assert seesay.score(model, []).shape == (0,)


def test_a_masked_model(tmp_path: Path) -> None:
    bert = str(save_tiny("bert", tmp_path / "bert"))
    logps = seesay.score(
        bert, [("the color of snow is [MASK] .", color) for color in ("red", "blue")]
    )
    assert np.all(logps < 0)
    assert seesay.encode(bert, ["apple", "sky"], layer=0).shape == (2, 32)
    (words,) = seesay.surprisals(bert, "the sky is blue")
    assert all(math.isfinite(word.bits) for word in words)


def test_what_is_refused(model: Model, folder: str) -> None:
    for name in ("baseline:majority", "mock"):
        with pytest.raises(UserError, match="gives a text by itself no log-probability"):
            seesay.score(name, PAIRS)
        with pytest.raises(UserError, match="cannot score texts"):
            seesay.surprisals(name, TEXTS)
    with pytest.raises(UserError, match="one \\[MASK\\] at most"):
        seesay.score(model, [("[MASK] is [MASK]", "blue")])
    with pytest.raises(UserError, match="Unknown length rule"):
        seesay.score(model, PAIRS, length="median")
    with pytest.raises(UserError, match=r"no layer 6: .* has 6, 0 \(the embedding\) to 5"):
        seesay.encode(folder, ["dog"], layer=6)
    with pytest.raises(UserError, match="nothing to encode"):
        seesay.encode(folder, [])
