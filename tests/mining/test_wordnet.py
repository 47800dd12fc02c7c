"""WordNet's noun files: a few synsets in its own format, and the real files where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.needs import absent

from seesay.errors import UserError
from seesay.mining import wordnet

# Offsets are keys only. 06: artefacts, 18: people, 05: animals, 10: communication.
DATA = """\
  1 The licence stands here.
00000001 06 n 02 seat 0 sitting_place 0 001 ~ 00000002 n 0000 | furniture to sit on
00000002 06 n 01 chair 0 002 @ 00000001 n 0000 ~ 00000003 n 0000 | a seat for one person
00000003 06 n 02 lawn_chair 0 garden_chair 0 001 @ 00000002 n 0000 | for the garden
00000004 18 n 01 Chair 0 001 @i 00000009 n 0000 | a person
00000005 06 n 01 cardigan 0 000 | knitted jacket
00000006 05 n 01 dog 0 002 ~ 00000007 n 0000 %p 00000008 n 0000 | an animal
00000007 05 n 02 cardigan 1 corgi 0 001 @ 00000006 n 0000 | a corgi
00000008 10 n 01 seat 1 000 | a word
"""
INDEX = """\
  1 The licence stands here.
seat n 2 1 ~ 2 1 00000008 00000001
chair n 2 2 @ ~ 2 1 00000004 00000002
lawn_chair n 1 1 @ 1 0 00000003
cardigan n 2 1 @ 2 0 00000005 00000007
corgi n 1 1 @ 1 0 00000007
dog n 1 1 ~ 1 1 00000006
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.noun").write_text(DATA)
    (tmp_path / "index.noun").write_text(INDEX)
    return tmp_path


def test_hyponyms_at_any_depth(folder: Path) -> None:
    """A seat as furniture, not as a word; a chair as a thing, not as one person; a cardigan is no
    dog."""
    names = {"seat", "chair", "lawn chair", "dog", "cardigan", "corgi", "unknown"}
    assert wordnet.hyponyms(names, folder) == {
        "seat": ["chair", "lawn chair"],
        "chair": ["lawn chair"],
        "dog": ["corgi"],
    }
    assert wordnet.hyponyms({"seat", "lawn chair"}, folder) == {"seat": ["lawn chair"]}


def test_wordnet_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert wordnet.find() == folder
    assert wordnet.hyponyms({"dog", "corgi"}) == {"dog": ["corgi"]}
    with pytest.raises(UserError, match="cannot be read"):
        wordnet.hyponyms({"dog"}, folder / "none")


@pytest.mark.seconds
def test_the_real_files() -> None:
    try:
        folder = wordnet.find()
    except UserError as error:
        absent(str(error))
    hyponyms = wordnet.hyponyms(
        {"furniture", "chair", "armchair", "dog", "poodle", "cardigan", "crane"}, folder
    )
    assert hyponyms == {
        "furniture": ["armchair", "chair"],
        "chair": ["armchair"],
        "dog": ["poodle"],
    }
