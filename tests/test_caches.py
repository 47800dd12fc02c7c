"""The caches: one folder each, shown and cleared by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import seesay
from seesay import caches
from seesay.errors import UserError


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_every_cache_has_a_folder_of_its_own(root: Path) -> None:
    folders = {cache.folder for cache in caches.all_caches().values()}
    assert len(folders) == len(caches.all_caches()) == 14
    assert {cache.root.parent for cache in caches.all_caches().values()} == {root}


def test_what_seesay_writes_itself_lies_below_the_number_of_its_format(root: Path) -> None:
    assert root / "vectors" / "2" == caches.VECTORS.folder
    assert root / "wheels" == caches.WHEELS.folder


def test_a_cache_that_does_not_exist_is_empty() -> None:
    assert caches.VECTORS.size() == 0
    assert caches.VECTORS.clear() == 0


def test_clearing_one_cache_leaves_the_others() -> None:
    for cache in (caches.VECTORS, caches.TREES):
        cache.folder.mkdir(parents=True)
        (cache.folder / "entry").write_bytes(b"12345")
    newer = caches.VECTORS.root / "3"
    newer.mkdir()
    (newer / "entry").write_bytes(b"123")
    assert caches.VECTORS.size() == 8
    assert caches.VECTORS.clear() == 8
    assert not caches.VECTORS.root.exists()
    assert caches.TREES.size() == 5


def test_a_link_is_deleted_and_what_it_points_to_is_not(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"1" * 100)
    caches.WHEELS.folder.mkdir(parents=True)
    (caches.WHEELS.folder / "link").symlink_to(tmp_path / "precious")
    assert caches.WHEELS.clear() == 0
    assert (tmp_path / "precious").exists()


def test_caches_are_found_by_name() -> None:
    assert caches.find_caches() == list(caches.all_caches().values())
    assert caches.find_caches(["trees", "npm"]) == [caches.TREES, caches.NPM]
    with pytest.raises(UserError, match=r"Unknown cache 'vector'\. Did you mean 'vectors'"):
        caches.find_caches(["trees", "vector"])


def test_no_other_module_knows_where_caches_are() -> None:
    source = Path(seesay.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(
            r"\bcache_folder\b|SEESAY_CACHE|user_cache_dir", path.read_text(encoding="utf-8")
        )
    }
    assert users == {"folders.py", "caches.py", "cli/cache.py"}
