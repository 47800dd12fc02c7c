"""A task for lmms-eval: like lm-eval's with pictures, in the YAML that they have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seesay.export import refuse
from seesay.export.lm_eval_target import Function, write_lettered
from seesay.questions import Task


def write(task: Task, folder: Path) -> None:
    """Write the group, a YAML file and rows per template, the pictures and how they are read."""
    refuse(task, "lmms-eval")
    write_lettered(task, folder, "lmms-eval", _fields)


def _fields(slug: str) -> dict[str, Any]:
    """Return where lmms-eval finds the rows and pictures of a task: beside its file."""
    return {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"rows/{slug}/test.jsonl"}},
        "doc_to_visual": Function("answers.load_pictures"),
        "generation_kwargs": {"max_new_tokens": 512, "temperature": 0, "do_sample": False},
    }
