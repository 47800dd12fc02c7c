"""The table of answers: rows come back as they were added, and what they share is held once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.strategies import answers, scores

from seesay.questions import Answer, Scores
from seesay.runs.answer_table import NO_SCORES, AnswerTable, PromptScores, ScoreColumns

RANKED = Scores((-1.0, -2.0), (1, 2), (3, 4), (1, 7))
UNRANKED = Scores((-3.0, float("-inf")), (1, 2), (3, 4))


def row(question: str, template: str, row_scores: Scores, neutral: Scores | None = None) -> Answer:
    return Answer(question, template, ("a", "b"), row_scores, neutral)


ROWS = [
    row("q1", "is", RANKED, UNRANKED),
    row("q1", "was", UNRANKED, UNRANKED),
    row("q2", "is", RANKED, UNRANKED),
    row("q2", "was", UNRANKED),
]


@given(st.lists(answers(), max_size=5))
def test_rows_come_back(rows: list[Answer]) -> None:
    table = AnswerTable.of(rows)
    assert list(table) == rows
    assert [table[number] for number in range(len(table))] == rows
    assert table == AnswerTable.of(rows)


@given(st.lists(scores(size=3), min_size=1, max_size=6))
def test_matrices_hold_what_the_scores_hold(listed: list[Scores]) -> None:
    columns = ScoreColumns()
    places = np.array([columns.append(one_scores) for one_scores in listed])
    matrix = columns.matrix(places, 3)
    np.testing.assert_array_equal(matrix.logp, [one.logp for one in listed])
    np.testing.assert_array_equal(matrix.tokens, [one.tokens for one in listed])
    np.testing.assert_array_equal(matrix.chars, [one.chars for one in listed])
    ranks = [one.rank or (0, 0, 0) for one in listed]
    np.testing.assert_array_equal(columns.rank_matrix(places, 3), ranks)


def test_scores_of_another_width_are_refused() -> None:
    columns = ScoreColumns()
    place = columns.append(RANKED)
    with pytest.raises(ValueError, match="differ in length"):
        columns.matrix(np.array([place]), 3)


def test_shared_scores_and_lengths_are_held_once() -> None:
    table = AnswerTable.of(ROWS)
    assert len(table.columns) == 2
    assert len(table.columns.lengths) == 2  # in tokens, and in characters
    assert table.places.tolist() == [0, 1, 0, 1]
    assert table.neutral_places.tolist() == [1, 1, 1, NO_SCORES]
    assert table.has_neutral


def test_parts_of_a_table() -> None:
    table = AnswerTable.of(ROWS)
    assert list(table[1:3]) == ROWS[1:3]
    assert list(table.select({"q2"}, {"is", "was"})) == ROWS[2:]
    assert list(table.select({"q1", "q2"}, {"was"})) == ROWS[1::2]
    assert table.rows_by_question("was") == {"q1": 1, "q2": 3}
    assert len(table[:0]) == 0
    assert not table[3:].has_neutral
    assert table[:2] != table[2:]


def test_tables_are_equal_whatever_the_places_of_their_scores() -> None:
    table = AnswerTable.of(ROWS)
    other = AnswerTable.of(ROWS[::-1]).take([3, 2, 1, 0])
    assert other.places.tolist() != table.places.tolist()
    assert other == table


def test_replies_are_kept_until_they_are_dropped() -> None:
    replied = Scores((-1.0, -2.0), (1, 1), (1, 1), replies=(("red", "a", True),))
    table = AnswerTable.of([row("q1", "is", RANKED), row("q2", "is", replied)])
    assert list(table.replies) == [(), (("red", "a", True),)]
    assert table[1].scores == replied
    table.columns.drop_details()
    assert list(table.replies) == [(), ()]
    assert table[1].scores.logp.tolist() == [-1.0, -2.0]  # type: ignore[attr-defined]


def test_the_later_scores_of_a_prompt_count() -> None:
    prompts = PromptScores({"k1": RANKED, "k2": RANKED})
    prompts.add("k1", UNRANKED)
    prompts.discard("k2")
    prompts.discard("unknown")
    assert "k1" in prompts
    assert "k2" not in prompts
    assert list(prompts.view(["k1", "k1"])) == [UNRANKED, UNRANKED]
    assert list(prompts.view(["k1", "k1"])[1:]) == [UNRANKED]
