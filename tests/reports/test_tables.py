"""The tables at 80 columns."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from rich.table import Table
from tests.reports.made_up import comparison, hostile_run, run, task

from seesay.questions import Published, Slice
from seesay.reports.tables import comparison_table, overview


def printed(table: Table, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_one_model_needs_no_model_column() -> None:
    lines = printed(overview([run(task(), "owner/model")]))
    assert not any("model" in line for line in lines)
    assert lines[0].split() == [
        "task",
        "metric",
        "value",
        "95",
        "%",
        "interval",
        "spread",
        "chance",
        "n",
    ]
    assert lines[2].split() == [
        "made-up",
        "accuracy",
        "0.412",
        "0.362–0.462",
        "0.021",
        "0.091",
        "3",
    ]
    assert lines[3].split() == ["calibrated", "0.512", "0.462–0.562", "0.021", "0.091", "3"]


def test_several_models_fit_80_columns_uncut() -> None:
    published = (Published("BERT-base", "accuracy", 0.252, "Hagström & Johansson 2022", 0.102),)
    example = replace(task("memory-colors"), published=published)
    lines = printed(
        overview(
            [
                run(example, "google-bert/bert-base-uncased"),
                run(example, "HuggingFaceTB/SmolLM2-135M"),
            ]
        )
    )
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "…" not in text
    for expected in (
        "memory-colors",
        "bert-base-uncased",
        "SmolLM2-135M",
        "true_confidence",
        "BERT-base ¹",
    ):
        assert expected in text
    assert "¹ Hagström & Johansson 2022" in text


def test_owners_are_shown_where_names_are_ambiguous() -> None:
    text = "\n".join(printed(overview([run(task(), "a/same"), run(task(), "b/same")])))
    assert "a/same" in text
    assert "b/same" in text


def test_the_headline_is_bold() -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(overview([run(task())]))
    assert isinstance(console.file, io.StringIO)
    assert "\x1b[1m0.412" in console.file.getvalue()
    assert "\x1b[1m0.303" not in console.file.getvalue()


def test_hostile_names_are_neither_markup_nor_control_codes() -> None:
    lines = printed(overview([hostile_run(), run(task(), "[bold red]name[/]")]))
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert "[bold red]name" in "\n".join(lines)


def test_comparisons() -> None:
    rows = [
        comparison("google-bert/bert-base-uncased", "HuggingFaceTB/SmolLM2-135M"),
        comparison(difference=-0.01),
    ]
    lines = printed(comparison_table(rows))
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert "…" not in text
    for expected in (
        "bert-base-uncased",
        "vs SmolLM2-135M",
        "+0.050",
        "0.020–0.080",
        "−0.040 to 0.020",
        "A vs B",
    ):
        assert expected in text


def test_one_test_is_shown_and_the_others_on_demand() -> None:
    row = comparison().model_copy(update={"p_mcnemar": 0.777})
    one = "\n".join(printed(comparison_table([row])))
    assert one.count("0.020") == 2  # p after correction, and the interval's lower end
    assert not any(p in one for p in ("0.012", "<0.001", "0.777"))
    lines = printed(comparison_table([row], all_tests=True))
    assert max(map(len, lines)) <= 80
    figures = next(line for line in lines if "+0.050" in line).split()
    assert figures[-6:] == ["0.020–0.080", "0.020", "0.012", "<0.001", "0.777", "3"]


def test_many_models_with_one_reference_have_a_line_each() -> None:
    rows = [comparison(f"model-{i}", "the-best", -0.05) for i in range(3)]
    rows[2] = rows[2].model_copy(update={"p_holm": 0.3})
    lines = printed(comparison_table(rows))
    assert sum("the-best" in line for line in lines) == 1
    assert [line.split()[-1] for line in lines if "model-" in line] == ["3", "3", "3"]
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(comparison_table(rows))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("\x1b[1m−0.050") == 2


def test_too_few_objects_are_marked_and_explained() -> None:
    marked = printed(overview([run(task(), too_few=True)]))
    assert "0.362–0.462†" in marked[2]
    assert "† Fewer than 10 objects (n counts questions): too few" in " ".join(marked)
    assert not any("†" in line for line in printed(overview([run(task())])))
    nested = replace(task(), nested_by="question_type")
    questions = [replace(q, tags={"question_type": "here"}) for q in nested.questions]
    part = run(replace(nested, questions=tuple(questions)), too_few=True)
    here = Slice.of({"question_type": "here"})
    figures = tuple(figure.model_copy(update={"slice": here}) for figure in part.figures)
    assert "† Fewer" in " ".join(printed(overview([replace(part, figures=figures)])))
    compared = printed(comparison_table([comparison(too_few=True)]))
    assert sum("†" in line for line in compared) == 2
    assert not any("†" in line for line in printed(comparison_table([comparison()])))


def test_a_task_asked_in_other_templates_is_named_apart() -> None:
    whole = task()
    in_one_template = replace(whole, templates=whole.templates[:1])
    lines = printed(overview([run(whole, "a-model"), run(in_one_template, "b-model")]), 120)
    names = [line.strip() for line in lines if line.startswith("made-up")]
    assert names == [
        "made-up · asked as: is, asked · 3 questions",
        "made-up · asked as: is · 3 questions",
    ]
