"""Task files as tests write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seesay.questions import Task
from seesay.tasks import load_task

FRUIT = (
    "fruit,color,kind\nlemon,yellow,citrus\napple,red,pome\nplum,purple,stone\nlime,green,citrus\n"
)
FILE = "rows: fruit.csv\nobject: fruit\ngold: color\ntemplates: The color of {a fruit} is [MASK].\n"


def task_of(folder: Path, text: str, **files: str) -> Task:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return load_task(str(folder / "mine.yaml"))


def prompts(task: Task) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (prompt.text, prompt.options)
        for q in task.questions
        for t in task.templates
        for prompt in [t.ask(q)]
    ]


def inline(
    folder: Path, rows: list[dict[str, Any]], declaration: str, template: str = "{x} is [MASK]"
) -> Task:
    return task_of(
        folder, f"rows: {json.dumps(rows)}\ntemplates: {json.dumps(template)}\n{declaration}"
    )
