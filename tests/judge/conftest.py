"""Both databases, for the tests that must hold on either."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.judge.postgres import cluster
from tests.judge.studies import ServedStudy, serve_in_test

from seesay.judge.study import Study

Opener = Callable[[Study], ServedStudy]
_NUMBER = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with cluster() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def serve(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens studies, each in a database of its own."""
    opened: list[ServedStudy] = []

    def opener(study: Study) -> ServedStudy:
        file = str(tmp_path / f"{next(_NUMBER)}.sqlite")
        where = file if request.param == "sqlite" else request.getfixturevalue("postgres")
        opened.append(serve_in_test(study, where, f"study {next(_NUMBER)}"))
        return opened[-1]

    yield opener
    for served in opened:
        served.database.close()


@pytest.fixture
def fresh_postgres() -> Iterator[str]:
    """A server that holds nothing yet."""
    with cluster() as address:
        yield address
