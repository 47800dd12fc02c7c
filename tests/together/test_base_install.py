"""Without any extra, every command works or says in one sentence what to install.

The same in an environment that really has no more is among the slow tests of tests/test_package.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from tests.together.every_command import CALLS, REFUSED, WORKS

from seesay.cli import main
from seesay.errors import EXTRA_OF_PACKAGE

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("every_command.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _distribution(requirement: str) -> str:
    name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def _core_distributions() -> set[str]:
    """What seesay depends on without an extra, and what that depends on."""
    distributions: set[str] = set()
    queue = [_distribution(requirement) for requirement in PROJECT["dependencies"]]
    while queue:
        name = queue.pop()
        if name not in distributions:
            distributions.add(name)
            needs = [text for text in _requirements(name) if "extra ==" not in text]
            queue += map(_distribution, needs)
    return distributions


def _requirements(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # it is for another system, or another version of Python
        return []


def _optional_packages() -> list[str]:
    """The names under which everything else is imported that is installed here."""
    core = _core_distributions() | {"seesay"}
    return [
        package
        for package, names in packages_distributions().items()
        if not core.intersection(map(_distribution, names))
    ]


def check_answers(answers: list[dict[str, Any]]) -> None:
    """Check what `every_command.py` printed."""
    answers_by_call = {" ".join(answer["words"]): answer for answer in answers}
    assert set(CALLS) < set(answers_by_call)
    assert len(answers) - len(CALLS) > 50, "commands have no help"
    for words, answer in answers_by_call.items():
        assert answer["bug"] == "", f"{words}\n{answer['bug']}"
        need = CALLS.get(words, WORKS)
        report = f"{words}\n{answer['out']}\n{answer['err']}"
        if need == WORKS:
            assert answer["code"] == 0, report
            continue
        assert answer["code"] == 2, report
        sentence = answer["err"].splitlines()[-1]
        assert sentence.startswith("seesay: "), report
        assert ("pip install" in sentence) == (need != REFUSED), report
        if need != REFUSED:
            assert sentence.endswith(f": pip install 'seesay[{need}]'."), report
    # a model that cannot run costs another nothing
    both = next(words for words in CALLS if words.startswith("probe smollm2 baseline:majority"))
    assert "Report: runs/report.html" in answers_by_call[both]["out"]


@pytest.mark.seconds
def test_every_command_without_any_extra(tmp_path: Path) -> None:
    packages = _optional_packages()
    assert {"torch", "httpx", "PIL", "easy_vqa"} < set(packages)
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *packages], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    check_answers(json.loads(done.stdout))


def test_every_package_of_an_extra_has_its_install_line() -> None:
    """What pyproject.toml declares for users, as packages that can be imported, and nothing
    else."""
    extras = PROJECT["optional-dependencies"]
    declared: dict[str, set[str]] = {}
    for extra, requirements in extras.items():
        if extra not in ("all", "docs", "dev"):
            for requirement in requirements:
                declared.setdefault(_distribution(requirement), set()).add(extra)
    distributions = packages_distributions()
    covered = set()
    for package, extra in EXTRA_OF_PACKAGE.items():
        owners = {_distribution(name) for name in distributions[package]} & set(declared)
        covered |= owners
        extras_of_owners = set[str]().union(*(declared[owner] for owner in owners))
        assert extra in extras_of_owners, f"'{package}' comes from {owners}"
    # pip is started as a program, and is part of every environment that it made
    assert set(declared) - covered == {"seesay", "pip"}


def test_a_missing_package_that_no_extra_installs_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from seesay import cli

    def broken(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'nonesuch'", name="nonesuch")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ModuleNotFoundError):
        main([])
