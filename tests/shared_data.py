"""Published data that tests read but the repository does not hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.needs import absent

# the event of which `--light` hears (tests/light.py)
PUBLISHED_DATA = "seesay.tests.published_data"


def shared(path: str) -> Path:
    """A published file under `$SEESAY_SHARED` (or `../shared/data`); the test is skipped where the
    file is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    file = Path(os.environ.get("SEESAY_SHARED") or default) / path
    if not file.exists():
        absent(f"published data {path} not found at {file}")
    sys.audit(PUBLISHED_DATA, path)
    return file
