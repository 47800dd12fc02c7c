"""`seesay mine`: annotated pictures → knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.options import Json, Quiet, ShardNumber
from seesay.cluster import Engine
from seesay.mining.choices import (
    MIN_ANSWERS,
    MIN_REGIONS,
    MIN_RELATION,
    MIN_SEEN,
    PART_SIZE,
    SIZE_CLASSES,
    LabelRule,
    Lexicon,
    SizeRule,
    SpaceRule,
    SubtypeRule,
)

if TYPE_CHECKING:
    from seesay.mining.pipeline import MiningResult


def mine(
    annotations: Annotated[
        str,
        typer.Option(
            "--annotations",
            "-a",
            metavar="FORMAT:PLACE",
            help="Annotated pictures, such as coco:FILES, visual-genome:FOLDER or plain:FILE; "
            "captions:FILES for names only. An unknown format lists them all.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder of the knowledge, new, or of an interrupted run."
        ),
    ],
    images: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder of the pictures.")
    ] = None,
    size_rule: Annotated[
        SizeRule, typer.Option(help="How depth scales sizes; boxes needs none.")
    ] = SizeRule.PAPER,
    space_rule: Annotated[
        SpaceRule,
        typer.Option(
            help="Which depths are compared; apart: no overlap, boxes: all, without depth."
        ),
    ] = SpaceRule.PAPER,
    depth: Annotated[
        str,
        typer.Option(
            help="given (maps that the annotation names), fastdepth, or a depth model's folder or "
            "Hub id. auto: given if there are any, else fastdepth."
        ),
    ] = "auto",
    colors: Annotated[
        str,
        typer.Option(
            help="pixels, a VQA model (folder or Hub id; it answers freely), none. "
            "auto: pixels of pictures."
        ),
    ] = "auto",
    select: Annotated[
        str,
        typer.Option(
            help="A dual encoder (CLIP, SigLIP) that selects the subtype of its name "
            "a region shows."
        ),
    ] = "",
    subtype_rule: Annotated[
        SubtypeRule, typer.Option(help="Which names are subtypes.")
    ] = SubtypeRule.PAPER,
    tagger: Annotated[
        str,
        typer.Option(
            help="Another tagger of captions: a spaCy pipeline by name or folder, or "
            "MODULE:FUNCTION."
        ),
    ] = "",
    lexicon: Annotated[
        list[Lexicon] | None, typer.Option(help="Add a lexicon's subtypes; can be given twice.")
    ] = None,
    min_seen: Annotated[
        int, typer.Option(min=1, help="Pictures that must show a pair.")
    ] = MIN_SEEN,
    min_relation: Annotated[
        int, typer.Option(min=0, help="Pictures that a relation needs in a scene.")
    ] = MIN_RELATION,
    min_answers: Annotated[
        int, typer.Option(min=1, help="Answers that an object's colours need.")
    ] = MIN_ANSWERS,
    min_regions: Annotated[
        int, typer.Option(min=2, help="Regions that a picture needs for sizes.")
    ] = MIN_REGIONS,
    classes: Annotated[int, typer.Option(min=2, help="Size classes of a picture.")] = SIZE_CLASSES,
    label_rule: Annotated[
        LabelRule,
        typer.Option(help="A typical label reaches its minimum (published) or exceeds it (paper)."),
    ] = LabelRule.PUBLISHED,
    transitive: Annotated[
        bool, typer.Option("--transitive", help="Also write sizes that follow from others.")
    ] = False,
    engine: Annotated[
        Engine, typer.Option(help="ray: the cluster of RAY_ADDRESS, or one that is started here.")
    ] = Engine.LOCAL,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one per processor.")] = 0,
    rows: Annotated[
        int, typer.Option(min=1, help="Pictures per part, the unit of work.")
    ] = PART_SIZE,
    shard: ShardNumber = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Mine subtypes, colours, sizes and places from annotated pictures. An interrupted run is
    resumed.

    Examples:
        seesay mine -a coco:annotations --images pictures -o knowledge
        seesay mine -a plain:rooms/annotations.parquet -o knowledge --min-seen 10
    """
    # Whatever is not about the output is an option of the pipeline, under the same name.
    options = {name: value for name, value in locals().items() if name not in ("quiet", "as_json")}
    options["lexicons"] = options.pop("lexicon") or ()
    from seesay.cli.output import (
        out,
        print_json,
        progress_bars,
        sources_table,
        table,
        tell_share,
    )
    from seesay.mining import knowledge_page, pipeline

    result = pipeline.mine(**options, progress=progress_bars(quiet=quiet or as_json))
    if shard is not None:
        tell_share(result.folder, f"{result.pictures:,} pictures", as_json=as_json, quiet=quiet)
        return
    page = knowledge_page.write_folder(output)
    if as_json:
        print_json(result.to_json())
        return
    if result.sources:
        out.print(sources_table(result.sources))
    rows_of_facts = []
    for kind, count in result.facts.items():
        # A pair of sizes and its complement are two facts of the table, but one to the reader.
        shown = count // 2 if kind == "sizes" else count
        rows_of_facts.append((kind, f"{shown:,}"))
    out.print(table(["knowledge", ">facts"], rows_of_facts))
    if not quiet:
        for line in _report(result):
            out.print(line)
        out.print(
            f"{output}: settings and counts are in summary.json. Browse the knowledge: {page}"
        )
        for line in _next_steps(result.facts, output):
            out.print(line)


def _report(result: MiningResult) -> Iterator[str]:
    """Yield what lexicons add, what was left out, and how fast pictures were counted."""
    for lexicon, counts in (result.lexicons or {}).items():
        covered = f"{counts['covered']:,} of {counts['names']:,} names"
        yield f"{lexicon} covers {covered} and adds {counts['subtypes']:,} subtypes"
    for reason, count in result.bad.items():
        yield f"left out: {count:,} times: {reason}"
    rate = result.pictures_per_second
    # The rate is None without pictures, and 0 where an earlier run has counted them all.
    if rate is not None:
        speed = f", {rate:,.0f} per second" if rate else ""
        yield f"{result.pictures:,} pictures{speed}"


def _next_steps(facts: Mapping[str, int], output: Path) -> Iterator[str]:
    """Yield the commands that ask about the knowledge, for the tables that hold any."""
    if facts.get("places") and not facts["places_in_scenes"]:
        yield "No picture names its scene, so viphy-space, which asks by scene, has no questions."
    tasks = {
        "colors": "viphy-color",
        "sizes": "viphy-size",
        "places_in_scenes": "viphy-space",
    }
    for kind, task in tasks.items():
        if facts.get(kind):
            yield f"Next: seesay probe --task {task} --data {output}"
