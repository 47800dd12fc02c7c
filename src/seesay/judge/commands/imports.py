"""`seesay judge import`: people's answers that other programs collected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.completion import complete_tasks
from seesay.cli.options import Json, Quiet
from seesay.command_line import recorded_command
from seesay.defaults import RESAMPLES
from seesay.judge.commands import options

if TYPE_CHECKING:
    from seesay.judge.results.agreement import Coefficient
    from seesay.judge.results.export import StudyExport


def import_files(
    task: Annotated[
        str, typer.Argument(metavar="TASK", autocompletion=complete_tasks, help="What was asked.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(help="jsPsych's JSON, Potato's JSON lines, a table; Prolific's export."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    data: options.Data = None,
    template: options.TemplateName = None,
    answer: options.AnswerKind = "choice",
    most: options.Most = 0,
    person: Annotated[
        str, typer.Option(help="The key that says who answered, where several might.")
    ] = "",
    item: Annotated[str, typer.Option(help="The key with the id of the question.")] = "",
    response: Annotated[
        str, typer.Option(help="The key, or Potato's schema, that holds the answer.")
    ] = "",
    model_name: Annotated[
        str, typer.Option("--as", help="The name of the participants in reports.")
    ] = "people",
    seconds_below: options.SecondsBelow = 0,
    seed: options.IntervalSeed = 0,
    resamples: options.Resamples = RESAMPLES,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Read people's answers of other programs: tables, agreement, and a run, as `export` writes.

    Examples:
        seesay judge import core-color trials.json prolific.csv -o results
    """
    options.require_extra()
    from seesay.judge.results.export import StudyAnswers, export_answers
    from seesay.judge.results.imported import ImportKeys, import_answers
    from seesay.judge.results.quality import QualityCriteria
    from seesay.judge.study import StudyDesign
    from seesay.judge.study_builder import study_from_task
    from seesay.tasks import load_task

    study = study_from_task(
        load_task(task, data),
        StudyDesign(controls=0),
        template=template,
        answer=answer,
        most=most,
    )
    imported = import_answers(study, files, ImportKeys(person, item, response))
    details = {number: {"imported_id": name} for name, number in imported.numbers.items()}
    exported = export_answers(
        StudyAnswers(
            imported.judgements,
            details=details,
            rejected=imported.rejected,
            notes=imported.notes,
        ),
        study,
        output,
        criteria=QualityCriteria(seconds_below=seconds_below),
        name=model_name,
        resamples=resamples,
        seed=seed,
        command=recorded_command(),
    )
    print_export(exported, quiet=quiet, as_json=as_json)


def print_export(
    exported: StudyExport,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print who and what counts, and where it was written."""
    from seesay.cli.output import out, print_json, table
    from seesay.judge.results.agreement import AGREEMENT_SCALE

    report = exported.report
    if as_json:
        print_json(
            {
                "folder": str(exported.folder),
                "run": str(exported.run.folder) if exported.run else None,
                "no_run_reason": exported.no_run_reason or None,
                "agreement": report.model_dump(mode="json"),
            }
        )
        return
    out.print(
        f"{report.people_counted} of {report.people} people and {report.judgements_counted} of "
        f"{report.judgements} judgements count: {report.judgements_per_item:.1f} for each of "
        f"{report.items_judged} items."
    )
    for sentence in report.remarks:
        out.print(sentence)
    for excluded in report.excluded:
        out.print(f"Excluded participant {excluded.person}: {'; '.join(excluded.reasons)}.")
    if report.agreement:
        rows = [(key, *_columns(coefficient)) for key, coefficient in report.agreement.items()]
        out.print(table(["agreement", ">value", ">95 % interval"], rows))
        for key, coefficient in report.agreement.items():
            out.print(f"{key}: {coefficient.meaning}.")
        out.print(AGREEMENT_SCALE)
    if quiet:
        return
    out.print(f"Tables: {exported.folder}")
    if exported.run:
        out.print(f"Run: {exported.run.folder}")
    else:
        out.print(f"No run: {exported.no_run_reason}")


def _columns(coefficient: Coefficient) -> tuple[str, str]:
    """Return a coefficient's value and interval as a table shows them."""
    value = "–"
    interval = ""
    if coefficient.value is not None:
        value = f"{coefficient.value:.3f}"
    if coefficient.low is not None:
        interval = f"{coefficient.low:.3f}–{coefficient.high:.3f}"
    return value, interval
