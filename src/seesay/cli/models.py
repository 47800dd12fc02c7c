"""`seesay models`: the models known by name."""

from __future__ import annotations

from seesay.cli.options import Json


def models(as_json: Json = False) -> None:
    """List the models known by name, and the ways to name any other."""
    from seesay.cli.output import out, print_json, table
    from seesay.models import MODELS
    from seesay.models.baselines import baseline_cards
    from seesay.models.catalogue import CATALOGUE, DEFAULT

    rows = [
        *((entry.name, entry.title, entry.licence) for entry in CATALOGUE.values()),
        *((f"baseline:{name}", card.about, "") for name, card in baseline_cards().items()),
        *(
            (f"{name}:…", f"from the package '{MODELS.package(name)}'", "")
            for name in MODELS.names()
            if name not in MODELS.ours
        ),
    ]
    if as_json:
        keys = ("name", "what", "licence")
        print_json(
            [{**dict(zip(keys, row, strict=True)), "default": row[0] == DEFAULT} for row in rows]
        )
        return
    out.print(table(["name", "what", "licence"], [list(row) for row in rows]))
    out.print(
        "Any other: a Hub id (bert-base-uncased), a folder (./my-model), a GGUF file (model.gguf), "
        "a server"
    )
    out.print(
        "(openai:MODEL --base-url http://host:port/v1), vLLM (vllm:MODEL), a model for pictures "
        "(vision:MODEL, openai-vision:MODEL), a CLIP-BERT (clip-bert:FOLDER with imagination, "
        "clip-bert-implicit:FOLDER without), or answers that exist (answers:FILE)."
    )
