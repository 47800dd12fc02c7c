"""A PostgreSQL server of the tests' own: a new cluster in a temporary folder, reached by a socket
in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import absent


def programs() -> Path | None:
    """Where Debian puts the newest server's programs."""
    paths = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    return paths[-1].parent if paths else None


@contextmanager
def cluster() -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    folder = programs()
    if folder is None or (os.geteuid() == 0 and shutil.which("setpriv") is None):
        absent("PostgreSQL is not installed: apt-get install postgresql")
    home = Path(tempfile.mkdtemp(prefix="seesay-pg-"))
    become: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(home, "postgres", "postgres")
        become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    data = home / "data"

    def run(*command: str) -> None:
        subprocess.run([*become, *command], check=True, capture_output=True, cwd=home, timeout=120)

    run(
        str(folder / "initdb"),
        "-D",
        str(data),
        "-U",
        "seesay",
        "--auth=trust",
        "--encoding=UTF8",
        "--no-locale",
    )
    options = f"-c listen_addresses='' -c unix_socket_directories='{home}' -c max_connections=60"
    run(
        str(folder / "pg_ctl"),
        "-D",
        str(data),
        "-l",
        str(home / "log"),
        "-o",
        options,
        "-w",
        "start",
    )
    try:
        yield f"postgresql://seesay@/postgres?host={home}"
    finally:
        run(str(folder / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(home, ignore_errors=True)
