"""What a model's name stands for, its fingerprint before it is loaded, and the module that reads
its files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tiny import save_tiny

from seesay.errors import UserError
from seesay.models import ModelOptions
from seesay.models.encoders import clip_bert_masked
from seesay.models.hf.gguf import converted_folder
from seesay.models.source import CLIP_BERT, READERS, Kind, ModelSource, is_clip_bert
from seesay.models.vision import masked
from seesay.registry import load_address


def parse(name: str, **options: Any) -> ModelSource:
    return ModelSource.parse(name, ModelOptions(**options))


def test_every_multimodal_architecture_has_a_reader_and_no_other() -> None:
    assert READERS.keys() == masked.ARCHITECTURES.keys()
    assert {load_address(reader) for reader in READERS.values()} == {masked.load_masked}
    assert load_address(CLIP_BERT) is clip_bert_masked.load_source


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "bert", "img_feature_dim": 512}, True),
        ({"model_type": "bert"}, False),
        ({"model_type": "roberta", "img_feature_dim": 512}, False),
    ],
)
def test_a_clip_bert_is_a_bert_that_is_shown_features(
    config: dict[str, Any], expected: bool
) -> None:
    assert is_clip_bert(SimpleNamespace(**config)) is expected


def test_a_folder_has_one_name_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    sources = [parse(name) for name in ("model", "./model", f"model{os.sep}")]
    assert {(source.name, source.kind, source.place) for source in sources} == {
        ("model", Kind.FOLDER, "model")
    }


@pytest.mark.parametrize(
    ("name", "kind", "place", "prefix"),
    [
        ("baseline:uniform", Kind.PREFIX, "uniform", "baseline"),
        ("mock", Kind.PREFIX, "", "mock"),
        ("clip-bert:a/b+c/d", Kind.PREFIX, "a/b+c/d", "clip-bert"),
        ("smollm2", Kind.CATALOGUE, "smollm2", None),
        ("model.gguf", Kind.GGUF, "model.gguf", None),
        ("bert", Kind.FOLDER, "bert", None),
        ("owner/name", Kind.HUB, "owner/name", None),
        ("gpt2", Kind.HUB, "gpt2", None),
    ],
)
def test_what_a_name_stands_for(
    name: str,
    kind: Kind,
    place: str,
    prefix: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.gguf").touch()
    (tmp_path / "bert").mkdir()
    (tmp_path / "bert" / "config.json").write_text(json.dumps({"model_type": "bert"}))
    source = parse(name, revision="v1")
    assert (source.kind, source.place, source.prefix) == (kind, place, prefix)
    assert source.revision == "v1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.gguf", "There is no file 'absent.gguf'"),
        ("./absent", "'./absent' is not a folder: give a model's folder, GGUF or ARPA file"),
        ("notes.txt", "'notes.txt' is not a model: give a model's folder, GGUF or ARPA file"),
        ("http://host/v1", "A server is named by its model: seesay probe openai:MODEL"),
        ("opnai:x", "Unknown model 'opnai:x'. Did you mean"),
        ("a/b/c", "Unknown model 'a/b/c'"),
        ("smolm2", "There is no model 'smolm2' .did you mean 'smollm2'"),
    ],
)
def test_what_cannot_be_a_models_name_is_refused(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UserError, match=message):
        parse(name)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5"])
def test_a_folders_fingerprint_is_that_of_the_loaded_model(
    kind: str, tiny_folder: Callable[[str], Path]
) -> None:
    source = parse(str(tiny_folder(kind)), device="cpu")
    assert source.fingerprint() == source.load().fingerprint


def test_a_fingerprint_follows_the_contents_of_files(tmp_path: Path) -> None:
    """Also where the new files have the names, sizes and times of the old ones."""
    folder = save_tiny("bert", tmp_path / "bert")
    before = parse(str(folder)).fingerprint()
    weights = folder / "model.safetensors"
    stat = weights.stat()
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (weights.stat().st_size, weights.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    after = parse(str(folder))
    assert before != after.fingerprint() == after.load().fingerprint


def test_a_fingerprint_on_the_hub_is_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    revisions = []

    def hub_commit(hub_id: str, revision: str | None) -> str | None:
        revisions.append((hub_id, revision))
        return "0123abcd"

    monkeypatch.setattr("seesay.models.source.hub_commit", hub_commit)
    assert parse("owner/name", revision="v1").fingerprint() == "0123abcd"
    assert revisions == [("owner/name", "v1")]


def test_a_name_of_the_catalogue_is_the_same_weights_with_and_without_a_hub(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offline = parse("smollm2").fingerprint()
    monkeypatch.setattr("seesay.models.source.hub_commit", lambda *_: "0123abcd")
    monkeypatch.setattr("seesay.models.hf.hub.on_hub", lambda *_: True)
    assert parse("smollm2").fingerprint() == offline
    assert isinstance(parse("smollm2").fetch(), Path)
    with pytest.raises(UserError, match="--revision is for a Hub id"):
        parse("smollm2", revision="v1").fetch()


def test_what_files_do_not_tell_has_no_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_folder: Callable[[str], Path]
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    assert parse("baseline:uniform").fingerprint() is None
    assert parse(str(tiny_folder("bert")), trust_remote_code=True).fingerprint() is None
    assert parse("smollm2").fingerprint() is None  # not fetched yet
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"GGUF")
    assert parse(str(gguf)).fingerprint() is None  # not converted yet
    clip_bert = tmp_path / "clip-bert"
    clip_bert.mkdir()
    (clip_bert / "config.json").write_text('{"model_type": "bert", "img_feature_dim": 512}')
    assert parse(str(clip_bert)).fingerprint() is None


def test_a_converted_file_has_the_fingerprint_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"GGUF")
    folder = save_tiny("llama", converted_folder(gguf))
    assert parse(str(gguf)).fingerprint() == parse(str(folder)).fingerprint() is not None
