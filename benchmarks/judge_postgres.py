"""What a request costs on PostgreSQL: clock and processor time (ours and the database's) per page,
answer and form.

Run it with the sources of two commits in turn (PYTHONPATH=src:.) to compare them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.judge.postgres import cluster

from seesay.judge import participants
from seesay.judge.answers import save_answer, submit_page
from seesay.judge.assignment import next_step
from seesay.judge.items import ItemAnswer
from seesay.judge.storage import studies
from seesay.judge.storage.database import Database, Transaction
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_pairs

NOW = 1000.0
PER_PAGE = 10
MOVED = ItemAnswer(50, "moved")
Work = Callable[[Transaction], object]


def database_seconds() -> float:
    """Processor time of all PostgreSQL processes so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text(encoding="utf-8").rpartition(")")
        except OSError:  # it has ended
            continue
        if name.endswith("(postgres"):
            ticks += sum(map(int, rest.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(name: str, database: Database, works: Sequence[Work]) -> None:
    """Queue everything at once, as a crowd does, and print the means."""
    clock, ours, theirs = time.perf_counter(), time.process_time(), database_seconds()
    for future in [database.submit(work) for work in works]:
        future.result()
    spent = (time.perf_counter() - clock, time.process_time() - ours, database_seconds() - theirs)
    clock_ms, ours_ms, theirs_ms = (1000 * seconds / len(works) for seconds in spent)
    print(
        f"{name:8}{len(works):6} x {clock_ms:7.2f} ms, processor {ours_ms:.2f} ms + database "
        f"{theirs_ms:.2f} ms"
    )


def main(people: int) -> None:
    with tempfile.TemporaryDirectory() as folder, cluster() as address:
        pairs = Path(folder) / "pairs.csv"
        pairs.write_text("a,b\n" + "".join(f"l{i},r{i}\n" for i in range(people)), encoding="utf-8")
        study = study_from_pairs(
            pairs, StudyDesign(judgements=10, per_page=PER_PAGE, pages=1, controls=0)
        )
        database = studies.open_database(address, "benchmark")
        studies.create_study(database, study)
        database.submit(lambda tx: participants.create_links(tx, people, NOW)).result()
        everyone = range(1, people + 1)
        for person in everyone:
            database.submit(partial(participants.record_consent, person=person, now=NOW)).result()
        places = range(1, PER_PAGE + 1)

        def answer(person: int, place: int) -> Work:
            return lambda tx: save_answer(
                tx, study, person, 1, place, MOVED, f"{place:016d}", NOW + 1
            )

        measure(
            "page", database, [partial(next_step, study=study, person=p, now=NOW) for p in everyone]
        )
        measure(
            "answer", database, [answer(person, place) for place in places for person in everyone]
        )
        form = dict.fromkeys(places, MOVED)
        page = partial(submit_page, study=study, page=1, answers=form, now=NOW + 2)
        measure("form", database, [partial(page, person=person) for person in everyone])
        database.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
