"""The tables of an export, as CSV and Parquet: one row per item, per judgement and per
participant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import atomic_write, write_csv
from seesay.judge.items import SLIDER_MAX, StudyItem
from seesay.judge.results.annotators import ANNOTATOR_COLUMNS, estimated_labels
from seesay.judge.results.disputes import disputed_items
from seesay.judge.results.quality import ExcludedParticipant, Judgement, by_item, by_participant
from seesay.judge.study import Study

TableRow = dict[str, Any]
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def item_rows(
    study: Study,
    judgements: Sequence[Judgement],
    rulings: Mapping[str, Sequence[str]] | None = None,
) -> list[TableRow]:
    """One row per measured item, judged or not. Of labels also those that the annotators'
    competence speaks for, whether the item is disputed, and what a researcher ruled."""
    groups = by_item(judgements)
    rows = [_item_row(item, groups.get(item.id, [])) for item in study.measured]
    if not study.measured[0].has_labels:
        return rows
    estimated = estimated_labels(study, judgements)
    disputed = {dispute.item.id for dispute in disputed_items(judgements)}
    for row in rows:
        labels, certainty = estimated.get(row["item"], ((), None))
        row |= {
            "dawid_skene": "; ".join(labels),
            "dawid_skene_certainty": certainty,
            "disputed": row["item"] in disputed,
            "ruling": "; ".join((rulings or {}).get(row["item"], ())),
        }
    return rows


def _item_row(item: StudyItem, judgements: Sequence[Judgement]) -> TableRow:
    row: TableRow = {"item": item.id, **item.columns, "n": len(judgements)}
    if item.is_numeric:
        numbers = [judgement.number for judgement in judgements if judgement.number is not None]
        row |= {
            "mean": fmean(numbers) if numbers else None,
            "median": median(numbers) if numbers else None,
            "sd": stdev(numbers) if len(numbers) > 1 else None,
        }
    if item.has_labels:
        row |= _label_columns(judgements)
    return row | {
        "seconds": median(judgement.seconds for judgement in judgements) if judgements else None
    }


def _label_columns(judgements: Sequence[Judgement]) -> TableRow:
    counts = Counter(label for judgement in judgements for label in judgement.labels).most_common()
    shares = [count / sum(n for _, n in counts) for _, count in counts]
    return {
        "majority": "; ".join(label for label, count in counts if count == counts[0][1]),
        "majority_share": shares[0] if shares else None,
        "entropy_bits": -sum(share * log2(share) for share in shares) + 0.0 if shares else None,
        "answers": "; ".join(f"{label}: {count}" for label, count in counts),
        "no_option": sum(not judgement.labels for judgement in judgements),
    }


def judgement_rows(
    judgements: Sequence[Judgement], excluded: Sequence[ExcludedParticipant]
) -> list[TableRow]:
    """One row per judgement as it was given, with whether it counts."""
    excluded_persons = {participant.person for participant in excluded}
    return [
        {
            "person": j.person,
            "item": j.item.id,
            "control": j.item.control,
            "value": j.number,
            "label": "; ".join(j.labels) if j.item.has_labels else None,
            "text": j.text or None,
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
    judgements: Sequence[Judgement],
    excluded: Sequence[ExcludedParticipant],
    codes: Mapping[int, str],
    columns: Mapping[int, Mapping[str, Any]],
    details: Mapping[int, Mapping[str, str]],
) -> list[TableRow]:
    """One row per participant with a judgement, with whether they count and why not, and what else
    is known of them: how their answers look (`annotators`), their language, check and practice."""
    noted = sorted({key for notes in details.values() for key in notes})
    reasons = {participant.person: "; ".join(participant.reasons) for participant in excluded}
    return [
        {
            "person": person,
            "code": codes.get(person, ""),
            "counts": person not in reasons,
            "reason": reasons.get(person, ""),
            "judgements": sum(not j.item.control for j in theirs),
            "controls": sum(bool(j.item.control) for j in theirs),
            "seconds": median(j.seconds for j in theirs),
            **{name: columns.get(person, {}).get(name) for name in ANNOTATOR_COLUMNS},
            **{key: details.get(person, {}).get(key, "") for key in noted},
        }
        for person, theirs in by_participant(judgements).items()
    ]


def write_table(folder: Path, name: str, rows: Sequence[TableRow]) -> None:
    """Write a table as `name.csv` and `name.parquet`. An empty one is left out, and that of an
    earlier export removed: it may hold answers that have been withdrawn since."""
    if not rows:
        for suffix in ("csv", "parquet"):
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)
        return
    cells = ({key: _cell(value) for key, value in row.items()} for row in rows)
    write_csv(folder / f"{name}.csv", list(rows[0]), cells)
    with atomic_write(folder / f"{name}.parquet") as unfinished:
        pq.write_table(pa.Table.from_pylist(rows), unfinished, compression="zstd")


def _cell(value: Any) -> Any:
    """Mark a text that a spreadsheet would run as a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
