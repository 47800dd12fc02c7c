"""Vectors are encoded once, kept, found again, and never half-written."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from seesay.caches import VECTORS
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.probes.vector_cache import VectorCache


class Letters(Model):
    """A real if simple encoder: how often each letter stands in a text. It counts what it was
    asked."""

    name = "letters"

    def __init__(self, fingerprint: str = "letters-1") -> None:
        self.fingerprint = fingerprint
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.array(
            [[text.count(letter) for letter in "abcdefgh"] for text in texts], np.float32
        )


TEXTS = ["cab", "a bad cab", "cab", "face", ""]


def test_rows_are_in_order_and_each_text_is_encoded_once(tmp_path: Path) -> None:
    encoder = Letters()
    features = VectorCache(encoder, tmp_path)
    np.testing.assert_array_equal(features.rows(TEXTS), Letters().encode(TEXTS))
    assert encoder.texts == ["", "a bad cab", "cab", "face"]
    np.testing.assert_array_equal(features.rows(TEXTS[::-1]), Letters().encode(TEXTS[::-1]))
    assert len(encoder.texts) == 4
    assert features.rows([]).shape[0] == 0


def test_vectors_are_read_by_another_process(tmp_path: Path) -> None:
    VectorCache(Letters(), tmp_path).rows(TEXTS)
    later = Letters()
    np.testing.assert_array_equal(
        VectorCache(later, tmp_path).rows(["face", "bed", "cab"])[1], [0, 1, 0, 1, 1, 0, 0, 0]
    )
    assert later.texts == ["bed"]


def test_another_encoder_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    VectorCache(Letters()).rows(TEXTS)
    other = Letters("letters-2")
    VectorCache(other).rows(TEXTS)
    assert len(other.texts) == 4
    assert len(list(VECTORS.folder.iterdir())) == 2


def test_another_beginning_of_texts_gives_other_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    VectorCache(Letters()).rows(TEXTS)
    other = Letters()
    monkeypatch.setattr(other, "describe_encoding", lambda: "bos:s")
    VectorCache(other).rows(TEXTS)
    assert len(other.texts) == 4


def test_progress_counts_every_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VectorCache, "shard", 2)
    VectorCache(Letters(), tmp_path).rows(["a", "b", "c"])
    calls: list[tuple[int, int]] = []
    VectorCache(Letters(), tmp_path).rows(
        ["a", "b", "c", "d", "e", "f"], lambda done, total: calls.append((done, total))
    )
    assert calls == [(3, 6), (2, 6), (1, 6)]


@pytest.mark.parametrize("damage", ["rows", "keys", "key", "cut", "empty", "bit", "type", "zip"])
def test_a_damaged_shard_is_encoded_again(damage: str, tmp_path: Path) -> None:
    VectorCache(Letters(), tmp_path).rows(TEXTS)
    keys = next(tmp_path.glob("*.keys"))
    rows = keys.with_suffix(".npy")
    if damage == "rows":
        rows.write_bytes(b"no array")
    elif damage == "keys":
        keys.write_bytes(keys.read_bytes()[:-3])
    elif damage == "key":
        content = bytearray(keys.read_bytes())
        content[-1] ^= 1
        keys.write_bytes(content)
    elif damage == "empty":
        rows.write_bytes(b"")
    elif damage == "bit":
        content = bytearray(rows.read_bytes())
        content[-2] ^= 64
        rows.write_bytes(content)
    elif damage == "type":
        np.save(rows, np.array([["a"], ["b"], ["c"], ["d"]]))
    elif damage == "zip":
        rows.write_bytes(b"PK\x03\x04 no archive")
    else:
        rows.write_bytes(rows.read_bytes()[:140])
    encoder = Letters()
    np.testing.assert_array_equal(
        VectorCache(encoder, tmp_path).rows(TEXTS), Letters().encode(TEXTS)
    )
    assert len(encoder.texts) == 4
    # nothing is left that would be read and refused again
    later = Letters()
    VectorCache(later, tmp_path).rows(TEXTS)
    assert not later.texts


def test_a_damaged_shard_is_encoded_again_with_other_texts(tmp_path: Path) -> None:
    VectorCache(Letters(), tmp_path).rows(TEXTS)
    (rows,) = tmp_path.glob("*.npy")
    rows.write_bytes(rows.read_bytes()[:-1] + b"x")
    VectorCache(Letters(), tmp_path).rows(["bed", "cab"])
    encoder = Letters()
    texts = ["bed", *TEXTS]
    np.testing.assert_array_equal(
        VectorCache(encoder, tmp_path).rows(texts), Letters().encode(texts)
    )
    assert sorted(encoder.texts) == ["", "a bad cab", "face"]


@pytest.mark.parametrize("flaw", ["few", "flat", "double"])
def test_an_encoder_that_gives_no_row_per_text_is_refused(flaw: str, tmp_path: Path) -> None:
    class Flawed(Letters):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            rows = super().encode(texts)
            flawed: dict[str, Any] = {
                "few": rows[1:],
                "flat": rows[:, 0],
                "double": rows.astype(np.float64),
            }
            vectors: NDArray[np.float32] = flawed[flaw]
            return vectors

    with pytest.raises(UserError, match="gave no vector of 32-bit numbers for each of 4 texts"):
        VectorCache(Flawed(), tmp_path).rows(TEXTS)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="Could not write vectors to"):
        VectorCache(Letters(), tmp_path / "file").rows(TEXTS)


class Slow(Letters):
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(0.05)
        return super().encode(texts)


def encode_slowly(folder: Path) -> None:
    VectorCache.shard = 4
    VectorCache(Slow(), folder).rows([f"cab {i}" for i in range(400)])


@pytest.mark.seconds
def test_a_killed_process_loses_one_shard_at_most(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=encode_slowly, args=(tmp_path,))
    process.start()
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("*.keys"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.join()
    shards = len(list(tmp_path.glob("*.keys")))
    assert 3 <= shards < 100
    encoder = Letters()
    rows = VectorCache(encoder, tmp_path).rows([f"cab {i}" for i in range(400)])
    assert len(encoder.texts) == 400 - 4 * shards
    np.testing.assert_array_equal(rows, Letters().encode([f"cab {i}" for i in range(400)]))
