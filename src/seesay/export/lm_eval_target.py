"""A task for EleutherAI's lm-evaluation-harness.

It becomes one multiple-choice task per template, and a group of them.
A choice is the option with the rest of its sentence, given what precedes the slot: that is seesay's
scope `sentence`, and a thing that is named after the slot stays part of the question.

Where questions have pictures, no model of lm-eval scores options: these are shown with letters, and
what the model writes is read, as in lm-eval's own picture tasks.

Texts of the task are data of JSON and of YAML that a library writes. lm-eval fills in Jinja
templates, so that none of its fields that may hold one is made of them: these name columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.export import (
    YamlDumper,
    copy_pictures,
    refuse,
    right_labels,
    split_questions,
    task_parts,
    yaml_text,
)
from seesay.export.lettered import (
    LETTERS,
    choice_templates,
    lettered_row,
    refuse_many_options,
)
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

ANSWERS = '''"""The pictures beside this file, and how replies to the rows are read."""

import re
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent
CUE = r"(?i:answer|option|choice)(?: is)?\\s*[:=]?\\s*\\(?"
CUED = re.compile(CUE + r"([A-Z]\\b|[a-z](?=[).]*\\s*$))")
MARKED = re.compile(r"\\b([A-Z])[).:]")
HEDGED = re.compile(r"\\b[A-Z]\\W+or\\W+[A-Z]\\b")


def load_pictures(doc):
    if doc["picture"] is None:
        return []
    with Image.open(FOLDER / doc["picture"]) as picture:
        return [picture.convert("RGB")]


def read_letter(reply, choices):
    """The letter alone, the option's text, "Answer: B" or "B) red"; else, or of several, none."""
    offered = {chr(ord("A") + place): choice for place, choice in enumerate(choices)}
    bare = reply.strip().strip(".()* ")
    if bare.upper() in offered:
        return bare.upper()
    named = {letter for letter, choice in offered.items() if choice.lower() == bare.lower()}
    cued = {letter.upper() for letter in CUED.findall(reply)}
    letters = named or cued or set(MARKED.findall(reply))
    if HEDGED.search(reply):
        return ""
    return letters.pop() if len(letters) == 1 and letters <= set(offered) else ""


def judge(doc, results):
    letter = read_letter(results[0], doc["choices"])
    return {"acc": float(letter != "" and letter in doc["gold"])}
'''
PICTURE_MARK = "<image>"
_ACCURACY = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]


def write(task: Task, folder: Path) -> None:
    """Write the group, a YAML file and rows per template, and the function that finds the rows."""
    refuse(task, "lm-eval")
    write_text(folder / "load_rows.py", LOADER)
    if any(question.picture for question in task.questions):
        write_lettered(task, folder, "lm-eval", _picture_fields, mark=PICTURE_MARK)
        return
    parts = split_questions(task)
    # lm-eval takes one index as gold, or a list of them: never both in one task.
    has_several = any(
        len(right_labels(task, question)) > 1 for question in chain.from_iterable(parts.values())
    )
    slugs = slugs_of([template.name for template in task.templates])
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


def _picture_fields(slug: str) -> dict[str, Any]:
    """Return where lm-eval finds the rows and pictures of a task."""
    return {
        "custom_dataset": Function("load_rows.load_rows"),
        "dataset_kwargs": {"template": slug},
        "doc_to_image": Function("answers.load_pictures"),
        "generation_kwargs": {
            "until": ["<|endoftext|>"],
            "do_sample": False,
            "temperature": 0.0,
            "max_gen_toks": 512,
        },
    }


def write_lettered(
    task: Task,
    folder: Path,
    target: str,
    fields: Callable[[str], dict[str, Any]],
    mark: str = "",
) -> None:
    """Write a task for a harness that shows pictures, in the YAML of lm-eval and its kin.

    `fields` are those that the harness has of its own, given the name of a folder of rows; `mark`
    stands for the picture in a text.
    """
    refuse_many_options(task, target)
    pictures = copy_pictures(task.questions, folder)
    templates = choice_templates(task)
    slugs = slugs_of([template.name for template in templates])
    group = _slug(task.name)
    parts = task_parts(task)
    part_slugs = slugs_of(list(parts))
    names = []
    for part, nested in parts.items():
        for template in templates:
            slug = slugs[template.name]
            if part:
                slug = f"{part_slugs[part]}_{slug}"
            names.append(f"{group}_{slug}")
            rows = []
            for question in nested.questions:
                row = _shown_row(nested, template, question, mark)
                rows.append({**row, "picture": pictures.get(question.picture or "")})
            write_json_lines(folder / "rows" / slug / "test.jsonl", rows)
            document = {
                "task": names[-1],
                "output_type": "generate_until",
                **fields(slug),
                "test_split": "test",
                # Names of columns, as below.
                "doc_to_text": "text",
                "doc_to_target": "gold",
                "process_results": Function("answers.judge"),
                "metric_list": _ACCURACY,
                "metadata": {**_about(task), "text": template.text},
            }
            write_text(folder / f"{names[-1]}.yaml", yaml_text(document))
    write_text(folder / f"{group}.yaml", _group(task, names))
    write_text(folder / "answers.py", ANSWERS)


def _shown_row(task: Task, template: Template, question: Question, mark: str) -> dict[str, Any]:
    """Return a line of rows whose text shows the options."""
    row = lettered_row(task, template, question)
    lines = [row["input"]]
    for letter, choice in zip(LETTERS, row["choices"], strict=False):
        lines.append(f"{letter}. {choice}")
    text = "\n".join([*lines, "Answer with the letter of the right option alone."])
    # As many marks as pictures: a model would look for one more.
    if PICTURE_MARK in text:
        raise UserError(
            f"'{question.id}' has {PICTURE_MARK} in its text, the mark of a picture: change it."
        )
    if question.picture is not None:
        text = mark + text
    return {
        "id": row["id"],
        "object": question.object,
        "text": text,
        "choices": row["choices"],
        "gold": row["target"],
    }


def _slug(name: str) -> str:
    """Return a name as lm-eval's own tasks are named: small letters, digits and '_'."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def slugs_of(names: list[str]) -> dict[str, str]:
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


class Function(str):
    """The name of a function in a module beside the file, which lm-eval looks up."""


YamlDumper.add_representer(
    Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
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
        "custom_dataset": Function("load_rows.load_rows"),
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
        "metric_list": _ACCURACY,
        "metadata": {**_about(task), "text": template.text},
    }
    return yaml_text(document)


def _group(task: Task, names: list[str]) -> str:
    """Return the YAML of the group, whose figure is the mean over its templates."""
    document: dict[str, Any] = {"group": _slug(task.name), "task": names}
    # Of nested sets of questions there is no figure over all.
    if not task.nested_by:
        document["aggregate_metric_list"] = [
            {"metric": "acc", "aggregation": "mean", "weight_by_size": True}
        ]
    return yaml_text({**document, "metadata": _about(task)})


def _about(task: Task) -> dict[str, str]:
    """Return what a reader wants to know of the task; lm-eval prints the version."""
    return {
        "version": task.version,
        "title": task.title or task.name,
        "citation": task.provenance.citation,
    }
