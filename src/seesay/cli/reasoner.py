"""`seesay reasoner train | curve | sweep | diagnose`: networks that judge a sentence about a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import Json, Quiet
from seesay.cli.reasoner_diagnose import diagnose, diagnose_with_bars
from seesay.cli.training_output import Device, Rate, TrainingDevice, curve, stage_bars, summary, training_bar

if TYPE_CHECKING:
    from seesay.reasoners.config import ReasonerConfig
    from seesay.reasoners.diagnostics import Diagnosis
    from seesay.reasoners.features.extractor import FeatureExtractor
    from seesay.reasoners.sources import ItemSource, SceneSource
    from seesay.reasoners.sweep import SweepRow
    from seesay.training.loop import Result

app = typer.Typer(help="Train networks to judge sentences about scenes.", no_args_is_help=True)
app.command()(curve)
app.command()(diagnose)

TASKS = ("sup1", "pos1", "pos", "set+pos", "compositional")
ReasonerPreset = StrEnum("ReasonerPreset", ["cpu", "paper", "auto"])
SweepGrid = StrEnum("SweepGrid", ["paper", "preset"])

Preset = Annotated[
    ReasonerPreset, typer.Option(help="paper: as published; auto: paper where there is a GPU to run it on.")
]
Items = Annotated[
    int | None,
    typer.Option(
        min=16, help="Training items; validation and tests of scenes have an eighth each. Default: as published."
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes through the items.")]
ImageSize = Annotated[int | None, typer.Option(min=16, max=1024, help="Pixels per side of the pictures.")]
OldImageSize = Annotated[int | None, typer.Option("--side", min=16, max=1024, hidden=True)]


@app.command()
def train(
    network: Annotated[str, typer.Argument(help="film, stacked-attention, cnn-lstm or object-centred.")],
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            help="sup1, pos1, pos, set+pos, comparative, compositional, mixture-64 … 4000, easy-vqa. Default: set+pos.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder of the model, new, or of an interrupted run. Default: reasoners/NETWORK-TASK-SEED.",
        ),
    ] = None,
    preset: Preset = ReasonerPreset.auto,
    start: Annotated[
        Path | None, typer.Option("--from", help="Start from the weights of this trained reasoner of the same network.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Train on this data set in MALeViC's layout instead of generated scenes.")
    ] = None,
    items: Items = None,
    features: Annotated[
        str | None, typer.Option(help="pixels, objects, or a pretrained network, as in resnet101.")
    ] = None,
    old_features: Annotated[str | None, typer.Option("--eye", hidden=True)] = None,
    image_size: ImageSize = None,
    old_image_size: OldImageSize = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=0.95, help="Dropout of the classifier.")] = None,
    batch_norm: Annotated[
        bool | None, typer.Option("--batch-norm/--no-batch-norm", help="Batch norm of the classifier.")
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Items per batch.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many epochs without improvement. Default: never.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and order; the scenes are always the same.")] = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a reasoner and test it. If interrupted, the same command resumes."""
    from dataclasses import asdict

    from seesay.cli.output import out, print_json
    from seesay.reasoners.config import preset_config
    from seesay.reasoners.experiment import with_features
    from seesay.reasoners.sources import open_source
    from seesay.training.checkpoint import best_line

    source, name = open_source(task, data, items)
    config = preset_config(network, preset, name)
    sizes = {"dropout": dropout, "batch_norm": batch_norm}
    schedule = {"epochs": epochs, "learning_rate": learning_rate, "patience": patience, "seed": seed}
    config = config.changed(batch_size=batch, sizes=sizes, **schedule)
    config, extractor = with_features(config, features or old_features, image_size or old_image_size)
    folder = output or Path("reasoners") / f"{network}-{name}-{seed}"
    silent = quiet or as_json
    result, tests = _train(source, folder, config, extractor, title=name, device=device, quiet=silent, start=start)
    if as_json:
        best = best_line(folder / "training", result.best_step)
        fields = {"folder": str(folder), "network": network, "task": name, "items": source.splits, **asdict(result)}
        print_json({**fields, "validation": best, "tests": tests})
    else:
        accuracy = "".join(f"; {split} {value:.3f}" for split, value in tests.items())
        out.print(summary(folder, result) + accuracy, soft_wrap=True)


@app.command()
def sweep(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the sweep, new, or of an interrupted run.")],
    networks: Annotated[
        list[str] | None, typer.Option(help="Networks, separated by commas or repeated. Default: all four.")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Tasks to train on, likewise. Default: sup1,pos1,pos,set+pos,compositional."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Trainings of every configuration.")] = 3,
    grid: Annotated[
        SweepGrid, typer.Option(help="paper: its 16 configurations; preset: only the preset's own.")
    ] = SweepGrid.preset,
    preset: Preset = ReasonerPreset.auto,
    items: Items = None,
    epochs: Epochs = None,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train networks on tasks, and show the paper's tables beside ours. If stopped, the same command resumes."""
    from dataclasses import asdict

    from seesay.cli.output import err, out, print_json, table
    from seesay.errors import UserError
    from seesay.files import lock_folder
    from seesay.reasoners import sweep as sweeps
    from seesay.reasoners.networks.registry import NAMES
    from seesay.reasoners.paper_tables import summary as tables
    from seesay.reports.pages.reasoners import sweep_page, sweep_sections

    trainings = sweeps.plan_trainings(
        _names(networks, NAMES), _names(tasks, TASKS), seeds, grid, preset=preset, items=items, epochs=epochs
    )
    numbers = {training.folder: f"{i} of {len(trainings)}" for i, training in enumerate(trainings, 1)}

    def train_and_test(source: SceneSource, folder: Path, *training: Any) -> tuple[Result, dict[str, float]]:
        title = f"{numbers[folder.relative_to(output)]}: {source.plan.name}"
        return _train(source, folder, *training, title=title, device=device, quiet=quiet or as_json)

    results = sweeps.sweep(output, trainings, train_and_test)
    cells = tables(results)
    failed = [row for row in results if row.error]
    if results and not cells:
        raise UserError(f"All trainings failed; the first error: {failed[0].error}")
    diagnoses = _diagnose_best(results, sweeps.test_size(trainings), device, quiet or as_json)
    with lock_folder(output, wait=True):
        page = sweep_page(output / "report.html", cells, diagnoses)[0]
    if as_json:
        best = [
            {"network": network, "task": task, "config": rows[0].config, "seeds": len(rows)}
            for (network, task), rows in sweeps.best(results).items()
        ]
        rows = [asdict(row) | {"folder": str(row.folder)} for row in results]
        fields = {"trainings": rows, "best": best, "tables": [asdict(cell) for cell in cells]}
        print_json({"folder": str(output), "page": str(page), **fields})
    else:
        for section in sweep_sections(cells, diagnoses)[0]:
            if section.table:
                columns = ["", *(f">{name}" for name in section.table.header[1:])]
                out.print(table(columns, section.table.rows, title=section.heading))
        for row in failed:
            err.print(f"{row.folder} failed: {row.error}", soft_wrap=True)
        if not quiet:
            out.print(f"{page}: {len(results)} trainings")


def _train(
    source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor,
    *, title: str, device: str, quiet: bool, start: Path | None = None,
) -> tuple[Result, dict[str, float]]:  # fmt: skip
    """A training with bars: one per split while features are extracted, then one with loss and accuracy."""
    from seesay.reasoners import experiment
    from seesay.reports.pages.training import write_curve

    with stage_bars(title, quiet=quiet) as show_stage:
        splits = experiment.extract_splits(source, extractor, show_stage)
    with training_bar(f"{config.network}, {title}", quiet=quiet) as show:
        ended = experiment.train_and_test(source, splits, folder, config, start=start, device=device, progress=show)
    write_curve(folder, command="reasoner")
    return ended


def _diagnose_best(results: Sequence[SweepRow], items: int, device: str, quiet: bool) -> list[Diagnosis]:
    """Diagnose the first seed of each network's best configuration on each task. A reasoner that cannot be loaded any
    more (its folder is gone, its feature extractor has other weights) is reported and left out."""
    from seesay.cli.output import err
    from seesay.errors import UserError
    from seesay.reasoners.sweep import best

    options, diagnoses = {"items": items, "examples": 2, "device": device, "tests": {}}, []
    for first, *_ in best(results).values():
        try:
            diagnoses.append(diagnose_with_bars(first.folder, quiet=quiet, **options))
        except UserError as error:
            if not quiet:
                err.print(f"{first.folder} is not diagnosed: {error}", soft_wrap=True)
    return diagnoses


def _names(texts: Sequence[str] | None, default: Iterable[str]) -> list[str]:
    """Names separated by commas or repeated, each once."""
    from seesay.errors import UserError

    if texts is None:
        return list(default)
    names = list(dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip()))
    if not names:
        raise UserError("Name at least one network and one task.")
    return names
