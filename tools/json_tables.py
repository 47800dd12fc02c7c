"""Fill the tables of docs/json.md (`make index`) from the Pydantic models that the documents are.

A table stands between `<!-- fields: seesay.module.Class -->` and `<!-- end -->`. What it says of a
field is the sentence under that field in the source, so that page and program cannot drift apart.
"""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from seesay.questions import Slice

PAGE = Path(__file__).resolve().parents[1] / "docs" / "json.md"
TABLE = re.compile(r"(<!-- fields: ([\w.]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)
WORDS = {
    str: "string",
    Slice: "string",  # as commands print it; files hold its tags and values as an object
    float: "number",
    int: "integer",
    bool: "boolean",
    NoneType: "null",
}


def fill_tables(page: str) -> str:
    """Return the page with every marked table made anew."""
    return TABLE.sub(lambda match: match[1] + table(resolve_name(match[2])), page)


def table(model: type[BaseModel]) -> str:
    """Return the fields of a model as a Markdown table."""
    rows = ["| field | type | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        meaning = " ".join((field.description or "").split()).replace("|", "\\|")
        rows.append(f"| `{name}` | {type_name(field.annotation)} | {meaning} |")
    return "\n".join(rows) + "\n"


def type_name(annotation: Any) -> str:
    """Return what a type is in JSON, such as "string or null"."""
    origin = get_origin(annotation)
    if origin is list or origin is tuple:
        return f"list of {type_name(get_args(annotation)[0])}s"
    if origin is not None and origin is not dict:  # a union
        return " or ".join(dict.fromkeys(map(type_name, get_args(annotation))))
    if isinstance(annotation, type) and issubclass(annotation, str):  # a choice of words
        return "string"
    return WORDS.get(annotation, "object")


def main() -> None:
    """Write the page."""
    PAGE.write_text(fill_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
