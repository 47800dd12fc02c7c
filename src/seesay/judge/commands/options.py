"""Options that the commands of `seesay judge` share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.completion import complete_tasks
from seesay.errors import UserError, require_packages
from seesay.judge import OptionOrder
from seesay.quantities import quantity

if TYPE_CHECKING:
    from seesay.judge.study import Study

Source = Annotated[
    str,
    typer.Argument(
        metavar="TASK_OR_PAIRS",
        autocompletion=complete_tasks,
        help="A task, a CSV file with the columns a,b, or a study file.",
    ),
]
Location = Annotated[str, typer.Argument(metavar="STUDY", help="A study file, or postgresql://….")]
StudyName = Annotated[
    str, typer.Option("--name", help="The name of the study, where a database holds several.")
]
Data = Annotated[
    Path | None, typer.Option(help="The task's data file or folder, instead of the data folder's.")
]
TemplateName = Annotated[
    str | None, typer.Option("--template", help="The template people read. Default: the first.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="Ask at most this many questions.")
]
ControlIds = Annotated[
    Path | None,
    typer.Option(
        "--known", help="A file with ids of control questions, one per line. Default: drawn."
    ),
]
AnswerKind = Annotated[
    str,
    typer.Option(
        "--answer",
        metavar="choice|several|number|text",
        help="How people answer a task's questions.",
    ),
]
Most = Annotated[
    int,
    typer.Option("--most", min=0, help="With --answer several: name at most this many. 0: any."),
]
SecondsBelow = Annotated[
    float, typer.Option(min=0, help="Exclude people with a smaller median time per item.")
]
IntervalSeed = Annotated[int, typer.Option(min=0, help="Seed of intervals and splits.")]
Resamples = Annotated[int, typer.Option(min=100, help="Bootstrap resamples per interval.")]
Icons = Annotated[
    Path | None, typer.Option(help="A folder of pictures, called after words or options.")
]
OddWord = Annotated[str, typer.Option(help="The word of the controls that resembles no other.")]
Judgements = Annotated[int | None, typer.Option(help="Judgements per item. [default: 10]")]
PerPage = Annotated[int | None, typer.Option(help="Items per page. [default: 20]")]
Pages = Annotated[int | None, typer.Option("--pages", help="Pages per participant. [default: 3]")]
Controls = Annotated[int | None, typer.Option(help="Controls per page. [default: 2]")]
Seed = Annotated[
    int | None, typer.Option(help="Seed of the order of items and of the controls. [default: 0]")
]
Options = Annotated[
    OptionOrder | None,
    typer.Option(
        "--option-order",
        help="auto: every participant sees the options in an order of their own, but for numbers "
        "and yes and no; as-given for any other scale. [default: auto]",
    ),
]


def people_sentence(study: Study, people: int) -> str:
    """Return how many people a study needs (`planning.people_needed`), in a sentence."""
    # Whoever leaves early or is excluded makes it more.
    quantifier = "At least" if study.design.allocation == "fixed" else "Up to"
    pages = quantity(study.max_pages, "page")
    # Of a participant's first page, which is as full as any; controls included.
    items = min(study.design.per_page, len(study.measured_for(1)))
    items += min(study.design.controls, len(study.controls_for(1)))
    return (
        f"{quantifier} {quantity(people, 'person', 'people')} for "
        f"{quantity(study.design.judgements, 'judgement')} of each item: {pages} of up to {items} "
        "items each."
    )


def other_links(where: str, count: int) -> str:
    """Return which command makes so many more links, for the people who have none yet."""
    command = f"seesay judge link {shlex.quote(where)} --count {count}"
    return f"That is {count} fewer than people are needed: `{command}` makes the others."


def only_set(**options: Any) -> dict[str, Any]:
    """Return the options that are set: a study that exists keeps its own values of the others."""
    return {key: value for key, value in options.items() if value is not None}


def read_text(path: Path | None) -> str | None:
    """Return the text of a file, if there is one."""
    if path is None:
        return None
    # Editors on Windows put a mark at the beginning of a file.
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error


def read_lines(path: Path | None) -> list[str] | None:
    """Return the lines of a file that are not empty, if there is one."""
    text = read_text(path)
    if text is None:
        return None
    return [line.strip() for line in text.splitlines() if line.strip()]


def require_extra() -> None:
    """Refuse to begin without the libraries that the judge needs."""
    require_packages("The judge", "judge", "jwt", "markdown_it", "starlette", "uvicorn")
