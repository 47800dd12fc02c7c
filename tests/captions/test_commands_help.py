"""`seesay score --help` imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys


def test_help_imports_nothing_heavy() -> None:
    heavy = "'numpy', 'rich.table', 'seesay.metrics'"
    code = (
        "import sys, seesay.captions.commands; "
        f"print([name for name in ({heavy}) if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
