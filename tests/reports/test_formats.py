"""Tables for papers, set by a real LaTeX and rendered by a real Markdown library; figures for other
programs."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.needs import absent
from tests.reports.made_up import HOSTILE, comparison, hostile_run, run, task
from tests.reports.test_tables import printed

from seesay.api import probe, results
from seesay.questions import Published
from seesay.reports.formats import COLUMNS, as_text
from seesay.reports.groups import limit_words
from seesay.reports.tables import overview
from seesay.runs.records import Comparison
from seesay.runs.run import Run


def two_models() -> tuple[list[Run], Comparison]:
    """Two models on two tasks, and the test between them on the first."""
    example = replace(task(), published=(Published("people", "accuracy", 0.94, "Norlund 2021"),))
    runs = [
        run(example, "a_model"),
        run(example, "b-model", 1),
        run(task("other_task"), "b-model", 2),
    ]
    better = tuple(
        f.model_copy(update={"value": 0.6, "low": 0.5, "high": 0.7}) for f in runs[0].figures
    )
    runs[0] = replace(runs[0], figures=better)
    signatures = {
        "signature_a": runs[0].manifest.signature,
        "signature_b": runs[1].manifest.signature,
    }
    return runs, comparison("a_model", "b-model", 0.19).model_copy(update=signatures)


def test_only_what_a_corrected_test_shows_is_bold() -> None:
    runs, shown = two_models()
    assert "**0.600** (0.500–0.700)" in as_text("markdown", runs, [shown])
    assert "\\textbf{0.600} {\\scriptsize(0.500--0.700)}" in as_text("latex", runs, [shown])
    for comparisons in (
        [],
        [shown.model_copy(update={"p_holm": 0.06})],
        [shown.model_copy(update={"task": "other_task"})],
    ):
        assert "**" not in as_text("markdown", runs, comparisons)
        assert "textbf" not in as_text("latex", runs, comparisons)


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_a_baseline_stands_below_models_whichever_folder_came_first(format: str) -> None:
    """The baseline's task comes first, and no model was asked it."""
    alone = run(task(), "baseline:majority")
    manifest = alone.manifest.model_copy(update={"family": "baseline"})
    models = run(task("other_task"), "b-model", 1)
    text = as_text(format, [replace(alone, manifest=manifest), models], [])
    assert 0 < text.index("b-model") < text.index("baseline:majority")


def test_people_have_a_rule_of_their_own_and_are_no_rivals() -> None:
    runs, shown = two_models()
    people = run(runs[0].task, "people here", 3)
    family = people.manifest.model_copy(update={"family": "people"})
    higher = tuple(
        f.model_copy(update={"value": 0.9, "low": 0.85, "high": 0.95}) for f in people.figures
    )
    table = as_text("latex", [replace(people, manifest=family, figures=higher), *runs], [shown])
    blocks = table.split("\\midrule\n")
    # after the header: models, people as measured and as published, chance and n
    assert [line.split(" & ")[0] for line in blocks[1].splitlines()] == ["a\\_model", "b-model"]
    people_rows = [line.split(" & ")[0] for line in blocks[2].splitlines()]
    assert people_rows == ["people here", "people (Norlund 2021)"]
    assert blocks[3].startswith("chance")
    # 0.6 is the best of the models, and bold although people are at 0.9
    assert "\\textbf{0.600}" in blocks[1]
    assert "textbf" not in blocks[2]


def test_markdown_renders_as_one_table_of_these_cells() -> None:
    runs, shown = two_models()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(as_text("markdown", runs, [shown]))
    cells = [
        tokens[i + 1].content
        for i, token in enumerate(tokens)
        if token.type in ("th_open", "td_open")
    ]
    assert sum(token.type == "table_open" for token in tokens) == 1
    assert cells[:3] == ["model", "made-up<br>accuracy", "other\\_task<br>accuracy"]
    rows = [cells[i : i + 3] for i in range(3, len(cells), 3)]
    assert rows == [
        ["a\\_model", "**0.600** (0.500–0.700)", "–"],
        ["b-model", "0.412 (0.362–0.462)", "0.412 (0.362–0.462)"],
        ["people (Norlund 2021)", "0.940", "–"],
        ["chance", "0.091", "0.091"],
        ["n", "3", "3"],
    ]
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(as_text("markdown", runs, [shown]))
    assert "<strong>0.600</strong> (0.500–0.700)" in rendered
    assert "<td>a_model</td>" in rendered


def test_hostile_names_stay_in_their_cells() -> None:
    markdown = MarkdownIt("gfm-like", {"linkify": False})
    tokens = markdown.parse(as_text("markdown", [hostile_run(), run(task(), "a|b")], []))
    # header, two models, chance, n, two published
    assert sum(token.type == "tr_open" for token in tokens) == 7
    assert not any(token.type == "html_block" for token in tokens)
    inside = [
        child for token in tokens for child in token.children or [] if child.type == "html_inline"
    ]
    assert {child.content for child in inside} == {"<br>"}
    shown = [
        child.content for token in tokens for child in token.children or [] if child.type == "text"
    ]
    assert "a|b" in "".join(shown)


@pytest.fixture(scope="module")
def pdflatex() -> str:
    program = shutil.which("pdflatex")
    finder = shutil.which("kpsewhich")
    if (
        program is None
        or finder is None
        or subprocess.run([finder, "booktabs.sty"], capture_output=True).returncode
    ):
        absent("LaTeX with booktabs is not installed: apt-get install texlive-latex-recommended")
    return program


def test_latex_compiles_with_booktabs(tmp_path: Path, pdflatex: str) -> None:
    runs, shown = two_models()
    many = [run(task(f"task_{i} & 100 %"), "b-model") for i in range(7)]
    hostile = replace(
        hostile_run(), figures=tuple(f for f in hostile_run().figures if f.template is None)
    )
    table = as_text("latex", [*runs, *many, hostile], [shown])
    preamble = "\\documentclass{article}\n\\usepackage{booktabs}\n"
    document = f"{preamble}\\begin{{document}}\n{table}\n\\end{{document}}\n"
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "! " not in done.stdout
    assert (tmp_path / "paper.pdf").stat().st_size > 5_000


def test_the_long_format_has_every_figure() -> None:
    runs, shown = two_models()
    figures = [figure for each in runs for figure in each.figures]
    rows = list(csv.DictReader(io.StringIO(as_text("csv", runs, [shown]))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(figures)
    first, figure = rows[0], figures[0]
    assert [float(first[name]) for name in ("value", "low", "high", "chance", "spread")] == [
        figure.value,
        figure.low,
        figure.high,
        figure.chance,
        figure.spread,
    ]
    assert (first["n"], first["signature"], first["command"]) == (
        "3",
        figure.signature,
        "seesay probe a_model",
    )
    assert {row["slice"] for row in rows} >= {"", "half=first"}
    as_json = json.loads(as_text("json", runs, [shown]))
    assert [list(row) for row in as_json] == [list(row) for row in as_json[:1]] * len(figures)
    assert [row["value"] for row in as_json] == [figure.value for figure in figures]


def test_csv_holds_any_name() -> None:
    rows = list(csv.DictReader(io.StringIO(as_text("csv", [hostile_run()], []))))
    assert {row["model"] for row in rows} == {HOSTILE[1]}
    assert {row["task"] for row in rows} == {HOSTILE[2]}


def test_csv_holds_no_formula() -> None:
    """Whoever opens it in a spreadsheet sees names, and numbers stay numbers."""
    rows = list(csv.DictReader(io.StringIO(as_text("csv", [run(task(), "=1+1")], []))))
    assert {row["model"] for row in rows} == {"'=1+1"}
    assert all(float(row["value"]) <= 1 for row in rows)


def test_too_few_objects_are_marked_in_every_format() -> None:
    few = [run(task(), "a-model", too_few=True)]
    enough = [run(task(), "a-model")]
    for name, mark in (("markdown", "0.462†"), ("latex", "0.462$\\dagger$")):
        assert mark in as_text(name, few, [])
        assert "Fewer than 10 objects (n counts questions)" in as_text(name, few, [])
        assert "Fewer than" not in as_text(name, enough, [])
    for row in csv.DictReader(io.StringIO(as_text("csv", few, []))):
        assert (row["objects"], row["too_few"]) == ("3", "True")
    assert all(row["too_few"] for row in json.loads(as_text("json", few, [])))


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_a_range_of_questions_says_what_it_is(format: str) -> None:
    whole, part = run(task(count=9), "whole"), run(task(count=5), "part")
    sentence = "A range of n: the fewest and the most questions that one of them was asked"
    text = as_text(format, [whole, part], [])
    assert "5--9" in text.replace("–", "--")
    assert sentence in text
    assert sentence not in as_text(format, [whole], [])


def of_two_questions(sample: Run, value: float) -> Run:
    """A run of two questions, with this figure."""
    figures = tuple(f.model_copy(update={"value": value, "n": 2}) for f in sample.figures)
    manifest = sample.manifest.model_copy(update={"limit": 2})
    return replace(sample, manifest=manifest, figures=figures)


def test_a_higher_figure_of_fewer_questions_is_marked() -> None:
    """Otherwise 0.600 would be bold, "better than every other", under 0.900."""
    runs, shown = two_models()
    sample = of_two_questions(run(runs[0].task, "c-model", 3), 0.9)
    markdown = as_text("markdown", [*runs, sample], [shown])
    assert "| **0.600** (0.500–0.700) |" in markdown
    assert "| 0.900‡ (0.362–0.462) |" in markdown
    note = "‡ Of fewer questions than others of its column, or of other questions (3 shared)"
    assert f"{note}: not compared with them" in markdown
    assert "0.900$\\ddagger$" in as_text("latex", [*runs, sample], [shown])
    assert "‡" not in as_text("markdown", runs, [shown])


def test_a_test_of_some_of_the_questions_makes_nothing_bold() -> None:
    """Two samples of one size share some: who is ahead on these may be behind on the others."""
    runs, shown = two_models()
    assert "**" not in as_text("markdown", runs, [shown.model_copy(update={"n": 2})])


def test_samples_of_one_size_but_other_questions_are_told_apart(tmp_path: Path) -> None:
    for seed in (0, 1):
        probe(
            ["baseline:majority", "baseline:random"],
            "core-color",
            limit=40,
            seed=seed,
            resamples=200,
            output=tmp_path,
        )
    runs = results(tmp_path)
    text = runs.table("markdown")
    assert "core-color · different samples (limit 40)" in text
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    assert "‡" not in rows["baseline:random · seed 0"] + rows["baseline:majority · seed 0"]
    assert "‡" in rows["baseline:random · seed 1"]
    assert "**" not in rows["baseline:majority · seed 1"]
    assert "0.123" in rows["chance"]
    assert "or of other questions (3 shared)" in text
    assert "0.150‡" in "".join(printed(overview(runs.runs), 120))
    page = runs.save_report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "or of other questions (3 shared)" in page
    # stored answers ask the same questions as a task with other metrics
    one = runs.runs[0]
    stored = replace(one, manifest=one.manifest.model_copy(update={"task_fingerprint": "0"}))
    assert limit_words([one, stored]) == " · a sample (limit 40)"


def test_a_further_metric_has_columns_for_the_tasks_that_it_fits(tmp_path: Path) -> None:
    runs = probe(
        ["baseline:majority", "baseline:random"],
        ["core-color", "core-size"],
        limit=20,
        resamples=200,
        output=tmp_path,
    )
    header, *_ = runs.measured("brier").table("markdown").splitlines()
    assert header.count("brier") == 1
    assert "core-size" in header.split(" | ")[-1]
    assert "brier" in header.split(" | ")[-1]
