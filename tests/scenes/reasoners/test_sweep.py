"""The sweep: its plan, its table, what it chooses, and the paper's tables made of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import filelock
import pytest

from seesay.errors import UserError
from seesay.scenes.commands.reasoner_training import train_with_bars
from seesay.scenes.reasoners import checkpoints, experiment, sweep
from seesay.scenes.reasoners.config import ReasonerConfig
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.paper_tables import (
    OTHERS,
    TableCell,
    best_configurations,
    published,
    summary,
)
from seesay.scenes.reasoners.sources import ItemSource
from seesay.scenes.reasoners.sweep import (
    SweepPlan,
    SweepRow,
    SweepTraining,
    best,
    read_results,
)
from seesay.scenes.reasoners.sweep_estimate import (
    SweepEstimate,
    cluster_hours,
    estimate,
    remaining_trainings,
)
from seesay.scenes.reports.reasoner_page import sweep_sections
from seesay.training import checkpoint, loop

Ended = tuple[loop.Result, dict[str, float]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def row(
    config: str, seed: int, validation: float, error: str = "", task: str = "pos", **tests: float
) -> SweepRow:
    folder = Path("film", task, f"{config}-seed{seed}")
    return SweepRow("film", task, config, seed, folder, validation, tests, 1.5, error)


class Learner:
    """Trains really, and remembers what; `stop` is called with how many were begun before."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stop: dict[int, BaseException] = {}

    def __call__(
        self, source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor
    ) -> Ended:
        if stop := self.stop.get(len(self.begun)):
            raise stop
        self.begun.append(folder.name)
        return experiment.train_and_test(
            source, experiment.extract_splits(source, extractor), folder, config, device="cpu"
        )


def tiny(
    seeds: int = 3, epochs: int = 1, tasks: tuple[str, ...] = ("set+pos",)
) -> list[SweepTraining]:
    plan = SweepPlan(["object-centred"], tasks, seeds, preset="cpu", items=80, epochs=epochs)
    return plan.trainings()


# What is trained


def test_the_papers_grid() -> None:
    """4 learning rates, 2 dropouts, batch norm or none (Pezzelle & Fernández 2019), 3 runs each."""
    plan = SweepPlan(["film", "object-centred"], ["pos"], 3, "paper", preset="cpu")
    trainings = plan.trainings()
    film = [training for training in trainings if training.config.network == "film"]
    configs = {training.folder: training.config for training in film}
    assert len(film) == len(configs) == 48
    rates = {config.schedule.learning_rate for config in configs.values()}
    assert rates == {5e-5, 3e-4, 5e-4, 5e-3}
    config = configs[Path("film/pos/lr0.0003-dropout0.5-plain-seed2")]
    assert (config.sizes["dropout"], config.sizes["batch_norm"]) == (0.5, False)
    assert (config.schedule.learning_rate, config.schedule.seed) == (3e-4, 2)
    assert [row.folder.name for row in trainings if row.config.network == "object-centred"] == [
        "preset-seed0",
        "preset-seed1",
        "preset-seed2",
    ]


def test_compositional_takes_the_configuration_that_is_best_on_set_pos() -> None:
    """Published so (Pezzelle & Fernández 2019): nothing of it is planned until all 48 runs of
    SET+POS have ended."""
    plan = SweepPlan(["film"], ["set+pos", "compositional"], 3, "paper", preset="cpu")
    trainings = plan.trainings()
    assert {training.key[1] for training in trainings} == {"set+pos"}
    rows = [
        replace(
            row(
                training.name,
                training.key[3],
                0.9 if "lr0.0005-dropout0.5-plain" in training.name else 0.8,
            ),
            task="set+pos",
        )
        for training in trainings
    ]
    assert len(plan.trainings(rows[:-1])) == 48
    added = [
        training.folder for training in plan.trainings(rows) if training.key[1] == "compositional"
    ]
    assert added == [
        Path(f"film/compositional/lr0.0005-dropout0.5-plain-seed{seed}") for seed in range(3)
    ]
    with pytest.raises(UserError, match=r"best on set\+pos: sweep film/set\+pos too"):
        SweepPlan(["film"], ["compositional"], 3, "paper", preset="cpu").trainings()


def test_cells_are_any_pairs_of_network_and_task() -> None:
    cells = sweep.parse_cells(["film/pos", "cnn-lstm/sup1"])
    plan = SweepPlan(["film", "cnn-lstm"], ["pos", "sup1"], 2, preset="cpu", cells=cells)
    assert [training.key for training in plan.trainings()] == [
        ("film", "pos", "preset", 0),
        ("cnn-lstm", "sup1", "preset", 0),
        ("film", "pos", "preset", 1),
        ("cnn-lstm", "sup1", "preset", 1),
    ]
    with pytest.raises(UserError, match="'film' is not a cell: write NETWORK/TASK"):
        sweep.parse_cells(["film"])


def test_features_are_for_networks_over_pictures() -> None:
    plan = SweepPlan(["film", "object-centred"], ["pos"], 1, preset="cpu", features="pixels")
    assert [training.config.features for training in plan.trainings()] == ["pixels", "objects"]


def test_trainings_are_ordered_seed_by_seed() -> None:
    plan = SweepPlan(["film", "cnn-lstm"], ["sup1", "pos"], 2, preset="cpu")
    assert [training.config.schedule.seed for training in plan.trainings()] == [
        0,
        0,
        0,
        0,
        1,
        1,
        1,
        1,
    ]


# The table


def test_stopped_sweep_resumes_and_extends_the_table(tmp_path: Path) -> None:
    """Stopped before the third training: two rows; the same sweep then does the third alone."""
    learner = Learner()
    learner.stop[2] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sweep.sweep(tmp_path, tiny(), learner)
    assert [(row.seed, row.error) for row in read_results(tmp_path)] == [(0, ""), (1, "")]
    learner.stop.clear()
    rows = sweep.sweep(tmp_path, tiny(), learner)
    assert learner.begun == ["preset-seed0", "preset-seed1", "preset-seed2"]
    assert rows == read_results(tmp_path)
    for row in rows:
        assert list(row.tests) == ["test", "set+pos-hard"]
        # an eighth of 80 items
        assert row.tests["test"] * 10 == pytest.approx(round(row.tests["test"] * 10))
        assert loop.read_result(row.folder / "training") is not None
    assert [
        line.partition("-seed")[0]
        for line in (tmp_path / sweep.RESULTS).read_text().splitlines()[1:]
    ] == [
        f"object-centred,set+pos,preset,{seed},object-centred/set+pos/preset" for seed in range(3)
    ]
    sweep.sweep(tmp_path, tiny(), learner)
    assert len(learner.begun) == 3


def test_an_interrupted_training_is_resumed(tmp_path: Path) -> None:
    """Stopped in its third epoch, it goes on after the second, and ends as one ends that was never
    stopped."""
    (one,) = tiny(1, epochs=3)

    def once(now: loop.TrainingProgress) -> None:
        if now.done > 0.7:
            raise KeyboardInterrupt

    def interrupted(
        source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor
    ) -> Ended:
        return experiment.train_and_test(
            source,
            experiment.extract_splits(source, extractor),
            folder,
            config,
            device="cpu",
            progress=once,
        )

    with pytest.raises(KeyboardInterrupt):
        sweep.sweep(tmp_path / "parts", [one], interrupted)
    assert not (tmp_path / "parts" / sweep.RESULTS).exists()
    assert (tmp_path / "parts" / one.folder / "training" / "checkpoint.safetensors").is_file()
    (parts,) = sweep.sweep(tmp_path / "parts", [one], Learner())
    (whole,) = sweep.sweep(tmp_path / "whole", [one], Learner())
    assert (parts.validation, parts.tests) == (whole.validation, whole.tests)
    same = [(row.folder / "model.safetensors").read_bytes() for row in (parts, whole)]
    assert same[0] == same[1]


def test_no_training_begins_after_the_deadline(tmp_path: Path) -> None:
    """No training begins after the deadline, and the one that is interrupted by it leaves no row;
    nor is Ctrl-C before the deadline taken for it."""
    learner = Learner()
    assert sweep.sweep(tmp_path, tiny(2), learner, time.time()) == []
    assert learner.begun == []
    learner.stop[1] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sweep.sweep(tmp_path, tiny(2), learner, time.time() + 1000)
    assert [row.seed for row in sweep.sweep(tmp_path, tiny(2), learner, time.time())] == [0]


def test_a_training_at_the_deadline_leaves_a_checkpoint(tmp_path: Path) -> None:
    deadline = time.time() + 0.1
    (training,) = tiny(1, epochs=3)

    def too_late(
        source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor
    ) -> Ended:
        time.sleep(max(0.0, deadline - time.time()))
        return train_with_bars(
            source,
            folder,
            config,
            extractor,
            title="pos",
            device="cpu",
            quiet=True,
            deadline=deadline,
        )

    assert sweep.sweep(tmp_path, [training], too_late, deadline) == []
    assert (tmp_path / training.folder / "training" / "checkpoint.safetensors").is_file()
    (row,) = sweep.sweep(tmp_path, [training], Learner())
    assert (row.error, loop.read_result(row.folder / "training").epochs) == ("", 3.0)  # type: ignore[union-attr]


def test_failed_training_is_recorded_and_retried(tmp_path: Path) -> None:
    """A learning rate of 10^30 makes the loss no number; another trouble is told once and
    mended."""
    wild, good, late = tiny(3)
    schedule = wild.config.schedule.override(learning_rate=1e30, warmup=0.0, clip=1e30, epochs=5)
    wild = replace(wild, name="wild", config=replace(wild.config, schedule=schedule))
    learner = Learner()
    learner.stop[2] = UserError("The disk of\nthis test is full.")
    rows = sweep.sweep(tmp_path, [wild, good, late], learner)
    assert [(row.config, row.seed) for row in rows] == [("wild", 0), ("preset", 1), ("preset", 2)]
    assert rows[0].error.startswith("The loss is not a number at step")
    assert (rows[1].error, rows[2].error) == ("", "The disk of this test is full.")
    assert rows[2].tests == {}
    learner.stop.clear()
    again = sweep.sweep(tmp_path, [wild, good, late], learner)
    assert {row.key: bool(row.error) for row in again} == {
        wild.key: True,
        good.key: False,
        late.key: False,
    }


def test_training_with_a_deleted_folder_is_repeated(tmp_path: Path) -> None:
    learner = Learner()
    (row,) = sweep.sweep(tmp_path, tiny(1), learner)
    (row.folder / "model.safetensors").unlink()
    assert sweep.sweep(tmp_path, tiny(1), learner)[0].tests == row.tests
    assert learner.begun == ["preset-seed0"] * 2
    assert (row.folder / "model.safetensors").is_file()


def test_other_settings_are_refused_before_anything_is_trained(tmp_path: Path) -> None:
    learner = Learner()
    sweep.sweep(tmp_path, tiny(1, tasks=("pos",)), learner)
    with pytest.raises(UserError, match=r"was started with epochs 1, not 2.*another folder"):
        sweep.sweep(tmp_path, tiny(1, epochs=2, tasks=("set+pos", "pos")), learner)
    assert len(learner.begun) == 1


def test_two_sweeps_share_the_work(tmp_path: Path) -> None:
    """What another process holds is left to it."""
    first, second = tiny(2)
    held = tmp_path / first.folder / "training"
    held.mkdir(parents=True)
    with filelock.FileLock(held / ".lock"):
        assert [row.seed for row in sweep.sweep(tmp_path, [first, second], Learner())] == [1]
    # as planned
    assert [row.seed for row in sweep.sweep(tmp_path, [first, second], Learner())] == [0, 1]


def test_missing_and_damaged_tables_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"There is no results\.csv in"):
        read_results(tmp_path)
    for text in ("network,task\nfilm,pos\n", "network,task\n" + "x" * 200_000):
        (tmp_path / sweep.RESULTS).write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="is damaged"):
            read_results(tmp_path)


# The choice, and the paper's tables


def test_the_best_configuration_by_mean_validation() -> None:
    """b has the highest single figure, a the higher mean: 0.85 against 0.84."""
    rows = [
        row("b", 0, 0.90),
        row("a", 1, 0.85),
        row("a", 0, 0.85),
        row("b", 1, 0.78),
        row("a", 0, 0.6, task="sup1"),
    ]
    chosen = best(rows)
    assert [(one.config, one.seed) for one in chosen["film", "pos"]] == [("a", 0), ("a", 1)]
    assert [one.config for one in chosen["film", "sup1"]] == ["a"]


def test_configuration_with_a_failed_seed_ranks_last() -> None:
    rows = [row("a", 0, 0.99), row("a", 1, 0.0, "no number"), row("b", 0, 0.7)]
    assert [one.config for one in best(rows)["film", "pos"]] == ["b"]
    assert [one.seed for one in best(rows[:2])["film", "pos"]] == [0]
    assert best([row("a", 0, 0.0, "no number")]) == {}


def made_up() -> Iterator[SweepRow]:
    """0.90, 0.92, 0.94: mean 0.92, and an sd of √((0.02² + 0.02²) / 2) = 0.02."""
    for seed, test in enumerate((0.90, 0.92, 0.94)):
        yield replace(row("a", seed, 0.95), tests={"test": test, "pos-hard": 0.8})
        yield row("b", seed, 0.90, test=0.99)
    yield row("preset", 0, 0.7, task="compositional", test_seen=0.8, test_unseen=0.25)
    yield replace(row("preset", 0, 0.7, task="set+pos", test=0.75), network="stacked-attention")
    yield replace(row("preset", 0, 0.7, task="set+pos", test=0.96), network="object-centred")
    yield row("preset", 0, 0.7, task="comparative", test=0.625)


def test_tables_by_hand() -> None:
    """Published figures: Pezzelle & Fernández 2019, Tables 1 to 3."""
    table_cells = summary(made_up())
    assert [(one.table, one.column, one.network, one.published) for one in table_cells] == [
        ("Table 1", "POS", "film", 0.9333),
        ("Table 1", "SET+POS", "stacked-attention", 0.7751),
        ("Table 1", "SET+POS", "object-centred", None),
        ("Table 2", "POS-hard", "film", 0.8693),
        ("Table 3", "seen", "film", 0.8489),
        ("Table 3", "unseen", "film", 0.153),
        (OTHERS, "comparative test", "film", None),
    ]
    pos = table_cells[0]
    assert (pos.config, pos.seeds) == ("a", 3)
    assert pos.mean == pytest.approx(0.92)
    assert pos.sd == pytest.approx(0.02)
    assert table_cells[3].sd == pytest.approx(0.0)
    assert table_cells[5] == TableCell("Table 3", "unseen", "film", "preset", 1, 0.25, None, 0.153)


def test_best_configurations_by_hand(tmp_path: Path) -> None:
    """0.90 and 0.94: mean 0.92, sd √(2 · 0.02²) = 0.0283, the second is the best run;
    hyper-parameters are its own."""
    rows = [
        replace(row("a", seed, value), folder=tmp_path / str(seed))
        for seed, value in enumerate((0.90, 0.94))
    ]
    # 5e-3, 0.5, plain
    config = SweepPlan(["film"], ["pos"], 1, "paper", preset="cpu").trainings()[-1].config
    settings = config.schedule.settings() | checkpoints.training_settings(config, {})
    checkpoint.check_settings(tmp_path / "1" / "training", settings)
    (line,) = best_configurations(rows)
    assert (line.learning_rate, line.dropout, line.batch_norm) == (5e-3, 0.5, False)
    assert (line.seeds, line.highest, line.best_run) == (2, 0.94, tmp_path / "1")
    assert line.mean == pytest.approx(0.92)
    assert line.sd == pytest.approx(0.02828, abs=1e-5)
    (gone,) = best_configurations([row("a", 0, 0.9)])
    assert (gone.learning_rate, gone.sd, gone.highest) == (None, None, 0.9)


# How long it would take


def test_the_papers_sweep_is_planned_and_timed(tmp_path: Path) -> None:
    """16 configurations x 3 seeds of SET+POS and three runs of compositional. 640 items are 20
    batches of the preset's 32, of 30 epochs (compositional: 60)."""
    plan = SweepPlan(["film"], ["set+pos", "compositional"], 3, "paper", "paper")
    tasks = [training.key[1] for training in remaining_trainings(tmp_path, plan)]
    assert tasks == ["set+pos"] * 48 + ["compositional"] * 3
    small = replace(plan, preset="cpu", items=640)
    lines = estimate(remaining_trainings(tmp_path, small))
    assert [(line.task, line.trainings, line.steps) for line in lines] == [
        ("set+pos", 48, 30 * 20),
        ("compositional", 3, 60 * 20),
    ]
    assert all(0 < line.seconds_per_step < 60 for line in lines)
    assert lines[0].hours == pytest.approx(48 * 600 * lines[0].seconds_per_step / 3600)


def test_estimate_includes_the_tasks_of_a_curriculum(tmp_path: Path) -> None:
    plan = SweepPlan(["film"], ["pos"], 1, "preset", "cpu", items=640)
    (plain,) = estimate(remaining_trainings(tmp_path, plan))
    longer = replace(plan, curriculum=("sup1", "pos1"))
    (with_curriculum,) = estimate(remaining_trainings(tmp_path, longer))
    assert with_curriculum.steps == 3 * plain.steps


def test_hours_of_a_cluster_by_hand() -> None:
    """Trainings of 3, 3, 2, 2 and 2 hours on two workers: 3 + 2 + 2 and 3 + 2."""
    lines = [
        SweepEstimate("film", "pos", 2, 3600, 3.0),
        SweepEstimate("film", "sup1", 3, 3600, 2.0),
    ]
    assert [cluster_hours(lines, workers) for workers in (1, 2, 5)] == [12, 7, 3]


def test_published_ceiling() -> None:
    columns = ("SUP1", "POS", "POS-hard", "SET+POS-hard", "unseen", "comparative test")
    assert [published(column) for column in columns] == [None, 0.97, 0.92, None, None, None]


def test_seed_that_learnt_nothing_is_marked_in_the_table(tmp_path: Path) -> None:
    """A rate that moves nothing keeps the untrained weights, whose accuracy is part of the mean."""
    (training,) = tiny(seeds=1, tasks=("pos",))
    idle = replace(training, config=training.config.override(sizes={}, learning_rate=1e-12))
    results = sweep.sweep(tmp_path, [idle], Learner())
    assert results[0].warning.startswith("It learnt nothing")
    assert read_results(tmp_path) == results
    table_cells = summary(results)
    assert [(cell.seeds, cell.unlearnt) for cell in table_cells] == [(1, 1), (1, 1)]
    best_rows = best_configurations(results)
    assert best_rows[0].unlearnt == 1
    sections = sweep_sections(table_cells, best=best_rows)[0]
    tables = [section.table for section in sections if section.table]
    marked = [str(table.rows) for table in tables if "1, 1 learnt nothing" in str(table.rows)]
    # Tables 1 and 2, and that of the configurations
    assert len(marked) == 3


@pytest.mark.parametrize("damage", ["high", None, True, [0.5], 7, float("nan")])
def test_accuracies_of_another_type_are_computed_again(
    tmp_path: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    (training,) = tiny(seeds=1, tasks=("pos",))
    (row,) = sweep.sweep(tmp_path, [training], Learner())
    path = row.folder / experiment.TEST_RESULTS
    cached = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**cached, "accuracy": {**cached["accuracy"], "test": damage}}))
    (tmp_path / sweep.RESULTS).unlink()
    (again,) = sweep.sweep(tmp_path, [training], Learner())
    assert again.tests == row.tests
    assert "is damaged: the accuracies are computed again" in caplog.text
