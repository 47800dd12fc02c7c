"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

from seesay.metrics import captions, parses

MODULES = [
    module.name
    for package in (captions, parses)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", [captions.__name__, parses.__name__, *MODULES])
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_help_waits_for_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = "'numpy', 'rich.table', 'seesay.metrics'"
    code = f"import sys, seesay.cli.score; print([name for name in ({heavy}) if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
