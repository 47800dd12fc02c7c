"""`seesay judge`: ask people on a web page, and turn what they say into a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Ask people the same questions, and export what they say.", no_args_is_help=True)

Source = Annotated[
    str, typer.Argument(metavar="TASK_OR_PAIRS", help="A task, a CSV file with the columns a,b, or a study file.")
]
Where = Annotated[str, typer.Argument(metavar="STUDY", help="A study file, or postgresql://….")]
Named = Annotated[str, typer.Option("--name", help="The study's name, where a database holds several.")]
Data = Annotated[Path | None, typer.Option(help="The task's data file or folder, in place of the data folder's.")]
TemplateName = Annotated[str | None, typer.Option("--template", help="The wording people read. Default: the first.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Ask at most this many of the questions.")]
Known = Annotated[
    Path | None, typer.Option(help="A file with ids of questions to be used as controls, one a line. Default: drawn.")
]
OddWord = Annotated[str, typer.Option(help="The word of the controls that are like no other.")]
Judgements = Annotated[int | None, typer.Option(help="Judgements for an item. [default: 10]")]
PerPage = Annotated[int | None, typer.Option(help="Items on a page. [default: 20]")]
PagesEach = Annotated[int | None, typer.Option("--pages", help="Pages for a person. [default: 3]")]
Controls = Annotated[int | None, typer.Option(help="Controls on a page. [default: 2]")]
Seed = Annotated[int | None, typer.Option(help="Seed of orders and controls. [default: 0]")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@app.command()
def serve(
    source: Source,
    study: Annotated[
        Path | None, typer.Option(help="The study's file: made if new, else gone on with. [default: NAME.judge.sqlite]")
    ] = None,
    database: Annotated[str | None, typer.Option(help="postgresql://… in place of a file, for many people.")] = None,
    name: Annotated[str, typer.Option(help="The study's name. [default: the task's or the file's]")] = "",
    title: Annotated[str | None, typer.Option(help="What people read at the top.")] = None,
    consent: Annotated[Path | None, typer.Option(help="Markdown that people read and agree to first.")] = None,
    instructions: Annotated[Path | None, typer.Option(help="Markdown above every page.")] = None,
    data: Data = None,
    template: TemplateName = None,
    limit: Limit = None,
    known: Known = None,
    odd_word: OddWord = "green",
    judgements: Judgements = None,
    per_page: PerPage = None,
    pages: PagesEach = None,
    controls: Controls = None,
    lease: Annotated[
        float | None, typer.Option(help="Minutes after which the items of someone who left go to others. [default: 30]")
    ] = None,
    slider_start: Annotated[str | None, typer.Option(help="middle or random. [default: middle]")] = None,
    completion_code: Annotated[str | None, typer.Option(help="One code for all, in place of one for each.")] = None,
    return_url: Annotated[
        str | None, typer.Option(help="https://… that the end leads to; {code} stands for the code.")
    ] = None,
    seed: Seed = None,
    links: Annotated[int, typer.Option(min=0, max=10_000, help="Make so many personal links and print them.")] = 0,
    password_file: Annotated[
        Path | None,
        typer.Option(help="Its first line is the researcher's password. Else SEESAY_JUDGE_PASSWORD, else one is made."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any that is free.")] = 8080,
    public_url: Annotated[str, typer.Option(help="How people reach it, as in https://study.example.org.")] = "",
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Believe a proxy on this machine about people's addresses.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Serve a study: a page where people rate pairs with a slider or answer a task. Ctrl-C ends it; nothing is lost."""
    _need_extra()
    from seesay.judge.web.server import Listening, prepare, serve_study

    wanted = {
        "judgements": judgements,
        "per_page": per_page,
        "pages": pages,
        "controls": controls,
        "lease_minutes": lease,
        "slider_start": slider_start,
        "completion_code": completion_code,
        "return_url": return_url,
        "seed": seed,
    }
    texts = {"title": title, "consent": _text(consent), "instructions": _text(instructions)}
    opened = prepare(
        source,
        where=database or (str(study) if study else None),
        name=name,
        design={key: value for key, value in wanted.items() if value is not None},
        texts={key: value for key, value in texts.items() if value is not None},
        data=data,
        template=template,
        limit=limit,
        known=_lines(known),
        odd_word=odd_word,
        password=_text(password_file),
    )

    def announce(told: dict[str, Any]) -> None:
        from seesay.cli.output import out, print_json

        if as_json:
            print_json(told)
        elif not quiet:
            out.print(f"{opened.study.title}: {len(opened.study.measured)} items in {told['where']}", soft_wrap=True)
            out.print(f"Researcher's page: {told['researcher']}", soft_wrap=True)
            if told["password"]:
                out.print(f"Its password, told this once: {told['password']}", soft_wrap=True)
            out.print(f"One link for Prolific or Mechanical Turk: {told['join']}", soft_wrap=True)
            for address in told["links"]:
                out.print(address, soft_wrap=True)
            out.print("Ctrl-C ends the server; the same command goes on with the study.", soft_wrap=True)
        sys.stdout.flush()

    try:
        serve_study(opened, Listening(host, port, public_url, behind_proxy, links), announce)
    finally:
        opened.database.close()


@app.command()
def preview(
    source: Source,
    data: Data = None,
    template: TemplateName = None,
    limit: Limit = None,
    known: Known = None,
    odd_word: OddWord = "green",
    judgements: Judgements = None,
    per_page: PerPage = None,
    pages: PagesEach = None,
    controls: Controls = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Show what a study would ask, and of how many people, without making it."""
    _need_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.judge.web.pages import sample
    from seesay.judge.web.server import build

    wanted = {"judgements": judgements, "per_page": per_page, "pages": pages, "controls": controls, "seed": seed}
    design = {key: value for key, value in wanted.items() if value is not None}
    made = build(source, design, data=data, template=template, limit=limit, known=_lines(known), odd_word=odd_word)
    slots = sample(made)
    if as_json:
        print_json(
            {
                "name": made.name,
                "title": made.title,
                "kind": made.kind,
                "items": len(made.measured),
                "controls": len(made.controls),
                "judgements": len(made.measured) * made.design.judgements,
                "people_needed": made.people_needed,
                "left_out": list(made.left_out),
                "page": [{"item": slot.item.id, "control": slot.item.control} for slot in slots],
            }
        )
        return
    out.print(f"{made.title} ({made.name}): {len(made.measured)} items, {made.design.judgements} judgements each.")
    out.print(f"At least {made.people_needed} people, {made.design.pages} pages of {len(slots)} items each.")
    for line in made.left_out[:5]:
        out.print(f"Left out: {line}")
    rows = [
        (slot.place, " · ".join(slot.item.words) if slot.item.words else slot.item.text, slot.item.control)
        for slot in slots
    ]
    out.print(table([">", "a page", "control"], rows))


@app.command()
def link(
    where: Where,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10_000, help="How many.")] = 1,
    name: Named = "",
    public_url: Annotated[str, typer.Option(help="How people reach it.")] = "http://127.0.0.1:8080",
    as_json: Json = False,
) -> None:
    """Make personal links, one for each person. They are shown this once."""
    _need_extra()
    import time

    from seesay.cli.output import print_json
    from seesay.judge import participants
    from seesay.judge.web.server import reopen

    opened = reopen(where, name)
    try:
        tokens = opened.database.submit(lambda tx: participants.invite(tx, count, time.time())).result()
    finally:
        opened.database.close()
    made = [f"{public_url.rstrip('/')}/a/{token}" for token in tokens]
    if as_json:
        print_json({"links": made})
        return
    for address in made:
        print(address)


@app.command()
def export(
    where: Where,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    name: Named = "",
    model_name: Annotated[str, typer.Option("--as", help="How people are called in reports.")] = "people",
    distinct_above: Annotated[
        float, typer.Option(min=0, max=1, help="Drop who rates a control of unlike words above this.")
    ] = 0.6,
    same_below: Annotated[
        float, typer.Option(min=0, max=1, help="Drop who rates a word with itself below this.")
    ] = 0.9,
    known_below: Annotated[
        float, typer.Option(min=0, max=1, help="Drop who has a smaller share of known answers right.")
    ] = 0.7,
    seconds_below: Annotated[
        float, typer.Option(min=0, help="Drop who has a smaller median time for an item; 0: nobody.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of intervals and splits.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples behind an interval.")] = 10_000,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Clean and aggregate: tables, agreement, and a run in which people stand as a model."""
    _need_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.command_line import recorded_command
    from seesay.judge.results.export import export as export_study
    from seesay.judge.results.quality import Rule
    from seesay.judge.web.server import reopen

    rule = Rule(
        distinct_above=distinct_above, same_below=same_below, known_below=known_below, seconds_below=seconds_below
    )
    opened = reopen(where, name)
    try:
        made = export_study(
            opened.database,
            opened.study,
            output,
            rule=rule,
            name=model_name,
            resamples=resamples,
            seed=seed,
            command=recorded_command(),
        )
    finally:
        opened.database.close()
    report = made.report
    if as_json:
        run = str(made.run.folder) if made.run else None
        print_json({"folder": str(output), "run": run, "agreement": report.model_dump(mode="json")})
        return
    if quiet:
        return
    out.print(
        f"{report.people_kept} of {report.people} people and {report.judgements_kept} of {report.judgements} "
        f"judgements count: {report.judgements_an_item:.1f} for each of {report.items_judged} items.",
        soft_wrap=True,
    )
    for one in report.dropped:
        out.print(f"Dropped person {one.person}: {'; '.join(one.reasons)}.", soft_wrap=True)
    if report.agreement:
        rows = [(key, _number(c.value), _ends(c)) for key, c in report.agreement.items()]
        out.print(table(["agreement", ">value", ">95 % interval"], rows))
    out.print(f"Tables: {output}", soft_wrap=True)
    out.print(f"Run: {made.run.folder}" if made.run else "No run: too few judgements count yet.", soft_wrap=True)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ends(found: Any) -> str:
    return "" if found.low is None else f"{found.low:.3f}–{found.high:.3f}"


def _text(path: Path | None) -> str | None:
    from seesay.errors import UserError

    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error


def _lines(path: Path | None) -> list[str] | None:
    text = _text(path)
    return None if text is None else [line.strip() for line in text.splitlines() if line.strip()]


def _need_extra() -> None:
    from importlib.util import find_spec

    from seesay.errors import UserError

    if not all(find_spec(library) for library in ("starlette", "uvicorn", "markdown_it")):
        raise UserError("The judge needs more libraries: pip install 'seesay[judge]'.")
