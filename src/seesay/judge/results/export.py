"""Export a study: tables, agreement report, and the human run."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from seesay.files import write_text
from seesay.judge.participants import all_details
from seesay.judge.results.agreement import AgreementReport, agreement_coefficients, agreement_report
from seesay.judge.results.annotators import annotator_columns
from seesay.judge.results.disputes import apply_rulings, read_rulings
from seesay.judge.results.export_tables import item_rows, judgement_rows, people_rows, write_table
from seesay.judge.results.human_run import TooFewJudgementsError, write_human_run
from seesay.judge.results.quality import QualityCriteria, exclude_careless, read_judgements
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


# The parameters are the options of `seesay judge export`.
def export_study(  # noqa: PLR0913
    database: Database,
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

    The database is only read, so exports can be repeated.

    `criteria`: when a participant is excluded; by default as published.
    `name`: the name of the participants in the run.
    `adjudicated`: whether judgements that contradict a researcher's ruling do not count.
    """
    criteria = criteria or QualityCriteria()
    # In one transaction, since people may go on answering.
    (judgements, codes), rulings, details = database.submit(
        lambda tx: (read_judgements(tx, study), read_rulings(tx), all_details(tx))
    ).result()
    counted, excluded = exclude_careless(judgements, criteria, codes)
    # Before rulings are applied: the table shows what people disagreed on.
    item_table = item_rows(study, counted, rulings)
    if adjudicated:
        counted = apply_rulings(counted, rulings)
    coefficients = agreement_coefficients(study, counted, resamples=min(resamples, 2000), seed=seed)
    report = agreement_report(study, judgements, counted, excluded, criteria, coefficients)
    write_table(folder, "items", item_table)
    write_table(folder, "judgements", judgement_rows(study, judgements, excluded))
    columns = annotator_columns(study, judgements)
    write_table(folder, "people", people_rows(judgements, excluded, codes, columns, details))
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
