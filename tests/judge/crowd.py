"""Many simulated annotators at once over loopback, and a server that can be killed under them.

The client is a few lines over asyncio's streams, because a full HTTP library would spend more time
than the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

COMMAND = [sys.executable, "-c", "from seesay.judge.commands.judge import app; app()"]


class Server:
    """`seesay judge serve` as a process of its own."""

    def __init__(
        self, pairs: Path, where: str, *options: str, open_files: int | None = None
    ) -> None:
        self.port = free_port()
        limit = (
            [] if open_files is None else ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"]
        )
        place = ["--database", where] if where.startswith("postgresql:") else ["--study", where]
        self._command = [
            *limit,
            *COMMAND,
            "serve",
            str(pairs),
            *place,
            *options,
            "--port",
            str(self.port),
            "--json",
        ]
        self._process: subprocess.Popen[str] | None = None

    def start(self, links: int = 0) -> dict[str, Any]:
        """Start it, and wait until it has told its addresses."""
        self._process = subprocess.Popen(
            [*self._command, "--links", str(links)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        printed = ""
        while not printed.endswith("\n}\n"):
            line = self._process.stdout.readline()
            assert line, f"the server ended with {self._process.wait()}"
            printed += line
        document: dict[str, Any] = json.loads(printed)
        return document

    def kill(self) -> None:
        """SIGKILL: no goodbye, no flush."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it as a user would."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()


@dataclass
class Crowd:
    """What the annotators did: acknowledged answers by (token, page, place), and how long each
    request took."""

    port: int
    seed: int = 0
    pause: float = 0.0
    acknowledged: dict[tuple[str, int, int], int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    lost_connections: int = 0
    finished: int = 0

    async def run(self, tokens: Sequence[str]) -> None:
        """All of them at once, each until there is nothing left for them."""
        await asyncio.gather(
            *(self._annotate(token, random.Random(f"{self.seed} {token}")) for token in tokens)
        )

    async def _annotate(self, token: str, chance: random.Random) -> None:
        line = _Line(self)
        while True:
            status, page = await line.ask("GET", f"/a/{token}")
            assert status == 200, (status, page[:300])
            if "I agree to take part" in page:
                await line.ask("POST", f"/a/{token}/consent", {"form": _form(page), "agree": "yes"})
            elif 'id="page"' in page:
                await self._answer(line, token, page, chance)
            else:
                self.finished += "completion code" in page
                await line.close()
                return

    async def _answer(self, line: _Line, token: str, page: str, chance: random.Random) -> None:
        number = int(_found(r'data-page="(\d+)"', page))
        fields = {"form": _form(page)}
        for place in map(int, re.findall(r'id="item-(\d+)"', page)):
            value = chance.randint(0, 100)
            if self.pause:
                await asyncio.sleep(chance.expovariate(1 / self.pause))
            body = {
                "page": number,
                "place": place,
                "value": value,
                "how": "moved",
                "key": secrets.token_hex(16),
            }
            status, reply = await line.ask("POST", "/api/answers", body, token)
            assert status == 200, (status, reply)
            self.acknowledged[token, number, place] = value
            fields |= {f"v{place}": str(value), f"ok{place}": "moved"}
        status, reply = await line.ask("POST", f"/a/{token}/page/{number}", fields)
        assert status == 303, (status, reply[:300])


class _Line:
    """One annotator's connection; after a loss it is made anew and the same request sent again, as
    a browser would."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, token: str = ""
    ) -> tuple[int, str]:
        content = (
            b""
            if body is None
            else json.dumps(body).encode()
            if token
            else urlencode(body).encode()
        )
        kind = "application/json" if token else "application/x-www-form-urlencoded"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._crowd.port}\r\n"
        head += f"Content-Type: {kind}\r\n"
        head += (
            f"Content-Length: {len(content)}\r\n"
            + (f"Authorization: Bearer {token}\r\n" if token else "")
            + "\r\n"
        )
        while True:
            try:
                began = time.perf_counter()
                status, reply = await asyncio.wait_for(self._exchange(head.encode() + content), 60)
                if status not in (429, 503):
                    self._crowd.seconds.append(time.perf_counter() - began)
                    return status, reply
            except (TimeoutError, OSError, EOFError, ValueError):
                self._crowd.lost_connections += 1
                await self.close()
            await asyncio.sleep(0.2 + random.random() / 5)

    async def _exchange(self, request: bytes) -> tuple[int, str]:
        if self._ends is None:
            self._ends = await asyncio.open_connection("127.0.0.1", self._crowd.port)
        reader, writer = self._ends
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = int(_found(r"(?i)content-length: (\d+)", head))
        return int(head.split(" ", 2)[1]), (await reader.readexactly(length)).decode()

    async def close(self) -> None:
        if self._ends is not None:
            self._ends[1].close()
            self._ends = None


async def kill_during(server: Server, crowd: Crowd, times: int, total: int) -> None:
    """Kill the server and start it again, so many times, spread over the answers that are to
    come."""
    for number in range(1, times + 1):
        while len(crowd.acknowledged) < total * number / (times + 1):
            await asyncio.sleep(0.01)
        server.kill()
        await asyncio.to_thread(server.start)


def free_port() -> int:
    """A port below the range that the system gives to connections, so that none takes it before the
    server does."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def quantile(values: Sequence[float], share: float) -> float:
    """The value that so large a share stays below."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def _form(page: str) -> str:
    return _found(r'name="form" value="([0-9a-f]{64})"', page)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"{pattern} is not in {text[:200]!r}")
    return match[1]
