"""The pipeline: annotated pictures → parts → names and subtypes, counts of sizes, places and colours → knowledge.

Each step leaves its result in the folder's `work/`, whole or not at all, and is skipped when it is there: a killed run
goes on where it stopped. The seams for what needs models are plain functions: `seesay.models.depth` gives maps of
distances, `seesay.mine.color` the colours of regions, `seesay.mine.names` the names in captions.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.mine import engine as engines
from seesay.mine.aggregate import Counts
from seesay.mine.counting import Counting, Mined, mine_parts
from seesay.mine.facts import Thresholds, place_facts, size_facts, transitive
from seesay.mine.looking import GIVEN, PIXELS
from seesay.questions import UserError

AUTO, NONE = "auto", "none"
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
    lexicons: tuple[str, ...] = ()
    closure: bool = False
    engine: str = "local"
    workers: int = 1
    rows: int = ROWS


def mine(request: Request, bar: Bar) -> dict[str, Any]:
    """Mine, write the knowledge, and give the summary that `summary.json` keeps too."""
    from seesay.mine.names import captions

    began = time.perf_counter()
    request.counting.check()
    engines.check(request.engine)
    unknown = [name for name in request.lexicons if name not in LEXICONS]
    if unknown:
        raise UserError(f"Unknown lexicon '{unknown[0]}'. There are: {', '.join(LEXICONS)}.")
    work = request.output / "work"
    _same_request(work, request)
    summary: dict[str, Any] = {"annotations": request.annotations, "folder": str(request.output)}
    if request.annotations.startswith("captions:"):
        kinds = name_subtypes(captions(request.annotations), work, request.lexicons, request.workers, bar)
        found = {"subtypes": _write_subtypes(request.output, kinds)}
        summary |= {"pictures": 0, "facts": found, "bad": {}}
    else:
        parts, bad = cut(request, work / "pictures", bar)
        counting = settle(request.counting, parts)
        kinds = name_subtypes(_captions(parts), work, request.lexicons, request.workers, bar)
        named = {thing: list(some) for thing, some in kinds.items()}
        counted = time.perf_counter()
        least = (request.thresholds.size, request.thresholds.place, 1)
        with bar("Sizes, places, colours", "pictures") as advance:
            mined = mine_parts(parts, work / "counts", counting, request.engine, request.workers, advance, named, least)
        rate = mined.pictures / max(time.perf_counter() - counted, 1e-9)
        found = write_facts(request.output, mined, request.thresholds, named, closure=request.closure)
        if kinds:
            found["subtypes"] = _write_subtypes(request.output, kinds)
        summary |= {"pictures": mined.pictures, "facts": found, "bad": dict((bad + mined.bad).most_common())}
        summary |= {"counting": asdict(counting), "thresholds": asdict(request.thresholds)}
        summary["pictures_per_second"] = round(rate, 1)
    summary["seconds"] = round(time.perf_counter() - began, 2)
    _keep(request.output / "summary.json", summary)
    return summary


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


def picture_files(folder: Path) -> dict[str, str]:
    """Where the pictures of a knowledge folder are, by their ids."""
    parts = sorted((folder / "work" / "pictures").glob("*.parquet"))
    tables = [pq.read_table(path, columns=["id", "path"]) for path in parts]
    return {name: path for table in tables for name, path in zip(*table.to_pydict().values(), strict=True) if path}


def settle(counting: Counting, parts: Sequence[Path]) -> Counting:
    """Decide what `auto` means for these pictures: given depth maps before estimated ones, colours by pixels."""
    maps, files = (any(_any_text(path, name) for path in parts) for name in ("depth", "path"))
    depth, colors = counting.depth, counting.colors
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


def name_subtypes(texts: Iterator[str], work: Path, lexicons: Sequence[str], processes: int, bar: Bar) -> Subtypes:
    """The names in captions and their subtypes; nothing where there are no captions."""
    from seesay.mine import conceptnet, names, subtypes, wordnet

    note = work / "names.json"
    if not note.is_file():
        with bar("Names in captions", "captions") as advance:
            before = 0

            def tell(done: int) -> None:
                nonlocal before
                advance(done - before, done)
                before = done

            counts = names.count_names(texts, processes, tell)
        _keep(note, counts)
    kept = names.keep(json.loads(note.read_text()))
    sources = {"conceptnet": conceptnet.hyponyms, "wordnet": wordnet.hyponyms}
    return subtypes.subtypes(kept, hyponyms=[sources[name](kept) for name in lexicons])


def write_facts(
    folder: Path,
    mined: Mined,
    thresholds: Thresholds,
    subtypes: Mapping[str, Iterable[str]] | None = None,
    *,
    closure: bool = False,
) -> dict[str, int]:
    """Write the knowledge tables, and say how many facts each holds. `subtypes`: a thing's kinds, itself among them."""
    kinds: Collection[str] = {kind for thing, some in (subtypes or {}).items() for kind in some if kind != thing}
    sizes = size_facts(mined.sizes, thresholds.size, kinds)
    places = place_facts(mined.places, thresholds.place, thresholds.relation)
    colors = _color_facts(mined.colors, subtypes or {}, thresholds.color)
    knowledge.write(folder, sizes, SizeFact)
    knowledge.write(folder, places, PlaceFact)
    written = {"sizes": len(sizes), "places": len(places)}
    if len(mined.colors.keys):
        knowledge.write(folder, colors, ColorFact)
        written["colors"] = len(colors)
    if closure:
        more = transitive(sizes)
        knowledge.write(folder / "transitive", more, SizeFact)
        written["transitive sizes"] = len(more)
    return written


def _color_facts(counts: Counts, subtypes: Mapping[str, Iterable[str]], enough: int) -> list[ColorFact]:
    from seesay.mine.color import color_facts

    shown: dict[str, list[int]] = {}
    asked: dict[str, int] = {}
    examples: dict[str, list[str]] = {}
    _, name, _, label = counts.fields()
    for i, (number, color, many) in enumerate(zip(name.tolist(), label.tolist(), counts.counts.tolist(), strict=True)):
        thing = counts.names[number]
        if color == len(COLORS):
            asked[thing] = many
            examples[thing] = counts.examples[counts.starts[i] : counts.starts[i + 1]].to_pylist()
            shown.setdefault(thing, [0] * len(COLORS))
        else:
            shown.setdefault(thing, [0] * len(COLORS))[color] = many
    return color_facts(shown, asked, subtypes, examples, enough=enough)


def _write_subtypes(folder: Path, kinds: Subtypes) -> int:
    facts = [SubtypeFact(thing, kind, count) for thing, some in kinds.items() for kind, count in some.items()]
    knowledge.write(folder, facts, SubtypeFact)
    return len(facts)


def _captions(parts: Sequence[Path]) -> Iterator[str]:
    for path in parts:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1024, columns=["captions"]):
                yield from batch.column(0).flatten().to_pylist()


def _any_text(path: Path, column: str) -> bool:
    texts = pq.read_table(path, columns=[column]).column(0)
    return bool(pc.any(pc.greater(pc.utf8_length(texts), 0)).as_py())


def _same_request(work: Path, request: Request) -> None:
    """Other pictures are never mixed in."""
    work.mkdir(parents=True, exist_ok=True)
    now = {"annotations": request.annotations, "images": str(request.images or ""), "rows": request.rows}
    note = work / "request.json"
    begun = (work / "pictures/cut.json").is_file() or (work / "names.json").is_file()
    if begun and json.loads(note.read_text()) != now:
        raise UserError(f"'{request.output}' was mined from other pictures: give another folder, or delete it.")
    _keep(note, now)


def _keep(path: Path, content: Mapping[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(path)
