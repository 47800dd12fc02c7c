"""Which program wrote a log: known by what the file holds, not by its name."""

from __future__ import annotations

from pathlib import Path

from seesay.data.rows import Row, read_rows
from seesay.errors import UserError
from seesay.runs.logs import every_eval_ever, inspect, lm_eval, openai_evals, plain
from seesay.runs.logs.items import Log, LogKeys


def read_log(path: Path, keys: LogKeys) -> Log:
    """Read a log of any known format."""
    if not path.is_file():
        raise UserError(f"There is no file or folder '{path}'.")
    # a zip file as well
    if path.suffix == ".xlsx":
        raise UserError(f"{path} is a spreadsheet: save it as CSV.")
    if inspect.is_zip(path) or path.suffix in (".eval", ".json"):
        return inspect.read(path, keys)
    first = next((row.cells for row in read_rows(path) if isinstance(row, Row)), None)
    if first is None:
        raise UserError(f"{path} holds no row that can be read. Is it the right file?")
    # no other program writes these keys
    if "filtered_resps" in first:
        return lm_eval.read(path, first, keys)
    if "schema_version" in first and "evaluation_id" in first:
        return every_eval_ever.read(path, first, keys)
    if "spec" in first or ("run_id" in first and "event_id" in first):
        return openai_evals.read(path, keys)
    return plain.read(path, first, keys)
