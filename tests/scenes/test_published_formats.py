"""Files: published ones are read whole, ours have the published layout, and every format tells the
same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.modules import needed
from tests.needs import absent
from tests.scenes.published import EXAMPLES
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.scenes import published
from seesay.scenes.annotation import entry, parse, read
from seesay.scenes.config import SceneConfig, design_cells
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan
from seesay.scenes.sampling import draw

SETS = ("sup1", "pos1", "pos", "set-pos", "pos-hard", "set-pos-hard", "set-pos-compositional")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set in every format."""
    try:
        published.require_h5py()
    except UserError as error:
        absent(str(error))
    folder = tmp_path_factory.mktemp("scenes") / "set-pos"
    write_dataset(
        SceneConfig("set+pos", seed=5),
        make_plan("set+pos", 100),
        SceneOutput(folder, picture=256, array=32),
        workers=1,
    )
    return folder


def test_every_published_dataset_file_is_read() -> None:
    read_all = {}
    for name in SETS:
        for path in sorted(shared(f"malevic/{name}/dataset").glob("*.json")):
            if path.name != "vocab.json":
                questions, bad = published.read_questions(path)
                assert not bad
                assert [one.index for one in questions] == list(range(len(questions)))
                read_all[f"{name}/{path.stem}"] = len(questions)
    assert sum(read_all.values()) == 23_000
    assert len(read_all) == 13


@pytest.mark.parametrize("task", EXAMPLES)
def test_published_captions_are_those_of_the_annotation(task: str) -> None:
    folder = shared(f"malevic/examples/{EXAMPLES[task]}")
    records, bad = published.read_captions(folder / "captions.txt")
    known = [scene for file in folder.glob("annotations_*.json") for scene in read(file)[0]]
    assert not bad
    assert sorted(records) == sorted(
        (scene.image, *pair) for scene in known for pair in scene.captions
    )


def test_unreadable_captions_are_reported(tmp_path: Path) -> None:
    pair = [{"caption_true": "a"}, {"caption_false": "b"}]
    file = tmp_path / "captions.txt"
    file.write_text(
        f"image_name\tcaptions\n0.png\t{pair}\n1.png\t__import__('os')\n../2.png\t{pair}\n"
        f"3.png\t{'(' * 5000}\n"
    )
    records, bad = published.read_captions(file)
    assert records == [("0.png", "a", "b")]
    assert [row.row for row in bad] == [2, 3, 4]


@pytest.mark.parametrize("name", ["sup1", "pos1", "pos", "set-pos"])
def test_published_h5_round_trip(name: str) -> None:
    h5 = needed("h5py")
    folder = shared(f"malevic/{name}/dataset")
    records = json.loads((folder / "test.json").read_text())["questions"]
    vocab = json.loads((folder / "vocab.json").read_text())
    assert published.vocabulary(one["question"] for one in records) == vocab
    ours = published.arrays(
        records, vocab, max(len(row["question"].split()) for row in records) + 2
    )
    with h5.File(folder / "test_questions.h5") as file:
        assert set(file) == set(ours)
        for key, values in ours.items():
            assert values.dtype == file[key].dtype
            assert np.array_equal(values, file[key][:])
    questions, _ = published.read_questions(folder / "test.json")
    records = published.read_h5(folder / "test_questions.h5", folder / "vocab.json")
    assert records == [(one.index, one.question, one.answer) for one in questions]


def test_written_dataset_json_has_the_published_keys(made: Path) -> None:
    theirs = json.loads(shared("malevic/set-pos/dataset/test.json").read_text())
    ours = json.loads((made / "dataset" / "test.json").read_text())
    assert set(ours) == set(theirs)
    assert {key: type(value) for key, value in ours["questions"][0].items()} == {
        key: type(value) for key, value in theirs["questions"][0].items()
    }
    annotated = json.loads((made / "annotation" / "test_annotation.json").read_text())
    assert list(annotated) == [str(i) for i in range(10)]


def test_all_formats_agree(made: Path) -> None:
    datasets = needed("datasets")
    loaded = datasets.load_dataset(str(made), cache_dir=str(made.parent / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {
        "train": 80,
        "val": 10,
        "test": 10,
    }
    for split, rows in loaded.items():
        questions, _ = published.read_questions(made / "dataset" / f"{split}.json")
        scenes, bad = read(made / "annotation" / f"{split}_annotation.json")
        records = published.read_h5(
            made / "dataset" / f"{split}_questions.h5", made / "dataset" / "vocab.json"
        )
        assert not bad
        assert rows.features["label"].names == ["no", "yes"]
        arrays = np.load(made / "arrays" / f"{split}.npy", mmap_mode="r")
        for row, one, scene, (index, sentence, answer) in zip(
            rows, questions, scenes, records, strict=True
        ):
            assert (row["sentence"], row["label"], row["index"]) == (
                one.question,
                int(one.answer),
                one.index,
            )
            assert (index, sentence, answer) == (one.index, one.question, one.answer)
            assert parse(scene.index, json.loads(row["annotation"])) == scene
            assert np.array_equal(
                np.asarray(row["image"]), _picture(made / "images" / split / one.image)
            )
            assert one.question in [text for pair in scene.captions for text in pair]
            assert (one.question in [true for true, _ in scene.captions]) == one.answer
        from seesay.scenes.raster import rgb

        assert all(
            np.array_equal(rgb(scene.scene, 32), array)
            for scene, array in zip(scenes, arrays, strict=True)
        )
        assert all(
            np.array_equal(rgb(s.scene, 256), _picture(made / "images" / split / s.image))
            for s in scenes
        )


def _picture(path: Path) -> NDArray[np.uint8]:
    image = needed("PIL.Image")
    return np.asarray(image.open(path).convert("RGB"))


def test_card(made: Path) -> None:
    card = (made / "README.md").read_text()
    assert "path: data/train.parquet" in card
    assert "Pezzelle" in card


@given(
    st.sampled_from(("sup1", "pos", "set+pos-hard")),
    st.integers(0, 10**6),
    st.sampled_from(("big", "tall", "wide", "bright")),
)
@settings(max_examples=30, deadline=None)
def test_annotation_round_trip(task: str, index: int, adjective: str) -> None:
    config = SceneConfig(task, adjective=adjective)
    scene = draw(config, design_cells()[index % 80], config.generator(0, index)).scene
    back = parse("7", json.loads(json.dumps(entry(config, scene, "7.png"))))
    assert back.scene.objects == scene.objects
    assert back.image == "7.png"
    assert back.scene.k == (None if scene.k is None else pytest.approx(scene.k, abs=5e-5))


GOOD = {
    "rr": "500",
    "cc": "500",
    "radius": "60",
    "shape": "square",
    "color": "red",
    "area": "14400",
    "size": "big",
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"radius": "x"},
        {"radius": "-3"},
        {"radius": "99999999999"},
        {"shape": "hexagon"},
        {"color": "mauve"},
        {"rr": "nan"},
        {"rr": "5"},
        {"cc": "1e400"},
        {"area": "1"},
        {"turn": "7"},
        {"level": "0"},
        {"k": "nan"},
        {"k": "0.3", "prob": "high", "thresh_dist": "0.1", "vagueness": "same"},
    ],
)
def test_bad_objects_are_reported_row_by_row(tmp_path: Path, wrong: dict[str, str]) -> None:
    file = tmp_path / "a.json"
    about = {"image_url": "0.png"}
    good, bad = [about, {"objects": [GOOD]}], [about, {"objects": [{**GOOD, **wrong}]}]
    file.write_text(json.dumps({"0": good, "1": bad}))
    scenes, rows = read(file)
    assert [scene.index for scene in scenes] == ["0"]
    assert [row.row for row in rows] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"0": []}',
        '{"0": [{}, {"objects": 3}]}',
        "[" * 10000,
        '{"0": "x"}',
        "\x00\xff",
    ],
)
def test_files_without_annotation_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(UserError):
        read(file)
    with pytest.raises(UserError):
        published.read_questions(file)
    with pytest.raises(UserError, match="no file"):
        read(tmp_path / "none.json")


def test_questions_that_cannot_be_used_are_reported(tmp_path: Path) -> None:
    good = {
        "question": "The red square is a big object",
        "answer": "yes",
        "image_filename": "0.png",
        "image_index": 0,
    }
    rows = [
        good,
        {**good, "answer": "perhaps"},
        {**good, "image_filename": "../../etc/passwd"},
        7,
        {},
    ]
    file = tmp_path / "test.json"
    file.write_text(json.dumps({"questions": rows}))
    questions, bad = published.read_questions(file)
    assert len(questions) == 1
    assert [row.row for row in bad] == [1, 2, 3, 4]


def test_malformed_h5_is_refused(tmp_path: Path) -> None:
    needed("h5py")
    (tmp_path / "q.h5").write_bytes(b"\x89HDF rubbish")
    (tmp_path / "vocab.json").write_text(json.dumps(published.vocabulary(["a b"])))
    with pytest.raises(UserError, match="is not a questions file"):
        published.read_h5(tmp_path / "q.h5", tmp_path / "vocab.json")
