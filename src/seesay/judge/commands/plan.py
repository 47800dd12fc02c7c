"""`seesay judge preview` and `plan`: what a study looks like and takes, before it begins."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json
from seesay.judge.commands import options


def preview(
    source: options.Source,
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
    seed: options.Seed = None,
    as_json: Json = False,
) -> None:
    """Show a page of a study and how many participants it needs, without creating it."""
    options.require_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.judge.planning import people_needed
    from seesay.judge.study_builder import build_study
    from seesay.judge.web.pages import sample_page

    design = options.only_set(
        judgements=judgements, per_page=per_page, pages=pages, controls=controls, seed=seed
    )
    study = build_study(
        source,
        design,
        data=data,
        template=template,
        limit=limit,
        known=options.read_lines(known),
        odd_word=odd_word,
        answer=answer,
        most=most,
        icons=icons,
    )
    page = sample_page(study)
    people = people_needed(study)
    if as_json:
        print_json(
            {
                "name": study.name,
                "title": study.title,
                "kind": study.kind,
                "items": len(study.measured),
                "controls": len(study.controls),
                "judgements": len(study.measured) * study.design.judgements,
                "people_needed": people,
                "bad_rows": list(map(str, study.bad_rows)),
                "page": [{"item": entry.item.id, "control": entry.item.control} for entry in page],
            }
        )
        return
    out.print(f"{study.title} ({study.name}): {len(study.measured)} items.")
    out.print(options.people_sentence(study, people))
    for row in study.bad_rows[:5]:
        out.print(f"Left out: {row}")
    rows = [(entry.place, entry.item.line, entry.item.control) for entry in page]
    out.print(table([">", "item", "control"], rows))


def plan(
    source: options.Source,
    width: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1,
            help="Width of each item's 95 % interval that is enough; else --judgements.",
        ),
    ] = None,
    agreement: Annotated[
        float,
        typer.Option(min=0.05, max=1, help="How often people give an item's most frequent answer."),
    ] = 0.8,
    spread: Annotated[
        float,
        typer.Option(
            min=0.01, max=0.5, help="Of ratings: their standard deviation on one item, from 0 to 1."
        ),
    ] = 0.2,
    pilot: Annotated[
        Path | None, typer.Option(help="A study to take agreement and time per item from.")
    ] = None,
    pay: Annotated[
        float | None, typer.Option(min=0, help="Pay per judgement, in any currency.")
    ] = None,
    fee: Annotated[
        float,
        typer.Option(min=0, max=5, help="The site's fee as a share of the pay, such as 0.33."),
    ] = 0.0,
    data: options.Data = None,
    limit: options.Limit = None,
    judgements: options.Judgements = None,
    per_page: options.PerPage = None,
    pages: options.Pages = None,
    controls: options.Controls = None,
    seed: options.Seed = None,
    as_json: Json = False,
) -> None:
    """How many people a study takes, how long they are busy and what it costs, in both designs."""
    options.require_extra()
    from seesay.cli.output import out, print_json, table
    from seesay.judge.planning import plan_study
    from seesay.judge.study_builder import build_study

    design = options.only_set(
        judgements=judgements, per_page=per_page, pages=pages, controls=controls, seed=seed
    )
    study = build_study(source, design, data=data, limit=limit)
    plan = plan_study(
        study, width=width, agreement=agreement, spread=spread, pilot=pilot, pay=pay, fee=fee
    )
    items = len(study.measured)
    plans = plan.designs
    if as_json:
        print_json({"items": items, "width": plan.width, "plans": list(map(asdict, plans))})
        return
    out.print(f"{study.title} ({study.name}): {items} items, controls not counted.")
    rows = []
    for design_plan in plans:
        minutes = design_plan.minutes
        cost = design_plan.cost
        rows.append(
            (
                design_plan.design,
                f"{design_plan.judgements_per_item:.1f}",
                design_plan.judgements,
                f"{'' if design_plan.simulated else 'at least '}{design_plan.people}",
                "–" if minutes is None else f"{minutes:.0f}",
                "–" if cost is None else f"{cost:,.2f}",
            )
        )
    out.print(
        table(["design", ">per item", ">judgements", ">people", ">minutes each", ">cost"], rows)
    )
    text = (
        "People: those who come one after another and complete their pages, until every item has "
        "its judgements; nobody judges what is among their controls, so the last find little to "
        "do. "
        f"Adaptive: from {plan.least} to {plan.most} judgements per item, until its 95 % interval "
        f"is at most {plan.width:g} wide, simulated with {plan.basis}."
    )
    for row, hint in ((4, "Minutes need a pilot (--pilot)."), (5, "Costs need --pay.")):
        if any(cells[row] == "–" for cells in rows):
            text += f" {hint}"
    out.print(text)
