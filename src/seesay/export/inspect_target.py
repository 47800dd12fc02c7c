"""A task for the UK AI Security Institute's inspect_ai: a module and its data.

A model is shown the options, in the order of the task, and picks a letter, as inspect's
`multiple_choice` asks it.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from seesay.export import copy_pictures, refuse
from seesay.export.lettered import choice_templates, lettered_row, refuse_many_options
from seesay.files import write_json, write_json_lines, write_text
from seesay.questions import Task

MODULE = '''"""The task that is in task.json and rows.jsonl beside this file.

Run it with `inspect eval {function}.py --model …`; `-T template=NAME` asks one template, by
default all are asked.
"""

import json
import re
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import (
    CORRECT, INCORRECT, Score, accuracy, ci, grouped, scorer, stderr
)
from inspect_ai.solver import multiple_choice

FOLDER = Path(__file__).parent
ABOUT = json.loads((FOLDER / "task.json").read_text(encoding="utf-8"))


def samples(template):
    rows = (FOLDER / "rows.jsonl").read_text(encoding="utf-8")
    for line in rows.rstrip("\\n").split("\\n"):  # splitlines() knows other line ends, too
        row = json.loads(line)
        if template in (None, row["metadata"]["template"]):
            text = row["input"]
            picture = row.get("picture")
            if picture is not None:
                content = [ContentImage(image=str(FOLDER / picture)), ContentText(text=text)]
                text = [ChatMessageUser(content=content)]
            yield Sample(
                id=row["id"],
                input=text,
                choices=row["choices"],
                target=row["target"],
                metadata=row["metadata"],
            )


# answers about one object are not independent, nor are those to several templates
@scorer(metrics=[accuracy(), stderr(cluster="object"), ci(cluster="object")])
def one_of_the_right_ones():
    async def score(state, target):
        places = [place for place, choice in enumerate(state.choices) if choice.correct is True]
        letters = [chr(ord("A") + place) for place in places]
        if not letters:  # small models write "B) red" and not in the form that was asked for
            letters = sorted(set(re.findall(r"\\b([A-Z])\\)", state.output.completion)))
        value = CORRECT if len(letters) == 1 and letters[0] in target.text else INCORRECT
        return Score(value=value, answer=",".join(letters), explanation=state.output.completion)

    return score


def by_part():
    """Figures of each nested set of questions: there is none over all of them."""
    names = {{"accuracy": accuracy(), "stderr": stderr(cluster="object")}}
    return [
        grouped(metric, "part", all=False, name_template="{{group_name}} " + name)
        for name, metric in names.items()
    ]


@task
def {function}(template: str | None = None) -> Task:
    if template is not None and template not in ABOUT["templates"]:
        raise ValueError(f"template is {{template!r}}, not one of {{ABOUT['templates']}}")
    return Task(
        dataset=MemoryDataset(list(samples(template)), name=ABOUT["name"]),
        solver=multiple_choice(),
        scorer=one_of_the_right_ones(),
        metrics=by_part() if ABOUT["nested"] else None,
        version=ABOUT["version"],
    )
'''


def write(task: Task, folder: Path) -> None:
    """Write the module, its rows and its pictures."""
    refuse(task, "inspect")
    refuse_many_options(task, "inspect")
    templates = choice_templates(task)
    pictures = copy_pictures(task.questions, folder)
    rows = []
    for question in task.questions:
        for template in templates:
            row = lettered_row(task, template, question)
            if task.nested_by:
                row["metadata"]["part"] = question.tags[task.nested_by]
            if question.picture is not None:
                row["picture"] = pictures[question.picture]
            rows.append(row)
    write_json_lines(folder / "rows.jsonl", rows)
    function = _function_name(task.name)
    # The module is code, and the task may be anybody's: its texts are data of JSON.
    about = {
        "name": task.name,
        "version": task.version,
        "title": task.title,
        "citation": task.provenance.citation,
        "templates": [template.name for template in templates],
        "nested": bool(task.nested_by),
    }
    write_json(folder / "task.json", about)
    write_text(folder / f"{function}.py", MODULE.format(function=function))


def _function_name(name: str) -> str:
    """Return the task's name as that of a function in the module."""
    function = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    is_name = not function[:1].isdigit() and not keyword.iskeyword(function)
    # A word that the module has already would be replaced by the task.
    if is_name and not re.search(rf"\b{function}\b", MODULE):
        return function
    return f"task_{function}"
