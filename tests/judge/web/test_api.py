"""The API against its own description, with the requests that schemathesis makes up."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from tests.judge.crowd import free_port
from tests.judge.studies import ServedStudy, rating_study, serve_in_test

from seesay.judge.web.api import openapi
from seesay.judge.web.rate_limits import RateLimit, RateLimiter


class NoLimit(RateLimiter):
    def allows(self, rate: RateLimit, key: str) -> bool:
        return True


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    opened = serve_in_test(
        rating_study(tmp_path), str(tmp_path / "study.sqlite"), limiter=NoLimit()
    )
    yield opened
    opened.database.close()


@pytest.fixture
def address(served: ServedStudy) -> Iterator[str]:
    """The study on a real port."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(served.client.app, port=port, log_level="error", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize("who", ["annotator", "researcher", "stranger"])
def test_schemathesis_finds_no_errors(
    served: ServedStudy, address: str, who: str, tmp_path: Path
) -> None:
    """Every check that it has: statuses, bodies, types, methods, missing headers, ignored
    authentication."""
    token = served.begin()
    served.client.get(f"/a/{token}")
    served.login()
    session = served.client.cookies["seesay_researcher"]
    keys = {
        "annotator": f'[auth.openapi.link]\nbearer = "{token}"\n',
        "researcher": f'[auth.openapi.researcher]\napi_key = "{session}"\n',
        "stranger": "",
    }
    config = tmp_path / "schemathesis.toml"
    config.write_text(keys[who], encoding="utf-8")
    options = [
        "--checks",
        "all",
        "--max-examples",
        "60",
        "--seed",
        "1",
        "--no-color",
        "--warnings",
        "off",
    ]
    options += {
        "annotator": ["--exclude-path", "/api/counts"],
        "researcher": ["--include-path", "/api/counts"],
    }.get(who, [])
    command = ["--config-file", str(config), "run", f"{address}/api/openapi.json", *options]
    completed = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *command],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
    )
    assert completed.returncode == 0, completed.stdout[-6000:] + completed.stderr[-2000:]
    assert "No issues found" in completed.stdout
    assert served.client.get(f"/a/{token}").status_code == 200


def test_openapi_description_is_complete(served: ServedStudy) -> None:
    """Every route under /api is described, and every field says what it is."""
    described = openapi(served.study)
    routes = {route.path for route in served.client.app.routes if route.path.startswith("/api/")}  # type: ignore[attr-defined]
    assert routes - {"/api/openapi.json"} == set(described["paths"])
    body = described["paths"]["/api/answers"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert all(field["description"] for field in body["properties"].values())
