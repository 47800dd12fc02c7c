"""The registry: lazy, helpful with typing mistakes, and open to other packages without trusting them; tasks by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.registry import Registry
from seesay.tasks import GROUPS, TASKS, expand, load_task, summary

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a package with one entry point on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(package: str, points: str, source: str) -> None:
        module = package.replace("-", "_")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[seesay.test]\n{points}\n")
        (tmp_path / f"{module}.py").write_text(source)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return put


def make_registry(**builtin: str) -> Registry[object]:
    return Registry("task", builtin or {"core-color": "math:pi", "core-size": "math:e"}, "seesay.test", "seesay tasks")


def test_loads_only_what_is_asked_for() -> None:
    registry = make_registry(pi="math:pi", broken="there.is.no.such:module")
    assert registry.names() == ["pi", "broken"]
    assert registry.load("pi") == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("core-colour", "Unknown task 'core-colour'. Did you mean 'core-color'? `seesay tasks` lists them all."),
        ("CORE-SIZE", "Unknown task 'CORE-SIZE'. Did you mean 'core-size'? `seesay tasks` lists them all."),
        ("core", "Unknown task 'core'. Did you mean 'core-size' or 'core-color'? `seesay tasks` lists them all."),
        ("zzz", "Unknown task 'zzz'. `seesay tasks` lists them all."),
    ],
)
def test_an_unknown_name_is_answered_with_its_neighbours(typed: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        make_registry().load(typed)
    assert str(raised.value) == message


def test_another_package_adds_a_name(install: Install) -> None:
    install("nice-tasks", "fruit = nice_tasks:load", "def load():\n    return 'fruit'\n")
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size", "fruit"]
    assert registry.package("fruit") == "nice-tasks"
    loaded = registry.load("fruit")
    assert callable(loaded)
    assert loaded() == "fruit"


def test_a_built_in_name_cannot_be_taken_over(install: Install) -> None:
    install("sly-tasks", "core-color = sly_tasks:load", "def load():\n    return 'sly'\n")
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size"]
    assert registry.package("core-color") == "seesay"
    assert registry.load("core-color") == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize(
    ("points", "source"),
    [
        ("broken = broken_tasks:load", "raise RuntimeError('no licence key')"),
        ("broken = broken_tasks:nothing", ""),
        ("broken = not_installed_anywhere:load", ""),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_else(install: Install, points: str, source: str) -> None:
    install("broken-tasks", points, source)
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size", "broken"]
    with pytest.raises(UserError, match="package 'broken-tasks', which could not be loaded"):
        registry.load("broken")
    assert registry.load("core-size") == pytest.approx(2.71828, abs=1e-5)


def test_task_names_are_expanded() -> None:
    assert expand(["core"]) == list(GROUPS["core"])
    assert expand(["coda, core-size", "core", "coda,"]) == [
        "coda",
        "core-size",
        "core-color",
        "core-space",
        "core-parts",
    ]
    assert expand(["all"])[: len(TASKS.builtin)] == list(TASKS.builtin)
    assert expand([]) == []
    assert expand([",".join(TASKS.builtin)]) == list(TASKS.builtin)  # longer than a path may be
    with pytest.raises(UserError, match=r"Unknown task 'cora'\. Did you mean 'core'"):
        expand(["coda", "cora"])


def test_every_built_in_task_has_a_summary_and_a_loader() -> None:
    for name in TASKS.builtin:
        assert summary(name).title
        assert callable(TASKS.load(name))
    for members in GROUPS.values():
        assert set(members) <= set(TASKS.builtin)


def test_a_task_of_another_package_must_be_a_task(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("odd-tasks", "odd = odd_tasks:load", "def load(data):\n    return 42\n")
    monkeypatch.setattr("seesay.tasks.TASKS", Registry("task", TASKS.builtin, "seesay.test", "seesay tasks"))
    assert expand(["all"])[-1] == "odd"
    assert summary("odd").source == "odd-tasks"
    with pytest.raises(UserError, match="'odd' of the package 'odd-tasks' is a int, not a seesay Task"):
        load_task("odd")
