"""`seesay probe`: the main job. Ask models, score the answers, compare, report."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seesay.cli.probe_plan import Asking
    from seesay.errors import UserError
    from seesay.models import Model
    from seesay.questions import Task
    from seesay.runs.ask import Settings
    from seesay.runs.run import Run


def probe(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]…",
            help="A Hub id, a folder, a .gguf file, openai:MODEL, baseline:NAME or a catalogue name. Default: smollm2.",
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            "-t",
            help="A task or group; several by comma or by repeating. Default: core; to train a probe, viphy.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The task's data file or folder, in place of the data folder's.")
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            help="cloze: fill a slot. choice: pick a lettered option. linear: a layer trained on the model's vectors. "
            "few-shot: linear, from parts of the training questions."
        ),
    ] = "cloze",
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Probes to train, each with its own seed. Default: 1 for linear, 5 for few-shot."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="Find the category of things that have none with a sentence encoder, such as minilm, and slice by it.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", help="Ask at most this many questions of each task.")
    ] = None,
    scope: Annotated[
        str, typer.Option(help="What a causal model's score covers: sentence (option and what follows it) or option.")
    ] = "sentence",
    length: Annotated[str, typer.Option(help="Length rule: sum, mean (per token) or char (per character).")] = "sum",
    batch_size: Annotated[str, typer.Option(help="Tokens in a batch, or auto: halves when memory runs out.")] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the intervals and of --limit.")] = 0,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples behind an interval, 100 at least.")] = 10_000,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path("runs"),
    report: Annotated[
        Path | None,
        typer.Option(help="Where the page goes. Default: in the output folder, report.html or few-shot.html."),
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="masked, causal or encoder-decoder, where the model does not tell.")
    ] = None,
    style: Annotated[str, typer.Option(help="How an encoder-decoder is asked: qa (UnifiedQA) or infill (T5).")] = "qa",
    revision: Annotated[str | None, typer.Option(help="The model's revision on the hub.")] = None,
    base_url: Annotated[str | None, typer.Option(help="A server's address, as in http://localhost:8080/v1.")] = None,
    endpoint: Annotated[
        str, typer.Option(help="A server's endpoint: completions or chat (one constrained choice).")
    ] = "completions",
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code from the model's repository.")
    ] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Open pickled weights, which can run code.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Ask models what they know, score the answers, and write a report."""
    from seesay.cli.probe_plan import TRAINED, Asking, checked_names, with_categories
    from seesay.command_line import recorded_command
    from seesay.errors import UserError
    from seesay.models import ModelOptions
    from seesay.models.catalogue import DEFAULT
    from seesay.runs.ask import Settings

    if quiet:
        warnings.showwarning = lambda *_, **__: None  # kept in the manifest all the same
    _check(how, scope, endpoint, seeds, limit)
    options = ModelOptions(
        scope=scope,
        style=style,
        family=family,
        batch_size=_batch_size(batch_size),
        device=device,
        revision=revision,
        base_url=base_url,
        endpoint=endpoint,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    asking = Asking(how, options, output, data, seeds or _seeds(how), quiet)
    names = list(dict.fromkeys(models or [DEFAULT]))
    checked_names(names, asking)
    tasks, failed = _load(task or ["viphy" if how in TRAINED else "core"], data)
    if categories is not None:
        tasks = with_categories(tasks, categories, replace(options, revision=None))
    target = report or output / ("few-shot.html" if how == "few-shot" else "report.html")
    if target.is_dir():
        raise UserError(f"'{target}' is a folder: name a file for the report.")
    for folder in (output, target.parent):  # found out now, not after an hour of asking
        folder.mkdir(parents=True, exist_ok=True)
    if not quiet:
        _say_left_out(tasks)
    if how == "few-shot":
        _learn(asking, names, tasks, target, failed, as_json)
    else:
        settings = Settings(length, limit, seed, resamples, command=recorded_command())
        runs = _run(asking, names, tasks, settings, failed)
        _report(asking, runs, settings, target, as_json)
    if failed:
        raise UserError(" ".join(dict.fromkeys(map(str, failed))))


def _check(how: str, scope: str, endpoint: str, seeds: int | None, limit: int | None) -> None:
    """Refuse what makes no sense, alone or together."""
    from seesay.cli.probe_plan import HOWS, TRAINED
    from seesay.errors import UserError
    from seesay.models.options import Endpoint, Scope

    _one_of("--how", how, HOWS)
    _one_of("--scope", scope, list(Scope))
    _one_of("--endpoint", endpoint, list(Endpoint))
    if seeds is not None and how not in TRAINED:
        raise UserError(f"--seeds is for probes that are trained (--how linear or few-shot), not for {how}.")
    if limit is not None and how == "few-shot":
        raise UserError("--limit does not go with --how few-shot: its curves are over parts of the questions already.")


def _seeds(how: str) -> int:
    from seesay.runs.learning_curve import SEEDS

    return SEEDS if how == "few-shot" else 1


def _load(named: Sequence[str], data: Path | None) -> tuple[list[Task], list[UserError]]:
    """The tasks, and why some of `all` could not be loaded."""
    from seesay.errors import UserError
    from seesay.tasks import expand, load_task, summary

    wanted = expand(named)
    if not wanted:
        raise UserError("--task names no task: `seesay tasks` lists them.")
    if data is not None and len({summary(name).needs or name for name in wanted}) > 1:
        raise UserError(f"--data goes with one data set, not with those of {', '.join(wanted)}.")
    failed: list[UserError] = []
    tasks: list[Task] = []
    for name in wanted:
        try:
            tasks.append(load_task(name, data))
        except UserError as error:
            if name in {part.strip() for typed in named for part in typed.split(",")}:
                raise
            failed.append(error)  # one of a group: the others are still asked
    if not tasks:
        raise failed[0]
    return tasks, failed


def _learn(
    asking: Asking, names: Sequence[str], tasks: Sequence[Task], target: Path, failed: list[UserError], as_json: bool
) -> None:
    """Few-shot curves: their page, and what is printed of them."""
    from seesay.cli.output import out, print_json
    from seesay.cli.probe_plan import learning_curves
    from seesay.report.papers import viphy
    from seesay.report.tables import curves_table
    from seesay.runs import learning_curve

    points = learning_curves(asking, names, tasks, failed)
    if not points:
        raise failed[0]
    bands = learning_curve.bands(points)
    runs = viphy.write_analyses(target, "Learning curves", viphy.learning_curves(bands))
    if as_json:
        print_json(learning_curve.as_json(points))
    elif not asking.quiet:
        out.print(curves_table(bands))
        out.print(f"Report: {runs}", soft_wrap=True)


def _run(
    asking: Asking, names: Sequence[str], tasks: Sequence[Task], settings: Settings, failed: list[UserError]
) -> list[Run]:
    """Every model asked every task; what fails is noted, and the rest is still asked."""
    from seesay.cli.output import err
    from seesay.cli.probe_plan import asked_by
    from seesay.errors import UserError

    runs: list[Run] = []
    for name in names:
        if not asking.quiet:
            err.print(f"Loading {name} …")
        try:
            for model, one in asked_by(asking, name, tasks):
                try:
                    runs.append(_ask(model, one, asking.output, settings, asking.quiet))
                except UserError as error:
                    failed.append(error)
        except UserError as error:  # the other models are still asked
            failed.append(error)
    if not runs:
        raise failed[0]
    return runs


def _report(asking: Asking, runs: Sequence[Run], settings: Settings, target: Path, as_json: bool) -> None:
    """The page, the figures over seeds, and what is printed."""
    from seesay.cli.output import out, print_json
    from seesay.report.pages import runs as runs_page
    from seesay.report.tables import comparison_table, overview, seeds_table
    from seesay.runs.compare import compare
    from seesay.runs.records import Record
    from seesay.runs.seeds import first_seeds, over_seeds
    from seesay.runs.store import write_text

    comparisons = compare(first_seeds(runs), resamples=settings.resamples, seed=settings.seed, strict=False)
    runs_page.write(target, runs, comparisons)
    together = over_seeds(runs) if asking.seeds > 1 else []
    if together:
        write_text(asking.output / "seeds.json", json.dumps([asdict(row) for row in together], indent=2))
    if as_json:
        keep = set(Record.model_fields)
        print_json([figure.model_dump(include=keep) for run in runs for figure in run.figures])
    elif not asking.quiet:
        out.print(overview(runs))
        if together:
            out.print(seeds_table(together))
        if comparisons:
            out.print(comparison_table(comparisons))
        out.print(f"Report: {target}", soft_wrap=True)


def _ask(model: Model, task: Task, output: Path, settings: Settings, quiet: bool) -> Run:
    from seesay.cli.output import progress_bar
    from seesay.runs import ask

    with progress_bar(f"{model.name} · {task.name}", unit="prompts", quiet=quiet) as advance:
        return ask.run(model, task, output, settings, advance)


def _batch_size(text: str) -> int | None:
    from seesay.errors import UserError

    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text[:12]) <= 1 << 30:
        raise UserError(f"--batch-size is '{text}': give a number of tokens, or auto.")
    return int(text)


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    from seesay.errors import UserError

    if value not in allowed:
        raise UserError(f"{option} is '{value}': choose {' or '.join(allowed)}.")


def _say_left_out(tasks: Sequence[Task]) -> None:
    from seesay.cli.output import err

    for task in tasks:
        for line in _left_out(task):
            err.print(line)


def _left_out(task: Task) -> list[str]:
    """What the data file's bad rows were, the first few by name."""
    if not task.bad_rows:
        return []
    shown = [f"  row {bad.row}: {bad.reason}" for bad in task.bad_rows[:5]]
    more = len(task.bad_rows) - len(shown)
    return [
        f"{task.name}: {len(task.bad_rows)} bad rows left out, {len(task.questions)} questions kept.",
        *shown,
        *([f"  … and {more} more (`seesay tasks {task.name}`)"] if more else []),
    ]
