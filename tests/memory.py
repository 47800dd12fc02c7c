"""The largest memory of a process of its own: getrusage would count that of the tests, which
started it."""

from __future__ import annotations

import re
import subprocess
import sys

PRINT_PEAK = "\nfrom pathlib import Path\nprint(Path('/proc/self/status').read_text())"


def run_and_measure(code: str, *arguments: str) -> tuple[str, int]:
    """Run Python code; returns the first line that it prints, and its largest memory in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", code + PRINT_PEAK, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first_line, _, status = done.stdout.partition("\n")
    (kilobytes,) = re.findall(r"VmHWM:\s*(\d+) kB", status)
    return first_line, 1024 * int(kilobytes)
