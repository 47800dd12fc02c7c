"""`seesay score --help` waits for nothing heavy."""

from __future__ import annotations

import subprocess
import sys


def test_help_waits_for_nothing_heavy() -> None:
    heavy = "'numpy', 'rich.table', 'seesay.metrics'"
    code = f"import sys, seesay.captions.commands; print([name for name in ({heavy}) if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
