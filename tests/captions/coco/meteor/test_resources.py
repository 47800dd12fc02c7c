"""WordNet, paraphrases and where they are found, with tables made for the test."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.captions.coco.meteor.pairs import matched

from seesay.captions import CaptionCorpus, load, meteor
from seesay.captions.caches import PARAPHRASES
from seesay.captions.coco.meteor.paraphrases import open_table
from seesay.captions.coco.meteor.resources import JAR, TABLE, MeteorResources
from seesay.captions.coco.meteor.wordnet import WordNet
from seesay.errors import UserError

SYNSETS = (
    "big\n001 002\nlarge\n001\nchild\n010\nkid\n010 011\nglass\n020\nglasses\n021\n"
    "man\n030\ntame\n040\ntam\n041\n"
)
EXCEPTIONS = "child\nchildren\n"
PAIRS = [
    ("a lot of", "many"),
    ("before", "in front of"),
    ("before the", "in front of the"),
    ("many", "a lot of"),
]


def _folder(path: Path, pairs: list[tuple[str, str]] | None = PAIRS) -> Path:
    members = {
        "function/english.words": "the\na\nof\n",
        "nonbreaking/english.prefixes": "Mr\n",
        "synonym/english.synsets": SYNSETS,
        "synonym/english.exceptions": EXCEPTIONS,
    }
    path.mkdir(exist_ok=True)
    with zipfile.ZipFile(path / JAR, "w") as jar:
        for name, text in members.items():
            jar.writestr(name, text)
    if pairs is not None:
        with gzip.open(path / TABLE, "wt", encoding="utf-8") as file:
            file.write("".join(f"0.5\n{a}\n{b}\n" for a, b in pairs))
    return path


@pytest.fixture
def resources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MeteorResources:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    return load(_folder(tmp_path / "meteor"))


def test_synonyms_by_form_and_lemma() -> None:
    wordnet = WordNet(SYNSETS, EXCEPTIONS)
    related = wordnet.synonyms(
        ["big", "larger", "large", "kids", "children", "tamed", "tam", "the"]
    )
    assert related["big"] == {"large", "larger"}
    assert related["kids"] == {"children"}
    assert "tam" not in related, "-ed gives `tame`, and then no other lemma is tried"
    assert "the" not in related
    assert wordnet.synsets("glasses") == {"020", "021"}
    assert wordnet.synsets("men") == {"030"}


def test_paraphrases_in_both_directions(resources: MeteorResources) -> None:
    hypothesis, reference = (
        ["in", "front", "of", "the", "many"],
        ["before", "the", "a", "lot", "of"],
    )
    rows = matched(resources, hypothesis, reference)
    assert rows[0] == [(0, 1, 0, 3, 3), (0, 2, 0, 4, 3)]
    assert rows[1] == [(1, 1, 3, 1, 0)]
    assert rows[2] == [(2, 3, 4, 1, 3), (2, 3, 4, 1, 3)], "once for each direction of the table"


def test_a_prepared_table_is_opened_not_made_again(
    resources: MeteorResources, tmp_path: Path
) -> None:
    assert resources.paraphrases is not None
    prepared = list((tmp_path / "cache").iterdir())
    assert len(prepared) == 1
    stamp = prepared[0].stat().st_mtime_ns
    messages: list[str] = []
    again = load(tmp_path / "meteor", messages.append)
    assert again.paraphrases is not None
    assert isinstance(again.paraphrases.keys, np.memmap)
    assert prepared[0].stat().st_mtime_ns == stamp
    assert not messages


def test_a_damaged_cache_says_what_to_do(resources: MeteorResources, tmp_path: Path) -> None:
    (prepared,) = PARAPHRASES.folder.iterdir()
    (prepared / "keys.npy").write_bytes(b"rubbish")
    with pytest.raises(UserError, match="delete that folder"):
        load(tmp_path / "meteor")


@pytest.mark.parametrize("text", ["", "0.5\na\n", "x\na\nb\n", "0.5\na\nb\n0.5\nc\n"])
def test_invalid_table_is_refused(tmp_path: Path, text: str) -> None:
    with gzip.open(tmp_path / TABLE, "wt") as file:
        file.write(text)
    with pytest.raises(UserError, match="paraphrase table"):
        open_table(tmp_path / TABLE, tmp_path / "cache")
    assert not (tmp_path / "cache").exists() or not list((tmp_path / "cache").iterdir())


def test_a_table_that_is_not_gzipped_is_refused(tmp_path: Path) -> None:
    (tmp_path / TABLE).write_bytes(b"\x1f\x8b rubbish")
    with pytest.raises(UserError, match="gzipped"):
        open_table(tmp_path / TABLE, tmp_path / "cache")


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    corpus = CaptionCorpus(["a big dog"], [["the large dog"]])
    bare = meteor(corpus, load())
    assert bare.name == "METEOR(ex_st)"
    words = meteor(corpus, load(_folder(tmp_path / "m", None)))
    assert words.name == "METEOR(ex_st_sy)"
    assert words.value > bare.value
    monkeypatch.setenv("SEESAY_METEOR", str(_folder(tmp_path / "n")))
    assert meteor(corpus, load()).name == "METEOR"


def test_invalid_folders_and_jars_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(UserError, match=f"There is no {JAR}"):
        load(tmp_path)
    (tmp_path / JAR).write_bytes(b"not a zip")
    with pytest.raises(UserError, match="cannot be read as the METEOR"):
        load(tmp_path)
    with zipfile.ZipFile(tmp_path / JAR, "w") as jar:
        jar.writestr("other", "x")
    with pytest.raises(UserError, match="is not the METEOR"):
        load(tmp_path)
