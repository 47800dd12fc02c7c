"""CoDa against the published files and against small ones worked by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.tasks import load_task
from seesay.tasks.template_files import read_template_file

TEMPLATES = read_template_file("coda")["templates"]

Rows = list[dict[str, object]]


def rating(kind: str, worker: int, **shares: int) -> dict[str, object]:
    ratings = {colour: shares.get(colour, 0) for colour in COLORS}
    return {
        "class_id": kind,
        "worker_id": worker,
        "action": "submitted",
        "included": True,
        **ratings,
    }


def thing(kind: str, name: str, *, plural_only: str | None = None) -> dict[str, object]:
    singular = (
        {"object_s": None, "areis_s": None} if plural_only else {"object_s": name, "areis_s": "is"}
    )
    plural = {"object_pl": name if plural_only else f"{name}s", "areis_pl": plural_only or "are"}
    return {"class_id": kind, "display_name": name.capitalize(), **singular, **plural}


def write(folder: Path, annotations: Rows, objects: Rows) -> Path:
    for name, rows in (("annotations.jsonl", annotations), ("objects.jsonl", objects)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def test_the_published_files_give_the_published_groups() -> None:
    task = load_task("coda", shared("coda/annotations.jsonl").parent)
    assert len(task.questions) == 521
    assert task.provenance.bad_rows == ()
    # What the procedure of Paik et al. 2021 gives, wherever its k-means starts, once it has dropped
    # 15 annotations.
    assert Counter(q.tags["group"] for q in task.questions) == {
        "single": 198,
        "multi": 208,
        "any": 115,
    }
    assert all(sum(q.gold.values()) == pytest.approx(1) for q in task.questions)
    questions = {q.object: q for q in task.questions}
    assert TEMPLATES[0].ask(questions["Zebra"]).text == "Most zebras are [MASK]."
    assert TEMPLATES[-1].ask(questions["Zebra"]).text == "This zebra is [MASK]."
    assert TEMPLATES[-1].ask(questions["Jeans"]).text == "These jeans are [MASK]."
    assert TEMPLATES[-1].ask(questions["Popcorn"]).text == "This popcorn is [MASK]."
    assert [questions[name].tags["group"] for name in ("Blood", "Strawberry", "Car")] == [
        "single",
        "multi",
        "any",
    ]
    assert max(questions["Blood"].gold, key=questions["Blood"].gold.__getitem__) == "red"


def test_templates_are_the_published_ones() -> None:
    published = shared("coda/templates.yaml").read_text().split("text-masked")[1]
    lines = [line.strip()[2:] for line in published.splitlines() if line.strip().startswith("- ")]
    rows = [
        template.text.replace("{things} {are}", "{object_areis_pl}").replace(
            "{this} {thing} {is}", "This {object_areis_s}"
        )
        for template in TEMPLATES
    ]
    assert rows == lines


def test_annotations_are_normalised_then_averaged(tmp_path: Path) -> None:
    annotations = [
        rating("/m/1", 0, red=5, green=5),
        rating("/m/1", 1, red=1),
        rating("/m/2", 0, blue=2),
    ]
    task = load_task(
        "coda",
        write(
            tmp_path,
            annotations,
            [thing("/m/1", "apple"), thing("/m/2", "jeans", plural_only="are")],
        ),
    )
    # red: (1/2 + 1) / 2, green: (1/2 + 0) / 2
    assert task.questions[0].gold == {"green": 0.25, "red": 0.75}
    assert task.questions[1].gold == {"blue": 1.0}


def test_an_annotation_that_disagrees_is_dropped(tmp_path: Path) -> None:
    many = [rating("/m/1", worker, red=5, orange=3, yellow=1) for worker in range(4)]
    odd = rating(
        "/m/1", 9, **{colour: 1 for colour in COLORS if colour not in ("red", "orange", "yellow")}
    )
    task = load_task("coda", write(tmp_path, [*many, odd], [thing("/m/1", "tomato")]))
    assert set(task.questions[0].gold) == {"red", "orange", "yellow"}


def test_one_flat_annotation_is_kept(tmp_path: Path) -> None:
    flat = rating("/m/1", 0, **dict.fromkeys(COLORS, 2))
    task = load_task("coda", write(tmp_path, [flat], [thing("/m/1", "balloon")]))
    assert task.questions[0].gold == pytest.approx(dict.fromkeys(COLORS, 1 / 11))


def test_bad_rows_are_skipped_and_reported(tmp_path: Path) -> None:
    good = rating("/m/1", 0, red=5)
    annotations: Rows = [
        good,
        {**good, "worker_id": 1, "included": False},
        {**good, "worker_id": "two"},
        {**good, "worker_id": 3, "red": 9},
        rating("/m/1", 4),
        good,
        {**good, "included": "yes"},
    ]
    objects = [
        thing("/m/1", "cherry"),
        thing("/m/1", "cherry"),
        thing("/m/2", "ghost"),
        {**thing("/m/3", "x"), "areis_pl": "be"},
    ]
    task = load_task("coda", write(tmp_path, annotations, objects))
    assert [question.object for question in task.questions] == ["Cherry"]
    assert task.provenance.bad_rows == (
        BadRow(3, "'worker_id' is not a whole number from 0 to 1000000000", "annotations.jsonl"),
        BadRow(4, "'red' is not a whole number from 0 to 5", "annotations.jsonl"),
        BadRow(5, "every rating is zero", "annotations.jsonl"),
        BadRow(6, "repeats row 1", "annotations.jsonl"),
        BadRow(7, "'included' is neither true nor false", "annotations.jsonl"),
        BadRow(2, "repeats row 1", "objects.jsonl"),
        BadRow(4, "'areis_pl' is neither 'is' nor 'are'", "objects.jsonl"),
        BadRow(3, "nobody rated 'Ghost'", "objects.jsonl"),
    )


def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    with pytest.raises(UserError, match="`seesay data fetch coda`"):
        load_task("coda")
    write(tmp_path, [{**rating("/m/1", 0), "included": False}], [thing("/m/1", "cherry")])
    with pytest.raises(UserError, match="every annotation was skipped"):
        load_task("coda", tmp_path)
    with pytest.raises(UserError, match="CoDa needs the folder"):
        load_task("coda", tmp_path / "annotations.jsonl")
