"""The tables of an export: one row an item, a judgement, a person; as CSV and as Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import write_text
from seesay.judge.results.quality import Dropped, Judgement
from seesay.judge.study import TOP, Study

Rows = list[dict[str, Any]]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def item_rows(study: Study, kept: Sequence[Judgement]) -> Rows:
    """Every measured item, judged or not."""
    by_item: dict[str, list[Judgement]] = {}
    for judgement in kept:
        by_item.setdefault(judgement.item.id, []).append(judgement)
    return [
        _rating_row(item.words, item.id, by_item.get(item.id, []))
        if item.words
        else _choice_row(item.id, item.text, item.options, by_item.get(item.id, []))
        for item in study.measured
    ]


def _rating_row(words: tuple[str, str], name: str, given: Sequence[Judgement]) -> dict[str, Any]:
    values = [judgement.value / TOP for judgement in given]
    return {
        "item": name,
        "a": words[0],
        "b": words[1],
        "n": len(values),
        "mean": fmean(values) if values else None,
        "median": median(values) if values else None,
        "sd": stdev(values) if len(values) > 1 else None,
        "seconds": median(judgement.seconds for judgement in given) if given else None,
    }


def _choice_row(name: str, text: str, options: Sequence[str], given: Sequence[Judgement]) -> dict[str, Any]:
    counts = Counter(options[judgement.value] for judgement in given)
    ranked = counts.most_common()
    shares = [n / len(given) for _, n in ranked]
    return {
        "item": name,
        "text": text,
        "n": len(given),
        "majority": "; ".join(label for label, n in ranked if n == ranked[0][1]),
        "majority_share": shares[0] if shares else None,
        "entropy_bits": -sum(share * log2(share) for share in shares) + 0.0 if shares else None,
        "answers": "; ".join(f"{label}: {n}" for label, n in ranked),
        "seconds": median(judgement.seconds for judgement in given) if given else None,
    }


def judgement_rows(every: Sequence[Judgement], dropped: Sequence[Dropped]) -> Rows:
    """Every judgement as it was given, with whether it counts."""
    out = {person.person for person in dropped}
    return [
        {
            "person": j.person,
            "item": j.item.id,
            "control": j.item.control,
            "value": j.value / TOP if j.item.words else None,
            "label": None if j.item.words else j.item.options[j.value],
            "start": None if j.start is None else j.start / TOP,
            "how": j.how,
            "seconds": j.seconds,
            "changes": j.changes,
            "given": datetime.fromtimestamp(j.given, UTC).isoformat(timespec="milliseconds"),
            "counts": j.person not in out and not j.item.control,
        }
        for j in every
    ]


def people_rows(every: Sequence[Judgement], dropped: Sequence[Dropped], codes: dict[int, str]) -> Rows:
    """Every person with a judgement, with whether they count and why not."""
    reasons = {person.person: "; ".join(person.reasons) for person in dropped}
    by_person: dict[int, list[Judgement]] = {}
    for judgement in every:
        by_person.setdefault(judgement.person, []).append(judgement)
    return [
        {
            "person": person,
            "code": codes.get(person, ""),
            "kept": person not in reasons,
            "reason": reasons.get(person, ""),
            "judgements": sum(not j.item.control for j in given),
            "controls": sum(bool(j.item.control) for j in given),
            "seconds": median(j.seconds for j in given),
        }
        for person, given in sorted(by_person.items())
    ]


def write(folder: Path, name: str, rows: Rows) -> None:
    """One table as `name.csv` and `name.parquet`, each whole or not there."""
    if not rows:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    write_text(folder / f"{name}.csv", text.getvalue())
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink, compression="zstd")
    unfinished = folder / f".{name}.parquet"
    unfinished.write_bytes(sink.getvalue())
    unfinished.replace(folder / f"{name}.parquet")


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
