"""The tables of an export, as CSV and Parquet: rows per item, per judgement and per participant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isnan, log2
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import atomic_write, escape_formulas, write_csv
from seesay.judge.items import SLIDER_MAX, StudyItem
from seesay.judge.results.annotators import ANNOTATOR_COLUMNS, estimated_labels
from seesay.judge.results.disputes import disputed_items
from seesay.judge.results.quality import (
    IMPORTED,
    ExcludedParticipant,
    Judgement,
    by_item,
    by_participant,
    median_seconds,
)
from seesay.judge.study import Study

TableRow = dict[str, Any]


def item_rows(
    study: Study,
    judgements: Sequence[Judgement],
    rulings: Mapping[str, Sequence[str]] | None = None,
) -> list[TableRow]:
    """Return one row per measured item, judged or not.

    Of labels also those that the annotators' competence speaks for, whether the item is disputed,
    and what a researcher ruled.
    """
    groups = by_item(judgements)
    rows = [_item_row(item, groups.get(item.id, [])) for item in study.measured]
    if not study.measured[0].has_labels:
        return rows
    estimates = estimated_labels(study, judgements)
    disputed = {dispute.item.id for dispute in disputed_items(judgements)}
    for row in rows:
        labels, certainty = estimates.get(row["item"], ((), None))
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
        row |= _number_columns(judgements)
    if item.has_labels:
        row |= _label_columns(judgements)
    row["seconds"] = median_seconds(judgements)
    return row


def _number_columns(judgements: Sequence[Judgement]) -> TableRow:
    """Return mean, median and standard deviation; None where there are too few numbers."""
    numbers = [judgement.number for judgement in judgements if judgement.number is not None]
    columns: TableRow = dict.fromkeys(("mean", "median", "sd"))
    if numbers:
        columns["mean"] = fmean(numbers)
        columns["median"] = median(numbers)
    if len(numbers) > 1:
        columns["sd"] = stdev(numbers)
    return columns


def _label_columns(judgements: Sequence[Judgement]) -> TableRow:
    counts = Counter(label for judgement in judgements for label in judgement.labels).most_common()
    total = sum(count for _, count in counts)
    shares = [count / total for _, count in counts]
    columns: TableRow = {
        "majority": "; ".join(label for label, count in counts if count == counts[0][1]),
        "majority_share": None,
        "entropy_bits": None,
        "answers": "; ".join(f"{label}: {count}" for label, count in counts),
        "no_option": sum(not judgement.labels for judgement in judgements),
    }
    if shares:
        columns["majority_share"] = shares[0]
        # Adding 0 turns the -0.0 of a unanimous item into 0.0.
        columns["entropy_bits"] = -sum(share * log2(share) for share in shares) + 0.0
    return columns


def judgement_rows(
    study: Study,
    judgements: Sequence[Judgement],
    excluded: Sequence[ExcludedParticipant],
) -> list[TableRow]:
    """Return one row per judgement as it was given, with whether it counts.

    `shown_at`: the place on the participant's page of the option that was chosen, from 1.
    """
    excluded_persons = {participant.person for participant in excluded}
    rows: list[TableRow] = []
    for judgement in judgements:
        item = judgement.item
        start = judgement.start
        shown_at = None
        if item.kind == "choice" and judgement.how != IMPORTED:
            order = study.option_order(judgement.person, item)
            shown_at = 1 + order.index(judgement.value)
        answered_at = None
        if not isnan(judgement.answered_at):
            moment = datetime.fromtimestamp(judgement.answered_at, UTC)
            answered_at = moment.isoformat(timespec="milliseconds")
        rows.append(
            {
                "person": judgement.person,
                "item": item.id,
                "control": item.control,
                "value": judgement.number,
                "label": "; ".join(judgement.labels) if item.has_labels else None,
                "shown_at": shown_at,
                "text": judgement.text or None,
                "start": None if start is None else start / SLIDER_MAX,
                "how": judgement.how,
                "seconds": None if isnan(judgement.seconds) else judgement.seconds,
                "changes": judgement.changes,
                "answered_at": answered_at,
                "counts": judgement.person not in excluded_persons and not item.control,
            }
        )
    return rows


def people_rows(
    judgements: Sequence[Judgement],
    excluded: Sequence[ExcludedParticipant],
    codes: Mapping[int, str],
    columns: Mapping[int, Mapping[str, Any]],
    details: Mapping[int, Mapping[str, str]],
) -> list[TableRow]:
    """Return one row per participant with a judgement, with whether they count and why not.

    `columns`: how their answers look (`annotators`).
    `details`: their language, check and practice.
    """
    # A table needs the same columns in every row, and people have different details.
    detail_keys = sorted({key for person_details in details.values() for key in person_details})
    reasons = {participant.person: "; ".join(participant.reasons) for participant in excluded}
    rows: list[TableRow] = []
    for person, group in by_participant(judgements).items():
        controls = sum(bool(judgement.item.control) for judgement in group)
        row: TableRow = {
            "person": person,
            "code": codes.get(person, ""),
            "counts": person not in reasons,
            "reason": reasons.get(person, ""),
            "judgements": len(group) - controls,
            "controls": controls,
            "seconds": median_seconds(group),
        }
        row |= {name: columns.get(person, {}).get(name) for name in ANNOTATOR_COLUMNS}
        row |= {key: details.get(person, {}).get(key, "") for key in detail_keys}
        rows.append(row)
    return rows


def write_table(folder: Path, name: str, rows: Sequence[TableRow]) -> None:
    """Write a table as `name.csv` and `name.parquet`; an empty one is left out.

    That of an earlier export is removed then: it may hold answers that have been withdrawn since.
    """
    if not rows:
        for suffix in ("csv", "parquet"):
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)
        return
    # Participants type what they like.
    write_csv(folder / f"{name}.csv", list(rows[0]), map(escape_formulas, rows))
    with atomic_write(folder / f"{name}.parquet") as unfinished:
        pq.write_table(pa.Table.from_pylist(rows), unfinished, compression="zstd")
