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
from seesay.mine import aggregate, counting, rooms, synthetic
from seesay.mine.aggregate import to_table
from seesay.mine.counting import Counting
from seesay.mine.facts import Thresholds
from seesay.mine.mining import AUTO, Request, mine
from seesay.mine.truth import place_score, size_score
from seesay.questions import UserError

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
    assert size_score(sizes, truth, FEW.size).precision > 0.85
    assert place_score(knowledge.read(tmp_path, PlaceFact), truth, FEW.place, FEW.relation).precision > 0.85
    assert {(f.b, f.a, f.smaller, f.larger) for f in sizes} == {(f.a, f.b, f.larger, f.smaller) for f in sizes}
    seen = {name: sum(colors.values()) for name, colors in truth["colors"].items()}
    for fact in knowledge.read(tmp_path, ColorFact):
        assert fact.seen <= sum(seen.values())
        assert set(fact.examples) <= {str(i) for i in range(1, 41)}
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
    mined = counting.mine_parts(parts, tmp_path / "counts", Counting(depth="given"))
    assert mined.bad == {"the depth map is missing": 1, "no depth map is named": 1}
    assert mined.pictures == 3


def test_batches_and_gathering_piece_by_piece_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = synthetic.write_parts(tmp_path / "parts", 300, 50)
    at_once = counting.mine_parts(parts, tmp_path / "counts", Counting())
    monkeypatch.setattr(counting, "BATCH", 7)
    monkeypatch.setattr(aggregate, "HELD", 100)
    bit_by_bit = counting.mine_parts(parts, tmp_path / "again", Counting())
    for kind in counting.LABELS:
        assert to_table(getattr(at_once, kind)).equals(to_table(getattr(bit_by_bit, kind)))
    assert at_once.pictures == bit_by_bit.pictures == 300
