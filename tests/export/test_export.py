"""Exported tasks: as a task file they ask the same questions; other targets open them, or they are
refused."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.cli.program import error_here
from tests.shared_data import shared
from tests.tasks.full_norms import write_full_norms

from seesay.errors import UserError
from seesay.export import TARGETS, export
from seesay.questions import Provenance, Question, Task, Template, Training
from seesay.tasks import TASKS, load_task

DATA = {
    "memory-colors": "memory_colors",
    "coda": "coda",
    "verb-physics": "verb_physics",
    "numersense": "numersense",
    "prost": "prost",
    "vsr": "vsr",
    "spatial-commonsense": "spatial_commonsense",
    "imagenetvc": "imagenetvc",
    "viphy": "viphy",
    "malevic-compositional": "malevic/set-pos-compositional",
    "malevic-sup1": "malevic/sup1",
    "malevic-pos1": "malevic/pos1",
    "malevic-pos-hard": "malevic/pos-hard",
    "malevic-pos": "malevic/pos",
    "malevic-set-pos-hard": "malevic/set-pos-hard",
    "malevic-set-pos": "malevic/set-pos",
}


@pytest.fixture(autouse=True)
def few_scenes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Few generated items, in a cache of the test's own."""
    if "malevic-pos" in TASKS:  # small scenes, where that instrument is there
        monkeypatch.setattr("seesay.scenes.tasks.malevic.ITEMS", 160)
        monkeypatch.setattr("seesay.scenes.tasks.malevic.PICTURE", 64)
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))


def available(name: str, folder: Path) -> Task:
    """The task with its embedded or published data; norms are invented, comparatives generated:
    none are published."""
    if name == "easy-vqa":
        pytest.importorskip("easy_vqa")
    if name == "property-norms":
        folder.mkdir()
        return load_task(name, write_full_norms(folder) / "norms.dat")
    prefix = max((prefix for prefix in DATA if name.startswith(prefix)), key=len, default=None)
    return load_task(name, shared(DATA[prefix]) if prefix else None)


@pytest.mark.seconds
@pytest.mark.parametrize("name", [name for name in TASKS.ours if not name.startswith("prior-")])
def test_a_task_file_of_any_task_asks_the_same(name: str, tmp_path: Path) -> None:
    task = available(name, tmp_path / "norms")
    export(task, tmp_path / "copy", "seesay")
    copy = load_task(str(tmp_path / "copy"))
    assert copy.name == f"{name}-copy"
    assert copy.fingerprint == task.fingerprint
    assert not copy.provenance.bad_rows
    for mine, theirs in zip(copy.questions, task.questions, strict=True):
        for template, other in zip(copy.templates, task.templates, strict=True):
            assert replace(template.ask(mine), picture=None) == replace(
                other.ask(theirs), picture=None
            )
    assert copy.choice_templates == task.choice_templates
    assert (copy.published, copy.training.linear_published) == (
        task.published,
        task.training.linear_published,
    )
    assert (copy.training.linear_text, copy.provenance.citation, copy.nested_by) == (
        task.training.linear_text,
        task.provenance.citation,
        task.nested_by,
    )
    assert (copy.training.load_splits is None) == (task.training.load_splits is None)
    if task.training.load_splits is not None:
        splits = copy.splits()
        assert {split: part.fingerprint for split, part in splits.items()} == {
            split: part.fingerprint for split, part in task.splits().items()
        }


def pictured(folder: Path) -> Task:
    picture = folder / "cat.png"
    picture.write_bytes(
        bytes.fromhex(  # one grey pixel
            "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
            "0000000a49444154789c6368000000820081dd436af40000000049454e44ae426082"
        )
    )
    question = Question(
        "q", {"x": "cat"}, ("yes", "no"), {"yes": 1.0}, "cat", {"kind": "pet"}, str(picture)
    )
    return Task(
        "seen", "1", "Seen", (Template("t", "Is it a {x}? [MASK]"),), (question,), ("accuracy",)
    )


def test_datasets_opens_the_export_with_its_pictures(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    export(pictured(tmp_path), tmp_path / "out", "datasets")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["test"]
    row = loaded[0]
    assert (row["id"], row["options"], row["gold"]) == ("q", ["yes", "no"], [1.0, 0.0])
    assert (row["prompts"], row["words"], row["tag_kind"]) == (
        ["Is it a cat? [MASK]"],
        [["yes", "no"]],
        "pet",
    )
    assert row["picture"].size == (1, 1)


def test_datasets_opens_every_split(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    task = load_task("verb-physics-size", shared("verb_physics"))
    export(task, tmp_path / "out", "datasets")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in loaded.items()} == {
        "test": 1265,
        "train": 517,
        "validation": 770,
    }
    assert [row["id"] for row in loaded["test"]] == [question.id for question in task.questions]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "Maxwell Forbes" in card
    assert "Licence: MIT." in card


def test_what_a_target_cannot_express_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        UserError, match="lm-eval cannot express 'seen': its questions have pictures"
    ):
        export(pictured(tmp_path), tmp_path / "out", "lm-eval")
    ranked = replace(load_task("core-color"), metrics=("average_precision",))
    for target in ("lm-eval", "inspect"):
        with pytest.raises(
            UserError,
            match=f"{target} cannot express 'core-color': its metric is average_precision",
        ):
            export(ranked, tmp_path / "out", target)
    wide = Question("q", {"thing": "a", "Thing": "A"}, tuple(map(str, range(27))), {"1": 1.0}, "a")
    many = replace(ranked, metrics=("accuracy",), questions=(wide,))
    with pytest.raises(UserError, match="it letters options, and a question here has 27"):
        export(many, tmp_path / "out", "inspect")
    assert not (tmp_path / "out").exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("")
    sentence = error_here(capsys, "tasks", "export", "core-color", "-o", tmp_path / "taken")
    assert sentence == f"'{tmp_path / 'taken'}' exists: give the name of a new folder."
    assert "--to is 'csv': choose one of seesay, lm-eval, inspect, datasets." in error_here(
        capsys, "tasks", "export", "core-color", "-o", tmp_path / "new", "--to", "csv"
    )
    assert "stands for several tasks" in error_here(
        capsys, "tasks", "export", "core", "-o", tmp_path / "new"
    )
    assert len(TARGETS) == 4


def test_an_inspect_module_is_valid_python_whatever_the_task_says(tmp_path: Path) -> None:
    evil = replace(
        pictured(tmp_path),
        title='""" + __import__("os").system("x") + """',
        provenance=Provenance(citation="\\"),
        version='1"; import os; "',
    )
    export(evil, tmp_path / "out", "inspect")
    module = (tmp_path / "out" / "seen.py").read_text()
    compile(module, "seen.py", "exec")
    import ast

    tree = ast.parse(module)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "__import__" not in called
    assert {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } == {
        "json",
        "re",
    }
    row = json.loads((tmp_path / "out" / "rows.jsonl").read_text())
    assert (row["target"], row["picture"]) == ("A", "pictures/cat.png")


def test_pictures_of_one_name_stay_apart(tmp_path: Path) -> None:
    """The second would be shown the first's picture."""
    task = pictured(tmp_path)
    (first,) = task.questions
    names = [f"{folder}/{name}" for folder in "ab" for name in ("cat.png", "1-cat.png")]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    questions = tuple(replace(first, id=name, picture=str(tmp_path / name)) for name in names)
    for target in ("inspect", "seesay"):
        export(replace(task, questions=questions), tmp_path / target, target)
        (rows,) = (tmp_path / target).glob("*.jsonl")
        copies = [json.loads(line)["picture"] for line in rows.read_text().splitlines()]
        assert [(tmp_path / target / copy).read_text() for copy in copies] == names


@pytest.mark.parametrize(
    ("name", "function"), [("json", "task_json"), ("class", "task_class"), ("a-b", "a_b")]
)
def test_an_inspect_task_takes_no_name_of_its_module(
    tmp_path: Path, name: str, function: str
) -> None:
    export(replace(pictured(tmp_path), name=name), tmp_path / "out", "inspect")
    tree = ast.parse((tmp_path / "out" / f"{function}.py").read_text())
    assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def small_task(**changes: Any) -> Task:
    questions = tuple(
        Question(
            f"q{i}",
            {"thing": name, "tag_kind": "field"},
            ("red", "green"),
            {"red": 1.0},
            name,
            {"kind": "tag"},
        )
        for i, name in enumerate(("apple", "leaf"))
    )
    templates = (Template("is", "The {thing} is [MASK]."),)
    return replace(Task("small-one", "1", "", templates, questions, ("accuracy",)), **changes)


def test_a_field_that_is_called_like_a_tag_stays(tmp_path: Path) -> None:
    export(small_task(), tmp_path / "out", "seesay")
    again = load_task(str(tmp_path / "out" / "task.yaml"))
    assert [(dict(q.fields), dict(q.tags)) for q in again.questions] == [
        ({"thing": name, "tag_kind": "field"}, {"kind": "tag"}) for name in ("apple", "leaf")
    ]


def test_title_of_several_lines_is_one_comment_for_lm_eval(tmp_path: Path) -> None:
    export(small_task(title="What colour?\ntask: other"), tmp_path / "out", "lm-eval")
    lines = (tmp_path / "out" / "small_one_is.yaml").read_text().splitlines()
    assert lines[:2] == [
        '# What colour? task: other: "The {thing} is [MASK]."',
        "task: small_one_is",
    ]


def test_an_inspect_module_names_its_own_file(tmp_path: Path) -> None:
    export(small_task(), tmp_path / "out", "inspect")
    assert "`inspect eval small_one.py --model" in (tmp_path / "out" / "small_one.py").read_text()


def test_every_split_of_a_data_set_has_the_same_columns(tmp_path: Path) -> None:
    more = Question("t", {"thing": "sky"}, ("red", "green"), {"red": 1.0}, "sky", {"level": "high"})
    training = Training(load_splits=lambda: {"train": (more,)})
    export(small_task(training=training), tmp_path / "out", "datasets")
    schemas = [
        pq.read_schema(tmp_path / "out" / "data" / f"{split}.parquet")
        for split in ("test", "train")
    ]
    assert schemas[0].names == schemas[1].names
    assert {"field_tag_kind", "tag_kind", "tag_level"} <= set(schemas[0].names)
