"""Options that say which model is loaded and how, for every command that scores texts with one."""

from __future__ import annotations

from typing import Annotated

import typer

BatchSize = Annotated[int | None, typer.Option(min=1, help="Tokens in a batch. Default: what memory bears.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]
Family = Annotated[str | None, typer.Option(help="masked or causal, where the model does not tell.")]
Revision = Annotated[str | None, typer.Option(help="The model's revision on the hub.")]
TrustRemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help="Run code from the model's repository.")]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Open pickled weights, which can run code.")]
