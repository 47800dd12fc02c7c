"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.output import is_quiet, set_quiet, set_silent
from seesay.defaults import LARGEST_SEED


def _apply_quiet(context: typer.Context, quiet: bool) -> bool:
    """Be quiet as long as the command runs; it also is where an outer command was told to be."""
    if quiet:
        set_quiet(True)
        context.call_on_close(lambda: set_quiet(False))
    return is_quiet()


def _apply_silent(context: typer.Context, silent: bool) -> bool:
    if silent:
        set_silent(True)
        context.call_on_close(lambda: set_silent(False))
    return silent


def local_paths(paths: list[Path]) -> list[Path]:
    """Return paths with copies in place of what is in object stores."""
    from seesay.storage import local_path

    return [local_path(path) for path in paths]


def local_data(path: Path | None) -> Path | None:
    """Return a path, or the copy of what is in an object store."""
    return None if path is None else local_paths([path])[0]


RunFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Run folders, or folders of runs such as runs/.",
        callback=local_paths,
    ),
]
RunsOrLogs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Run folders, folders of runs such as runs/MODEL, or logs of other programs.",
        callback=local_paths,
    ),
]
ItemKey = Annotated[
    str | None,
    typer.Option("--item", metavar="KEY", help="For logs: the field that holds an item's id."),
]
ClusterKey = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="KEY", help="For logs: the field of what items have in common."
    ),
]
ScoreKey = Annotated[
    str | None,
    typer.Option("--score", metavar="KEY", help="For logs: which of several scores to read."),
]
ShardNumber = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Do only this share, in a job of its own: 2/4, auto in a Slurm array, auto/N in an "
        "indexed job. `seesay merge` puts all shares together.",
    ),
]
BatchSize = Annotated[
    int | None, typer.Option(min=1, help="Tokens in a batch. Default: what memory allows.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]
Family = Annotated[str | None, typer.Option(help="masked or causal, where the model does not say.")]
Revision = Annotated[str | None, typer.Option(help="The model's revision on the hub.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code from the model's repository.")
]
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Open pickled weights, which can run code.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_apply_quiet, help="Print only figures and errors."),
]
# eager: --quiet, which is read after it, then is true as well
Silent = Annotated[
    bool,
    typer.Option("--silent", callback=_apply_silent, is_eager=True, help="Print only errors."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the resampling.")]
Resamples = Annotated[
    int, typer.Option(help="Bootstrap resamples behind an interval, at least 100.")
]


def names_of(texts: Iterable[str]) -> list[str]:
    """Parse names that are separated by commas or repeated; return each once."""
    parts = [part.strip() for part in ",".join(texts).split(",")]
    return list(dict.fromkeys(filter(None, parts)))
