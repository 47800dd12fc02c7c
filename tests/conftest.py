"""Fixtures that several folders of tests share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("seesay", deadline=None)  # a busy machine is no failure
settings.load_profile("seesay")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of the kind asked for (see `tests/tiny.py`), made once."""
    import torch
    from tests.tiny import save_tiny

    torch.set_num_threads(1)

    @cache
    def folder(kind: str) -> Path:
        return save_tiny(kind, tmp_path_factory.mktemp(kind))

    return folder
