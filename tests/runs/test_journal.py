"""The journal: what was written whole is there, whatever happened to the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.strategies import scores

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


def test_a_journal_of_an_older_version_is_read(journal: Journal) -> None:
    """It held lists of numbers, and no picks."""
    lines = [
        '{"key": "a", "logp": [-1.5, -Infinity], "tokens": [1, 2], "chars": [3, 4], "rank": [7, 0]}',
        '{"key": "b", "logp": [-0.1, -2.25], "tokens": [1, 1], "chars": [3, 5], "rank": null, "picks": [0.5, 0.5]}',
    ]
    journal.path.write_text("\n".join(lines) + "\n")
    assert journal.read() == {"a": RANKED, "b": replace(UNRANKED, picks=(0.5, 0.5))}


def test_a_torn_last_line_is_cut_off_and_appending_goes_on(journal: Journal) -> None:
    journal.append({"a": RANKED, "b": UNRANKED})
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-5])
    assert journal.read() == {"a": RANKED}
    assert journal.path.read_bytes() == whole.splitlines(keepends=True)[0]
    journal.append({"b": UNRANKED})
    assert journal.read() == {"a": RANKED, "b": UNRANKED}


@pytest.mark.parametrize(
    "damage",
    [
        b"\0" * 50,
        b"5",
        b"[]",
        b"{}",
        b'{"key": "b"}',
        b'{"key": "b", "logp": 1, "tokens": 1, "chars": 1, "rank": null}',
        b'{"key": "b", "logp": [-1.0], "tokens": [1, 2], "chars": [1], "rank": null}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"key": "b", "logp": [NaN, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [Infinity, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [null, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": ["-2", -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [true, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [[-2], [-1]], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": "AAAA", "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1.5, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [-1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1, 99999999999], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1, 1], "chars": [3, 5], "rank": [1, null]}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null, "hidden": NaN}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null, "picks": ["a"]}',
        b'{"key": 5, "logp": [-2, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null}',
        b'{"key": "b", "logp": [-2, -1], "tokens": [1, 1], "chars": [3, 5], "rank": null, "chekcsum": "0"}',
    ],
)
def test_a_damaged_line_is_a_prompt_not_yet_answered(journal: Journal, damage: bytes) -> None:
    journal.append({"a": RANKED, "b": UNRANKED, "c": RANKED})
    first, _, last = journal.path.read_bytes().splitlines()
    journal.path.write_bytes(b"\n".join([first, damage, last, b""]))
    assert journal.read() == {"a": RANKED, "c": RANKED}
    assert journal.damaged == 1


def test_every_changed_byte_of_a_line_is_noticed(journal: Journal) -> None:
    """A letter of the Base64 is a digit of a score: without the checksum it would be another answer."""
    journal.append({"b": UNRANKED})
    line = journal.path.read_bytes()
    for place, byte in enumerate(line[:-1]):
        journal.path.write_bytes(line[:place] + bytes([byte ^ 1]) + line[place + 1 :])
        assert journal.read() == {}, line[:place]


@given(st.lists(scores(), min_size=1, max_size=4), st.data())
def test_any_beginning_of_the_file_reads_as_a_beginning_of_the_answers(said: list[Scores], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.jsonl")
        entries = [(f"k{i}", scores) for i, scores in enumerate(said)]
        journal.append(dict(entries))
        content = journal.path.read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        journal.path.write_bytes(content[:cut])
        assert list(journal.read().items()) == entries[: content[:cut].count(b"\n")]
