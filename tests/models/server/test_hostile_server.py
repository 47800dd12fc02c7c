"""Servers that are broken or malicious: one sentence each, within bounds of memory and time."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from seesay.errors import UserError
from seesay.models.server import client as client_module
from seesay.models.server.client import Client
from seesay.models.server.logprobs import next_tokens, prompt_tokens
from seesay.models.server.replies import positions
from seesay.models.server.spending import Spending

KEY = "sk-secret-0123456789"


@contextmanager
def answering(write: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """The address of a server that answers every request by `write`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            write(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


def content(
    body: bytes, status: int = 200, **headers: str
) -> Callable[[BaseHTTPRequestHandler], None]:
    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return write


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "TRIES", 1)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def post(base: str) -> Any:
    return Client(base, "x").post("completions", {}, read=dict)


def test_an_answer_that_unpacks_to_more_than_an_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 1 << 20)
    bomb = gzip.compress(b'{"choices": "' + b"a" * (1 << 24) + b'"}')
    assert len(bomb) < 1 << 15
    for write in (content(bomb, Content_Encoding="gzip"), content(b"a" * (1 << 21))):
        with (
            answering(write) as base,
            pytest.raises(UserError, match="answers with more than 1 MB"),
        ):
            post(base)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"\xff\xfe{}",
        b'{"x": 1e400}',
        b'{"x": NaN}',
        b'{"x": Infinity}',
        b"{",
        b"",
    ],
)
def test_answers_that_cannot_be_decoded_are_one_sentence(body: bytes) -> None:
    with answering(content(body)) as base, pytest.raises(UserError, match="did not answer in JSON"):
        post(base)


def test_a_broken_encoding_is_one_sentence() -> None:
    with (
        answering(content(b"no gzip", Content_Encoding="gzip")) as base,
        pytest.raises(UserError, match="gave no answer"),
    ):
        post(base)


@pytest.mark.seconds
@pytest.mark.parametrize("line", [b"X-Slow: 1\r\n", b"x"])
def test_a_deadline_is_kept_however_the_answer_trickles_in(
    monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    """No read ever takes long: one byte, or one header, at a time."""
    monkeypatch.setattr(client_module, "DEADLINE", 0.5)
    stop = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\n"
            + (b"" if line.startswith(b"X") else b"Content-Length: 9999\r\n\r\n")
        )
        while not stop.wait(0.05):
            handler.wfile.write(line)

    start = time.monotonic()
    with answering(trickle) as base:
        with pytest.raises(UserError, match=r"no whole answer in 0 s|no whole answer in 1 s"):
            post(base)
        stop.set()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("status", [400, 404, 418, 500])
def test_a_key_that_the_server_echoes_is_masked(status: int) -> None:
    with (
        answering(content(f"no such key: {KEY}".encode(), status)) as base,
        pytest.raises(UserError) as error,
    ):
        post(base)
    assert KEY not in str(error.value)
    assert "no such key: ***" in str(error.value)
    with answering(content(json.dumps({"choices": KEY}).encode())) as base:
        assert post(base) == {"choices": "***"}


@pytest.mark.parametrize(
    "value", [0.5, 1e300, float("inf"), float("-inf"), float("nan"), "-1", True, [1], 10**400]
)
def test_what_is_no_log_probability_is_refused(value: object) -> None:
    new = {
        "choices": [
            {
                "logprobs": {
                    "content": [
                        {
                            "token": "a",
                            "logprob": value,
                            "top_logprobs": [{"token": "a", "logprob": value}],
                        }
                    ]
                }
            }
        ]
    }
    old = {
        "choices": [
            {
                "logprobs": {
                    "tokens": ["a"],
                    "token_logprobs": [value],
                    "top_logprobs": [{"a": value}],
                }
            }
        ]
    }
    for answer in (new, old):
        with pytest.raises(UserError, match="log-probabilit"):
            prompt_tokens(answer)
        with pytest.raises(UserError, match="log-probabilit"):
            next_tokens(answer)
    with pytest.raises(UserError, match="log-probabilit"):
        positions(new)


def test_rounding_above_zero_is_zero() -> None:
    answer = {
        "choices": [
            {"logprobs": {"tokens": ["a"], "token_logprobs": [9e-5], "top_logprobs": [{"a": 9e-5}]}}
        ]
    }
    assert prompt_tokens(answer) == (["a"], [0.0])
    assert next_tokens(answer).texts == {"a": 0.0}


def test_usage_that_cannot_be_is_not_counted() -> None:
    spending = Spending()
    for tokens in (10**400, -5, "7", None, 1.5):
        spending.add({"usage": {"prompt_tokens": tokens, "completion_tokens": tokens}})
    assert (spending.requests, spending.read, spending.written) == (5, 0, 0)
