"""Models by name: what loads, what is refused and with what sentence, and what a fingerprint tells
apart."""

from __future__ import annotations

import json
import os
import shutil
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tests.tiny import ALL, ENCODER_DECODER

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.questions import Prompt

Folder = Callable[[str], Path]

PROMPT = Prompt("The color of the sky is [MASK].", ("red", "blue", "light blue"))


@pytest.fixture
def copied(tiny_folder: Folder, tmp_path: Path) -> Folder:
    """A copy that a test may spoil."""
    return lambda kind: Path(shutil.copytree(tiny_folder(kind), tmp_path / kind))


def config_of(folder: Path, **changed: Any) -> None:
    """Change some entries of a folder's config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def pickle_weights(folder: Path, weights: object | None = None) -> None:
    """The weights as PyTorch's pickle in place of safetensors."""
    from safetensors.torch import load_file

    path = folder / "model.safetensors"
    torch.save(load_file(path) if weights is None else weights, folder / "pytorch_model.bin")
    path.unlink()


@pytest.mark.parametrize("kind", ALL)
def test_abilities(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    assert "answer" in model.abilities
    assert "encode" in model.abilities
    assert ("score" in model.abilities) is (kind not in ENCODER_DECODER)
    assert model.name == str(tiny_folder(kind))


def test_pickled_weights_need_permission(copied: Folder, tiny_folder: Folder) -> None:
    folder = copied("bert")
    pickle_weights(folder)
    with pytest.raises(
        UserError, match=r"only pickled weights \(pytorch_model.bin\).*--allow-pickle"
    ):
        load_model(str(folder))
    allowed = load_model(str(folder), ModelOptions(allow_pickle=True)).answer([PROMPT])
    assert allowed == load_model(str(tiny_folder("bert"))).answer([PROMPT])


class Hostile:
    """Unpickling it makes a folder."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.trace),)


def test_a_pickle_runs_no_code_even_with_permission(copied: Folder, tmp_path: Path) -> None:
    folder = copied("bert")
    pickle_weights(folder, {"x": Hostile(tmp_path / "trace")})
    with pytest.raises(UserError, match="could not be read"):
        load_model(str(folder), ModelOptions(allow_pickle=True))
    assert not (tmp_path / "trace").exists()


def test_code_in_the_folder_is_not_run_unasked(copied: Folder, tmp_path: Path) -> None:
    folder = copied("bert")
    (folder / "theirs.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'trace')!r})\n")
    config_of(
        folder,
        model_type="theirs",
        auto_map={"AutoConfig": "theirs.C", "AutoModelForMaskedLM": "theirs.M"},
    )
    with pytest.raises(UserError, match=r"brings code of its own.*--trust-remote-code"):
        load_model(str(folder))
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda weights: weights[: len(weights) // 2],
        lambda weights: weights[:4],
        lambda weights: b"",
        lambda weights: struct.pack("<Q", 1 << 60) + weights[8:],
        lambda weights: b"\x00" * len(weights),
        lambda weights: b"<!DOCTYPE html><html>Not found</html>",
    ],
    ids=["half", "header cut", "empty", "endless header", "zeros", "a web page"],
)
def test_damaged_weights_get_one_sentence(spoil: Callable[[bytes], bytes], copied: Folder) -> None:
    folder = copied("gpt2")
    weights = folder / "model.safetensors"
    weights.write_bytes(spoil(weights.read_bytes()))
    with pytest.raises(UserError, match="could not be read") as raised:
        load_model(str(folder))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"model_type": 7}', '{"model_type": "unheard-of"}', "\x00\x01"]
)
def test_a_damaged_configuration_gets_one_sentence(text: str, copied: Folder) -> None:
    folder = copied("bert")
    (folder / "config.json").write_text(text)
    with pytest.raises(UserError) as raised:
        load_model(str(folder))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "changed", [{"hidden_size": 48}, {"vocab_size": 7}, {"hidden_size": "large"}]
)
def test_weights_that_do_not_fit_the_configuration_are_refused(
    changed: dict[str, Any], copied: Folder
) -> None:
    folder = copied("bert")
    config_of(folder, **changed)
    with pytest.raises(UserError, match="could not be read"):
        load_model(str(folder))


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama", "roberta", "t5"])
def test_a_folder_without_its_tokenizer_is_refused(kind: str, copied: Folder) -> None:
    folder = copied(kind)
    for path in folder.glob("*token*"):
        path.unlink()
    with pytest.raises(UserError, match=r"has no tokenizer|could not be read"):
        load_model(str(folder))


def test_a_model_saved_without_its_head_is_refused(tiny_folder: Folder, tmp_path: Path) -> None:
    folder = tiny_folder("bert")
    headless: Any = transformers.AutoModel.from_pretrained(folder)
    headless.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"lacks \d+ of the weights.*language-model head"):
        load_model(str(tmp_path))


def test_a_folder_without_configuration(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no config.json"):
        load_model(str(tmp_path))


def test_a_wrong_family(tiny_folder: Folder) -> None:
    with pytest.raises(UserError, match="is not a masked model"):
        load_model(str(tiny_folder("gpt2")), ModelOptions(family="masked"))
    with pytest.raises(UserError, match=r"Unknown family 'maskd'.*masked, causal, encoder-decoder"):
        load_model(str(tiny_folder("gpt2")), ModelOptions(family="maskd"))


def test_a_model_that_fills_no_slot(copied: Folder) -> None:
    folder = copied("bert")
    config_of(folder, model_type="vit", architectures=["ViTForImageClassification"])
    with pytest.raises(UserError, match=r"is a vit .* cannot fill a slot"):
        load_model(str(folder))


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta:x"])
def test_a_device_that_is_not_there(device: str, tiny_folder: Folder) -> None:
    with pytest.raises(UserError, match=f"no device '{device}' here") as raised:
        load_model(str(tiny_folder("gpt2")), ModelOptions(device=device))
    assert "\n" not in str(raised.value)


def test_an_unknown_scope_or_style(tiny_folder: Folder) -> None:
    with pytest.raises(UserError, match=r"Unknown scope 'word'.*sentence, option"):
        load_model(str(tiny_folder("gpt2")), ModelOptions(scope="word"))
    with pytest.raises(UserError, match=r"Unknown style 'chat'.*qa, infill"):
        load_model(str(tiny_folder("t5")), ModelOptions(style="chat"))


def test_an_encoder_decoder_may_leave_out_what_its_decoder_starts_with(
    copied: Folder, tiny_folder: Folder
) -> None:
    folder = copied("t5")
    config_of(folder, decoder_start_token_id=None)
    (folder / "generation_config.json").unlink()
    assert load_model(str(folder)).answer([PROMPT]) == load_model(str(tiny_folder("t5"))).answer(
        [PROMPT]
    )


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_a_text_too_long_to_read_is_refused(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    with pytest.raises(UserError, match=r"A text of \d+ tokens is longer than the \d+ that"):
        model.answer([Prompt("the " * 200 + "[MASK]", ("red", "blue"))])
    assert "score" in model.abilities
    if kind != "gpt2":  # a causal model moves a window over it: tests/models/test_long_texts.py
        (scored,) = model.score(["the " * 200])  # a line among others: left out, and said why
        assert "more than the" in scored.left_out


def test_a_text_just_short_enough_is_read(tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder("roberta")))
    longest = 128 - 2  # RoBERTa's table of positions begins after its padding id, 1
    model.answer([Prompt("The" + " the" * (longest - 4) + " [MASK]", ("red",))])
    with pytest.raises(UserError, match="longer than the 126"):
        model.answer([Prompt("The" + " the" * (longest - 3) + " [MASK]", ("red",))])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("./no/such/folder", "'./no/such/folder' is not a folder"),
        ("http://localhost:8080/v1", "openai:MODEL --base-url http://localhost:8080/v1"),
        ("basline:uniform", "Did you mean 'baseline:'"),
        ("baseline:unifrom", "Did you mean 'uniform'"),
        ("mock:0:soon", "milliseconds"),
        ("/no/such/file.gguf", "There is no file '/no/such/file.gguf'"),
    ],
)
def test_names_that_nobody_has(name: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        load_model(name)


def test_a_hub_out_of_reach_is_given_up_soon(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(
        "huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE",
        "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}",
        raising=False,
    )
    began = time.monotonic()
    with pytest.raises(UserError, match="the model hub did not provide it"):
        load_model("nobody/has-this-model")
    assert time.monotonic() - began < 10
    assert "Retrying" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\xff" * 64, b"<html></html>"]
)
def test_a_damaged_gguf_gets_one_sentence(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(UserError, match="as a GGUF model") as raised:
        load_model(str(path))
    assert "\n" not in str(raised.value)


def test_a_quantisation_that_is_not_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gguf = pytest.importorskip("gguf")
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    quantization = gguf.GGMLQuantizationType.Q8_K
    block, size = gguf.GGML_QUANT_SIZES[quantization]
    width = 256
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(width)
    writer.add_head_count(4)
    writer.add_context_length(128)
    weights = np.zeros((32, width // block * size), np.uint8)
    writer.add_tensor("token_embd.weight", weights, raw_dtype=quantization)
    for write in (
        writer.write_header_to_file,
        writer.write_kv_data_to_file,
        writer.write_tensors_to_file,
        writer.close,
    ):
        write()
    with pytest.raises(UserError, match=r"Q8_K is not yet implemented\. Give another quantisation"):
        load_model(str(tmp_path / "model.gguf"))


def test_a_fingerprint_is_of_the_content(copied: Folder, tiny_folder: Folder) -> None:
    folder = copied("bert")
    assert load_model(str(folder)).fingerprint == load_model(str(tiny_folder("bert"))).fingerprint


def test_a_changed_weight_changes_the_fingerprint(copied: Folder, tiny_folder: Folder) -> None:
    folder = copied("bert")
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-2] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    assert load_model(str(folder)).fingerprint != load_model(str(tiny_folder("bert"))).fingerprint


def test_a_changed_tokenizer_changes_the_fingerprint(copied: Folder, tiny_folder: Folder) -> None:
    folder = copied("bert")
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"apple"', '"pear"'))
    assert load_model(str(folder)).fingerprint != load_model(str(tiny_folder("bert"))).fingerprint
