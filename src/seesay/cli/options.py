"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunFolders = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Run folders, or folders of runs such as runs/.")
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
    typer.Option(
        "--quiet", "-q", help="Print only figures and errors; --silent prints only errors."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]
Resamples = Annotated[
    int, typer.Option(help="Bootstrap resamples behind an interval, at least 100.")
]
