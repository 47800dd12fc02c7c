"""The models that language brings are found by the ends of files and the types of folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seesay.models import ModelOptions, ModelSource
from seesay.models.source import Kind


@pytest.mark.parametrize(
    ("name", "kind", "place", "prefix"),
    [
        ("model.arpa.gz", Kind.PLUGIN_FILE, "model.arpa.gz", "arpa"),
        ("./lstm", Kind.PLUGIN_FOLDER, "lstm", "lstm"),
    ],
)
def test_what_a_name_stands_for(
    name: str,
    kind: Kind,
    place: str,
    prefix: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "lstm").mkdir()
    (tmp_path / "lstm" / "config.json").write_text(json.dumps({"model_type": "seesay-lstm"}))
    source = ModelSource.parse(name, ModelOptions())
    assert (source.kind, source.place, source.prefix) == (kind, place, prefix)
