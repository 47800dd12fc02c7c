"""The leaderboard's script: what it says of a table that was made again."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.battery import (
    Row,
    differences,
    lean,
    note_time,
    plan,
    read_table,
    read_times,
    write_table,
)
from benchmarks.battery_page import (
    cell,
    earlier_rows,
    leans_table,
    mean_probes,
    standing_alone,
)

import seesay

ROW = Row(
    task="core-size",
    model="smollm2 · chat",
    metric="accuracy",
    value=0.5,
    low=0.45,
    high=0.55,
    chance=0.5,
    n=80,
    standing="not shown to differ from chance",
    parameters=134_515_008,
    seconds=201.4,
    command="seesay probe smollm2 --task core-size --chat --limit 80",
    signature='task:core-size|model:"a, b"',
)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    bare = replace(
        ROW, model="n-gram", chance=None, standing="", lean=None, parameters=None, seconds=None
    )
    rows = [replace(ROW, lean=-0.1), bare]
    write_table(tmp_path / "figures.csv", rows)
    assert read_table(tmp_path / "figures.csv") == rows


def test_equal_figures_are_no_differences_whatever_they_cost() -> None:
    slower = replace(ROW, seconds=900.0)
    assert differences([ROW], [slower]) == ["1 of 1 figures that both have are equal."]


def test_the_largest_difference_comes_first_and_says_whether_it_leaves_the_interval() -> None:
    other = replace(ROW, task="core-color", value=0.2, low=0.1, high=0.3)
    measured = [replace(ROW, value=0.52), replace(other, value=0.35, n=20)]
    assert differences([ROW, other], measured) == [
        "core-color, smollm2 · chat: 0.3500, in the table 0.2000 (+0.1500, OUTSIDE its interval "
        "0.100–0.300); of 20 questions, in the table of 80",
        "core-size, smollm2 · chat: 0.5200, in the table 0.5000 (+0.0200, inside its interval "
        "0.450–0.550)",
        "0 of 2 figures that both have are equal.",
    ]


def test_what_only_one_table_has_is_named() -> None:
    assert differences([ROW], [replace(ROW, model="gemma3-270m")]) == [
        "core-size, smollm2 · chat: not measured here",
        "core-size, gemma3-270m: not in the table",
        "0 of 0 figures that both have are equal.",
    ]


def test_a_run_that_was_begun_twice_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_times() == {}
    note_time(command="first")
    note_time(command="second")
    note_time(command="first", seconds=2.5)
    assert read_times() == {"first": 2.5}
    note_time(command="second")
    note_time(command="second", seconds=1.0)
    assert read_times() == {"first": 2.5, "second": None}


def test_who_always_gives_one_answer_leans_by_the_questions_to_which_it_is_wrong(
    tmp_path: Path,
) -> None:
    (run,) = seesay.probe("baseline:majority", "core-color", output=tmp_path).runs
    (answer,) = {row.chosen for row in seesay.Results((run,)).answers()}
    wrong = [answer not in question.gold for question in run.task.questions]
    assert lean(run) == pytest.approx(sum(wrong) / len(wrong), abs=0.0005)
    # who gives every option the same probability chooses none
    (run,) = seesay.probe("baseline:uniform", "core-color", output=tmp_path).runs
    assert lean(run) is None


def test_only_models_that_lean_are_listed() -> None:
    rows = [
        replace(ROW, model="smollm2", lean=0.42),
        replace(ROW, model="smollm2", task="prost", lean=0.5),
        replace(ROW, model="smollm2", task="coda", lean=0.29),
        replace(ROW, model="baseline:majority", lean=0.5),
    ]
    *_, line = leans_table(rows).splitlines()
    assert line == "| smollm2 | prost 0.50, core-size 0.42 |"


def test_figures_of_the_plan_that_were_not_measured_again_are_kept(tmp_path: Path) -> None:
    step = next(step for step in plan() if step.model == "smollm2" and step.chat)
    earlier = replace(ROW, task=step.task, command=step.command)
    measured = replace(earlier, model="gemma3-270m")
    abandoned = replace(ROW, model="gone", command="seesay probe gone --task core-size")
    table = tmp_path / "figures.csv"
    assert earlier_rows(table, [measured]) == []
    write_table(table, [earlier, measured, abandoned])
    assert earlier_rows(table, [measured]) == [earlier]


def test_a_figure_like_chance_is_grey_and_one_below_it_says_so() -> None:
    like_chance = '<span class="like-chance" title="not shown to differ from chance">0.500'
    assert cell(ROW).startswith(like_chance)
    assert (
        cell(replace(ROW, standing="worse than chance")) == "0.500 (0.450–0.550), worse than chance"
    )
    assert cell(replace(ROW, standing="")) == "0.500 (0.450–0.550)"
    assert cell(None) == "–"


def test_probes_are_averaged_over_their_seeds() -> None:
    values = (0.6, 0.7, 0.8)
    probes = [
        replace(ROW, model=f"minilm · linear · seed {seed}", value=value)
        for seed, value in enumerate(values)
    ]
    (mean,) = mean_probes([ROW, *probes], ["minilm"])
    assert (mean.model, round(mean.value, 6), mean.standing) == ("minilm", 0.7, ROW.standing)
    probes[0] = replace(probes[0], standing="")
    (mean,) = mean_probes(probes, ["minilm"])
    assert mean.standing == ""


def test_all_models_are_asked_the_same_questions_of_a_task() -> None:
    asked = [step for step in plan() if step.how != "linear"]
    limits = {(step.task, step.limit) for step in asked}
    assert len(limits) == len({task for task, _ in limits})
    commands = [step.command for step in plan()]
    assert len(commands) == len(set(commands))


def test_every_figure_of_the_board_leads_to_its_command_on_the_same_page(tmp_path: Path) -> None:
    runs = [
        seesay.probe(model, "core-size", limit=4, output=tmp_path / "runs").runs[0]
        for model in ("baseline:uniform", "baseline:majority")
    ]
    site = seesay.Results(tuple(runs)).save_site(tmp_path / "site")
    page = standing_alone(site.read_text(encoding="utf-8"))
    targets = re.findall(r'href="([^"]*)"', page)
    assert not [target for target in targets if target.startswith(("models/", "tasks/"))]
    figures = re.findall(r'<a href="#(made-\d+)"', page)
    assert len(figures) == 2
    for run, anchor in zip(runs, figures, strict=True):
        (entry,) = re.findall(rf'<li id="{anchor}".*?</li>', page, re.DOTALL)
        assert f"<code>{html.escape(run.manifest.command)}</code>" in entry
        assert run.manifest.model in entry
        # both as code, which breaks anywhere: nothing is wider than the window
        assert f"<code>{html.escape(run.manifest.signature)}|metric:accuracy</code>" in entry
