"""Python names in the documentation exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMPORT = re.compile(r"^\s*(?:>>> )?(from seesay[\w.]* import (?:\([^)]*\)|.+))$", re.MULTILINE)
DOTTED = re.compile(r"\bseesay(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?")
FILES = (".yml", ".toml", ".tsv", ".json", ".py", ".svg", ".html")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_the_documentation_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = {name for name in DOTTED.findall(text) if not name.endswith(FILES)}
    for line in IMPORT.findall(text):
        for statement in ast.parse(line).body:
            if isinstance(statement, ast.ImportFrom):
                names |= {f"{statement.module}.{alias.name}" for alias in statement.names}
    for name in sorted(names):
        resolve_name(name)
