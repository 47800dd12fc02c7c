"""Reading captions, and holding pictures out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.data.captions import Caption, Corpus
from seesay.errors import UserError
from seesay.language.training.captions import join_phrases, read_captions, split
from seesay.questions import BadRow


def read(path: Path) -> list[Caption]:
    with Corpus(path) as corpus:
        return list(read_captions(corpus))


def test_flickr_lines_name_their_picture(tmp_path: Path) -> None:
    path = tmp_path / "token.txt.gz"
    # Flickr8k's first line has a space
    path.write_bytes(gzip.compress(b"a.jpg#0\tA dog .\na.jpg#1 Two dogs .\n\n"))
    assert read(path) == [Caption("A dog .", "a.jpg", 1), Caption("Two dogs .", "a.jpg", 2)]


def test_lines_of_parallel_files_name_one_picture(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"multi30k.train.{number}.en").write_text(
            f"dog {number}\ncat {number}\n", encoding="utf-8"
        )
    first, second = (read(tmp_path / f"multi30k.train.{number}.en") for number in (1, 2))
    assert [row.picture for row in first] == [row.picture for row in second]
    assert len({row.picture for row in first}) == 2


def test_bad_lines_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.write_bytes(b"\xef\xbb\xbfA dog.\n\xff\xfe\n" + b"x" * 10_000_000 + b"\n12 !\nA cat.")
    captions = split([path], held_out=0)
    assert captions.bad_rows == [
        (str(path), BadRow(2, "not UTF-8 text")),
        (str(path), BadRow(3, "longer than 65,536 bytes")),
        (str(path), BadRow(4, "without a single letter")),
    ]
    assert captions.train == ["A dog.", "A cat."]
    assert [(source.captions, source.left_out) for source in captions.sources] == [(2, 3)]


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"empty.txt holds no caption"):
        split([tmp_path / "empty.txt"])
    with pytest.raises(UserError, match="There is no file"):
        split([tmp_path / "absent.txt"])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"A dog.\n" * 1000)[:-10])
    with pytest.raises(UserError, match="damaged"):
        split([tmp_path / "cut.gz"])


def test_some_published_captions_are_held_out() -> None:
    folder = shared("captions")
    paths = [folder / "multi30k.val.1.en.gz", folder / "multi30k.train.1.en.gz"]
    parts = split(paths)
    lines = 30_014  # 1,014 and 29,000 (Elliott et al. 2016)
    assert not parts.bad_rows
    assert 0.09 < len(parts.held_out) / lines < 0.11
    assert len(parts.train) + len(parts.held_out) + parts.repeated == lines
    learnt = {text.lower() for text in parts.train}
    assert not any(text.lower() in learnt for text in parts.held_out)
    assert parts.fingerprint != split(paths[:1]).fingerprint


def test_the_same_picture_under_two_names_is_on_one_side(tmp_path: Path) -> None:
    """As Flickr8k's pictures stand in Multi30k: same captions, other punctuation and case, other
    names."""
    numbers = range(1000)
    flickr, parallel = tmp_path / "flickr.txt", [tmp_path / f"m.{i}.en" for i in range(3)]
    flickr.write_text(
        "".join(f"{n}.jpg#{i}\tPicture {n} said {i} times .\n" for n in numbers for i in range(3)),
        encoding="utf-8",
    )
    for i, path in enumerate(parallel):
        path.write_text(
            "".join(f"picture {n}, said {i} times\n" for n in numbers), encoding="utf-8"
        )
    parts = split([flickr, *parallel], held_out=0.2)
    sides = [
        {text.split()[1].strip(",") for text in part} for part in (parts.train, parts.held_out)
    ]
    assert not sides[0] & sides[1]
    assert len(sides[1]) == pytest.approx(200, abs=50)  # four standard deviations


def test_a_held_out_caption_that_is_learnt_from_is_counted(tmp_path: Path) -> None:
    """Every picture has a caption of its own and one that all share: held out, the shared one is
    left out."""
    path = tmp_path / "captions.txt"
    path.write_text(
        "".join(f"{n}.jpg#0\tthing {n}\n{n}.jpg#1\tA dog .\n" for n in range(100)), encoding="utf-8"
    )
    parts = split([path], held_out=0.3)
    assert parts.repeated == len(parts.held_out) > 10
    assert len(parts.train) + len(parts.held_out) + parts.repeated == 200


@pytest.mark.slow
def test_the_published_captions_split_by_picture() -> None:
    """All 190,530 lines."""
    paths = sorted(shared("captions").glob("*.gz"))
    parts = split(paths)
    assert not parts.bad_rows
    assert 0.09 < len(parts.held_out) / 190_530 < 0.11
    # some are word for word in train
    assert 190_530 - 500 < len(parts.train) + len(parts.held_out) <= 190_530
    learnt = {text.lower() for text in parts.train}
    assert not any(text.lower() in learnt for text in parts.held_out)
    assert parts.fingerprint == split(paths).fingerprint != split(paths, seed=1).fingerprint


@given(
    st.lists(
        st.sampled_from(
            ["a man on top of a hill", "on top of", "On Top Of it", "stop offers", "top of"]
        )
    )
)
def test_joining_phrases_keeps_every_letter(texts: list[str]) -> None:
    joined = list(join_phrases(texts, ["on", "top of", "on top of"]))
    assert [text.replace("_", " ") for text in joined] == texts
    assert all(
        ("on_top_of" in new.lower()) == ("on top of" in old.lower())
        for old, new in zip(texts, joined, strict=True)
    )


def test_a_word_is_not_joined_within_another() -> None:
    assert list(join_phrases(["stop offers; on top of"], ["top of", "on top of"])) == [
        "stop offers; on_top_of"
    ]


def test_corpora_about_the_same_pictures_are_held_out_together(tmp_path: Path) -> None:
    """Questions of VQA are about COCO's pictures: none whose captions are trained on is held
    out."""
    captions = [{"image_id": n, "caption": f"caption of {n}"} for n in range(400)]
    (tmp_path / "captions.json").write_text(json.dumps({"annotations": captions}))
    questions = [
        {"image_id": n, "question": f"which is it? {n}", "question_id": n} for n in range(400)
    ]
    (tmp_path / "OpenEnded_questions.json").write_text(json.dumps({"questions": questions}))
    answers = [
        {"question_id": n, "multiple_choice_answer": "that", "answers": []} for n in range(400)
    ]
    (tmp_path / "annotations.json").write_text(json.dumps({"annotations": answers}))
    parts = split(sorted(tmp_path.glob("*.json")), held_out=0.25)
    sides = [
        {int("".join(filter(str.isdigit, text))) for text in part}
        for part in (parts.train, parts.held_out)
    ]
    assert not sides[0] & sides[1]
    assert len(parts.train) + len(parts.held_out) == 800
    assert sorted(source.form for source in parts.sources) == [
        "COCO captions",
        "VQA questions with answers",
    ]
