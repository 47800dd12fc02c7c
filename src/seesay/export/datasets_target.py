"""A task as Parquet files with a card, which `datasets.load_dataset` opens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.cells import one_line
from seesay.export import split_questions, yaml_text
from seesay.files import atomic_write, write_text
from seesay.questions import Question, Task

# Types that Arrow files and `datasets` both have; a picture is a struct that it knows as one.
_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def write(task: Task, folder: Path) -> None:
    """Write one Parquet file per split, with every prompt beside its question, and README.md."""
    parts = split_questions(task)
    everything = list(chain.from_iterable(parts.values()))
    for split, questions in parts.items():
        table = _table(task, questions, everything)
        with atomic_write(folder / "data" / f"{split}.parquet") as unfinished:
            pq.write_table(table, unfinished, compression="zstd")
    write_text(folder / "README.md", _card(task, parts))


def _table(
    task: Task,
    questions: Sequence[Question],
    everything: Sequence[Question],
) -> pa.Table:
    """Return one row per question; prompts and option words are lists over the templates."""
    # Every split has the columns that any needs: `datasets` refuses splits that differ.
    types: dict[str, pa.DataType] = {
        "id": _TEXT,
        "object": _TEXT,
        "options": _TEXTS,
        "gold": pa.list_(pa.float64()),
        "prompts": _TEXTS,
        "words": pa.list_(_TEXTS),
    }
    for question in everything:
        types |= {f"field_{name}": _TEXT for name in question.fields}
    for question in everything:
        types |= {f"tag_{name}": _TEXT for name in question.tags}
    if any(question.picture for question in everything):
        types["picture"] = _PICTURE
    features = {name: _feature(kind) for name, kind in types.items()}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    schema = pa.schema(list(types.items()), metadata=metadata)
    rows = [_row(task, question) for question in questions]
    return pa.Table.from_pylist(rows, schema=schema)


def _row(task: Task, question: Question) -> dict[str, Any]:
    """Return the columns of a question; those that it lacks are null."""
    prompts = [template.ask(question) for template in task.templates]
    row: dict[str, Any] = {
        "id": question.id,
        "object": question.object,
        "options": list(question.options),
        "gold": [question.gold.get(label, 0.0) for label in question.options],
        "prompts": [prompt.text for prompt in prompts],
        "words": [list(prompt.options) for prompt in prompts],
        "picture": _picture(question),
    }
    row |= {f"field_{name}": value for name, value in question.fields.items()}
    row |= {f"tag_{name}": value for name, value in question.tags.items()}
    return row


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """Return what `datasets` calls a type; without it, pictures would be bytes to it."""
    if kind == _PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "Sequence"}
    dtype = "float64" if pa.types.is_floating(kind) else "string"
    return {"dtype": dtype, "_type": "Value"}


def _picture(question: Question) -> dict[str, Any] | None:
    """Return a question's picture as `datasets` stores one; None where the file is missing."""
    if question.picture is None or not Path(question.picture).is_file():
        return None
    path = Path(question.picture)
    return {"bytes": path.read_bytes(), "path": path.name}


def _card(task: Task, parts: dict[str, tuple[Question, ...]]) -> str:
    """Return the card: where the files are, for `datasets`, and whose they are, for people."""
    header = {
        "license": "other",
        "license_name": task.provenance.licence or "not stated",
        "pretty_name": task.title or task.name,
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": name, "path": f"data/{name}.parquet"} for name in parts],
            }
        ],
    }
    counts = ", ".join(f"{len(questions):,} {name}" for name, questions in parts.items())
    # A text on one line begins no other part of the card.
    title = one_line(task.title or task.name)
    licence = one_line(task.provenance.licence or "not stated")
    citation = one_line(task.provenance.citation or "nothing to cite")
    version = one_line(task.version)
    templates = "\n".join(
        one_line(f"- `{template.name}`: {template.text}") for template in task.templates
    )
    return f"""---
{yaml_text(header)}---

# {title}

The task `{task.name}` (version {version}, {task.fingerprint}) as seesay asks it: {counts}.

`prompts` has one text per template, with [MASK] where the answer goes, and `words` the options as
they stand in it. `gold` holds one weight per entry of `options`.
Metrics: {", ".join(task.metrics)}.

{templates}

Licence: {licence}.

Cite: {citation}
"""
