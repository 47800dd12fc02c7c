"""From generated rooms to knowledge: the same for any number of workers and after an interruption,
and nearly true."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.mine import write_parts
from benchmarks.rooms import color_accuracy, place_accuracy, size_accuracy
from tests.mining.sample_pictures import counted, write_counts

from seesay.data import knowledge
from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.mining import count_relations, pipeline, rooms
from seesay.mining.caption_nouns import count_names, frequent_names
from seesay.mining.count_relations import CountingConfig
from seesay.mining.facts import Thresholds
from seesay.mining.observations import COUNTS, LABELS
from seesay.mining.pipeline import MiningResult, annotated_pictures, mine
from seesay.mining.records import Region
from seesay.mining.region_names import NameRules
from seesay.mining.write_knowledge import write_facts

Options = dict[str, Any]
MIN_SEEN, MIN_RELATION, MIN_ANSWERS = 3, 1, 10
BOXES: Options = {"size_rule": "boxes", "space_rule": "boxes"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rooms with pictures and depth maps; `silent.parquet` is their annotation without
    captions."""
    folder = rooms.write_rooms(tmp_path_factory.mktemp("rooms"), 40, width=160, height=120)
    table = pq.read_table(folder / "annotations.parquet")
    index = table.column_names.index("captions")
    silent = pa.array([[]] * table.num_rows, table.schema.field("captions").type)
    pq.write_table(
        table.set_column(index, table.schema.field("captions"), silent), folder / "silent.parquet"
    )
    return folder


def mine_world(world: Path, output: Path, **options: Any) -> MiningResult:
    defaults: Options = {
        "annotations": f"plain:{world / 'silent.parquet'}",
        "rows": 15,
        "workers": 1,
    }
    thresholds: Options = {
        "min_seen": MIN_SEEN,
        "min_relation": MIN_RELATION,
        "min_answers": MIN_ANSWERS,
    }
    return mine(output=output, **defaults | thresholds | options)


@pytest.mark.seconds
def test_knowledge_of_rooms_is_nearly_true(world: Path, tmp_path: Path) -> None:
    titles: list[str] = []

    def progress(title: str, unit: str) -> nullcontext[Callable[[int, int], None]]:
        titles.append(title)
        return nullcontext(lambda done, total: None)

    result = mine_world(
        world, tmp_path, annotations=f"plain:{world / 'annotations.parquet'}", progress=progress
    )
    assert titles[1:] == ["Names in captions", "Sizes, places, colours"]
    assert result.pictures == 40
    assert result.counting is not None
    assert result.counting.depth == "given"
    assert result.counting.colors == "pixels"
    truth = json.loads((world / "truth.json").read_text())
    sizes = knowledge.read(tmp_path, SizeFact)
    by_size = size_accuracy(sizes, truth, MIN_SEEN)
    by_place = place_accuracy(knowledge.read(tmp_path, PlaceFact), truth, MIN_SEEN, MIN_RELATION)
    assert min(by_size.precision, by_place.precision) > 0.85
    assert min(by_size.recall, by_place.recall) > 0.5
    assert {(f.b, f.a, f.smaller, f.larger) for f in sizes} == {
        (f.a, f.b, f.larger, f.smaller) for f in sizes
    }
    colors = knowledge.read(tmp_path, ColorFact)
    by_color = color_accuracy(colors, truth, MIN_ANSWERS)
    assert by_color.precision > 0.8
    assert by_color.recall > 0.8
    assert all(set(fact.examples) <= {str(i) for i in range(1, 41)} for fact in colors)
    assert knowledge.read(tmp_path, SubtypeFact)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary == json.loads(json.dumps(result.to_json()))
    assert summary["counting"]["min_regions"] == 6


def test_workers_parts_and_interruption_change_nothing(world: Path, tmp_path: Path) -> None:
    mine_world(world, tmp_path / "one", colors="none", rows=1000)
    mine_world(world, tmp_path / "two", colors="none", workers=2)
    counts = tmp_path / "two/work/counts"
    before = {path.name: path.stat().st_mtime_ns for path in counts.glob("*.done.json")}
    (counts / "part-00001.done.json").unlink()  # as if killed before it was finished
    mine_world(world, tmp_path / "two", colors="none")
    after = {path.name: path.stat().st_mtime_ns for path in counts.glob("*.done.json")}
    assert {name for name in after if after[name] != before[name]} == {"part-00001.done.json"}
    for name in ("sizes.parquet", "places.parquet"):
        assert pq.read_table(tmp_path / "one" / name).equals(pq.read_table(tmp_path / "two" / name))


def test_rate_counts_only_the_pictures_of_this_run(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Options = {**BOXES, "colors": "none"}
    ticks = iter(range(1000))
    # a step takes a second
    monkeypatch.setattr("seesay.mining.pipeline.time.perf_counter", lambda: next(ticks))
    assert mine_world(world, tmp_path, **options).pictures_per_second == 40
    (tmp_path / "work/counts/part-00001.done.json").unlink()
    assert mine_world(world, tmp_path, **options).pictures_per_second == 15
    again = mine_world(world, tmp_path, **options)
    assert (again.pictures, again.pictures_per_second) == (40, 0)


def test_other_settings_are_refused_and_other_thresholds_are_not(
    world: Path, tmp_path: Path
) -> None:
    boxes: Options = {**BOXES, "colors": "none"}
    mine_world(world, tmp_path, **boxes)
    strict = mine_world(world, tmp_path, **boxes, min_seen=8)
    assert strict.counting is not None
    assert strict.counting.depth == ""
    assert {fact.larger + fact.smaller >= 8 for fact in knowledge.read(tmp_path, SizeFact)} == {
        True
    }
    message = r"started with space_rule 'boxes', not 'paper' \(and depth\): give another folder"
    with pytest.raises(UserError, match=message):
        mine_world(world, tmp_path, **boxes | {"space_rule": "paper"})
    with pytest.raises(
        UserError, match=r"started with rows 15, not 5: its pictures, their files or --rows have"
    ):
        mine_world(world, tmp_path, **boxes, rows=5)


def test_tables_of_an_earlier_mining_are_deleted(world: Path, tmp_path: Path) -> None:
    captioned = f"plain:{world / 'annotations.parquet'}"
    mine_world(world, tmp_path, **BOXES, annotations=captioned)
    tables = [knowledge.FILES[kind] for kind in (ColorFact, SubtypeFact)]
    assert [(tmp_path / name).is_file() for name in tables] == [True, True]
    shutil.rmtree(tmp_path / "work")
    result = mine_world(world, tmp_path, **BOXES, colors="none")
    assert not result.facts.keys() & {"colors", "subtypes"}
    assert [(tmp_path / name).is_file() for name in tables] == [False, False]


def small(folder: Path, *regions: str, captions: tuple[str, ...] = (), scene: str = "") -> Path:
    """An annotation of three pictures without files, the same things in each: the first is the
    smallest and highest."""
    things = [
        {"name": name, "box": [20 * i, 20 * i, 10 + i, 10 + i]} for i, name in enumerate(regions)
    ]
    row = {"width": 300, "height": 300, "regions": things, "captions": captions, "scene": scene}
    path = folder / "small.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), **row}) + "\n" for i in range(3)))
    return path


def mine_boxes(path: Path, output: Path, **options: Any) -> MiningResult:
    defaults: Options = {
        "annotations": f"plain:{path}",
        "min_seen": 3,
        "min_relation": 1,
        "workers": 1,
        **BOXES,
    }
    return mine(output=output, **defaults | options)


def test_regions_are_named_as_in_captions(tmp_path: Path) -> None:
    path = small(tmp_path, "Leaves", "glass", "red car", "trees", "tree", "a very long name", "bus")
    result = mine_boxes(path, tmp_path / "k")
    assert {fact.a for fact in knowledge.read(tmp_path / "k", SizeFact)} == {
        "leaf",
        "glass",
        "tree",
        "bus",
    }
    assert result.bad == {
        "a region's name holds a colour word": 3,
        "a region's name has more than 3 words": 3,
    }
    assert result.facts["places"] > result.facts["places_in_scenes"] == 0


def test_changed_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small(tmp_path, "cup", "bus")
    mine_boxes(path, tmp_path / "k")
    monkeypatch.chdir(tmp_path)
    mine_boxes(Path("small.jsonl"), Path("k"))  # the same file by another name
    small(tmp_path, "cup", "elephant")
    with pytest.raises(
        UserError, match=r"started with files .* their files or --rows have changed since"
    ):
        mine_boxes(path, tmp_path / "k")


def test_changed_models_and_subtypes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    counts, config = tmp_path / "counts", CountingConfig(select=str(tmp_path / "model"))
    names = NameRules(subtypes={"table": ["table", "side table"]})
    count_relations.check_settings(counts, config, names)
    count_relations.check_settings(counts, config, names)
    with pytest.raises(UserError, match="started with subtypes "):
        count_relations.check_settings(counts, config, NameRules())
    (tmp_path / "model/config.json").write_text("[1]")
    with pytest.raises(UserError, match="started with select_model "):
        count_relations.check_settings(counts, config, names)


def test_only_subtypes_by_ending_have_no_sizes(tmp_path: Path) -> None:
    spoken = ("a table",) * 50 + ("a kitchen table",) * 10 + ("a chair",) * 50 + ("a stool",) * 10
    path = small(
        tmp_path,
        "table",
        "kitchen table",
        "chair",
        "stool",
        "cup",
        "bus",
        captions=spoken,
        scene="kitchen",
    )
    assert pipeline.find_subtypes(frequent_names(count_names(spoken * 3)), "paper")[1] == {
        "kitchen table"
    }
    result = mine_boxes(path, tmp_path / "k", transitive=True)
    assert {fact.a for fact in knowledge.read(tmp_path / "k", SizeFact)} == {
        "table",
        "chair",
        "stool",
        "cup",
        "bus",
    }
    assert result.bad["the size of a subtype, which its parent's size stands for"] > 0
    assert (tmp_path / "k/transitive/sizes.parquet").is_file()
    assert result.facts["places_in_scenes"] == result.facts["places"]
    mine_boxes(path, tmp_path / "k")
    assert not (tmp_path / "k/transitive/sizes.parquet").exists()


class TrueSubtypes:
    """A selector that answers from the truth of the rooms; pictures are told apart by their
    boxes."""

    world: ClassVar[Path]

    def __init__(self, encoder: object, subtypes: object) -> None:
        rows = zip(
            *(map(json.loads, (self.world / name).open()) for name in FILES_OF_ROOMS), strict=True
        )
        self._things = {
            self._key(r["box"] for r in row["regions"]): true["things"] for row, true in rows
        }

    @staticmethod
    def _key(boxes: Iterable[Sequence[float]]) -> str:
        return json.dumps([list(map(float, box)) for box in boxes])

    def choose(self, picture: object, regions: Sequence[Region]) -> list[str]:
        return [
            thing["subtype"] or thing["name"]
            for thing in self._things[self._key(region.box for region in regions)]
        ]


FILES_OF_ROOMS = ("annotations.jsonl", "things.jsonl")


@pytest.mark.parametrize("rule", ["paper", "published"])
def test_selected_subtype_has_its_colours_and_its_parents_size(
    rule: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a perfect selector the size facts are those without one, and the colours are those of
    the true subtypes."""
    TrueSubtypes.world = world
    monkeypatch.setattr("seesay.mining.selection.SubtypeSelector", TrueSubtypes)
    monkeypatch.setattr("seesay.models.vision.dual_encoder.DualEncoder", lambda name, options: None)

    spoken: Options = {
        "annotations": f"plain:{world / 'annotations.parquet'}",
        "size_rule": rule,
        "min_answers": 3,
    }
    without = mine_world(world, tmp_path / "without", **spoken)
    selected = mine_world(world, tmp_path / "selected", **spoken, select="truth")
    things = [json.loads(line)["things"] for line in (world / "things.jsonl").open()]
    relabelled = Counter(thing["subtype"] for room in things for thing in room if thing["subtype"])
    assert sum(relabelled.values()) > 100
    facts = knowledge.read(tmp_path / "selected", SizeFact)
    assert facts == knowledge.read(tmp_path / "without", SizeFact)
    assert {"chair", "table"} <= {fact.a for fact in facts}
    assert (without.facts["sizes"], len(facts)) == (
        selected.facts["sizes"],
        selected.facts["sizes"],
    )
    colored = {fact.object: fact for fact in knowledge.read(tmp_path / "selected", ColorFact)}
    often = {name for name, count in relabelled.items() if count >= 6}
    assert often
    assert often <= colored.keys()
    assert colored.keys() - {
        fact.object for fact in knowledge.read(tmp_path / "without", ColorFact)
    } <= set(relabelled)


def test_size_classes(tmp_path: Path) -> None:
    """Six areas that rise evenly: two classes compare 3 × 3 of them, six classes every pair."""
    path = small(tmp_path, "ant", "bus", "cup", "dog", "elk", "fox")
    for classes, compared in ((2, 9), (6, 15)):
        result = mine_boxes(path, tmp_path / str(classes), classes=classes)
        assert result.facts["sizes"] == 2 * compared
        assert result.to_json()["counting"]["classes"] == classes
    assert mine_boxes(path, tmp_path / "5").to_json()["counting"]["classes"] == 5
    with pytest.raises(UserError, match="started with classes 2, not 5"):
        mine_boxes(path, tmp_path / "2")


def test_strict_labels(tmp_path: Path) -> None:
    """Two of ten pictures show the cup larger than the box, and the box is larger in seven of ten
    than the dog."""
    rows = [
        ("", "box", "dog", 0, 7),
        ("", "box", "dog", 1, 3),
        ("", "box", "cup", 0, 8),
        ("", "box", "cup", 1, 2),
    ]
    tables = {kind: [tmp_path / f"part.{kind}.parquet"] for kind in LABELS}
    write_counts(tables["sizes"][0], counted(*rows))
    for kind in ("places", "colors"):
        write_counts(tables[kind][0], COUNTS.empty_table())
    counts = count_relations.CountedParts(tables, 10, Counter())
    written = [
        write_facts(tmp_path, counts, Thresholds(1, 1, 1, 1, rule))[0]["sizes"]
        for rule in ("published", "paper")
    ]
    assert written == [4, 2]


def test_lexicon_extends_the_rule_and_reports_its_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five names; the lexicon has three of them and makes the stool, which no ending does, a
    chair."""
    isa = tmp_path / "isa.ndjson"
    isa.write_text(
        json.dumps({"concept": "Chair", "emittingConcepts": ["Stool", "Throne", "Kitchen chair"]})
        + "\n"
    )
    monkeypatch.setattr("seesay.mining.conceptnet.fetch_unpacked", lambda package, name: isa)
    names = {"chair": 120, "kitchen chair": 30, "stool": 20, "table": 100, "cup": 10, "throne": 9}
    subtypes = pipeline.find_subtypes(names, "paper", ["conceptnet"])
    assert subtypes.counts["chair"] == {"chair": 120, "kitchen chair": 30, "stool": 20}
    assert subtypes.by_ending == {"kitchen chair"}
    assert subtypes.coverage == {"conceptnet": {"names": 5, "covered": 3, "subtypes": 1}}
    captions = tmp_path / "captions.txt"
    captions.write_text("a chair\n" * 120 + "a stool\n" * 20)
    result = mine(f"captions:{captions}", tmp_path / "k", lexicons=("conceptnet",), workers=1)
    assert result.lexicons == {"conceptnet": {"names": 2, "covered": 2, "subtypes": 1}}
    assert json.loads((tmp_path / "k/summary.json").read_text())["lexicons"] == result.lexicons


def test_options_without_effect_are_refused(world: Path, tmp_path: Path) -> None:
    path = small(tmp_path, "cup", "bus")
    spoken = tmp_path / "captions.txt"
    spoken.write_text("a cup\n")
    depth_rules: Options = {"size_rule": "paper", "space_rule": "paper"}
    captions_only: Options = {"annotations": f"captions:{spoken}"}
    cases: list[tuple[Options, str]] = [
        ({"lexicons": ("wordnet",)}, "--lexicon needs names from captions"),
        ({"select": "clip"}, "--select needs picture files"),
        ({"colors": "pixels"}, "--colors needs picture files"),
        ({"depth": "fastdepth"}, "leave out --depth fastdepth"),
        ({**depth_rules, "depth": "given"}, "the annotation names none"),
        ({**depth_rules, "depth": "some/model"}, "--depth needs picture files"),
        ({"subtype_rule": "papr"}, "Unknown subtype rule 'papr'"),
        (captions_only, "leave out --size-rule"),
        ({**captions_only, **depth_rules, "images": tmp_path}, "leave out --images"),
        ({**captions_only, **depth_rules, "transitive": True}, "leave out --transitive"),
        ({**captions_only, **depth_rules, "min_regions": 9}, "leave out --min-regions"),
        ({**captions_only, **depth_rules, "classes": 4}, "leave out --classes"),
        ({**captions_only, **depth_rules, "label_rule": "paper"}, "leave out --label-rule"),
    ]
    for number, (options, message) in enumerate(cases):
        with pytest.raises(UserError, match=message):
            mine_boxes(path, tmp_path / f"k{number}", **options)


def test_files_of_an_interrupted_run(world: Path, tmp_path: Path) -> None:
    """Another key is another format, by which begun runs could not be resumed: it would need
    another number."""
    mine_world(world, tmp_path, **BOXES, colors="none")
    keys = {
        "request.json": ["format", "annotations", "files", "images", "rows"],
        "pictures/cut.json": ["parts", "bad"],
        "counts/counting.json": [
            *(
                "format",
                "size_rule",
                "space_rule",
                "depth",
                "colors",
                "select",
                "min_regions",
                "classes",
            ),
            "subtypes",
        ],
        "counts/part-00000.done.json": ["pictures", "bad"],
    }
    for name, expected in keys.items():
        path = tmp_path / "work" / name
        content = json.loads(path.read_text())
        assert sorted(content) == sorted(expected)
        path.write_text(json.dumps(content))
    before = (tmp_path / "sizes.parquet").read_bytes()
    for path in (tmp_path / "work/counts").glob("part-00001.*"):
        path.unlink()
    mine_world(world, tmp_path, **BOXES, colors="none")
    assert (tmp_path / "sizes.parquet").read_bytes() == before


def test_pictures_are_found_by_their_ids(world: Path, tmp_path: Path) -> None:
    mine_world(world, tmp_path, **BOXES)
    pictures = annotated_pictures(tmp_path, ["3", "40", "no such"])
    files = {picture["id"]: picture["path"] for picture in pictures}
    assert files == {name: str(world / f"images/{name}.jpg") for name in ("3", "40")}
    assert list(annotated_pictures(tmp_path / "elsewhere", ["3"])) == []


def test_mistakes_are_one_sentence(world: Path, tmp_path: Path) -> None:
    cases: list[tuple[Options, str]] = [
        ({"size_rule": "papr"}, "Unknown size rule 'papr'"),
        ({"engine": "spark"}, "Unknown engine 'spark'"),
        ({"lexicons": ("roget",)}, "Unknown lexicon 'roget'"),
        ({"annotations": "coca:x"}, "Did you mean 'coco'"),
    ]
    for options, message in cases:
        with pytest.raises(UserError, match=message):
            mine_world(world, tmp_path / "mistakes", **options)
    bare = rooms.write_rooms(tmp_path / "bare", 3)
    no_files = {"path": "", "depth": ""}
    rows = [
        json.loads(line) | no_files
        for line in (bare / "annotations.jsonl").read_text().splitlines()
    ]
    (bare / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match="--size-rule boxes --space-rule boxes"):
        mine_world(world, tmp_path / "k", annotations=f"plain:{bare / 'bare.jsonl'}")
    (bare / "broken.jsonl").write_text("{")
    with pytest.raises(UserError, match=r"no picture that can be used \(not JSON, and so on"):
        mine_world(world, tmp_path / "none", annotations=f"plain:{bare / 'broken.jsonl'}")


def test_missing_and_broken_files_are_counted_by_reason(world: Path, tmp_path: Path) -> None:
    some = rooms.write_rooms(tmp_path / "some", 3, width=160, height=120)
    parts = [tmp_path / "part.parquet"]
    table = pq.read_table(some / "annotations.parquet")
    table = table.set_column(
        table.column_names.index("depth"),
        "depth",
        [[str(some / "depth/1.png"), str(some / "none.png"), ""]],
    )
    pq.write_table(table, parts[0])
    counts = count_relations.count_parts(parts, tmp_path / "counts", CountingConfig(depth="given"))
    assert counts.bad == {"the depth map is missing": 1, "no depth map is named": 1}
    assert counts.pictures == 3


def test_batches_and_threads_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = write_parts(tmp_path / "parts", 300, 50)
    at_once = count_relations.count_parts(parts, tmp_path / "at-once", CountingConfig())
    monkeypatch.setattr(count_relations, "BATCH", 7)
    bit_by_bit = count_relations.count_parts(parts, tmp_path / "bit-by-bit", CountingConfig())
    for workers, counts in ((1, at_once), (2, bit_by_bit)):
        folder = counts.tables["sizes"][0].parent
        assert write_facts(folder, counts, Thresholds(2, 2, 1), workers=workers)[0]["places"] > 100
        assert not (folder / "temporary").exists()
    for name in ("sizes.parquet", "places.parquet"):
        assert (tmp_path / "at-once" / name).read_bytes() == (
            tmp_path / "bit-by-bit" / name
        ).read_bytes()
    assert at_once.pictures == bit_by_bit.pictures == 300
