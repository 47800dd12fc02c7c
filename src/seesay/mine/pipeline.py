"""The pipeline: annotated pictures → parts → names and subtypes, counts of sizes, places and colours → knowledge.

Each step leaves its result in the folder's `work/`, whole or not at all, and is skipped when it is there: a killed run
goes on where it stopped. The seams for what needs models are plain functions: `seesay.models.depth` gives maps of
distances, `seesay.mine.colors` the colours of regions, `seesay.mine.caption_nouns` the names in captions.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.mine import engine as engines
from seesay.mine import fingerprints, subtypes
from seesay.mine.count_relations import Counting, mine_parts
from seesay.mine.facts import Thresholds
from seesay.mine.region_names import Naming, clean_names
from seesay.mine.subtypes import VARIANTS, Variant
from seesay.mine.visual_features import GIVEN, PIXELS
from seesay.mine.write_knowledge import write_facts, write_subtypes

AUTO, NONE = "auto", "none"
CAPTIONS = "captions:"
_OPTIONS = {"closure": "transitive", "least_regions": "min-regions"}
"""Options that are called otherwise than our fields."""
ROWS = 10_000
"""Pictures in a part."""
LEXICONS = ("conceptnet", "wordnet")
Subtypes = dict[str, dict[str, int]]
Bar = Callable[[str, str], AbstractContextManager[Callable[[int, int], None]]]
"""From a title and a unit to a progress bar."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to mine, how, and where to."""

    annotations: str
    output: Path
    images: Path | None = None
    counting: Counting = field(default_factory=lambda: Counting(depth=AUTO, colors=AUTO))
    thresholds: Thresholds = field(default_factory=Thresholds)
    subtype_rule: Variant = "paper"
    lexicons: tuple[str, ...] = ()
    closure: bool = False
    engine: str = "local"
    workers: int = 1
    rows: int = ROWS


def mine(request: Request, bar: Bar) -> dict[str, Any]:
    """Mine, write the knowledge, and give the summary that `summary.json` keeps too."""
    from seesay.mine.caption_nouns import captions

    began = time.perf_counter()
    check(request)
    work = request.output / "work"
    _same_request(work, request)
    summary: dict[str, Any] = {"annotations": request.annotations, "folder": str(request.output)}
    if request.annotations.startswith(CAPTIONS):
        bad: Counter[str] = Counter()
        caption_nouns = caption_names(captions(request.annotations, bad), work, request.workers, bar)
        kinds, _ = find_subtypes(caption_nouns, request)
        found = {"subtypes": write_subtypes(request.output, kinds)}
        summary |= {"pictures": 0, "facts": found, "bad": dict(bad.most_common())}
    else:
        parts, bad = cut(request, work / "pictures", bar)
        counting = settle(request, parts)
        kinds, endings = find_subtypes(caption_names(_captions(parts), work, request.workers, bar), request)
        named = {thing: list(some) for thing, some in kinds.items()}
        renamed, nameless = clean_names(parts)
        counted = time.perf_counter()
        least = (request.thresholds.size, request.thresholds.place, 1)
        with bar("Sizes, places, colours", "pictures") as advance:
            mined = mine_parts(
                parts,
                work / "counts",
                counting,
                request.engine,
                request.workers,
                advance,
                Naming(renamed, named),
                least,
            )
        rate = mined.pictures / max(time.perf_counter() - counted, 1e-9)
        found, unused = write_facts(request.output, mined, request.thresholds, named, endings, closed=request.closure)
        if kinds:
            found["subtypes"] = write_subtypes(request.output, kinds)
        bad += nameless + mined.bad + unused
        summary |= {"pictures": mined.pictures, "facts": found, "bad": dict(bad.most_common())}
        summary |= {"counting": asdict(counting), "thresholds": asdict(request.thresholds)}
        summary["pictures_per_second"] = round(rate, 1)
    summary["seconds"] = round(time.perf_counter() - began, 2)
    _keep(request.output / "summary.json", summary)
    return summary


def check(request: Request) -> None:
    """Refuse what there is not, before anything is read."""
    request.counting.check()
    engines.check(request.engine)
    unknown = [name for name in request.lexicons if name not in LEXICONS]
    if unknown:
        raise UserError(f"Unknown lexicon '{unknown[0]}'. There are: {', '.join(LEXICONS)}.")
    if request.subtype_rule not in VARIANTS:
        raise UserError(f"Unknown subtype rule '{request.subtype_rule}'. There are: {', '.join(VARIANTS)}.")
    if request.annotations.startswith(CAPTIONS):
        asked = asdict(request.counting)
        usual = asdict(Counting(depth=AUTO, colors=AUTO))
        needless = [name for name in asked if asked[name] != usual[name]]
        needless += [name for name in ("images", "closure") if getattr(request, name)]
        if needless:
            option = _OPTIONS.get(needless[0], needless[0]).replace("_", "-")
            raise UserError(f"'{CAPTIONS}' gives names and subtypes alone, without pictures: leave out --{option}.")


def cut(request: Request, folder: Path, bar: Bar) -> tuple[list[Path], Counter[str]]:
    """The annotation as Parquet parts, cut anew only if it is not there whole."""
    from seesay.mine.readers import to_parquet

    note = folder / "cut.json"
    if not note.is_file():
        with bar(f"Reading {request.annotations}", "pictures") as advance:
            before = 0

            def tell(pictures: int) -> None:
                nonlocal before
                if pictures - before >= 100:
                    advance(pictures - before, pictures)
                    before = pictures

            made = to_parquet(request.annotations, folder, request.rows, request.images, tell)
        _keep(note, {"parts": [path.name for path in made.parts], "bad": made.bad})
    kept = json.loads(note.read_text())
    if not kept["parts"]:
        why = f" ({next(iter(kept['bad']))}, and so on)" if kept["bad"] else ""
        raise UserError(f"'{request.annotations}' holds no picture that can be used{why}.")
    return [folder / name for name in kept["parts"]], Counter(kept["bad"])


def picture_files(folder: Path, wanted: Collection[str]) -> dict[str, str]:
    """Where some pictures of a knowledge folder are, by their ids, part by part."""
    note = folder / "work/pictures/cut.json"
    if not note.is_file():
        return {}
    ids = pa.array(sorted(wanted), pa.string())
    found: dict[str, str] = {}
    for name in json.loads(note.read_text())["parts"]:
        with pq.ParquetFile(note.parent / name) as file:
            for batch in file.iter_batches(columns=["id", "path"]):
                some = batch.filter(pc.is_in(batch.column("id"), ids)).to_pydict()
                found |= {key: path for key, path in zip(some["id"], some["path"], strict=True) if path}
    return found


def settle(request: Request, parts: Sequence[Path]) -> Counting:
    """Decide what `auto` means for these pictures: given depth maps before estimated ones, colours by pixels.

    What is asked for and cannot be is refused here: no option does nothing.
    """
    counting = request.counting
    maps, files = (any(_any_text(path, name) for path in parts) for name in ("depth", "path"))
    depth, colors = counting.depth, counting.colors
    chosen = depth not in (AUTO, NONE, "")
    if chosen and not counting.needs_depth:
        raise UserError(f"These rules take no depth: leave out --depth {depth}, or choose rules that take it.")
    if depth == GIVEN and not maps:
        raise UserError("--depth given needs depth maps, and the annotation names none.")
    if not files:
        for option, asked in (
            ("--depth", chosen and depth != GIVEN),
            ("--colors", colors not in (AUTO, NONE, "")),
            ("--select", counting.select),
        ):
            if asked:
                raise UserError(f"{option} looks at pictures, and no files of them are known: give --images.")
    if (counting.select or request.lexicons) and next(_captions(parts), None) is None:
        option = "--select" if counting.select else "--lexicon"
        raise UserError(f"{option} needs names from captions, and these pictures have none: leave it out.")
    if depth == AUTO:
        depth = (GIVEN if maps else "fastdepth" if files else "") if counting.needs_depth else ""
    if colors in (AUTO, NONE):
        colors = PIXELS if colors == AUTO and files else ""
    if counting.needs_depth and depth in ("", NONE):
        raise UserError(
            "These rules need depth, and there are neither depth maps nor pictures: give --images, "
            "or take --size-rule boxes --space-rule boxes."
        )
    return replace(counting, depth="" if depth == NONE else depth, colors=colors)


def caption_names(texts: Iterator[str], work: Path, processes: int, bar: Bar) -> dict[str, int]:
    """The names in captions and how often each is used."""
    from seesay.mine import caption_nouns

    note = work / "names.json"
    if not note.is_file():
        with bar("Names in captions", "captions") as advance:
            before = 0

            def tell(done: int) -> None:
                nonlocal before
                advance(done - before, done)
                before = done

            counts = caption_nouns.count_names(texts, processes, tell)
        _keep(note, counts)
    return caption_nouns.keep(json.loads(note.read_text()))


def find_subtypes(caption_nouns: Mapping[str, int], request: Request) -> tuple[Subtypes, set[str]]:
    """The subtypes of names, lexicons' among them; and the names that are subtypes by their ending."""
    from seesay.mine import conceptnet, wordnet

    sources = {"conceptnet": conceptnet.hyponyms, "wordnet": wordnet.hyponyms}
    lexicons = [sources[name](caption_nouns) for name in request.lexicons]
    by_ending = subtypes.subtypes(caption_nouns, variant=request.subtype_rule)
    endings = {kind for thing, some in by_ending.items() for kind in some if kind != thing}
    return subtypes.subtypes(caption_nouns, variant=request.subtype_rule, hyponyms=lexicons), endings


def _captions(parts: Sequence[Path]) -> Iterator[str]:
    for path in parts:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1024, columns=["captions"]):
                yield from batch.column(0).flatten().to_pylist()


def _any_text(path: Path, column: str) -> bool:
    texts = pq.read_table(path, columns=[column]).column(0)
    return bool(pc.any(pc.greater(pc.utf8_length(texts), 0)).as_py())


def _same_request(work: Path, request: Request) -> None:
    """Other pictures are never mixed in, nor files that have changed."""
    work.mkdir(parents=True, exist_ok=True)
    images = str(request.images.resolve()) if request.images else ""
    now = {**fingerprints.annotation(request.annotations, request.output), "images": images, "rows": request.rows}
    note = work / "request.json"
    begun = (work / "pictures/cut.json").is_file() or (work / "names.json").is_file()
    if begun and json.loads(note.read_text()) != now:
        raise UserError(
            f"'{request.output}' was mined from other pictures, or from files that have changed since: "
            "give another folder, or delete it."
        )
    _keep(note, now)


def _keep(path: Path, content: Mapping[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(path)
