"""`seesay scenes make | show | stats | fit`: data sets of scenes, contact sheets, queried areas,
thresholds fitted to judgements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet
from seesay.command_line import recorded_command
from seesay.errors import UserError
from seesay.scenes.defaults import (
    ADJECTIVE,
    OBJECTS,
    PUBLISHED,
    RESAMPLES,
    TEST_ITEMS,
    THRESHOLD,
)

if TYPE_CHECKING:
    from seesay.scenes.threshold_fit import SizeJudgement, ThresholdFit

app = Application(
    help="Scenes of shapes after MALeViC: make them, look at them, fit thresholds.",
    no_args_is_help=True,
)

_TASKS = (
    "sup1, pos1, pos, set+pos, pos-hard, set+pos-hard, comparative, compositional, "
    "mixture-64 … mixture-4000."
)
TaskName = Annotated[str, typer.Option("--task", "-t", help=_TASKS)]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same scenes.")]
_OBJECTS = "-".join(map(str, OBJECTS))
Objects = Annotated[str, typer.Option(help="Objects per scene, as in 5-9.")]
AdjectiveName = Annotated[
    str, typer.Option(help="big (small), tall (short), wide (narrow) or bright (dark).")
]
ThresholdName = Annotated[
    str, typer.Option(help="Threshold of big: rh-r, rh-n, rh-sd, rh-c or ah (Schmidt et al. 2009).")
]
Mean = Annotated[float | None, typer.Option(help="Mean of k. Default: 0.29 for rh-r.")]
Deviation = Annotated[
    float | None, typer.Option(help="Standard deviation of k. Default: 0.066 for rh-r.")
]


@app.command()
def make(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder of the data set: new, or of an interrupted run."
        ),
    ],
    task: TaskName = "set+pos",
    items: Annotated[
        int | None, typer.Option("--items", "-n", help="Items in all. Default: as published.")
    ] = None,
    seed: Seed = 0,
    size: Annotated[int, typer.Option(help="Pixels per side of the PNGs; 0 for none.")] = PUBLISHED,
    arrays: Annotated[
        int, typer.Option(help="Pixels per side of memory-mapped RGB arrays; 0 for none.")
    ] = 0,
    formats: Annotated[
        str | None, typer.Option(help="Question files: h5, parquet, h5,parquet or json alone.")
    ] = None,
    objects: Objects = _OBJECTS,
    adjective: AdjectiveName = ADJECTIVE,
    threshold: ThresholdName = THRESHOLD,
    k_mean: Mean = None,
    k_deviation: Deviation = None,
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one per core.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a balanced data set: pictures, sentences, annotation. One that was begun before is
    finished.

    Examples:
        seesay scenes make --task sup1 --items 2000 -o sup1
    """
    import time

    from seesay.cli.output import out, print_json, progress_bar
    from seesay.scenes.dataset_writer import make_scenes

    names = None
    if formats is not None:
        names = [name.strip() for name in formats.split(",") if name.strip()]
    began = time.perf_counter()
    with progress_bar(f"{task} → {output}", unit="scenes", quiet=quiet or as_json) as advance:
        dataset = make_scenes(
            task,
            items,
            output,
            seed=seed,
            image_size=size or None,
            array_size=arrays or None,
            formats=names,
            objects=_object_range(objects),
            adjective=adjective,
            threshold=threshold,
            k_mean=k_mean,
            k_deviation=k_deviation,
            workers=workers,
            command=recorded_command(),
            progress=advance,
        )
    seconds = round(time.perf_counter() - began, 3)
    if as_json:
        print_json(
            {
                "folder": str(output),
                "splits": dataset.splits,
                "recipe": dataset.config.settings(),
                "seconds": seconds,
            }
        )
    elif not quiet:
        sizes = ", ".join(f"{split} {count:,}" for split, count in dataset.splits.items())
        out.print(f"{output}: {sizes}")


@app.command()
def show(
    source: Annotated[
        Path | None, typer.Argument(help="An annotation file or data set. Default: new scenes.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The contact sheet.")] = Path(
        "scenes.png"
    ),
    task: TaskName = "set+pos",
    items: Annotated[
        int, typer.Option("--items", "-n", min=1, max=400, help="Number of scenes.")
    ] = 20,
    seed: Seed = 0,
    objects: Objects = _OBJECTS,
    adjective: AdjectiveName = ADJECTIVE,
    threshold: ThresholdName = THRESHOLD,
    k_mean: Mean = None,
    k_deviation: Deviation = None,
    size: Annotated[
        int, typer.Option(min=32, max=1024, help="Pixels per side of each scene.")
    ] = 200,
    columns: Annotated[int, typer.Option(min=1, max=40, help="Scenes per row.")] = 5,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw a contact sheet: scenes with their sentences, true or false.

    Examples:
        seesay scenes show --task set+pos -o sheet.png
    """
    from seesay.cli.output import out, print_json
    from seesay.files import atomic_write
    from seesay.scenes.config import SceneConfig
    from seesay.scenes.contact_sheet import contact_sheet, read_examples, sample_examples
    from seesay.scenes.plan import make_plan

    if source is not None:
        examples = read_examples(source, items)
    else:
        plan = make_plan(task)
        config = SceneConfig(
            plan.task,
            seed,
            _object_range(objects),
            adjective,
            threshold,
            k_mean,
            k_deviation,
        )
        examples = sample_examples(config, plan, items)
    sheet = contact_sheet(examples, columns=columns, size=size)
    with atomic_write(output) as unfinished:
        unfinished.write_bytes(sheet)
    if as_json:
        scenes = [{"sentence": text, "true": true} for _, text, true in examples]
        print_json({"file": str(output), "scenes": scenes})
    elif not quiet:
        out.print(f"{output}: {len(examples)} scenes")


@app.command()
def stats(
    source: Annotated[
        Path | None,
        typer.Argument(
            help="A data set's folder, or one of published examples; without one: generated."
        ),
    ] = None,
    tasks: Annotated[
        list[str] | None, typer.Option("--task", "-t", help=f"Repeat for more. {_TASKS}")
    ] = None,
    items: Annotated[
        int, typer.Option("--items", "-n", min=1, help="Generated items per task.")
    ] = TEST_ITEMS,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A page with the distributions.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Summarise the areas of queried objects, by task and adjective (the paper's Figure 3).

    Examples:
        seesay scenes stats -o areas.html
    """
    from seesay.cli.output import err, out, print_json, progress_bar, table
    from seesay.questions import BadRow
    from seesay.reports.pages.sections import Section, write_page
    from seesay.scenes.reports.scene_charts import area_charts, area_table
    from seesay.scenes.statistics import generate_areas, read_areas, summaries

    bad: list[BadRow] = []
    if source is not None:
        rows, bad = read_areas(source)
    else:
        rows = []
        for task in tasks or ["sup1", "pos1", "pos", "set+pos"]:
            with progress_bar(task, unit="items", quiet=quiet or as_json) as advance:
                rows += generate_areas(task, items, seed, advance)
    areas = summaries(rows)
    if output is not None:
        section = Section(
            "Areas of queried objects",
            "",
            area_charts(rows),
            area_table(areas),
        )
        write_page(output, "Areas of queried objects", [section])
    for row in bad[:10]:
        err.print(f"seesay: {row}")
    if as_json:
        print_json(
            {
                "rows": [asdict(row) for row in areas],
                "bad_rows": len(bad),
                "page": str(output or "") or None,
            }
        )
    else:
        figures = area_table(areas)
        # the first three columns are names, the others numbers, aligned to the right
        header = [*figures.header[:3], *(f">{name}" for name in figures.header[3:])]
        out.print(table(header, figures.rows))


@app.command()
def fit(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Runs of people, models or reasoners about malevic tasks, or a CSV of judgements.",
        ),
    ],
    resamples: Annotated[int, typer.Option(min=0, help="For the interval of k.")] = RESAMPLES,
    as_json: Json = False,
) -> None:
    """Fit threshold functions to judgements: where does whoever answered draw the line of big?

    The most probable function comes first. Below: how often things are called big, by the
    probability that a vague k gives (rh-r, k = 0.29 ± 0.066).

    Examples:
        seesay scenes fit results/runs runs
    """
    from seesay.cli.output import err, out, print_json, table
    from seesay.errors import require_packages
    from seesay.scenes.threshold_fit import calibrate, calibration_error, fit_thresholds
    from seesay.scenes.thresholds import THRESHOLDS

    require_packages("Fitting thresholds", "scenes", "scipy")
    sets = _judgement_sets(sources)
    documents = []
    for name, judgements in sets.items():
        usable = [judgement for judgement in judgements if judgement.has_threshold]
        left_out = len(judgements) - len(usable)
        fits = fit_thresholds(usable, list(THRESHOLDS.values()), resamples=resamples)
        bins = calibrate(usable)
        documents.append(
            {
                "source": name,
                "left_out": left_out,
                "fits": [asdict(each) for each in fits],
                "calibration": [asdict(each) for each in bins],
                "calibration_error": calibration_error(bins),
            }
        )
        if as_json:
            continue
        if left_out:
            err.print(f"{name}: {left_out} judgements left out, whose set has one size only")
        out.print(table(_FIT_COLUMNS, [_fit_cells(fitted) for fitted in fits], title=name))
        for each in bins:
            out.print(
                f"vague k gives {each.low:g} to {each.high:g}, {each.judgements:,} judgements: "
                f"{each.expected:.3f} expected, {each.observed:.3f} called big"
            )
        out.print(f"mean distance from the vague k: {calibration_error(bins):.3f}")
    if as_json:
        print_json(documents)


def _judgement_sets(sources: Sequence[Path]) -> dict[str, list[SizeJudgement]]:
    """Return the judgements of each file and run by its name; say which runs have none."""
    from seesay.cli.output import err
    from seesay.runs.run import run_labels
    from seesay.runs.store import find_runs
    from seesay.scenes.threshold_judgements import read_judgements, run_judgements

    sets = {str(path): read_judgements(path) for path in sources if path.is_file()}
    folders = [path for path in sources if not path.is_file()]
    runs = find_runs(folders) if folders else []
    others = []
    for run, label in zip(runs, run_labels(runs), strict=True):
        name = f"{label}, {run.manifest.task}"
        if judgements := run_judgements(run):
            sets[name] = judgements
        else:
            others.append(name)
    if not sets:
        raise UserError(
            "None of these runs asks whether something is big: give runs of malevic-pos1, "
            "malevic-pos, malevic-set-pos or their hard tests."
        )
    if others:
        err.print(f"Left out, since nothing is called big there: {'; '.join(others)}")
    return sets


_FIT_COLUMNS = ["threshold", ">k", ">95 %", ">deviation", ">lapse", ">log-likelihood"]


def _fit_cells(fitted: ThresholdFit) -> list[str]:
    """Return a fit as the cells of a table; k may be 0.3 of a range or 30,000 pixels."""
    return [
        fitted.threshold,
        f"{fitted.mean:.4g}",
        f"{fitted.mean_low:.4g} to {fitted.mean_high:.4g}",
        f"{fitted.deviation:.3g}",
        f"{fitted.lapse:.3f}",
        f"{fitted.log_likelihood:.4f}",
    ]


def _object_range(text: str) -> tuple[int, int]:
    """Parse the least and the most objects of a scene."""
    match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", text, re.ASCII)
    if match is None:
        raise UserError(f"--objects is '{text}': give a number or a range, as in 5-9.")
    return int(match[1]), int(match[2] or match[1])
