"""The task files of docs/tasks/prior.md for published sets, with made-up rows of their columns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.docs_blocks import blocks
from tests.models.vision.test_dual_encoder import picture

from seesay import api
from seesay.questions import Task
from seesay.tasks import load_task
from seesay.tasks.from_file.check import check

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tasks" / "prior.md"
FILES = {block.title: block.text for block in blocks(PAGE.read_text("utf-8")) if block.title}


def image(folder: Path, seed: int) -> dict[str, Any]:
    """A picture as `datasets` stores it in Parquet."""
    path = folder / f"{seed}.png"
    picture(seed).save(path)
    return {"bytes": path.read_bytes(), "path": path.name}


def imported(folder: Path, name: str, rows: list[dict[str, Any]]) -> Task:
    """The task of a file of the page, its rows from a Parquet file with the set's columns."""
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    lines = [
        "rows: rows.parquet" if line.startswith("rows: hf:") else line
        for line in FILES[f"{name}.yaml"].splitlines()
    ]
    assert "rows: rows.parquet" in lines
    path = folder / f"{name}.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [str(problem) for problem in check(path).errors] == []
    return load_task(str(path))


def shown(task: Task) -> list[bytes]:
    return [Path(str(question.picture)).read_bytes() for question in task.questions]


def test_visual_counterfact_size_asks_here_and_usually_of_both_pictures(tmp_path: Path) -> None:
    original, counterfact = image(tmp_path, 0), image(tmp_path, 1)
    row = {"correct_answer": "bus", "incorrect_answer": "ant"}
    pictures = {"original_image": original, "counterfact_image": counterfact}
    task = imported(tmp_path, "visual-counterfact-size", [{**row, **pictures}])
    answers = {question.tags["case"]: list(question.gold) for question in task.questions}
    assert answers == {
        "here original": ["bus"],
        "here counterfactual": ["ant"],
        "usually original": ["bus"],
        "usually counterfactual": ["bus"],
    }
    assert shown(task) == [original["bytes"], counterfact["bytes"]] * 2
    assert [str(part) for part in task.parts] == ["asked=here", "asked=usually"]
    texts = [template.ask(task.questions[1]).text for template in task.templates]
    assert texts == [
        "Which is larger here, bus or ant? [MASK]",
        "Which is larger here, ant or bus? [MASK]",
    ]


def test_visual_counterfact_color_asks_what_is_shown(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "object": thing,
            "correct_answer": "['yellow']",
            "incorrect_answer": color,
            "original_image": image(tmp_path, seed),
            "counterfact_image": image(tmp_path, seed + 1),
        }
        for seed, (thing, color) in enumerate([("lemon", "blue"), ("tomato", "green")])
    ]
    task = imported(tmp_path, "visual-counterfact-color", rows)
    assert [list(question.gold) for question in task.questions] == [["blue"], ["green"]]
    assert shown(task) == [row["counterfact_image"]["bytes"] for row in rows]


def test_vlms_are_biased_weighs_what_is_there_against_what_is_expected(tmp_path: Path) -> None:
    def row(number: int, truth: str) -> dict[str, Any]:
        return {
            "image": image(tmp_path, number),
            "ID": f"logo_{number}",
            "image_path": "x.png",
            "topic": "Logos",
            "sub_topic": "Shoes",
            "prompt": "How many stripes? Answer with a number in curly brackets, e.g., {9}.",
            "ground_truth": truth,
            "expected_bias": "3",
            "with_title": False,
            "type_of_question": "Q1",
            "pixel": 384,
            "metadata": "{}",
        }

    task = imported(tmp_path, "vlms-are-biased", [row(0, "4")])
    (question,) = task.questions
    assert (question.options, dict(question.gold)) == (("4", "3"), {"4": 1.0})
    assert "e.g., {9}." in task.templates[0].ask(question).text
    pq.write_table(pa.Table.from_pylist([row(0, "4"), row(1, "3")]), tmp_path / "rows.parquet")
    again = load_task(str(tmp_path / "vlms-are-biased.yaml"))
    assert [bad.reason for bad in again.provenance.bad_rows] == ["the option '3' is there twice"]


@pytest.mark.parametrize("stored", ["bytes", "struct"])
def test_vilp_asks_each_question_of_three_pictures(stored: str, tmp_path: Path) -> None:
    row: dict[str, Any] = {"question": "A ball is round. What shape is the ball?"}
    for place, answer in enumerate(("Sphere", "Cube", "Torus"), start=1):
        content = image(tmp_path, place)
        row |= {f"image{place}": content["bytes"] if stored == "bytes" else content}
        row |= {f"answer{place}": answer}
    task = imported(tmp_path, "vilp", [row])
    assert [list(question.gold) for question in task.questions] == [["Sphere"], ["Cube"], ["Torus"]]
    assert Counter(question.tags["case"] for question in task.questions).keys() == {
        "prior",
        "first odd",
        "second odd",
    }
    assert len(set(shown(task))) == 3
    (run,) = api.probe("mock", task, resamples=100, output=tmp_path / "runs").runs
    assert len(run.answers) == 3
