"""Fast PNG files: run-length matching of differences between rows.

Objects make long runs of one index, so nothing stronger is needed.

Pillow is not used because it would take longer. Writing 2,000 scenes of 1478 x 1478 pixels takes
4.8 s of a processor, with Pillow 9.4 s (run-length matching, level 1, 4 bits per pixel); of 224 x
224 pixels 2.4 s and 3.3 s (2026-11-17). The pixels are the same. Scenes are also made without the
extra that has Pillow.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# the row filter "up": every byte is the difference from the one above it
_UP = 2
_RGB = 2
_PALETTE = 3


def encode_indices(picture: Bytes, colors: Bytes) -> bytes:
    """Return a palette picture with 8 bits per pixel."""
    return _png(picture.shape[1], 8, _PALETTE, _changes(picture), colors)


def encode_halves(lines: Bytes, colors: Bytes, *, crowded: bool = False) -> bytes:
    """Return a palette picture with 4 bits per pixel from the changes between its rows.

    The first column of `lines` is left free, for the number of the row filter.
    """
    width = 2 * (lines.shape[1] - 1)
    # Where changes are few, less of the packer's memory, which it clears each time, gives the same
    # bytes.
    memory = 9 if crowded else 8
    return _png(width, 4, _PALETTE, lines, colors, memory)


def encode_rgb(picture: Bytes) -> bytes:
    """Return a picture of (rows, columns, 3)."""
    height, width, _ = picture.shape
    lines = _changes(picture.reshape(height, width * 3))
    return _png(width, 8, _RGB, lines, None)


@lru_cache(maxsize=4)
def workspace(height: int, width: int) -> Bytes:
    """Return memory that every picture reuses: allocating it costs more than filling it."""
    return np.empty((height, width), dtype=np.uint8)


def _changes(rows: Bytes) -> Bytes:
    """Return the changes between rows, after a free first column."""
    lines = workspace(len(rows), rows.shape[1] + 1)
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    return lines


def _png(
    width: int,
    depth: int,
    kind: int,
    lines: Bytes,
    colors: Bytes | None,
    memory: int = 9,
) -> bytes:
    """Return the file of a picture: its rows as changes, `depth` bits per sample."""
    lines[:, 0] = _UP
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, memory, zlib.Z_RLE)
    body = packer.compress(lines.data) + packer.flush()
    header = struct.pack(">IIBBBBB", width, len(lines), depth, kind, 0, 0, 0)
    chunks = [_SIGNATURE, _chunk(b"IHDR", header)]
    if colors is not None:
        chunks.append(_chunk(b"PLTE", colors.tobytes()))
    chunks += [_chunk(b"IDAT", body), _chunk(b"IEND", b"")]
    return b"".join(chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    """Return a chunk of the format: length, name, body, and a checksum of the last two."""
    length = struct.pack(">I", len(body))
    checksum = struct.pack(">I", zlib.crc32(name + body))
    return length + name + body + checksum
