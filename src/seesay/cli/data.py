"""`seesay data`: which published data sets there are, and getting them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.application import Application
from seesay.cli.completion import complete_datasets
from seesay.cli.options import Json, Quiet
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.data.store import FileStatus

app = Application(help="List, fetch, add and check published data sets.", no_args_is_help=False)

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME",
        autocompletion=complete_datasets,
        help="Data sets, or 'all' for every one that can be fetched.",
    ),
]


@app.callback(invoke_without_command=True)
def data(context: typer.Context, as_json: Json = False) -> None:
    """List the data sets and which of their files are available."""
    # `seesay data` alone lists, as `seesay data list` does
    if not context.invoked_subcommand:
        _list(as_json)


@app.command("list")
def list_data(as_json: Json = False) -> None:
    """List the data sets and which of their files are available, as `seesay data` does."""
    _list(as_json)


def _list(as_json: bool) -> None:
    """Print the data sets with the state of their files, and how to get those that are missing."""
    from seesay.cli.output import out, print_json, remark, table
    from seesay.data import store
    from seesay.data.catalogue import CATALOGUE
    from seesay.folders import data_folder
    from seesay.grouping import group_by

    statuses = group_by(store.check_files(), lambda status: status.dataset)
    if as_json:
        keys = ("name", "title", "task", "licence", "citation", "home", "fetchable", "request")
        datasets = []
        for entry in CATALOGUE.values():
            dataset = {key: getattr(entry, key) for key in keys}
            dataset["files"] = [_as_row(status) for status in statuses[entry.name]]
            datasets.append(dataset)
        print_json({"folder": str(data_folder()), "datasets": datasets})
        return
    rows = []
    for entry in CATALOGUE.values():
        # of many files one may be missing and one damaged
        states = {status.state for status in statuses[entry.name]}
        rows.append((entry.name, entry.title, ", ".join(sorted(states)), entry.licence))
    out.print(table(["name", "what it is", "state", "licence"], rows))
    for entry in CATALOGUE.values():
        if not entry.fetchable:
            remark(f"{entry.name} is given out on request: {entry.request}")
    remark(f"The data folder is {data_folder()} (SEESAY_DATA names another).")
    remark(
        "Next: seesay data fetch NAME fetches one; seesay data add NAME PATH adds a file that you "
        "have."
    )


def _as_row(status: FileStatus) -> dict[str, Any]:
    return {"file": status.file, "state": status.state, "path": str(status.path)}


def _as_rows(statuses: list[FileStatus]) -> list[dict[str, Any]]:
    return [{"dataset": status.dataset, **_as_row(status)} for status in statuses]


@app.command()
def fetch(names: Names, as_json: Json = False, quiet: Quiet = False) -> None:
    """Fetch data sets into the data folder, checked by their published checksums.

    Examples:
        seesay data fetch memory-colors vsr
    """
    from seesay.cli.output import out, print_json
    from seesay.cli.training_output import stage_bars
    from seesay.data import store
    from seesay.data.catalogue import CATALOGUE

    # each once, in the order in which they were typed; a mistyped name is noticed before any fetch
    datasets: dict[str, None] = {}
    for name in names:
        if name == "all":
            fetchable = [entry.name for entry in CATALOGUE.values() if entry.fetchable]
            datasets |= dict.fromkeys(fetchable)
        else:
            datasets[store.get_dataset(name).name] = None
    for name in datasets:
        # what the bar of each file has been advanced by: it takes steps, the store tells totals
        advanced: Counter[str] = Counter()
        with stage_bars(name, unit="kB", quiet=quiet or as_json) as show:

            def show_progress(
                file: str, done: int, size: int, advanced: Counter[str] = advanced
            ) -> None:
                show(file, done // 1000 - advanced[file], size // 1000)
                advanced[file] = done // 1000

            store.fetch(name, progress=show_progress)
    statuses = store.check_files(list(datasets))
    if as_json:
        print_json({"files": _as_rows(statuses)})
    elif not quiet:
        for status in statuses:
            out.print(f"{status.dataset}: {status.path} ({status.state})")


@app.command()
def add(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=complete_datasets, help="The data set, as listed."
        ),
    ],
    path: Annotated[Path, typer.Argument(help="Its file, or a folder that holds its files.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Take a file with another checksum, marked as unverified."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy a data set's file that you have into the data folder.

    Examples:
        seesay data add memory-colors Downloads/memory_colors.jsonl
    """
    from seesay.cli.output import print_json, remark
    from seesay.data import store

    added = store.add(name, path, force=force)
    statuses = store.check_files([name])
    notes = _task_notes(store.get_dataset(name).task)
    if as_json:
        print_json({"files": _as_rows(statuses), "notes": notes})
        return
    for status in statuses:
        if status.path in added:
            remark(f"Added {status.path} ({status.state}).")
        elif status.state == "missing":
            remark(f"Still missing: {status.file}.")
    for note in notes:
        remark(note)


def _task_notes(task: str) -> list[str]:
    """Return what a task makes of the data folder's files, or why it cannot be built of them."""
    from seesay.tasks import TASKS, load_task

    if task not in TASKS.names():
        return []
    try:
        return [f"{task}: {note}" for note in load_task(task).provenance.notes]
    except UserError as error:
        return [f"{task}: {error}"]


@app.command()
def check(as_json: Json = False) -> None:
    """Read every file again and compare checksums; exit with 1 if one is damaged."""
    from seesay.cli.output import out, print_json, table
    from seesay.data import store

    statuses = store.check_files()
    damaged = [status for status in statuses if status.state == "damaged"]
    if as_json:
        print_json({"files": _as_rows(statuses), "damaged": len(damaged)})
    else:
        rows = [(status.dataset, status.file, status.state) for status in statuses]
        out.print(table(["data set", "file", "state"], rows))
        for status in damaged:
            entry = store.get_dataset(status.dataset)
            remedy = entry.request
            if entry.fetchable:
                remedy = f"seesay data fetch {entry.name}"
            out.print(f"{status.file} has changed since it was added: {remedy}")
    if damaged:
        raise typer.Exit(1)
