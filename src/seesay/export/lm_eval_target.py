"""A task for EleutherAI's lm-evaluation-harness.

It becomes one multiple-choice task per template, and a group of them.
lm-eval scores an option given what precedes the slot, which is seesay's scope `option`; what
follows the slot is not part of it.
"""

from __future__ import annotations

import json
import re
from itertools import chain
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
    gold = [question.options.index(label) for label in right_labels(task, question)]
    return {
        "id": question.id,
        "context": resolve_separator(prompt.parts[0], None),
        "choices": list(prompt.options),
        "gold": gold if has_several else gold[0],
    }


def _task(
    task: Task,
    template: Template,
    name: str,
    slug: str,
    splits: list[str],
) -> str:
    """Return the YAML of one template, written by hand: `!function` is no YAML that others know."""
    title = " ".join((task.title or task.name).split())
    text = json.dumps(template.text, ensure_ascii=False)
    lines = [
        f"# {title}: {text}",
        f"task: {name}",
        "output_type: multiple_choice",
        "custom_dataset: !function load_rows.load_rows",
        f"dataset_kwargs: {{template: {slug}}}",
    ]
    if "train" in splits:
        lines.append("training_split: train")
    if "validation" in splits:
        lines.append("validation_split: validation")
    lines += [
        "test_split: test",
        'doc_to_text: "{{context}}"',
        "doc_to_choice: choices",
        "doc_to_target: gold",
        # The template has its own space before the slot, or none: lm-eval must add none.
        'target_delimiter: ""',
        "metric_list:",
        "  - {metric: acc, aggregation: mean, higher_is_better: true}",
        f"metadata: {{version: {json.dumps(task.version)}}}",
    ]
    return "\n".join(lines) + "\n"


def _group(task: Task, names: list[str]) -> str:
    """Return the YAML of the group, whose figure is the mean over its templates."""
    lines = [
        f"# {json.dumps(task.provenance.citation, ensure_ascii=False)}",
        f"group: {_slug(task.name)}",
        "task:",
        *(f"  - {name}" for name in names),
        "aggregate_metric_list:",
        "  - {metric: acc, aggregation: mean, weight_by_size: true}",
        f"metadata: {{version: {json.dumps(task.version)}}}",
    ]
    return "\n".join(lines) + "\n"
