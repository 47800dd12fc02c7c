"""Load test of the judge's server: many people at once over loopback, with SIGKILL under load.

`python -m benchmarks.judge [--database postgresql://…] [--people 200] [--kills 5] [--pause 0]`

There is no comparable program: the figures are response times, and that nothing is lost or doubled.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

from tests.judge.crowd import Crowd, Server, kill_during, quantile
from tests.judge.storage.test_load import check, design, pairs


def main() -> None:
    """Run once and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--database", default="", help="A fresh PostgreSQL database; without one, SQLite."
    )
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--judgements", type=int, default=20)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument(
        "--pause", type=float, default=0.0, help="Mean seconds that a person thinks about an item."
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        where = options.database or str(folder / "study.sqlite")
        study_options = design(options.people, options.items, options.judgements)
        server = Server(pairs(folder, options.items), where, *study_options)
        try:
            tokens = [
                link.rsplit("/", 1)[1] for link in server.start(links=options.people)["links"]
            ]
            crowd = Crowd(server.port, pause=options.pause)
            began = time.perf_counter()

            async def all_at_once() -> None:
                killing = kill_during(
                    server, crowd, options.kills, options.items * options.judgements
                )
                await asyncio.gather(crowd.run(tokens), killing)

            asyncio.run(all_at_once())
            seconds = time.perf_counter() - began
        finally:
            server.stop()
        check(
            where, crowd, people=options.people, items=options.items, judgements=options.judgements
        )
    kind = "PostgreSQL" if options.database else "SQLite"
    print(
        f"{kind}, {options.people} people, {options.items * options.judgements} judgements and "
        f"{len(crowd.acknowledged) - options.items * options.judgements} controls, {options.kills} "
        "kills, pause "
        f"{options.pause:g} s, {os.cpu_count()} cores: {len(crowd.seconds)} requests in "
        f"{seconds:.1f} s, median "
        f"{1000 * quantile(crowd.seconds, 0.5):.1f} ms, 99 % below "
        f"{1000 * quantile(crowd.seconds, 0.99):.1f} ms, "
        "none lost, none doubled, each item at its number"
    )


if __name__ == "__main__":
    main()
