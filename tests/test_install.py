"""tools/install.py: a line per stage of what pip prints, and pip's own exit code."""

from __future__ import annotations

from tools.install import main, stages

PRINTED = """\
Obtaining file:///seesay
  Preparing editable metadata (pyproject.toml): finished with status 'done'
Collecting numpy<3,>=1.26 (from seesay==0.1.0)
  Using cached numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl.metadata (6.6 kB)
Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (16.7 MB)
Using cached torch-2.13.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl (190.6 MB)
Downloading rich-15.0.0-py3-none-any.whl (242 kB)
Downloading idna-3.15-py3-none-any.whl (7.1 MB)
Installing collected packages: mpmath, torch, seesay
Successfully installed mpmath-1.3.0 seesay-0.1.0 torch-2.13.0
"""


def test_a_line_per_stage() -> None:
    assert list(stages(PRINTED.splitlines())) == [
        "fetching numpy (16.7 MB)",
        "fetching torch (190.6 MB)",
        "unpacking 3 packages",
    ]


def test_the_number_of_packages_is_told_now_and_then() -> None:
    lines = [f"Collecting package-{number}" for number in range(45)]
    assert list(stages(lines)) == ["looked up 20 packages", "looked up 40 packages"]


def test_pips_exit_code_is_returned() -> None:
    assert main(["--no-such-option"]) == 2
    assert main(["--help"]) == 0
