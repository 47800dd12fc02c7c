"""Rows of one item each: JSON lines of anyone's making, and VLMEvalKit's tables as CSV or TSV."""

from __future__ import annotations

from pathlib import Path

from seesay.data.cells import Cells
from seesay.data.rows import parse_rows, read_rows
from seesay.data.stored_answers import first_value
from seesay.errors import UserError
from seesay.runs.logs.items import (
    LETTERS,
    Log,
    LogItem,
    LogKeys,
    Source,
    chat_text,
    listed_choices,
    make_item,
    question_text,
)

IDS = ("id", "question_id", "custom_id", "sample_id", "item", "index")
SCORES = ("correct", "is_correct", "right", "hit", "score", "accuracy")
TARGETS = ("target", "answer", "gold", "ideal", "expected")


def read(path: Path, first: Cells, keys: LogKeys) -> Log:
    """Read rows; `first` is the first one."""
    score = keys.score or next((name for name in SCORES if name in first), None)
    if score is None:
        raise UserError(
            f"{path} is a log of no known kind, and its rows have no score: name it with --score, "
            f"or call it one of {', '.join(SCORES)}."
        )
    good, bad = parse_rows(path, read_rows(path), lambda cells: _item(cells, keys, score))
    program = "VLMEvalKit" if "hit" in first and "prediction" in first else "rows"
    model = first.get("model")
    return Log(
        path,
        program=program,
        model=model if isinstance(model, str) else path.stem,
        task=str(first.get("task") or path.stem),
        metric=score,
        items=list(good.values()),
        bad=bad,
    )


def _item(cells: Cells, keys: LogKeys, score: str) -> LogItem:
    source = Source((cells, cells.get("metadata")))
    choices = listed_choices(cells)
    # VLMEvalKit has a column per letter, empty where a question has fewer choices.
    if choices is None and "A" in cells:
        choices = [
            cells[letter] for letter in LETTERS if cells.get(letter) not in (None, "", "nan")
        ]
    return make_item(
        source,
        keys,
        id=first_value(cells, IDS),
        text=question_text(cells) or chat_text(cells.get("messages") or cells.get("prompt")),
        score=source.get(score),
        choices=choices,
        right=first_value(cells, TARGETS),
    )
