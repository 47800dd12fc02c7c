"""Checkpoints whose weights are not those of their network: what is refused, and what is named in a
note."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as tr
from safetensors.torch import load_file, save_file
from tests.cli.program import error_here
from tests.models.encoders.tiny_encoders import save_tiny_encoder
from tests.models.vision.tiny_vision import save_tiny_vision
from tests.tiny import SMALL, wordpiece

from seesay.cli import main
from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.encoders import load_encoder
from seesay.questions import Prompt
from seesay.runs.records import Manifest

Folder = Callable[[str], Path]

FEW = ("--resamples", "100", "--task", "core-color", "--limit", "2")
PROMPT = Prompt("the color of the sky is [MASK] .", ("red", "blue"))


@pytest.fixture
def copied(tiny_folder: Folder, tmp_path: Path) -> Folder:
    """A copy that a test may spoil."""
    return lambda kind: Path(shutil.copytree(tiny_folder(kind), tmp_path / kind))


def configure(folder: Path, **changed: Any) -> Path:
    """The folder with some entries of its config.json changed."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    return folder


def add_weights(folder: Path, *names: str) -> Path:
    """The folder with further weights in its file."""
    path = folder / "model.safetensors"
    save_file(
        {**load_file(path), **{name: torch.ones(2) for name in names}}, path, {"format": "pt"}
    )
    return folder


def bert_for_pretraining(folder: Path) -> Path:
    """BERT as `bert-base-uncased` is saved: language-model head, next-sentence head and pooler."""
    tokenizer = wordpiece()
    torch.manual_seed(0)
    tr.BertForPreTraining(tr.BertConfig(vocab_size=len(tokenizer), **SMALL)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("gpt2", {"n_layer": -1}),
        ("gpt2", {"n_layer": 1}),
        ("bert", {"num_hidden_layers": 1}),
        ("bert", {"num_hidden_layers": -1}),
        ("llama", {"num_hidden_layers": 1}),
        ("t5", {"num_layers": 1, "num_decoder_layers": 1}),
        ("t5", {"num_decoder_layers": 1}),
    ],
)
def test_layers_beyond_the_configured_number_are_refused(
    kind: str,
    changed: dict[str, Any],
    copied: Folder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = configure(copied(kind), **changed)
    sentence = error_here(capsys, "probe", folder, *FEW, "--output", tmp_path / "runs")
    assert "does not read" in sentence
    assert "check the number of layers in its config.json" in sentence


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_layers_of_a_checkpoint_saved_without_its_prefix_are_refused(
    kind: str, copied: Folder, tmp_path: Path
) -> None:
    """The published gpt2 is saved like this: `h.0…`, not `transformer.h.0…`."""
    source = copied(kind)
    tr.AutoModel.from_pretrained(source).save_pretrained(tmp_path / "bare")
    wordpiece().save_pretrained(tmp_path / "bare")
    key = "h.2.ln_1.weight" if kind == "gpt2" else "encoder.layer.2.output.dense.bias"
    with pytest.raises(UserError, match=rf"does not read \({key}"):
        load_encoder(str(add_weights(tmp_path / "bare", key)))


@pytest.mark.parametrize("name", ["bert.img_projection.weight", "img_projection.weight"])
def test_a_projection_that_the_configuration_does_not_name_is_refused(
    name: str, copied: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = add_weights(copied("bert"), name)
    sentence = error_here(capsys, "probe", folder, *FEW, "--output", tmp_path / "runs")
    assert "a CLIP-BERT's projection is read where config.json gives img_feature_dim" in sentence
    with pytest.raises(UserError, match="img_feature_dim"):
        load_encoder(str(folder))


@pytest.mark.parametrize(
    "name",
    [
        "cls.predictions.second.weight",
        "cls.predictions.decoder.scale",
        "bert.embeddings.extra",
        "bert.adapter.up",
    ],
)
def test_strange_weights_in_trunk_or_head_are_refused(name: str, copied: Folder) -> None:
    with pytest.raises(
        UserError, match=rf"holds 1 weights that its network \(BertForMaskedLM\).*\({name}, …\)"
    ):
        load_model(str(add_weights(copied("bert"), name)))


def test_other_heads_and_poolers_are_named_in_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bert_for_pretraining(tmp_path / "bert")
    few = ("--resamples", "100", "--limit", "2", "--task", "core-color,core-parts")
    with pytest.raises(SystemExit) as ended:
        main(["probe", str(folder), *few, "--output", str(tmp_path / "runs")])
    assert ended.value.code == 0
    noted = f"Parts of '{folder}' that are not used: bert.pooler, cls.seq_relationship."
    assert noted in " ".join(capsys.readouterr().err.split())
    manifests = [
        Manifest.model_validate_json(path.read_text())
        for path in tmp_path.glob("runs/**/manifest.json")
    ]
    assert {manifest.task for manifest in manifests} == {"core-color", "core-parts"}
    assert all(noted in manifest.notes for manifest in manifests)
    encoder = load_encoder(str(folder))
    assert encoder.notes() == [f"Parts of '{folder}' that are not used: cls."]


def test_a_head_that_is_not_used_changes_no_digit(tmp_path: Path) -> None:
    folder = bert_for_pretraining(tmp_path / "bert")
    shutil.copytree(folder, tmp_path / "alone")
    tr.BertForMaskedLM.from_pretrained(folder).save_pretrained(tmp_path / "alone")
    assert load_model(str(folder)).answer([PROMPT]) == load_model(str(tmp_path / "alone")).answer(
        [PROMPT]
    )
    assert load_model(str(tmp_path / "alone")).notes() == []


@pytest.mark.parametrize(
    "name", ["bert.embeddings.position_ids", "bert.encoder.layer.0.attention.masked_bias"]
)
def test_buffers_of_older_versions_are_no_weights(name: str, copied: Folder) -> None:
    model = load_model(str(add_weights(copied("bert"), name)))
    assert model.notes() == []


def test_encoders_and_vision_models_are_checked_too(tmp_path: Path) -> None:
    clip = save_tiny_encoder("clip", tmp_path / "clip")
    assert load_encoder(str(clip)).notes() == [
        f"Parts of '{clip}' that are not used: logit_scale, text_projection, vision_model, "
        "visual_projection."
    ]
    with pytest.raises(UserError, match=r"does not read \(encoder.layers.7.bias"):
        load_encoder(str(add_weights(clip, "text_model.encoder.layers.7.bias")))
    llava = add_weights(
        save_tiny_vision("llava", tmp_path / "llava"),
        "vision_tower.second.weight",
        "value_head.weight",
    )
    with pytest.raises(UserError, match="does not read"):
        load_model(f"vision:{llava}")
    lxmert = add_weights(
        save_tiny_encoder("lxmert", tmp_path / "lxmert"), "lxmert.encoder.x_layers.9.bias"
    )
    with pytest.raises(UserError, match="check the number of layers"):
        load_model(str(lxmert))
