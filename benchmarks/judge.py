"""How the judge's server holds up: many people at once over loopback, and SIGKILL under the load.

`python -m benchmarks.judge [--database postgresql://…] [--people 200] [--kills 5] [--pause 0]`

There is no peer to measure beside: the figures are response times, and that nothing is lost or doubled.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

from tests.judge.crowd import Crowd, Server, kill_during, quantile
from tests.judge.test_load import check, design, pairs


def main() -> None:
    """Run once and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default="", help="A fresh PostgreSQL database; without one, SQLite.")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--judgements", type=int, default=20)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0, help="Mean seconds that a person thinks about an item.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        where = asked.database or str(folder / "study.sqlite")
        options = design(asked.people, asked.items, asked.judgements)
        server = Server(pairs(folder, asked.items), where, *options)
        try:
            tokens = [link.rsplit("/", 1)[1] for link in server.start(links=asked.people)["links"]]
            crowd = Crowd(server.port, pause=asked.pause)
            began = time.perf_counter()

            async def all_at_once() -> None:
                killing = kill_during(server, crowd, asked.kills, asked.items * asked.judgements)
                await asyncio.gather(crowd.run(tokens), killing)

            asyncio.run(all_at_once())
            seconds = time.perf_counter() - began
        finally:
            server.stop()
        check(where, crowd, people=asked.people, items=asked.items, judgements=asked.judgements)
    kind = "PostgreSQL" if asked.database else "SQLite"
    print(
        f"{kind}, {asked.people} people, {asked.items * asked.judgements} judgements and "
        f"{len(crowd.acknowledged) - asked.items * asked.judgements} controls, {asked.kills} kills, pause "
        f"{asked.pause:g} s, {os.cpu_count()} cores: {len(crowd.seconds)} requests in {seconds:.1f} s, median "
        f"{1000 * quantile(crowd.seconds, 0.5):.1f} ms, 99 % below {1000 * quantile(crowd.seconds, 0.99):.1f} ms, "
        "none lost, none doubled, each item at its number"
    )


if __name__ == "__main__":
    main()
