"""Vectors encoded once and kept on disk, text by text, so that a probe trains in seconds and a
killed run resumes.

One folder per encoder (named after its fingerprint). New texts are encoded in shards; a shard
counts once the file of its keys exists, which is written after the file of its vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay import caches
from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.models.base import Model
from seesay.models.batches import chunks
from seesay.progress import ProgressCallback

# texts that are encoded and written together: at a few hundred a second, what a kill can lose is
# seconds
SHARD = 2048
KEY = 16  # bytes of a text's digest

Rows = NDArray[np.float32]


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
        digest = text_digest(encoder.fingerprint + self.kind, 12)
        self.encoder = encoder
        self._folder = folder or caches.VECTORS.folder / digest
        self._rows: dict[bytes, tuple[Rows, int]] = {}
        for path in sorted(self._folder.glob("*.keys")):
            self._open(path)

    def rows(
        self,
        texts: Sequence[str],
        progress: ProgressCallback | None = None,
    ) -> Rows:
        """Return one row per text, in order."""
        self.fill(texts, progress)
        if not texts:
            return np.zeros((0, 0), np.float32)
        places = [self._rows[key_of(text)] for text in texts]
        return np.stack([rows[i] for rows, i in places])

    def fill(
        self,
        texts: Sequence[str],
        progress: ProgressCallback | None = None,
    ) -> None:
        """Encode what is not kept yet, alphabetically, because neighbours share their
        beginnings."""
        unique_texts = sorted(set(texts))
        total = len(unique_texts)
        new_texts = [text for text in unique_texts if key_of(text) not in self._rows]
        if progress and len(new_texts) < total:
            progress(total - len(new_texts), total)
        for shard in chunks(new_texts, self.shard):
            self._save(shard, self._encode(shard))
            if progress:
                progress(len(shard), total)

    def _encode(self, texts: Sequence[str]) -> Rows:
        return self.encoder.encode(texts)

    def _save(
        self,
        texts: Sequence[str],
        rows: Rows,
    ) -> None:
        """Write a shard: rows first, then keys."""
        keys = b"".join(map(key_of, texts))
        path = self._folder / f"{text_digest(keys, 12)}.keys"
        try:
            with (
                atomic_write(path.with_suffix(".npy")) as unfinished,
                unfinished.open("wb") as file,
            ):
                np.save(file, rows)
            with atomic_write(path) as unfinished:
                unfinished.write_bytes(keys)
        except OSError as error:
            raise UserError(
                f"Could not write vectors to {self._folder} ({error.strerror})."
            ) from error
        # read back at once: a disk that lies is found now, and not when a probe is trained
        if not self._open(path):
            raise UserError(
                f"Vectors in {self._folder} cannot be read back: delete that folder and try again."
            )

    def _open(self, path: Path) -> bool:
        """Register a shard's rows; one that cannot be read is ignored, and so encoded again."""
        try:
            keys = path.read_bytes()
            rows: Rows = np.load(path.with_suffix(".npy"), mmap_mode="r")
        except (OSError, ValueError, EOFError):
            return False
        # a shard of another program, or one whose vectors were cut short, counts as none
        is_whole = len(keys) == KEY * len(rows)
        if rows.ndim != self.dimensions or rows.dtype != np.float32 or not is_whole:
            return False
        for i in range(len(rows)):
            key = keys[KEY * i : KEY * (i + 1)]
            self._rows[key] = (rows, i)
        return True


class LayerCache(VectorCache):
    """An encoder's vectors at every layer; a layer is read by itself, since all of them may not
    fit into memory."""

    dimensions = 3
    kind = "-layers"
    # a text has as many vectors as the encoder has layers
    shard = SHARD // 8

    def layers(self, texts: Sequence[str]) -> int:
        """Return how many layers the kept vectors of these texts have, the embedding included."""
        rows, _ = self._rows[key_of(texts[0])]
        return int(rows.shape[1])

    def layer_rows(
        self,
        texts: Sequence[str],
        layers: Sequence[int],
    ) -> Rows:
        """Return some layers of texts that are kept, layers × texts × width."""
        places = [self._rows[key_of(text)] for text in texts]
        return np.stack([rows[i, list(layers)] for rows, i in places], axis=1)

    def size(self, texts: Sequence[str]) -> int:
        """Return the bytes that the vectors of these texts take."""
        places = [self._rows[key] for key in set(map(key_of, texts))]
        return sum(rows[i].nbytes for rows, i in places)

    def _encode(self, texts: Sequence[str]) -> Rows:
        return self.encoder.encode_layers(texts)


def key_of(text: str) -> bytes:
    """Return the digest by which a text is found."""
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=KEY).digest()
