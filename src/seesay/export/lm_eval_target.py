"""A task for EleutherAI's lm-evaluation-harness.

It becomes one multiple-choice task per template, and a group of them.
A choice is the option with the rest of its sentence, given what precedes the slot: that is seesay's
scope `sentence`, and a thing that is named after the slot stays part of the question.

Texts of the task are data of JSON and of YAML that a library writes. lm-eval fills in Jinja
templates, so that none of its fields that may hold one is made of them: these name columns.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Any

from seesay.export import YamlDumper, refuse, right_labels, split_questions, yaml_text
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
    # lm-eval takes one index as gold, or a list of them: never both in one task.
    has_several = any(
        len(right_labels(task, question)) > 1 for question in chain.from_iterable(parts.values())
    )
    slugs = _slugs([template.name for template in task.templates])
    group = _slug(task.name)
    names = []
    for template in task.templates:
        slug = slugs[template.name]
        name = f"{group}_{slug}"
        names.append(name)
        for split, questions in parts.items():
            rows = [_row(task, template, question, has_several) for question in questions]
            write_json_lines(folder / "rows" / slug / f"{split}.jsonl", rows)
        text = _task(task, template, name, slug, list(parts))
        write_text(folder / f"{name}.yaml", text)
    write_text(folder / f"{group}.yaml", _group(task, names))
    write_text(folder / "load_rows.py", LOADER)


def _slug(name: str) -> str:
    """Return a name as lm-eval's own tasks are named: small letters, digits and '_'."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _slugs(names: list[str]) -> dict[str, str]:
    """Return a slug for each name; of equal ones the later get a number."""
    slugs: dict[str, str] = {}
    for name in names:
        slug = _slug(name) or "template"
        if slug in slugs.values():
            slug = f"{slug}_{len(slugs)}"
        slugs[name] = slug
    return slugs


def _row(
    task: Task,
    template: Template,
    question: Question,
    has_several: bool,
) -> dict[str, object]:
    """Return one line of a template's rows: the context ends where the slot begins."""
    prompt = template.ask(question)
    before, after = (resolve_separator(part, None) for part in prompt.parts)
    gold = [question.options.index(label) for label in right_labels(task, question)]
    return {
        "id": question.id,
        "context": before,
        "choices": list(prompt.options),
        "continuations": [option + after for option in prompt.options],
        "gold": gold if has_several else gold[0],
    }


class _Function(str):
    """The name of a function in a module beside the file, which lm-eval looks up."""


YamlDumper.add_representer(
    _Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _task(
    task: Task,
    template: Template,
    name: str,
    slug: str,
    splits: list[str],
) -> str:
    """Return the YAML of one template."""
    document: dict[str, Any] = {
        "task": name,
        "output_type": "multiple_choice",
        "custom_dataset": _Function("load_rows.load_rows"),
        "dataset_kwargs": {"template": slug},
    }
    if "train" in splits:
        document["training_split"] = "train"
    if "validation" in splits:
        document["validation_split"] = "validation"
    document |= {
        "test_split": "test",
        # Names of columns: lm-eval takes their values as they are, whatever these hold.
        "doc_to_text": "context",
        "doc_to_choice": "continuations",
        "doc_to_target": "gold",
        # The template has its own space before the slot, or none: lm-eval must add none.
        "target_delimiter": "",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {**_about(task), "text": template.text},
    }
    return yaml_text(document)


def _group(task: Task, names: list[str]) -> str:
    """Return the YAML of the group, whose figure is the mean over its templates."""
    return yaml_text(
        {
            "group": _slug(task.name),
            "task": names,
            "aggregate_metric_list": [
                {"metric": "acc", "aggregation": "mean", "weight_by_size": True}
            ],
            "metadata": _about(task),
        }
    )


def _about(task: Task) -> dict[str, str]:
    """Return what a reader wants to know of the task; lm-eval prints the version."""
    return {
        "version": task.version,
        "title": task.title or task.name,
        "citation": task.provenance.citation,
    }
