"""A trained reasoner as a model: loaded by its folder, asked MALeViC's questions of their own
pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.scenes.reasoners.small import ALL, IMAGE_SIZE, extractor_of, save_random

from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.questions import Prompt, Task
from seesay.runs.ask import Settings, run
from seesay.scenes.baselines import SceneRule
from seesay.scenes.reasoners.dataset import from_folder
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.tasks import malevic
from seesay.tasks import load_task


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    monkeypatch.setattr(malevic, "PICTURE", 192)
    monkeypatch.setattr(malevic, "ITEMS", 12)
    torch.set_num_threads(1)


def task() -> Task:
    return malevic.load("set-pos")


def reasoner(folder: Path, name: str = "film", options: ModelOptions | None = None) -> Model:
    save_random(name, folder)
    return load_model(str(folder), options or ModelOptions(device="cpu"))


def probabilities(model: Model, prompts: list[Prompt]) -> list[dict[str, float]]:
    scores = model.answer(prompts)
    return [
        dict(zip(prompt.options, np.exp(one.logp), strict=True))
        for prompt, one in zip(prompts, scores, strict=True)
    ]


@pytest.mark.parametrize("name", ALL)
def test_scores_equal_the_log_probabilities_of_the_network(name: str, tmp_path: Path) -> None:
    network, config = save_random(name, tmp_path)
    scene_task = task()
    folder = Path(scene_task.questions[0].picture or "").parents[2]
    items = from_folder(folder, "test", extractor_of(name))
    words = torch.from_numpy(config.vocabulary.encode(items.sentences))
    with torch.inference_mode():
        expected = network(torch.from_numpy(np.array(items.features)), words).softmax(1).numpy()
    model = load_model(str(tmp_path), ModelOptions(device="cpu"))
    for template in scene_task.templates:
        prompts = [template.ask(question) for question in scene_task.questions]
        for scores, (no, yes) in zip(probabilities(model, prompts), expected, strict=True):
            assert sum(scores.values()) == pytest.approx(1)
            assert scores.get("yes", scores.get("true")) == pytest.approx(yes, rel=1e-4)
            assert scores.get("no", scores.get("false")) == pytest.approx(no, rel=1e-4)


def test_options_in_any_order_and_case(tmp_path: Path) -> None:
    model = reasoner(tmp_path)
    prompt = task().templates[1].ask(task().questions[0])
    orders = (("yes", "no"), ("no", "yes"), ("True", "False"), ("NO", "Yes"))
    first, *others = probabilities(model, [replace(prompt, options=order) for order in orders])
    for other in others:
        yes = sum(value for name, value in other.items() if name.lower() in ("yes", "true"))
        assert yes == pytest.approx(first["yes"])
        assert 1 - yes == pytest.approx(first["no"])


def test_the_size_of_a_batch_does_not_matter(tmp_path: Path) -> None:
    scene_task = task()
    prompts = [scene_task.templates[0].ask(question) for question in scene_task.questions]
    model = reasoner(tmp_path, options=ModelOptions(device="cpu", batch_size=5))
    assert [len(batch) for batch in model.plan(prompts)] == [5, 5, 2]
    together = [one.logp for one in model.answer(prompts)]
    one_by_one = [model.answer([prompt])[0].logp for prompt in prompts]
    assert np.allclose(together, one_by_one, rtol=1e-5, atol=1e-6)


def test_model_description(tmp_path: Path) -> None:
    model = reasoner(tmp_path)
    assert isinstance(model, Reasoner)
    assert (model.family, model.accepts, model.name) == (
        "reasoner",
        frozenset({"text", "pictures"}),
        str(tmp_path),
    )
    same = load_model(f"reasoner:{tmp_path}", ModelOptions(device="cpu"))
    assert same.fingerprint == model.fingerprint
    other = reasoner(tmp_path, "cnn-lstm")
    assert other.fingerprint != model.fingerprint


def test_unanswerable_prompts_are_refused(tmp_path: Path) -> None:
    model = reasoner(tmp_path)
    prompt = task().templates[0].ask(task().questions[0])
    with pytest.raises(UserError, match="answers no or yes, not large"):
        model.answer([replace(prompt, options=("large", "small"))])
    model.answer([replace(prompt, picture=None)])
    assert model.notes() == [
        f"'{model.name}' cannot do without a picture: it is asked questions that have none about a "
        "plain gray one."
    ]
    with pytest.raises(UserError, match=r"nowhere\.png cannot be read"):
        model.answer([replace(prompt, picture=str(tmp_path / "nowhere.png"))])
    with pytest.raises(UserError, match="needs questions with the field 'sentence' or 'question'"):
        model.answer([replace(prompt, fields={"thing": "a red square"})])


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        load_model(f"reasoner:{tmp_path / 'nowhere'}")
    save_random("film", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["image_size"] == IMAGE_SIZE
    (tmp_path / "config.json").write_text(
        json.dumps({name: value for name, value in config.items() if name != "features"})
    )
    with pytest.raises(UserError, match=r"config\.json has no features"):
        load_model(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(UserError, match="missing or damaged"):
        load_model(str(tmp_path))


def test_a_feature_extractor_with_other_weights_is_refused(tmp_path: Path) -> None:
    save_random("film", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "features_fingerprint": "another"}))
    with pytest.raises(UserError, match="other weights of its feature extractor 'pixels'"):
        load_model(str(tmp_path))


@pytest.mark.parametrize(
    ("hint", "sentence"),
    [
        (SceneRule.probabilities_hint, "ask a model that gives"),
        (Reasoner.probabilities_hint, "ask it a task that is scored right or wrong"),
    ],
)
def test_choosing_models_are_not_served(hint: str, sentence: str, tmp_path: Path) -> None:
    model = SceneRule("baseline:fixed-k")
    model.probabilities_hint = hint
    task = replace(load_task("core-color"), metrics=("jensen_shannon",))
    with pytest.raises(UserError, match=sentence) as refused:
        run(model, task, tmp_path, Settings())
    assert "endpoint" not in str(refused.value)
