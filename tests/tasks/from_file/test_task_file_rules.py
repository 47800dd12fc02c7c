"""Task files: what is done to rows before they become questions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tasks.written_tasks import inline, prompts

from seesay.errors import UserError


def test_rules_rename_drop_threshold_and_count_and_report_it(tmp_path: Path) -> None:
    rows = [
        {"x": "a", "y": 1, "n": "[1, 2]", "p": 0.95},
        {"x": "b", "y": -1, "n": "[]", "p": 0.5},
        {"x": "c", "y": -42, "n": "[1]", "p": 0.1},
        {"x": "a", "y": 1, "n": "[1]", "p": 0.9},
    ]
    rules = """
rules:
  - drop: y
    values: -42
    because: nobody agreed
  - unique: x
  - rename: y
    values: {1: more, -1: less}
  - count: n
    into: votes
  - threshold: p
    at: [0.2, 0.8]
    names: [sure, unsure, sure]
    into: certainty
"""
    task = inline(tmp_path, rows, f"gold: y\ntags: [votes, certainty]{rules}")
    assert [(q.gold, q.tags) for q in task.questions] == [
        ({"more": 1.0}, {"votes": "2", "certainty": "sure"}),
        ({"less": 1.0}, {"votes": "0", "certainty": "unsure"}),
    ]
    assert task.provenance.notes == (
        "1 row left out: y is -42 (nobody agreed)",
        "1 row left out: the same x as a row before",
    )


def test_keep_is_by_value_or_by_range(tmp_path: Path) -> None:
    rows = [{"x": str(n), "n": n, "y": "ab"[n % 2]} for n in range(6)]
    ranged = inline(tmp_path, rows, "gold: y\nrules: [{keep: n, at_least: 2, at_most: 4}]")
    assert [q.fields["x"] for q in ranged.questions] == ["2", "3", "4"]
    assert ranged.provenance.notes == ("3 rows left out: n is not at least 2 and at most 4",)


def test_a_sentence_is_cut_at_its_blank_and_a_row_without_one_is_reported(tmp_path: Path) -> None:
    rows = [
        {"s": "a bird has ___ legs.", "y": "two"},
        {"s": "___ suns shine.", "y": "no"},
        {"s": "nothing to fill.", "y": "no"},
    ]
    declaration = 'gold: y\nrules: [{cut: s, at: "___", into: [l, r]}]'
    task = inline(tmp_path, rows, declaration, "{l}[MASK]{r}")
    assert prompts(task) == [
        ("a bird has [MASK] legs.", ("no", "two")),
        ("[MASK] suns shine.", ("No", "Two")),
    ]
    assert [str(row) for row in task.provenance.bad_rows] == [
        "row 3: 's' has no '___' where one is needed"
    ]


def test_rows_are_paired_up_by_a_column(tmp_path: Path) -> None:
    rows = [
        {"x": "cat", "n": 1, "pair": "p"},
        {"x": "dog", "n": 2, "pair": "p"},
        {"x": "ant", "n": 0, "pair": "q"},
    ]
    declaration = """
gold: {weights: [larger, smaller]}
options: [larger, smaller]
rules:
  - pair_up: pair
  - compare: [n_a, n_b]
    into: [larger, smaller]
"""
    task = inline(tmp_path, rows, declaration, "a {x_a} is [MASK] than a {x_b}")
    assert [(q.fields, q.gold) for q in task.questions] == [
        ({"x_a": "cat", "x_b": "dog"}, {"smaller": 1.0})
    ]
    assert [str(row) for row in task.provenance.bad_rows] == [
        "row 3: 1 rows have 'q' in 'pair' where two make a pair"
    ]


def test_the_share_that_says_larger_comes_from_means_and_standard_deviations(
    tmp_path: Path,
) -> None:
    """Φ((10 − 7) / √(3² + 4²)) = Φ(0.6) = 0.725747 (tables of the normal distribution)."""
    rule = "{compare: [m, k], sd: [s, t], into: [more, less]}"
    declaration = f"gold: {{weights: [more, less]}}\noptions: [more, less]\nrules: [{rule}]"
    task = inline(tmp_path, [{"x": "a", "m": 10, "k": 7, "s": 3, "t": 4}], declaration)
    assert task.questions[0].gold == {"more": 0.725747, "less": 0.274253}


@given(rows=st.integers(2, 30), pair_count=st.integers(1, 60), seed=st.integers(0, 5))
def test_random_pairs_are_distinct_and_balanced(rows: int, pair_count: int, seed: int) -> None:
    from seesay.data.rows import Row
    from seesay.data.task_files.row_rules import DrawPairs
    from seesay.data.task_files.rules import apply
    from seesay.data.task_files.tables import Table

    table = Table([Row(n, {"x": str(n)}) for n in range(rows)], {"x": None})
    rule = DrawPairs(draw_pairs=pair_count, seed=seed)
    result = apply(rule, table)
    pairs = [tuple(sorted((row.cells["x_a"], row.cells["x_b"]))) for row in result.rows]
    assert len(set(pairs)) == len(pairs) == min(pair_count, rows * (rows - 1) // 2)
    assert result.rows == apply(rule, table).rows
    if pair_count <= rows // 2:  # one order is enough: nobody is in two pairs
        assert max(Counter(name for pair in pairs for name in pair).values()) == 1


def test_rename_keeps_values_that_are_not_texts(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": "a", "y": "1", "k": ["old", {"old": 1}]},
        {"x": "b", "y": "2", "k": "old"},
    ]
    task = inline(
        tmp_path,
        rows,
        "gold: y\nrules: [{rename: k, values: {old: new}}, {count: k, into: n}]\ntags: [n]",
    )
    assert [q.tags["n"] for q in task.questions] == ["2", "1"]


# What rows should be


def test_expected_values_and_lists(tmp_path: Path) -> None:
    values = ("red", "", "blue", "red;red", "red;;green", "green;red")
    rows: list[dict[str, Any]] = [
        {"x": str(number), "y": value} for number, value in enumerate(values)
    ]
    rules = (
        'rules: [{expect: y, values: [red, green], separator: ";"}]\n'
        'gold: {column: y, separator: ";"}'
    )
    task = inline(tmp_path, rows, f"{rules}\noptions: [red, green]")
    assert [dict(question.gold) for question in task.questions] == [
        {"red": 1.0},
        {"green": 0.5, "red": 0.5},
    ]
    assert [(bad.row, bad.reason) for bad in task.provenance.bad_rows] == [
        (2, "'y' is empty"),
        (3, "'y' is 'blue', not one of 'red', 'green'"),
        (4, "'y' names a word twice: 'red;red'"),
        (5, "'y' has an empty part: 'red;;green'"),
    ]


@pytest.mark.parametrize(
    ("options", "question_count", "bad"),
    [("", 3, 0), (", any_case: true", 2, 0), (", refuse: true", 3, 1)],
)
def test_equal_rows_are_left_out_or_refused(
    tmp_path: Path, options: str, question_count: int, bad: int
) -> None:
    rows = [
        {"x": name, "y": color} for name, color in (("a", "1"), ("A", "2"), ("a", "2"), ("b", "2"))
    ]
    task = inline(tmp_path, rows, f"gold: y\nrules: [{{unique: x{options}}}]")
    assert len(task.questions) == question_count
    assert [row.reason for row in task.provenance.bad_rows] == ["repeats row 1"] * bad
    assert bool(task.provenance.notes) != bool(bad)


def test_options_in_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [{"x": "1", "y": "pear"}, {"x": "2", "y": "apple"}]
    assert inline(tmp_path, rows, "gold: y").questions[0].options == ("apple", "pear")
    ordered = inline(tmp_path, rows, "gold: y\noptions: {answers: y, order: rows}")
    assert ordered.questions[0].options == ("pear", "apple")


# Pairs by rank, and both ways


RANKED = """
rules:
  - {rank_pairs: 8, by: n, ratios: {near: 2, far: 10}, alike: kind}
  - both_ways: {x_a: x_b, n_a: n_b}
  - {compare: [n_a, n_b], into: [more, less]}
id: [x_a, x_b]
object: [x_a, x_b]
options: [more, less]
gold: {weights: [more, less]}
tags: [ratio, alike]
"""


def test_pairs_are_ranked_and_balanced(tmp_path: Path) -> None:
    numbers = {"a": 1, "b": 3, "c": 4, "d": 50, "e": 200, "f": 70, "g": 2, "h": 900}
    rows: list[dict[str, Any]] = [
        {"x": name, "n": number, "kind": "odd" if name in "aceg" else "even"}
        for name, number in numbers.items()
    ]
    task = inline(tmp_path, rows, RANKED, "{x_a} is [MASK] than {x_b}")
    kinds = Counter((question.tags["ratio"], question.tags["alike"]) for question in task.questions)
    assert kinds == dict.fromkeys(
        [(r, k) for r in ("near", "far") for k in ("same", "different")], 4
    )
    for question in task.questions:
        first, second = question.id.split("|")
        larger = numbers[first] > numbers[second]
        assert dict(question.gold) == {"more" if larger else "less": 1.0}
        ratio = max(numbers[first], numbers[second]) / min(numbers[first], numbers[second])
        assert question.tags["ratio"] == ("far" if ratio >= 10 else "near")
        assert question.tags["alike"] == (
            "same" if (first in "aceg") == (second in "aceg") else "different"
        )
        assert ratio >= 2
    ids = {question.id for question in task.questions}
    assert {"|".join(reversed(name.split("|"))) for name in ids} == ids


def test_rows_without_a_number_are_bad_and_too_few_pairs_are_reported(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": name, "n": n, "kind": "k"} for name, n in (("a", 1), ("b", 5), ("c", "much"))
    ]
    task = inline(tmp_path, rows, RANKED, "{x_a} is [MASK] than {x_b}")
    assert [row.reason for row in task.provenance.bad_rows] == [
        "'n' is 'much', not a number above 0"
    ]
    assert task.provenance.notes == ("1 pairs drawn, where 8 were wanted",)


def test_ratios_must_rise_from_above_one(tmp_path: Path) -> None:
    for ratios in ("{a: 5, b: 2}", "{a: 1}"):
        with pytest.raises(UserError, match="'ratios' must rise, and begin above 1"):
            inline(
                tmp_path,
                [{"x": "a", "n": 1}],
                f"gold: x\nrules: [{{rank_pairs: 1, by: n, ratios: {ratios}}}]",
            )


def test_both_ways_adds_what_is_missing_and_refuses_contradictions(tmp_path: Path) -> None:
    facts = (
        "pot over stove",
        "stove over pot",
        "cup over cup",
        "lamp under shelf",
        "shelf over lamp",
        "a beside b",
    )
    rows: list[dict[str, Any]] = []
    for fact in facts:
        first, relation, second = fact.split()
        rows.append({"x": first, "y": second, "is": relation})
    rule = "{both_ways: {x: y}, label: is, opposites: {over: under}, into: both}"
    task = inline(
        tmp_path, rows, f"rules: [{rule}]\nid: [x, y]\nobject: both\ngold: is", "{x} is [MASK] {y}"
    )
    assert {question.id: next(iter(question.gold)) for question in task.questions} == {
        "pot|stove": "over",
        "stove|pot": "under",
        "lamp|shelf": "under",
        "shelf|lamp": "over",
        "a|b": "beside",
        "b|a": "beside",
    }
    assert {question.object for question in task.questions} == {"pot|stove", "lamp|shelf", "a|b"}
    assert [(row.row, row.reason) for row in task.provenance.bad_rows] == [
        (2, "row 1 says that 'pot' is over 'stove'"),
        (3, "compares 'cup' with itself"),
    ]


def test_a_label_needs_its_opposites(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'label' and 'opposites' go together"):
        inline(tmp_path, [{"x": "a", "y": "b"}], "gold: x\nrules: [{both_ways: {x: y}, label: x}]")
