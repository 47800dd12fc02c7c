"""Records of OpenAI's evals: JSON lines of a spec, events of samples, and a final report.

An event of the type `match` says whether a sample is right; `metrics` and others may hold a score.
The prompt of a sample stands in its event of the type `sampling`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells
from seesay.data.rows import Row, Rows, parse_rows, read_json_lines
from seesay.runs.logs.items import Log, LogItem, LogKeys, Source, as_mean, chat_text, make_item

_SCORES = ("correct", "score", "accuracy")


def read(path: Path, keys: LogKeys) -> Log:
    """Read the records of one run."""
    about: dict[str, Any] = {}
    prompts: dict[str, str] = {}

    def parse(cells: Cells) -> LogItem:
        sample = cells.get("sample_id")
        if sample is None:
            raise BadValueError("no sample is named")
        return make_item(
            Source((cells.get("data"), cells)),
            keys,
            id=sample,
            text=prompts.pop(str(sample), None),
            score=_score(cells, keys),
        )

    good, bad = parse_rows(path, _scored(path, keys, about, prompts), parse)
    source = Source((about,))
    functions = source.get("spec.completion_fns")
    model = functions[0] if isinstance(functions, list) and functions else path.stem
    log = Log(
        path,
        program="openai-evals",
        model=str(source.get("spec.model_name") or model),
        task=str(source.get("spec.base_eval") or source.get("spec.eval_name") or path.stem),
        metric=keys.score or "accuracy",
        items=list(good.values()),
        bad=bad,
    )
    log.reported = as_mean(source.get(f"final_report.{log.metric}"))
    if "final_report" not in about:
        log.notes.append("it has no final report: the run may have been broken off")
    return log


def _scored(path: Path, keys: LogKeys, about: dict[str, Any], prompts: dict[str, str]) -> Rows:
    """Yield the events that have a score; gather what the others say."""
    for row in read_json_lines(path):
        if not isinstance(row, Row):
            yield row
        elif "spec" in row.cells or "final_report" in row.cells:
            about |= row.cells
        elif row.cells.get("type") == "sampling":
            prompt = Source((row.cells,)).get("data.prompt")
            prompts[str(row.cells.get("sample_id"))] = chat_text(prompt)
        elif _score(row.cells, keys) is not None:
            yield row


def _score(cells: Cells, keys: LogKeys) -> object:
    """Return the score of an event; None where it is of another kind."""
    data = Source((cells.get("data"),))
    names = _SCORES if keys.score is None else (keys.score,)
    return next((data.get(name) for name in names if data.get(name) is not None), None)
