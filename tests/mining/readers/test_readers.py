"""Readers: valid annotations are read, bad ones are listed, and no input makes a reader fail."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.mining import fingerprints
from seesay.mining.readers import READERS, AnnotationReader, read, to_parquet
from seesay.mining.records import BadAnnotation, Picture, Region, from_batch

NAN = float("nan")


def split(spec: str, images: Path | None = None) -> tuple[list[Picture], list[BadAnnotation]]:
    items = list(read(spec, images))
    return [f for f in items if isinstance(f, Picture)], [
        f for f in items if isinstance(f, BadAnnotation)
    ]


def split_parts(spec: str, folder: Path) -> tuple[list[Picture], list[dict[str, str]]]:
    """The pictures of the parts of an annotation, among which none is twice, and the bad rows."""
    parts, _ = to_parquet(spec, folder)
    bad = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    return [picture for part in parts for picture in from_batch(pq.read_table(part))], bad


def genome(folder: Path, images: Any, objects: Any = (), regions: Any = ()) -> str:
    for name, content in (
        ("image_data", images),
        ("objects", objects),
        ("region_descriptions", regions),
    ):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text)
    return f"visual-genome:{folder}"


def an_object(name: Any = "chair", box: Any = (1, 2, 3, 4), **more: Any) -> dict[str, Any]:
    return {"names": [name], **dict(zip("xywh", box, strict=False)), **more}


IMAGES = [{"image_id": 1, "width": 100, "height": 50}, {"image_id": 2, "width": 100, "height": 50}]


def test_visual_genome(tmp_path: Path) -> None:
    objects = [
        {"image_id": 2, "objects": [an_object(" Lawn  Chair ")]},
        {"image_id": 1, "objects": []},
    ]
    regions = [{"id": 2, "regions": [{"phrase": "a  chair\n"}, {"phrase": "grass"}]}]
    good, bad = split(genome(tmp_path, IMAGES, objects, regions))
    assert good == [
        Picture("1", 100, 50),
        Picture("2", 100, 50, (Region("lawn chair", (1.0, 2.0, 3.0, 4.0)),), ("a chair", "grass")),
    ]
    assert bad == []


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (an_object(box=(200, 2, 3, 4)), "outside"),
        (an_object(box=(-9, 2, 9, 4)), "outside"),
        (an_object(box=(1, 2, 0, 4)), "empty"),
        (an_object(box=(1, 2, 3, -4)), "empty"),
        (an_object(box=(1, 2, NAN, 4)), "finite"),
        (an_object(box=(1, 2, float("inf"), 4)), "finite"),
        (an_object(box=(1, 2, "3", 4)), "finite"),
        (an_object(box=(True, 2, 3, 4)), "finite"),
        (an_object(box=(1, 2, 3)), "finite"),
        (an_object(box=(1, 2, 10**400, 4)), "finite"),
        (an_object(name=""), "empty"),
        (an_object(name=7), "not a text"),
        ({"names": []}, "not a text"),
        ("chair", "not a text"),
        (None, "not a text"),
    ],
)
def test_bad_annotations_are_reported_and_left_out(tmp_path: Path, thing: Any, reason: str) -> None:
    objects = [{"image_id": 1, "objects": [thing, an_object()]}]
    good, bad = split(genome(tmp_path, IMAGES[:1], objects))
    assert [r.name for r in good[0].regions] == ["chair"]
    assert len(bad) == 1
    assert reason in bad[0].reason
    assert bad[0].where == "1, region 0"


def test_number_of_regions_is_limited(tmp_path: Path) -> None:
    objects = [{"image_id": 1, "objects": [an_object(f"n{i}") for i in range(503)]}]
    good, bad = split(genome(tmp_path, IMAGES[:1], objects))
    assert [r.name for r in good[0].regions] == [f"n{i}" for i in range(500)]
    assert [b.where for b in bad] == [f"1, region {i}" for i in range(500, 503)]
    assert "more than 500 regions" in bad[0].reason


def test_box_partly_outside_is_clipped(tmp_path: Path) -> None:
    objects = [{"image_id": 1, "objects": [an_object(box=(-10, 40, 30, 30))]}]
    good, bad = split(genome(tmp_path, IMAGES[:1], objects))
    assert good[0].regions[0].box == (0.0, 40.0, 20.0, 10.0)
    assert bad == []


def test_duplicates_and_unlisted_pictures(tmp_path: Path) -> None:
    images = [
        *IMAGES,
        {"image_id": 1, "width": 7, "height": 7},
        {"width": 3},
        {"image_id": 3, "width": 0, "height": 5},
    ]
    objects = [
        {"image_id": 9, "objects": [an_object()]},
        {"image_id": 1, "objects": [an_object(object_id=5)] * 2},
        3,
    ]
    good, bad = split(genome(tmp_path, images, objects, [{"id": 1, "regions": "text"}]))
    assert [(p.id, p.width, len(p.regions)) for p in good] == [("1", 100, 1), ("2", 100, 0)]
    reasons = [b.reason for b in bad]
    assert sorted(reasons) == sorted(
        [
            "the id is there twice: the first is kept",
            "the entry has no image id",
            "the entry has no image id",
            "the entry has no list of regions",
            "the picture is not listed (1 annotations)",
            "the id is there twice: the first is kept",
            "the picture has no usable width and height",
        ]
    )


def test_truncated_file_yields_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([{"image_id": i, "objects": [an_object()]} for i in (1, 2)])
    good, bad = split(genome(tmp_path, IMAGES, whole[: len(whole) // 2 + 5]))
    assert [len(p.regions) for p in good] == [1, 0]
    assert [b.where for b in bad] == ["objects.json"]
    assert "broken from here on" in bad[0].reason


def test_missing_and_broken_pictures(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    image = Image.effect_noise((100, 50), 80)
    for name in ("1.jpg", "cut.jpg"):
        image.save(pictures / name)
    image.save(pictures / "broken.png")
    Image.new("RGB", (10, 10)).save(pictures / "small.jpg")
    (pictures / "cut.jpg").write_bytes((pictures / "cut.jpg").read_bytes()[:-200])
    content = bytearray((pictures / "broken.png").read_bytes())
    content[len(content) // 2] ^= 255
    (pictures / "broken.png").write_bytes(content)
    (pictures / "text.jpg").write_text("no picture")
    (pictures / "empty.jpg").touch()
    (tmp_path / "secret.jpg").write_bytes((pictures / "1.jpg").read_bytes())
    names = [
        "1.jpg",
        "none.jpg",
        "cut.jpg",
        "broken.png",
        "small.jpg",
        "text.jpg",
        "empty.jpg",
        "../secret.jpg",
        "\0",
        5,
    ]
    images = [
        {"id": i, "width": 100, "height": 50, "file_name": name} for i, name in enumerate(names)
    ]
    (tmp_path / "coco.json").write_text(json.dumps({"images": images}))
    good, bad = split(f"coco:{tmp_path / 'coco.json'}", pictures)
    assert [p.path for p in good] == [str(pictures / "1.jpg")]
    words = [
        "missing",
        "cut off",
        "broken",
        "another size",
        "broken",
        "broken",
        *["no file name inside"] * 3,
    ]
    assert [b.where for b in bad] == [str(i) for i in range(1, 10)]
    for row, word in zip(bad, words, strict=True):
        assert word in row.reason
    # without a folder of pictures, none is looked for
    assert len(split(f"coco:{tmp_path / 'coco.json'}")[0]) == 10


def test_coco_in_any_order(tmp_path: Path) -> None:
    """Annotations before images before categories, a crowd, a mask, two rings; captions in a file
    of their own."""
    ring, hole = [0, 0, 10, 0, 10, 10, 0, 10], [1, 1, 2, 1, 2, 2]
    annotations = [
        {"image_id": 7, "category_id": 3, "bbox": [0, 0, 10, 10], "segmentation": [hole, ring]},
        {
            "image_id": 7,
            "category_id": 3,
            "bbox": [0, 0, 10, 10],
            "segmentation": {"counts": "x"},
            "iscrowd": 0,
        },
        {"image_id": 7, "category_id": 3, "bbox": [0, 0, 10, 10], "iscrowd": 1},
        {"image_id": 7, "category_id": 4, "bbox": [0, 0, 10, 10]},
    ]
    images = [{"id": 7, "width": 20, "height": 20, "file_name": "a.jpg"}]
    instances = {
        "info": {},
        "annotations": annotations,
        "images": images,
        "categories": [{"id": 3, "name": "dog"}],
    }
    captions = {
        "images": images,
        "annotations": [{"image_id": 7, "caption": "a dog"}, {"image_id": 7, "caption": 4}],
    }
    (tmp_path / "i.json").write_text(json.dumps(instances))
    (tmp_path / "c.json").write_text(json.dumps(captions))
    good, bad = split(f"coco:{tmp_path / 'i.json'},{tmp_path / 'c.json'}")
    assert split(f"coco:{tmp_path / 'i.json'},{tmp_path / 'c.json'},{tmp_path / 'i.json'}") == (
        good,
        bad,
    )
    dog = (0.0, 0.0, 10.0, 10.0)
    assert good == [
        Picture(
            "7",
            20,
            20,
            (Region("dog", dog, tuple(map(float, ring))), Region("dog", dog)),
            ("a dog",),
        )
    ]
    assert [b.reason for b in bad] == [
        "a crowd, which has no box of its own",
        "the name is not a text",
        "the caption is not a text, or empty",
    ]


def test_coco_files_whose_categories_differ_are_refused(tmp_path: Path) -> None:
    """The last name stood for the regions of all files: chairs of one were cups of the other."""
    for name, category in (("a", "chair"), ("b", "cup")):
        document = {"categories": [{"id": 1, "name": category}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match=r"b.json, .*category 1 is 'cup' here and 'chair' before"):
        split(f"coco:{tmp_path}/a.json,{tmp_path}/b.json")


def test_coco_files_whose_pictures_differ_are_refused(tmp_path: Path) -> None:
    """The regions of one file's picture 1 were those of the other file's picture 1."""
    for name in ("a", "b"):
        picture = {"id": 1, "width": 9, "height": 9, "file_name": f"{name}.jpg"}
        (tmp_path / f"{name}.json").write_text(json.dumps({"images": [picture]}))
    with pytest.raises(UserError, match=r"the file_name 'b.jpg' here and 'a.jpg' before"):
        split(f"coco:{tmp_path}/a.json,{tmp_path}/b.json")


def test_scene_of_another_type_is_reported(tmp_path: Path) -> None:
    row = {"id": 1, "width": 9, "height": 9, "regions": [], "scene": 7}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    good, bad = split(f"plain:{tmp_path}/a.jsonl")
    assert good[0].scene == ""
    assert [item.kind for item in bad] == ["the scene is not a text"]


def test_ade20k_sample() -> None:
    """Names checked against the file: 70 objects, parts named after their whole one level up."""
    good, bad = split(f"ade20k:{shared('ade20k_sample')}")
    assert bad == []
    (picture,) = good
    assert (picture.id, picture.width, picture.height, picture.scene) == (
        "ADE_train_00016869",
        2048,
        1536,
        "street",
    )
    names = [region.name for region in picture.regions]
    assert len(names) == 70
    assert names[1] == "traffic light housing"  # part of object 68
    assert names[4] == "car"
    assert names[54:56] == ["car wheel", "wheel rim"]
    assert names[6] == "trash can"  # the annotator's word; the class begins with "ashcan"
    light = picture.regions[0]
    assert len(light.polygon) == 8
    assert light.box[0] == min(light.polygon[::2])
    assert light.box[1] + light.box[3] == max(light.polygon[1::2])


def ade(objects: Any, **more: Any) -> str:
    return json.dumps(
        {"annotation": {"filename": "a.jpg", "imsize": [50, 100, 3], "object": objects, **more}}
    )


def test_ade20k_oddities(tmp_path: Path) -> None:
    square = {"x": [0, 10, 10, 0], "y": [0, 0, 10, 10]}
    objects: list[Any] = [
        {"id": 0, "raw_name": "cabinet", "polygon": square, "parts": {"ispartof": []}},
        {"id": 1, "raw_name": "door ", "polygon": square, "parts": {"ispartof": 0}},
        {"id": 2, "raw_name": "", "name": "sofa, couch", "polygon": square},
        {"id": 3, "raw_name": "line", "polygon": {"x": [1, 2], "y": [1, 2]}},
        {"id": 4, "raw_name": "odd", "polygon": {"x": [1, 2, 3], "y": [1, 2]}},
        {"id": 5, "raw_name": "flat", "polygon": {"x": [1, 2, 3], "y": [5, 5, 5]}},
        6,
    ]
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.json").write_text(ade(objects, scene=["home", "Living Room"]))
    (tmp_path / "b").mkdir()
    (tmp_path / "b/one.json").write_text(ade([]))
    (tmp_path / "broken.json").write_text('{"annotation": ')
    (tmp_path / "latin.json").write_bytes(
        ade([{**objects[0], "raw_name": "café"}]).encode("latin-1")
    )
    (tmp_path / "other.json").write_text("[]")
    (tmp_path / "single.json").write_text(ade(objects[0]))
    good, bad = split_parts(f"ade20k:{tmp_path}", tmp_path / "parts")
    assert [(p.id, p.scene, [r.name for r in p.regions]) for p in good] == [
        ("latin", "", ["café"]),
        ("single", "", ["cabinet"]),
        ("one", "living_room", ["cabinet", "cabinet door", "sofa"]),
    ]
    assert [row["where"].split(",")[0] for row in bad] == [
        "broken.json",
        "other.json",
        *["a/one.json"] * 4,
        "b/one.json",
    ]
    assert bad[-1]["reason"] == "the id is there twice: the first is kept"


def test_ade20k_parts_of_two_objects_of_one_id(tmp_path: Path) -> None:
    """The last of them would have given its name in silence."""
    square = {"x": [0, 10, 10, 0], "y": [0, 0, 10, 10]}
    objects = [
        {"id": 0, "raw_name": "cabinet", "polygon": square},
        {"id": 0, "raw_name": "car", "polygon": square},
        {"id": 1, "raw_name": "door", "polygon": square, "parts": {"ispartof": 0}},
        {"id": 2, "raw_name": "house", "polygon": square},
        {"id": 2, "raw_name": "house", "polygon": square},
        {"id": 3, "raw_name": "door", "polygon": square, "parts": {"ispartof": 2}},
    ]
    (tmp_path / "one.json").write_text(ade(objects))
    good, bad = split(f"ade20k:{tmp_path}")
    names = ["cabinet", "car", "house", "house", "house door"]
    assert [region.name for region in good[0].regions] == names
    assert [(b.where, b.reason) for b in bad] == [
        ("one.json, object 2", "the object is part of one whose id several objects have")
    ]


def rows() -> list[dict[str, Any]]:
    region = {"name": "dog", "box": [1, 1, 5, 5], "polygon": [1, 1, 6, 1, 6, 6]}
    return [
        {
            "id": "a",
            "width": 10,
            "height": 10,
            "regions": [region],
            "captions": ["a dog"],
            "scene": "park",
        },
        {"id": "b", "width": 10, "height": 10, "regions": None, "captions": None, "scene": None},
        {"id": "a", "width": 10, "height": 10, "regions": [], "captions": [], "scene": ""},
    ]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_plain(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows()), path)
    else:
        path.write_text("\n".join(json.dumps(row) for row in rows()))
    good, bad = split_parts(f"plain:{path}", tmp_path / "parts")
    dog = Region("dog", (1.0, 1.0, 5.0, 5.0), (1.0, 1.0, 6.0, 1.0, 6.0, 6.0))
    assert good == [Picture("a", 10, 10, (dog,), ("a dog",), "park"), Picture("b", 10, 10)]
    assert bad == [
        {"where": f"x.{kind}, row 3", "reason": "the id is there twice: the first is kept"}
    ]


def test_unusable_plain_lines(tmp_path: Path) -> None:
    lines = [
        "{",
        "[]",
        "",
        '{"id": 1}',
        '{"id": [], "width": 1, "height": 1}',
        "[" * 100_000,
        "\xff",
    ]
    lines += [
        '{"id": 1, "width": 5, "height": 5, "path": "../x.jpg"}',
        '{"id": 1, "width": 5, "height": 5, "regions": 7}',
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="latin-1")
    good, bad = split(f"plain:{tmp_path / 'x.jsonl'}")
    assert [p.id for p in good] == ["1"]
    assert [b.where.split(", ", 1)[1] for b in bad] == [
        *[f"row {i}" for i in (1, 2, 4, 5, 6, 7, 8)],
        "row 9, region 0",
    ]


def test_user_mistakes(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("no Parquet")
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "thin.parquet")
    for spec, words in (
        ("coco", "FOLDER"),
        ("coco:", "FOLDER"),
        ("cocoa:x", "Did you mean 'coco'"),
        (f"visual-genome:{tmp_path}", "no image_data.json"),
        (f"coco:{tmp_path}/none.json", "no file"),
        (f"ade20k:{tmp_path}/none", "not a folder"),
        (f"plain:{tmp_path}/none.jsonl", "no file"),
        (f"plain:{tmp_path}/bad.parquet", "not a Parquet file"),
        (f"plain:{tmp_path}/thin.parquet", "lacks the column 'height'"),
    ):
        with pytest.raises(UserError, match=words):
            list(read(spec))
    with pytest.raises(UserError, match="no folder of pictures"):
        list(read(f"plain:{tmp_path}", tmp_path / "none"))


def many(path: Path, count: int) -> Path:
    """COCO with so many pictures, each with a region: about 300 bytes a picture."""
    with path.open("w") as file:
        file.write('{"categories": [{"id": 1, "name": "dog"}], "images": [')
        file.write(",".join(f'{{"id": {i}, "width": 640, "height": 480}}' for i in range(count)))
        file.write('], "annotations": [')
        file.write(
            ",".join(
                f'{{"image_id": {i}, "category_id": 1, "bbox": [1, 2, 3, {1 + i % 9}]}}'
                for i in range(count)
            )
        )
        file.write("]}")
    return path


def test_bytes_that_are_no_text_cost_their_row_alone(tmp_path: Path) -> None:
    ids = pa.array([b"a", b"\xff", b"c"], pa.binary()).view(pa.string())
    sides = pa.array([5, 5, 5])
    path = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"id": ids, "width": sides, "height": sides}), path)
    first, second, third = read(f"plain:{path}")
    assert [getattr(picture, "id", None) for picture in (first, third)] == ["a", "c"]
    assert second == BadAnnotation("plain.parquet, row 2", "not UTF-8 text")


def test_to_parquet_splits_into_parts(tmp_path: Path) -> None:
    spec = f"coco:{many(tmp_path / 'c.json', 25)}"
    reported: list[tuple[int, int]] = []
    parts, bad = to_parquet(
        spec,
        tmp_path / "parts",
        rows_per_part=10,
        progress=lambda done, total: reported.append((done, total)),
    )
    assert bad == {}
    assert reported == [(10, 10), (10, 20), (5, 25)]
    assert [pq.read_metadata(part).num_rows for part in parts] == [10, 10, 5]
    assert list(read(f"plain:{tmp_path / 'parts'}")) == list(read(spec))
    with pytest.raises(UserError, match="at least one"):
        to_parquet(spec, tmp_path / "parts", rows_per_part=0)


def test_to_parquet_lists_bad_annotations(tmp_path: Path) -> None:
    images = [*IMAGES, {"image_id": 3}, {"image_id": 4}]
    objects = [{"image_id": 1, "objects": [an_object(box=(1, 2, 0, 4))]}]
    _, bad = to_parquet(genome(tmp_path, images, objects), tmp_path / "parts")
    assert bad == {"the picture has no usable width and height": 2, "the box is empty": 1}
    listed = [json.loads(line) for line in (tmp_path / "parts/bad.jsonl").read_text().splitlines()]
    assert [entry["where"] for entry in listed] == ["1, region 0", "3", "4"]


def test_bad_rows_are_counted_by_kind_and_listed(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(
        '{"id": 1, "width": 9, "height": 9, "captions": ["a dog", 7]}\n{\n['
    )
    (picture,), bad = split(f"plain:{tmp_path / 'b.jsonl'}")
    assert picture.captions == ("a dog",)
    assert [row.reason for row in bad[1:]] == ["not JSON", "not JSON"]
    _, counts = to_parquet(f"plain:{tmp_path / 'b.jsonl'}", tmp_path / "parts")
    assert counts == {"not JSON": 2, "the caption is not a text, or empty": 1}
    listed = [json.loads(line) for line in (tmp_path / "parts/bad.jsonl").read_text().splitlines()]
    assert listed == [{"where": row.where, "reason": row.reason} for row in bad]


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(10_000, marks=pytest.mark.seconds),
        pytest.param(1_000_000, marks=pytest.mark.slow),
    ],
)
def test_damaged_rows_in_one_part_of_many_are_reported_with_their_place(
    tmp_path: Path, count: int
) -> None:
    lines = [f'{{"id": {i}, "width": 9, "height": 9}}' for i in range(1, count + 1)]
    first = count * 7 // 10
    lines[first - 1] = lines[first - 1][:-1]
    lines[first] = '{"id": 0, "width": 9}'
    lines[first + 1] = lines[first - 2]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    parts, counts = to_parquet(
        f"plain:{tmp_path / 'rows.jsonl'}", tmp_path / "parts", count // 50, workers=2
    )
    assert len(parts) == 50
    assert sum(pq.read_metadata(part).num_rows for part in parts) == count - 3
    assert sum(counts.values()) == 3
    listed = [json.loads(line) for line in (tmp_path / "parts/bad.jsonl").read_text().splitlines()]
    assert [(row["where"], row["reason"]) for row in listed] == [
        (f"rows.jsonl, row {first}", "not JSON"),
        (f"rows.jsonl, row {first + 1}", "the picture has no usable width and height"),
        (f"rows.jsonl, row {first + 2}", "the id is there twice: the first is kept"),
    ]


@pytest.mark.seconds
@pytest.mark.parametrize("limit", [16, 4096])
def test_full_disk_is_one_of_the_system(tmp_path: Path, limit: int) -> None:
    """The database that joins the files filled the disk: its error was a traceback.

    An error of the system is one sentence of the command. The limit is that of a process of its
    own, for which no file may be larger.
    """
    images = [{"image_id": i, "width": 100, "height": 50} for i in range(400)]
    spec = genome(tmp_path, images)
    script = f"""
        import resource, signal
        from seesay.mining.readers import read
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        try:
            list(read({spec!r}))
        except OSError as error:
            assert error.errno and error.filename, error
            print("an error of the system")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "an error of the system\n", done.stderr


@pytest.mark.seconds
def test_memory_is_bounded(tmp_path: Path) -> None:
    """Four times the pictures take no more Python memory; in memory, the larger file would take
    over 5 MB."""
    peaks = []
    for count in (2_500, 10_000):
        spec = f"coco:{many(tmp_path / f'{count}.json', count)}"
        tracemalloc.start()
        assert sum(1 for _ in read(spec)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 1_000_000


WORDS = (
    "image_id id objects regions images annotations categories names name x y w h width height "
    "phrase caption bbox "
    "category_id segmentation file_name annotation object polygon parts ispartof raw_name imsize "
    "scene captions box "
    "path depth filename object_id iscrowd"
)
KEYS = st.sampled_from(WORDS.split())
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from([0, 1, 2, 50, 100]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
TEXT = (
    JUNK.map(json.dumps)
    | st.tuples(JUNK.map(json.dumps), st.integers(0, 40)).map(lambda t: t[0][: -t[1]])
    | st.text()
)
FORMATS: dict[str, Callable[[Path, str], str]] = {
    "visual-genome": lambda folder, text: genome(folder, text, text, text),
    "visual-genome objects": lambda folder, text: genome(folder, IMAGES, text, text),
    "coco": lambda folder, text: f"coco:{put(folder / 'x.json', text)}",
    "ade20k": lambda folder, text: f"ade20k:{put(folder / 'x.json', text).parent}",
    "plain": lambda folder, text: f"plain:{put(folder / 'x.jsonl', text)}",
}


def put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    return path


@pytest.mark.parametrize("kind", FORMATS)
@given(text=TEXT)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_readers_survive_any_input(
    tmp_path_factory: pytest.TempPathFactory, kind: str, text: str
) -> None:
    spec = FORMATS[kind](tmp_path_factory.mktemp("junk"), text)
    for item in read(spec):
        if isinstance(item, BadAnnotation):
            assert item.where
            assert item.reason
            continue
        for region in item.regions:
            x, y, w, h = region.box
            assert 0 <= x < x + w <= item.width
            assert 0 <= y < y + h <= item.height


things = st.fixed_dictionaries(
    {"names": st.lists(JUNK, max_size=2), "x": JUNK, "y": JUNK, "w": JUNK, "h": JUNK}
)


@pytest.mark.seconds
@given(st.lists(things | JUNK, max_size=4))
@settings(max_examples=50, deadline=None)
def test_every_region_is_kept_or_reported(
    tmp_path_factory: pytest.TempPathFactory, objects: list[Any]
) -> None:
    spec = genome(
        tmp_path_factory.mktemp("junk"), IMAGES[:1], [{"image_id": 1, "objects": objects}]
    )
    good, bad = split(spec)
    assert len(good[0].regions) + len(bad) == len(objects)


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("visual-genome", "a.json"),
        ("ade20k", "in/side/a.json"),
        ("coco", "a.json"),
        ("plain", "a.parquet"),
        ("captions", "part.arrow"),
    ],
)
def test_changed_file_changes_the_fingerprint(tmp_path: Path, kind: str, file: str) -> None:
    path = tmp_path / "data" / file
    path.parent.mkdir(parents=True)
    path.write_text("1")
    before = fingerprints.annotation(f"{kind}:{tmp_path / 'data'}", tmp_path / "out")
    path.write_text("12")
    after = fingerprints.annotation(f"{kind}:{tmp_path / 'data'}", tmp_path / "out")
    assert before["annotations"] == after["annotations"]
    assert before["files"] != after["files"]


def test_reader_needs_a_pattern_of_its_files() -> None:
    assert all(reader.files for reader in READERS.values())
    with pytest.raises(TypeError, match="files"):
        AnnotationReader(READERS["plain"].split, READERS["plain"].read)  # type: ignore[call-arg]
