"""What seesay keeps between runs because making it again takes time: one folder for each kind, in
the cache folder.

Everything in a cache can be deleted at any time. What seesay writes in a form of its own lies below
the number of the form: a version with another form never meets the files of this one.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.folders import cache_folder
from seesay.plugins import collect
from seesay.registry import unknown


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache: its name, which is also that of its folder, and what it holds; `format` is None for
    others' formats."""

    name: str
    content: str
    format: int | None = 1

    @property
    def root(self) -> Path:
        """Where the cache is, with what other versions wrote."""
        return cache_folder() / self.name

    @property
    def folder(self) -> Path:
        """Where to read and write entries; it may not exist yet."""
        if self.format is None:
            return self.root
        return self.root / str(self.format)

    def size(self) -> int:
        """The bytes of all its files."""
        return sum(
            path.stat().st_size
            for path in self.root.rglob("*")
            if path.is_file() and not path.is_symlink()
        )

    def clear(self) -> int:
        """Delete everything in it, and return how many bytes that were."""
        size = self.size()
        if self.root.exists():
            shutil.rmtree(self.root)
        return size


WHEELS = Cache("wheels", "files out of packages from PyPI", format=None)
NPM = Cache("npm", "files out of packages from npm", format=None)
CONVERTED_MODELS = Cache("converted-models", "weights of GGUF files as safetensors", format=None)
FILE_DIGESTS = Cache("file-digests", "digests of large files of weights")
IDENTITIES = Cache(
    "identities", "what models state about themselves, so that a finished run needs no weights"
)
TREES = Cache("trees", "whether a network scores sentences with a common beginning at once")
SERVER_ANSWERS = Cache("server-answers", "answers of servers, for --reuse")
VECTORS = Cache("vectors", "vectors of texts, for linear probes", format=2)
TASK_PICTURES = Cache(
    "task-pictures", "pictures that rows of task files hold themselves", format=None
)
STORED_FILES = Cache("stored-files", "copies of files in object stores")

CORE_CACHES = (
    WHEELS,
    NPM,
    CONVERTED_MODELS,
    FILE_DIGESTS,
    IDENTITIES,
    TREES,
    SERVER_ANSWERS,
    VECTORS,
    TASK_PICTURES,
    STORED_FILES,
)


def all_caches() -> dict[str, Cache]:
    """Every cache by its name: the core's, then those of plug-ins."""
    core = {cache.name: cache for cache in CORE_CACHES}
    return collect(lambda plugin: {cache.name: cache for cache in plugin.caches}, core=core)


def find_caches(names: Sequence[str] = ()) -> list[Cache]:
    """The caches of these names, or all of them."""
    caches = all_caches()
    for name in names:
        if name not in caches:
            raise unknown("cache", name, caches, "seesay cache")
    return [caches[name] for name in names or caches]
