"""Python's search for garbage, put off while many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Many new objects, none of them garbage, as of imports or rows: searches among them take a sixth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # with the next line: all of them are old now, without a search
                gc.unfreeze()
            gc.enable()
