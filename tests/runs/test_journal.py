"""The journal: what was written whole is there, whatever happened to the rest."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.strategies import scores

from seesay.digests import text_digest
from seesay.questions import Scores
from seesay.runs.journal import Journal

RANKED = Scores((-1.5, float("-inf")), (1, 2), (3, 4), (7, 0))
UNRANKED = Scores((-0.1, -2.25), (1, 1), (3, 5))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def test_a_journal_that_is_not_there_is_empty(journal: Journal) -> None:
    assert journal.read() == {}


def test_round_trip(journal: Journal) -> None:
    journal.append({"a": RANKED})
    journal.append({"b": UNRANKED, "c": RANKED})
    assert journal.read() == {"a": RANKED, "b": UNRANKED, "c": RANKED}
    assert journal.read()["b"].rank is None


def test_picks_hidden_and_replies_come_back(journal: Journal) -> None:
    scores = replace(UNRANKED, picks=(0.5, 0.5), hidden=0.25, replies=(("A cat.", "cat", True),))
    journal.append({"a": scores})
    assert journal.read() == {"a": scores}


def test_a_line_without_a_checksum_is_damaged(journal: Journal) -> None:
    journal.append({"a": RANKED})
    journal.path.write_text(re.sub(', "checksum": "[0-9a-f]+"', "", journal.path.read_text()))
    assert journal.read() == {}
    assert journal.damaged == 1


def test_a_torn_last_line_is_cut_off_and_appending_goes_on(journal: Journal) -> None:
    journal.append({"a": RANKED, "b": UNRANKED})
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-5])
    assert journal.read() == {"a": RANKED}
    assert journal.path.read_bytes() == whole.splitlines(keepends=True)[0]
    journal.append({"b": UNRANKED})
    assert journal.read() == {"a": RANKED, "b": UNRANKED}


def numbers(values: list[float], kind: str = "<f8") -> str:
    """A column as a line holds it."""
    return base64.b64encode(np.asarray(values, kind).tobytes()).decode()


def line(**changes: Any) -> bytes:
    """A line with a correct checksum and some fields changed."""
    columns = {
        "logp": numbers([-2, -1]),
        "tokens": numbers([1, 1], "<i4"),
        "chars": numbers([3, 5], "<i4"),
    }
    entry = {
        "key": "b",
        **columns,
        "rank": None,
        "picks": None,
        "hidden": None,
        "replies": None,
        **changes,
    }
    body = json.dumps(entry)[:-1]
    return f'{body}, "checksum": "{text_digest(body)}"}}'.encode()


@pytest.mark.parametrize(
    "damage",
    [
        b"\0" * 50,
        b"5",
        b"[]",
        b"{}",
        b'{"key": "b"}',
        b'{"checksum": "0", "key": "b"}',
        b"\xff\xfe",
        b"[" * 100_000,
        line(logp=1),
        line(logp=None),
        line(logp=[-2, -1]),
        line(logp="AAAA"),
        line(logp="not Base64"),
        line(logp=numbers([-1])),
        line(logp=numbers([float("nan"), -1])),
        line(logp=numbers([float("inf"), -1])),
        line(tokens=None),
        line(tokens=numbers([-1, 1], "<i4")),
        line(tokens=numbers([0, 1], "<i4")),
        line(tokens=numbers([1, 1, 1], "<i4")),
        line(rank=[1, None]),
        line(rank=numbers([1], "<i4")),
        line(hidden=float("nan")),
        line(hidden="0.5"),
        line(hidden=True),
        line(picks=["a"]),
        line(picks=numbers([float("nan")])),
        line(replies=[["one", "two"]]),
        line(key=5),
        line(extra=1),
    ],
)
def test_a_damaged_line_is_a_prompt_not_yet_answered(journal: Journal, damage: bytes) -> None:
    journal.append({"a": RANKED, "b": UNRANKED, "c": RANKED})
    first, _, last = journal.path.read_bytes().splitlines()
    journal.path.write_bytes(b"\n".join([first, damage, last, b""]))
    assert journal.read() == {"a": RANKED, "c": RANKED}
    assert journal.damaged == 1


def test_the_line_that_is_damaged_above_is_good_without_the_damage(journal: Journal) -> None:
    journal.path.write_bytes(line() + b"\n")
    assert journal.read() == {"b": Scores((-2.0, -1.0), (1, 1), (3, 5))}


def test_every_changed_byte_of_a_line_is_noticed(journal: Journal) -> None:
    """A letter of the Base64 is a digit of a score: without the checksum it would be another
    answer."""
    journal.append({"b": UNRANKED})
    line = journal.path.read_bytes()
    for place, byte in enumerate(line[:-1]):
        journal.path.write_bytes(line[:place] + bytes([byte ^ 1]) + line[place + 1 :])
        assert journal.read() == {}, line[:place]


@given(st.lists(scores(), min_size=1, max_size=4), st.data())
def test_any_beginning_of_the_file_reads_as_a_beginning_of_the_answers(
    written: list[Scores], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.jsonl")
        entries = [(f"k{i}", scores) for i, scores in enumerate(written)]
        journal.append(dict(entries))
        content = journal.path.read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        journal.path.write_bytes(content[:cut])
        assert list(journal.read().items()) == entries[: content[:cut].count(b"\n")]
