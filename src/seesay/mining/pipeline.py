"""The pipeline: annotated pictures → parts → names and subtypes, counts → knowledge.

It follows figure 3 of ViPhy: preprocessing (depth, subtypes), then colours, sizes and places. Each
step writes its result to the folder's `work/` atomically and is skipped when it is there: a
killed run can be resumed. What needs models is behind plain functions: `seesay.mining.depth` gives
depth maps, `seesay.mining.colors` the colours of regions, `seesay.mining.caption_nouns` the names
in captions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay import shards
from seesay.cluster import Engine
from seesay.data import knowledge
from seesay.data.captions import CorpusSummary
from seesay.data.rows import every_row, read_json_lines
from seesay.digests import text_digest
from seesay.errors import UserError, require_packages
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
from seesay.mining.count_relations import CountedParts, CountingConfig, count_parts
from seesay.mining.facts import Thresholds
from seesay.mining.fingerprints import CAPTIONS, local_place
from seesay.mining.records import DELETE_WORK, read_batches
from seesay.mining.region_names import NameRules, normalize_names
from seesay.mining.visual_features import GIVEN, PIXELS
from seesay.mining.write_knowledge import write_facts
from seesay.processors import count_processors
from seesay.progress import ProgressBars, progress_where_seen
from seesay.shards import WHOLE, Shard, parse_shard

AUTO = "auto"
NONE = "none"
KIND = "mining"
"""What shares of a mining are called (`seesay.shards`)."""
_NOT_IN_SHARES = ("output", "engine", "workers", "shard", "progress")
_OF_ALL_PARTS = ("pictures/cut.json", "pictures/bad.jsonl")
"""What a share has written about its own parts, and a merge writes about all."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """`cut.json`: how the annotation was split."""

    parts: list[str]
    """The names of the files."""
    bad: dict[str, int]
    """How many annotations were bad, by kind."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """`sources.json`: how much of the captions was read."""

    bad: dict[str, int]
    sources: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MiningResult:
    """What was mined. Without pictures there are only subtypes."""

    annotations: str
    """What was mined, as `FORMAT:PLACE`."""
    folder: Path
    """Where the knowledge is."""
    pictures: int
    facts: dict[str, int]
    """The number of facts by table."""
    bad: dict[str, int]
    """What was left out, by reason."""
    counting: CountingConfig | None = None
    """How pictures were counted; None without pictures."""
    thresholds: Thresholds | None = None
    """How often facts had to be seen; None without pictures."""
    pictures_per_second: float | None = None
    """How fast pictures were counted; 0 where an earlier run has counted all of them."""
    seconds: float = 0.0
    sources: list[CorpusSummary] | None = None
    """How much of each corpus of captions was read; None with pictures."""
    lexicons: dict[str, dict[str, int]] | None = None
    """For each lexicon the number of `names`, how many of them it has, as a hyponym or with one
    (`covered`), and how many `subtypes` it adds."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of `summary.json`."""
        summary = {key: value for key, value in asdict(self).items() if value is not None}
        return summary | {"folder": str(self.folder)}


class SubtypeResult(NamedTuple):
    """The subtypes of names, and what lexicons contribute to them."""

    counts: dict[str, dict[str, int]]
    """Every name's subtypes, with those of lexicons, and how often each is used."""
    by_ending: set[str]
    """The names that are subtypes by their ending."""
    coverage: dict[str, dict[str, int]]
    """What each lexicon covers (`MiningResult.lexicons`)."""


# The parameters are the options of `seesay mine`.
def mine(  # noqa: PLR0913
    annotations: str,
    output: Path | str,
    *,
    images: Path | str | None = None,
    size_rule: str = SizeRule.PAPER,
    space_rule: str = SpaceRule.PAPER,
    depth: str = AUTO,
    colors: str = AUTO,
    select: str = "",
    tagger: str = "",
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
    shard: str | None = None,
    progress: ProgressBars = progress_where_seen,
) -> MiningResult:
    """Mine annotated pictures and write the knowledge to a folder.

    `docs/mining.md` describes the rules.

    `annotations`: `FORMAT:PLACE`, or `captions:FILES` for names and subtypes only.
    `output`: the folder, new or begun before.
    `images`: the folder of the pictures, where the annotation does not say it. Both may be at
    addresses of object stores, as `plain:s3://bucket/rows.parquet`.
    `depth`, `colors`, `select`: see `CountingConfig`; "auto" takes what the pictures offer.
    `tagger`: another tagger of captions (`caption_nouns.tag`).
    `lexicons`: lexicons whose hyponyms are added to the subtypes.
    `min_seen`: pictures that must show a pair.
    `min_relation`: pictures that a relation needs in a scene.
    `min_answers`: answers that an object's colours need.
    `min_regions`: regions that a picture needs for sizes.
    `classes`: size classes of a picture.
    `label_rule`: whether a typical label reaches its minimum or exceeds it.
    `transitive`: whether sizes that follow from others are written too.
    `workers`: processes, 0 for one per processor.
    `rows`: pictures per part, the unit of work.
    `shard`: only this share of the parts, as in "2/4", which `seesay merge` puts together.
    """
    # For the merge of shares, which is the same mining without a share.
    options = {name: value for name, value in locals().items() if name not in _NOT_IN_SHARES}
    options["images"] = str(images) if images else None
    output = Path(output)
    counting = CountingConfig(
        size_rule=SizeRule(size_rule),
        space_rule=SpaceRule(space_rule),
        depth=depth,
        colors=colors,
        select=select,
        min_regions=min_regions,
        classes=classes,
    )
    thresholds = Thresholds(
        size=min_seen,
        place=min_seen,
        relation=min_relation,
        color=min_answers,
        label_rule=LabelRule(label_rule),
    )
    # Enumerations reject an unknown name before anything is read.
    subtype_rule = SubtypeRule(subtype_rule)
    engine = Engine(engine)
    lexicons = [Lexicon(name) for name in lexicons]
    has_pictures = not annotations.startswith(CAPTIONS)
    if has_pictures:
        require_packages("Mining pictures", "mine", "duckdb", "PIL.Image")
    else:
        _refuse_unused(asdict(counting) | options)
    start = time.perf_counter()
    workers = workers or count_processors()
    share = WHOLE
    if shard is not None:
        share = parse_shard(shard)
        _refuse_shared(annotations, select)
        output = output / share.folder
    with lock_folder(output, hint="give another --output"):
        work = output / "work"
        _refuse_other_pictures(annotations, output, images, rows)
        place = local_place(annotations)
        images = Path(local_place(str(images))) if images else None
        # `read_captions` fills both while the names in captions are counted.
        bad: Counter[str] = Counter()
        sources: list[CorpusSummary] = []
        parts: list[Path] = []

        def count(names: NameRules) -> CountedParts:
            with progress("Sizes, places, colours", "pictures") as advance:
                return count_parts(
                    parts, work / "counts", counting, engine, workers, advance, names
                )

        if has_pictures:
            parts, bad = _split(
                place,
                work / "pictures",
                progress,
                images=images,
                rows_per_part=rows,
                workers=workers,
                engine=engine,
                shard=share,
            )
            counting = _resolve_auto(counting, parts, lexicons)
            captions = _captions(parts)
            if shard is not None:
                shards.write_shard(output, share, KIND, options, finished=False)
                counts = count(NameRules(normalize_names(parts)[0]))
                shards.write_shard(output, share, KIND, options, finished=True)
                return MiningResult(annotations, output, counts.pictures, facts={}, bad=dict(bad))
        else:
            from seesay.mining.caption_nouns import read_captions

            captions = read_captions(place, bad, sources)
        names = caption_names(captions, work, workers, progress, tagger)
        subtype_result = find_subtypes(names, subtype_rule, lexicons)
        if has_pictures:
            subtypes_of = {name: list(counts) for name, counts in subtype_result.counts.items()}
            new_names, nameless = normalize_names(parts)
            count_start = time.perf_counter()
            counts = count(NameRules(new_names, subtypes_of))
            facts, excluded = write_facts(
                output,
                counts,
                thresholds,
                subtypes_of,
                subtype_result.by_ending,
                transitive=transitive,
                workers=workers,
            )
            # Reasons of splitting, of names, of files, and of the tables.
            bad += nameless + counts.bad + excluded
            count_seconds = max(time.perf_counter() - count_start, 1e-9)
            mined: dict[str, Any] = {
                "pictures": counts.pictures,
                "counting": counting,
                "thresholds": thresholds,
                "pictures_per_second": round(counts.counted_now / count_seconds, 1),
            }
        else:
            facts = {}
            bad, sources = _remember_reading(work / "sources.json", bad, sources)
            mined = {"pictures": 0, "sources": sources}
        if subtype_result.counts or not has_pictures:
            subtype_facts = subtypes.subtype_facts(subtype_result.counts)
            knowledge.write(output, subtype_facts, knowledge.SubtypeFact)
            facts["subtypes"] = len(subtype_facts)
        else:
            # An earlier run, with other thresholds, may have written them.
            (output / knowledge.FILES[knowledge.SubtypeFact]).unlink(missing_ok=True)
        result = MiningResult(
            annotations,
            output,
            facts=facts,
            bad=dict(bad.most_common()),
            seconds=round(time.perf_counter() - start, 2),
            lexicons=subtype_result.coverage or None,
            **mined,
        )
        write_json(output / "summary.json", result.to_json())
        return result


def _remember_reading(
    path: Path,
    bad: Counter[str],
    sources: list[CorpusSummary],
) -> tuple[Counter[str], list[CorpusSummary]]:
    """Return how much of the captions was read and left out: now, or by the run that is resumed.

    A resumed run has the names already, and reads no caption again.
    """
    if sources:
        write_json(path, {"bad": bad, "sources": [source.as_json() for source in sources]})
    if not path.is_file():
        return Counter(), []
    note = read_state(path, _Reading, DELETE_WORK)
    with damage_as_user_error(path, DELETE_WORK):
        return Counter(note.bad), [CorpusSummary(**source) for source in note.sources]


def _refuse_unused(options: Mapping[str, Any]) -> None:
    """Refuse options that have no effect without pictures."""
    defaults = {
        **asdict(CountingConfig(depth=AUTO, colors=AUTO)),
        "label_rule": LabelRule.PUBLISHED,
        "images": None,
        "transitive": False,
    }
    for name, default in defaults.items():
        if options[name] != default:
            raise UserError(
                f"'{CAPTIONS}' gives only names and subtypes, without pictures: leave out "
                f"--{name.replace('_', '-')}."
            )


def _refuse_shared(annotations: str, select: str) -> None:
    """Refuse to share out what needs the captions of all pictures."""
    if annotations.startswith(CAPTIONS):
        raise UserError(f"'{CAPTIONS}' has no pictures to share out: leave out --shard.")
    if select:
        raise UserError(
            "--select needs the names in all captions, and a share reads only its own: leave out "
            "--shard, or use --engine ray."
        )


def merge(
    folders: Sequence[Path],
    output: Path,
    options: Mapping[str, Any],
    progress: ProgressBars,
) -> str:
    """Make the knowledge of all shares of a mining: of what they have read and counted, and of
    their captions. Returns a line about it."""
    from seesay.mining import knowledge_page

    # What is read of the annotation once more is where its parts begin.
    for folder in folders:
        shards.link_files(folder / "work", output / "work", leave_out=_OF_ALL_PARTS)
    result = mine(**options, output=output, progress=progress)
    page = knowledge_page.write_folder(output)
    return f"{page}: {result.pictures:,} pictures, {sum(result.facts.values()):,} facts"


def _split(
    annotations: str, folder: Path, bars: ProgressBars, *, shard: Shard, **options: Any
) -> tuple[list[Path], Counter[str]]:
    """Return the annotation as Parquet parts, split anew only if they are not complete.

    Also returns how many annotations were bad, by kind. `options`: those of `to_parquet`.
    """
    from seesay.mining.readers import BAD_ROWS, to_parquet

    # Written after all parts: without it they are not complete.
    path = folder / "cut.json"
    if not path.is_file():
        with bars(f"Reading {annotations}", "pictures") as progress:
            parts, bad = to_parquet(annotations, folder, progress=progress, shard=shard, **options)
        write_json(path, {"parts": [part.name for part in parts], "bad": bad})
    note = read_state(path, _Parts, DELETE_WORK)
    parts = [folder / name for name in note.parts]
    pictures = 0
    for part in parts:
        with damage_as_user_error(part, DELETE_WORK):
            # The note may have been edited: a path in it must not lead out of the folder.
            if part.parent != folder:
                raise ValueError("not a part of this mining")
            pictures += pq.read_metadata(part).num_rows
    if not pictures and shard == WHOLE:
        bad_rows = folder / BAD_ROWS
        first = next(every_row(bad_rows, read_json_lines(bad_rows)), None)
        why = f" ({first.cells['reason']}, and so on)" if first else ""
        raise UserError(f"'{annotations}' holds no picture that can be used{why}.")
    return parts, Counter(note.bad)


def annotated_pictures(folder: Path, ids: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the annotation of pictures of a knowledge folder, as it was split; nothing if there is
    no `work` folder any more."""
    note = folder / "work/pictures/cut.json"
    if not note.is_file():
        return
    id_array = pa.array(ids, pa.string())
    columns = ["id", "path", "width", "height", "regions"]
    for name in read_state(note, _Parts, DELETE_WORK).parts:
        for batch in read_batches(note.parent / name, columns):
            yield from batch.filter(pc.is_in(batch.column("id"), id_array)).to_pylist()


def _resolve_auto(
    counting: CountingConfig,
    parts: Sequence[Path],
    lexicons: Sequence[str],
) -> CountingConfig:
    """Decide what `auto` means for these pictures.

    Depth maps of the annotation come before estimated ones; colours are those of the pixels.
    Options that these pictures cannot serve are rejected: no option is silently without effect.
    """
    has_maps = any(_has_text(path, "depth") for path in parts)
    has_files = any(_has_text(path, "path") for path in parts)
    _refuse_unusable(counting, has_maps=has_maps, has_files=has_files)
    if (counting.select or lexicons) and next(_captions(parts), None) is None:
        option = "--select" if counting.select else "--lexicon"
        raise UserError(
            f"{option} needs names from captions, and these pictures have none: leave it out."
        )
    default = "fastdepth" if has_files else ""
    if has_maps:
        default = GIVEN
    if not counting.needs_depth:
        default = ""
    depth = {AUTO: default, NONE: ""}.get(counting.depth, counting.depth)
    if counting.needs_depth and not depth:
        raise UserError(
            "These rules need depth, and there are neither depth maps nor pictures: give --images, "
            "or use --size-rule boxes --space-rule boxes."
        )
    defaults = {AUTO: PIXELS if has_files else "", NONE: ""}
    colors = defaults.get(counting.colors, counting.colors)
    return replace(counting, depth=depth, colors=colors)


def _refuse_unusable(counting: CountingConfig, *, has_maps: bool, has_files: bool) -> None:
    """Refuse a source of depth that no rule needs, and options that these pictures cannot serve."""
    if _is_set(counting.depth) and not counting.needs_depth:
        raise UserError(
            f"These rules need no depth: leave out --depth {counting.depth}, or choose rules that "
            "need it."
        )
    if counting.depth == GIVEN and not has_maps:
        raise UserError("--depth given needs depth maps, and the annotation names none.")
    needs_files = {
        "--depth": _is_set(counting.depth) and counting.depth != GIVEN,
        "--colors": _is_set(counting.colors),
        "--select": bool(counting.select),
    }
    for option, is_needed in needs_files.items():
        if is_needed and not has_files:
            raise UserError(f"{option} needs picture files, and none are known: give --images.")


def _is_set(option: str) -> bool:
    """Return whether the user asked for a source of depth or colours by its name."""
    return option not in (AUTO, NONE, "")


def caption_names(
    captions: Iterator[str],
    work: Path,
    processes: int,
    bars: ProgressBars,
    tagger: str = "",
) -> dict[str, int]:
    """Return the names in captions and how often each is used.

    They are counted once: a resumed run with the same tagger reads them from the folder `work`.
    """
    from seesay.mining import caption_nouns

    path = work / "names.json"
    if tagger:
        path = work / f"names-{text_digest(tagger)}.json"
    if not path.is_file():
        with bars("Names in captions", "captions") as progress:
            counts = caption_nouns.count_names(
                captions,
                processes,
                progress,
                tagger=tagger or caption_nouns.MODEL,
            )
            # By name: in whichever order workers have finished, the file is the same.
            write_json(path, dict(sorted(counts.items())))
    return caption_nouns.frequent_names(read_state(path, dict[str, int], DELETE_WORK))


def find_subtypes(
    names: Mapping[str, int],
    rule: str,
    lexicons: Sequence[str] = (),
) -> SubtypeResult:
    """Return the subtypes of names by a rule, merged with the hyponyms of lexicons.

    The paper merges those of ConceptNet (sections 2.1 and 3.1).
    """
    from seesay.mining import conceptnet, wordnet

    sources = {Lexicon.CONCEPTNET: conceptnet.hyponyms, Lexicon.WORDNET: wordnet.hyponyms}
    # Without lexicons, as the base that each of them is compared with.
    by_ending = subtypes.subtypes(names, rule=rule)
    endings = {child for name, children in by_ending.items() for child in children.keys() - {name}}
    hyponyms = {name: sources[Lexicon(name)](by_ending) for name in lexicons}
    coverage = {}
    for name, narrower in hyponyms.items():
        merged = subtypes.subtypes(names, rule=rule, hyponyms=[narrower])
        coverage[str(name)] = {
            "names": len(by_ending),
            "covered": len({*narrower}.union(*narrower.values())),
            "subtypes": sum(map(len, merged.values())) - sum(map(len, by_ending.values())),
        }
    counts_with_lexicons = subtypes.subtypes(names, rule=rule, hyponyms=hyponyms.values())
    return SubtypeResult(counts_with_lexicons, endings, coverage)


def _captions(parts: Sequence[Path]) -> Iterator[str]:
    """Yield the captions of all pictures."""
    for path in parts:
        for batch in read_batches(path, ["captions"]):
            yield from batch.column(0).flatten().to_pylist()


def _has_text(path: Path, column: str) -> bool:
    """Return whether a column of a part has a text that is not empty."""
    texts = pq.read_table(path, columns=[column]).column(0)
    return bool(pc.any(pc.greater(pc.utf8_length(texts), 0)).as_py())


def _refuse_other_pictures(
    annotations: str,
    output: Path,
    images: Path | str | None,
    rows: int,
) -> None:
    """Refuse to resume with other pictures, or with files that have changed."""
    settings = {
        **fingerprints.annotation(annotations, output),
        "images": fingerprints.folder(str(images)) if images else "",
        "rows": rows,
    }
    path = output / "work/request.json"
    results = (output / "work/pictures/cut.json", output / "work/names.json")
    # Where nothing was read yet, nothing can be mixed.
    if not any(result.is_file() for result in results):
        path.unlink(missing_ok=True)
    refuse_other_settings(
        path,
        settings,
        what=f"The mining in '{output}'",
        hint="its pictures, their files or --rows have changed since: give another folder, or "
        "delete it",
    )
