"""The house rules that a linter does not know: one atomic writer, a declared contract, unique
names."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from seesay.models.base import Model

SOURCE = Path(__file__).resolve().parents[1] / "src" / "seesay"
HOOKS = {name for name in vars(Model) if not name.startswith("__")} | set(Model.__annotations__)


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
    }


def calls(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_files_are_moved_into_place_by_one_module() -> None:
    """`path.replace(target)` and `path.rename(target)` take one argument; a string's `replace`
    takes two."""
    movers = {
        name
        for name, tree in modules().items()
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("replace", "rename", "move")
        and len(call.args) == 1
        and not call.keywords
    }
    assert movers == {"files.py"}


def test_fsync_and_locks_have_one_home() -> None:
    """The journal appends, so that it flushes for itself; everything else is written through
    `files`."""
    text = {name: (SOURCE / name).read_text(encoding="utf-8") for name in modules()}
    assert {name for name in text if "os.fsync" in text[name]} == {"files.py", "runs/journal.py"}
    assert {name for name in text if "FileLock(" in text[name]} == {"files.py"}
    assert not [
        name for name in text if "showwarning" in text[name] or "warnings.warn" in text[name]
    ]
    assert {name for name in text if "sys.argv" in text[name]} == {"command_line.py"}


def test_no_hook_of_the_contract_is_fetched_by_name() -> None:
    fetched = [
        (name, call.lineno)
        for name, tree in modules().items()
        for call in calls(tree)
        if isinstance(call.func, ast.Name)
        and call.func.id in ("getattr", "hasattr")
        and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
        and call.args[1].value in HOOKS
    ]
    assert fetched == []


def test_no_two_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    assert {cls: files for cls, files in homes.items() if len(files) > 1} == {}


_SUFFIX = r"\.(?:startswith|endswith|removesuffix|partition|rpartition|split)\("
CONDITION_IN_NAMES = {
    # a title may join a model's name and a task's
    "something after a model's name": r"\.(?:name|model)\} · (?!\{[\w.]*task)",
    "a name that is changed": r"\.name \+=",
    "a name that is taken apart": r"(?:\bmodel\.name|\w\.manifest\.model|figure\.model)" + _SUFFIX,
    "a scope that is taken apart": r"\bscope" + _SUFFIX,
    "a scope that says how": r"-rotated|generated-|in (?:run\.)?manifest\.(?:condition\.)?scope",
    "a scope of a run that is compared": r"condition\.scope (?:==|!=|in) ",
    "the name of a template that is compared": r"""template\w*\.name (?:==|!=|in) ["'(]""",
    "a beginning that says how": r"""startswith\(["'](?:linear|question|choice|generated)""",
    "a reader that there was": r"asked_as|CHAT_SUFFIX|LETTERED_SCOPE",
}
"""Regular expressions for code that writes how a run was asked into a name, or reads it there."""


def test_how_a_run_was_asked_is_in_its_condition_alone() -> None:
    readers = []
    for name in modules():
        text = (SOURCE / name).read_text(encoding="utf-8")
        for what, pattern in CONDITION_IN_NAMES.items():
            readers += [(name, what, match[0]) for match in re.finditer(pattern, text)]
    assert readers == []


def test_the_name_of_a_model_is_set_where_it_is_made() -> None:
    """Elsewhere than in a constructor, an assignment to `name` would rename a model."""
    renamed = []
    for module, tree in modules().items():
        if not module.startswith(("models/", "probes/", "runs/")):
            continue
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
                continue
            for node in ast.walk(function):
                targets = node.targets if isinstance(node, ast.Assign) else []
                if any(isinstance(t, ast.Attribute) and t.attr == "name" for t in targets):
                    renamed.append((module, function.name))
    assert renamed == []


WHOLE_HOUSE = {"benchmarks", "chaos", "fuzz", "together", "plugin_package"}
"""Folders of tests that belong to no single package."""


def test_tests_lie_where_their_modules_lie() -> None:
    """A folder of tests has the name of a package; a test named after a module of the same package
    lies beside it."""
    tests = SOURCE.parents[1] / "tests"
    packages_by_module: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        package = path.parent.relative_to(SOURCE)
        top = str(package).partition("/")[0]
        packages_by_module[top, path.stem].add(str(package))
        if path.stem == "__init__":  # a test of a whole package lies in its folder or beside it
            packages_by_module[top, path.parent.name] |= {str(package), str(package.parent)}
    astray = []
    for path in tests.rglob("test_*.py"):
        package = path.parent.relative_to(tests)
        top = str(package).partition("/")[0]
        if top in WHOLE_HOUSE:
            continue
        homes = packages_by_module.get((top, path.stem.removeprefix("test_")), {str(package)})
        if not (SOURCE / package).is_dir() or str(package) not in homes:
            astray.append((str(path.relative_to(tests)), sorted(homes)))
    assert astray == []
