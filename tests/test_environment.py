"""The environment of the tests: folders of their own, light runs, and scripts that say what they
do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.light import skip_heavy
from tests.shared_data import PUBLISHED_DATA

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the few programs that a shell script is to find."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("bash", "dirname", "env", "git", "id", "ls", "sh"):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def run_script(path: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(programs)}
    return subprocess.run(
        [path], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_test_works_in_its_own_folder(tmp_path: Path) -> None:
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize(
    ("event", "argument", "reason"),
    [
        ("import", "torch", "needs torch"),
        ("import", "playwright.sync_api", "needs playwright"),
        ("subprocess.Popen", "/usr/bin/java", "starts java"),
        (PUBLISHED_DATA, "coda/test.jsonl", "reads the published data coda/test.jsonl"),
    ],
)
def test_a_light_run_skips_what_is_heavy(event: str, argument: str, reason: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"^--light: {reason}$"):
        skip_heavy(event, (argument, None))


@pytest.mark.parametrize(
    ("event", "argument"),
    [
        ("import", "numpy"),
        ("import", "torchless"),
        ("subprocess.Popen", "uname"),
        ("open", "torch"),
    ],
)
def test_a_light_run_keeps_the_rest(event: str, argument: str) -> None:
    skip_heavy(event, (argument, None))


def test_missing_programs_are_named_with_a_reason_and_not_installed_where_that_is_impossible(
    programs: Path,
) -> None:
    done = run_script(ROOT / ".ci" / "system", programs)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Some tests need programs that this machine lacks:"
    assert [line.split()[0] for line in lines if "Java" in line] == ["default-jre-headless"]
    assert all(len(line.split()) > 4 for line in lines)
    assert lines[-1].endswith("the tests that need them are skipped.")


def test_packages_are_named_before_they_are_installed(programs: Path) -> None:
    installer = programs / "apt-get"
    installer.write_text('#!/bin/sh\necho "apt-get $*" >&2\n', encoding="utf-8")
    installer.chmod(0o755)
    user = programs / "id"
    user.unlink()
    user.write_text("#!/bin/sh\necho 0\n", encoding="utf-8")
    user.chmod(0o755)
    done = run_script(ROOT / ".ci" / "system", programs)
    assert done.returncode == 0, done.stderr
    assert "Installing them system-wide with apt-get (SYSTEM=no" in done.stdout
    update, install = done.stderr.splitlines()
    assert update == "apt-get update -qq"
    packages = [word for word in install.split() if not word.startswith("-")][2:]
    assert {"default-jre-headless", "npm"} <= set(packages)
    named = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert named == packages


def test_the_checks_fail_where_they_leave_a_file(programs: Path, tmp_path: Path) -> None:
    checks = tmp_path / ".ci" / "run"
    checks.parent.mkdir()
    shutil.copy2(ROOT / ".ci" / "run", checks)
    make = programs / "make"
    make.write_text("#!/bin/sh\n", encoding="utf-8")
    make.chmod(0o755)
    assert run_script(checks, programs).returncode == 0, "this is no repository"
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*author, "commit", "-q", "-m", "checks")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert run_script(checks, programs).returncode == 0
    (tmp_path / "dropping").touch()
    done = run_script(checks, programs)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == ["?? dropping"]
