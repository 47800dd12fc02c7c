"""A task for EleutherAI's lm-evaluation-harness: one multiple-choice task per template, and a group
of them.

lm-eval scores an option given what precedes the slot, which is seesay's scope `option`; what
follows the slot is not part of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from seesay.export import refuse, right_labels, split_questions
from seesay.files import write_json_lines, write_text
from seesay.questions import Question, Task, Template, resolve_separator

LOADER = '''"""The rows beside this file, wherever the folder is."""

from pathlib import Path

import datasets


def load_rows(template, **_):
    folder = Path(__file__).parent
    files = {path.stem: str(path) for path in folder.glob(f"rows/{template}/*.jsonl")}
    return datasets.load_dataset("json", data_files=files)
'''


def write(task: Task, folder: Path) -> None:
    """Write the group, a YAML file and rows per template, and the function that finds the rows."""
    refuse(task, "lm-eval", pictures=True)
    parts = split_questions(task)
    several = any(
        len(right_labels(task, question)) > 1
        for questions in parts.values()
        for question in questions
    )
    slugs = _slugs([template.name for template in task.templates])
    names = {name: f"{_slug(task.name)}_{slug}" for name, slug in slugs.items()}
    for template in task.templates:
        rows = folder / "rows" / slugs[template.name]
        for split, questions in parts.items():
            write_json_lines(
                rows / f"{split}.jsonl",
                [_row(task, template, question, several) for question in questions],
            )
        text = _task(task, template, names[template.name], slugs[template.name], list(parts))
        write_text(folder / f"{names[template.name]}.yaml", text)
    write_text(folder / f"{_slug(task.name)}.yaml", _group(task, list(names.values())))
    write_text(folder / "load_rows.py", LOADER)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _slugs(names: list[str]) -> dict[str, str]:
    """A slug for each name; of equal ones the later get a number."""
    slugs: dict[str, str] = {}
    for name in names:
        slug = _slug(name) or "template"
        slugs[name] = slug if slug not in slugs.values() else f"{slug}_{len(slugs)}"
    return slugs


def _row(task: Task, template: Template, question: Question, several: bool) -> dict[str, object]:
    prompt = template.ask(question)
    right = [question.options.index(label) for label in right_labels(task, question)]
    return {
        "id": question.id,
        "context": resolve_separator(prompt.parts[0], None),
        "choices": list(prompt.options),
        "gold": right if several else right[0],
    }


def _task(task: Task, template: Template, name: str, slug: str, splits: list[str]) -> str:
    kinds = {"training": "train", "validation": "validation"}
    training = [f"{kind}_split: {split}" for kind, split in kinds.items() if split in splits]
    lines = [
        f"# {' '.join((task.title or task.name).split())}: "
        f"{json.dumps(template.text, ensure_ascii=False)}",
        f"task: {name}",
        "output_type: multiple_choice",
        "custom_dataset: !function load_rows.load_rows",
        f"dataset_kwargs: {{template: {slug}}}",
        *training,
        "test_split: test",
        'doc_to_text: "{{context}}"',
        "doc_to_choice: choices",
        "doc_to_target: gold",
        'target_delimiter: ""',
        "metric_list:",
        "  - {metric: acc, aggregation: mean, higher_is_better: true}",
        f"metadata: {{version: {json.dumps(task.version)}}}",
    ]
    return "\n".join(lines) + "\n"


def _group(task: Task, names: list[str]) -> str:
    members = "".join(f"  - {name}\n" for name in names)
    return (
        f"# {json.dumps(task.citation, ensure_ascii=False)}\ngroup: "
        f"{_slug(task.name)}\ntask:\n{members}"
        "aggregate_metric_list:\n  - {metric: acc, aggregation: mean, weight_by_size: true}\n"
        f"metadata: {{version: {json.dumps(task.version)}}}\n"
    )
