"""Which areas are asked about (MALeViC's Figure 3): by hand, and in the published files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.program import error_here
from tests.shared_data import shared

from seesay.cli import main
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import test_plan as plan_of
from seesay.scenes.statistics import QueriedArea, generate_areas, read_areas, summaries


def test_a_distribution_by_hand() -> None:
    areas = [
        QueriedArea("pos", "big", "big", 10),
        QueriedArea("pos", "big", "small", 4),
        QueriedArea("pos", "small", "big", 20),
    ]
    by = {(row.by, row.adjective): row for row in summaries(areas)}
    big = by["true", "big"]
    assert (big.items, big.mean, big.low, big.quartiles, big.high) == (
        2,
        15,
        10,
        (12.5, 15, 17.5),
        20,
    )
    assert big.sd == pytest.approx(50**0.5)
    assert [by["used", word].items for word in ("big", "small")] == [2, 1]
    assert by["true", "small"].sd == 0


def test_the_published_superlatives() -> None:
    """2,000 test items of SUP1: half biggest, half smallest, and no size that gives itself away
    (radius 30 or 120)."""
    folder = shared("malevic/sup1")
    rows, bad = read_areas(folder)
    assert not bad
    by_group = {(row.by, row.adjective): row for row in summaries(rows)}
    assert [
        by_group[by, word].items for by in ("true", "used") for word in ("biggest", "smallest")
    ] == [1000] * 4
    annotation = json.loads((folder / "annotation" / "test_annotation.json").read_bytes())
    questions = json.loads((folder / "dataset" / "test.json").read_bytes())["questions"]
    areas = []
    for question in questions:  # from the raw files: the object of that colour and shape
        _, color, shape, *_ = question["question"].split()
        things = annotation[str(question["image_index"])][1]["objects"]
        (thing,) = [thing for thing in things if (thing["color"], thing["shape"]) == (color, shape)]
        areas += [int(thing["area"])] if thing["size"] == "biggest" else []
    assert by_group["true", "biggest"].mean == pytest.approx(sum(areas) / len(areas))
    assert (by_group["true", "smallest"].low, by_group["true", "biggest"].high) == (
        5013,
        4 * 110**2,
    )


def test_a_written_data_set_is_read_as_it_was_generated(tmp_path: Path) -> None:
    plan = plan_of("set+pos", 80)
    write_dataset(
        SceneConfig(plan.task),
        plan,
        SceneOutput(tmp_path / "set+pos", picture=None, formats=("json",)),
    )
    rows, bad = read_areas(tmp_path / "set+pos")
    assert not bad
    assert rows == generate_areas("set+pos", 80)


def test_the_published_examples() -> None:
    rows, _ = read_areas(shared("malevic/examples/set-pos"))
    assert {row.true for row in rows} == {"big", "small"}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(
            [
                "scenes",
                "stats",
                "-t",
                "pos1",
                "-n",
                "80",
                "--json",
                "-o",
                str(tmp_path / "areas.html"),
            ]
        )
    printed = json.loads(capsys.readouterr().out)
    assert [row["items"] for row in printed["rows"]] == [40] * 4
    assert "POS1: areas of queried objects" in (tmp_path / "areas.html").read_text(encoding="utf-8")
    assert "no questions" in error_here(capsys, "scenes", "stats", tmp_path)
    assert "There is no folder" in error_here(capsys, "scenes", "stats", tmp_path / "none")
