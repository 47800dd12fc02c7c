"""`seesay models`: what can be asked."""

from __future__ import annotations

from typing import Annotated

import typer


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """List the models known by name, and the ways to name any other."""
    from seesay.cli.output import out, print_json, table
    from seesay.models import MODELS
    from seesay.models.baselines import BASELINES
    from seesay.models.catalogue import CATALOGUE, DEFAULT
    from seesay.scenes.rules import RULES

    rows = [
        {"name": entry.name, "what": entry.title, "licence": entry.licence, "default": entry.name == DEFAULT}
        for entry in CATALOGUE.values()
    ]
    rows += [
        {"name": f"baseline:{name}", "what": _summary(baseline.__doc__), "licence": "", "default": False}
        for name, baseline in BASELINES.items()
    ]
    rows += [
        {
            "name": f"baseline:{name}",
            "what": "A rule that reads the scene, for malevic tasks.",
            "licence": "",
            "default": False,
        }
        for name in RULES
    ]
    rows += [
        {"name": f"{name}:…", "what": f"from the package '{MODELS.package(name)}'", "licence": "", "default": False}
        for name in MODELS.names()
        if name not in MODELS.builtin
    ]
    if as_json:
        print_json(rows)
        return
    out.print(table(["name", "what", "licence"], [[row["name"], row["what"], row["licence"]] for row in rows]))
    out.print("Any other: a Hub id (bert-base-uncased), a folder (./my-model), a GGUF file (model.gguf),")
    out.print(
        "a server (openai:MODEL --base-url http://host:port/v1), or one that sees (vision:MODEL, openai-vision:MODEL)."
    )


def _summary(docstring: str | None) -> str:
    return (docstring or "").strip().splitlines()[0]
