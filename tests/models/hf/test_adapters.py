"""Adapters that the real peft trained and saved, asked as models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.needs import absent
from tests.tiny import save_tiny
from transformers import AutoModelForCausalLM, AutoTokenizer

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.questions import Prompt
from seesay.runs.callback import model_in_training, plain_network

try:
    import peft
except ImportError:
    absent("peft is not installed")

PROMPTS = [
    Prompt(f"The color of a {thing} is [MASK].", ("red", "yellow")) for thing in ("apple", "sky")
]
OPTION = ModelOptions(scope="option")


def save_adapter(base: Path, folder: Path, **config: Any) -> Any:
    """An adapter with weights that matter, saved; the adapted network."""
    network: Any = AutoModelForCausalLM.from_pretrained(base)
    settings: dict[str, Any] = {"target_modules": ["q_proj", "lm_head"], "r": 4, **config}
    adapted: Any = peft.get_peft_model(network, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weights in adapted.named_parameters():
            if "lora_" in name:
                weights.normal_(std=0.5)
    adapted.save_pretrained(folder)
    return adapted.eval()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("llama", tmp_path_factory.mktemp("base") / "llama")


def log_probability(network: Any, tokenizer: Any, text: str, option: str) -> float:
    """Of the option after the text, by the network's own logits."""
    before = tokenizer(text)["input_ids"]
    whole = tokenizer(f"{text} {option}")["input_ids"]
    with torch.inference_mode():
        logits = network(torch.tensor([whole])).logits[0].log_softmax(-1)
    places = range(len(before), len(whole))
    return float(sum(logits[place - 1, whole[place]] for place in places))


@pytest.mark.parametrize("more", [{}, {"use_dora": True}, {"use_rslora": True, "lora_alpha": 32}])
def test_an_adapter_answers_as_peft_does(base: Path, tmp_path: Path, more: dict[str, Any]) -> None:
    """The output head is adapted too; what is read is the merged network."""
    adapted = save_adapter(base, tmp_path, **more)
    model = load_model(str(tmp_path), OPTION)
    plain = load_model(str(base), OPTION)
    assert model.fingerprint.startswith(f"{plain.fingerprint}+")
    assert model.parameters == plain.parameters
    tokenizer: Any = AutoTokenizer.from_pretrained(base)
    answers = zip(PROMPTS, model.answer(PROMPTS), plain.answer(PROMPTS), strict=True)
    for prompt, scores, unadapted in answers:
        text = prompt.text.removesuffix(" [MASK].")
        for option, logp, other in zip(prompt.options, scores.logp, unadapted.logp, strict=True):
            expected = log_probability(adapted, tokenizer, text, option)
            assert logp == pytest.approx(expected, abs=1e-4)
            assert abs(logp - other) > 0.01


def test_another_adapter_is_another_model(base: Path, tmp_path: Path) -> None:
    save_adapter(base, tmp_path / "a")
    save_adapter(base, tmp_path / "b", lora_alpha=3)
    fingerprints = {load_model(str(tmp_path / name)).fingerprint for name in "ab"}
    assert len(fingerprints) == 2


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_what_is_no_usable_adapter_is_one_sentence(base: Path, tmp_path: Path) -> None:
    save_adapter(base, tmp_path / "good")

    def refuse(name: str, sentence: str) -> None:
        with pytest.raises(UserError, match=sentence):
            load_model(str(tmp_path / name))

    for name in ("nameless", "elsewhere", "cut", "weightless", "odd", "other"):
        shutil.copytree(tmp_path / "good", tmp_path / name)
    change_config(tmp_path / "nameless", base_model_name_or_path=None)
    refuse("nameless", "does not name the model that the adapter is for")
    change_config(tmp_path / "elsewhere", base_model_name_or_path=str(tmp_path / "nowhere"))
    refuse("elsewhere", "Could not load '.*nowhere'")
    (tmp_path / "cut" / "adapter_config.json").write_text("{")
    refuse("cut", "The adapter in '.*' could not be read")
    (tmp_path / "weightless" / "adapter_model.safetensors").unlink()
    refuse("weightless", "has no adapter_model.safetensors, only pickled weights")
    change_config(tmp_path / "odd", peft_type="SOMETHING")
    refuse("odd", "does not fit its base .* or is damaged")
    # weights of another width
    wide = save_tiny("llama", tmp_path / "wide", hidden_size=64)
    change_config(tmp_path / "other", base_model_name_or_path=str(wide))
    refuse("other", "does not fit its base .* or is damaged")


def test_a_learnt_prompt_is_refused(base: Path, tmp_path: Path) -> None:
    network: Any = AutoModelForCausalLM.from_pretrained(base)
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    prompted: Any = peft.get_peft_model(network, config)
    prompted.save_pretrained(tmp_path)
    with pytest.raises(UserError, match="is a learnt prompt, not an adapter of weights"):
        load_model(str(tmp_path))
    with pytest.raises(UserError, match="A learnt prompt cannot be asked in training"):
        plain_network(prompted)


@pytest.mark.seconds
def test_an_adapter_in_training_answers_as_its_checkpoint(base: Path, tmp_path: Path) -> None:
    adapted = save_adapter(base, tmp_path / "checkpoint-1")
    network = plain_network(adapted)
    during = model_in_training("mine", network, AutoTokenizer.from_pretrained(base), OPTION)
    later = load_model(str(tmp_path / "checkpoint-1"), OPTION)
    for scores, expected in zip(during.answer(PROMPTS), later.answer(PROMPTS), strict=True):
        assert scores.logp == pytest.approx(expected.logp, abs=1e-4)
