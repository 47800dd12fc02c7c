"""Items of several logs: found by id or text, never matched where anything says otherwise."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seesay import api
from seesay.errors import UserError
from seesay.metrics import mcnemar
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.pairing import read_logs

CHOICES = ["red", "green", "blue"]


def rows(count: int = 40, wrong: int = 2) -> list[dict[str, Any]]:
    """Rows of anyone's making, of which every `wrong`th is wrong."""
    return [
        {
            "id": f"q{number}",
            "question": f"What color is thing {number}?",
            "choices": CHOICES,
            "answer": "red",
            "object": f"thing {number // 2}",
            "correct": number % wrong != 0,
        }
        for number in range(count)
    ]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return write(tmp_path / "first.jsonl", rows())


def test_a_comparison_is_that_of_the_scores(first: Path, tmp_path: Path) -> None:
    second = write(tmp_path / "second.jsonl", rows(wrong=5))
    (comparison,) = api.results([first, second]).compare(strict=True)
    # 40 items: 20 are right in the one, 32 in the other
    assert (comparison.value_a, comparison.value_b, comparison.n) == (0.5, 0.8, 40)
    assert comparison.objects == 40
    # 4 are wrong in both (0, 10, 20, 30), so that 16 and 4 differ
    a = np.array([[1, 1]] * 4 + [[0, 1]] * 16)
    b = 1 - a[:, :1]
    stats_b = np.concatenate([b, np.ones_like(b)], axis=1)
    assert comparison.p_mcnemar == pytest.approx(mcnemar(a[None], stats_b[None]))
    (clustered,) = api.results([first, second], cluster="object").compare(strict=True)
    assert clustered.objects == 20
    assert clustered.p_mcnemar is None
    assert clustered.difference == comparison.difference


def test_order_and_missing_items_do_not_matter(first: Path, tmp_path: Path) -> None:
    lines = rows(wrong=5)
    expected = write(tmp_path / "in-order.jsonl", lines[:30])
    shuffled = write(tmp_path / "shuffled.jsonl", lines[:30][::-1])
    (straight,) = api.results([first, expected]).compare(strict=True)
    (mixed,) = api.results([first, shuffled]).compare(strict=True)
    assert mixed.n == 30
    for name in ("value_a", "value_b", "low", "high", "p_signflip", "p_bootstrap"):
        assert getattr(mixed, name) == getattr(straight, name)


def test_items_are_found_by_text(first: Path, tmp_path: Path) -> None:
    lines = rows(wrong=5)
    for number, line in enumerate(lines):
        line["id"] = f"other {number}"
        line["question"] = f" {line['question']}\n"
    second = write(tmp_path / "second.jsonl", lines)
    (comparison,) = api.results([first, second]).compare(strict=True)
    assert (comparison.value_b, comparison.n) == (0.8, 40)
    assert "same:text" in comparison.signature_a


def twice(lines: list[dict[str, Any]]) -> None:
    lines.append({**lines[0], "correct": not lines[0]["correct"]})


def other_choices(lines: list[dict[str, Any]]) -> None:
    lines[0]["choices"] = ["red", "green", "black"]


def other_answer(lines: list[dict[str, Any]]) -> None:
    lines[0]["answer"] = "green"


def other_text(lines: list[dict[str, Any]]) -> None:
    lines[0]["question"] = "What color is something else?"


def other_cluster(lines: list[dict[str, Any]]) -> None:
    lines[0]["object"] = "something else"


def no_score(lines: list[dict[str, Any]]) -> None:
    lines[0]["correct"] = None


def strange_score(lines: list[dict[str, Any]]) -> None:
    lines[0]["correct"] = "perhaps"


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (twice, "2 items have ids that are there more than once"),
        (other_choices, "1 items have other choices"),
        (other_answer, "1 items have another right answer"),
        (other_text, "1 items have another text"),
        (other_cluster, "1 items have another cluster"),
        (no_score, "1 rows cannot be used (row 1: it has no score)"),
        (strange_score, "1 rows cannot be used (row 1: its score 'perhaps' is not a number)"),
    ],
)
def test_an_item_that_differs_is_reported_and_not_compared(
    change: Callable[[list[dict[str, Any]]], None],
    reported: str,
    first: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines = rows(wrong=5)
    change(lines)
    second = write(tmp_path / "second.jsonl", lines)
    with caplog.at_level(logging.WARNING):
        results = api.results([first, second], cluster="object")
    (comparison,) = results.compare(strict=True)
    assert comparison.n == 39
    assert reported in caplog.text
    assert any(reported in note for note in results.runs[1].manifest.notes)


def test_choices_in_another_order_are_compared_and_reported(first: Path, tmp_path: Path) -> None:
    lines = rows(wrong=5)
    lines[0]["choices"] = CHOICES[::-1]
    second = write(tmp_path / "second.jsonl", lines)
    results = api.results([first, second])
    (comparison,) = results.compare(strict=True)
    assert comparison.n == 40
    assert results.runs[1].manifest.notes == [
        "1 items have their choices in another order, and are compared (q0)"
    ]


def test_numbers_as_ids_of_other_texts_are_no_match(tmp_path: Path) -> None:
    paths = []
    for name in ("a", "b"):
        lines = [
            {"id": number, "question": f"{name} {number}?", "correct": 1} for number in range(20)
        ]
        paths.append(write(tmp_path / f"{name}.jsonl", lines))
    with pytest.raises(UserError, match="share no question"):
        api.results(paths).compare(strict=True)


def test_logs_without_a_common_item_are_refused(first: Path, tmp_path: Path) -> None:
    second = write(tmp_path / "b.jsonl", [{"id": "x", "question": "Why?", "correct": True}])
    with pytest.raises(UserError, match="share no item by id or text: the one has q0; q1; q2, the"):
        read_logs([first, second], LogKeys())
    with pytest.raises(UserError, match="No item of these logs has a field 'genre'"):
        read_logs([first], LogKeys(cluster="genre"))
    with pytest.raises(UserError, match="give files"):
        api.results(tmp_path, cluster="object")


def test_scores_between_right_and_wrong_are_averaged(tmp_path: Path) -> None:
    paths = []
    for name, score in (("a", 0.25), ("b", 1.5)):
        lines = [{"id": f"q{number}", "score": score * (number % 3)} for number in range(30)]
        paths.append(write(tmp_path / f"{name}.jsonl", lines))
    results = api.results(paths)
    (comparison,) = results.compare(strict=True)
    assert comparison.metric == "mean_score"
    assert (comparison.value_a, comparison.value_b) == pytest.approx((0.25, 1.5))
    assert comparison.p_mcnemar is None


def test_a_log_alone_has_its_figure_and_no_chance(first: Path, tmp_path: Path) -> None:
    (run,) = api.results(first).runs
    figure = run.figures[0]
    assert (figure.metric, figure.value, figure.n, figure.chance) == ("accuracy", 0.5, 40, None)
    page = tmp_path / "page.html"
    api.results(first).save_report(page)
    assert "first" in page.read_text()


def test_tasks_that_all_logs_name_stay_apart(tmp_path: Path) -> None:
    paths = []
    for model in ("a", "b"):
        for task in ("colors", "sizes"):
            lines = [{**row, "task": task, "model": model} for row in rows()]
            paths.append(write(tmp_path / f"{model}-{task}.jsonl", lines))
    comparisons = api.results(paths).compare(strict=True)
    assert [(c.task, c.a, c.b) for c in comparisons] == [("colors", "a", "b"), ("sizes", "a", "b")]
