"""From generated rooms to knowledge: the same on any number of workers, after a stop, and close to the truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seesay.data import knowledge
from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.mine import aggregate, count_relations, rooms, synthetic
from seesay.mine.aggregate import to_table
from seesay.mine.count_relations import Counting
from seesay.mine.facts import Thresholds
from seesay.mine.pipeline import AUTO, Request, caption_names, find_subtypes, mine, picture_files
from seesay.mine.region_names import Naming
from seesay.mine.truth import color_score, place_score, size_score

FEW = Thresholds(size=3, place=3, relation=1, color=10)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rooms with pictures and depth maps; `silent.parquet` is their annotation without captions."""
    folder = rooms.write(tmp_path_factory.mktemp("rooms"), 40, width=160, height=120)
    table = pq.read_table(folder / "annotations.parquet")
    index = table.column_names.index("captions")
    silent = pa.array([[]] * table.num_rows, table.schema.field("captions").type)
    pq.write_table(table.set_column(index, table.schema.field("captions"), silent), folder / "silent.parquet")
    return folder


def bar(title: str, unit: str) -> nullcontext[Callable[[int, int], None]]:
    return nullcontext(lambda done, total: None)


def request(world: Path, output: Path, **changes: object) -> Request:
    base = Request(f"plain:{world / 'silent.parquet'}", output, thresholds=FEW, rows=15)
    return replace(base, **changes)  # type: ignore[arg-type]


def test_rooms_become_knowledge_that_is_nearly_true(world: Path, tmp_path: Path) -> None:
    summary = mine(request(world, tmp_path, annotations=f"plain:{world / 'annotations.parquet'}"), bar)
    assert summary["pictures"] == 40
    assert summary["counting"]["depth"] == "given"
    assert summary["counting"]["colors"] == "pixels"
    truth = json.loads((world / "truth.json").read_text())
    sizes = knowledge.read(tmp_path, SizeFact)
    by_size = size_score(sizes, truth, FEW.size)
    by_place = place_score(knowledge.read(tmp_path, PlaceFact), truth, FEW.place, FEW.relation)
    assert min(by_size.precision, by_place.precision) > 0.85
    assert min(by_size.recall, by_place.recall) > 0.5
    assert {(f.b, f.a, f.smaller, f.larger) for f in sizes} == {(f.a, f.b, f.larger, f.smaller) for f in sizes}
    colors = knowledge.read(tmp_path, ColorFact)
    by_color = color_score(colors, truth, FEW.color)
    assert by_color.precision > 0.8
    assert by_color.recall > 0.8
    assert all(set(fact.examples) <= {str(i) for i in range(1, 41)} for fact in colors)
    assert knowledge.read(tmp_path, SubtypeFact)
    assert json.loads((tmp_path / "summary.json").read_text()) == summary


def test_workers_parts_and_a_stop_change_nothing(world: Path, tmp_path: Path) -> None:
    plain = Counting(depth=AUTO, colors="none")
    mine(request(world, tmp_path / "one", counting=plain, rows=1000), bar)
    mine(request(world, tmp_path / "two", counting=plain, workers=2), bar)
    kept = tmp_path / "two/work/counts"
    before = {path.name: path.stat().st_mtime_ns for path in kept.glob("*.done.json")}
    (kept / "part-00001.done.json").unlink()  # as if killed before it was finished
    mine(request(world, tmp_path / "two", counting=plain), bar)
    after = {path.name: path.stat().st_mtime_ns for path in kept.glob("*.done.json")}
    assert {name for name in after if after[name] != before[name]} == {"part-00001.done.json"}
    for name in ("sizes.parquet", "places.parquet"):
        assert pq.read_table(tmp_path / "one" / name).equals(pq.read_table(tmp_path / "two" / name))


def test_other_settings_are_refused_and_other_thresholds_are_not(world: Path, tmp_path: Path) -> None:
    boxes = Counting("boxes", "boxes", AUTO, "none")
    mine(request(world, tmp_path, counting=boxes), bar)
    strict = mine(request(world, tmp_path, counting=boxes, thresholds=replace(FEW, size=8)), bar)
    assert strict["counting"]["depth"] == ""
    assert {fact.larger + fact.smaller >= 8 for fact in knowledge.read(tmp_path, SizeFact)} == {True}
    with pytest.raises(UserError, match=r"other settings \(space_rule is 'paper', was 'boxes'\)"):
        mine(request(world, tmp_path, counting=replace(boxes, space_rule="paper")), bar)
    with pytest.raises(UserError, match="mined from other pictures"):
        mine(request(world, tmp_path, counting=boxes, rows=5), bar)


def small(folder: Path, *regions: str, captions: tuple[str, ...] = (), scene: str = "") -> Path:
    """An annotation of three pictures without files, the same things in each: the first is the smallest and highest."""
    things = [{"name": name, "box": [20 * i, 20 * i, 10 + i, 10 + i]} for i, name in enumerate(regions)]
    row = {"width": 300, "height": 300, "regions": things, "captions": captions, "scene": scene}
    path = folder / "small.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), **row}) + "\n" for i in range(3)))
    return path


BOXES = Counting("boxes", "boxes", AUTO, AUTO)
ALL = Counting(depth=AUTO, colors=AUTO)
THREE = Thresholds(size=3, place=3, relation=1)


def of_boxes(path: Path, output: Path, **changes: object) -> Request:
    return replace(Request(f"plain:{path}", output, None, BOXES, THREE), **changes)  # type: ignore[arg-type]


def test_regions_are_named_as_in_captions(tmp_path: Path) -> None:
    path = small(tmp_path, "Leaves", "glass", "red car", "trees", "tree", "a very long name", "bus")
    summary = mine(of_boxes(path, tmp_path / "k"), bar)
    assert {fact.a for fact in knowledge.read(tmp_path / "k", SizeFact)} == {"leaf", "glass", "tree", "bus"}
    assert summary["bad"] == {
        "a region's name holds a colour word": 3,
        "a region's name has more than 3 words": 3,
    }
    assert summary["facts"]["places"] > summary["facts"]["places with a scene"] == 0


def test_files_that_changed_are_not_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small(tmp_path, "cup", "bus")
    mine(of_boxes(path, tmp_path / "k"), bar)
    monkeypatch.chdir(tmp_path)
    mine(of_boxes(Path("small.jsonl"), Path("k")), bar)  # the same file by another name
    small(tmp_path, "cup", "elephant")
    with pytest.raises(UserError, match="files that have changed since"):
        mine(of_boxes(path, tmp_path / "k"), bar)


def test_models_and_subtypes_that_changed_are_not_mixed_in(tmp_path: Path) -> None:
    parts = synthetic.write_parts(tmp_path / "parts", 4, 4)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    counts, chosen = tmp_path / "counts", Counting(select=str(tmp_path / "model"))
    naming = Naming(subtypes={"table": ["table", "side table"]})
    count_relations._same_settings(counts, chosen, naming, parts)
    count_relations._same_settings(counts, chosen, naming, parts)
    with pytest.raises(UserError, match=r"other settings \(the subtypes\)"):
        count_relations._same_settings(counts, chosen, Naming(), parts)
    (tmp_path / "model/config.json").write_text("[1]")
    with pytest.raises(UserError, match=r"other settings \(the select model's files\)"):
        count_relations._same_settings(counts, chosen, naming, parts)


def test_subtypes_by_ending_have_no_sizes_and_those_of_a_lexicon_have(tmp_path: Path) -> None:
    spoken = ("a table",) * 50 + ("a kitchen table",) * 10 + ("a chair",) * 50 + ("a stool",) * 10
    path = small(tmp_path, "table", "kitchen table", "chair", "stool", "cup", "bus", captions=spoken, scene="kitchen")
    asked = of_boxes(path, tmp_path / "k", closure=True)
    names = caption_names(iter(spoken * 3), tmp_path, 1, bar)
    assert find_subtypes(names, asked)[1] == {"kitchen table"}
    summary = mine(asked, bar)
    assert {fact.a for fact in knowledge.read(tmp_path / "k", SizeFact)} == {"table", "chair", "stool", "cup", "bus"}
    assert summary["bad"]["a size of a subtype, which its thing's name stands for"] > 0
    assert (tmp_path / "k/transitive/sizes.parquet").is_file()
    assert summary["facts"]["places with a scene"] == summary["facts"]["places"]
    mine(replace(asked, closure=False), bar)
    assert not (tmp_path / "k/transitive/sizes.parquet").exists()


def test_no_option_does_nothing(world: Path, tmp_path: Path) -> None:
    path = small(tmp_path, "cup", "bus")
    spoken = tmp_path / "captions.txt"
    spoken.write_text("a cup\n")
    cases: list[tuple[dict[str, object], str]] = [
        ({"lexicons": ("wordnet",)}, "--lexicon needs names from captions"),
        ({"counting": replace(BOXES, select="clip")}, "--select looks at pictures"),
        ({"counting": replace(BOXES, colors="pixels")}, "--colors looks at pictures"),
        ({"counting": replace(BOXES, depth="fastdepth")}, "leave out --depth fastdepth"),
        ({"counting": Counting(depth="given")}, "the annotation names none"),
        ({"counting": Counting(depth="some/model")}, "--depth looks at pictures"),
        ({"subtype_rule": "papr"}, "Unknown subtype rule 'papr'"),
        ({"annotations": f"captions:{spoken}"}, "leave out --size-rule"),
        ({"annotations": f"captions:{spoken}", "counting": ALL, "images": tmp_path}, "leave out --images"),
        ({"annotations": f"captions:{spoken}", "counting": ALL, "closure": True}, "leave out --transitive"),
    ]
    for number, (changes, told) in enumerate(cases):
        with pytest.raises(UserError, match=told):
            mine(of_boxes(path, tmp_path / f"k{number}", **changes), bar)


def test_pictures_are_found_by_their_ids(world: Path, tmp_path: Path) -> None:
    mine(request(world, tmp_path, counting=BOXES), bar)
    found = picture_files(tmp_path, {"3", "40", "no such"})
    assert found == {name: str(world / f"images/{name}.jpg") for name in ("3", "40")}
    assert picture_files(tmp_path / "elsewhere", {"3"}) == {}


def test_mistakes_are_one_sentence(world: Path, tmp_path: Path) -> None:
    for changes, told in (
        ({"counting": Counting(size_rule="papr")}, "Unknown size rule 'papr'"),
        ({"lexicons": ("roget",)}, "Unknown lexicon 'roget'"),
        ({"annotations": "coca:x"}, "Did you mean 'coco'"),
    ):
        with pytest.raises(UserError, match=told):
            mine(request(world, tmp_path / told[-4:], **changes), bar)
    bare = rooms.write(tmp_path / "bare", 3, pictures=False)
    no_files = {"path": "", "depth": ""}
    rows = [json.loads(line) | no_files for line in (bare / "annotations.jsonl").read_text().splitlines()]
    (bare / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match="--size-rule boxes --space-rule boxes"):
        mine(request(world, tmp_path / "k", annotations=f"plain:{bare / 'bare.jsonl'}"), bar)


def test_lost_and_broken_files_are_counted_by_reason(world: Path, tmp_path: Path) -> None:
    some = rooms.write(tmp_path / "some", 3, width=160, height=120)
    parts = [tmp_path / "part.parquet"]
    table = pq.read_table(some / "annotations.parquet")
    table = table.set_column(
        table.column_names.index("depth"), "depth", [[str(some / "depth/1.png"), str(some / "none.png"), ""]]
    )
    pq.write_table(table, parts[0])
    mined = count_relations.mine_parts(parts, tmp_path / "counts", Counting(depth="given"))
    assert mined.bad == {"the depth map is missing": 1, "no depth map is named": 1}
    assert mined.pictures == 3


def test_batches_and_gathering_piece_by_piece_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = synthetic.write_parts(tmp_path / "parts", 300, 50)
    at_once = count_relations.mine_parts(parts, tmp_path / "counts", Counting())
    monkeypatch.setattr(count_relations, "BATCH", 7)
    monkeypatch.setattr(aggregate, "HELD", 100)
    bit_by_bit = count_relations.mine_parts(parts, tmp_path / "again", Counting())
    for kind in count_relations.LABELS:
        assert to_table(getattr(at_once, kind)).equals(to_table(getattr(bit_by_bit, kind)))
    assert at_once.pictures == bit_by_bit.pictures == 300
