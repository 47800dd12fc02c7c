"""Export a study: tables, agreement report, and the human run."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.files import write_text
from seesay.judge.participants import all_details
from seesay.judge.results.agreement import AgreementReport, agreement_coefficients, agreement_report
from seesay.judge.results.annotators import annotator_columns
from seesay.judge.results.disputes import apply_rulings, read_rulings
from seesay.judge.results.export_tables import item_rows, judgement_rows, people_rows, write_table
from seesay.judge.results.human_run import TooFewJudgementsError, write_human_run
from seesay.judge.results.psych_ds import PSYCH_DS, write_psych_ds
from seesay.judge.results.quality import (
    Judgement,
    QualityCriteria,
    exclude_careless,
    read_judgements,
)
from seesay.judge.storage.database import Database
from seesay.judge.study import Study
from seesay.runs.run import Run


@dataclass(frozen=True)
class StudyExport:
    """What was written."""

    folder: Path
    report: AgreementReport
    run: Run | None
    no_run_reason: str = ""
    """Why there is no `run`."""


@dataclass(frozen=True)
class StudyAnswers:
    """What people answered, and what else is known of them, by their numbers."""

    judgements: Sequence[Judgement]
    codes: Mapping[int, str] = field(default_factory=dict)
    """Their completion codes."""
    rulings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What a researcher ruled, by item."""
    details: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Their language, check and practice."""
    rejected: Mapping[int, str] = field(default_factory=dict)
    """Who does not count, whatever they answered, and why."""
    notes: tuple[str, ...] = ()
    """What a reader of the results has to know about where they come from."""


def read_answers(database: Database, study: Study) -> StudyAnswers:
    """Read what people have answered so far."""
    # In one transaction, since people may go on answering.
    (judgements, codes), rulings, details = database.submit(
        lambda tx: (read_judgements(tx, study), read_rulings(tx), all_details(tx))
    ).result()
    return StudyAnswers(judgements, codes, rulings, details)


# The parameters are the options of `seesay judge export`.
def export_answers(  # noqa: PLR0913
    answers: StudyAnswers,
    study: Study,
    folder: Path,
    *,
    criteria: QualityCriteria | None = None,
    name: str = "people",
    resamples: int = 10_000,
    seed: int = 0,
    command: str = "",
    adjudicated: bool = False,
) -> StudyExport:
    """Exclude careless participants, aggregate and write.

    `criteria`: when a participant is excluded; by default as published.
    `name`: the name of the participants in the run.
    `adjudicated`: whether judgements that contradict a researcher's ruling do not count.
    """
    criteria = criteria or QualityCriteria()
    judgements = answers.judgements
    counted, excluded = exclude_careless(judgements, criteria, answers.codes, answers.rejected)
    # Before rulings are applied: the table shows what people disagreed on.
    item_table = item_rows(study, counted, answers.rulings)
    if adjudicated:
        counted = apply_rulings(counted, answers.rulings)
    coefficients = agreement_coefficients(study, counted, resamples=min(resamples, 2000), seed=seed)
    report = agreement_report(study, judgements, counted, excluded, criteria, coefficients)
    report = report.model_copy(update={"remarks": (*answers.notes, *report.remarks)})
    excluded_persons = {participant.person for participant in excluded}
    columns = annotator_columns(study, judgements, excluded_persons)
    tables = {
        "items": item_table,
        "judgements": judgement_rows(study, judgements, excluded),
        "people": people_rows(judgements, excluded, answers.codes, columns, answers.details),
    }
    for table_name, rows in tables.items():
        write_table(folder, table_name, rows)
    write_psych_ds(study, tables, folder / PSYCH_DS)
    write_text(folder / "agreement.json", report.model_dump_json(indent=2))
    write_text(folder / "study.json", study.model_dump_json(indent=2))
    try:
        run = write_human_run(
            study,
            counted,
            coefficients,
            folder / "runs",
            name=name,
            resamples=resamples,
            seed=seed,
            command=command,
        )
    except TooFewJudgementsError as error:
        return StudyExport(folder, report, None, str(error))
    return StudyExport(folder, report, run)


def export_study(
    database: Database,
    study: Study,
    folder: Path,
    **settings: Any,
) -> StudyExport:
    """Write what people have answered so far; `settings` go to `export_answers`.

    The database is only read, so exports can be repeated.
    """
    return export_answers(read_answers(database, study), study, folder, **settings)


def export_zip(database: Database, study: Study) -> bytes:
    """Return an export with the published thresholds, as one ZIP file."""
    content = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        export_study(database, study, folder)
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != ".lock":
                    archive.write(path, path.relative_to(folder))
    return content.getvalue()
