"""Layer by layer: the last layer is what the model itself gives, the others are what plain
transformers give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tests.tiny import COLORS, save_tiny

from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.base import Model
from seesay.models.baselines import load_mock
from seesay.models.encoders import load_encoder
from seesay.models.options import ModelOptions
from seesay.questions import SLOT, Prompt

TEXTS = [
    "the color of a banana is",
    "the color of snow is very",
    "grass",
    "the color of a turquoise apple",
]
PROMPTS = [
    Prompt(f"The color of a banana is {SLOT}.", (*COLORS, "light blue")),
    Prompt(f"I saw a {SLOT} apple today.", ("red", "turquoise")),
]
TOLERANCE = 1e-5  # the head is applied to the same states in another batch


@pytest.mark.parametrize(
    "kind",
    ["gpt2", "llama", "bloom", "mamba", "bert", "roberta", "albert", "modernbert", "distilbert"],
)
def test_the_last_layer_is_the_model(kind: str, tmp_path: Path) -> None:
    folder = str(save_tiny(kind, tmp_path))
    model = load_model(folder)
    layers = model.answer_layers(PROMPTS)
    assert len(layers) == 3  # embedding and two layers
    for actual, expected in zip(layers[-1], model.answer(PROMPTS), strict=True):
        np.testing.assert_allclose(actual.logp, expected.logp, atol=TOLERANCE)
        assert (actual.tokens, actual.chars, actual.rank) == (
            expected.tokens,
            expected.chars,
            expected.rank,
        )
    assert not np.allclose(layers[0][0].logp, layers[-1][0].logp, atol=1e-3)

    encoder = load_encoder(folder)
    vectors = encoder.encode_layers(TEXTS)
    assert vectors.shape == (len(TEXTS), 3, 32)
    np.testing.assert_allclose(vectors[:, -1], encoder.encode(TEXTS), atol=TOLERANCE)


def test_inner_layers_are_read_through_the_final_norm(tmp_path: Path) -> None:
    folder = save_tiny("gpt2", tmp_path)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = load_model(str(folder), ModelOptions(scope="option"))
    with torch.inference_mode():
        ids = torch.tensor([tokenizer("The color of a banana is")["input_ids"]])
        states = network.transformer(ids, output_hidden_states=True).hidden_states[1]
        logp = network.lm_head(network.transformer.ln_f(states))[0, -1].log_softmax(-1)
    red = tokenizer(" red")["input_ids"]
    (scores,) = model.answer_layers([Prompt(f"The color of a banana is {SLOT}", ("red",))])[1]
    assert len(red) == 1
    assert scores.logp[0] == pytest.approx(float(logp[red[0]]), abs=TOLERANCE)


def test_a_masked_head_is_applied_whole(tmp_path: Path) -> None:
    """BERT's head transforms a state before it scores the vocabulary."""
    folder = save_tiny("bert", tmp_path)
    network = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        ids = torch.tensor([tokenizer("The color of a banana is [MASK].")["input_ids"]])
        states = network.bert(ids, output_hidden_states=True).hidden_states[1]
        place = ids[0].tolist().index(tokenizer.mask_token_id)
        logp = network.cls(states)[0, place].log_softmax(-1)
    (scores,) = load_model(str(folder)).answer_layers(
        [Prompt(f"The color of a banana is {SLOT}.", ("red",))]
    )[1]
    assert scores.logp[0] == pytest.approx(
        float(logp[tokenizer.convert_tokens_to_ids("red")]), abs=TOLERANCE
    )


def test_a_model_without_layers_says_so() -> None:
    mock: Model = load_mock("", ModelOptions())
    assert not {"answer_layers", "encode_layers"} & mock.abilities
    with pytest.raises(UserError, match="layer by layer"):
        mock.answer_layers(PROMPTS)
