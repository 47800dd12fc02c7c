"""A model's folder from anywhere: what it may not say is refused before torch or transformers read
it."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model

MARK = "opened"


class Trap:
    """Unpickled, it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.fixture
def folder(tmp_path: Path, tiny_folder: Callable[[str], Path]) -> Path:
    return shutil.copytree(tiny_folder("gpt2"), tmp_path / "model")


def changed(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | entries))


@pytest.mark.parametrize(
    "shard",
    [
        "../outside.safetensors",
        "/etc/passwd",
        "weights.bin",
        "weights.pt",
        "sub/x.safetensors",
        "..\\x.safetensors",
    ],
)
@pytest.mark.parametrize("options", [ModelOptions(), ModelOptions(allow_pickle=True)])
def test_an_index_names_safetensors_beside_it_only(
    folder: Path, shard: str, options: ModelOptions
) -> None:
    (folder / "model.safetensors").rename(folder.parent / "outside.safetensors")
    for name in ("weights.bin", "weights.pt"):
        (folder / name).write_bytes(pickle.dumps(Trap(folder / MARK)))
    changed(
        folder / "model.safetensors.index.json",
        metadata={},
        weight_map={"transformer.wte.weight": shard},
    )
    with pytest.raises(UserError, match=r"only \.safetensors files beside the index are read"):
        load_model(str(folder), options)
    assert not (folder / MARK).exists()


@pytest.mark.parametrize("content", ["[]", '{"weight_map": 5}', "{", "[" * 100_000])
def test_an_index_that_is_none_is_one_sentence(folder: Path, content: str) -> None:
    (folder / "model.safetensors.index.json").write_text(content)
    with pytest.raises(UserError, match="could not be read"):
        load_model(str(folder), ModelOptions())


@pytest.mark.parametrize(
    "key", ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"]
)
def test_a_kernel_of_the_hub_is_refused(folder: Path, key: str) -> None:
    for entries in ({key: "someone/kernel"}, {"text_config": {key: "someone/kernel:attention"}}):
        changed(folder / "config.json", **entries)
        with pytest.raises(UserError, match=r"attention kernel 'someone/kernel.* of the hub"):
            load_model(str(folder), ModelOptions())


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"n_layer": 100_000}, "a network with n_layer above 2,000 in its config.json"),
        ({"encoder_layers": 10**400}, "a network with encoder_layers above 2,000"),
        ({"text_config": {"hidden_size": 10**9}}, "a network with hidden_size above 16,777,216"),
        ({"vocab_size": 10**12}, "a network with vocab_size above 16,777,216"),
    ],
)
def test_a_network_that_no_machine_holds_is_refused(
    folder: Path, entries: dict[str, Any], message: str
) -> None:
    changed(folder / "config.json", **entries)
    with pytest.raises(UserError, match=re.escape(message)):
        load_model(str(folder), ModelOptions())


@pytest.mark.parametrize("depth", [60, 900, 100_000])
def test_a_config_nested_too_deep_is_one_sentence(folder: Path, depth: int) -> None:
    (folder / "config.json").write_text(
        '{"model_type": "gpt2", "x": ' + "[" * depth + "]" * depth + "}"
    )
    with pytest.raises(UserError, match=r"config\.json is nested too deep"):
        load_model(str(folder), ModelOptions())


def test_an_honest_folder_still_loads(folder: Path) -> None:
    changed(folder / "config.json", attn_implementation="eager")
    assert load_model(str(folder), ModelOptions()).family == "causal"


def test_a_gguf_file_of_100000_layers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gguf = pytest.importorskip("gguf")
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    writer = gguf.GGUFWriter(tmp_path / "deep.gguf", "llama")
    writer.add_block_count(100_000)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_context_length(128)
    for write in (
        writer.write_header_to_file,
        writer.write_kv_data_to_file,
        writer.write_tensors_to_file,
        writer.close,
    ):
        write()
    with pytest.raises(
        UserError,
        match=r"'deep\.gguf' describes a network with num_hidden_layers above 2,000 in its header",
    ):
        load_model(str(tmp_path / "deep.gguf"), ModelOptions())
