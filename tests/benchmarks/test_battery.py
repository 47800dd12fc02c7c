"""The leaderboard's script: what it says of a table that was made again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.battery import Row, differences, mean_probes, plan, read_table, write_table

ROW = Row(
    task="core-size",
    model="smollm2 · chat",
    metric="accuracy",
    value=0.5,
    low=0.45,
    high=0.55,
    chance=0.5,
    n=80,
    standing="not different from chance",
    parameters=134_515_008,
    seconds=201.4,
    command="seesay probe smollm2 --task core-size --chat --limit 80",
    signature='task:core-size|model:"a, b"',
)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [ROW, replace(ROW, model="n-gram", chance=None, parameters=None, seconds=None)]
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
