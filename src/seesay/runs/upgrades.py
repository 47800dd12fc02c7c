"""Run folders of older versions, mapped to today's fields: the only place that knows how they used to look.

Format 1 kept data files, bad rows and the seed of a probe as sentences for people; format 2 has a field for each.
Format 3 holds what many rows share once: lists of options, and the scores of prompts that were asked once.
Format 4 has prompt, gold answers, chosen answer and whether it is right beside them; nothing reads these back.
"""

from __future__ import annotations

import re
from typing import Any

from seesay.questions import BadRow

FORMAT = 4

_SOURCE = re.compile(r"(?P<name>.+) sha256:(?P<sha256>[0-9a-f]+) \((?P<state>as published|not verified)\)")
_BAD_ROW = re.compile(r"row (?P<row>\d+): (?P<reason>.*)", re.DOTALL)
_SEEDED = re.compile(r"(?P<probe>.+) · seed (?P<seed>\d+)")


def upgrade_manifest(document: Any) -> Any:
    """A manifest of any format in today's fields."""
    if not isinstance(document, dict) or "format" in document:
        return document
    seeded = _SEEDED.fullmatch(str(document.get("model", ""))) if document.get("family") == "linear" else None
    return {
        **upgrade_task(document),
        "format": 1,
        "bad_rows": upgrade_bad_rows(document.get("bad_rows", ())),
        "probe": seeded["probe"] if seeded else None,
        "probe_seed": int(seeded["seed"]) if seeded else None,
    }


def upgrade_bad_rows(rows: Any) -> Any:
    """Bad rows, of which format 1 kept the sentences that described them."""
    return [_bad_row(row) if isinstance(row, str) else row for row in rows]


def _bad_row(text: str) -> BadRow:
    match = _BAD_ROW.fullmatch(text)
    return BadRow(int(match["row"]), match["reason"]) if match else BadRow(0, text)


def upgrade_task(document: Any) -> Any:
    """A stored task, or whatever else lists its data files, in today's fields."""
    if isinstance(document, dict) and "option_lists" in document:
        lists = document.pop("option_lists")
        for question in document["questions"]:
            question["options"] = lists[question["options"]]
    if not isinstance(document, dict) or not any(isinstance(entry, str) for entry in document.get("data", ())):
        return document
    sources = [(entry, _SOURCE.fullmatch(entry)) for entry in document["data"]]
    return {
        **document,
        "data": [
            {"name": match["name"], "sha256": match["sha256"], "as_published": match["state"] == "as published"}
            for _, match in sources
            if match
        ],
        "data_notes": [entry for entry, match in sources if not match],
    }
