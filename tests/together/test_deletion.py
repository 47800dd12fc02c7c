"""The test of the floor plan: whoever deletes an instrument's folder deletes its feature and
nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from seesay.cli import command_addresses

ROOT = Path(__file__).resolve().parents[2]
INSTRUMENTS = sorted(path.parent.name for path in (ROOT / "src" / "seesay").glob("*/plugin.py"))
CORE_TESTS = (
    "cli",
    "data",
    "export",
    "metrics",
    "models",
    "probes",
    "reports",
    "runs",
    "tasks",
    "training",
)
"""The folders of tests that must pass without any one instrument."""
CHAPTERS = {
    "scenes": ["malevic"],
    "language": ["spatial_relations", "cs388"],
    "captions": ["spatial_relations", "cs388"],
    "mining": ["viphy/method_drawings.py"],
}
"""The chapters of papers, or files of them, that read an instrument, and go with it."""
BUILT_ON = {"language": ["rearing"], "pictures": ["rearing"]}
"""The instruments that build on another, and go with it."""


def run(copy: Path, *command: str | Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy / "src"),
        "SEESAY_SHARED": str(ROOT.parent / "shared" / "data"),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=copy, env=environment
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


def program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


@pytest.fixture(params=INSTRUMENTS)
def instrument(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def copy(instrument: str, tmp_path: Path) -> Path:
    """The project without the instrument."""
    return copy_without([instrument], tmp_path)


def with_dependents(instruments: Sequence[str]) -> list[str]:
    """The instruments and those that build on them, each once."""
    dependents = [name for instrument in instruments for name in BUILT_ON.get(instrument, [])]
    return list(dict.fromkeys([*instruments, *dependents]))


def copy_without(instruments: Sequence[str], tmp_path: Path) -> Path:
    """The project without these instruments."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tests", "docs", "tools"):  # tests of the core read the last two
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy2(ROOT / file, tmp_path)
    shutil.rmtree(tmp_path / "tests" / "together")
    for instrument in with_dependents(instruments):
        shutil.rmtree(tmp_path / "src" / "seesay" / instrument)
        shutil.rmtree(tmp_path / "tests" / instrument)
        for chapter in CHAPTERS.get(instrument, []):
            path = tmp_path / "src" / "seesay" / "papers" / chapter
            if path.is_file():
                path.unlink()
            else:
                # captions and language go with one chapter, and papers with all of them
                shutil.rmtree(path, ignore_errors=True)
    return tmp_path


@pytest.mark.seconds
def test_everything_else_works(instrument: str, copy: Path) -> None:
    # the commands stand in groups below the options
    listing = run(copy, sys.executable, "-m", "seesay", "--help").partition("--help ")[2]
    commands = set(re.findall(r"^  (\w+) ", listing, re.MULTILINE))
    deleted = tuple(f"seesay.{name}." for name in with_dependents([instrument]))
    remaining = {
        name for name, address in command_addresses().items() if not address.startswith(deleted)
    }
    assert commands == remaining
    run(copy, sys.executable, "-m", "seesay", "tasks")
    run(copy, sys.executable, "-m", "seesay", "models")
    probe = (
        "probe",
        "baseline:majority",
        "baseline:random",
        "--limit",
        "5",
        "--resamples",
        "100",
        "--output",
        "runs",
    )
    run(copy, sys.executable, "-m", "seesay", *probe)
    assert (copy / "runs" / "report.html").is_file()
    run(copy, program("ruff"), "check", "src")
    run(copy, program("lint-imports"), "--no-cache")


@pytest.mark.slow
@pytest.mark.parametrize("deleted", [*([name] for name in INSTRUMENTS), INSTRUMENTS], ids="+".join)
def test_types_the_demo_and_the_tests_of_the_core(deleted: list[str], tmp_path: Path) -> None:
    """Without each instrument, and without all of them: the core stands alone.

    Where one is deleted, the core's quick tests see whether another instrument needed it; whether
    the core needs any is seen by all of its tests where none is left.
    """
    copy = copy_without(deleted, tmp_path)
    cache = ROOT / ".mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, copy / ".mypy_cache")
    run(copy, program("mypy"), "src")
    run(
        copy,
        sys.executable,
        "-m",
        "seesay",
        "probe",
        "smollm2",
        "baseline:majority",
        "--limit",
        "10",
        "--output",
        "first-look",
    )
    folders = [f"tests/{folder}" for folder in CORE_TESTS]
    markers = "not slow" if deleted == INSTRUMENTS else "not slow and not seconds"
    run(copy, sys.executable, "-m", "pytest", "-n", "2", "-m", markers, *folders)
