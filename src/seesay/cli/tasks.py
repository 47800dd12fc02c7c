"""`seesay tasks`: which tasks there are, and what one of them asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.completion import complete_tasks
from seesay.cli.options import Json
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.questions import Task

_SHOWN_BAD_ROWS = 5
_SHOWN = 12  # options of a question, or slices by a tag


def tasks(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK",
            autocompletion=complete_tasks,
            help="A task, or a task file, to show; without one, all are listed.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A file or folder to read instead of the data folder.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the analyses of a ViPhy task's questions as a page."
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="With --page: find categories with a sentence encoder, such as minilm, and "
            "compare published ones.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the tasks, or show one.

    Examples:
        seesay tasks core-color
        seesay tasks viphy-color --page colors.html
    """
    from seesay.tasks import expand, load_task, task_groups

    # a page would be overwritten by that of the next task
    if page is not None and (name is None or len(expand([name])) != 1):
        raise UserError("--page goes with one task: `seesay tasks viphy-color --page FILE`.")
    if categories is not None and page is None:
        raise UserError(
            "--categories goes with --page: `seesay tasks viphy-color --page FILE --categories "
            "minilm`."
        )
    # a group of one task is listed as well, and not shown
    if name is None or name == "all" or name in task_groups():
        _list(expand([name or "all"]), as_json)
        return
    names = expand([name])
    if not names:
        raise UserError("Name a task: `seesay tasks` lists them all.")
    if len(names) > 1:
        _list(names, as_json)
        return
    task = load_task(names[0], data)
    if page is not None:
        _write_page(task, page, categories)
    description = describe(task)
    if as_json:
        from seesay.cli.output import print_json

        print_json(description)
    else:
        _show(description)


def _write_page(task: Task, page: Path, encoder: str | None) -> None:
    """Write the analyses of a task's questions, with categories where an encoder finds them."""
    from seesay.models import ModelOptions
    from seesay.reports.analysis import write_analyses
    from seesay.reports.gold_analyses import compare_categories, task_analyses
    from seesay.runs.categories import add_categories

    comparisons = []
    if encoder is not None:
        # compared before any are added: afterwards the encoder's own would stand beside themselves
        comparisons = compare_categories(task, encoder)
        (task,) = add_categories([task], encoder, ModelOptions())
    analyses = [*task_analyses(task), *comparisons]
    if not analyses:
        raise UserError(
            f"There is nothing to draw for {task.name}: its questions have two labels and no tags."
        )
    if page.is_dir():
        raise UserError(f"'{page}' is a folder: name a file for the page.")
    page.parent.mkdir(parents=True, exist_ok=True)
    write_analyses(page, task.title or task.name, analyses)


def _list(names: list[str], as_json: bool) -> None:
    """Print the tasks of these names in a line each, none of which is loaded for it."""
    from seesay.cli.output import out, print_json, remark, table
    from seesay.tasks import task_card, task_groups

    rows: list[dict[str, Any]] = []
    lines = []
    for name in names:
        card = task_card(name)
        needs = list(card.needs)
        missing = [dataset for dataset in needs if not _is_stored(dataset)]
        row = {
            "name": name,
            "title": card.title,
            "source": card.source,
            "needs": needs,
            "missing": missing,
            "groups": [group for group, members in task_groups().items() if name in members],
        }
        rows.append(row)
        lines.append((name, card.title, card.source, _data_state(needs, missing)))
    if as_json:
        groups = {group: list(members) for group, members in task_groups().items()}
        print_json({"tasks": rows, "groups": groups})
        return
    out.print(table(["name", "what it asks", "source", "data"], lines))
    remark(f"The groups {', '.join(task_groups())} and all stand for several tasks.")
    remark("Next: seesay tasks NAME shows one task; seesay probe MODEL --task NAME asks it.")


def _is_stored(dataset: str) -> bool:
    """Return whether all files that tasks need of a data set are in the data folder; none of them
    is read."""
    from seesay.data import store
    from seesay.data.catalogue import CATALOGUE

    entry = CATALOGUE[dataset]
    needed = [file for file in entry.files if not file.for_papers]
    return all(store.stored_path(entry, file.name).is_file() for file in needed)


def _data_state(needs: list[str], missing: list[str]) -> str:
    if not needs:
        return "none needed"
    if missing:
        return f"missing: {', '.join(missing)}"
    return "present"


def describe(task: Task) -> dict[str, Any]:
    """Return a task as plain values."""
    from seesay.data.catalogue import CATALOGUE
    from seesay.tasks import TASKS, task_card
    from seesay.tasks.from_file.check import slices

    question = task.questions[0]
    prompt = task.templates[0].ask(question)
    needs = task_card(task.name).needs if task.name in TASKS.names() else ()
    licences = {dataset: CATALOGUE[dataset].licence for dataset in needs}
    # a task of the user's own may have the name of a published one, but not its licence
    if not needs or task.provenance.licence == "yours":
        licences = {task.name: task.provenance.licence}
    how = ["cloze", "choice"]
    if task.qa_templates:
        how += ["qa", "qa-trained"]
    # a probe needs texts to encode, and questions to be trained on
    if task.training.linear_text and task.training.load_splits:
        how += ["linear", "learning-curve"]
    return {
        "name": task.name,
        "version": task.version,
        "title": task.title,
        "fingerprint": task.fingerprint,
        "questions": len(task.questions),
        "objects": len({question.object for question in task.questions}),
        "labels": list(task.labels),
        "templates": [
            {"name": template.name, "text": template.text} for template in task.templates
        ],
        "example": {
            "text": prompt.text,
            "options": list(prompt.options),
            "gold": dict(question.gold),
        },
        "metrics": list(task.metrics),
        "how": how,
        "tags": slices(task),
        "published": [
            {**asdict(row), "slice": row.slice and str(row.slice)} for row in task.published
        ],
        "citation": task.provenance.citation,
        "licence": licences,
        "data": [*map(str, task.provenance.data), *task.provenance.notes],
        "bad_rows": [asdict(row) for row in task.provenance.bad_rows],
    }


def print_slices(slices: Mapping[str, Mapping[str, int]]) -> None:
    """Print what the questions can be sliced by, with the number of questions in each slice."""
    from seesay.cli.output import out

    for tag, counts in slices.items():
        values = [f"{value or '(none)'} ({count:,})" for value, count in counts.items()]
        out.print(f"Slices by {tag}: {_first(values)}.")


def gold_text(gold: Mapping[str, float]) -> str:
    """Return the gold labels of a question, with their weights."""
    return ", ".join(f"{label} ({weight:.2f})" for label, weight in gold.items())


def _first(texts: Sequence[str]) -> str:
    """Return as many texts as fit into a line or two; --json has them all."""
    more = ", …" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _show(task: dict[str, Any]) -> None:
    """Print what a task asks, how it is scored, where it is from, and what could not be used."""
    from seesay.cli.output import out, table
    from seesay.questions import BadRow

    out.print(f"{task['name']} (version {task['version']}, {task['fingerprint']}): {task['title']}")
    out.print(
        f"{task['questions']:,} questions about {task['objects']:,} objects, in "
        f"{len(task['templates'])} templates."
    )
    out.print(f"Metrics: {', '.join(task['metrics'])}. Ways to ask: {', '.join(task['how'])}.")
    print_slices(task["tags"])
    templates = [(template["name"], template["text"]) for template in task["templates"]]
    out.print(table(["template", "text"], templates))
    example = task["example"]
    out.print(f"Example: {example['text']}")
    out.print(f"  options: {_first(example['options'])}")
    out.print(f"  gold: {gold_text(example['gold'])}")
    if task["published"]:
        rows = []
        for row in task["published"]:
            # where a paper prints no spread, or has no such slice, the cell is empty
            about = (row["spread"] or "", row["slice"] or "", row["source"])
            rows.append((row["model"], row["metric"], row["value"], *about))
        out.print(table(["published: model", "metric", ">value", ">sd", "slice", "source"], rows))
    out.print(f"Cite: {task['citation'] or 'nothing to cite'}")
    for name, licence in task["licence"].items():
        out.print(f"Licence of {name}: {licence or 'not stated'}")
    for note in task["data"]:
        out.print(f"Data: {note}")
    bad_rows = task["bad_rows"]
    colon = "" if bad_rows else "."
    out.print(f"Rows that could not be used: {len(bad_rows)}{colon}")
    for row in bad_rows[:_SHOWN_BAD_ROWS]:
        out.print(f"  {BadRow(**row)}")
    if len(bad_rows) > _SHOWN_BAD_ROWS:
        out.print(f"  … and {len(bad_rows) - _SHOWN_BAD_ROWS:,} more (`--json` lists them all)")
