"""What users install: a wheel made from the sdist, in an environment that has nothing else, away
from the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml
from tests.together.test_base_install import check_answers

import seesay

ROOT = Path(__file__).resolve().parents[1]


def _run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist that it was made from."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.mark.slow
def test_the_packages_hold_what_they_need_and_say_what_they_are(
    packages: tuple[Path, Path],
) -> None:
    wheel, sdist = packages
    _run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=ROOT)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata_name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(metadata_name).decode())
    assert metadata["Version"] == seesay.__version__
    assert metadata["License-Expression"] == "Apache-2.0 AND CC0-1.0"
    assert {"models", "mine", "judge", "docs", "all", "dev"} <= set(
        metadata.get_all("Provides-Extra") or []
    )
    assert "seesay/py.typed" in names
    assert all(name.startswith(("seesay/", "seesay-")) for name in names), (
        "tests or benchmarks are in the wheel"
    )
    source = ROOT / "src"
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "seesay").rglob("*")
        if path.is_file()
    }
    assert {name for name in files if "__pycache__" not in name} <= set(names)
    with tarfile.open(sdist) as archive:
        assert sdist.stat().st_size < 20e6
        files = {name.partition("/")[2] for name in archive.getnames()}
        assert {"CITATION.cff", ".zenodo.json", "codemeta.json", "recipe/recipe.yaml"} <= files


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def environment(
    packages: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Path:
    """The programs of an environment in which only the package and what it needs are installed."""
    wheel, sdist = packages
    package = wheel if request.param == "wheel" else sdist
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=True)
    programs = home / "bin"
    constraints = ROOT / "constraints.txt"
    install = ("install", "--quiet", "--constraint", constraints, package)
    _run(programs / "pip", *install, cwd=home)
    return programs


@pytest.mark.slow
def test_every_command_in_an_empty_environment(environment: Path, tmp_path: Path) -> None:
    program = ROOT / "tests" / "together" / "every_command.py"
    check_answers(json.loads(_run(environment / "python", program, cwd=tmp_path)))


@pytest.mark.slow
def test_the_package_asks_a_baseline_in_an_empty_environment(
    environment: Path, tmp_path: Path
) -> None:
    program = environment / "seesay"
    assert _run(program, "--version", cwd=tmp_path).split() == ["seesay", seesay.__version__]
    asked = (program, "probe", "baseline:majority", "--task", "core", "--limit", "20")
    figures = json.loads(_run(*asked, "--json", cwd=tmp_path))
    assert {figure["task"] for figure in figures} == {
        "core-color",
        "core-size",
        "core-space",
        "core-parts",
    }
    assert all(0 <= figure["low"] <= figure["value"] <= figure["high"] <= 1 for figure in figures)
    _run(program, "report", "runs", "-o", "page.html", cwd=tmp_path)
    assert "baseline:majority" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_public_workflow_calls_the_same_checks() -> None:
    workflow = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    )
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert ".ci/run" in steps
    assert "make test-all" in steps
    assert workflow["jobs"]["checks"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
