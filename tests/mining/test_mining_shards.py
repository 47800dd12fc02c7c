"""Reading by several workers, and shares of a mining: the bytes of one process in every case."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.mining.sample_annotations import write_annotations

from seesay.errors import UserError
from seesay.mining import readers
from seesay.mining.knowledge_page import write_folder
from seesay.mining.pipeline import mine
from seesay.mining.readers import to_parquet
from seesay.shards import find_shards, merge_work

FORMATS = ("parquet", "lines", "coco", "genome", "ade")
BOXES: dict[str, Any] = {
    "size_rule": "boxes",
    "space_rule": "boxes",
    "min_seen": 3,
    "min_relation": 1,
    "rows": 7,
    "workers": 1,
}


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return write_annotations(tmp_path_factory.mktemp("annotations"), 60)


def contents(folder: Path) -> dict[str, object]:
    """Every file below a folder; a summary without the time that it took, and where it is."""
    files: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "shard.json":
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    if "summary.json" in files:
        summary = json.loads((folder / "summary.json").read_text())
        for key in ("seconds", "pictures_per_second", "folder"):
            del summary[key]
        files["summary.json"] = summary
    return files


@pytest.mark.seconds
@pytest.mark.parametrize("name", FORMATS)
def test_two_workers_read_what_one_does(specs: dict[str, str], name: str, tmp_path: Path) -> None:
    parts, bad = to_parquet(specs[name], tmp_path / "one", 7)
    assert sum(pq.read_metadata(part).num_rows for part in parts) == 60
    assert len(parts) == 9
    assert sum(bad.values()) > 0
    again = to_parquet(specs[name], tmp_path / "two", 7, workers=2)
    assert [part.name for part in again[0]] == [part.name for part in parts]
    assert again[1] == bad
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


class Killed(readers.PartReader):
    """Dies at its first part, in one process of many."""

    def __call__(self, work: Any) -> Any:
        marker = work[0].parent.with_name("killed")
        if work[0].stem.endswith("3") and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(work)


def test_a_killed_reader_costs_only_its_part(
    specs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_parquet(specs["lines"], tmp_path / "one", 7)
    monkeypatch.setattr(readers, "PartReader", Killed)
    to_parquet(specs["lines"], tmp_path / "two", 7, workers=2)
    assert (tmp_path / "killed").exists()
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_an_interrupted_reading_goes_on(
    specs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_parquet(specs["coco"], tmp_path / "one", 7)
    real = readers.coco.read

    def breaks(part: Any, images: Path | None) -> Iterator[Any]:
        if part.numbers.start > 30:
            raise KeyboardInterrupt
        return real(part, images)

    monkeypatch.setitem(
        readers.READERS,
        "coco",
        readers.AnnotationReader(readers.coco.split, breaks, "*.json"),
    )
    with pytest.raises(KeyboardInterrupt):
        to_parquet(specs["coco"], tmp_path / "two", 7)
    monkeypatch.undo()
    first = (tmp_path / "two/part-00000.parquet").stat().st_ino
    to_parquet(specs["coco"], tmp_path / "two", 7)
    assert (tmp_path / "two/part-00000.parquet").stat().st_ino == first, "it was read again"
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def twice(folder: Path) -> str:
    """Pictures of which some are there twice, in parts far from each other."""
    folder.mkdir()
    write_annotations(folder / "once", 30)
    table = pq.read_table(folder / "once/rows.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(4, 9)]), folder / "rows.parquet")
    return f"plain:{folder / 'rows.parquet'}"


@pytest.mark.seconds
@pytest.mark.parametrize("name", [*FORMATS, "twice"])
def test_shares_in_any_order_make_the_same_knowledge(
    specs: dict[str, str], name: str, tmp_path: Path
) -> None:
    """One of the shares was repeated elsewhere."""
    spec = twice(tmp_path / "twice") if name == "twice" else specs[name]
    whole = mine(spec, tmp_path / "whole", **BOXES)
    write_folder(tmp_path / "whole")
    assert whole.facts["sizes"] > 0
    shard_numbers = [1, 2, 3, 2]
    random.Random(name).shuffle(shard_numbers)
    folders = []
    for job, number in enumerate(shard_numbers):
        share = mine(spec, tmp_path / f"job-{job}", shard=f"{number}/3", **BOXES)
        assert share.folder == tmp_path / f"job-{job}/shard-{number}-of-3"
        folders.append(share.folder)
    line = merge_work(find_shards(folders), tmp_path / "merged")
    assert f"{whole.pictures:,} pictures" in line
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")


def test_shares_that_are_missing_unfinished_or_of_other_work_are_refused(
    specs: dict[str, str], tmp_path: Path
) -> None:
    share = partial(mine, specs["parquet"], tmp_path / "parts")
    share(shard="1/3", **BOXES)
    share(shard="3/3", **BOXES)
    with pytest.raises(UserError, match=r"Of the mining, share 2 of 3 is missing: .* --shard 2/3"):
        merge_work(find_shards([tmp_path / "parts"]), tmp_path / "merged")
    other = mine(specs["parquet"], tmp_path / "other", shard="2/3", **{**BOXES, "min_seen": 4})
    with pytest.raises(UserError, match="was not made with the options of"):
        merge_work(find_shards([tmp_path / "parts", other.folder]), tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    note = tmp_path / "parts/shard-1-of-3/shard.json"
    note.write_text(note.read_text().replace('"finished": true', '"finished": false'))
    with pytest.raises(UserError, match=r"Share 1 of 3 in .* is unfinished"):
        find_shards([tmp_path / "parts"])


def test_two_shares_of_one_number_that_differ_are_refused(
    specs: dict[str, str], tmp_path: Path
) -> None:
    for number in (1, 2):
        mine(specs["parquet"], tmp_path / "parts", shard=f"{number}/2", **BOXES)
    shares = find_shards([tmp_path / "parts"])
    merge_work(shares, tmp_path / "merged")
    counts = tmp_path / "parts/shard-1-of-2/work/counts/part-00000.sizes.parquet"
    shutil.copy(counts.with_name("part-00002.sizes.parquet"), f"{counts}.other")
    Path(f"{counts}.other").replace(counts)
    with pytest.raises(UserError, match=r"part-00000.sizes.parquet differs from "):
        merge_work(shares, tmp_path / "merged")


@pytest.mark.parametrize(
    ("options", "words"),
    [({"select": "clip"}, "--select needs the names"), ({"shard": "4/3"}, "from 1 to 3")],
)
def test_what_cannot_be_shared_out_is_refused(
    specs: dict[str, str], options: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        mine(specs["parquet"], tmp_path, **{**BOXES, "shard": "1/3", **options})
    with pytest.raises(UserError, match="no pictures to share out"):
        mine("captions:x.txt", tmp_path, shard="1/3")
