"""Shares of long work for jobs that know only their number, such as those of a Slurm array."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from seesay.errors import UserError

Item = TypeVar("Item")

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
