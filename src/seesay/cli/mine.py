"""`seesay mine`: annotated pictures → knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from seesay.mine.subtypes import Variant


def mine(
    annotations: Annotated[
        str,
        typer.Option(
            "--annotations",
            "-a",
            help="visual-genome:FOLDER, ade20k:FOLDER, coco:FILES or plain:FILE; captions:FILES for names alone.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the knowledge, new or begun before.")],
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures.")] = None,
    size_rule: Annotated[str, typer.Option(help="paper, published, boxes (no depth) or pinhole.")] = "paper",
    space_rule: Annotated[str, typer.Option(help="paper, published, boxes (no depth), apart (no overlap).")] = "paper",
    depth: Annotated[
        str,
        typer.Option(
            help="given (maps that the annotation names), fastdepth, or a depth model's folder or Hub id. "
            "auto: given if there are any, else fastdepth."
        ),
    ] = "auto",
    colors: Annotated[
        str, typer.Option(help="pixels, a VQA model's folder or Hub id, or none. auto: pixels if there are pictures.")
    ] = "auto",
    select: Annotated[
        str, typer.Option(help="A dual encoder (CLIP, SigLIP) that finds which subtype of its name a region shows.")
    ] = "",
    subtype_rule: Annotated[str, typer.Option(help="paper or published.")] = "paper",
    lexicon: Annotated[
        list[str] | None, typer.Option(help="Add subtypes from conceptnet or wordnet; may be repeated.")
    ] = None,
    min_seen: Annotated[int, typer.Option(min=1, help="Pictures that must show a pair.")] = 100,
    min_relation: Annotated[int, typer.Option(min=0, help="Pictures a relation of a pair needs in a scene.")] = 10,
    min_answers: Annotated[int, typer.Option(min=1, help="Answers a thing's colours need.")] = 10,
    min_regions: Annotated[int, typer.Option(min=2, help="Regions a picture needs for sizes.")] = 6,
    transitive: Annotated[bool, typer.Option("--transitive", help="Also write the sizes that follow.")] = False,
    engine: Annotated[str, typer.Option(help="local, or ray: RAY_ADDRESS's cluster, or one made here.")] = "local",
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one a processor.")] = 0,
    rows: Annotated[int, typer.Option(min=1, help="Pictures in a part, the unit of work.")] = 10_000,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Read annotated pictures and write what they teach: subtypes, colours, sizes, places. Goes on where it stopped."""
    import os

    from seesay.cli.output import out, print_json, progress_bar, table
    from seesay.mine.count_relations import Counting
    from seesay.mine.facts import Thresholds
    from seesay.mine.pipeline import Request
    from seesay.mine.pipeline import mine as run

    request = Request(
        annotations,
        output,
        images,
        Counting(size_rule, space_rule, depth, colors, select, min_regions),
        Thresholds(min_seen, min_seen, min_relation, min_answers),
        cast("Variant", subtype_rule),
        tuple(lexicon or ()),
        transitive,
        engine,
        workers or os.cpu_count() or 1,
        rows,
    )
    summary = run(request, lambda title, unit: progress_bar(title, unit=unit, quiet=quiet or as_json))
    page = _page(output)
    if as_json:
        print_json(summary)
    elif not quiet:
        counts = [(kind, f"{count:,}") for kind, count in summary["facts"].items()]
        out.print(table(["knowledge", ">facts"], counts))
        for reason, count in summary["bad"].items():
            out.print(f"left out: {count:,} times: {reason}", soft_wrap=True)
        if "pictures_per_second" in summary:
            out.print(f"{summary['pictures']:,} pictures, {summary['pictures_per_second']:,.0f} a second")
        out.print(f"{output}: summary.json says how it was made. Look through it: {page}", soft_wrap=True)
        found = summary["facts"]
        if found.get("places") and not found["places with a scene"]:
            out.print("No picture names its scene, so viphy-space, which asks by scene, has nothing to ask.")
        for kind, task in (("colors", "viphy-color"), ("sizes", "viphy-size"), ("places with a scene", "viphy-space")):
            if found.get(kind):
                out.print(f"seesay probe --task {task} --data {output}", soft_wrap=True)


def _page(folder: Path) -> Path:
    """The page to look through, from whatever tables are there; thumbnails where the pictures are."""
    from seesay.data import knowledge
    from seesay.data.knowledge import FILES, ColorFact, PlaceFact, SizeFact
    from seesay.mine.pipeline import picture_files
    from seesay.report.pages import knowledge as knowledge_page

    colors = knowledge.read(folder, ColorFact) if (folder / FILES[ColorFact]).is_file() else []
    sizes = knowledge.read(folder, SizeFact) if (folder / FILES[SizeFact]).is_file() else []
    places = knowledge.read(folder, PlaceFact) if (folder / FILES[PlaceFact]).is_file() else []
    listed = (fact.examples for facts in (colors, sizes, places) for fact in facts)
    wanted = {name for names in listed for name in names}
    paths = picture_files(folder, wanted)

    def thumbnail(name: str) -> bytes | None:
        return knowledge_page.small_jpeg(Path(paths[name])) if paths.get(name) else None

    return knowledge_page.write(folder / "page.html", colors, sizes, places, thumbnail)
