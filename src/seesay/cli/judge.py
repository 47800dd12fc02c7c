"""`seesay judge`: ask people on a web page, and export their answers as a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import Json, Quiet
from seesay.judge import SliderStart

if TYPE_CHECKING:
    from seesay.judge.results.agreement import Coefficient
    from seesay.judge.web.server import ServerAddresses

app = typer.Typer(help="Ask people the same questions as models, and export their answers.", no_args_is_help=True)

Source = Annotated[
    str, typer.Argument(metavar="TASK_OR_PAIRS", help="A task, a CSV file with the columns a,b, or a study file.")
]
Location = Annotated[str, typer.Argument(metavar="STUDY", help="A study file, or postgresql://….")]
StudyName = Annotated[str, typer.Option("--name", help="The name of the study, where a database holds several.")]
Data = Annotated[Path | None, typer.Option(help="The task's data file or folder, instead of the data folder's.")]
TemplateName = Annotated[str | None, typer.Option("--template", help="The template people read. Default: the first.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Ask at most this many questions.")]
ControlIds = Annotated[
    Path | None, typer.Option("--known", help="A file with ids of control questions, one per line. Default: drawn.")
]
OddWord = Annotated[str, typer.Option(help="The word of the controls that resembles no other.")]
Judgements = Annotated[int | None, typer.Option(help="Judgements per item. [default: 10]")]
PerPage = Annotated[int | None, typer.Option(help="Items per page. [default: 20]")]
Pages = Annotated[int | None, typer.Option("--pages", help="Pages per participant. [default: 3]")]
Controls = Annotated[int | None, typer.Option(help="Controls per page. [default: 2]")]
Seed = Annotated[int | None, typer.Option(help="Seed of the order of items and of the controls. [default: 0]")]


@app.command()
def serve(
    source: Source,
    study: Annotated[
        Path | None, typer.Option(help="The study file, new or existing. [default: NAME.judge.sqlite]")
    ] = None,
    database: Annotated[str | None, typer.Option(help="postgresql://… instead of a file, for many people.")] = None,
    name: Annotated[str, typer.Option(help="The name of the study. [default: the task's or the file's]")] = "",
    title: Annotated[str | None, typer.Option(help="The heading that participants see.")] = None,
    consent: Annotated[Path | None, typer.Option(help="Markdown that participants must agree to first.")] = None,
    instructions: Annotated[Path | None, typer.Option(help="Markdown above every page.")] = None,
    data: Data = None,
    template: TemplateName = None,
    limit: Limit = None,
    known: ControlIds = None,
    odd_word: OddWord = "green",
    judgements: Judgements = None,
    per_page: PerPage = None,
    pages: Pages = None,
    controls: Controls = None,
    lease: Annotated[float | None, typer.Option(help="Minutes until idle items go to others. [default: 30]")] = None,
    slider_start: Annotated[SliderStart | None, typer.Option(help="Where sliders start. [default: middle]")] = None,
    completion_code: Annotated[str | None, typer.Option(help="One code for all. [default: a code each]")] = None,
    return_url: Annotated[str | None, typer.Option(help="Link at the end; {code} stands for the code.")] = None,
    seed: Seed = None,
    links: Annotated[int, typer.Option(min=0, max=10_000, help="Create and print this many personal links.")] = 0,
    password_file: Annotated[
        Path | None,
        typer.Option(help="Holds the researcher's password. [default: $SEESAY_JUDGE_PASSWORD, or generated]"),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any free one.")] = 8080,
    public_url: Annotated[str, typer.Option(help="The public address, such as https://study.example.org.")] = "",
    behind_proxy: Annotated[bool, typer.Option("--behind-proxy", help="Trust a proxy on this machine.")] = False,
    prolific_keys: Annotated[
        Path | None, typer.Option(help="Prolific's public keys (JWKS): admit only workers whose link it has signed.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Serve a study: a page where people rate pairs with a slider or answer a task. Stop it with Ctrl-C."""
    _require_extra()
    from seesay.judge.storage.studies import create_or_open_study
    from seesay.judge.web.server import serve_study

    opened = create_or_open_study(
        source,
        location=database or (str(study) if study else None),
        name=name,
        design=_given(
            judgements=judgements,
            per_page=per_page,
            pages=pages,
            controls=controls,
            lease_minutes=lease,
            slider_start=slider_start,
            completion_code=completion_code,
            return_url=return_url,
            seed=seed,
        ),
        texts=_given(title=title, consent=_read_text(consent), instructions=_read_text(instructions)),
        data=data,
        template=template,
        limit=limit,
        known=_read_lines(known),
        odd_word=odd_word,
        password=_read_text(password_file),
    )

    def announce(addresses: ServerAddresses) -> None:
        from dataclasses import asdict

        from seesay.cli.output import out, print_json

        if as_json:
            print_json(asdict(addresses))
        elif not quiet:
            items = len(opened.study.measured)
            out.print(f"{opened.study.title}: {items} items in {addresses.where}", soft_wrap=True)
            out.print(f"Researcher's page: {addresses.researcher}", soft_wrap=True)
            if addresses.password:
                out.print(f"Its password, shown only once: {addresses.password}", soft_wrap=True)
            out.print(f"One link for Prolific or Mechanical Turk: {addresses.join}", soft_wrap=True)
            for address in addresses.links:
                out.print(address, soft_wrap=True)
            out.print("Ctrl-C stops the server; the same command continues the study.", soft_wrap=True)
        sys.stdout.flush()

    with opened:
        serve_study(
            opened,
            announce,
            host=host,
            port=port,
            public_url=public_url,
            behind_proxy=behind_proxy,
            prolific_keys=prolific_keys,
            links=links,
        )


@app.command()
def preview(
    source: Source,
    data: Data = None,
    template: TemplateName = None,
    limit: Limit = None,
    known: ControlIds = None,
    odd_word: OddWord = "green",
    judgements: Judgements = None,
    per_page: PerPage = None,
    pages: Pages = None,
    controls: Controls = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Show a page of a study and how many participants it needs, without creating it."""
    _require_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.judge.study_builder import build_study
    from seesay.judge.web.pages import sample_page

    design = _given(judgements=judgements, per_page=per_page, pages=pages, controls=controls, seed=seed)
    study = build_study(
        source, design, data=data, template=template, limit=limit, known=_read_lines(known), odd_word=odd_word
    )
    page = sample_page(study)
    if as_json:
        print_json(
            {
                "name": study.name,
                "title": study.title,
                "kind": study.kind,
                "items": len(study.measured),
                "controls": len(study.controls),
                "judgements": len(study.measured) * study.design.judgements,
                "people_needed": study.participants_needed,
                "left_out": list(map(str, study.left_out)),
                "page": [{"item": entry.item.id, "control": entry.item.control} for entry in page],
            }
        )
        return
    out.print(f"{study.title} ({study.name}): {len(study.measured)} items, {study.design.judgements} judgements each.")
    out.print(f"At least {study.participants_needed} people, {study.design.pages} pages of {len(page)} items each.")
    for row in study.left_out[:5]:
        out.print(f"Left out: {row}")
    rows = [
        (entry.place, " · ".join(entry.item.words) if entry.item.words else entry.item.text, entry.item.control)
        for entry in page
    ]
    out.print(table([">", "item", "control"], rows))


@app.command()
def link(
    location: Location,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10_000, help="Number of links.")] = 1,
    name: StudyName = "",
    public_url: Annotated[str, typer.Option(help="The public address.")] = "http://127.0.0.1:8080",
    as_json: Json = False,
) -> None:
    """Create personal links, one per participant. They are shown only once."""
    _require_extra()
    from seesay.cli.output import print_json
    from seesay.judge.storage.studies import open_study

    with open_study(location, name) as opened:
        links = opened.create_links(count, public_url)
    if as_json:
        print_json({"links": links})
    else:
        print("\n".join(links))


@app.command()
def export(
    location: Location,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    name: StudyName = "",
    model_name: Annotated[str, typer.Option("--as", help="The name of the participants in reports.")] = "people",
    distinct_above: Annotated[
        float, typer.Option(min=0, max=1, help="Exclude people who rate a control of unlike words above this.")
    ] = 0.6,
    same_below: Annotated[
        float, typer.Option(min=0, max=1, help="Exclude people who rate a word with itself below this.")
    ] = 0.9,
    known_below: Annotated[
        float, typer.Option(min=0, max=1, help="Exclude people with a smaller share of known answers correct.")
    ] = 0.7,
    seconds_below: Annotated[
        float, typer.Option(min=0, help="Exclude people with a smaller median time per item.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and splits.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples per interval.")] = 10_000,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Exclude careless participants and aggregate: tables, agreement, and a run in which people stand as a model."""
    _require_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.command_line import recorded_command
    from seesay.judge.results.export import export_study
    from seesay.judge.results.quality import QualityCriteria
    from seesay.judge.storage.studies import open_study

    criteria = QualityCriteria(
        distinct_above=distinct_above, same_below=same_below, known_below=known_below, seconds_below=seconds_below
    )
    with open_study(location, name) as opened:
        exported = export_study(
            opened.database,
            opened.study,
            output,
            criteria=criteria,
            name=model_name,
            resamples=resamples,
            seed=seed,
            command=recorded_command(),
        )
    report = exported.report
    if as_json:
        print_json(
            {
                "folder": str(output),
                "run": str(exported.run.folder) if exported.run else None,
                "no_run_reason": exported.no_run_reason or None,
                "agreement": report.model_dump(mode="json", by_alias=True),
            }
        )
        return
    out.print(
        f"{report.people_kept} of {report.people} people and {report.judgements_kept} of {report.judgements} "
        f"judgements count: {report.judgements_per_item:.1f} for each of {report.items_judged} items.",
        soft_wrap=True,
    )
    for excluded in report.excluded:
        out.print(f"Excluded participant {excluded.person}: {'; '.join(excluded.reasons)}.", soft_wrap=True)
    if report.agreement:
        rows = [(key, *_columns(coefficient)) for key, coefficient in report.agreement.items()]
        out.print(table(["agreement", ">value", ">95 % interval"], rows))
    if quiet:
        return
    out.print(f"Tables: {output}", soft_wrap=True)
    out.print(f"Run: {exported.run.folder}" if exported.run else f"No run: {exported.no_run_reason}", soft_wrap=True)


def _columns(coefficient: Coefficient) -> tuple[str, str]:
    interval = "" if coefficient.low is None else f"{coefficient.low:.3f}–{coefficient.high:.3f}"
    return "–" if coefficient.value is None else f"{coefficient.value:.3f}", interval


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {key: value for key, value in options.items() if value is not None}


def _read_text(path: Path | None) -> str | None:
    from seesay.errors import UserError

    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error


def _read_lines(path: Path | None) -> list[str] | None:
    text = _read_text(path)
    return None if text is None else [line.strip() for line in text.splitlines() if line.strip()]


def _require_extra() -> None:
    from seesay.errors import missing_extra

    try:
        import markdown_it  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_extra("The judge", "judge", error) from error
