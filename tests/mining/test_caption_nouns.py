"""Names from captions, with the real tagger."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from tests.modules import needed
from tests.shared_data import shared

from seesay.data.captions import CorpusSummary
from seesay.errors import UserError
from seesay.mining import caption_nouns
from seesay.mining.caption_nouns import (
    TaggedCaption,
    count_names,
    frequent_names,
    join_nouns,
    names_color,
    read_captions,
    singular,
    tag,
)
from seesay.mining.pipeline import caption_names
from seesay.progress import no_progress


def plain_captions(count: int) -> list[str]:
    """Every twentieth published caption of two files, so that both styles are there."""
    files = [shared(f"captions/multi30k.train.{i}.en.gz") for i in (1, 2)]
    return [
        text
        for file in files
        for text in islice(read_captions(f"captions:{file}"), 0, count * 10, 20)
    ]


def test_tags_equal_those_of_a_plain_loop() -> None:
    spacy = pytest.importorskip("spacy")
    texts = plain_captions(40)
    nlp = spacy.load(caption_nouns.MODEL, exclude=["ner"])  # it looks at no tag
    assert list(tag(texts)) == [
        [(t.text_with_ws, t.tag_) for t in nlp(text.lower())] for text in texts
    ]


def test_consecutive_nouns_are_one_name() -> None:
    captions = [
        "A red kitchen chair next to the tables.",
        "two women in T-shirts hold wine glasses",
    ]
    assert [join_nouns(tagged) for tagged in tag(captions)] == [
        ["kitchen chair", "table"],
        ["woman", "t-shirt", "wine glass"],
    ]


def test_only_adjacent_nouns_are_joined() -> None:
    # Hand-made tags: an adjective between two nouns parts them, a hyphen with spaces around it does
    # too.
    assert join_nouns([("dog ", "NN"), ("big ", "JJ"), ("house ", "NN")]) == ["dog", "house"]
    assert join_nouns([("fire ", "NN"), ("- ", "HYPH"), ("truck ", "NN")]) == ["fire", "truck"]
    assert join_nouns([("t", "NN"), ("-", "HYPH"), ("shirts ", "NNS"), ("42 ", "NN")]) == [
        "t-shirt"
    ]
    assert join_nouns([]) == []


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("people", "person"), ("women", "woman"), ("leaves", "leaf"), ("knives", "knife"),
        ("buses", "bus"), ("boxes", "box"), ("bunches", "bunch"), ("cookies", "cookie"),
        ("ladies", "lady"), ("glasses", "glass"), ("shoes", "shoe"), ("teeth", "tooth"),
        ("sheep", "sheep"), ("lenses", "lens"), ("s", "s"), ("vases", "vase"),
        ("dresses", "dress"), ("houses", "house"), ("matches", "match"), ("gloves", "glove"),
        ("frobnies", "frobnie"),
    ],
)  # fmt: skip
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected


def test_frequent_names_are_short_and_without_colours() -> None:
    counts = {
        "dog": 9,
        "cat": 5,
        "bird": 4,
        "blue sky": 50,
        "orange": 7,
        "old red brick wall": 8,
        "a b c": 5,
    }
    assert frequent_names(counts) == {"dog": 9, "orange": 7, "a b c": 5, "cat": 5}
    modified = ("tan dog", "silver car", "old golden retriever", "orange cone", "teal")
    things = ("ice cream", "peach", "metal pole", "blood orange", "copper pot")
    assert list(frequent_names(dict.fromkeys((*modified, *things), 5))) == sorted([*things, "teal"])
    assert frequent_names(counts, min_count=9) == {"dog": 9}
    assert frequent_names(counts, max_words=1) == {"dog": 9, "orange": 7, "cat": 5}


def test_published_names_are_kept() -> None:
    """Of ViPhy's 13,896 names the colour words drop five: four end in green, and one is pink."""
    published = json.loads(shared("viphy/data/object_names_c5.json").read_text())
    dropped = [name for name in published if names_color(name.split())]
    assert sorted(dropped) == [
        "carrot green",
        "collard green",
        "forest green",
        "golf green",
        "pink",
    ]


def shout(captions: Iterable[str]) -> Iterator[TaggedCaption]:
    """A tagger to which every word of four letters is a noun."""
    for caption in captions:
        yield [(word, "NN" if len(word) == 4 else "DT") for word in caption.split()]


def test_another_tagger_by_the_address_of_a_function() -> None:
    address = f"{shout.__module__}:{shout.__name__}"
    counts = count_names(["a gray wolf", "A gray wolf", "wolves"], tagger=address)
    assert counts == {"gray wolf": 2}
    with pytest.raises(UserError, match="There is no tagger at 'no_such_module:tag'"):
        count_names(["a dog"], tagger="no_such_module:tag")


def test_another_spacy_pipeline_by_its_folder(tmp_path: Path) -> None:
    spacy = needed("spacy")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "dog"}]], {"TAG": "NN"})
    nlp.rename_pipe("attribute_ruler", "tags")
    nlp.to_disk(tmp_path / "dogs")
    captions = ["a dog and a cat"]
    assert count_names(captions, tagger=str(tmp_path / "dogs")) == {"dog": 1}
    assert count_names(captions) == {"dog": 1, "cat": 1}
    with pytest.raises(UserError, match="spaCy has no pipeline 'xx_none'"):
        count_names(captions, tagger="xx_none")


def test_names_of_another_tagger_are_counted_anew(tmp_path: Path) -> None:
    captions = ["a gray wolf"] * 5
    ours = caption_names(iter(captions), tmp_path, 1, no_progress)
    address = f"{shout.__module__}:{shout.__name__}"
    theirs = caption_names(iter(captions), tmp_path, 1, no_progress, address)
    assert (ours, theirs) == ({"wolf": 5}, {})
    # both are kept: nothing is read again
    assert caption_names(iter(()), tmp_path, 1, no_progress) == ours


def test_repeated_captions_are_all_counted() -> None:
    assert count_names(["A dog.", "a dog.", "a cat on a dog"]) == Counter({"dog": 3, "cat": 1})
    assert count_names([]) == Counter()


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = plain_captions(40)
    whole = count_names(texts)
    reported: list[tuple[int, int]] = []
    monkeypatch.setattr(caption_nouns, "CHUNK", 15)
    assert count_names(texts, progress=lambda done, total: reported.append((done, total))) == whole
    assert reported == [(15, 15), (15, 30), (10, 40)]


@pytest.mark.slow
def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = plain_captions(120)
    whole = count_names(texts)
    reported: list[tuple[int, int]] = []
    monkeypatch.setattr(caption_nouns, "CHUNK", 37)
    assert (
        count_names(texts, processes=2, progress=lambda done, total: reported.append((done, total)))
        == whole
    )
    # in the order in which they were finished
    assert sorted(size for size, _ in reported) == [9, 37, 37, 37]
    assert reported[-1][1] == 120


def test_captions_from_text_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one dog\n\n  two dogs \n")
    with gzip.open(tmp_path / "b.gz", "wt") as file:
        file.write("12_a.jpg#0\tA girl .\n12_a.jpg#1 A child .\n")
    captions = list(read_captions(f"captions:{tmp_path / 'a.txt'},{tmp_path / 'b.gz'}"))
    assert captions == ["one dog", "two dogs", "A girl .", "A child ."]
    with pytest.raises(UserError, match="no file"):
        list(read_captions(f"captions:{tmp_path / 'none.txt'}"))


def test_unreadable_captions_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("a café\n".encode("latin-1") + b"a dog\n")
    bad: Counter[str] = Counter()
    sources: list[CorpusSummary] = []
    assert list(read_captions(f"captions:{tmp_path / 'a.txt'}", bad, sources)) == ["a dog"]
    assert bad == {"a caption could not be read, as not UTF-8 text": 1}
    assert sources == [CorpusSummary(str(tmp_path / "a.txt"), "plain text", 1, 0, 1)]


@pytest.mark.parametrize("name", ["a.txt", "a.json"])
def test_endless_caption_is_a_bad_row(tmp_path: Path, name: str) -> None:
    """spaCy raises an error at more than 1,000,000 characters, and takes long before."""
    captions = ["a cup " * 200_000, "a dog"]
    text = "\n".join(captions)
    if name.endswith("json"):
        rows = [{"image_id": 1, "caption": caption} for caption in captions]
        text = json.dumps({"annotations": rows})
    (tmp_path / name).write_text(text, encoding="utf-8")
    bad: Counter[str] = Counter()
    sources: list[CorpusSummary] = []
    counts = count_names(read_captions(f"captions:{tmp_path / name}", bad, sources))
    assert counts == {"dog": 1}
    assert bad == {"a caption could not be read, as it has more than 10,000 characters": 1}
    assert (sources[0].captions, sources[0].left_out) == (1, 1)


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"a dog\n" * 100_000)
    noise = bytearray(whole)
    noise[len(whole) // 2] ^= 255
    for content in (whole[: len(whole) // 2], bytes(noise)):
        (tmp_path / "a.gz").write_bytes(content)
        with pytest.raises(UserError, match="is damaged after line"):
            list(read_captions(f"captions:{tmp_path / 'a.gz'}"))
