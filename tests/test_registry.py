"""The registry: lazy, helpful with typing mistakes, and open to other packages without trusting
them; tasks by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.plugins import Plugin, instruments, other_packages
from seesay.registry import Registry
from seesay.tasks import TASKS, expand, load_task, task_card, task_groups

Install = Callable[[str, str], None]

PLUGIN = """
from seesay.plugins import Plugin, TaskCard

PLUGIN = Plugin(tasks={{"{name}": TaskCard("{module}:{attribute}", "A title", "A source")}})
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package with a plug-in on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    other_packages.cache_clear()

    def put(package: str, source: str) -> None:
        module = package.replace("-", "_")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[seesay.plugins]\n{package} = {module}:PLUGIN\n")
        (tmp_path / f"{module}.py").write_text(source)
        monkeypatch.delitem(sys.modules, module, raising=False)

    yield put
    other_packages.cache_clear()


def declared(module: str, name: str, attribute: str = "load") -> str:
    return PLUGIN.format(module=module, name=name, attribute=attribute)


def make_registry(**core: str) -> Registry[object]:
    addresses = core or {"core-color": "math:pi", "core-size": "math:e"}
    return Registry("task", addresses, _other_loaders, "seesay tasks")


def _other_loaders(plugin: Plugin) -> dict[str, str]:
    """What other packages bring; our own instruments stay out of these tests."""
    if plugin in instruments():
        return {}
    return {name: card.loader for name, card in plugin.tasks.items()}


def test_loads_only_what_is_asked_for() -> None:
    registry = make_registry(pi="math:pi", broken="there.is.no.such:module")
    assert registry.names() == ["pi", "broken"]
    assert registry.load("pi") == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            "core-colour",
            "Unknown task 'core-colour'. Did you mean 'core-color'? `seesay tasks` lists them all.",
        ),
        (
            "CORE-SIZE",
            "Unknown task 'CORE-SIZE'. Did you mean 'core-size'? `seesay tasks` lists them all.",
        ),
        (
            "core",
            "Unknown task 'core'. Did you mean 'core-size' or 'core-color'? `seesay tasks` lists "
            "them all.",
        ),
        ("zzz", "Unknown task 'zzz'. `seesay tasks` lists them all."),
    ],
)
def test_an_unknown_name_is_answered_with_its_neighbours(typed: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        make_registry().load(typed)
    assert str(raised.value) == message


def test_another_package_adds_a_name(install: Install) -> None:
    install("nice-tasks", declared("nice_tasks", "fruit") + "def load():\n    return 'fruit'\n")
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size", "fruit"]
    assert registry.package("fruit") == "nice-tasks"
    loaded = registry.load("fruit")
    assert callable(loaded)
    assert loaded() == "fruit"


def test_a_name_of_ours_cannot_be_taken_over(install: Install) -> None:
    install("sly-tasks", declared("sly_tasks", "core-color") + "def load():\n    return 'sly'\n")
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size"]
    assert registry.package("core-color") == "seesay"
    assert registry.load("core-color") == pytest.approx(3.14159, abs=1e-5)


def test_a_thing_that_cannot_be_imported_is_named_and_breaks_nothing_else(install: Install) -> None:
    install("broken-tasks", declared("broken_tasks", "broken", attribute="nothing"))
    registry = make_registry()
    assert registry.names() == ["core-color", "core-size", "broken"]
    with pytest.raises(UserError, match="package 'broken-tasks', which could not be loaded"):
        registry.load("broken")
    assert registry.load("core-size") == pytest.approx(2.71828, abs=1e-5)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "raise RuntimeError('no licence key')",
            "could not be loaded (RuntimeError: no licence key)",
        ),
        ("", "could not be loaded (AttributeError"),
        ("PLUGIN = 42", "is a int and not a seesay.plugins.Plugin"),
    ],
)
def test_a_broken_plugin_is_reported_and_left_out(
    install: Install, source: str, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    install("broken-tasks", source)
    assert make_registry().names() == ["core-color", "core-size"]
    assert "The package 'broken-tasks' adds to seesay but" in caplog.text
    assert problem in caplog.text


def test_task_names_are_expanded() -> None:
    assert expand(["core"]) == list(task_groups()["core"])
    assert expand(["coda, core-size", "core", "coda,"]) == [
        "coda",
        "core-size",
        "core-color",
        "core-space",
        "core-parts",
    ]
    assert expand(["all"])[: len(TASKS.ours)] == list(TASKS.ours)
    assert expand([]) == []
    assert expand([",".join(TASKS.ours)]) == list(TASKS.ours)  # longer than a path may be
    with pytest.raises(UserError, match=r"Unknown task 'cora'\. Did you mean 'core'"):
        expand(["coda", "cora"])


def test_every_built_in_task_has_a_summary_and_a_loader() -> None:
    for name in TASKS.ours:
        assert task_card(name).title
        assert callable(TASKS.load(name))
    for members in task_groups().values():
        assert set(members) <= set(TASKS.ours)


def test_a_task_of_another_package_must_be_a_task(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("odd-tasks", declared("odd_tasks", "odd") + "def load(data):\n    return 42\n")
    monkeypatch.setattr(
        "seesay.tasks.TASKS", Registry("task", TASKS.core, TASKS.brought, "seesay tasks")
    )
    assert expand(["all"])[-1] == "odd"
    assert task_card("odd").source == "A source"
    with pytest.raises(
        UserError, match="'odd' of the package 'odd-tasks' is a int, not a seesay Task"
    ):
        load_task("odd")
