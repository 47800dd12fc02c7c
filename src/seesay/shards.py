"""Shares of long work for jobs that know only their number, such as those of a Slurm array."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from seesay.errors import UserError
from seesay.files import damage_as_user_error, json_value, read_json, refuse_newer, write_json
from seesay.plugins import collect
from seesay.progress import ProgressBars, no_progress
from seesay.registry import load_address

Item = TypeVar("Item")
Merger = Callable[[Sequence[Path], Path, Mapping[str, Any], ProgressBars], str]
"""Makes of the folders of all shares, in their order, what one command would have made: in an
output folder, with the options of that command. Returns a line for the user."""

SHARD = "shard.json"
RUN = "run"
"""The kind of shares that are runs, which `seesay.runs.merge` merges."""
FORMAT = 1
_FROM_ENVIRONMENT = "auto"


@dataclass(frozen=True)
class Shard:
    """One of `count` shares of a list of work, counted from 1."""

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise UserError(
                f"--shard is {self}: give a number from 1 to {self.count} before the slash."
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def folder(self) -> str:
        """The name of the folder that holds what this share has done."""
        return f"shard-{self.number}-of-{self.count}"

    def take(self, items: Sequence[Item]) -> list[Item]:
        """Return this share of the items.

        Neighbours go to different shares: what is long often stands together.

        >>> Shard(2, 3).take("abcdefgh")
        ['b', 'e', 'h']
        """
        return list(items[self.number - 1 :: self.count])

    def has(self, number: int) -> bool:
        """Return whether this share has the item of this number, from 1."""
        return number % self.count == self.number % self.count


WHOLE = Shard(1, 1)
"""All of the work."""


def parse_shard(text: str, environment: Mapping[str, str] | None = None) -> Shard:
    """Return the share that `I/N` names; `auto` and `auto/N` take the number from the environment.

    >>> parse_shard("2/4")
    Shard(number=2, count=4)
    >>> slurm = {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5"}
    >>> parse_shard("auto", {**slurm, "SLURM_ARRAY_TASK_COUNT": "3"})
    Shard(number=3, count=3)
    >>> parse_shard("auto/8", {"JOB_COMPLETION_INDEX": "0"})
    Shard(number=1, count=8)
    """
    if environment is None:
        environment = os.environ
    given, _, total = text.partition("/")
    if given == _FROM_ENVIRONMENT:
        number, job_count = _place_in_array(environment)
    else:
        number, job_count = given, ""
    count = total or job_count
    if not re.fullmatch(r"[0-9]{1,6}", number) or not re.fullmatch(r"[0-9]{1,6}", count):
        raise UserError(
            f"--shard is '{text}': give a number and how many there are, as in 2/4, or auto in the "
            "job of a Slurm array, or auto/N in an indexed job of Kubernetes, which does not say "
            "how many there are."
        )
    return Shard(int(number), int(count))


def _place_in_array(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the number of this job, from 1, and how many there are, each "" where it is not
    known."""
    # Kubernetes counts from 0
    if index := environment.get("JOB_COMPLETION_INDEX"):
        return _from_one(index, "0"), ""
    # An array may begin anywhere. One with gaps or steps has numbers beyond its count, which are
    # refused.
    index = environment.get("SLURM_ARRAY_TASK_ID", "")
    first = environment.get("SLURM_ARRAY_TASK_MIN", "1")
    return _from_one(index, first), environment.get("SLURM_ARRAY_TASK_COUNT", "")


def _from_one(index: str, first: str) -> str:
    if not index.isdecimal() or not first.isdecimal():
        return ""
    return str(int(index) - int(first) + 1)


class ShardFolder(NamedTuple):
    """A folder that holds what a share has done."""

    shard: Shard
    kind: str
    """What was shared out: a run, or what a plug-in has a merger for."""
    options: dict[str, Any]
    """How it was done, for whoever merges."""
    folder: Path


def write_shard(
    folder: Path, shard: Shard, kind: str, options: Mapping[str, Any], *, finished: bool
) -> None:
    """Note in a folder which share it holds, and whether that is done."""
    note = {"format": FORMAT, **asdict(shard), "kind": kind, "finished": finished}
    write_json(folder / SHARD, {**note, "options": json_value(dict(options))})


def read_shard(folder: Path) -> ShardFolder:
    """Return which share a folder holds; one that is unfinished is refused."""
    with damage_as_user_error(folder / SHARD, "run the command of this share again"):
        note = read_json(folder / SHARD)
        refuse_newer(note, FORMAT, f"The shard in {folder}")
        shard = Shard(int(note["number"]), int(note["count"]))
        is_finished = note["finished"]
        shard_folder = ShardFolder(shard, str(note["kind"]), dict(note["options"]), folder)
    if not is_finished:
        raise UserError(
            f"Share {shard.number} of {shard.count} in {folder} is unfinished: run its command "
            "again to resume it."
        )
    return shard_folder


def find_shards(folders: Iterable[Path]) -> list[ShardFolder]:
    """Return the shares that lie at or below the folders, by path, each once."""
    # a folder may be given twice, or lie below another
    paths = {file.parent.resolve() for folder in folders for file in folder.rglob(SHARD)}
    if not paths:
        raise UserError(
            "There is no share of a run there, nor of other work: give folders that a command "
            "wrote with --shard."
        )
    return [read_shard(path) for path in sorted(paths)]


def refuse_missing(name: str, shards: Iterable[Shard]) -> None:
    """Refuse shares of something that are not all there, or of several divisions."""
    numbers = {(shard.count, shard.number) for shard in shards}
    counts = sorted({count for count, _ in numbers})
    if len(counts) > 1:
        several = " and ".join(map(str, counts))
        raise UserError(
            f"{name} was shared out in {several} shares: give those of one division only."
        )
    (count,) = counts
    missing = [number for number in range(1, count + 1) if (count, number) not in numbers]
    if missing:
        shares = ", ".join(map(str, missing))
        sentence = f"shares {shares} of {count} are missing"
        if len(missing) == 1:
            sentence = f"share {shares} of {count} is missing"
        raise UserError(
            f"Of {name}, {sentence}: run the same command with --shard {missing[0]}/{count}, or "
            "give the folder that it wrote."
        )


def merge_work(
    shards: Sequence[ShardFolder], output: Path, progress: ProgressBars = no_progress
) -> str:
    """Merge the shares of one piece of work that is no run, and return a line about it.

    Shares that are missing, or of other work, are refused; a repeated one counts once.
    """
    first = shards[0]
    for shard in shards:
        if (shard.kind, shard.options) != (first.kind, first.options):
            raise UserError(
                f"{shard.folder} was not made with the options of {first.folder}: merge the shares "
                "of one command at a time."
            )
    refuse_missing(f"the {first.kind}", (shard.shard for shard in shards))
    folders = {shard.shard.number: shard.folder for shard in shards}
    in_order = [folders[number] for number in sorted(folders)]
    mergers = collect(lambda plugin: plugin.mergers)
    merge: Merger = load_address(mergers[first.kind])
    return merge(in_order, output, first.options, progress)


def link_files(source: Path, target: Path, leave_out: Collection[str] = ()) -> None:
    """Put the files of a folder into another one as well, without copying them where the disk is
    the same. A file that is there already must be equal."""
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        path = target / name
        if not file.is_file() or name.as_posix() in leave_out:
            continue
        if path.is_file():
            if path.read_bytes() != file.read_bytes():
                raise UserError(
                    f"{file} differs from {path}: give another --output, and only the shares of "
                    "one command."
                )
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.hardlink_to(file)
        except OSError:
            # another disk, or one without links
            shutil.copyfile(file, path)
