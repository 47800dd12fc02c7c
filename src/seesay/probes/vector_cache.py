"""Vectors encoded once and kept on disk, text by text, so that a probe trains in seconds and a
killed run resumes.

One folder per encoder and beginning of texts (named after both). New texts are encoded in shards; a
shard counts once the file of its keys exists, which is written after the file of its vectors and
begins with their checksum. A damaged shard is deleted, and its texts are encoded again.
"""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay import caches
from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.grouping import chunks
from seesay.models.base import Model
from seesay.progress import Kept, ProgressCallback

# texts that are encoded and written together: at a few hundred a second, what a kill can lose is
# seconds
SHARD = 2048
KEY = 16  # bytes of a text's digest, and of a shard's checksum

Rows = NDArray[np.float32]

log = logging.getLogger(__name__)


class DamagedShardError(Exception):
    """A shard's files are not what was written."""


class VectorFile:
    """A file of vectors and the file of the texts' digests beside it. The vectors are verified and
    opened when they are first needed: an encoder may have gigabytes of other texts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DamagedShardError from error
        self._checksum = content[:KEY]
        self.keys = [content[i : i + KEY] for i in range(KEY, len(content), KEY)]
        if path.stem != _shard_name(self.keys):
            raise DamagedShardError

    @cached_property
    def rows(self) -> Rows:
        """A row per key, read from the disk as it is used."""
        vectors = self.path.with_suffix(".npy")
        try:
            with vectors.open("rb") as file:
                checksum = hashlib.file_digest(file, _digest).digest()
        except OSError as error:
            raise DamagedShardError from error
        if checksum != self._checksum:
            raise DamagedShardError
        rows: Rows = np.load(vectors, mmap_mode="r")
        return rows

    def delete(self) -> None:
        """Delete the files, the one that makes the shard count first."""
        with suppress(OSError):
            self.path.unlink()
            self.path.with_suffix(".npy").unlink()


class VectorCache:
    """An encoder's vectors: read from disk where they exist, else encoded and kept there."""

    # a row per text, and in a name of its own for other kinds of vectors
    dimensions = 2
    kind = ""
    shard = SHARD

    def __init__(
        self,
        encoder: Model,
        folder: Path | None = None,
    ) -> None:
        # the same weights give other vectors where texts begin with another token
        description = encoder.fingerprint + encoder.describe_encoding() + self.kind
        digest = text_digest(description, 12)
        self.encoder = encoder
        self._folder = folder or caches.VECTORS.folder / digest
        self._places: dict[bytes, tuple[VectorFile, int]] = {}
        for path in sorted(self._folder.glob("*.keys")):
            # a file that is no shard counts as none
            with suppress(DamagedShardError):
                self._register(VectorFile(path))

    def rows(
        self,
        texts: Sequence[str],
        progress: ProgressCallback | None = None,
    ) -> Rows:
        """Return one row per text, in order."""
        self.fill(texts, progress)
        if not texts:
            return np.zeros((0, 0), np.float32)
        places = [self._places[key_of(text)] for text in texts]
        return np.stack([shard.rows[i] for shard, i in places])

    def fill(
        self,
        texts: Sequence[str],
        progress: ProgressCallback | None = None,
    ) -> None:
        """Encode what is not kept yet, alphabetically, because neighbours share their
        beginnings."""
        unique_texts = sorted(set(texts))
        total = len(unique_texts)
        self._drop_damaged(unique_texts)
        new_texts = [text for text in unique_texts if key_of(text) not in self._places]
        if progress and len(new_texts) < total:
            progress(Kept(total - len(new_texts)), total)
        for shard in chunks(new_texts, self.shard):
            self._save(shard, self._encode(shard))
            if progress:
                progress(len(shard), total)

    def _encode(self, texts: Sequence[str]) -> Rows:
        return self.encoder.encode(texts)

    def _drop_damaged(self, texts: Sequence[str]) -> None:
        """Delete the shards of these texts whose vectors are not what was written."""
        places = [self._places.get(key_of(text)) for text in texts]
        shards = {place[0] for place in places if place is not None}
        for shard in sorted(shards, key=lambda shard: shard.path):
            try:
                shard.rows  # noqa: B018 (verifies them)
            except DamagedShardError:
                log.warning("%s is damaged: its texts are encoded again.", shard.path)
                shard.delete()
                for key in shard.keys:
                    if self._places[key][0] is shard:
                        del self._places[key]

    def _save(
        self,
        texts: Sequence[str],
        rows: Rows,
    ) -> None:
        """Write a shard: rows first, then their checksum and keys."""
        is_usable = len(rows) == len(texts) and rows.ndim == self.dimensions
        if not is_usable or rows.dtype != np.float32:
            raise UserError(
                f"'{self.encoder.name}' gave no vector of 32-bit numbers for each of "
                f"{len(texts):,} texts: it cannot be probed."
            )
        keys = [key_of(text) for text in texts]
        path = self._folder / f"{_shard_name(keys)}.keys"
        content = io.BytesIO()
        np.save(content, rows)
        checksum = _digest(content.getvalue()).digest()
        try:
            with atomic_write(path.with_suffix(".npy")) as unfinished:
                unfinished.write_bytes(content.getvalue())
            with atomic_write(path) as unfinished:
                unfinished.write_bytes(b"".join([checksum, *keys]))
        except OSError as error:
            raise UserError(
                f"Could not write vectors to {self._folder} ({error.strerror})."
            ) from error
        # read back at once: a disk that lies is found now, and not when a probe is trained
        try:
            shard = VectorFile(path)
            shard.rows  # noqa: B018 (verifies them)
        except DamagedShardError:
            raise UserError(
                f"Vectors in {self._folder} cannot be read back: delete that folder and try again."
            ) from None
        self._register(shard)

    def _register(self, shard: VectorFile) -> None:
        for i, key in enumerate(shard.keys):
            self._places[key] = (shard, i)


class LayerCache(VectorCache):
    """An encoder's vectors at every layer; a layer is read by itself, since all of them may not
    fit into memory."""

    dimensions = 3
    kind = "-layers"
    # a text has as many vectors as the encoder has layers
    shard = SHARD // 8

    def layers(self, texts: Sequence[str]) -> int:
        """Return how many layers the kept vectors of these texts have, the embedding included."""
        shard, _ = self._places[key_of(texts[0])]
        return int(shard.rows.shape[1])

    def layer_rows(
        self,
        texts: Sequence[str],
        layers: Sequence[int],
    ) -> Rows:
        """Return some layers of texts that are kept, layers × texts × width."""
        places = [self._places[key_of(text)] for text in texts]
        return np.stack([shard.rows[i, list(layers)] for shard, i in places], axis=1)

    def size(self, texts: Sequence[str]) -> int:
        """Return the bytes that the vectors of these texts take."""
        places = [self._places[key] for key in set(map(key_of, texts))]
        return sum(shard.rows[i].nbytes for shard, i in places)

    def _encode(self, texts: Sequence[str]) -> Rows:
        return self.encoder.encode_layers(texts)


def key_of(text: str) -> bytes:
    """Return the digest by which a text is found."""
    content = text.encode("utf-8", "surrogatepass")
    return _digest(content).digest()


def _digest(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=KEY)


def _shard_name(keys: Sequence[bytes]) -> str:
    return text_digest(b"".join(keys), 12)
