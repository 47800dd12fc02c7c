"""Modules of the extra that a test needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tests.needs import absent


def needed(module: str) -> Any:
    """The module; without it the test is skipped, or fails where everything is required."""
    try:
        return import_module(module)
    except ImportError:
        absent(f"{module} is not installed: pip install -e '.[scenes]'")
