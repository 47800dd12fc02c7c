"""Files that were made to break their readers: bad rows, reported, or one sentence; never a crash,
nor gigabytes."""

from __future__ import annotations

import gc
import gzip
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from tests.memory import run_and_measure
from tests.shared_data import shared

from seesay.captions import pairs
from seesay.captions.coco.meteor.paraphrases import open_table
from seesay.captions.coco.tokenize import tokenize
from seesay.captions.parses.trees import DEEPEST_TREE, MOST_BRACKETS, read_trees
from seesay.data import lines, pictures
from seesay.data.captions.corpus import Corpus
from seesay.data.json_stream import MAX_ENTRY, DuplicateKeys, parse_json
from seesay.data.rows import every_row, read_rows
from seesay.errors import UserError
from seesay.language.relations.vectors import read_vectors
from seesay.language.words.arpa import read_arpa
from seesay.mining.readers import read
from seesay.mining.readers.validation import MAX_CAPTION
from seesay.mining.records import BadAnnotation, Picture, to_batch
from seesay.mining.visual_features import PIXELS, VisualFeatureExtractor
from seesay.models.pictures import open_picture
from seesay.questions import BadRow
from seesay.scenes import annotation


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e400",
        '["\\ud800"]',
        '{"\\udfff": 1}',
        "[" * 100_000,
        "9" * 5000,
        "{",
    ],
)
def test_json_that_should_not_be_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_json(text)
    with pytest.raises(ValueError, match=r".+"):
        parse_json(text.encode())


def test_half_a_surrogate_pair_in_bytes_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="can't decode"):
        parse_json(b'["\xed\xa0\x80"]')
    assert parse_json(b'\xef\xbb\xbf["\xf0\x9f\x8d\x8b"]') == ["🍋"]


def test_a_key_that_is_there_twice_is_noticed_and_pairs_of_surrogates_are_read() -> None:
    assert parse_json(r'{"a": ["\ud83c\udf4b", 1.5, -2]}') == {"a": ["🍋", 1.5, -2]}
    twice = parse_json('{"a": 1, "b": 2, "a": 3}')
    assert isinstance(twice, DuplicateKeys)
    assert twice == {"a": 1, "b": 2}


def row(**fields: object) -> dict[str, object]:
    return {
        "id": "1",
        "width": 10,
        "height": 10,
        "regions": [{"name": "cup", "box": [0, 0, 5, 5]}],
        **fields,
    }


def annotated(tmp_path: Path, *rows: object) -> tuple[list[Picture], list[str]]:
    """What is read of JSON lines: pictures, and the reasons for what was left out."""
    path = tmp_path / "plain.jsonl"
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in rows)
    )
    items = list(read(f"plain:{path}"))
    return (
        [item for item in items if isinstance(item, Picture)],
        [item.kind for item in items if isinstance(item, BadAnnotation)],
    )


def test_half_a_surrogate_pair_costs_its_row_only(tmp_path: Path) -> None:
    usable, bad = annotated(
        tmp_path, *(row(**{key: "\ud800"}) for key in ("id", "scene", "path")), row(id="4")
    )
    assert [picture.id for picture in usable] == ["4"]
    assert bad == ["holds half of a surrogate pair"] * 3
    images = [{"id": 1, "file_name": "\ud800.jpg", "width": 9, "height": 9}]
    coco: dict[str, object] = {"images": images, "annotations": [], "categories": []}
    captions = {
        "images": images,
        "annotations": [{"id": 1, "image_id": 1, "caption": "a \ud800 cup"}],
    }
    for name, document in (("instances", coco), ("captions", captions)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    items = list(read(f"coco:{tmp_path / 'instances.json'},{tmp_path / 'captions.json'}"))
    assert [item.kind for item in items if isinstance(item, BadAnnotation)] == [
        "the caption is not a text, or empty"
    ]
    assert [item.captions for item in items if isinstance(item, Picture)] == [()]


def test_half_a_surrogate_pair_in_captions_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "captions.json"
    path.write_text(
        json.dumps([{"image_id": 1, "caption": "a \ud800"}, {"image_id": 2, "caption": "a cup"}])
    )
    captions = pairs.read_captions(path)
    assert (captions.texts, captions.bad) == (
        {"2": ["a cup"]},
        [BadRow(1, "holds half of a surrogate pair")],
    )
    with Corpus(path) as corpus:
        assert [caption.text for caption in corpus.read()] == ["a cup"]
    assert corpus.bad_rows == [BadRow(1, "holds half of a surrogate pair")]


def test_loops_of_links_and_long_names_are_bad_rows(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    names = ("loop", "loop/x.jpg", "x" * 300, f"/{'y' * 300}", "a/" * 3000, "../../etc/passwd")
    usable, bad = annotated(
        tmp_path,
        *(row(id=str(i), path=name) for i, name in enumerate(names)),
        row(depth="z" * 300),
        row(id="good"),
    )
    assert [picture.id for picture in usable] == ["good"]
    assert len(bad) == len(names) + 1


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["[[]],", "{},", '{"":0},'])
def test_the_longest_line_takes_less_than_a_gigabyte(tmp_path: Path, unit: str) -> None:
    """Brackets take the most memory; a line of any length took 4 GB."""
    path = tmp_path / "plain.jsonl"
    longest = (
        f'{{"id": "1", "width": 5, "height": 5, "x": [{unit * ((MAX_ENTRY - 100) // len(unit))}0]}}'
    )
    path.write_text("\n".join([longest, "[" * (MAX_ENTRY + 5), json.dumps(row(id="3"))]))
    code = (
        "import sys; from seesay.mining.readers import read\n"
        "print(*(getattr(item, 'id', 'bad') for item in read(f'plain:{sys.argv[1]}')))"
    )
    ids, peak = run_and_measure(code, str(path))
    assert ids == "1 bad 3"
    assert peak < 1 << 30  # 667 MiB were measured


def test_captions_too_long_to_tag_are_bad_rows(tmp_path: Path) -> None:
    (picture,), bad = annotated(tmp_path, row(captions=["x" * (MAX_CAPTION + 1), "a cup"]))
    assert picture.captions == ("a cup",)
    assert bad == [f"the caption has more than {MAX_CAPTION:,} characters"]


@pytest.mark.seconds
@pytest.mark.parametrize(
    "content", [b"a\n", b"a", b'{"image_id": 1, "caption": "a"}\n', b"[[],", b'[{"a": 1}, ']
)
def test_a_gzip_bomb_is_one_sentence(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_UNZIPPED", 1 << 20)
    path = tmp_path / "captions.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(200):
            file.write(content * (1 << 14))
    with pytest.raises(
        UserError, match=r"holds more than [0-9,]+ bytes|is not JSON|holds no caption"
    ):
        pairs.read_captions(path)
    with (
        pytest.raises(UserError, match=r"holds more than [0-9,]+ bytes|it is not JSON|is damaged"),
        Corpus(path) as corpus,
    ):
        for _ in corpus.read():
            pass


def test_honest_gzip_files_may_be_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty times the file's own length is allowed, whatever the limit."""
    monkeypatch.setattr(lines, "MOST_UNZIPPED", 1000)
    path = tmp_path / "captions.gz"
    texts = [f"a picture of {number * 7919 % 10007} things" for number in range(2000)]
    path.write_bytes(gzip.compress("\n".join(texts).encode()))
    assert len(pairs.read_captions(path).texts) == 2000


def test_too_many_rows_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_ROWS", 10)
    for content in ("a\n" * 11, json.dumps([{"image_id": i, "caption": "a"} for i in range(11)])):
        (tmp_path / "captions").write_text(content)
        with pytest.raises(UserError, match="has more than 10"):
            pairs.read_captions(tmp_path / "captions")


def test_duplicate_keys_of_captions_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "captions.json"
    path.write_text('{"1": ["a cup", "a mug"], "2": "a bus", "1": ["a dog"]}')
    captions = pairs.read_captions(path)
    assert captions.texts == {"1": ["a cup", "a mug"], "2": ["a bus"]}
    assert [bad.reason for bad in captions.bad] == ["the key '1' occurs twice: the first is kept"]
    twice = '{"image_id": 1, "caption": "a cup", "caption": "a dog"}'
    for content in (
        f'[{twice}, {{"image_id": 2, "caption": "a bus"}}]',
        f'{twice}\n{{"image_id": 2, "caption": "a bus"}}\n',
    ):
        path.write_text(content)
        captions = pairs.read_captions(path)
        assert captions.texts == {"2": ["a bus"]}
        assert captions.bad == [BadRow(1, "a key occurs twice")]


@pytest.mark.parametrize("name", ["state.json", "dataset_dict.json"])
@pytest.mark.parametrize(
    "content",
    ["[]", "{", "[" * 100_000, '{"_data_files": [{"filename": "../x"}], "splits": [".."]}'],
)
def test_a_data_set_names_its_own_files_only(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / "x").write_text("secret")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_text(content)
    with pytest.raises(UserError, match=rf"{name} is damaged"), Corpus(tmp_path / "set"):
        pass


def test_seventy_kilobytes_of_quotes(tmp_path: Path) -> None:
    start = time.process_time()
    assert tokenize('"' * 70_000) == ""
    assert time.process_time() - start < 5  # it took 21 s
    (tmp_path / "captions.txt").write_text('"' * 60_000 + "\na cup\n")
    captions = pairs.read_captions(tmp_path / "captions.txt")
    assert captions.texts == {"2": ["a cup"]}
    assert len(captions.bad) == 1


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ("(S " * 20_000 + "(A b)" + ")" * 20_000, f"nested more than {DEEPEST_TREE:,} deep"),
        (
            "(S " + "(NP (A b))" * (MOST_BRACKETS + 1) + ")",
            f"more than {MOST_BRACKETS:,} constituents",
        ),
    ],
)
def test_a_tree_without_end_is_a_bad_row(tmp_path: Path, tree: str, reason: str) -> None:
    (tmp_path / "trees").write_text(f"{tree}\n(S (A b))\n")
    (_, bad), (_, good) = read_trees(tmp_path / "trees")
    assert bad == BadRow(1, reason)
    assert not isinstance(good, BadRow)


ARPA = (
    "\\data\\\nngram 1={count}\n\n\\{order}-grams:\n-0.5\t</s>\t{backoff}\n-1\tcup\n{more}\n"
    "\\end\\\n"
)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"count": "2" * 5000}, "no .data. section"),
        ({"order": "1" * 5000}, "ends too early or is damaged"),
        ({"backoff": "1e400"}, "line 5: not an n-gram"),
        ({"backoff": "nan"}, "line 5: not an n-gram"),
        ({"more": "-2\tcup", "count": "3"}, "line 7: the n-gram 'cup' occurs twice"),
    ],
)
def test_hostile_arpa_files_are_one_sentence(
    tmp_path: Path, fields: dict[str, str], message: str
) -> None:
    path = tmp_path / "model.arpa"
    good = {"count": "2", "order": "1", "backoff": "-0.25", "more": ""}
    path.write_text(ARPA.format(**good))
    assert read_arpa(path).order == 1
    path.write_text(ARPA.format(**good | fields))
    with pytest.raises(UserError, match=message):
        read_arpa(path)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.bin"])
@pytest.mark.parametrize("header", ["9" * 5000 + " 3", "2 " + "9" * 5000, "2 999999999", "² 3"])
def test_a_header_of_word_vectors_without_end_is_one_sentence(
    tmp_path: Path, name: str, header: str
) -> None:
    (tmp_path / name).write_text(f"{header}\ncup 0.1 0.2 0.3\n")
    with pytest.raises(UserError, match=r"word vector|vector for none"):
        read_vectors(tmp_path / name, ["cup"])


SQUARE = {
    "shape": "square",
    "color": "red",
    "radius": "20",
    "rr": "100",
    "cc": "100",
    "size": "big",
}


def scenes(tmp_path: Path, **by_key: str) -> tuple[list[annotation.AnnotatedScene], list[BadRow]]:
    path = tmp_path / "annotation.json"
    path.write_text(
        json.dumps(
            {key: [{"image_url": url}, {"objects": [SQUARE]}] for key, url in by_key.items()}
        )
    )
    return annotation.read(path)


def test_scene_keys_that_look_like_numbers(tmp_path: Path) -> None:
    endless = "8" * 5000
    usable, bad = scenes(
        tmp_path, **{"10": "10.png", "²": "2.png", "9": "9.png", "٣": "3.png", endless: "x.png"}
    )
    assert [scene.index for scene in usable] == ["٣", "9", "10", endless, "²"]
    assert bad == []


@pytest.mark.parametrize(
    "url", ["../secret.png", "/etc/passwd", "a/../../b.png", "x\0.png", "..\\b.png", ""]
)
def test_a_scene_names_no_picture_outside_its_folder(tmp_path: Path, url: str) -> None:
    usable, bad = scenes(tmp_path, **{"1": url, "2": "images/2.png"})
    assert [scene.image for scene in usable] == ["images/2.png"]
    assert "leads out of its folder" in bad[0].reason


def test_a_number_that_overflows_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "annotation.json").write_text('{"1": 1e400}')
    with pytest.raises(UserError, match="the number 1e400 is too large"):
        annotation.read(tmp_path / "annotation.json")


@pytest.mark.seconds
def test_pictures_are_opened_one_at_a_time_and_not_beyond_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        Image.fromarray(np.full((20, 30, 3), 200, np.uint8)).save(tmp_path / f"{number}.png")
    usable, bad = annotated(
        tmp_path, *(row(id=str(i), width=30, height=20, path=f"{i}.png") for i in range(3))
    )
    assert (len(usable), bad) == (3, [])
    alive: list[int] = []
    opened = pictures.open_rgb

    def counted(path: str) -> Image.Image:
        alive.append(
            sum(
                isinstance(each, Image.Image) and each.size == (30, 20) for each in gc.get_objects()
            )
        )
        return opened(path)

    monkeypatch.setattr("seesay.mining.visual_features.open_rgb", counted)
    table = pa.Table.from_batches([to_batch(usable)])
    _, colors, counts = VisualFeatureExtractor(colors=PIXELS)(table)
    assert colors == [[("white",)]] * 3
    assert not counts
    assert max(alive) <= 1  # the one before, at most, is not yet freed
    monkeypatch.setattr(pictures, "MOST_PIXELS", 599)
    _, bad = annotated(tmp_path, row(width=30, height=20, path="0.png"))
    assert bad == ["the picture file has too many pixels"]
    with pytest.raises(UserError, match=r"cannot be opened as a picture \(TooManyPixelsError"):
        open_picture(str(tmp_path / "0.png"), "a model")


def _read_corpus(path: Path) -> None:
    with Corpus(path) as corpus:
        for _ in corpus.read():
            pass


def _read_paraphrases(path: Path) -> None:
    open_table(path, path.with_name("cache"))


GZIP_READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "lines": ("x.txt.gz", lambda path: list(lines.read_lines(path))),
    "table": ("x.csv.gz", lambda path: list(read_rows(path))),
    "json lines": ("x.jsonl.gz", lambda path: [*every_row(path, read_rows(path))]),
    "corpus": ("x.txt.gz", _read_corpus),
    "captions": ("x.txt.gz", pairs.read_captions),
    "arpa": ("x.arpa.gz", read_arpa),
    "word vectors": ("x.txt.gz", lambda path: read_vectors(path, ("above",))),
    "paraphrases": ("x.gz", _read_paraphrases),
}


def _tabular(kind: str) -> bytes:
    """Honest at first sight: every line has a number of its own, and shrinks to a twentieth."""
    chance = random.Random(0)
    wide = {"csv": b"," * 400, "lines": b"\n" * 400, "json": b'{"a":[' + b"[]," * 130 + b"0]}"}[
        kind
    ]
    return b"\n".join(b"%d " % chance.randrange(10**9) + wide for _ in range(2000))


@pytest.mark.parametrize("kind", ["csv", "lines", "json"])
@pytest.mark.parametrize("reader", GZIP_READERS)
def test_every_reader_bounds_what_a_gzip_file_unpacks_to(
    tmp_path: Path, kind: str, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty times a file of megabytes took a minute and more."""
    monkeypatch.setattr(lines, "MOST_UNZIPPED", 1000)
    monkeypatch.setattr(lines, "MOST_UNZIPPED_LINES", 1000)
    name, read = GZIP_READERS[reader]
    path = tmp_path / name
    content = _tabular(kind)
    path.write_bytes(gzip.compress(content))
    assert len(content) > 1.2 * lines.MOST_GROWTH * path.stat().st_size
    with pytest.raises(UserError) as raised:
        read(path)
    # what is no file of the reader's kind at all may be refused for that, and sooner
    assert "Traceback" not in str(raised.value)
    if reader in ("lines", "corpus", "captions") and kind != "json":
        assert re.search(r"more than [0-9,]+ (bytes|lines)", str(raised.value))


def test_published_captions_are_no_bombs() -> None:
    """Flickr8k and Multi30k shrink to a quarter."""
    for path in sorted(shared("captions").glob("*.gz")):
        with Corpus(path) as corpus:
            assert sum(1 for _ in corpus.read()) >= 1000
