"""A language model that sees is asked like any other, and reads exactly what it is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from tests.language.training import colored
from tests.tiny import save_tiny

from seesay.errors import UserError
from seesay.language.seeing.prefix_model import LanguageModel, VisualPrefixModel, save
from seesay.language.seeing.prefix_network import PrefixProjector
from seesay.models import load_model
from seesay.models.base import Sampling
from seesay.models.options import ModelOptions
from seesay.models.picture_encoder import open_picture_encoder
from seesay.questions import Prompt, Shot

OPTIONS = ("red", "green", "light blue")
TEXT = "The color of the apple is [MASK] ."


@pytest.fixture(params=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A projector with random weights between the histogram and a tiny language model."""
    place = save_tiny(request.param, tmp_path / "language")
    language_model = LanguageModel.load(str(place), ModelOptions(device="cpu"))
    torch.manual_seed(0)
    projector = PrefixProjector(64, 16, 3, language_model.words.embedding_dim)
    projector.scale.fill_(0.5)
    seeing = tmp_path / "seeing"
    seeing.mkdir()
    save(seeing, projector, language_model, open_picture_encoder("color-histogram"))
    return seeing


def test_options_are_scored_after_the_pictures_embeddings(folder: Path, tmp_path: Path) -> None:
    """As a plain forward pass over embeddings scores them, whatever else is in the batch."""
    paths = colored.save_pictures(tmp_path)
    model = load_model(str(folder))
    assert isinstance(model, VisualPrefixModel)
    assert model.accepts == {"text", "pictures"}
    prompts = [Prompt(TEXT, OPTIONS, picture=path) for path in paths.values()]
    scores = model.answer([*prompts, Prompt(TEXT, OPTIONS)])
    language_model = LanguageModel.load(str(tmp_path / "language"), ModelOptions(device="cpu"))
    network = language_model.checkpoint.model
    for path, score in zip(paths.values(), scores, strict=False):
        features = open_picture_encoder("color-histogram").encode([Image.open(path)])
        with torch.no_grad():
            prefix = model._projector(torch.from_numpy(features))
        for option, logp in zip(OPTIONS, score.logp, strict=True):
            before, after = TEXT.split("[MASK]")
            tokenizer = language_model.checkpoint.tokenizer
            ids = tokenizer(before + option + after, return_tensors="pt")["input_ids"]
            context = tokenizer(before.rstrip(), return_tensors="pt")["input_ids"].shape[1]
            embeddings = torch.cat([prefix, language_model.words(ids)], dim=1)
            with torch.no_grad():
                logps = network(inputs_embeds=embeddings).logits[0].log_softmax(-1)
            tokens = range(context, ids.shape[1])
            expected = sum(float(logps[3 + place - 1, ids[0, place]]) for place in tokens)
            assert logp == pytest.approx(expected, abs=1e-3)
    (alone,) = load_model(str(tmp_path / "language")).answer([Prompt(TEXT, OPTIONS)])
    assert scores[-1].logp == pytest.approx(alone.logp, abs=1e-5)


def test_it_is_read_layer_by_layer_and_writes(folder: Path, tmp_path: Path) -> None:
    paths = colored.save_pictures(tmp_path)
    model = load_model(str(folder))
    prompts = [Prompt(TEXT, OPTIONS, picture=paths["red"]), Prompt(TEXT, OPTIONS)]
    layers = model.answer_layers(prompts)
    assert len(layers) == model.layer_count()
    for last, score in zip(layers[-1], model.answer(prompts), strict=True):
        assert last.logp == pytest.approx(score.logp, abs=1e-4)
    replies = model.generate(prompts, Sampling(max_tokens=4))
    (plain,) = load_model(str(tmp_path / "language")).generate(prompts[1:], Sampling(max_tokens=4))
    assert replies[1] == plain
    assert len(replies[0]) == 1


def test_what_it_was_not_trained_with_is_refused(folder: Path, tmp_path: Path) -> None:
    paths = colored.save_pictures(tmp_path)
    shot = Shot("The color of the sky is [MASK] .", OPTIONS, "red", picture=paths["blue"])
    model = load_model(str(folder))
    with pytest.raises(UserError, match="looks at one picture at a time"):
        model.answer([Prompt(TEXT, OPTIONS, picture=paths["red"], shots=(shot,))])
    config = json.loads((folder / "config.json").read_text())
    assert config["language_model"][0] == "../language"
    blind = {**config, "picture_encoder": None}
    (folder / "config.json").write_text(json.dumps(blind))
    assert load_model(str(folder)).accepts == {"text"}
    changes: dict[str, dict[str, Any]] = {
        "is not the one that the model was trained with": {
            "picture_encoder": ["color-histogram", "x"]
        },
        "was trained on another": {"language_model": ["../language", "x"]},
        "could not be read|damaged": {"tokens": 5},
    }
    for sentence, entries in changes.items():
        (folder / "config.json").write_text(json.dumps({**config, **entries}))
        with pytest.raises(UserError, match=sentence):
            load_model(str(folder))
