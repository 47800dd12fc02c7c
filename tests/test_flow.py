"""Data flows one way through the package: the contract in pyproject.toml holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_no_module_imports_what_is_downstream_of_it() -> None:
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
