"""Vectors encoded once and kept on disk, text by text, so that a probe trains in seconds and a killed run goes on.

One folder an encoder (its fingerprint is in the name). Texts that are new are encoded in shards; a shard counts once
the file of its keys is there, which is written after the file of its rows.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.folders import cache_folder
from seesay.models.base import Model
from seesay.models.hf.batching import chunks

SHARD = 2048  # texts: at a few hundred a second, what a kill can lose is seconds
KEY = 16  # bytes of a text's digest

Rows = NDArray[np.float32]
Progress = Callable[[int, int], None]


class Features:
    """An encoder's vectors, from the disk where they are there, else encoded and put there."""

    def __init__(self, encoder: Model, folder: Path | None = None) -> None:
        digest = hashlib.blake2b(encoder.fingerprint.encode(), digest_size=12).hexdigest()
        self.encoder = encoder
        self._folder = folder or cache_folder() / "features" / digest
        self._places: dict[bytes, tuple[Rows, int]] = {}
        for path in sorted(self._folder.glob("*.keys")):
            self._open(path)

    def rows(self, texts: Sequence[str], progress: Progress | None = None) -> Rows:
        """One row a text, in order. Texts are encoded by the alphabet, because neighbours share their beginnings."""
        unique = sorted(set(texts))
        new = [text for text in unique if key_of(text) not in self._places]
        if progress and len(new) < len(unique):
            progress(len(unique) - len(new), len(unique))
        for shard in chunks(new, SHARD):
            self._keep(shard, self.encoder.encode(shard))
            if progress:
                progress(len(shard), len(unique))
        places = [self._places[key_of(text)] for text in texts]
        return np.stack([rows[at] for rows, at in places]) if places else np.zeros((0, 0), np.float32)

    def _keep(self, texts: Sequence[str], rows: Rows) -> None:
        """Write a shard: rows, then keys, each under its name only when it is whole."""
        keys = b"".join(map(key_of, texts))
        path = self._folder / f"{hashlib.blake2b(keys, digest_size=12).hexdigest()}.keys"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            whole(path.with_suffix(".npy"), lambda to: _save(to, rows))
            whole(path, lambda to: to.write_bytes(keys))
        except OSError as error:
            raise UserError(f"Could not keep features in {self._folder} ({error.strerror}).") from error
        if not self._open(path):
            raise UserError(f"Features in {self._folder} cannot be read back: delete that folder and try again.")

    def _open(self, path: Path) -> bool:
        """Note where a shard's rows are; one that cannot be read is passed over, and so encoded again."""
        try:
            keys = path.read_bytes()
            rows: Rows = np.load(path.with_suffix(".npy"), mmap_mode="r")
        except (OSError, ValueError, EOFError):
            return False
        if rows.ndim != 2 or rows.dtype != np.float32 or len(keys) != KEY * len(rows):
            return False
        for at in range(len(rows)):
            self._places[keys[KEY * at : KEY * (at + 1)]] = (rows, at)
        return True


def key_of(text: str) -> bytes:
    """A digest that stands for the text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY).digest()


def whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place and move it there, so that a kill leaves the old one or none."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _save(path: Path, rows: Rows) -> None:
    with path.open("wb") as file:
        np.save(file, rows)
