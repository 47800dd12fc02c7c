"""The client waits as it is told, makes as many requests at a time as are welcome, and spends no
more than it may."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.models.server.toy_server import Reply, chat, old_layout, serving

from seesay.caches import SERVER_ANSWERS
from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.models.base import Sampling
from seesay.models.server import client as client_module
from seesay.models.server.answer_store import AnswerStore
from seesay.models.server.client import Client, Throttle
from seesay.models.server.spending import Spending
from seesay.probes.generated import GeneratedModel
from seesay.questions import Prompt, Question, Task, Template
from seesay.runs import ask

PROMPTS = [
    Prompt(f"The color of {thing} is [MASK].", ("red", "yellow"))
    for thing in ("a lemon", "a tomato", "Grass")
]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No pauses between tries; how long they would have been."""
    waited: list[float] = []
    monkeypatch.setattr("seesay.models.server.client.time.sleep", waited.append)
    return waited


@contextmanager
def busy(times: int, **headers: str) -> Iterator[tuple[str, list[int]]]:
    """A server that says 429 so many times, with these headers, and then answers."""
    calls: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            calls.append(1)
            late = len(calls) > times
            content = json.dumps({"choices": []} if late else {"error": "slow down"}).encode()
            self.send_response(200 if late else 429)
            for name, value in headers.items() if not late else ():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", calls
        finally:
            server.shutdown()


def test_retry_after_in_seconds(pauses: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with busy(2, Retry_After="30") as (base, _), caplog.at_level(logging.WARNING):
        assert Client(base, "x").post("completions", {}, read=dict) == {"choices": []}
    assert pauses == [30, 30]
    assert "is busy (status 429: " in caplog.messages[0]
    assert "waiting 30 s" in caplog.messages[0]


def test_a_server_that_is_gone_is_not_called_busy(
    pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with busy(0) as (base, _):
        client = Client(base, "x")
        client.post("completions", {}, read=dict)
    caplog.set_level(logging.WARNING)
    with pytest.raises(UserError, match=r"gave no answer in \d+ tries"):
        client.post("completions", {}, read=dict)
    assert sum(pauses) > 600
    assert caplog.messages
    assert all(f"{base} cannot be reached (" in message for message in caplog.messages)


def test_retry_after_as_a_date(pauses: list[float]) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=95), usegmt=True)
    with busy(1, Retry_After=date) as (base, _):
        Client(base, "x").post("completions", {}, read=dict)
    assert 80 < pauses[0] <= 95


def test_patience_of_minutes_and_then_one_sentence(pauses: list[float]) -> None:
    with (
        busy(10_000) as (base, calls),
        pytest.raises(UserError, match=r"gave no answer in \d+ tries .*429: .*slow down"),
    ):
        Client(base, "x").post("completions", {}, read=dict)
    assert 600 < sum(pauses) <= client_module.PATIENCE
    assert max(pauses) == client_module.LONGEST_PAUSE
    assert len(calls) == len(pauses) + 1


def test_a_wait_beyond_all_patience_is_not_begun(pauses: list[float]) -> None:
    with (
        busy(1, Retry_After="86400") as (base, _),
        pytest.raises(UserError, match="gave no answer in 1 try"),
    ):
        Client(base, "x").post("completions", {}, read=dict)
    assert pauses == []


def test_a_server_that_is_not_there_is_given_up_soon(pauses: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(UserError, match="gave no answer in 5 tries"):
            Client(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "x").post(
                "completions", {}, read=dict
            )
    assert sum(pauses) < 5


@pytest.mark.seconds
def test_an_answer_that_trickles_in_for_ever_is_cut_off(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "DEADLINE", 0.3)
    wait = threading.Event().wait

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(200):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    wait(0.02)
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started = time.monotonic()
        with pytest.raises(UserError, match="no whole answer in 0 s"):
            Client(f"http://127.0.0.1:{server.server_port}/v1", "x").post(
                "completions", {}, read=dict
            )
        assert time.monotonic() - started < 10
        server.shutdown()


def test_fewer_requests_while_the_server_is_busy_and_more_again_later() -> None:
    throttle = Throttle(8)
    throttle.busy()
    throttle.busy()
    assert throttle.limit == 2
    for _ in range(60):
        throttle.answered()
    assert throttle.limit == 8
    for _ in range(9):
        throttle.busy()
    assert throttle.limit == 1


@pytest.mark.parametrize("most", [1, 6])
def test_as_many_requests_at_a_time_as_wanted(most: int) -> None:
    running: set[int] = set()
    counts: list[int] = []

    def answer(path: str, body: dict[str, Any]) -> Reply:
        running.add(body["i"])
        counts.append(len(running))
        threading.Event().wait(0.05)
        running.remove(body["i"])
        return 200, {"choices": []}

    with serving(answer) as base:
        client = Client(base, "x", ModelOptions(concurrency=most))
        client.parallel(lambda i: client.post("completions", {"i": i}, read=dict), range(12))
    assert max(counts) == most


def test_answers_are_reused_by_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    good, prompts = old_layout(20, echo=True), list[str]()

    def answer(path: str, body: dict[str, Any]) -> Reply:
        prompts.append(body["prompt"])
        return good(path, body)

    with serving(answer) as base:
        options = ModelOptions(base_url=base, scope="option", reuse=True)
        first = load_model("openai:toy", options).answer(PROMPTS[:2])
        before = len(prompts)
        again = load_model("openai:toy", options)
        trials = len(prompts) - before
        assert again.answer(PROMPTS[:2]) == first
        # only the trials, which tell whether it is still the same server
        assert len(prompts) - before == trials > 0
        again.answer(PROMPTS[2:])
        assert len(prompts) - before > trials
        load_model("openai:toy", ModelOptions(base_url=base, scope="option")).answer(PROMPTS[:1])
        assert any(
            prompt.startswith("The color of a lemon is") for prompt in prompts[-3:]
        )  # nothing is kept unless that is asked for


def test_kept_answers_that_are_damaged_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    SERVER_ANSWERS.folder.mkdir(parents=True)
    (SERVER_ANSWERS.folder / "answers.sqlite").write_text(
        "no database, but long enough to look like one " * 20
    )
    with pytest.raises(UserError, match="delete that file"):
        Client("http://127.0.0.1:1/v1", "x", ModelOptions(reuse=True))
    path = tmp_path / "kept.sqlite"
    store = AnswerStore(path)
    store.put("a", {}, {"choices": []})
    assert store.get("a", {}) == {"choices": []}
    for damage in ("{", "NaN", "[" * 100_000):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE answers SET answer = ?", (damage,))
        with pytest.raises(UserError, match="delete that file"):
            store.get("a", {})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE answers")
    for use in (lambda: store.get("a", {}), lambda: store.put("a", {}, {})):
        with pytest.raises(UserError, match="delete that file"):
            use()


def counted(path: str, body: dict[str, Any]) -> Reply:
    is_trial = "'down'" in str(body)
    status, content = chat('{"answer": "%s"}' % ("down" if is_trial else "red"))
    assert isinstance(content, dict)
    tokens = 10 if is_trial else 100
    return status, {**content, "usage": {"prompt_tokens": tokens, "completion_tokens": 10}}


QUESTIONS = tuple(
    Question(str(i), {"n": str(i)}, ("red", "blue"), {"red": 1.0}, str(i)) for i in range(40)
)
TASK = Task("t", "1", "", (Template("q", "Number {n} is [MASK]."),), QUESTIONS, ("accuracy",))


def test_an_estimate_before_and_a_count_after(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(counted) as base, caplog.at_level(logging.INFO):
        options = ModelOptions(base_url=base, endpoint="chat", price="2,10")
        run = ask.run(load_model("openai:x", options), TASK, tmp_path, ask.Settings(resamples=100))
    # 40 requests of 85 or 86 characters, 22 tokens each, 6 that the server added to the 4 of the
    # trial, and replies of 16 tokens at most
    estimate = (
        "About 40 requests: 1,120 tokens to read and at most 640 to write, 0.0086 at the prices "
        "given."
    )
    assert estimate in caplog.messages
    assert run.manifest.spent == pytest.approx(
        {"requests": 40, "tokens_read": 4_000, "tokens_written": 400, "cost": 0.012}
    )
    assert (
        "The server reports 40 requests, 4,000 tokens read, 400 tokens written, 0.0120 at the "
        "prices given." in caplog.messages
    )


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_the_estimate_of_free_answers_counts_all_that_they_may_write(endpoint: str) -> None:
    answer = (
        old_layout(5, echo=False) if endpoint == "completions" else lambda path, body: chat("Red.")
    )
    with serving(answer) as base:
        options = ModelOptions(base_url=base, endpoint=endpoint, generates=True)
        model = GeneratedModel(load_model("openai:toy", options), Sampling(2, 1.0, 100))
        assert model.estimate(PROMPTS).endswith("at most 600 to write.")


def test_a_budget_stops_in_time_and_the_run_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    settings = ask.Settings(resamples=100)
    with serving(counted) as base:
        poor = load_model(
            "openai:x", ModelOptions(base_url=base, endpoint="chat", budget=2500, concurrency=1)
        )
        with pytest.raises(
            UserError, match=r"The budget is spent \(2,550 tokens of 2,500 tokens\)"
        ):
            ask.run(poor, TASK, tmp_path, settings)
        rich = load_model("openai:x", ModelOptions(base_url=base, endpoint="chat", budget=10_000))
        run = ask.run(rich, TASK, tmp_path, settings)
    assert len(run.answers) == 40
    # each server was tried once before; the last 7 of 23 answers were paid for and not kept, since
    # their batch was not finished
    assert run.manifest.spent == {"requests": 47, "tokens_read": 4_700, "tokens_written": 470}


def test_a_task_beyond_the_budget_is_not_begun(tmp_path: Path) -> None:
    with serving(counted) as base:
        model = load_model("openai:x", ModelOptions(base_url=base, endpoint="chat", budget=600))
        with pytest.raises(
            UserError, match=r"more than the budget of 600 tokens has left: ask less"
        ):
            ask.run(model, TASK, tmp_path, ask.Settings(resamples=100))


def test_prices_are_two_numbers() -> None:
    for price in ("1", "1,2,3", "free", "-1,2", "nan,1"):
        with pytest.raises(UserError, match="--price"):
            Spending(price=price)
    assert Spending(price="0.5,2").cost(2_000_000, 500_000) == 2.0
