"""A study's tables as a Psych-DS dataset, which can be shared: without completion codes and ids.

`dataset_description.json` says what every column holds, in schema.org's terms; the tables are
`data/study-NAME_table-NAME_data.csv` (Psych-DS 1, checked with the rules of its validator 1.5).
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seesay.files import csv_text, escape_formulas, write_text
from seesay.judge.study import Study

PSYCH_DS = "psych-ds"
"""The folder of the dataset in an export."""
PRIVATE = ("code", "imported_id")
"""Columns that tell who a participant was: those who have a code can be found by it."""
VARIABLES = {
    "item": "The item that was judged, by its name in the study.",
    "a": "The first of the two words.",
    "b": "The second of the two words.",
    "text": "The sentence of an item, its blank written [MASK]; of a judgement, what was typed.",
    "n": "Judgements of the item that count.",
    "mean": "The mean of the numbers that were given.",
    "median": "The median of the numbers that were given.",
    "sd": "The standard deviation of the numbers that were given.",
    "majority": "The most frequent answer; several where they are equally frequent.",
    "majority_share": "The share of the most frequent answer, from 0 to 1.",
    "entropy_bits": "The entropy of the answers, in bits.",
    "answers": "Every answer with the number of times it was given.",
    "no_option": "Judgements that name none of the options.",
    "seconds": "The time that an answer took, in seconds; of several answers the median.",
    "dawid_skene": "The label that Dawid and Skene's model holds for true.",
    "dawid_skene_certainty": "The probability that this model gives to that label.",
    "disputed": "Whether no answer has a clear majority.",
    "ruling": "What the researcher ruled on a disputed item.",
    "person": "The participant, by a number of this study.",
    "control": "The kind of control that the item is; empty for an item that is measured.",
    "value": "The number that was given.",
    "label": "The option or options that were named.",
    "shown_at": "The place of the chosen option on the participant's page, from 1.",
    "start": "The initial position of the slider, from 0 to 1.",
    "how": "How the answer was given: moved, confirmed, chosen, typed or imported.",
    "changes": "How often the answer was changed.",
    "answered_at": "When the answer was given, in universal time.",
    "counts": "Whether the judgement, or the participant's judgements, count.",
    "reason": "Why the participant's judgements do not count.",
    "judgements": "How many items the participant judged, controls not counted.",
    "controls": "How many control items the participant judged.",
    "competence": "The probability of a true label, or the correlation with the others' mean.",
    "longest_run": "The longest row of the same answer.",
    "same_share": "The share of the participant's most frequent answer.",
    "fast_share": "The share of answers in less than a third of the item's median time.",
    "hasty_answers": "How many answers took less than 0.3 seconds.",
}


def write_psych_ds(
    study: Study,
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    folder: Path,
) -> None:
    """Write the tables as a dataset, in place of the one of an earlier export."""
    # An earlier one may hold answers that have been withdrawn since.
    shutil.rmtree(folder, ignore_errors=True)
    filled = {name: rows for name, rows in tables.items() if rows}
    if not filled:
        return
    # Names of files are words and values of letters and digits, with hyphens and underscores.
    name = re.sub(r"[^a-zA-Z0-9]", "", study.name) or "seesay"
    columns: dict[str, None] = {}
    for table, rows in filled.items():
        shared = [column for column in rows[0] if column not in PRIVATE]
        columns |= dict.fromkeys(shared)
        text = csv_text(shared, map(escape_formulas, rows))
        write_text(folder / "data" / f"study-{name}_table-{table}_data.csv", text)
    description = _description(study, list(columns))
    write_text(folder / "dataset_description.json", json.dumps(description, indent=2))
    write_text(folder / "README.md", f"# {study.title}\n\n{description['description']}\n")


def _description(study: Study, columns: Sequence[str]) -> dict[str, Any]:
    """Return what the dataset is and what its columns hold, in schema.org's terms."""
    variables = []
    for column in columns:
        meaning = VARIABLES.get(column, f"What is known of the participant: {column}.")
        variables.append({"@type": "PropertyValue", "name": column, "description": meaning})
    description: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.name,
        "description": (
            f"{study.title} Judgements of people, collected or evaluated with seesay: a table of "
            "items, one of judgements and one of participants."
        ),
        "variableMeasured": variables,
    }
    contact = study.contact
    if contact.researcher:
        description["author"] = {"@type": "Person", "name": contact.researcher}
    if study.task is not None and study.task.provenance.citation:
        description["citation"] = study.task.provenance.citation
    return description
