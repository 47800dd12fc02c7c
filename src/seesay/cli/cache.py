"""`seesay cache`: what is kept between runs, where, how large it is, and clearing it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json
from seesay.errors import UserError
from seesay.quantities import file_size

app = Application(help="Show and clear what is kept between runs.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def cache(context: typer.Context, as_json: Json = False) -> None:
    """List the caches: what each holds, its size, and its folder."""
    if context.invoked_subcommand:
        return
    from seesay.caches import all_caches
    from seesay.cli.output import out, print_json, remark, table
    from seesay.folders import cache_folder

    # sizes are summed from files, so each cache is walked through once
    caches = all_caches()
    sizes = {name: entry.size() for name, entry in caches.items()}
    if as_json:
        entries = [
            {"name": name, "content": entry.content, "bytes": sizes[name], "path": str(entry.root)}
            for name, entry in caches.items()
        ]
        print_json({"folder": str(cache_folder()), "bytes": sum(sizes.values()), "caches": entries})
        return
    rows = [
        (name, entry.content, file_size(sizes[name]), entry.root) for name, entry in caches.items()
    ]
    out.print(table(["name", "what it holds", "size", "path"], rows))
    remark(
        f"{file_size(sum(sizes.values()))} in {cache_folder()} (SEESAY_CACHE names another folder)."
    )
    remark(
        "Next: seesay cache clear NAME deletes one; what is needed again is fetched or made again."
    )


@app.command()
def clear(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Caches. Default: all.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Delete what caches hold. No command of seesay may be running meanwhile.

    Examples:
        seesay cache clear converted-models
    """
    from seesay.caches import find_caches
    from seesay.cli.output import out, print_json

    caches = find_caches(names or [])
    if not yes:
        # a question in a script would wait for ever
        if as_json or not sys.stdin.isatty():
            raise UserError("There is nobody to ask: give --yes to clear the caches.")
        total = file_size(sum(entry.size() for entry in caches))
        listing = ", ".join(entry.name for entry in caches)
        if not typer.confirm(f"Delete {total} ({listing})?"):
            raise UserError("Nothing was deleted.")
    deleted = {entry.name: entry.clear() for entry in caches}
    if as_json:
        print_json({"deleted": deleted})
    else:
        out.print(f"Deleted {file_size(sum(deleted.values()))}.")
