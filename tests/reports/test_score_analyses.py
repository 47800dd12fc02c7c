"""Models on parts of ViPhy: worked runs, the page and the file beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reports.made_up import HOSTILE, run
from tests.reports.test_gold_analyses import made_up

from seesay.condition import How
from seesay.questions import Answer, Published, Scores, Task, Template
from seesay.reports import render, write
from seesay.reports.analysis import Analysis, LabelShares, PartScore, write_analyses
from seesay.reports.gold_analyses import category_agreement, task_analyses
from seesay.reports.groups import group_runs
from seesay.reports.score_analyses import cross_task_analyses, group_analyses, learning_curves
from seesay.runs.answer_table import AnswerTable
from seesay.runs.figures import figures
from seesay.runs.learning_curve import Point, bands
from seesay.runs.run import Run


def answered(
    task: Task, labels: Sequence[str], model: str = "a-model", how: How = How.CLOZE
) -> Run:
    """A run in which the model surely says one label to each question, with figures by the real
    code."""
    first = run(task, model, how=how)
    answers = AnswerTable.of(
        Answer(
            question.id,
            template.name,
            question.options,
            Scores(
                tuple(0.0 if option == label else -9.0 for option in question.options),
                (1,) * len(question.options),
                (1,) * len(question.options),
            ),
        )
        for template in task.templates
        for question, label in zip(task.questions, labels, strict=True)
    )
    manifest = first.manifest.model_copy(update={"resamples": 100})
    return replace(
        first, answers=answers, manifest=manifest, figures=tuple(figures(manifest, task, answers))
    )


def scores(analysis: Analysis) -> dict[tuple[str, str], float]:
    return {(row.model, row.part): row.value for row in analysis.rows if isinstance(row, PartScore)}


def sizes(name: str, published: float | None = None) -> Task:
    example = made_up()
    row = (
        ()
        if published is None
        else (Published("BERT-base", "relaxed_accuracy", published, "Table 6"),)
    )
    questions = tuple(replace(q, tags={}) for q in example.questions)
    return replace(example, name=name, questions=questions, published=row)


def test_by_cardinality_and_category_by_hand() -> None:
    """Apple and flag right, pear and snow wrong: one label 0 of 2, two 1 of 1, three 1 of 1; each
    category 1 of 2."""
    (g,) = group_runs([answered(made_up(), ["red", "red", "green", "white"])])
    result = {analysis.name: analysis for analysis in group_analyses(g)}
    by_labels = result["score-by-cardinality"]
    assert scores(by_labels) == {
        ("a-model", "1"): 0.0,
        ("a-model", "2"): 1.0,
        ("a-model", "3"): 1.0,
    }
    assert scores(result["score-by-category"]) == {
        ("a-model", "food"): 0.5,
        ("a-model", "nature"): 0.5,
    }
    assert by_labels.source == "Singh, Qasemi & Chen 2023, Fig. 5"
    assert [row.n for row in by_labels.rows if isinstance(row, PartScore)] == [2, 1, 1]


def test_by_scene_and_two_models() -> None:
    example = made_up()
    tagged = replace(
        example,
        questions=tuple(
            replace(q, tags={"scene": "kitchen" if i else "office"})
            for i, q in enumerate(example.questions)
        ),
    )
    runs = [
        answered(tagged, ["red", "green", "white", "red"]),
        answered(tagged, ["white"] * 4, "b-model"),
    ]
    result = {analysis.name: analysis for analysis in group_analyses(*group_runs(runs))}
    assert "score-by-cardinality" not in result
    assert scores(result["score-by-scene"]) == pytest.approx(
        {
            ("a-model", "kitchen"): 1.0,
            ("a-model", "office"): 1.0,
            ("b-model", "kitchen"): 2 / 3,
            ("b-model", "office"): 0.0,
        }
    )


def test_sizes_stand_side_by_side() -> None:
    """Table 6: three sets, measured and as published; one set alone is no comparison."""
    right = ["red", "green", "white", "white"]
    runs = [
        answered(sizes("viphy-size", 0.7835), right),
        answered(sizes("viphy-size-subtype", 0.7228), ["red", "red", "red", "red"]),
        answered(sizes("viphy-size-transitive"), ["red", "green", "red", "red"]),
    ]
    assert cross_task_analyses(group_runs(runs[:1])) == []
    (result,) = cross_task_analyses(group_runs(runs))
    assert scores(result) == {
        ("a-model", "standard"): 1.0,
        ("BERT-base", "standard"): 0.7835,
        ("a-model", "subtype"): 0.5,
        ("BERT-base", "subtype"): 0.7228,
        ("a-model", "transitive"): 0.75,
    }
    assert "BERT-base (published)" in result.charts[0]


def test_the_larger_of_two_runs_of_a_set_stands() -> None:
    whole = sizes("viphy-size")
    part = replace(whole, questions=whole.questions[:2])
    runs = [
        answered(part, ["white", "white"]),
        answered(whole, ["red", "green", "white", "white"]),
        answered(sizes("viphy-size-subtype"), ["red"] * 4),
    ]
    (result,) = cross_task_analyses(group_runs(runs))
    assert scores(result)["a-model", "standard"] == 1.0


def test_conditions_are_not_mixed() -> None:
    """Cloze and linear runs of the same sets: a table each, and a title that tells the two
    apart."""
    right = ["red", "green", "white", "white"]
    cloze = [sizes("viphy-size"), sizes("viphy-size-subtype")]
    # called like a template for a choice: its name says nothing about how it was asked
    template = Template("question", "the size of {object} [MASK]")
    linear = [replace(task, templates=(template,)) for task in cloze]
    groups = group_runs(
        [answered(task, ["red"] * 4) for task in cloze]
        + [answered(task, right, how=How.LINEAR) for task in linear]
    )
    first, second = cross_task_analyses(groups)
    assert scores(first) == {("a-model", "standard"): 0.5, ("a-model", "subtype"): 0.5}
    assert scores(second) == {("a-model", "standard"): 1.0, ("a-model", "subtype"): 1.0}
    assert second.title == "Sizes by inference, asked as: linear"
    assert len({g.title for g in groups if g.task.name == "viphy-size"}) == 2
    assert groups[2].title.endswith("· asked as: linear · 4 questions")


def test_few_shot_curves_by_hand() -> None:
    points = [
        Point("minilm", "viphy-color", fraction, 10, seed, 1, {"relaxed_accuracy": value})
        for fraction, values in ((0.1, (0.2, 0.4)), (1.0, (0.6, 0.6)))
        for seed, value in enumerate(values)
    ]
    (result,) = learning_curves(bands(points))
    assert result.task == "viphy-color"
    record = result.record
    assert [(row["fraction"], row["mean"], row["low"], row["high"]) for row in record["rows"]] == [
        (0.1, pytest.approx(0.3), 0.2, 0.4),
        (1.0, 0.6, 0.6, 0.6),
    ]
    assert "minilm: 0.1, 0.3 (0.2 to 0.4)" in result.charts[0]
    page = render([answered(made_up(), ["red"] * 4)], more=[result])
    assert result.charts[0] in page
    assert 'href="#across"' in page


def test_agreement_with_published_categories_by_hand() -> None:
    """Food: one of two agrees; animal: its one goes to food. One of three in all; by chance (2·2 +
    0·1 + 1·0) / 9."""
    categories = {"apple": "food", "cow": "food", "beef": "person", "new": "food"}
    published = {"apple": "food", "cow": "animal", "beef": "food"}
    result = category_agreement("colors", categories, published, "minilm")
    assert "33.3 % of 3 names" in result.text
    assert "kappa -0.200" in result.text
    rows = {row.part: row for row in result.rows if isinstance(row, LabelShares)}
    assert list(rows) == ["animal", "food"]
    assert rows["food"].shares["food"] == 0.5
    assert rows["animal"].shares["food"] == 1.0


def test_the_report_draws_them_and_writes_their_rows(tmp_path: Path) -> None:
    example = made_up()
    path = write(tmp_path / "report.html", [answered(example, ["red", "red", "green", "white"])])
    text = path.read_text(encoding="utf-8")
    for title in (
        "How many labels are right",
        "From one colour to many",
        "Labels by category",
        "number of right labels",
    ):
        assert title in text
    records = json.loads((tmp_path / "report.analyses.json").read_text(encoding="utf-8"))
    by_name = {record["name"]: record for record in records}
    assert set(by_name) == {
        "score-by-cardinality",
        "score-by-category",
        "cardinality",
        "distributions-by-entropy",
        "labels-by-category",
    }
    assert by_name["score-by-cardinality"]["figure"] == "Singh, Qasemi & Chen 2023, Fig. 5"
    assert by_name["cardinality"]["rows"][1] == {
        "part": "2",
        "n": 1,
        "shares": {"red": 0.5, "green": 0.5, "white": 0.0},
    }
    assert len(by_name["distributions-by-entropy"]["rows"]) == 4


def test_other_tasks_have_no_analyses(tmp_path: Path) -> None:
    example = replace(made_up(), name="colors")
    write(tmp_path / "report.html", [answered(example, ["red"] * 4)])
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    (tmp_path / "report.analyses.json").write_text("old", encoding="utf-8")
    write(tmp_path / "report.html", [answered(example, ["red"] * 4)])
    assert json.loads((tmp_path / "report.analyses.json").read_text(encoding="utf-8")) == []


def test_hostile_names_stay_text() -> None:
    example = made_up()
    questions = tuple(
        replace(
            q, object=name, tags={"labels": name[:40], "category": name[:40], "scene": name[:40]}
        )
        for q, name in zip(example.questions, HOSTILE, strict=False)
    )
    hostile = answered(replace(example, questions=questions), ["red"] * 4, HOSTILE[0])
    text = render(
        [
            hostile,
            answered(sizes("viphy-size"), ["red"] * 4),
            answered(sizes("viphy-size-subtype"), ["red"] * 4),
        ]
    )
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "Sizes by inference" in text


def test_data_on_a_page_of_its_own(tmp_path: Path) -> None:
    page = write_analyses(tmp_path / "data.html", "The data", task_analyses(made_up()))
    assert page.read_text(encoding="utf-8").count("<svg") == 5
    assert len(json.loads((tmp_path / "data.analyses.json").read_text(encoding="utf-8"))) == 3
