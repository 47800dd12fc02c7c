"""The pipeline: annotated pictures → parts → names and subtypes, counts of sizes, places and
colours → knowledge.

Each step writes its result to the folder's `work/` atomically and is skipped when it is there: a
killed run can be resumed. What needs models is behind plain functions: `seesay.mining.depth` gives
depth maps, `seesay.mining.colors` the colours of regions, `seesay.mining.caption_nouns` the names
in captions.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.cluster import Engine
from seesay.data import knowledge
from seesay.data.captions import CorpusSummary
from seesay.data.rows import every_row, read_json_lines
from seesay.errors import UserError, missing_extra
from seesay.files import (
    damage_as_user_error,
    lock_folder,
    read_state,
    refuse_other_settings,
    write_json,
)
from seesay.mining import fingerprints, subtypes
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
from seesay.mining.count_relations import CountingConfig, count_parts
from seesay.mining.facts import Thresholds
from seesay.mining.fingerprints import CAPTIONS
from seesay.mining.records import DELETE_WORK, read_batches
from seesay.mining.region_names import NameRules, normalize_names
from seesay.mining.visual_features import GIVEN, PIXELS
from seesay.mining.write_knowledge import write_facts
from seesay.progress import ProgressBars, no_progress

AUTO, NONE = "auto", "none"


@dataclass(frozen=True, slots=True)
class _Parts:
    """`cut.json`: the parts of the annotation and, by kind, how many annotations were bad."""

    parts: list[str]
    bad: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Reading:
    """`sources.json`: how much of the captions was read."""

    bad: dict[str, int]
    sources: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MiningResult:
    """What was mined: the number of facts by table, and what was left out, by reason.

    Without pictures there are only subtypes, and neither `counting` nor `thresholds` apply;
    `sources` says how much of each corpus of captions was read.
    """

    annotations: str
    folder: Path
    pictures: int
    facts: dict[str, int]
    bad: dict[str, int]
    counting: CountingConfig | None = None
    thresholds: Thresholds | None = None
    pictures_per_second: float | None = None
    seconds: float = 0.0
    sources: list[CorpusSummary] | None = None
    lexicons: dict[str, dict[str, int]] | None = None
    """For each lexicon the number of `names`, how many of them it has, as a hyponym or with one
    (`covered`), and how many `subtypes` it adds."""

    def to_json(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        summary = {key: value for key, value in asdict(self).items() if value is not None}
        return summary | {"folder": str(self.folder)}


def mine(
    annotations: str,
    output: Path | str,
    *,
    images: Path | str | None = None,
    size_rule: str = SizeRule.PAPER,
    space_rule: str = SpaceRule.PAPER,
    depth: str = AUTO,
    colors: str = AUTO,
    select: str = "",
    subtype_rule: str = SubtypeRule.PAPER,
    lexicons: Sequence[str] = (),
    min_seen: int = MIN_SEEN,
    min_relation: int = MIN_RELATION,
    min_answers: int = MIN_ANSWERS,
    min_regions: int = MIN_REGIONS,
    classes: int = SIZE_CLASSES,
    label_rule: str = LabelRule.PUBLISHED,
    transitive: bool = False,
    engine: str = Engine.LOCAL,
    workers: int = 0,
    rows: int = PART_SIZE,
    progress: ProgressBars = no_progress,
) -> MiningResult:
    """Mine annotated pictures (`FORMAT:PLACE`) and write the knowledge to the folder `output`, new
    or begun before.

    `depth`, `colors`, `select`: see `CountingConfig`; "auto" takes what the pictures offer.
    `min_seen`: pictures that must show a pair; `min_relation`: pictures that a relation needs in a
    scene; `min_answers`: answers that an object's colours need; `min_regions`: regions that a
    picture needs for sizes; `classes`: size classes of a picture. `workers`: processes, 0 for one
    per processor; `rows`: pictures per part, the unit of work. `docs/mining.md` describes the
    rules.
    """
    output = Path(output)
    images = Path(images) if images else None
    counting = CountingConfig(
        SizeRule(size_rule), SpaceRule(space_rule), depth, colors, select, min_regions, classes
    )
    thresholds = Thresholds(min_seen, min_seen, min_relation, min_answers, LabelRule(label_rule))
    subtype_rule = SubtypeRule(subtype_rule)
    engine = Engine(engine)
    lexicons = [Lexicon(name) for name in lexicons]
    without_pictures = annotations.startswith(CAPTIONS)
    if without_pictures:
        _refuse_unused(
            {
                **asdict(counting),
                "label_rule": label_rule,
                "images": images,
                "transitive": transitive,
            }
        )
    else:
        _require_extra()
    start = time.perf_counter()
    workers = workers or os.cpu_count() or 1
    with lock_folder(output, hint="give another --output"):
        work = output / "work"
        _refuse_other_pictures(annotations, output, images, rows)
        bad: Counter[str] = Counter()
        sources: list[CorpusSummary] = []
        if without_pictures:
            from seesay.mining.caption_nouns import read_captions

            captions = read_captions(annotations, bad, sources)
        else:
            parts, bad = _split(annotations, work / "pictures", images, rows, progress)
            counting = _resolve_auto(counting, parts, lexicons)
            captions = _captions(parts)
        subtype_counts, by_ending, coverage = find_subtypes(
            caption_names(captions, work, workers, progress), subtype_rule, lexicons
        )
        result = MiningResult(annotations, output, 0, {}, {})
        if without_pictures:
            bad, sources = _remember_reading(work / "sources.json", bad, sources)
            result = replace(result, sources=sources)
        else:
            subtypes_of = {name: list(counts) for name, counts in subtype_counts.items()}
            renamed, nameless = normalize_names(parts)
            count_start = time.perf_counter()
            with progress("Sizes, places, colours", "pictures") as advance:
                names = NameRules(renamed, subtypes_of)
                counts = count_parts(
                    parts, work / "counts", counting, engine, workers, advance, names
                )
            facts, unused = write_facts(
                output,
                counts,
                thresholds,
                subtypes_of,
                by_ending,
                transitive=transitive,
                workers=workers,
            )
            rate = round(counts.counted_now / max(time.perf_counter() - count_start, 1e-9), 1)
            bad += nameless + counts.bad + unused
            result = MiningResult(
                annotations, output, counts.pictures, facts, {}, counting, thresholds, rate
            )
        if subtype_counts or without_pictures:
            subtype_facts = subtypes.subtype_facts(subtype_counts)
            knowledge.write(output, subtype_facts, knowledge.SubtypeFact)
            result.facts["subtypes"] = len(subtype_facts)
        else:
            # of an earlier run
            (output / knowledge.FILES[knowledge.SubtypeFact]).unlink(missing_ok=True)
        result = replace(result, lexicons=coverage or None)
        result = replace(
            result, bad=dict(bad.most_common()), seconds=round(time.perf_counter() - start, 2)
        )
        write_json(output / "summary.json", result.to_json())
        return result


def _remember_reading(
    path: Path, bad: Counter[str], sources: list[CorpusSummary]
) -> tuple[Counter[str], list[CorpusSummary]]:
    """How much of the captions was read and left out: now, or by the run that is resumed."""
    if sources:
        write_json(path, {"bad": bad, "sources": [source.as_json() for source in sources]})
    if not path.is_file():
        return Counter(), []
    note = read_state(path, _Reading, DELETE_WORK)
    with damage_as_user_error(path, DELETE_WORK):
        return Counter(note.bad), [CorpusSummary(**source) for source in note.sources]


def _refuse_unused(options: Mapping[str, Any]) -> None:
    """Refuse options that have no effect without pictures."""
    defaults = asdict(CountingConfig(depth=AUTO, colors=AUTO)) | {
        "images": None,
        "transitive": False,
    }
    defaults["label_rule"] = LabelRule.PUBLISHED
    unused = [name.replace("_", "-") for name, value in options.items() if value != defaults[name]]
    if unused:
        raise UserError(
            f"'{CAPTIONS}' gives only names and subtypes, without pictures: leave out "
            f"--{unused[0]}."
        )


def _require_extra() -> None:
    try:
        import duckdb  # noqa: F401
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise missing_extra("Mining pictures", "mine", error) from error


def _split(
    annotations: str, folder: Path, images: Path | None, rows: int, bars: ProgressBars
) -> tuple[list[Path], Counter[str]]:
    """The annotation as Parquet parts, split anew only if they are not complete."""
    from seesay.mining.readers import BAD_ROWS, to_parquet

    path = folder / "cut.json"
    if not path.is_file():
        with bars(f"Reading {annotations}", "pictures") as progress:
            parts, bad = to_parquet(annotations, folder, rows, images, progress)
        write_json(path, {"parts": [part.name for part in parts], "bad": bad})
    note = read_state(path, _Parts, DELETE_WORK)
    if not note.parts:
        first = next(every_row(folder / BAD_ROWS, read_json_lines(folder / BAD_ROWS)), None)
        why = f" ({first.cells['reason']}, and so on)" if first else ""
        raise UserError(f"'{annotations}' holds no picture that can be used{why}.")
    parts = [folder / name for name in note.parts]
    for part in parts:
        with damage_as_user_error(part, DELETE_WORK):
            if part.parent != folder or not pq.read_metadata(part).num_rows:
                raise ValueError("not a part of this mining")
    return parts, Counter(note.bad)


def picture_files(folder: Path, ids: Collection[str]) -> dict[str, str]:
    """The files of pictures of a knowledge folder, by id; pictures without a file are left out."""
    return {row["id"]: row["path"] for row in _pictures(folder, ids, ["id", "path"]) if row["path"]}


Box = tuple[str, float, float, float, float]
"""The name of a region, and its left, top, width and height as shares of the picture."""


def picture_boxes(folder: Path, ids: Collection[str]) -> dict[str, list[Box]]:
    """The regions of pictures of a knowledge folder, by the picture's id."""
    boxes: dict[str, list[Box]] = {}
    for row in _pictures(folder, ids, ["id", "width", "height", "regions"]):
        if row["width"] and row["height"]:
            scale = (row["width"], row["height"]) * 2
            for region in row["regions"] or ():
                left, top, width, height = (
                    side / of for side, of in zip(region["box"], scale, strict=True)
                )
                boxes.setdefault(row["id"], []).append((region["name"], left, top, width, height))
    return boxes


def _pictures(folder: Path, ids: Collection[str], columns: list[str]) -> Iterator[dict[str, Any]]:
    note = folder / "work/pictures/cut.json"
    if not note.is_file():
        return
    id_array = pa.array(sorted(ids), pa.string())
    for name in read_state(note, _Parts, DELETE_WORK).parts:
        for batch in read_batches(note.parent / name, columns):
            yield from batch.filter(pc.is_in(batch.column("id"), id_array)).to_pylist()


def _resolve_auto(
    counting: CountingConfig, parts: Sequence[Path], lexicons: Sequence[str]
) -> CountingConfig:
    """Decide what `auto` means for these pictures: given depth maps before estimated ones, colours
    by pixels.

    Options that these pictures cannot serve are rejected: no option is silently without effect.
    """
    has_maps, has_files = (
        any(_has_text(path, name) for path in parts) for name in ("depth", "path")
    )
    depth = counting.depth
    colors = counting.colors
    depth_chosen = depth not in (AUTO, NONE, "")
    if depth_chosen and not counting.needs_depth:
        raise UserError(
            f"These rules need no depth: leave out --depth {depth}, or choose rules that need it."
        )
    if depth == GIVEN and not has_maps:
        raise UserError("--depth given needs depth maps, and the annotation names none.")
    if not has_files:
        for option, is_chosen in (
            ("--depth", depth_chosen and depth != GIVEN),
            ("--colors", colors not in (AUTO, NONE, "")),
            ("--select", counting.select),
        ):
            if is_chosen:
                raise UserError(f"{option} needs picture files, and none are known: give --images.")
    if (counting.select or lexicons) and next(_captions(parts), None) is None:
        option = "--select" if counting.select else "--lexicon"
        raise UserError(
            f"{option} needs names from captions, and these pictures have none: leave it out."
        )
    if depth == AUTO:
        if counting.needs_depth:
            if has_maps:
                depth = GIVEN
            elif has_files:
                depth = "fastdepth"
            else:
                depth = ""
        else:
            depth = ""
    if colors in (AUTO, NONE):
        colors = PIXELS if colors == AUTO and has_files else ""
    if counting.needs_depth and depth in ("", NONE):
        raise UserError(
            "These rules need depth, and there are neither depth maps nor pictures: give --images, "
            "or use --size-rule boxes --space-rule boxes."
        )
    return replace(counting, depth="" if depth == NONE else depth, colors=colors)


def caption_names(
    captions: Iterator[str], work: Path, processes: int, bars: ProgressBars
) -> dict[str, int]:
    """The names in captions and how often each is used."""
    from seesay.mining import caption_nouns

    path = work / "names.json"
    if not path.is_file():
        with bars("Names in captions", "captions") as progress:
            write_json(path, caption_nouns.count_names(captions, processes, progress))
    return caption_nouns.frequent_names(read_state(path, dict[str, int], DELETE_WORK))


class FoundSubtypes(NamedTuple):
    """Every name's subtypes, with those of lexicons; names that are subtypes by their ending; what
    lexicons cover."""

    counts: dict[str, dict[str, int]]
    by_ending: set[str]
    coverage: dict[str, dict[str, int]]


def find_subtypes(
    names: Mapping[str, int], rule: str, lexicons: Sequence[str] = ()
) -> FoundSubtypes:
    """The subtypes of names by a rule, of which lexicons are a part where they are given (the
    paper's: ConceptNet)."""
    from seesay.mining import conceptnet, wordnet

    sources = {Lexicon.CONCEPTNET: conceptnet.hyponyms, Lexicon.WORDNET: wordnet.hyponyms}
    by_ending = subtypes.subtypes(names, rule=rule)
    endings = {
        subtype for name, counts in by_ending.items() for subtype in counts if subtype != name
    }
    hyponyms = {name: sources[Lexicon(name)](by_ending) for name in lexicons}
    coverage = {}
    for name, narrower in hyponyms.items():
        covered = set(narrower).union(*narrower.values())
        merged = subtypes.subtypes(names, rule=rule, hyponyms=[narrower])
        added = sum(len(merged[parent]) - len(own) for parent, own in by_ending.items())
        coverage[str(name)] = {"names": len(by_ending), "covered": len(covered), "subtypes": added}
    return FoundSubtypes(
        subtypes.subtypes(names, rule=rule, hyponyms=hyponyms.values()), endings, coverage
    )


def _captions(parts: Sequence[Path]) -> Iterator[str]:
    for path in parts:
        for batch in read_batches(path, ["captions"]):
            yield from batch.column(0).flatten().to_pylist()


def _has_text(path: Path, column: str) -> bool:
    texts = pq.read_table(path, columns=[column]).column(0)
    return bool(pc.any(pc.greater(pc.utf8_length(texts), 0)).as_py())


def _refuse_other_pictures(annotations: str, output: Path, images: Path | None, rows: int) -> None:
    """Refuse to resume with other pictures, or with files that have changed."""
    resolved = str(images.resolve()) if images else ""
    settings = {**fingerprints.annotation(annotations, output), "images": resolved, "rows": rows}
    path = output / "work/request.json"
    if (
        not (output / "work/pictures/cut.json").is_file()
        and not (output / "work/names.json").is_file()
    ):
        path.unlink(missing_ok=True)  # nothing was read yet
    hint = "its pictures or their files have changed since, so give another folder, or delete it"
    refuse_other_settings(path, settings, what=f"The mining in '{output}'", hint=hint)
