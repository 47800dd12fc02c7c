"""A crowd over loopback: nothing lost, nothing doubled, each item at its number, also when the
server is killed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.judge.crowd import Crowd, Server, kill_during, quantile

from seesay.judge import security
from seesay.judge.storage.studies import open_study


def pairs(folder: Path, count: int) -> Path:
    path = folder / "pairs.csv"
    path.write_text(
        "a,b\n" + "".join(f"left{i},right{i}\n" for i in range(count)), encoding="utf-8"
    )
    return path


def design(people: int, items: int, judgements: int) -> list[str]:
    """Options under which there are pages for everyone: more than each needs, because who is quick
    does more."""
    per_page = 10
    pages = 3 * items * judgements // (people * per_page) + 1
    options = {
        "--judgements": judgements,
        "--per-page": per_page,
        "--pages": pages,
        "--controls": 1,
    }
    return [str(part) for pair in options.items() for part in pair]


def load(
    folder: Path, where: str, *, people: int, items: int, judgements: int, kills: int
) -> Crowd:
    """Send a crowd through a study and check all that is promised."""
    server = Server(pairs(folder, items), where, *design(people, items, judgements))
    try:
        tokens = [link.rsplit("/", 1)[1] for link in server.start(links=people)["links"]]
        crowd = Crowd(server.port)

        async def all_at_once() -> None:
            killing = kill_during(server, crowd, kills, items * judgements)
            await asyncio.gather(crowd.run(tokens), killing)

        asyncio.run(all_at_once())
    finally:
        server.stop()
    check(where, crowd, people=people, items=items, judgements=judgements)
    return crowd


def check(where: str, crowd: Crowd, *, people: int, items: int, judgements: int) -> None:
    opened = open_study(where, "pairs")
    try:
        rows = opened.database.submit(
            lambda tx: tx.execute(
                """SELECT p.token, s.page, s.place, a.value FROM answer a
                JOIN person p ON p.id = a.person
                JOIN assignment s ON s.person = a.person AND s.item = a.item"""
            )
        ).result()
        counts = opened.database.submit(
            lambda tx: tx.execute(
                "SELECT i.id, COUNT(*) FROM answer a JOIN item i ON i.id = a.item WHERE i.control "
                "= '' GROUP BY i.id"
            )
        ).result()
    finally:
        opened.database.close()
    stored = {(token, int(page), int(place)): int(value) for token, page, place, value in rows}
    assert len(stored) == len(rows), "an answer is doubled"
    acknowledged = {
        (security.digest(token), page, place): value
        for (token, page, place), value in crowd.acknowledged.items()
    }
    assert stored == acknowledged, "an acknowledged answer is lost, or one is kept that nobody gave"
    assert len(counts) == items
    assert {int(count) for _, count in counts} == {judgements}
    assert crowd.finished == people


def test_a_small_crowd(tmp_path: Path) -> None:
    crowd = load(tmp_path, str(tmp_path / "a.sqlite"), people=20, items=50, judgements=10, kills=1)
    assert crowd.lost_connections > 0


def test_a_small_crowd_on_postgres(tmp_path: Path, postgres: str) -> None:
    crowd = load(tmp_path, postgres, people=20, items=50, judgements=10, kills=1)
    assert crowd.lost_connections > 0


@pytest.mark.slow
@pytest.mark.parametrize("kills", [0, 5])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_hundred_people_and_ten_thousand_judgements(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, kills: int
) -> None:
    where = (
        str(tmp_path / "big.sqlite")
        if kind == "sqlite"
        else request.getfixturevalue("fresh_postgres")
    )
    crowd = load(tmp_path, where, people=200, items=500, judgements=20, kills=kills)
    assert len(crowd.acknowledged) >= 10_000
    print(f"{kind}, {kills} kills: median {1000 * quantile(crowd.seconds, 0.5):.1f} ms, ", end="")
    print(
        f"99 % below {1000 * quantile(crowd.seconds, 0.99):.1f} ms, {len(crowd.seconds)} requests"
    )
