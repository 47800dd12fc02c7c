"""The tables of an export, as CSV and Parquet: one row per item, per judgement and per participant."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import atomic_write, write_text
from seesay.judge.results.quality import ExcludedParticipant, Judgement, by_participant
from seesay.judge.study import SLIDER_MAX, Study, StudyItem

TableRow = dict[str, Any]
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def item_rows(study: Study, judgements: Sequence[Judgement]) -> list[TableRow]:
    """One row per measured item, judged or not."""
    by_item: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        by_item.setdefault(judgement.item.id, []).append(judgement)
    return [_item_row(item, by_item.get(item.id, [])) for item in study.measured]


def _item_row(item: StudyItem, judgements: Sequence[Judgement]) -> TableRow:
    seconds = median(judgement.seconds for judgement in judgements) if judgements else None
    if item.words:
        values = [judgement.value / SLIDER_MAX for judgement in judgements]
        return {
            "item": item.id,
            "a": item.words[0],
            "b": item.words[1],
            "n": len(values),
            "mean": fmean(values) if values else None,
            "median": median(values) if values else None,
            "sd": stdev(values) if len(values) > 1 else None,
            "seconds": seconds,
        }
    counts = Counter(label for judgement in judgements for label in judgement.labels).most_common()
    shares = [count / sum(n for _, n in counts) for _, count in counts]
    return {
        "item": item.id,
        "text": item.text,
        "n": len(judgements),
        "majority": "; ".join(label for label, count in counts if count == counts[0][1]),
        "majority_share": shares[0] if shares else None,
        "entropy_bits": -sum(share * log2(share) for share in shares) + 0.0 if shares else None,
        "answers": "; ".join(f"{label}: {count}" for label, count in counts),
        "seconds": seconds,
    }


def judgement_rows(judgements: Sequence[Judgement], excluded: Sequence[ExcludedParticipant]) -> list[TableRow]:
    """One row per judgement as it was given, with whether it counts."""
    excluded_persons = {participant.person for participant in excluded}
    return [
        {
            "person": j.person,
            "item": j.item.id,
            "control": j.item.control,
            "value": j.value / SLIDER_MAX if j.item.words else None,
            "label": None if j.item.words else "; ".join(j.labels),
            "start": None if j.start is None else j.start / SLIDER_MAX,
            "how": j.how,
            "seconds": j.seconds,
            "changes": j.changes,
            "given": datetime.fromtimestamp(j.given, UTC).isoformat(timespec="milliseconds"),
            "counts": j.person not in excluded_persons and not j.item.control,
        }
        for j in judgements
    ]


def people_rows(
    judgements: Sequence[Judgement], excluded: Sequence[ExcludedParticipant], codes: Mapping[int, str]
) -> list[TableRow]:
    """One row per participant with a judgement, with whether they count and why not."""
    reasons = {participant.person: "; ".join(participant.reasons) for participant in excluded}
    return [
        {
            "person": person,
            "code": codes.get(person, ""),
            "kept": person not in reasons,
            "reason": reasons.get(person, ""),
            "judgements": sum(not j.item.control for j in theirs),
            "controls": sum(bool(j.item.control) for j in theirs),
            "seconds": median(j.seconds for j in theirs),
        }
        for person, theirs in by_participant(judgements).items()
    ]


def write_table(folder: Path, name: str, rows: Sequence[TableRow]) -> None:
    """Write a table as `name.csv` and `name.parquet`; an empty one is left out."""
    if not rows:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    write_text(folder / f"{name}.csv", text.getvalue())
    with atomic_write(folder / f"{name}.parquet") as unfinished:
        pq.write_table(pa.Table.from_pylist(rows), unfinished, compression="zstd")


def _cell(value: Any) -> Any:
    """Mark a text that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
