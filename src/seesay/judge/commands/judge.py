"""`seesay judge`: ask people on a web page, and export their answers as a run."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet
from seesay.command_line import recorded_command
from seesay.defaults import RESAMPLES
from seesay.judge import SliderStart
from seesay.judge.commands import options
from seesay.judge.commands.imports import import_files, print_export
from seesay.judge.commands.plan import plan, preview

if TYPE_CHECKING:
    from seesay.judge.study import Study
    from seesay.judge.web.server import ServerAddresses

app = Application(
    help="Ask people the same questions as models, and export their answers.",
    no_args_is_help=True,
)
app.command()(preview)
app.command()(plan)
app.command("import")(import_files)


@app.command()
def serve(
    source: options.Source,
    study: Annotated[
        Path | None,
        typer.Option(help="The study file, new or existing. [default: NAME.judge.sqlite]"),
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="postgresql://… instead of a file, for many people.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="The name of the study. [default: the task's or the file's]")
    ] = "",
    title: Annotated[str | None, typer.Option(help="The heading that participants see.")] = None,
    consent: Annotated[
        Path | None, typer.Option(help="Markdown that participants must agree to first.")
    ] = None,
    instructions: Annotated[Path | None, typer.Option(help="Markdown above every page.")] = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="YAML with the study's texts, check and practice, by language."),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(help="Languages of the page, the default first, such as en,de. [default: en]"),
    ] = None,
    researcher: Annotated[str | None, typer.Option(help="Your name, for the consent page.")] = None,
    institution: Annotated[
        str | None, typer.Option(help="Your institution, for the consent page.")
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Your address for questions; needed with --public-url.")
    ] = None,
    ethics: Annotated[str | None, typer.Option(help="The number of the ethics approval.")] = None,
    withdrawal: Annotated[
        str | None, typer.Option(help="How people withdraw their answers.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="How long it takes. [default: from --pilot]")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="A finished study, from which the time is taken.")
    ] = None,
    data: options.Data = None,
    template: options.TemplateName = None,
    limit: options.Limit = None,
    known: options.ControlIds = None,
    answer: options.AnswerKind = "choice",
    most: options.Most = 0,
    icons: options.Icons = None,
    odd_word: options.OddWord = "green",
    judgements: options.Judgements = None,
    per_page: options.PerPage = None,
    pages: options.Pages = None,
    controls: options.Controls = None,
    design: Annotated[
        str | None,
        typer.Option(
            metavar="fixed|adaptive", help="adaptive: more judgements where people disagree."
        ),
    ] = None,
    min_judgements: Annotated[
        int | None, typer.Option(help="Adaptive: the least per item. [default: 5]")
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(help="Adaptive: the 95 % interval's width that is enough. [default: 0.4]"),
    ] = None,
    lease: Annotated[
        float | None, typer.Option(help="Minutes until idle items go to others. [default: 30]")
    ] = None,
    slider_start: Annotated[
        SliderStart | None, typer.Option(help="Where sliders start. [default: middle]")
    ] = None,
    option_order: options.Options = None,
    completion_code: Annotated[
        str | None, typer.Option(help="One code for all. [default: a code each]")
    ] = None,
    return_url: Annotated[
        str | None, typer.Option(help="Link at the end; {code} stands for the code.")
    ] = None,
    seed: options.Seed = None,
    links: Annotated[
        int, typer.Option(min=0, max=10_000, help="Create and print this many personal links.")
    ] = 0,
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="Holds the researcher's password. [default: $SEESAY_JUDGE_PASSWORD, or generated]"
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any free one.")
    ] = 8080,
    public_url: Annotated[
        str, typer.Option(help="The public address, such as https://study.example.org.")
    ] = "",
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Trust a proxy on this machine.")
    ] = False,
    prolific_keys: Annotated[
        Path | None,
        typer.Option(
            help="Prolific's public keys (JWKS): admit only workers whose link it has signed."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Serve a study: a page where people rate pairs with a slider or answer a task. Stop it with
    Ctrl-C.

    Examples:
        seesay judge serve core-color --limit 60 --links 20
        seesay judge serve relations.csv --judgements 10
    """
    options.require_extra()
    from seesay.judge.storage.studies import create_or_open_study
    from seesay.judge.web.languages import check_languages
    from seesay.judge.web.server import check_contact, serve_study

    def check(study: Study) -> None:
        check_contact(study, public_url)
        check_languages(study.design.languages)

    opened = create_or_open_study(
        source,
        location=database or (str(study) if study else None),
        name=name,
        design=options.only_set(
            judgements=judgements,
            per_page=per_page,
            pages=pages,
            controls=controls,
            allocation=design,
            min_judgements=min_judgements,
            width=width,
            lease_minutes=lease,
            slider_start=slider_start,
            option_order=option_order,
            completion_code=completion_code,
            return_url=return_url,
            languages=tuple(name.strip() for name in languages.split(",")) if languages else None,
            minutes=minutes,
            seed=seed,
        ),
        texts=options.only_set(
            title=title,
            consent=options.read_text(consent),
            instructions=options.read_text(instructions),
            researcher=researcher,
            institution=institution,
            contact=contact,
            ethics=ethics,
            withdrawal=withdrawal,
        ),
        text_file=texts,
        pilot=pilot,
        data=data,
        template=template,
        limit=limit,
        known=options.read_lines(known),
        answer=answer,
        most=most,
        icons=icons,
        odd_word=odd_word,
        password=options.read_text(password_file),
        check=check,
    )

    # The port may be any free one, so that the addresses are known only when it is bound.
    def announce(addresses: ServerAddresses) -> None:
        from seesay.cli.output import out, print_json
        from seesay.judge.planning import people_needed

        people = people_needed(opened.study)
        if as_json:
            print_json(asdict(addresses) | {"people_needed": people})
        elif not quiet:
            items = len(opened.study.measured)
            out.print(f"{opened.study.title}: {items} items in {addresses.where}")
            out.print(options.people_sentence(opened.study, people))
            out.print(f"Researcher's page: {addresses.researcher}")
            if addresses.password:
                out.print(f"Its password, shown only once: {addresses.password}")
            out.print(f"One link for Prolific or Mechanical Turk: {addresses.join}")
            for address in addresses.links:
                out.print(address)
            if 0 < links < people:
                out.print(options.other_links(addresses.where, people - links))
            out.print("Ctrl-C stops the server; the same command continues the study.")
        # A script that reads the addresses from a pipe waits for them.
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
def link(
    location: options.Location,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=10_000, help="Number of links.")
    ] = 1,
    name: options.StudyName = "",
    public_url: Annotated[str, typer.Option(help="The public address.")] = "http://127.0.0.1:8080",
    as_json: Json = False,
) -> None:
    """Create personal links, one per participant. They are shown only once."""
    options.require_extra()
    from seesay.cli.output import print_json
    from seesay.judge.storage.studies import open_study

    with open_study(location, name) as opened:
        links = opened.create_links(count, public_url)
    if as_json:
        print_json({"links": links})
    else:
        print("\n".join(links))


@app.command()
def withdraw(
    location: options.Location,
    code: Annotated[
        str, typer.Argument(metavar="CODE_OR_LINK", help="A completion code, or a personal link.")
    ],
    name: options.StudyName = "",
) -> None:
    """Delete what a participant answered who withdraws. It cannot be undone."""
    options.require_extra()
    from seesay.cli.output import out
    from seesay.judge import participants
    from seesay.judge.storage.studies import open_study

    with open_study(location, name) as opened:
        # A link ends in its token; a completion code has no slash.
        token = code.rstrip("/").rpartition("/")[2]
        count = opened.database.submit(lambda tx: participants.withdraw(tx, token)).result()
    out.print(f"Deleted {count} answers.")


@app.command()
def export(
    location: options.Location,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    name: options.StudyName = "",
    model_name: Annotated[
        str, typer.Option("--as", help="The name of the participants in reports.")
    ] = "people",
    distinct_above: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Exclude people who rate a control of unlike words above this."
        ),
    ] = 0.6,
    same_below: Annotated[
        float,
        typer.Option(min=0, max=1, help="Exclude people who rate a word with itself below this."),
    ] = 0.9,
    known_below: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Exclude people with a smaller share of known answers correct."
        ),
    ] = 0.7,
    seconds_below: options.SecondsBelow = 0,
    adjudicated: Annotated[
        bool,
        typer.Option(
            "--adjudicated", help="Count only judgements that agree with the researcher's rulings."
        ),
    ] = False,
    seed: options.IntervalSeed = 0,
    resamples: options.Resamples = RESAMPLES,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Exclude careless participants and aggregate: tables, agreement, and a run in which people
    stand as a model.

    Examples:
        seesay judge export core-color.judge.sqlite -o results
    """
    options.require_extra()
    from seesay.judge.results.export import export_study
    from seesay.judge.results.quality import QualityCriteria
    from seesay.judge.storage.studies import open_study

    criteria = QualityCriteria(
        distinct_above=distinct_above,
        same_below=same_below,
        known_below=known_below,
        seconds_below=seconds_below,
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
            adjudicated=adjudicated,
        )
    print_export(exported, quiet=quiet, as_json=as_json)
