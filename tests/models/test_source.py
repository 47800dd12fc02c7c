"""A configuration names the module that reads a model's files; names become folders and Hub ids."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seesay.models import ModelOptions
from seesay.models.encoders import clip_bert_masked
from seesay.models.source import CLIP_BERT, READERS, find_files, is_clip_bert
from seesay.models.vision import masked
from seesay.registry import load_address


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
    names = {find_files(name, ModelOptions())[0] for name in ("model", "./model", f"model{os.sep}")}
    assert names == {"model"}


def test_any_other_name_is_a_hub_id() -> None:
    assert find_files("owner/name", ModelOptions()) == ("owner/name", "owner/name")
