"""Every Eval Ever: rows of its instance-level schema, beside a file of results.

The schema is `instance_level_eval.schema.json` in github.com/evaleval/every_eval_ever.
"""

from __future__ import annotations

from pathlib import Path

from seesay.data.cells import BadValueError, Cells
from seesay.data.rows import load_json, parse_json_lines
from seesay.errors import UserError
from seesay.runs.logs.items import Log, LogItem, LogKeys, Source, as_mean, make_item

VERSIONS = ("0.2.", "0.3.")
"""The versions of the schema that are known, by how they begin."""
_ROWS_SUFFIX = "_samples.jsonl"


def read(path: Path, first: Cells, keys: LogKeys) -> Log:
    """Read rows of the instance-level schema; `first` is the first row."""
    version = str(first["schema_version"])
    if not version.startswith(VERSIONS):
        raise UserError(
            f"{path} is of version {version} of the Every Eval Ever schema; this seesay reads "
            f"{' and '.join(f'{known}x' for known in VERSIONS)}."
        )
    result = first.get("evaluation_result_id") or first.get("evaluation_name")

    def parse(cells: Cells) -> LogItem:
        own_result = cells.get("evaluation_result_id") or cells.get("evaluation_name")
        # A file may hold several evaluations, whose items must not be mixed.
        if (own_result, cells.get("model_id")) != (result, first.get("model_id")):
            raise BadValueError(f"of another evaluation or model than the first row ({own_result})")
        return _item(cells, keys)

    good, bad = parse_json_lines(path, parse)
    log = Log(
        path,
        program="every-eval-ever",
        model=str(first.get("model_id")),
        task=str(first.get("evaluation_name")),
        metric=keys.score or "score",
        items=list(good.values()),
        bad=bad,
    )
    results = path.with_name(path.name.removesuffix(_ROWS_SUFFIX) + ".json")
    if path.name.endswith(_ROWS_SUFFIX) and results.is_file():
        document = load_json(results)
        log.reported = _reported(document, result)
        rows = Source((document,)).get("detailed_evaluation_results.total_rows")
        if isinstance(rows, int):
            log.rows = rows
    return log


def _item(cells: Cells, keys: LogKeys) -> LogItem:
    source = Source((cells, cells.get("metadata")))
    score = source.get(keys.score or "evaluation.score")
    if score is None:
        score = source.get("evaluation.is_correct")
    text = source.get("input.raw")
    return make_item(
        source,
        keys,
        id=cells.get("sample_id"),
        text=text if isinstance(text, str) else None,
        score=score,
        choices=source.get("input.choices"),
        right=source.get("input.reference"),
    )


def _reported(document: object, result: object) -> float | None:
    """Return the score that the file of results gives this evaluation."""
    listed = Source((document,)).get("evaluation_results")
    for row in listed if isinstance(listed, list) else []:
        source = Source((row,))
        names = (source.get("evaluation_result_id"), source.get("evaluation_name"))
        if result in names:
            return as_mean(source.get("score_details.score"))
    return None
