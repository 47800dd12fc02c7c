"""Logged samples of lm-eval (`--log_samples`) and of lmms-eval, which writes much the same.

An item is known by the id that its data set gives it, else by the digest of its document: the
number of its row depends on how the data were loaded. Where choices were scored, whether a row is
right is computed again from its log-probabilities.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells
from seesay.data.rows import Row, Rows, load_json, parse_rows, read_json_lines
from seesay.data.stored_answers import logged_requests
from seesay.errors import UserError
from seesay.runs.logs.items import (
    Log,
    LogItem,
    LogKeys,
    Source,
    as_mean,
    listed_choices,
    make_item,
    own_id,
    question_text,
)

_NO_SCORES = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "input",
    "input_media",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "token_counts",
}
"""What a row has beside its scores."""
_HASH_OF_NOTHING = hashlib.sha256(b"null").hexdigest()
_ACCURACY = "acc"
_PREFERRED = (_ACCURACY, "exact_match")
_NAMES = (
    re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl"),
    re.compile(r"(?P<date>\d{8}_\d{6})_samples_(?P<task>.+)\.jsonl"),
)
"""How lm-eval and lmms-eval name their files."""
_SHOWN = 5


def read(path: Path, first: Cells, keys: LogKeys) -> Log:
    """Read logged samples; `first` is the first row."""
    metric = keys.score or _metric(path, first)
    # A task may filter each response in several ways, and then has a row for each.
    filter_name = first.get("filter", "none")
    other_filters: dict[str, None] = {}
    disagreeing: list[str] = []

    def rows() -> Rows:
        for row in read_json_lines(path):
            other = row.cells.get("filter", "none") if isinstance(row, Row) else filter_name
            if other == filter_name:
                yield row
            else:
                other_filters[str(other)] = None

    def parse(cells: Cells) -> LogItem:
        item = _item(cells, keys, metric)
        if metric == _ACCURACY and _is_right(cells) not in (None, item.score):
            disagreeing.append(str(item.id or item.text))
        return item

    good, bad = parse_rows(path, rows(), parse)
    program = "lm-eval" if "doc" in first else "lmms-eval"
    log = Log(path, program, path.parent.name, path.stem, metric, list(good.values()), bad)
    _add_results(log, str(filter_name))
    if other_filters:
        log.notes.append(
            f"the rows of the filter '{filter_name}' are read, and not those of "
            f"{', '.join(other_filters)}"
        )
    if disagreeing:
        log.notes.append(
            f"in {len(disagreeing):,} rows `{_ACCURACY}` is not what their log-probabilities give "
            f"({'; '.join(disagreeing[:_SHOWN])})"
        )
    return log


def _metric(path: Path, first: Cells) -> str:
    """Return the name of the score to read: accuracy, or the first that is a number."""
    listed = first.get("metrics")
    if not isinstance(listed, list):
        listed = [name for name in first if name not in _NO_SCORES]
    names = [name for name in (*_PREFERRED, *listed) if name in listed and isinstance(name, str)]
    for name in names:
        if isinstance(_number(first.get(name)), int | float):
            return name
    raise UserError(
        f"No score in the rows of {path} is a number ({', '.join(names) or 'none'}): "
        "name one with --score."
    )


def _number(value: Any) -> Any:
    """Return a score; lmms-eval often keeps it beside other things about the row."""
    if isinstance(value, Mapping):
        return value.get("score")
    return value


def _item(cells: Cells, keys: LogKeys, metric: str) -> LogItem:
    """Return the item of one row."""
    document = cells.get("doc")
    if not isinstance(document, Mapping):
        document = {}
    requests = logged_requests(cells.get("arguments"))
    context = requests[0][0] if requests else cells.get("input")
    choices = listed_choices(document)
    # Letters that stand for choices say nothing about them.
    if choices is None and len(requests) > 1 and any(len(choice) > 1 for _, choice in requests):
        choices = [choice for _, choice in requests]
    identity = own_id(document)
    if identity is None:
        identity = cells.get("doc_hash")
    # lmms-eval writes no documents: then only the number of the row, the text and the pictures
    # tell items apart
    if identity == _HASH_OF_NOTHING:
        identity = cells.get("doc_id")
        media = cells.get("input_media")
        if isinstance(context, str) and isinstance(media, list):
            context = f"{context} [{', '.join(map(str, media))}]"
    source = Source((cells, document))
    return make_item(
        source,
        keys,
        id=identity,
        text=question_text(document) or (context if isinstance(context, str) else None),
        score=_number(source.get(metric)),
        choices=choices,
        right=_right_places(cells.get("target")) or cells.get("target"),
    )


def _right_places(target: Any) -> list[int]:
    """Return the places of the right choices, which lm-eval writes as "3" or "[3, 5]"."""
    if not re.fullmatch(r"\[?\d{1,4}(, \d{1,4})*\]?", str(target)):
        return []
    return [int(place) for place in re.findall(r"\d+", str(target))]


def _is_right(cells: Cells) -> float | None:
    """Return whether the choice of the highest log-probability is right; None without choices."""
    places = _right_places(cells.get("target"))
    responses = cells.get("filtered_resps")
    if not places or not isinstance(responses, list) or len(responses) < 2:
        return None
    if not all(isinstance(response, list) and len(response) == 2 for response in responses):
        return None
    try:
        scores = [float(response[0]) for response in responses]
    except (TypeError, ValueError, OverflowError):
        raise BadValueError("a log-probability is not a number") from None
    return float(scores.index(max(scores)) in places)


def _add_results(log: Log, filter_name: str) -> None:
    """Add what the file of results beside the samples says, if there is one."""
    match = next(filter(None, (name.fullmatch(log.path.name) for name in _NAMES)), None)
    if match is None:
        return
    log.task = match["task"]
    for name in (f"results_{match['date']}.json", f"{match['date']}_results.json"):
        if not (log.path.parent / name).is_file():
            continue
        document = load_json(log.path.parent / name)
        source = Source((document,))
        log.model = str(source.get("model_name") or log.model)
        results = source.get("results")
        figures = results.get(log.task) if isinstance(results, Mapping) else None
        log.reported = as_mean(Source((figures,)).get(f"{log.metric},{filter_name}"))
        rows = Source((source.get("n-samples"),)).get(f"{log.task}.effective")
        if isinstance(rows, int):
            log.rows = rows
