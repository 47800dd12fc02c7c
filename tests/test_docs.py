"""Python in the documentation names what is there."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMPORT = re.compile(r"^\s*(?:>>> )?(from seesay[\w.]* import (?:\([^)]*\)|.+)|import seesay[\w.]*.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_imports_in_documentation_work(page: Path) -> None:
    for line in IMPORT.findall(page.read_text(encoding="utf-8")):
        (statement,) = ast.parse(line).body[:1]
        if isinstance(statement, ast.ImportFrom):
            module = import_module(statement.module or "")
            for alias in statement.names:
                there = hasattr(module, alias.name) or find_spec(f"{module.__name__}.{alias.name}")
                assert there, f"{page.name}: {module.__name__} has no {alias.name}"
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                import_module(alias.name)
