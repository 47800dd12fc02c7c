"""`seesay reasoner train | curve | sweep | diagnose`: networks that look at a scene, read a sentence, and answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.reasoner_diagnose import asking, diagnose
from seesay.cli.training_output import (
    Device,
    Json,
    Quiet,
    Rate,
    best_line,
    check,
    looking_bar,
    show_curve,
    summary,
    write_curve,
)

if TYPE_CHECKING:
    from rich.table import Table

    from seesay.reasoners.diagnostics import Diagnosis
    from seesay.reasoners.features.extractor import Eye
    from seesay.reasoners.networks.registry import Recipe
    from seesay.reasoners.paper_tables import Figure
    from seesay.reasoners.sources import Scenes, Source
    from seesay.reasoners.sweep import Trained
    from seesay.training.loop import Result

app = typer.Typer(help="Train networks to look at a scene and judge a sentence.", no_args_is_help=True)
app.command()(diagnose)

TASKS = ("sup1", "pos1", "pos", "set+pos", "compositional")

Preset = Annotated[
    str, typer.Option(help="cpu, paper (as published), or auto: paper where there is a GPU to run it on.")
]
Items = Annotated[
    int | None,
    typer.Option(
        min=16, help="Training items; validation and tests of scenes have an eighth each. Default: as published."
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Times through the items.")]


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
            "--output", "-o", help="Folder of the model, new or begun before. Default: reasoners/NETWORK-TASK-SEED."
        ),
    ] = None,
    preset: Preset = "auto",
    start: Annotated[
        Path | None, typer.Option("--from", help="Begin with the weights of this trained reasoner of the same network.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Learn from this data set in MALeViC's layout, not from scenes made for it.")
    ] = None,
    items: Items = None,
    eye: Annotated[
        str | None, typer.Option(help="Look with this: pixels, or a network whose features are taken.")
    ] = None,
    side: Annotated[int | None, typer.Option(min=16, max=1024, help="Pixels a side of the pictures.")] = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=0.95, help="Share dropped before the answer.")] = None,
    batch_norm: Annotated[bool | None, typer.Option("--batch-norm/--no-batch-norm", help="Batch norm or none.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Items a batch.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without a better one. Default: never.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and order; the scenes are always the same.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a reasoner and test it. Interrupted, the same command goes on where it stopped."""
    from dataclasses import asdict

    from seesay.cli.output import out, print_json
    from seesay.reasoners import experiment
    from seesay.reasoners.networks.registry import recipe as preset_of

    recipe = preset_of(network, preset)
    check(learning_rate, device)
    source, name = _source(task, data, items)
    recipe = experiment.changed(
        recipe,
        batch=batch,
        sizes={"dropout": dropout, "batch_norm": batch_norm},
        epochs=epochs,
        learning_rate=learning_rate,
        patience=patience,
        seed=seed,
    )
    recipe, opened = experiment.look_with(recipe, eye, side)
    folder = output or Path("reasoners") / f"{network}-{name}-{seed}"
    result, tests = _learn(name, device, quiet or as_json, start)(source, folder, recipe, opened)
    if as_json:
        ended = {**asdict(result), "validation": best_line(folder, result), "tests": tests}
        print_json({"folder": str(folder), "network": network, "task": name, "items": source.splits, **ended})
    elif not quiet:
        said = "".join(f"; {split} {value:.3f}" for split, value in tests.items())
        out.print(summary(folder, result) + said, soft_wrap=True)


@app.command()
def curve(
    folder: Annotated[Path, typer.Argument(help="A reasoner, finished or still at it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page. Default: training/curve.html in the folder.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw the learning curve: a page, and each chart beside it as SVG. Works while the training runs."""
    show_curve(folder, output, of="reasoner", quiet=quiet, as_json=as_json)


@app.command()
def sweep(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the sweep, new or begun before.")],
    networks: Annotated[
        list[str] | None, typer.Option(help="Networks, by comma or by repeating. Default: all four.")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Tasks to train on, likewise. Default: sup1,pos1,pos,set+pos,compositional."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Trainings of every configuration.")] = 3,
    grid: Annotated[str, typer.Option(help="paper: its 16 configurations; preset: the preset's own alone.")] = "preset",
    preset: Preset = "auto",
    items: Items = None,
    epochs: Epochs = None,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train networks on tasks, and put the paper's tables beside ours. Stopped, the same command goes on."""
    from dataclasses import asdict

    from seesay.cli.output import err, out, print_json
    from seesay.errors import UserError
    from seesay.reasoners import sweep as sweeping
    from seesay.reasoners.networks.registry import NAMES
    from seesay.reasoners.paper_tables import summary as tables
    from seesay.reasoners.sources import tests as tests_of
    from seesay.report.pages.reasoners import sweep_page

    check(None, device)
    wanted = sweeping.trainings(
        _names(networks, NAMES), _names(tasks, TASKS), seeds, grid, preset=preset, items=items, epochs=epochs
    )
    numbers = {one.folder: f"{number} of {len(wanted)}" for number, one in enumerate(wanted, 1)}

    def learn(source: Scenes, folder: Path, recipe: Recipe, eye: Eye) -> tuple[Result, dict[str, float]]:
        title = f"{numbers[folder.relative_to(output)]}: {source.plan.name}"
        return _learn(title, device, quiet or as_json)(source, folder, recipe, eye)

    results = sweeping.sweep(output, wanted, learn)
    figures = tables(results)
    failed = [row for row in results if row.error]
    if results and not figures:
        raise UserError(f"No training came to an end; the first says: {failed[0].error}")
    # A test of the paper has 2,000 items at most; one that was made smaller has as many here as there.
    count = min(2_000, max(one.source.splits[test] for one in wanted for test in tests_of(one.source)))
    diagnoses = _diagnosed(results, count, device, quiet or as_json)
    page = sweep_page(output / "report.html", figures, diagnoses)[0]
    if as_json:
        chosen = [
            {"network": network, "task": task, "config": rows[0].config, "seeds": len(rows)}
            for (network, task), rows in sweeping.best(results).items()
        ]
        rows = [asdict(row) | {"folder": str(row.folder)} for row in results]
        told = {"trainings": rows, "best": chosen, "tables": [asdict(figure) for figure in figures]}
        print_json({"folder": str(output), "page": str(page), **told})
    elif not quiet:
        for made in _tables(figures):
            out.print(made)
        for row in failed:
            err.print(f"{row.folder} failed: {row.error}", soft_wrap=True)
        out.print(f"{page}: {len(results)} trainings", soft_wrap=True)


def _learn(
    title: str, device: str, silent: bool, start: Path | None = None
) -> Callable[[Source, Path, Recipe, Eye], tuple[Result, dict[str, float]]]:
    """A training as the terminal shows it: a bar while pictures are looked at, then one with loss and accuracy."""
    from seesay.cli.training_bar import training_bar
    from seesay.reasoners import experiment

    def learn(source: Source, folder: Path, recipe: Recipe, eye: Eye) -> tuple[Result, dict[str, float]]:
        with looking_bar(title, quiet=silent) as looking:
            sets = experiment.look(source, eye, looking)
        with training_bar(f"{recipe.network}, {title}", quiet=silent) as show:
            ended = experiment.learn(source, sets, folder, recipe, start=start, device=device, progress=show)
        write_curve(folder, of="reasoner")
        return ended

    return learn


def _diagnosed(results: Sequence[Trained], items: int, device: str, silent: bool) -> list[Diagnosis]:
    """The first seed of each network's best configuration on each task, diagnosed. What cannot be asked any more (its
    folder is gone, its eye has other weights) is told and left out: the tables stand without it."""
    from seesay.cli.output import err
    from seesay.errors import UserError
    from seesay.reasoners.sweep import best

    ask, found = asking(items, 2, device=device, quiet=silent), []
    for first, *_ in best(results).values():
        try:
            found.append(ask(first.folder))
        except UserError as error:
            if not silent:
                err.print(f"{first.folder} is not diagnosed: {error}", soft_wrap=True)
    return found


def _tables(figures: Sequence[Figure]) -> Iterator[Table]:
    """The tables for the terminal: ours in a row, what was published for the network in the row below."""
    from seesay.cli.output import table
    from seesay.reasoners.networks.registry import NAMES
    from seesay.reasoners.paper_tables import ceiling

    def row(name: str, texts: Iterable[str]) -> list[list[str]]:
        cells = list(texts)
        return [[name, *cells]] if any(cells) else []

    for title in dict.fromkeys(figure.table for figure in figures):
        found = {(figure.network, figure.column): figure for figure in figures if figure.table == title}
        columns = list(dict.fromkeys(column for _, column in found))
        rows = []
        for network, name in NAMES.items():
            cells = [found.get((network, column)) for column in columns]
            rows += row(name, (_ours(cell) for cell in cells))
            rows += row("  published", (_number(cell.published if cell else None) for cell in cells))
        rows += row("ceiling (k = 0.29)", (_number(ceiling(column)) for column in columns))
        yield table(["", *(f">{column}" for column in columns)], rows, title=title)


def _ours(figure: Figure | None) -> str:
    if figure is None or figure.sd is None:
        return _number(figure.mean if figure else None)
    return f"{figure.mean:.3f} ±{figure.sd:.3f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _names(given: Sequence[str] | None, default: Iterable[str]) -> list[str]:
    """Names as a user types them: several by comma or by repeating, each once."""
    from seesay.errors import UserError

    if given is None:
        return list(default)
    found = list(dict.fromkeys(part.strip() for text in given for part in text.split(",") if part.strip()))
    if not found:
        raise UserError("Name at least one network and one task.")
    return found


def _source(task: str | None, data: Path | None, items: int | None) -> tuple[Source, str]:
    """What to learn from, and its name."""
    from seesay.errors import UserError
    from seesay.reasoners.easy_vqa import EasyVqa
    from seesay.reasoners.sources import folder, scenes

    if data is None and task == "easy-vqa":
        return EasyVqa(items), task
    if data is None:
        made = scenes(task or "set+pos", items)
        return made, made.plan.name
    if items is not None:
        raise UserError("--items is for scenes made on the fly: with --data, all items of the data set are taken.")
    return folder(data), task or data.resolve().name
