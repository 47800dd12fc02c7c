"""Annotations, pictures, runs and knowledge in a real server that speaks S3, over connections that
may break.

The server and its client are in an interpreter of their own, which SEESAY_S3_PYTHON names: `pip
install "moto[server]" s3fs` beside seesay's extra `mine`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.needs import absent

KEY = "AKIDEXAMPLEOFTESTS"
SECRET = "very-secret-9e107d9d372bb6826bd81d3542a419d6"
UPLOAD = "import sys, s3fs; s3fs.S3FileSystem().put(sys.argv[1], sys.argv[2], recursive=True)"
MINE = (
    *("--annotations", "plain:{rooms}/annotations.parquet", "--images", "{rooms}"),
    *("--rows", "10", "--workers", "1", "--min-seen", "2", "--min-relation", "1"),
    *("--size-rule", "boxes", "--space-rule", "boxes", "--colors", "pixels"),
)


class BreakingProxy:
    """Passes connections on to a server; the next `drops` are closed at once."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.drops = 0
        self.dropped = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:  # it is closed
                return
            if self.drops > 0:
                self.drops -= 1
                self.dropped += 1
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


class Store:
    """A bucket in a server, and an interpreter that can reach it."""

    def __init__(self, python: str, proxy: BreakingProxy, folder: Path) -> None:
        self._python = python
        self.proxy = proxy
        self._folder = folder
        self._environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}",
            "AWS_MAX_ATTEMPTS": "1",
            "SEESAY_CACHE": str(folder / "cache"),
        }

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._python, *map(str, arguments)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def seesay(self, *arguments: object) -> str:
        """Run a command that succeeds, and return what it prints."""
        done = self.run("-m", "seesay", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def upload(self, folder: Path, name: str) -> str:
        """Put a folder into the bucket, and return its address."""
        done = self.run("-c", UPLOAD, f"{folder}/", f"bucket/{name}/")
        assert done.returncode == 0, done.stderr
        return f"s3://bucket/{name}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    python = os.environ.get("SEESAY_S3_PYTHON")
    if python is None:
        absent("SEESAY_S3_PYTHON names no interpreter with moto's server and s3fs")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [python, "-m", "moto.server", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while server.poll() is None:
            # until it listens
            with suppress(ConnectionRefusedError):
                connection = HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("PUT", "/bucket")
                break
            time.sleep(0.2)
        assert connection.getresponse().status == 200
        with closing(BreakingProxy(port)) as proxy:
            yield Store(python, proxy, tmp_path)
    finally:
        server.kill()
        server.wait()


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.mark.slow
def test_everything_that_is_read_may_be_in_an_object_store(store: Store, tmp_path: Path) -> None:
    store.seesay("rooms", "-n", 20, "-o", "rooms")
    # depth maps lie beside an annotation, and are not copied with it
    annotation = tmp_path / "rooms/annotations.parquet"
    pq.write_table(pq.read_table(annotation).drop_columns("depth"), annotation)
    rooms = store.upload(tmp_path / "rooms", "rooms")
    store.seesay("mine", *(word.format(rooms="rooms") for word in MINE), "-o", "here")
    mine_there = ("mine", *(word.format(rooms=rooms) for word in MINE))
    store.proxy.drops = 2
    store.seesay(*mine_there, "-o", "there")
    assert store.proxy.dropped == 2
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    assert "sizes.parquet" in tables(tmp_path / "here")

    # shares, which a job each has put into the store
    for number in (1, 2):
        store.seesay(*mine_there, "-o", "parts", "--shard", f"{number}/2")
    shares = store.upload(tmp_path / "parts", "parts")
    store.seesay("merge", shares, "-o", "merged")
    assert tables(tmp_path / "merged") == tables(tmp_path / "here")

    # knowledge and runs
    knowledge = store.upload(tmp_path / "here", "knowledge")
    probe = ("probe", "baseline:random", "--task", "viphy-size", "--resamples", 100)
    store.seesay(*probe, "--data", "here", "-o", "runs/here")
    store.seesay(*probe, "--data", knowledge, "-o", "runs/there")
    runs = store.upload(tmp_path / "runs", "runs")
    (here,) = (tmp_path / "runs/here").rglob("answers.parquet")
    (there_too,) = (tmp_path / "runs/there").rglob("answers.parquet")
    assert here.read_bytes() == there_too.read_bytes()
    report = ("report", "--format", "csv")
    assert store.seesay(*report, runs) == store.seesay(*report, "runs")

    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert SECRET.encode() not in content, path
            assert KEY.encode() not in content, path


@pytest.mark.slow
def test_a_store_that_drops_every_connection_is_named_in_one_sentence(store: Store) -> None:
    store.proxy.drops = 1_000_000
    done = store.run("-m", "seesay", "report", "s3://bucket/runs")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("seesay: s3://bucket/runs could not be read in 4 attempts (")
    assert SECRET not in done.stderr
    assert store.proxy.dropped >= 4


@pytest.mark.slow
def test_wrong_places_and_credentials_are_one_sentence(store: Store, tmp_path: Path) -> None:
    for place, words in (
        ("s3://bucket/none", "There is no file at s3://bucket/none"),
        ("s3://none/runs", "There is no file at s3://none/runs"),
    ):
        done = store.run("-m", "seesay", "report", place)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    done = store.run("-m", "seesay", "rooms", "-n", 2, "-o", "s3://bucket/rooms")
    assert done.returncode == 2
    assert "--output is s3://bucket/rooms: give a path of this machine" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] in ([], ["cache"])
