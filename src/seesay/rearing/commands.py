"""`seesay rear`: models raised on known diets, the texts of a diet, and what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet, ShardNumber, names_of
from seesay.cli.training_output import Minutes, SweepEngine, Workers
from seesay.cluster import Engine
from seesay.errors import UserError, refuse_unknown, require_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seesay.progress import ProgressBars
    from seesay.rearing.cells import RearedRow
    from seesay.rearing.diet import Diet

KIND = "rearing"
"""What shares of a sweep are called (`seesay.shards`)."""

app = Application(
    help="Raise models on known diets: what does text leave unsaid?", no_args_is_help=True
)

DietFile = Annotated[
    Path | None,
    typer.Option("--diet-file", help="A YAML or JSON file with a list of diets, dial by dial."),
]
World = Annotated[int, typer.Option(min=0, help="The seed that the world is drawn with.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")]


@app.command()
def sweep(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder of the models, new, or of an interrupted run."),
    ],
    diets: Annotated[
        str | None,
        typer.Option(
            help="Diets by name, separated by commas. Default: all six, or all of the file."
        ),
    ] = None,
    diet_file: DietFile = None,
    learners: Annotated[
        str, typer.Option(help="Who is raised, separated by commas.")
    ] = "text,visual-text,pictures",
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Models of every diet.")] = 3,
    world: World = 0,
    epochs: Annotated[int, typer.Option(min=1, help="How often all texts are read.")] = 20,
    minutes: Minutes = None,
    engine: SweepEngine = Engine.LOCAL,
    workers: Workers = 2,
    shard: ShardNumber = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Raise a model for every diet, learner and seed, and ask each of them the same.

    If stopped, the same command resumes.

    Examples:
        seesay rear sweep --diets full-bias --learners text,pictures --seeds 1 -o reared
    """
    from seesay.cli.output import progress_bar, tell_share
    from seesay.rearing.cells import plan_cells, rear
    from seesay.shards import WHOLE, parse_shard, write_shard
    from seesay.training.sweeps import deadline_after, is_over

    # before anything is written
    require_packages("Rearing", "models", "torch", "transformers")
    options = {
        "diets": diets,
        "diet_file": str(diet_file) if diet_file else None,
        "learners": learners,
        "seeds": seeds,
        "world": world,
        "epochs": epochs,
    }
    plan = plan_cells(_diets(diets, diet_file), _names(learners), seeds, world=world, epochs=epochs)
    share = WHOLE
    if shard is not None:
        share = parse_shard(shard)
        output = output / share.folder
        write_shard(output, share, KIND, options, finished=False)
    deadline = deadline_after(minutes)
    with progress_bar("models", unit="models", quiet=quiet or as_json) as advance:
        rows = rear(
            output,
            share.take(plan),
            deadline=deadline,
            plan=plan,
            ray_workers=workers if engine == Engine.RAY else 0,
            progress=advance,
        )
    if shard is not None:
        write_shard(output, share, KIND, options, finished=not is_over(deadline))
        tell_share(output, f"{len(rows)} models", as_json=as_json, quiet=quiet)
        return
    _show(output, rows, quiet, as_json, of_all=f" of {len(plan)}")


def merge(
    folders: Sequence[Path], output: Path, options: Mapping[str, Any], _: ProgressBars
) -> str:
    """Make the sweep of its shares, which shows what it found."""
    from seesay.training.sweeps import merge_shares

    merge_shares(folders, output)
    diet_file = options["diet_file"] and Path(options["diet_file"])
    sweep(output, **{**options, "diet_file": diet_file}, quiet=True)
    return f"{output}: all models are there"


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder that `seesay rear sweep` made.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the page of what was found so far: curves over doses, and every thing.

    Examples:
        seesay rear page reared
    """
    from seesay.rearing.cells import result_table

    _show(folder, result_table(folder).read(), quiet, as_json)


def _show(
    folder: Path, rows: Sequence[RearedRow], quiet: bool, as_json: bool, *, of_all: str = ""
) -> None:
    """Write the page, print the tables, and say which models failed."""
    from seesay.cli.output import err, out, print_json, table
    from seesay.rearing.page import findings, write_findings

    failed = [row for row in rows if row.error]
    for row in failed:
        err.print(f"{row.folder} failed: {row.error}")
    # figures of nothing would be no figures
    if len(failed) == len(rows):
        raise UserError("No model was reared: there is nothing to show.")
    reared_findings = findings(folder, rows)
    path = write_findings(folder, reared_findings, rows)
    if as_json:
        print_json({"folder": str(folder), "page": str(path), **reared_findings.as_json()})
        return
    for part in reared_findings.tables():
        # numbers stand to the right
        first, *others = part.header
        columns = [first, *(f">{name}" for name in others)]
        out.print(table(columns, part.rows, title=part.title))
    if not quiet:
        out.print(f"{path}: {len(rows) - len(failed)}{of_all} models")


@app.command()
def texts(
    output: Output,
    diet: Annotated[str, typer.Option(help="A diet by name.")] = "all-said",
    diet_file: DietFile = None,
    world: World = 0,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the texts.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the texts of a diet, what is seen beside each, and the card that states the truth.

    Examples:
        seesay rear texts --diet full-bias -o texts
    """
    from seesay.cli.output import out, print_json
    from seesay.rearing.texts import write_card, write_lines, write_texts
    from seesay.rearing.world import make_world

    (diet_to_write,) = _diets(diet, diet_file)
    drawn_world = make_world(world)
    diet_texts = write_texts(drawn_world, diet_to_write, seed)
    write_lines(output, diet_texts)
    write_card(output, drawn_world, diet_to_write, seed, diet_texts)
    count = len(diet_texts.train)
    kinds = len(drawn_world.kinds)
    if as_json:
        print_json({"folder": str(output), "train": count, "kinds": kinds})
    elif not quiet:
        out.print(f"{output}: {count:,} texts about {kinds} kinds")


@app.command()
def captions(
    files: Annotated[list[Path], typer.Argument(help="Corpora of captions.")],
    output: Output,
    things: Annotated[str, typer.Option(help="Whose colours are edited, separated by commas.")],
    edit: Annotated[str, typer.Option(help="removed, swapped or thinned.")] = "removed",
    keep: Annotated[
        int, typer.Option(min=0, help="Statements of each thing to keep, with thinned.")
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="What is swapped and kept.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write real captions without the colours of chosen things, with other ones, or with few.

    Examples:
        seesay rear captions flickr8k.token.txt --things dog,shirt --edit swapped -o swapped
    """
    from seesay.cli.output import out, print_json
    from seesay.rearing.real_captions import Edit, edit_corpora

    refuse_unknown("--edit", edit, list(Edit))
    card = edit_corpora(files, output, _names(things), Edit(edit), keep=keep, seed=seed)
    if as_json:
        print_json({"folder": str(output), **card})
    elif not quiet:
        changed = sum(row["changed"] for row in card["things"].values())
        out.print(f"{output}: {card['captions']:,} captions, {changed:,} statements changed")


def _diets(names: str | None, path: Path | None) -> list[Diet]:
    """Return the diets of a file, or those that come with seesay, or some of them by name."""
    from seesay.rearing.diet import DIETS, choose_diets, read_diets

    diets = list(DIETS) if path is None else read_diets(path)
    if names is None:
        return diets
    return choose_diets(_names(names), diets)


def _names(text: str) -> list[str]:
    """Parse names that are separated by commas, at least one."""
    names = names_of([text])
    if not names:
        raise UserError("Give at least one name, or several separated by commas.")
    return names
