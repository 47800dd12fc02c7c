"""`seesay tasks`: which tasks there are, and what one of them asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import Json
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.questions import Task

_SHOWN_BAD_ROWS = 5
_SHOWN = 12  # options of a question, or slices by a tag


def tasks(
    name: Annotated[
        str | None,
        typer.Argument(help="A task, or a task file, to show; without one, all are listed."),
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
            help="With --page: find categories with a sentence encoder, such as minilm, and compare published ones.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the tasks, or show one."""
    from seesay.tasks import expand, load_task, task_groups

    if page is not None and (name is None or len(expand([name])) != 1):
        raise UserError("--page goes with one task: `seesay tasks viphy-color --page FILE`.")
    if categories is not None and page is None:
        raise UserError(
            "--categories goes with --page: `seesay tasks viphy-color --page FILE --categories "
            "minilm`."
        )
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
    from seesay.models import ModelOptions
    from seesay.reports.analysis import write_analyses
    from seesay.reports.gold_analyses import found_categories, task_analyses
    from seesay.runs.ways import with_categories

    analyses = [] if encoder is None else found_categories(task, encoder)
    if encoder is not None:
        (task,) = with_categories([task], encoder, ModelOptions())
    analyses = [*task_analyses(task), *analyses]
    if not analyses:
        raise UserError(
            f"There is nothing to draw for {task.name}: its questions have two labels and no tags."
        )
    if page.is_dir():
        raise UserError(f"'{page}' is a folder: name a file for the page.")
    page.parent.mkdir(parents=True, exist_ok=True)
    write_analyses(page, task.title or task.name, analyses)


def _list(names: list[str], as_json: bool) -> None:
    from seesay.cli.output import out, print_json, remark, table
    from seesay.data import store
    from seesay.data.catalogue import CATALOGUE
    from seesay.tasks import task_card, task_groups

    rows: list[dict[str, Any]] = []
    for name in names:
        about = task_card(name)
        missing = [
            need
            for need in about.needs
            if any(
                not store.stored_path(CATALOGUE[need], f.name).is_file()
                for f in CATALOGUE[need].files
            )
        ]
        rows.append(
            {
                "name": name,
                "title": about.title,
                "source": about.source,
                "needs": list(about.needs),
                "missing": missing,
                "groups": [group for group, members in task_groups().items() if name in members],
            }
        )
    if as_json:
        print_json(
            {
                "tasks": rows,
                "groups": {group: list(members) for group, members in task_groups().items()},
            }
        )
        return
    shown = [
        (r["name"], r["title"], r["source"], _data_state(r["needs"], r["missing"])) for r in rows
    ]
    out.print(table(["name", "what it asks", "source", "data"], shown))
    remark(f"The groups {', '.join(task_groups())} and all stand for several tasks.")
    remark("Next: seesay tasks NAME shows one task; seesay probe MODEL --task NAME asks it.")


def _data_state(needs: list[str], missing: list[str]) -> str:
    if not needs:
        return "none needed"
    return f"missing: {', '.join(missing)}" if missing else "present"


def describe(task: Task) -> dict[str, Any]:
    """A task as plain values."""
    from seesay.data.catalogue import CATALOGUE
    from seesay.tasks import TASKS, task_card
    from seesay.tasks.from_file.check import slices

    question = task.questions[0]
    template = task.templates[0]
    prompt = template.ask(question)
    needs = task_card(task.name).needs if task.name in TASKS.names() else ()
    return {
        "name": task.name,
        "version": task.version,
        "title": task.title,
        "fingerprint": task.fingerprint,
        "questions": len(task.questions),
        "objects": len({each.object for each in task.questions}),
        "labels": list(task.labels),
        "templates": [{"name": each.name, "text": each.text} for each in task.templates],
        "example": {
            "text": prompt.text,
            "options": list(prompt.options),
            "gold": dict(question.gold),
        },
        "metrics": list(task.metrics),
        "how": [
            "cloze",
            "choice",
            *(["linear", "learning-curve"] if task.linear_text and task.load_splits else []),
        ],
        "tags": slices(task),
        "published": [
            {**asdict(row), "slice": row.slice and str(row.slice)} for row in task.published
        ],
        "citation": task.citation,
        "licence": {task.name: task.licence}
        if not needs or task.licence == "yours"
        else {need: CATALOGUE[need].licence for need in needs},
        "data": [*map(str, task.data), *task.data_notes],
        "bad_rows": [asdict(row) for row in task.bad_rows],
    }


def print_slices(slices: Mapping[str, Mapping[str, int]]) -> None:
    """What the questions can be sliced by, with the number of questions in each slice."""
    from seesay.cli.output import out

    for tag, counts in slices.items():
        out.print(
            f"Slices by {tag}: "
            f"{_first([f'{value} ({count:,})' for value, count in counts.items()])}."
        )


def gold_text(gold: Mapping[str, float]) -> str:
    """The gold labels of a question, with their weights."""
    return ", ".join(f"{label} ({weight:.2f})" for label, weight in gold.items())


def _first(texts: Sequence[str]) -> str:
    more = ", …" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _show(task: dict[str, Any]) -> None:
    from seesay.cli.output import out, table
    from seesay.questions import BadRow

    out.print(f"{task['name']} (version {task['version']}, {task['fingerprint']}): {task['title']}")
    out.print(
        f"{task['questions']:,} questions about {task['objects']:,} objects, in "
        f"{len(task['templates'])} templates."
    )
    out.print(f"Metrics: {', '.join(task['metrics'])}. Ways to ask: {', '.join(task['how'])}.")
    print_slices(task["tags"])
    out.print(
        table(["template", "text"], [(each["name"], each["text"]) for each in task["templates"]])
    )
    example = task["example"]
    out.print(f"Example: {example['text']}")
    out.print(f"  options: {_first(example['options'])}")
    out.print(f"  gold: {gold_text(example['gold'])}")
    if task["published"]:
        rows = [
            (p["model"], p["metric"], p["value"], p["spread"] or "", p["slice"] or "", p["source"])
            for p in task["published"]
        ]
        out.print(table(["published: model", "metric", ">value", ">sd", "slice", "source"], rows))
    out.print(f"Cite: {task['citation'] or 'nothing to cite'}")
    for name, licence in task["licence"].items():
        out.print(f"Licence of {name}: {licence or 'not stated'}")
    for note in task["data"]:
        out.print(f"Data: {note}")
    bad = task["bad_rows"]
    out.print(f"Rows that could not be used: {len(bad)}{'' if bad else '.'}")
    for row in bad[:_SHOWN_BAD_ROWS]:
        out.print(f"  {BadRow(**row)}")
    if len(bad) > _SHOWN_BAD_ROWS:
        out.print(f"  … and {len(bad) - _SHOWN_BAD_ROWS:,} more (`--json` lists them all)")
