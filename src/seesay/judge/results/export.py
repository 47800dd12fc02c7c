"""From a study's database to its results: tables, the agreement report, and the run."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from seesay.errors import UserError
from seesay.files import write_text
from seesay.judge.results import export_tables
from seesay.judge.results.agreement import Report, coefficients, report
from seesay.judge.results.human_run import write_run
from seesay.judge.results.quality import Rule, clean, read
from seesay.judge.storage.database import Database
from seesay.judge.study import Study
from seesay.runs.run import Run


@dataclass(frozen=True)
class Exported:
    """What was written; `run` is None where too few judgements count for one."""

    folder: Path
    report: Report
    run: Run | None


def export(
    database: Database,
    study: Study,
    folder: Path,
    *,
    rule: Rule | None = None,
    name: str = "people",
    resamples: int = 10_000,
    seed: int = 0,
    command: str = "",
) -> Exported:
    """Clean, aggregate and write. The database is only read: other thresholds are another export."""
    rule = rule or Rule()
    every, codes = database.submit(lambda tx: read(tx, study)).result()
    kept, dropped = clean(every, rule, codes)
    found = coefficients(study, kept, resamples=min(resamples, 2000), seed=seed)
    made = report(study, every, kept, dropped, rule, found)
    folder.mkdir(parents=True, exist_ok=True)
    export_tables.write(folder, "items", export_tables.item_rows(study, kept))
    export_tables.write(folder, "judgements", export_tables.judgement_rows(every, dropped))
    export_tables.write(folder, "people", export_tables.people_rows(every, dropped, codes))
    write_text(folder / "agreement.json", made.model_dump_json(indent=2))
    write_text(folder / "study.json", study.model_dump_json(indent=2))
    try:
        run = write_run(study, kept, found, folder / "runs", name=name, resamples=resamples, seed=seed, command=command)
    except UserError:
        run = None
    return Exported(folder, made, run)


def archive(database: Database, study: Study) -> bytes:
    """An export with the published thresholds, as one ZIP file."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        export(database, study, folder)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != ".lock":
                    file.write(path, path.relative_to(folder))
    return packed.getvalue()
