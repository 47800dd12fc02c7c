"""From answers to figures, on an example worked by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from statistics import mean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.made_up import Counting

from seesay.errors import UserError
from seesay.metrics.scoring_rules import adjust, calibrate
from seesay.questions import Answer, Question, Scores, Task, Template
from seesay.runs.answer_table import AnswerTable
from seesay.runs.ask import Settings, describe
from seesay.runs.figures import figures
from seesay.runs.records import Figure

OPTIONS = ("red", "green")
SETTINGS = Settings(resamples=200)

# Three questions in two wordings: (scores of red and green, the same without the object).
#            question  gold   kind    wording A                        wording B
HAND = {
    "apple": ("red", "fruit", ((-1.0, -2.0), (-3.0, -1.0)), ((-2.0, -1.0), (-4.0, -1.0))),
    "lime": ("green", "fruit", ((-1.0, -3.0), (-1.0, -4.0)), ((-3.0, -1.0), (-1.0, -1.0))),
    "grass": ("green", "plant", ((-5.0, -1.0), (-5.0, -4.0)), ((-2.0, -4.0), (-1.0, -2.0))),
}
# Plain:       A: apple right, lime wrong, grass right: 2/3.   B: wrong, right, wrong: 1/3.
# Calibrated (score − neutral):
#   A: apple (2, −1) right; lime (0, 1) right; grass (0, 3) right: 1.
#   B: apple (2, 0) right; lime (−2, 0) right; grass (−1, −2) wrong: 2/3.


def scored(logp: tuple[float, float], rank: tuple[int, int] | None = None) -> Scores:
    return Scores(logp, (1, 1), (3, 5), rank)


def example(
    metrics: tuple[str, ...] = ("accuracy",), ranked: bool = False
) -> tuple[Task, AnswerTable]:
    questions, answers = [], []
    for name, (gold, kind, *by_template) in HAND.items():
        questions.append(
            Question(
                name, {"thing": name}, OPTIONS, {gold: 1.0}, name, {"kind": kind, "all": "same"}
            )
        )
        for template, (logp, neutral) in zip("AB", by_template, strict=True):
            rank = (1, 2) if ranked and template == "A" else (0, 0)
            answers.append(Answer(name, template, OPTIONS, scored(logp, rank), scored(neutral)))
    templates = (Template("A", "A {thing}: [MASK]."), Template("B", "B {thing}: [MASK]."))
    task = Task("hand", "1", "", templates, tuple(questions), metrics, {"thing": "it"})
    return task, AnswerTable.of(answers)


def figures_by_key(
    task: Task, answers: AnswerTable
) -> dict[tuple[str, str | None, str | None], Figure]:
    run_figures = figures(describe(Counting(), task, SETTINGS), task, answers)
    return {
        (figure.metric, figure.template, str(figure.slice) if figure.slice else None): figure
        for figure in run_figures
    }


def test_the_example_worked_by_hand() -> None:
    by_key = figures_by_key(*example())
    values = {key: figure.value for key, figure in by_key.items()}
    assert values == pytest.approx(
        {
            ("accuracy", None, None): 1 / 2,
            ("accuracy", "A", None): 2 / 3,
            ("accuracy", "B", None): 1 / 3,
            ("accuracy", None, "kind=fruit"): 1 / 2,
            ("accuracy", None, "kind=plant"): 1 / 2,
            ("calibrated_accuracy", None, None): 5 / 6,
            ("calibrated_accuracy", "A", None): 1.0,
            ("calibrated_accuracy", "B", None): 2 / 3,
            ("calibrated_accuracy", None, "kind=fruit"): 1.0,
            ("calibrated_accuracy", None, "kind=plant"): 1 / 2,
        }
    )
    assert next(iter(by_key)) == ("accuracy", None, None)
    overall, fruit = by_key["accuracy", None, None], by_key["accuracy", None, "kind=fruit"]
    assert overall.spread == pytest.approx(stdev([2 / 3, 1 / 3]))
    assert overall.chance == pytest.approx(1 / 2)
    assert (overall.n, fruit.n, by_key["accuracy", None, "kind=plant"].n) == (3, 2, 1)
    assert by_key["accuracy", "A", None].spread is None
    assert overall.signature.endswith("|metric:accuracy")
    for figure in by_key.values():
        assert figure.low <= figure.value <= figure.high


def test_the_overall_figure_is_the_mean_over_templates() -> None:
    by_key = figures_by_key(*example(("accuracy", "true_confidence", "macro_f1")))
    for metric in ("accuracy", "true_confidence", "macro_f1", "calibrated_macro_f1"):
        by_template = [by_key[metric, template, None].value for template in "AB"]
        assert by_key[metric, None, None].value == pytest.approx(mean(by_template))


def test_a_figure_that_is_not_defined_is_left_out() -> None:
    unranked = figures_by_key(*example(("accuracy", "vocabulary_accuracy")))
    assert {metric for metric, _, _ in unranked} == {"accuracy", "calibrated_accuracy"}
    by_key = figures_by_key(*example(("vocabulary_accuracy",), ranked=True))
    assert set(by_key) == {("vocabulary_accuracy", "A", None)}
    assert by_key["vocabulary_accuracy", "A", None].chance is None


def test_length_rules() -> None:
    scores = Scores((-4.0, -6.0), (1, 2), (4, 12))
    assert adjust(scores, "sum").tolist() == [-4.0, -6.0]
    assert adjust(scores, "mean").tolist() == [-4.0, -3.0]
    assert adjust(scores, "char").tolist() == [-1.0, -0.5]
    with pytest.raises(UserError, match="sum, mean, char"):
        adjust(scores, "median")
    neutral = Scores((-2.0, -2.0), (1, 2), (4, 12))
    assert calibrate(scores, neutral, "mean").tolist() == [-2.0, -2.0]


@pytest.mark.seconds
@given(st.permutations(range(3)), st.permutations(range(6)))
@settings(deadline=None, max_examples=20)
def test_the_order_of_questions_and_answers_changes_nothing(
    questions: list[int], rows: list[int]
) -> None:
    task, answers = example(("accuracy", "true_confidence", "macro_f1"))
    turned = replace(task, questions=tuple(task.questions[i] for i in questions))
    before, after = figures_by_key(task, answers), figures_by_key(turned, answers.take(rows))
    assert before.keys() == after.keys()
    for key, figure in before.items():
        for name in ("value", "low", "high", "chance", "n"):
            assert getattr(after[key], name) == pytest.approx(getattr(figure, name)), (key, name)


def test_the_top_word_counts_whichever_of_a_labels_words_it_is() -> None:
    """ViPhy's published rule: "bigger" and "larger" both answer `>`, in one and the same text."""
    text = "{a} is [MASK] than {b}"
    templates = (
        Template("bigger", text, {">": "bigger", "<": "smaller"}),
        Template("larger", text, {">": "larger", "<": "smaller"}),
        Template("other", "Next to {b}, {a} is [MASK]", {">": "big", "<": "small"}),
    )
    options = (">", "<")
    gold = {"bus|cup": ">", "car|key": ">", "pin|bed": "<", "ant|cow": "<", "sun|pea": ">"}
    # Ranks of (>, <) with "bigger", with "larger", and in the other text; 0 where a word has
    # several tokens.
    ranks = {
        "bus|cup": ((1, 5), (2, 5), (3, 4)),
        "car|key": ((4, 5), (1, 5), (3, 4)),
        "pin|bed": ((1, 2), (3, 2), (3, 4)),
        "ant|cow": ((3, 1), (2, 1), (3, 4)),
        "sun|pea": ((0, 4), (1, 4), (3, 4)),
    }
    questions = tuple(
        Question(key, dict(zip("ab", key.split("|"), strict=True)), options, {label: 1.0}, key)
        for key, label in gold.items()
    )
    task = Task("t", "1", "", templates, questions, ("vocabulary_accuracy",))
    answers = AnswerTable.of(
        Answer(key, template.name, options, Scores((-1.0, -1.0), (1, 1), (6, 7), rank))
        for key, three in ranks.items()
        for template, rank in zip(templates, three, strict=True)
    )
    values = {
        figure.template: figure.value
        for figure in figures(describe(Counting(), task, SETTINGS), task, answers)
    }
    # all but pin|bed, where the top word is "bigger"
    assert values["bigger"] == values["larger"] == pytest.approx(4 / 5)
    assert values["other"] == 0


def about(objects: list[str]) -> Figure:
    """The figure of questions about these objects, one each, every other one right."""
    questions = tuple(
        Question(f"q{i}", {"thing": f"t{i}"}, OPTIONS, {"red": 1.0}, name)
        for i, name in enumerate(objects)
    )
    answers = AnswerTable.of(
        Answer(f"q{i}", "A", OPTIONS, scored((-1.0, -2.0) if i % 2 else (-2.0, -1.0)))
        for i in range(len(objects))
    )
    template = Template("A", "A {thing}: [MASK].")
    task = Task("few", "1", "", (template,), questions, ("accuracy",))
    return figures(describe(Counting(), task, SETTINGS), task, answers)[0]


def test_a_figure_of_fewer_than_ten_objects_is_marked() -> None:
    """Questions about one object do not add to it."""
    few = about([f"o{i % 9}" for i in range(40)])
    assert (few.n, few.objects, few.too_few) == (40, 9, True)
    enough = about([f"o{i % 10}" for i in range(40)])
    assert (enough.n, enough.objects, enough.too_few) == (40, 10, False)


def test_pairs_count_as_many_objects_as_there_are_things() -> None:
    """Nine things have 36 pairs, which say no more about things than nine of them."""
    of_nine = about([f"{a}|{b}" for a, b in combinations("abcdefghi", 2)])
    assert (of_nine.n, of_nine.objects, of_nine.too_few) == (36, 9, True)
    of_ten = about([f"{a}|{b}" for a, b in combinations("abcdefghij", 2)])
    assert (of_ten.n, of_ten.objects, of_ten.too_few) == (45, 10, False)
    nine_pairs = about([f"a{i}|b{i}" for i in range(9)])
    assert (nine_pairs.n, nine_pairs.objects, nine_pairs.too_few) == (9, 9, True)


def test_a_slice_of_fewer_than_ten_objects_is_marked() -> None:
    by_key = figures_by_key(*example())
    assert by_key["accuracy", None, "kind=fruit"].objects == 2
    assert by_key["accuracy", None, "kind=plant"].objects == 1
    assert all(figure.too_few for figure in by_key.values())
