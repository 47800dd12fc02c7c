"""`seesay reasoner sweep`: many trainings, and the paper's tables beside ours."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import Json, Quiet, ShardNumber, names_of
from seesay.cli.training_output import Device, Minutes, SweepEngine, TrainingDevice, Workers
from seesay.cluster import Engine
from seesay.errors import UserError, require_packages
from seesay.scenes.commands.reasoner_diagnose import diagnose_with_bars
from seesay.scenes.commands.reasoner_training import (
    Curriculum,
    Epochs,
    Features,
    Items,
    Preset,
    ReasonerPreset,
    train_with_bars,
)
from seesay.shards import WHOLE, Shard, parse_shard, write_shard

if TYPE_CHECKING:
    from seesay.progress import ProgressBars
    from seesay.scenes.reasoners.diagnostics import Diagnosis
    from seesay.scenes.reasoners.sources import ItemSource
    from seesay.scenes.reasoners.sweep import SweepPlan, SweepRow, SweepTraining
    from seesay.training.loop import Result

log = logging.getLogger(__name__)

TASKS = ("sup1", "pos1", "pos", "set+pos", "compositional")
SweepGrid = StrEnum("SweepGrid", ["paper", "preset"])
KIND = "reasoner sweep"
"""What shares of a sweep are called (`seesay.shards`)."""
_SHARED_OPTIONS = (
    *("networks", "tasks", "seeds", "grid", "preset", "cells", "items", "epochs", "features"),
    *("curriculum", "device"),
)


def sweep(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder of the sweep, new, or of an interrupted run."),
    ],
    networks: Annotated[
        list[str] | None,
        typer.Option(help="Networks, separated by commas or repeated. Default: all four."),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            help="Tasks to train on, likewise. Default: sup1,pos1,pos,set+pos,compositional."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=100, help="Trainings of every configuration.")
    ] = 3,
    grid: Annotated[
        SweepGrid, typer.Option(help="paper: its 16 configurations; preset: only the preset's own.")
    ] = SweepGrid.preset,
    preset: Preset = ReasonerPreset.auto,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these, as in film/pos,cnn-lstm/sup1, in place of --networks and --tasks."
        ),
    ] = None,
    items: Items = None,
    epochs: Epochs = None,
    features: Features = None,
    curriculum: Curriculum = None,
    minutes: Minutes = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be trained, and for how long.")
    ] = False,
    engine: SweepEngine = Engine.LOCAL,
    workers: Workers = 2,
    shard: ShardNumber = None,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train networks on tasks, and show the paper's tables beside ours.

    If stopped, the same command resumes.
    """
    from seesay.cli.output import tell_share
    from seesay.scenes.reasoners import sweep as sweeps
    from seesay.scenes.reasoners.networks.registry import NAMES

    # For the merge of shares, which is the same sweep without a share.
    options = {name: value for name, value in locals().items() if name in _SHARED_OPTIONS}
    require_packages("A sweep", "reasoners", "torch")
    pairs = None
    if cells is not None:
        # the cells name the networks and tasks, too
        pairs = sweeps.parse_cells(_names(cells, ()))
        networks = [network for network, _ in pairs]
        tasks = [task for _, task in pairs]
    plan = sweeps.SweepPlan(
        networks=_names(networks, NAMES),
        tasks=_names(tasks, TASKS),
        seeds=seeds,
        grid=grid,
        preset=preset,
        items=items,
        epochs=epochs,
        features=features,
        cells=pairs,
        curriculum=names_of([curriculum or ""]),
    )
    if dry_run:
        _print_plan(output, plan, workers, as_json)
        return
    if shard is None:
        results = _sweep(output, plan, WHOLE, minutes, engine, workers, device, quiet or as_json)
    else:
        share = parse_shard(shard)
        output = output / share.folder
        write_shard(output, share, KIND, options, finished=False)
        results = _sweep(output, plan, share, minutes, engine, workers, device, quiet or as_json)
        is_finished = len(results) >= len(share.take(plan.trainings(results)))
        write_shard(output, share, KIND, options, finished=is_finished)
        tell_share(output, f"{len(results)} trainings", as_json=as_json, quiet=quiet)
        return
    _show(output, plan, results, device, quiet, as_json)


def _show(
    output: Path,
    plan: SweepPlan,
    results: Sequence[SweepRow],
    device: str,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the page of a sweep, and print its tables."""
    from seesay.cli.output import out, print_json, table
    from seesay.files import lock_folder
    from seesay.scenes.reasoners import sweep as sweeps
    from seesay.scenes.reasoners.paper_tables import best_configurations
    from seesay.scenes.reasoners.paper_tables import summary as tables
    from seesay.scenes.reports.reasoner_page import sweep_page, sweep_sections

    cells_so_far = tables(results)
    best = best_configurations(results)
    failed = [row for row in results if row.error]
    if results and not cells_so_far:
        raise UserError(f"All trainings failed; the first error: {failed[0].error}")
    test_items = sweeps.test_size(plan.trainings(results))
    diagnoses = _diagnose_best(results, test_items, device, quiet or as_json)
    page = output / "report.html"
    with lock_folder(output, wait=True):
        # else another process that sweeps this folder knows more
        if results == sweeps.results_so_far(output):
            sweep_page(page, cells_so_far, diagnoses, best)
    if as_json:
        print_json(
            {
                "folder": str(output),
                "page": str(page),
                "trainings": [asdict(row) | {"folder": str(row.folder)} for row in results],
                "best": [asdict(line) | {"best_run": str(line.best_run)} for line in best],
                "tables": [asdict(cell) for cell in cells_so_far],
            }
        )
    else:
        for section in sweep_sections(cells_so_far, diagnoses, best)[0]:
            if section.table:
                columns = ["", *(f">{name}" for name in section.table.header[1:])]
                out.print(table(columns, section.table.rows, title=section.heading))
        _print_problems(results)
        if not quiet:
            out.print(f"{page}: {len(results)} trainings")


def merge(
    folders: Sequence[Path], output: Path, options: Mapping[str, Any], _: ProgressBars
) -> str:
    """Make the sweep of its shares, which shows the tables."""
    from seesay.training.sweeps import merge_shares

    merge_shares(folders, output)
    sweep(output, **options, quiet=True)
    return f"{output}: all trainings are there"


def _print_problems(results: Iterable[SweepRow]) -> None:
    """Print on stderr which trainings failed, and which learnt nothing."""
    from seesay.cli.output import err

    for row in results:
        if row.error:
            err.print(f"{row.folder} failed: {row.error}")
        elif row.warning:
            # as the training itself logs it: --silent prints errors only
            log.warning("%s: %s", row.folder, row.warning)


def _sweep(
    output: Path,
    plan: SweepPlan,
    share: Shard,
    minutes: float | None,
    engine: str,
    workers: int,
    device: str,
    quiet: bool,
) -> list[SweepRow]:
    """Run a share of the plan, then what its results add to it.

    Compositional takes the best configuration of SET+POS, which is known once that is swept.
    """
    from seesay.cli.output import err, progress_bar
    from seesay.scenes.reasoners import sweep as sweeps
    from seesay.training.sweeps import deadline_after

    deadline = deadline_after(minutes)
    all_trainings: list[SweepTraining] = []
    results = sweeps.results_so_far(output)
    # SET+POS, once complete, adds compositional to the plan: run until nothing is new
    while len(longer_plan := plan.trainings(results)) > len(all_trainings):
        all_trainings = longer_plan
        trainings = share.take(all_trainings)
        if engine == Engine.RAY:
            # many trainings at once: one bar for all of them
            train = partial(
                train_with_bars,
                title="",
                device=device,
                quiet=True,
                deadline=deadline,
            )
            with progress_bar("sweep", unit="trainings", quiet=quiet) as advance:
                results = sweeps.sweep(
                    output,
                    trainings,
                    train,
                    deadline,
                    all_trainings,
                    ray_workers=workers,
                    progress=advance,
                )
        else:
            numbers = {}
            for i, training in enumerate(trainings, 1):
                numbers[training.folder] = f"{i} of {len(trainings)}"
            train = partial(
                _train_numbered,
                output,
                numbers,
                device=device,
                quiet=quiet,
                deadline=deadline,
            )
            results = sweeps.sweep(output, trainings, train, deadline, all_trainings)
    if sweeps.is_over(deadline) and not quiet:
        err.print(f"The {minutes:g} minutes are over: the same command resumes.")
    return results


def _train_numbered(
    output: Path,
    numbers: dict[Path, str],
    source: ItemSource,
    folder: Path,
    *training: Any,
    **options: Any,
) -> tuple[Result, dict[str, float]]:
    """Train with the number of the training in the title of its bars."""
    title = f"{numbers[folder.relative_to(output)]}: {source.name}"
    return train_with_bars(source, folder, *training, title=title, **options)


def _print_plan(output: Path, plan: SweepPlan, workers: int, as_json: bool) -> None:
    """Print the trainings of a sweep that remain, and the hours that they would take."""
    from seesay.cli.output import out, print_json, table
    from seesay.scenes.reasoners.sweep_estimate import cluster_hours, estimate, remaining_trainings

    trainings = remaining_trainings(output, plan)
    lines = estimate(trainings)
    total = sum(line.hours for line in lines)
    count = sum(line.trainings for line in lines)
    hours = {
        "here": total,
        f"{workers} workers": cluster_hours(lines, workers),
        f"{count} workers": cluster_hours(lines, count),
    }
    if as_json:
        cells = [asdict(line) | {"hours": line.hours} for line in lines]
        print_json({"trainings": count, "cells": cells, "hours": hours})
        return
    columns = [
        "network",
        "task",
        ">trainings",
        ">steps each",
        ">seconds per step",
        ">hours each",
        ">hours",
    ]
    rows = []
    for line in lines:
        row = [
            line.network,
            line.task,
            f"{line.trainings}",
            f"{line.steps:,}",
            f"{line.seconds_per_step:.3f}",
            f"{line.hours_each:.2f}",
            f"{line.hours:.1f}",
        ]
        rows.append(row)
    out.print(table(columns, rows))
    del hours["here"]
    on_cluster = ", ".join(f"{value:,.1f} with {name}" for name, value in hours.items())
    out.print(
        f"{count} trainings: {total:,.1f} hours here, one after the other; on a cluster, "
        f"{on_cluster} as fast as one core here. Steps are timed on this machine, on one core; "
        "features, validation and early stops are left out."
    )


def _diagnose_best(
    results: Sequence[SweepRow], items: int, device: str, quiet: bool
) -> list[Diagnosis]:
    """Diagnose the first seed of each network's best configuration on each task.

    A reasoner that cannot be loaded any more (its folder is gone, its feature extractor has other
    weights) is reported and skipped.
    """
    from seesay.cli.output import err
    from seesay.scenes.reasoners.sweep import best

    # tests that several reasoners share are generated once
    options = {"items": items, "examples": 2, "device": device, "tests": {}}
    diagnoses = []
    for first, *_ in best(results).values():
        try:
            diagnoses.append(diagnose_with_bars(first.folder, quiet=quiet, **options))
        except UserError as error:
            if not quiet:
                err.print(f"{first.folder} is not diagnosed: {error}")
    return diagnoses


def _names(texts: Sequence[str] | None, default: Iterable[str]) -> list[str]:
    """Parse names that are separated by commas or repeated, each once; None is the default."""
    if texts is None:
        return list(default)
    names = names_of(texts)
    if not names:
        raise UserError("Name at least one network and one task.")
    return names
