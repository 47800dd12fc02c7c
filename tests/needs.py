"""Programs, packages and data that a test needs and this machine may lack."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(what: str) -> NoReturn:
    """Skip the test with a reason; fail it where everything is required
    (`SEESAY_REQUIRE_ALL=1`)."""
    if os.environ.get("SEESAY_REQUIRE_ALL") == "1":
        pytest.fail(what)
    pytest.skip(what)
