"""Packages whose names are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__` that takes each name from its home, a module below the package.

    A package's declaration (`plugin.py`) is read at every start: importing it must not import the
    whole package.
    """
    modules = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(modules[name]), name)

    return get
