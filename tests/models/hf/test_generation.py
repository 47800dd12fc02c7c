"""What a model writes is the likeliest continuation, whatever its checkpoint would rather write."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.shared_data import shared
from transformers import AutoModelForCausalLM, AutoTokenizer

from seesay.models import ModelOptions, load_model
from seesay.models.base import Sampling
from seesay.questions import Prompt

# each of them changes what transformers writes
SETTINGS = {
    "repetition_penalty": 5.0,
    "num_beams": 3,
    "no_repeat_ngram_size": 2,
    "min_new_tokens": 12,
    "suppress_tokens": [403, 404, 405, 406, 407, 408, 409, 410],
}
PROMPTS = [
    Prompt("Once upon a time, there was a little girl. The little girl [MASK]", ("was", "had")),
    Prompt("The dog was big and the cat was [MASK]", ("big", "small")),
]
NEW_TOKENS = 12


def with_settings(folder: Path, copy: Path, settings: dict[str, Any]) -> Path:
    shutil.copytree(folder, copy)
    path = copy / "generation_config.json"
    stored = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**stored, **settings}))
    return copy


def likeliest(folder: Path, text: str) -> str:
    """Token by token, the one with the highest logit."""
    network: Any = AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text)["input_ids"]
    start = len(ids)
    with torch.inference_mode():
        for _ in range(NEW_TOKENS):
            ids.append(int(network(torch.tensor([ids])).logits[0, -1].argmax()))
    written = str(tokenizer.decode(ids[start:], skip_special_tokens=True))
    return written.lstrip().partition("\n")[0].strip()


@pytest.mark.parametrize("setting", [*SETTINGS, "all"])
def test_greedy_is_greedy_whatever_the_checkpoint_says(tmp_path: Path, setting: str) -> None:
    folder = shared("tinystories260k")
    settings = SETTINGS if setting == "all" else {setting: SETTINGS[setting]}
    changed = with_settings(folder, tmp_path / "model", settings)
    sampling = Sampling(max_tokens=NEW_TOKENS)
    model = load_model(str(changed), ModelOptions(device="cpu"))
    for prompt in PROMPTS:
        ((reply,),) = model.generate([prompt], sampling)
        assert reply.text == likeliest(folder, prompt.parts[0].rstrip())


def test_an_encoder_decoder_is_greedy_too(
    tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    settings = {"repetition_penalty": 5.0, "num_beams": 3, "forced_bos_token_id": 7}
    changed = with_settings(tiny_folder("t5"), tmp_path / "model", settings)
    plain, other = (load_model(str(folder)) for folder in (tiny_folder("t5"), changed))
    prompts = [Prompt("The color of snow is [MASK].", ("red", "white"))]
    assert other.generate(prompts) == plain.generate(prompts)
