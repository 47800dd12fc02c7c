"""Captions of Multi30k, and METEOR's data, where this machine has them."""

from __future__ import annotations

import gzip
import sys

import pytest
from tests.needs import absent
from tests.shared_data import PUBLISHED_DATA, shared

from seesay.captions import CaptionCorpus, MeteorResources, load


@pytest.fixture(scope="session")
def multi30k() -> tuple[list[str], list[list[str]]]:
    """Caption 1 of the 1,014 validation images, and captions 2 to 5."""
    columns = []
    for i in range(1, 6):
        with gzip.open(
            shared(f"captions/multi30k.val.{i}.en.gz"), "rt", encoding="utf-8", newline="\n"
        ) as file:
            columns.append([line.rstrip("\n") for line in file])
    return columns[0], [list(row) for row in zip(*columns[1:], strict=True)]


@pytest.fixture(scope="session")
def corpus(multi30k: tuple[list[str], list[list[str]]]) -> CaptionCorpus:
    return CaptionCorpus.tokenized(*multi30k)


@pytest.fixture(scope="session")
def resources() -> MeteorResources:
    sys.audit(PUBLISHED_DATA, "METEOR's tables")
    resources = load()
    if not resources.complete:
        absent("METEOR's data not found: install pycocoevalcap or set SEESAY_METEOR")
    return resources
