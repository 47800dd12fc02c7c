"""Parts of annotated pictures → counts, part by part, by any number of workers.

What changes the counts is a `Counting`; thresholds come after, so that other thresholds need no new counting. A folder
keeps the counts of every finished part, and goes on where it stopped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.knowledge import COLORS
from seesay.errors import UserError
from seesay.metrics.base import IntArray
from seesay.mine import engine as engines
from seesay.mine import fingerprints, places, sizes
from seesay.mine.aggregate import Counts, Seen, combine, count, gather, nothing, sliced, write
from seesay.mine.region_names import Naming, rename
from seesay.mine.regions import flatten
from seesay.mine.visual_features import Looking

BATCH = 1 << 15
"""Pictures in memory at once, a worker; 64 where files of pictures are opened."""
LABELS = {"sizes": 2, "places": 3, "colors": len(COLORS) + 1}
"""Labels of each kind of counts. A colour's last label says that a colour was asked for: an answer may name two."""
SETTINGS = "counting.json"
SLICES = 8
"""Pieces in which counts are gathered, one after the other."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Everything that the counts depend on besides the pictures.

    `depth`: "" (columns of the parts, if any), "given" (files named in the annotation), "fastdepth", or a model's
    folder or Hub id. `colors`: "" (none), "pixels", or a model of visual question answering. `select`: "" (names as
    annotated), or a dual encoder that finds the subtype which a region shows.
    """

    size_rule: str = "paper"
    space_rule: str = "paper"
    depth: str = ""
    colors: str = ""
    select: str = ""
    least_regions: int = sizes.MINIMUM

    def check(self) -> None:
        """Refuse names that nothing bears."""
        for kind, name, rules in (("size", self.size_rule, sizes.RULES), ("space", self.space_rule, places.RULES)):
            if name not in rules:
                raise UserError(f"Unknown {kind} rule '{name}'. There are: {', '.join(rules)}.")

    @property
    def needs_depth(self) -> bool:
        """Whether a rule takes depth."""
        return sizes.RULES[self.size_rule].depth or places.RULES[self.space_rule].depth


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """The counts of a part, or of all parts; how many pictures, and what of them could not be used, by reason."""

    sizes: Counts
    places: Counts
    colors: Counts
    pictures: int
    bad: Counter[str]


def count_part(path: Path, counting: Counting, naming: Naming | None = None, looking: Looking | None = None) -> Mined:
    """Count one part, batch by batch. `looking` is `look(…)`, made before where many parts are counted."""
    naming = naming or Naming()
    looking = looking or look(counting, naming)
    found: dict[str, list[Counts]] = {kind: [nothing(labels)] for kind, labels in LABELS.items()}
    bad: Counter[str] = Counter()
    pictures = 0
    for table in _batches(path, 64 if looking.opens else BATCH):
        pictures += table.num_rows
        seen = looking(rename(table, naming.renamed))
        bad += seen.bad
        regions = flatten(seen.table)
        size_rule, space_rule = sizes.RULES[counting.size_rule], places.RULES[counting.space_rule]
        if counting.needs_depth and not looking.opens:
            bad["no depth is known"] += int(np.isnan(regions.nearest).sum())
        larger = sizes.compare(regions, size_rule, counting.least_regions)
        higher = places.compare(regions, space_rule)
        one, two, three = (LABELS[kind] for kind in ("sizes", "places", "colors"))
        found["sizes"].append(count(larger, regions, one, scenes=False, pictures=size_rule.pictures))
        found["places"].append(count(higher, regions, two, scenes=True, pictures=space_rule.pictures))
        if seen.colors is not None:
            answers = _answers(seen.colors, regions.offsets, regions.names)
            found["colors"].append(count([answers], regions, three, scenes=False, pictures=False))
    return Mined(combine(found["sizes"]), combine(found["places"]), combine(found["colors"]), pictures, bad)


def look(counting: Counting, naming: Naming) -> Looking:
    """What looks at pictures, its models loaded."""
    return Looking(counting.depth, counting.colors, counting.select, naming.subtypes)


def mine_parts(
    parts: Sequence[Path],
    folder: Path,
    counting: Counting,
    engine: str = "local",
    workers: int = 1,
    advance: Callable[[int, int], None] = lambda done, total: None,
    naming: Naming | None = None,
    least: tuple[int, int, int] = (1, 1, 1),
) -> Mined:
    """Count every part that `folder` has no counts of yet, and combine what was seen at least so often."""
    counting.check()
    naming = naming or Naming()
    _same_settings(folder, counting, naming, parts)
    rows = {path.stem: pq.read_metadata(path).num_rows for path in parts}
    total = sum(rows.values())
    names = {path.stem: path for path in parts}
    ready = [stem for stem in names if _done(folder, stem)]
    advance(sum(rows[stem] for stem in ready), total)
    engines.run(
        list(names),
        partial(PartWork, {stem: str(path) for stem, path in names.items()}, folder, counting, naming),
        partial(_done, folder),
        engine=engine,
        workers=workers,
        finished=lambda stem: advance(rows[stem], total),
    )
    return gathered(folder, list(names), least)


class PartWork:
    """What a worker does with a part: counts it and writes the counts. Models are loaded when it is made."""

    def __init__(self, parts: Mapping[str, str], folder: Path, counting: Counting, naming: Naming) -> None:
        self._parts, self._folder, self._counting, self._naming = parts, folder, counting, naming
        self._looking = look(counting, naming)

    def __call__(self, stem: str) -> None:
        mined = count_part(Path(self._parts[stem]), self._counting, self._naming, self._looking)
        for kind in LABELS:
            for i, piece in enumerate(sliced(getattr(mined, kind), SLICES)):
                write(piece, self._folder / f"{stem}.{kind}.{i}.arrow")
        done = self._folder / f"{stem}.done.json"
        part = self._folder / f".{done.name}.{uuid4().hex}"  # two workers may do the same part
        part.write_text(json.dumps({"pictures": mined.pictures, "bad": mined.bad}))
        part.replace(done)  # last: a part is done when this is there


def gathered(folder: Path, stems: Sequence[str], least: tuple[int, int, int] = (1, 1, 1)) -> Mined:
    """The counts of all parts together: of the pairs for sizes and places, and names for colours, seen so often."""

    def pieces(kind: str, labels: int, enough: int) -> Counts:
        files = ([folder / f"{stem}.{kind}.{i}.arrow" for stem in stems] for i in range(SLICES))
        return combine([nothing(labels), *(gather(paths, labels, enough) for paths in files)])

    with ThreadPoolExecutor() as pool:  # sorting and reading let other threads run
        sizes, places, colors = pool.map(pieces, LABELS, LABELS.values(), least)
    notes = [json.loads((folder / f"{stem}.done.json").read_text()) for stem in stems]
    bad: Counter[str] = Counter()
    for note in notes:
        bad.update(note["bad"])
    return Mined(sizes, places, colors, sum(note["pictures"] for note in notes), bad)


def _answers(colors: Sequence[Sequence[tuple[str, ...]]], offsets: IntArray, names: IntArray) -> Seen:
    """Every region's colours as `Seen`: the second name is the first again."""
    index = {color: i for i, color in enumerate(COLORS)}
    rows = [
        (picture, offsets[picture] + place, label)
        for picture, answers in enumerate(colors)
        for place, answer in enumerate(answers)
        if answer and names[offsets[picture] + place] >= 0
        for label in (*(index[color] for color in answer), len(COLORS))
    ]
    picture, region, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Seen(picture, names[region], names[region], label)


def _batches(path: Path, rows: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(rows):
            yield pa.Table.from_batches([batch])


def _done(folder: Path, stem: str) -> bool:
    return (folder / f"{stem}.done.json").is_file()


def _same_settings(folder: Path, counting: Counting, naming: Naming, parts: Sequence[Path]) -> None:
    """Counts of other settings are never mixed in."""
    folder.mkdir(parents=True, exist_ok=True)
    models = {kind: fingerprints.model(getattr(counting, kind)) for kind in ("depth", "colors", "select")}
    now = {
        **asdict(counting),
        **{f"{kind} model's files": files for kind, files in models.items() if files},
        "names of regions": fingerprints.digest(dict(naming.renamed)),
        "subtypes": fingerprints.digest({thing: list(some) for thing, some in naming.subtypes.items()})
        if counting.select
        else "",
        "parts": [path.stem for path in parts],
    }
    path = folder / SETTINGS
    if path.is_file():
        before = json.loads(path.read_text())
        changed = [name for name in now if before.get(name) != now[name]]
        if changed:
            name = changed[0]
            told = f"{name} is {now[name]!r}, was {before.get(name)!r}" if hasattr(counting, name) else f"the {name}"
            raise UserError(
                f"'{folder}' holds counts made with other settings ({told}): give another folder, or delete it."
            )
    else:
        path.write_text(json.dumps(now))
