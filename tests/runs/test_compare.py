"""Paired tests between runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.runs.made_up import Counting, task

from seesay.condition import How
from seesay.errors import UserError
from seesay.questions import Answer, Question, Scores, Task, Template
from seesay.reports.tables import comparison_table
from seesay.runs.answer_table import AnswerTable
from seesay.runs.ask import Settings, describe, limit_questions, run
from seesay.runs.compare import compare
from seesay.runs.records import Comparison
from seesay.runs.run import Run


def answered(
    name: str,
    right: list[bool],
    metrics: tuple[str, ...] = ("accuracy",),
    edition: str = "",
    anchors: int = 0,
) -> Run:
    """A run whose model is right or wrong, question by question; of an edition, the first are
    anchors."""
    ids = [f"{edition}{i}" if i >= anchors else f"q{i}" for i in range(len(right))]
    questions = tuple(
        Question(name, {}, ("yes", "no"), {"yes": 1.0}, f"o{name}")
        for name in (ids if edition else [f"q{i}" for i in range(len(right))])
    )
    task_name = f"known@{edition}" if edition else "known"
    whole_task = Task(task_name, "1", "", (Template("is", "It is [MASK]."),), questions, metrics)
    answers = AnswerTable.of(
        Answer(q.id, "is", q.options, Scores((-1.0, -2.0) if ok else (-2.0, -1.0), (1, 1), (3, 2)))
        for q, ok in zip(questions, right, strict=True)
    )
    return Run(
        Path(name + edition),
        describe(Counting(name, fingerprint=name), whole_task, Settings()),
        whole_task,
        answers,
        (),
    )


def test_a_known_example() -> None:
    a = answered("a", [True] * 15 + [False] * 5)
    b = answered("b", [True] * 5 + [False] * 15)
    (comparison,) = compare([a, b], resamples=2000)
    assert (comparison.a, comparison.b, comparison.task, comparison.metric, comparison.n) == (
        "a",
        "b",
        "known",
        "accuracy",
        20,
    )
    assert (comparison.value_a, comparison.value_b, comparison.difference) == (0.75, 0.25, 0.5)
    assert 0.2 < comparison.low < 0.5 < comparison.high < 0.8
    # ten questions that only a has right: 2 × ½¹⁰
    assert comparison.p_mcnemar == pytest.approx(2 / 2**10)
    assert comparison.p_signflip == pytest.approx(2 / 2**10, abs=0.003)
    assert comparison.p_bootstrap < 0.01
    (turned,) = compare([b, a], resamples=2000)
    assert turned.difference == -comparison.difference
    assert turned.p_mcnemar == comparison.p_mcnemar


def test_equal_answers_do_not_differ() -> None:
    right = [True, False, True, True]
    for comparison in compare(
        [
            answered("a", right, ("accuracy", "true_confidence")),
            answered("b", right, ("accuracy", "true_confidence")),
        ]
    ):
        assert comparison.difference == 0
        # none of four objects differs, of which Wilson's upper end is 0.490: no certainty
        assert (comparison.low, comparison.high) == pytest.approx((-0.490, 0.490), abs=1e-3)
        assert comparison.p_bootstrap == comparison.p_signflip == 1
        assert comparison.p_mcnemar == (1 if comparison.metric == "accuracy" else None)


def test_each_run_is_compared_with_the_best_unless_told_otherwise() -> None:
    runs = [
        answered("a", [True, False, False]),
        answered("b", [True] * 3),
        answered("c", [True, True, False]),
    ]
    assert [(c.a, c.b) for c in compare(runs, resamples=100)] == [("a", "b"), ("c", "b")]
    assert [(c.a, c.b) for c in compare(runs, against="a", resamples=100)] == [
        ("b", "a"),
        ("c", "a"),
    ]
    assert [(c.a, c.b) for c in compare(runs, all_pairs=True, resamples=100)] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]


def test_a_comparison_does_not_depend_on_other_runs() -> None:
    """Runs of one task are resampled together."""
    measures = ("accuracy", "true_confidence", "macro_f1")
    runs = [
        answered(name, [bool((row * step) % 3) for row in range(12)], measures)
        for name, step in (("a", 1), ("b", 2), ("c", 4), ("d", 5))
    ]
    together = {
        (c.a, c.b, c.metric): (c.low, c.high, c.p_bootstrap, c.p_signflip)
        for c in compare(runs, all_pairs=True, resamples=500)
    }
    alone = {
        (c.a, c.b, c.metric): (c.low, c.high, c.p_bootstrap, c.p_signflip)
        for pair in combinations(runs, 2)
        for c in compare(pair, resamples=500)
    }
    assert together == alone


def test_a_limited_run_is_not_the_best() -> None:
    full = [answered("a", [True, False, True]), answered("b", [False, False, True])]
    assert [
        (c.a, c.b, c.n) for c in compare([*full, answered("lucky", [True])], resamples=100)
    ] == [
        ("b", "a", 3),
        ("lucky", "a", 1),
    ]


def asked_otherwise(run: Run, folder: str, **changes: Any) -> Run:
    """The same run under another condition."""
    condition = run.manifest.condition.replace(**changes)
    manifest = run.manifest.model_copy(update={"condition": condition})
    return replace(run, folder=Path(folder), manifest=manifest)


def test_a_reference_may_be_named_by_its_model_or_by_its_label() -> None:
    """Where one run has the very label, the model's other conditions are not meant."""
    a = answered("a", [True, False])
    plain = answered("b", [True, True])
    chat = asked_otherwise(plain, "chat", chat="0a1b")
    seeded = asked_otherwise(a, "seeded", shots=2, shot_seed=0)
    for name, reference in (
        ("b", "b"),
        ("b · chat", "b · chat"),
        ("a · 2 shots · seed 0", "a · 2 shots · seed 0"),
    ):
        comparisons = compare([a, plain, chat, seeded], against=name, resamples=100)
        assert {comparison.b for comparison in comparisons} == {reference}
    comparisons = compare([plain, chat, seeded], against="a", resamples=100)
    assert {comparison.b for comparison in comparisons} == {"a · 2 shots · seed 0"}


def test_runs_of_one_condition_are_told_apart_by_how_they_were_asked() -> None:
    b = answered("b", [True, False])
    by_choice = asked_otherwise(b, "choice", how=How.CHOICE)
    (comparison,) = compare([b, by_choice], resamples=100)
    assert (comparison.a, comparison.b) == ("b · by cloze", "b · by choice")


def test_a_reference_is_one_run() -> None:
    a, b = answered("a", [True, False]), answered("b", [True, True])
    other = asked_otherwise(b, "again", scope="sentence")
    with pytest.raises(UserError, match="no run of 'd' to compare with: there are a, b"):
        compare([a, b], against="d")
    with pytest.raises(UserError, match="say which, 'b · scope option', 'b · scope sentence'"):
        compare([a, b, other], against="b")
    chosen = compare([a, b, other], against="b · scope option", resamples=100)
    assert [(c.a, c.b) for c in chosen] == [
        ("a", "b · scope option"),
        ("b · scope sentence", "b · scope option"),
    ]


def test_all_pairs_agree_with_one_reference() -> None:
    """What is computed once for many comparisons is what each alone would compute."""
    runs = [
        answered(name, [i % k > 0 for i in range(30)], ("accuracy", "macro_f1"))
        for name, k in zip("abc", (2, 3, 5), strict=True)
    ]
    alone = []
    for other in runs[:2]:
        alone += compare([other, runs[2]], resamples=300)
    together = compare(runs, resamples=300)
    assert {c.b for c in together} == {"c"}
    assert [c.model_copy(update={"p_holm": 1.0}) for c in together] == [
        c.model_copy(update={"p_holm": 1.0}) for c in alone
    ]


def test_always_right_against_never_right_is_not_certain() -> None:
    (comparison,) = compare([answered("a", [True] * 5), answered("b", [False] * 5)], resamples=200)
    assert (comparison.difference, comparison.high) == (1, 1)
    wilson = 5 / (5 + 1.959964**2)  # Wilson (1927) of 5 of 5
    assert comparison.low == pytest.approx(wilson, abs=1e-6)


def test_runs_that_share_nothing_with_the_best_have_a_best_of_their_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    best = answered("best", [True] * 6)
    rivals = [
        answered("a", [True, False, False], edition="2027-01"),
        answered("b", [True, True, False], edition="2027-01"),
    ]
    for runs in ([best, *rivals], [*rivals, best]):
        caplog.clear()
        (comparison,) = compare(runs, resamples=100)
        assert (comparison.a, comparison.b) == ("a · edition 2027-01", "b · edition 2027-01")
        # only the best one is compared with none
        assert caplog.text.count("share no question of 'known'") == 1


def test_a_run_is_compared_with_the_best_of_those_that_it_shares_questions_with() -> None:
    """The anchors of an edition are the questions that two models of editions share."""
    runs = [
        answered("best", [True] * 30),
        answered("good", ANCHORS_A, edition="2027-01", anchors=8),
        answered("apart", [False] * 4, edition="2028-01"),
        answered("alike", [True] * 4, edition="2028-01"),
    ]
    assert [(c.a, c.b) for c in compare(runs, resamples=100)] == [
        ("good · edition 2027-01", "best"),
        ("apart · edition 2028-01", "alike · edition 2028-01"),
    ]


def test_the_best_is_shown_next_to_a_run_that_only_a_worse_one_shares_questions_with() -> None:
    first = answered("first", [True] * 3)
    middle = answered("middle", [True, False, False] * 2)
    last = answered("last", [False] * 6)
    # the last three questions of the middle one
    apart = replace(last, task=replace(last.task, questions=last.task.questions[3:]))
    apart = replace(apart, answers=AnswerTable.of(list(last.answers)[3:]))
    pairs = [(c.a, c.b) for c in compare([first, middle, apart], resamples=100)]
    assert pairs == [("first", "middle"), ("last", "middle")]


def with_picture(question: Question) -> Question:
    """The same question about a picture."""
    return replace(question, picture="a.png")


def test_a_text_only_model_shares_more_of_a_larger_sample(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text_only = answered("text", [True] * 3)
    seeing = answered("seeing", [True] * 6)
    of_others = tuple(with_picture(question) for question in seeing.task.questions[3:])
    seeing = replace(
        seeing,
        task=replace(seeing.task, questions=of_others),
        answers=AnswerTable.of(list(seeing.answers)[3:]),
    )
    with pytest.raises(UserError) as whole:
        compare([text_only, seeing])
    assert str(whole.value).endswith("of 'known' and are not compared.")
    limited = replace(seeing, manifest=seeing.manifest.model_copy(update={"limit": 3}))
    reason = "not compared: text is asked only questions without a picture, of which a larger"
    with pytest.raises(UserError, match=reason):
        compare([text_only, limited])
    compare([text_only, limited], strict=False)
    assert caplog.text.count(reason) == 1
    caplog.clear()
    compare([text_only, limited], strict=False, quiet=True)
    assert not caplog.text


def test_different_wordings_are_refused() -> None:
    a, b = answered("a", [True]), answered("b", [True])
    reworded = replace(b, task=replace(b.task, templates=(Template("is", "It was [MASK]."),)))
    with pytest.raises(UserError, match="a and b differ in the templates of 'known'"):
        compare([a, reworded])


def test_runs_with_nothing_in_common_are_refused() -> None:
    a, b = answered("a", [True]), answered("b", [True])
    with pytest.raises(UserError, match="nothing to compare"):
        compare([a])
    with pytest.raises(UserError, match="nothing to compare"):
        compare([a, replace(b, task=replace(b.task, name="another"))])
    other_gold = replace(b.task.questions[0], gold={"no": 1.0})
    with pytest.raises(UserError, match="share no question"):
        compare([a, replace(b, task=replace(b.task, questions=(other_gold,)))])
    other_thing = replace(b.task.questions[0], fields={"thing": "another"})
    with pytest.raises(UserError, match="share no question"):
        compare([a, replace(b, task=replace(b.task, questions=(other_thing,)))])


def test_runs_of_different_limits_are_compared_on_what_they_share(tmp_path: Path) -> None:
    whole_task = task(40)
    a = run(Counting("a"), whole_task, tmp_path, Settings(resamples=100, limit=10))
    b = run(Counting("b"), whole_task, tmp_path, Settings(resamples=100, limit=20))
    (comparison,) = compare([a, b], resamples=100)
    assert comparison.n == 10
    assert comparison.difference == 0  # the model answers by the prompt alone
    overall = next(
        figure for figure in a.figures if figure.template is None and figure.slice is None
    )
    assert comparison.value_b == pytest.approx(overall.value)
    assert {q.id for q in limit_questions(whole_task, 10, 0).questions} == {
        q.id for q in a.task.questions
    }


def test_a_model_that_ties_everywhere_gives_mcnemar_nothing_to_count() -> None:
    a, tied = answered("a", [True, False] * 4), answered("tied", [True] * 8)
    level = Scores((-1.0, -1.0), (1, 1), (3, 2))
    level_answers = AnswerTable.of(replace(answer, scores=level) for answer in tied.answers)
    tied = replace(tied, answers=level_answers)
    (comparison,) = compare([a, tied], resamples=200)
    assert (comparison.value_a, comparison.value_b) == (0.5, 0.5)
    assert comparison.p_mcnemar is None


def test_questions_on_which_a_metric_is_not_defined_for_one_count_for_neither() -> None:
    a, b = (answered(name, [True] * 6, ("spearman",)) for name in "ab")
    tied = (
        replace(answer, scores=replace(answer.scores, logp=(-1.0, -1.0)))
        for answer in b.answers[2:]
    )
    answers = AnswerTable.of([*b.answers[:2], *tied])
    (comparison,) = compare([a, replace(b, answers=answers)], resamples=200)
    assert (comparison.value_a, comparison.value_b, comparison.n) == (1.0, 1.0, 2)


def test_settings_of_one_model_are_told_apart_in_words() -> None:
    a = answered("a", [True, True])
    b = answered("b", [True, False])
    by_char = asked_otherwise(b, "b-0", length="char")
    limited = replace(
        by_char, folder=Path("b-1"), manifest=by_char.manifest.model_copy(update={"limit": 20})
    )
    assert [c.a for c in compare([a, b, by_char, limited], resamples=100)] == [
        "b · length sum",
        "b · length char",
        "b · limit 20, length char",
    ]


def test_one_pair_that_cannot_be_compared_does_not_cost_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    a, b, c = (answered(name, [True]) for name in "abc")
    reworded = replace(c, task=replace(c.task, templates=(Template("is", "It was [MASK]."),)))
    comparisons = compare([a, b, reworded], resamples=100)
    assert "a and c differ in the templates" in caplog.text
    assert [(comparison.a, comparison.b) for comparison in comparisons] == [("a", "b")]


def test_p_values_are_corrected_for_how_many_there_are() -> None:
    runs = [answered("a", [True] * 12), answered("b", [False] * 12), answered("c", [True] * 12)]
    for comparison in compare(runs, all_pairs=True, resamples=2000):
        assert comparison.p_signflip <= comparison.p_holm <= 3 * comparison.p_signflip


def test_too_many_comparisons_for_the_resamples_are_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    compare([answered(name, [True] * 3) for name in "abcdefg"], resamples=100)
    assert (
        "6 comparisons of 'known' at once: with 100 resamples no corrected p-value can be below "
        "0.05" in caplog.text
    )
    assert "--resamples 240" in caplog.text


def test_fewer_than_ten_objects_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    (few,) = compare([answered("a", [True] * 9), answered("b", [False] * 9)], resamples=100)
    assert (few.objects, few.too_few) == (9, True)
    assert "'known' is compared on 9 objects: with fewer than 10 objects" in caplog.text
    caplog.clear()
    (enough,) = compare([answered("a", [True] * 10), answered("b", [False] * 10)], resamples=100)
    assert (enough.objects, enough.too_few) == (10, False)
    assert not caplog.text


ANCHORS_A = [True, True, True, True, False, False, False, False]
ANCHORS_B = [True, True, True, False, True, False, False, False]


def test_editions_are_equated_by_their_anchors() -> None:
    a = answered("a", ANCHORS_A + [True] * 10)
    b = answered("b", ANCHORS_B + [False] * 10, edition="2027-01", anchors=8)
    (comparison,) = compare([a, b], resamples=2000)
    assert (comparison.task, comparison.b) == ("known", "b · edition 2027-01")
    assert (comparison.anchors, comparison.n, comparison.p_mcnemar) == (8, 28, None)
    # six of eight answers agree: the correlation is ½, and an anchor counts twice
    assert comparison.value_a == pytest.approx((2 * 4 + 10) / (2 * 8 + 10))
    assert comparison.value_b == pytest.approx((2 * 4 + 0) / (2 * 8 + 10))
    assert comparison.low < 10 / 26 < comparison.high
    (turned,) = compare([b, a], resamples=2000)
    assert turned.difference == pytest.approx(-comparison.difference)


def test_editions_stand_by_themselves_on_a_page() -> None:
    runs = [
        answered("a", ANCHORS_A + [True] * 10),
        answered("b", ANCHORS_B + [False] * 10, edition="2027-01", anchors=8),
    ]
    assert compare(runs, strict=False) == []


def test_a_model_is_not_equated_with_itself() -> None:
    runs = [
        answered("a", ANCHORS_A + [True] * 10),
        answered("a", ANCHORS_A + [False] * 10, edition="2027-01", anchors=8),
    ]
    with pytest.raises(UserError, match="are one model on two editions of 'known'"):
        compare(runs)


def test_editions_without_anchors_are_not_compared() -> None:
    runs = [answered("a", ANCHORS_A), answered("b", ANCHORS_B, edition="2027-01")]
    with pytest.raises(UserError, match="share no question of 'known'"):
        compare(runs)


def test_what_is_no_mean_is_not_equated() -> None:
    metrics = ("accuracy", "macro_f1")
    runs = [
        answered("a", ANCHORS_A + [True] * 10, metrics),
        answered("b", ANCHORS_B + [False] * 10, metrics, edition="2027-01", anchors=8),
    ]
    assert [comparison.metric for comparison in compare(runs, resamples=500)] == ["accuracy"]


def test_a_table_says_by_which_test_editions_are_compared() -> None:
    paired = compare([answered("a", [True] * 10), answered("c", [False] * 10)], resamples=100)
    equated = compare(
        [
            answered("a", ANCHORS_A + [True] * 10),
            answered("b", ANCHORS_B + [False] * 10, edition="2027-01", anchors=8),
        ],
        resamples=100,
    )
    of_editions = "sign-flip test of the objects of both editions, paired where they are anchors"
    assert caption_of(paired).startswith("p: paired sign-flip test, corrected (Holm)")
    assert caption_of(equated).startswith(f"p: {of_editions}, corrected (Holm)")
    assert caption_of([*paired, *equated]).startswith(
        f"p: paired sign-flip test; between editions, {of_editions}, corrected"
    )


def caption_of(comparisons: list[Comparison]) -> str:
    """What stands below the terminal's table."""
    return str(comparison_table(comparisons).caption)
