"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import seesay.metrics

MODULES = [
    "seesay.metrics",
    *(f"seesay.metrics.{module.name}" for module in pkgutil.iter_modules(seesay.metrics.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
