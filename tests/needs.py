"""What a test needs and this machine may lack."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(what: str) -> NoReturn:
    """Skip with a plain reason; where everything is required (`SEESAY_REQUIRE_ALL=1`), fail instead."""
    if os.environ.get("SEESAY_REQUIRE_ALL") == "1":
        pytest.fail(what)
    pytest.skip(what)
