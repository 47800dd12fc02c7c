"""Published data that tests read but the repository does not hold."""

from __future__ import annotations

import os
from pathlib import Path

from tests.needs import absent


def shared(path: str) -> Path:
    """A published file under `$SEESAY_SHARED` (else `../shared/data`); skips where absent, unless all are required."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    found = Path(os.environ.get("SEESAY_SHARED") or default) / path
    if not found.exists():
        absent(f"published data {path} not found at {found}")
    return found
