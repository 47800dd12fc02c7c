"""Trainings of reasoners as a table, and the paper's tables from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.reasoner_trainings import (
    TABLE,
    Row,
    accuracy_table,
    finished_trainings,
    merge_rows,
    missing_commands,
    read_rows,
    table_cells,
    training_row,
    training_table,
    write_rows,
)

from seesay.files import write_json
from seesay.scenes.reasoners import checkpoints, experiment
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.training.checkpoint import RESULT, check_settings


def finish(folder: Path, config: ReasonerConfig, task: str, **tests: float) -> Path:
    """Leave in a folder what a training leaves that has ended."""
    settings = checkpoints.training_settings(config, {"task": task, "items": 16_000})
    result = {"steps": 9_000, "best_step": 8_500, "best": 0.8125000179, "learnt": True}
    check_settings(folder / "training", config.schedule.settings() | settings)
    write_json(folder / "training" / RESULT, result)
    write_json(folder / experiment.TEST_RESULTS, {"accuracy": tests})
    return folder


def pos_row(seed: int, accuracy: float, hard: float, **cells: str) -> Row:
    """Return a training of FiLM on POS, within the one budget."""
    row = {
        "network": "film",
        "task": "pos",
        "seed": f"{seed}",
        "preset": "cpu",
        "features": "pixels",
        "items": "16000",
        "epochs": "30",
        "steps": "15000",
        "best_step": "14500",
        "learnt": "yes",
        "validation": f"{accuracy}",
        "test": f"{accuracy}",
        "pos-hard": f"{hard}",
        "commit": "0123abcd",
        "date": "2026-11-19",
    }
    return row | cells


@pytest.mark.parametrize("preset", ["cpu", "paper"])
def test_a_training_is_known_by_its_preset_whatever_its_seed_and_epochs(
    tmp_path: Path, preset: str
) -> None:
    config = preset_config("cnn-lstm", preset, "pos").override(sizes={}, seed=4, epochs=7)
    if preset == "paper":
        config = replace(config, features="resnet101:/somewhere/resnet50")
    finish(tmp_path / "a", config, "pos", **{"test": 0.8, "pos-hard": 0.7})
    (folder,) = finished_trainings([tmp_path])
    row = training_row(folder, "0123abcd")
    assert row is not None
    assert row.pop("date")
    assert row == {
        "network": "cnn-lstm",
        "task": "pos",
        "seed": "4",
        "preset": preset,
        "features": "pixels" if preset == "cpu" else "resnet101:resnet50",
        "items": "16000",
        "epochs": "7",
        "steps": "9000",
        "best_step": "8500",
        "learnt": "yes",
        "validation": "0.8125",
        "test": "0.8",
        "pos-hard": "0.7",
        "commit": "0123abcd",
    }


def test_a_training_with_settings_of_no_preset_has_no_row(tmp_path: Path) -> None:
    config = preset_config("film", "cpu", "pos").override(sizes={"dropout": 0.5})
    assert training_row(finish(tmp_path, config, "pos", test=0.8), "0123abcd") is None


def test_a_training_without_tests_has_not_finished(tmp_path: Path) -> None:
    folder = finish(tmp_path, preset_config("film", "cpu", "pos"), "pos")
    (folder / experiment.TEST_RESULTS).unlink()
    assert not list(finished_trainings([tmp_path]))


def test_rows_are_written_and_read_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    again = pos_row(0, 0.92, 0.9)
    rows = merge_rows([pos_row(1, 0.8, 0.7), pos_row(0, 0.9, 0.8)], [again])
    write_rows(path, rows)
    assert read_rows(path) == rows == [again, pos_row(1, 0.8, 0.7)]


def test_cells_are_means_with_deviations_and_few_seeds_are_counted() -> None:
    """0.9 and 0.8: mean 0.85, deviation 0.1 / √2 = 0.071."""
    rows = [pos_row(0, 0.9, 0.8), pos_row(1, 0.8, 0.7)]
    older = pos_row(0, 0.1, 0.1, epochs="12")
    table = accuracy_table(table_cells([*rows, older]))
    assert "| FiLM, ours | – | – | 0.850 ± 0.071 (2) | – | 0.750 ± 0.071 (2) | – |" in table
    three = accuracy_table(table_cells([*rows, pos_row(2, 0.85, 0.75)]))
    assert "| 0.850 ± 0.050 | – | 0.750 ± 0.050 |" in three


def test_trainings_from_before_are_marked() -> None:
    older = pos_row(0, 0.9, 0.8, epochs="12")
    without_commit = pos_row(0, 0.9, 0.8)
    del without_commit["commit"]
    for row in (older, without_commit):
        cells = table_cells([row])
        assert "| 0.900 (1)° | – | 0.800 (1)° |" in accuracy_table(cells)
        assert "| FiLM | pos° | 1 |" in training_table(cells)
        assert any("train film --task pos " in command for command in missing_commands(cells))


def test_only_missing_seeds_are_to_train() -> None:
    cells = table_cells([pos_row(0, 0.9, 0.8), pos_row(2, 0.9, 0.8)])
    commands = list(missing_commands(cells))
    # 3 networks, 5 tasks, 3 seeds
    assert len(commands) == 45 - 2
    (command,) = (line for line in commands if "film --task pos " in line)
    assert command == (
        "seesay reasoner train film --task pos --preset cpu --seed 1 -o sweep/film/pos/preset-seed1"
    )


def test_the_page_has_the_tables_of_the_committed_trainings() -> None:
    page = TABLE.with_name("scenes.md").read_text(encoding="utf-8")
    cells = table_cells(read_rows(TABLE))
    assert accuracy_table(cells) in page
    assert training_table(cells) in page
