"""Small studies, and an open server without a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from seesay.judge import participants, security
from seesay.judge.progress import StudyProgress, study_progress
from seesay.judge.storage import studies
from seesay.judge.storage.database import Database, set_setting
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_pairs, study_from_task
from seesay.judge.web.app import make_app
from seesay.judge.web.rate_limits import RateLimiter
from seesay.questions import Question, Task, Template

PASSWORD = "correct horse battery"
WORDS = ("above", "over", "under", "below", "near", "far", "left", "right")
COLOURS = ("red", "green", "blue")


def pairs_file(folder: Path, count: int = 12) -> Path:
    """The first pairs of the words."""
    pairs = [(a, b) for i, a in enumerate(WORDS) for b in WORDS[i + 1 :]][:count]
    path = folder / "relations.csv"
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8")
    return path


def rating_study(folder: Path, count: int = 12, **design: Any) -> Study:
    return study_from_pairs(
        pairs_file(folder, count),
        StudyDesign(**{"judgements": 3, "per_page": 4, "pages": 2} | design),
    )


def task(count: int = 12, **changes: Any) -> Task:
    things = [f"thing {i}" for i in range(count)]
    return Task(
        name="colours",
        version="1",
        title="What colour is it?",
        templates=(
            Template("plain", "A {thing} is [MASK]."),
            Template("asked", "What colour is a {thing}? [MASK]."),
        ),
        questions=tuple(
            Question(
                thing,
                {"thing": thing},
                COLOURS,
                {COLOURS[i % 3]: 1.0}
                if i % 4
                else {COLOURS[i % 3]: 0.5, COLOURS[(i + 1) % 3]: 0.5},
                thing,
                {"parity": "even" if i % 2 == 0 else "odd"},
                **changes,
            )
            for i, thing in enumerate(things)
        ),
        metrics=("relaxed_accuracy", "true_confidence", "macro_f1"),
        neutral={"thing": "thing"},
    )


def choice_study(count: int = 12, **design: Any) -> Study:
    return study_from_task(
        task(count),
        StudyDesign(**{"judgements": 3, "per_page": 4, "pages": 2, "controls": 1} | design),
    )


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class ServedStudy:
    """A served study and ways to reach into it."""

    study: Study
    database: Database
    client: TestClient
    clock: Clock = field(default_factory=Clock)

    def invite(self) -> str:
        """A new person's token."""
        return self.database.submit(
            lambda tx: participants.create_links(tx, 1, self.clock())
        ).result()[0]

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.database.submit(lambda tx: tx.execute(sql, *values)).result()

    def progress(self) -> StudyProgress:
        return self.database.submit(
            lambda tx: study_progress(tx, self.study, self.clock())
        ).result()

    def begin(self) -> str:
        """A person who has consented."""
        token = self.invite()
        shown = self.client.get(f"/a/{token}")
        form = {"form": form_token(shown.text), "agree": "yes"}
        assert self.client.post(f"/a/{token}/consent", data=form).status_code == 200
        return token

    def save(
        self, token: str, place: int, value: int, key: str | None = None, **changes: Any
    ) -> Any:
        """Send one answer as the script does."""
        how = "moved" if self.study.kind == "rating" else "chosen"
        body = {
            "page": 1,
            "place": place,
            "value": value,
            "how": how,
            "key": key or security.new_token(),
        } | changes
        return self.client.post(
            "/api/answers", json=body, headers={"Authorization": f"Bearer {token}"}
        )

    def fill(self, token: str, answer: Callable[[int], int] = lambda place: 50) -> dict[str, str]:
        """The form of the page that is open, all answered, and where it goes to."""
        text = self.client.get(f"/a/{token}").text
        fields = {"form": form_token(text)}
        for place in map(int, re.findall(r'id="item-(\d+)"', text)):
            fields[f"v{place}"] = str(answer(place))
            if self.study.kind == "rating":
                fields[f"ok{place}"] = "moved"
        return fields

    def send(self, token: str, page: int, fields: dict[str, str]) -> Any:
        return self.client.post(f"/a/{token}/page/{page}", data=fields, follow_redirects=False)

    def login(self, password: str = PASSWORD) -> Any:
        form = form_token(self.client.get("/researcher").text)
        return self.client.post(
            "/researcher/login", data={"form": form, "password": password}, follow_redirects=False
        )


def form_token(page: str) -> str:
    match = re.search(r'name="form" value="([0-9a-f]{64})"', page)
    assert match, page
    return match[1]


def serve_in_test(
    study: Study, where: str, name: str = "made-up", limiter: RateLimiter | None = None
) -> ServedStudy:
    """Begin a study and serve it to a test client, with a clock that stands still."""
    database = studies.open_database(where, name)
    studies.create_study(database, study)
    database.submit(
        lambda tx: set_setting(tx, "password", security.hash_password(PASSWORD))
    ).result()
    clock = Clock()
    app = make_app(study, database, clock=clock, limiter=limiter)
    return ServedStudy(study, database, TestClient(app, base_url="http://testserver"), clock)
