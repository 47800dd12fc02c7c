"""A task as Parquet files with a card, which `datasets.load_dataset` opens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from seesay.export import split_questions
from seesay.files import atomic_write, write_text
from seesay.questions import Question, Task

_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def write(task: Task, folder: Path) -> None:
    """Write one Parquet file per split, with every prompt beside its question, and README.md."""
    parts = split_questions(task)
    everything = [question for questions in parts.values() for question in questions]
    for split, questions in parts.items():
        with atomic_write(folder / "data" / f"{split}.parquet") as unfinished:
            pq.write_table(_table(task, questions, everything), unfinished, compression="zstd")
    write_text(folder / "README.md", _card(task, parts))


def _table(task: Task, questions: Sequence[Question], everything: Sequence[Question]) -> pa.Table:
    """One row per question; prompts and option words are lists over the templates. Every split has
    the columns that any needs, since `datasets` refuses splits that differ."""
    rows = [[template.ask(question) for template in task.templates] for question in questions]
    columns: dict[str, tuple[pa.DataType, list[Any]]] = {
        "id": (_TEXT, [q.id for q in questions]),
        "object": (_TEXT, [q.object for q in questions]),
        "options": (_TEXTS, [list(q.options) for q in questions]),
        "gold": (
            pa.list_(pa.float64()),
            [[q.gold.get(label, 0.0) for label in q.options] for q in questions],
        ),
        "prompts": (_TEXTS, [[prompt.text for prompt in prompts] for prompts in rows]),
        "words": (
            pa.list_(_TEXTS),
            [[list(prompt.options) for prompt in prompts] for prompts in rows],
        ),
    }
    for name in dict.fromkeys(name for question in everything for name in question.fields):
        columns[f"field_{name}"] = (_TEXT, [question.fields.get(name) for question in questions])
    for name in dict.fromkeys(name for question in everything for name in question.tags):
        columns[f"tag_{name}"] = (_TEXT, [question.tags.get(name) for question in questions])
    if any(question.picture for question in everything):
        columns["picture"] = (_PICTURE, [_picture(question) for question in questions])
    features = {name: _feature(kind) for name, (kind, _) in columns.items()}
    schema = pa.schema(
        [(name, kind) for name, (kind, _) in columns.items()],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    return pa.table([pa.array(values, kind) for kind, values in columns.values()], schema=schema)


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """What `datasets` calls a type; without it, pictures would be bytes to it."""
    if kind == _PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "Sequence"}
    return {"dtype": "float64" if pa.types.is_floating(kind) else "string", "_type": "Value"}


def _picture(question: Question) -> dict[str, Any] | None:
    if question.picture is None or not Path(question.picture).is_file():
        return None
    return {"bytes": Path(question.picture).read_bytes(), "path": Path(question.picture).name}


def _card(task: Task, parts: dict[str, tuple[Question, ...]]) -> str:
    """The card: where the files are, for `datasets`; what is in them and whose it is, for
    people."""
    header = {
        "license": "other",
        "license_name": task.licence or "not stated",
        "pretty_name": task.title or task.name,
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": name, "path": f"data/{name}.parquet"} for name in parts],
            }
        ],
    }
    counts = ", ".join(f"{len(questions):,} {name}" for name, questions in parts.items())
    templates = "\n".join(f"- `{template.name}`: {template.text}" for template in task.templates)
    return f"""---
{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---

# {task.title or task.name}

The task `{task.name}` (version {task.version}, {task.fingerprint}) as seesay asks it: {counts}.

`prompts` has one text per template, with [MASK] where the answer goes, and `words` the options as they stand in it.
`gold` holds one weight per entry of `options`. Metrics: {", ".join(task.metrics)}.

{templates}

Licence: {task.licence or "not stated"}.

Cite: {task.citation or "nothing to cite"}
"""
