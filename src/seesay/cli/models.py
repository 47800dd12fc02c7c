"""`seesay models`: the models known by name."""

from __future__ import annotations

from seesay.cli.options import Json


def models(as_json: Json = False) -> None:
    """List the models known by name, and the ways to name any other."""
    from seesay.cli.output import out, print_json, table
    from seesay.models import MODELS
    from seesay.models.baselines import baseline_cards
    from seesay.models.catalogue import CATALOGUE, DEFAULT

    rows: list[dict[str, str | int]] = [
        {
            "name": entry.name,
            "what": entry.title,
            "parameters": entry.parameters,
            "can": entry.abilities,
            "licence": entry.licence,
            "source": entry.source,
        }
        for entry in CATALOGUE.values()
    ]
    rows += [
        {"name": f"baseline:{name}", "what": card.about} for name, card in baseline_cards().items()
    ]
    rows += [
        {"name": f"{name}:…", "what": f"from the package '{MODELS.package(name)}'"}
        for name in MODELS.names()
        if name not in MODELS.ours
    ]
    if as_json:
        unknown = dict.fromkeys(("parameters", "can", "licence", "source"))
        print_json([{**unknown, **row, "default": row["name"] == DEFAULT} for row in rows])
        return
    columns = ("name", "what", ">parameters", "can", "licence")
    cells = [[_cell(row.get(column.lstrip(">"), "")) for column in columns] for row in rows]
    out.print(table(columns, cells))
    out.print(
        "Any other: a Hub id (bert-base-uncased), a folder (./my-model), a GGUF file (model.gguf), "
        "a server"
    )
    out.print(
        "(openai:MODEL --base-url http://host:port/v1), vLLM (vllm:MODEL), a model for pictures "
        "(vision:MODEL, openai-vision:MODEL), a CLIP-BERT (clip-bert:FOLDER with imagination, "
        "clip-bert-implicit:FOLDER without), or answers that exist (answers:FILE)."
    )


def _cell(value: str | int) -> str:
    """Return a value as the table shows it: numbers in millions."""
    if isinstance(value, int):
        return f"{value / 1e6:,.0f} M"
    return value
