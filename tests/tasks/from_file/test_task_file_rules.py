"""Task files: what is done to rows before they become questions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.tasks.written_tasks import inline, prompts


def test_rules_rename_drop_threshold_and_count_and_say_so(tmp_path: Path) -> None:
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
    assert task.data_notes == (
        "1 rows left out: y is -42 (nobody agreed)",
        "1 rows left out: the same x as a row before",
    )


def test_keep_is_by_value_or_by_range(tmp_path: Path) -> None:
    rows = [{"x": str(n), "n": n, "y": "ab"[n % 2]} for n in range(6)]
    ranged = inline(tmp_path, rows, "gold: y\nrules: [{keep: n, at_least: 2, at_most: 4}]")
    assert [q.fields["x"] for q in ranged.questions] == ["2", "3", "4"]
    assert ranged.data_notes == ("3 rows left out: n is not at least 2 and at most 4",)


def test_a_sentence_is_cut_at_its_blank_and_a_row_without_one_is_reported(tmp_path: Path) -> None:
    rows = [
        {"s": "a bird has ___ legs.", "y": "two"},
        {"s": "___ suns shine.", "y": "no"},
        {"s": "nothing to fill.", "y": "no"},
    ]
    rest = 'gold: y\nrules: [{cut: s, at: "___", into: [l, r]}]'
    task = inline(tmp_path, rows, rest, "{l}[MASK]{r}")
    assert prompts(task) == [("a bird has [MASK] legs.", ("no", "two")), ("[MASK] suns shine.", ("No", "Two"))]
    assert [str(row) for row in task.bad_rows] == ["row 3: 's' has no '___' where one is needed"]


def test_rows_are_paired_up_by_a_column(tmp_path: Path) -> None:
    rows = [
        {"x": "cat", "n": 1, "pair": "p"},
        {"x": "dog", "n": 2, "pair": "p"},
        {"x": "ant", "n": 0, "pair": "q"},
    ]
    rest = """
gold: {weights: [larger, smaller]}
options: [larger, smaller]
rules:
  - pair_up: pair
  - compare: [n_a, n_b]
    into: [larger, smaller]
"""
    task = inline(tmp_path, rows, rest, "a {x_a} is [MASK] than a {x_b}")
    assert [(q.fields, q.gold) for q in task.questions] == [({"x_a": "cat", "x_b": "dog"}, {"smaller": 1.0})]
    assert [str(row) for row in task.bad_rows] == ["row 3: 1 rows have 'q' in 'pair' where two make a pair"]


def test_the_share_that_says_larger_comes_from_means_and_standard_deviations(tmp_path: Path) -> None:
    """Φ((10 − 7) / √(3² + 4²)) = Φ(0.6) = 0.725747 (tables of the normal distribution)."""
    rule = "{compare: [m, k], sd: [s, t], into: [more, less]}"
    rest = f"gold: {{weights: [more, less]}}\noptions: [more, less]\nrules: [{rule}]"
    task = inline(tmp_path, [{"x": "a", "m": 10, "k": 7, "s": 3, "t": 4}], rest)
    assert task.questions[0].gold == {"more": 0.725747, "less": 0.274253}


@given(rows=st.integers(2, 30), wanted=st.integers(1, 60), seed=st.integers(0, 5))
def test_drawn_pairs_are_distinct_and_even(rows: int, wanted: int, seed: int) -> None:
    from seesay.data.rows import Row
    from seesay.data.task_files.row_rules import DrawPairs
    from seesay.data.task_files.rules import apply
    from seesay.data.task_files.tables import Table

    table = Table([Row(n, {"x": str(n)}) for n in range(rows)], {"x": None})
    rule = DrawPairs(draw_pairs=wanted, seed=seed)
    drawn = apply(rule, table)
    pairs = [tuple(sorted((row.cells["x_a"], row.cells["x_b"]))) for row in drawn.rows]
    assert len(set(pairs)) == len(pairs) == min(wanted, rows * (rows - 1) // 2)
    assert drawn.rows == apply(rule, table).rows
    if wanted <= rows // 2:  # one order is enough: nobody is in two pairs
        assert max(Counter(name for pair in pairs for name in pair).values()) == 1


def test_rename_leaves_what_is_no_text(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"x": "a", "y": "1", "k": ["old", {"old": 1}]}, {"x": "b", "y": "2", "k": "old"}]
    task = inline(tmp_path, rows, "gold: y\nrules: [{rename: k, values: {old: new}}, {count: k, into: n}]\ntags: [n]")
    assert [q.tags["n"] for q in task.questions] == ["2", "1"]
