"""`pip install` with a line per stage: silent it looks as if it hung, and in full it is hundreds of
lines.

    python tools/install.py ARGUMENTS   as of `pip install`
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from time import monotonic

STEP = 20  # packages looked up between two lines
LARGE = re.compile(r"\s*(?:Downloading|Using cached) (\S+?)-\d\S* \((\d{2,}[\d.]* [MG]B)\)")
LOOKED_UP = re.compile(r"Collecting \S")
UNPACKED = re.compile(r"Installing collected packages: (.+)")


def stages(lines: Iterable[str]) -> Iterator[str]:
    """Return what pip is at, out of what it prints: packages that it looks up, files of 10 MB and
    more that it fetches, and the unpacking at the end.

    >>> list(stages(["  Downloading torch-2.13.0-cp311.whl (190.6 MB)", "Collecting rich<16"]))
    ['fetching torch (190.6 MB)']
    >>> list(stages(["Installing collected packages: rich, torch"]))
    ['unpacking 2 packages']
    """
    looked_up = 0
    for line in lines:
        if LOOKED_UP.match(line):
            looked_up += 1
            if looked_up % STEP == 0:
                yield f"looked up {looked_up} packages"
        elif file := LARGE.match(line):
            yield f"fetching {file[1]} ({file[2]})"
        elif packages := UNPACKED.match(line):
            yield f"unpacking {len(packages[1].split(', '))} packages"


def main(arguments: list[str]) -> int:
    """Install, and return pip's exit code; its warnings and errors are printed as they come."""
    start = monotonic()
    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:
        for stage in stages(pip.stdout or ()):
            print(f"  {monotonic() - start:4.0f} s: {stage} …", flush=True)
    print(
        f"  {monotonic() - start:4.0f} s: done" if pip.returncode == 0 else "  failed", flush=True
    )
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
