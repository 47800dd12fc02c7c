"""DuckDB for the tables of a mining, in bounded memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "160MB"
"""What DuckDB may hold in memory; the rest is on disk."""


@contextmanager
def open_database(folder: Path, workers: int = 1) -> Iterator[DuckDBPyConnection]:
    """Open a database of so many threads, which keeps in a folder what exceeds its memory."""
    import duckdb

    temporary = folder / "temporary"
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": workers,
        "temp_directory": str(temporary),
        "preserve_insertion_order": False,
    }
    try:
        with duckdb.connect(config=settings) as connection:
            yield connection
    except duckdb.Error as error:
        # The tables are whole where there is no room to query them: not to be mistaken for damage.
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(temporary)) from error
        if isinstance(error, duckdb.OutOfMemoryException):
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), str(temporary)) from error
        raise
