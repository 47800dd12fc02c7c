"""`seesay scenes make | show`: data sets of synthetic scenes, and a sheet to look at them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seesay.scenes.config import SceneConfig
    from seesay.scenes.world import Scene

app = typer.Typer(help="Scenes of shapes after MALeViC: make data sets, look at them.", no_args_is_help=True)

TaskName = Annotated[
    str,
    typer.Option(
        "--task",
        "-t",
        help="sup1, pos1, pos, set+pos, pos-hard, set+pos-hard, comparative, compositional, mixture-64 … mixture-4000.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same scenes.")]
Objects = Annotated[str, typer.Option(help="Objects a scene, as in 5-9.")]
AdjectiveName = Annotated[str, typer.Option(help="big (and small), tall (and short), bright (and dark).")]
ThresholdName = Annotated[str, typer.Option(help="Where big begins: rh-r, rh-n, rh-sd or ah (Schmidt et al. 2009).")]
Mean = Annotated[float | None, typer.Option(help="Mean of k. Default: 0.29 for rh-r.")]
Deviation = Annotated[float | None, typer.Option(help="Standard deviation of k. Default: 0.066 for rh-r.")]


@app.command()
def make(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the data set, new or begun before.")],
    task: TaskName = "set+pos",
    items: Annotated[
        int | None, typer.Option("--items", "-n", help="Items in all splits. Default: as published.")
    ] = None,
    seed: Seed = 0,
    size: Annotated[int, typer.Option(help="Pixels a side of the PNGs; 0 for none.")] = 1478,
    arrays: Annotated[
        int, typer.Option(help="Also memory-mapped RGB arrays with so many pixels a side; 0 for none.")
    ] = 0,
    formats: Annotated[
        str | None, typer.Option(help="Question files besides JSON: h5, parquet, both by comma, or json for neither.")
    ] = None,
    objects: Objects = "5-9",
    adjective: AdjectiveName = "big",
    threshold: ThresholdName = "rh-r",
    k_mean: Mean = None,
    k_deviation: Deviation = None,
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one a core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Make a balanced data set: pictures, sentences, annotation. Begun before, it goes on where it stopped."""
    import time
    from importlib.util import find_spec

    from seesay.cli.output import err, out, print_json, progress_bar
    from seesay.command_line import recorded_command
    from seesay.errors import UserError
    from seesay.scenes.dataset_writer import FORMATS, SceneOutput, write_dataset
    from seesay.scenes.plan import make_plan

    if workers is not None and workers < 1:
        raise UserError(f"--workers is {workers}: give 1 or more.")
    plan = make_plan(task, items)
    config = _recipe(plan.task, seed, objects, adjective, threshold, k_mean, k_deviation)
    if formats is None:
        wanted = tuple(name for name in FORMATS if name != "h5" or find_spec("h5py"))
        if "h5" not in wanted and not quiet:
            err.print("Without h5py no .h5 files are written: pip install 'seesay[scenes]'")
    else:
        wanted = tuple(dict.fromkeys(["json", *(part.strip() for part in formats.split(",") if part.strip())]))
    target = SceneOutput(output, size or None, arrays or None, wanted)
    began = time.perf_counter()
    with progress_bar(f"{plan.name} → {output}", unit="scenes", quiet=quiet or as_json) as advance:
        splits = write_dataset(config, plan, target, workers=workers, command=recorded_command(), advance=advance)
    seconds = time.perf_counter() - began
    if as_json:
        settings = config.settings()
        print_json({"folder": str(output), "splits": splits, "recipe": settings, "seconds": round(seconds, 3)})
    elif not quiet:
        sizes = ", ".join(f"{split} {count:,}" for split, count in splits.items())
        out.print(f"{output}: {sizes}", soft_wrap=True)


@app.command()
def show(
    source: Annotated[
        Path | None,
        typer.Argument(help="An annotation file or a data set to show. Default: scenes made for the occasion."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The contact sheet.")] = Path("scenes.png"),
    task: TaskName = "set+pos",
    items: Annotated[int, typer.Option("--items", "-n", min=1, max=400, help="How many scenes.")] = 20,
    seed: Seed = 0,
    objects: Objects = "5-9",
    adjective: AdjectiveName = "big",
    threshold: ThresholdName = "rh-r",
    k_mean: Mean = None,
    k_deviation: Deviation = None,
    size: Annotated[int, typer.Option(min=32, max=1024, help="Pixels a side of each scene.")] = 200,
    columns: Annotated[int, typer.Option(min=1, max=40, help="Scenes in a row.")] = 5,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Draw a contact sheet: scenes with their sentences, true or false."""
    from seesay.cli.output import out, print_json
    from seesay.scenes.contact_sheet import contact_sheet
    from seesay.scenes.plan import make_plan

    if source is not None:
        shown = _from_files(source, items)
    else:
        from itertools import chain, islice

        from seesay.scenes.batches import scene_items
        from seesay.scenes.sentences import sentence

        plan = make_plan(task)
        config = _recipe(plan.task, seed, objects, adjective, threshold, k_mean, k_deviation)
        made = chain.from_iterable(scene_items(config, plan, split) for split in plan.splits())
        shown = [(item.scene, sentence(config, item), item.cell.answer) for item in islice(made, items)]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(contact_sheet(shown, columns=columns, size=size))
    if as_json:
        print_json({"file": str(output), "scenes": [{"sentence": said, "true": holds} for _, said, holds in shown]})
    elif not quiet:
        out.print(f"{output}: {len(shown)} scenes", soft_wrap=True)


def _recipe(
    task: str, seed: int, objects: str, adjective: str, threshold: str, mean: float | None, deviation: float | None
) -> SceneConfig:
    from seesay.errors import UserError
    from seesay.scenes.config import SceneConfig

    found = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", objects, re.ASCII)
    if found is None:
        raise UserError(f"--objects is '{objects}': give a number or a range, as in 5-9.")
    low, high = found.group(1), found.group(2) or found.group(1)
    return SceneConfig(task, seed, (int(low), int(high)), adjective, threshold, mean, deviation)


def _from_files(source: Path, count: int) -> list[tuple[Scene, str, bool]]:
    from seesay.errors import UserError
    from seesay.scenes.annotation import read

    files = [source]
    if source.is_dir():
        files = sorted([*source.glob("annotation/*.json"), *source.glob("annotations_*.json")])
        if not files:
            raise UserError(f"'{source}' has no annotation of scenes.")
    scenes = [scene for file in files for scene in read(file)[0]]
    pairs = [(scene.scene, *scene.captions[0]) for scene in scenes if scene.captions]
    return [(scene, false if i % 2 else true, i % 2 == 0) for i, (scene, true, false) in enumerate(pairs[:count])]
