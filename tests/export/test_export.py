"""Exported tasks: as a task file they ask the same questions; other targets open them, or they are
refused."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from tests.cli.program import error_here
from tests.shared_data import shared
from tests.tasks.full_norms import write_full_norms

from seesay.errors import UserError
from seesay.export import TARGETS, export, seesay_target
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
    ranked = replace(load_task("core-color"), metrics=("average_precision",))
    for target in ("lm-eval", "inspect", "lmms-eval"):
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
    assert "--to is 'csv': choose one of seesay, lm-eval, inspect, datasets, " in error_here(
        capsys, "tasks", "export", "core-color", "-o", tmp_path / "new", "--to", "csv"
    )
    assert "stands for several tasks" in error_here(
        capsys, "tasks", "export", "core", "-o", tmp_path / "new"
    )
    assert len(TARGETS) == 6


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


CONTROLS = (
    "\0",
    "\u2028x: y",
    "\u0085x: y",
    "\u2029- z",
    "\r\nx: y",
    "\x1b[2J",
)
HOSTILE = (
    *CONTROLS,
    "\n---\nx: y",
    '"""',
    "'''\\",
    "{{ cycler.__init__ }}",
    "{% raise %}",
    "{# #}",
    "}} {",
    "# %TAG !!function",
    "!function os.system",
    "🏴 سلام",
)
JINJA = "\u2028doc_to_text: '{{ cycler.__init__.__globals__.os.mkdir(\"/tmp/seesay-jinja\") }}'"


def hostile_task(text: str) -> Task:
    """A task that holds a text wherever a task holds one."""
    # a template's own braces are doubled, so that they stay
    doubled = text.replace("{", "{{").replace("}", "}}")
    questions = tuple(
        Question(
            f"q{i}{text}",
            {"thing": f"{name}{text}"},
            (f"red{text}", f"green{text}"),
            {f"red{text}": 1.0},
            f"{name}{text}",
            {"kind": text, "question": text, "object": text},
        )
        for i, name in enumerate(("apple", "leaf"))
    )
    return Task(
        name="small-one",
        version=f"1{text}",
        title=f"Small{text}",
        templates=(
            Template(f"is{text}", f"The {{thing}}{doubled} is [MASK]{doubled}."),
            Template("sees", "One usually sees a [MASK] {thing}."),
        ),
        questions=questions,
        metrics=("accuracy",),
        provenance=Provenance(licence=f"MIT{text}", citation=f"Nobody{text}"),
    )


def yaml_documents(folder: Path) -> dict[str, Any]:
    """The YAML files of a folder, read by a library that runs nothing."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        pass

    Loader.add_constructor("!function", lambda loader, node: ("!function", node.value))
    return {
        path.name: yaml.load(path.read_text(encoding="utf-8"), Loader)
        for path in folder.glob("*.yaml")
    }


@pytest.mark.parametrize("text", [*HOSTILE, JINJA])
def test_an_lm_eval_export_says_the_same_whatever_the_texts_hold(tmp_path: Path, text: str) -> None:
    task = hostile_task(text)
    written = export(task, tmp_path / "out", "lm-eval")
    plain = export(hostile_task(""), tmp_path / "plain", "lm-eval")
    documents = yaml_documents(tmp_path / "out")
    group = documents.pop("small_one.yaml")
    expected_group = yaml_documents(tmp_path / "plain")["small_one.yaml"]
    members = [documents.pop(f"{name}.yaml") for name in group["task"]]
    assert not documents
    about = {"version": f"1{text}", "title": f"Small{text}", "citation": f"Nobody{text}"}
    assert group == {**expected_group, "task": group["task"], "metadata": about}
    for member, template in zip(members, task.templates, strict=True):
        assert member["metadata"] == {**about, "text": template.text}
        assert (member["doc_to_text"], member["doc_to_choice"], member["doc_to_target"]) == (
            "context",
            "continuations",
            "gold",
        )
        assert member["custom_dataset"] == ("!function", "load_rows.load_rows")
        slug = member["dataset_kwargs"]["template"]
        rows = json_lines(tmp_path / "out" / "rows" / slug / "test.jsonl")
        for row, question in zip(rows, task.questions, strict=True):
            prompt = template.ask(question)
            sentences = [prompt.text.replace("[MASK]", word) for word in prompt.options]
            assert [row["context"] + rest for rest in row["continuations"]] == sentences
            assert row["choices"] == list(prompt.options)
    # none of a task's texts is in the name of a file, and the code is the same for all
    assert len(written) == len(plain)
    assert all(path.name.isascii() and path.name.isprintable() for path in written)
    loader = (tmp_path / "out" / "load_rows.py").read_text()
    assert loader == (tmp_path / "plain" / "load_rows.py").read_text()


def json_lines(path: Path) -> list[Any]:
    """The lines of a file as `datasets` and jq split them: by newlines alone."""
    return [json.loads(line) for line in path.read_bytes().rstrip(b"\n").split(b"\n")]


@pytest.mark.parametrize("text", [*HOSTILE, JINJA])
def test_an_inspect_export_is_the_same_code_whatever_the_texts_hold(
    tmp_path: Path, text: str
) -> None:
    task = hostile_task(text)
    export(task, tmp_path / "out", "inspect")
    export(hostile_task(""), tmp_path / "plain", "inspect")
    module = (tmp_path / "out" / "small_one.py").read_bytes()
    assert module == (tmp_path / "plain" / "small_one.py").read_bytes()
    compile(module, "small_one.py", "exec")
    about = json.loads((tmp_path / "out" / "task.json").read_bytes())
    assert about == {
        "name": "small-one",
        "version": f"1{text}",
        "title": f"Small{text}",
        "citation": f"Nobody{text}",
        "templates": [f"is{text}", "sees"],
        "nested": False,
    }
    rows = json_lines(tmp_path / "out" / "rows.jsonl")
    expected = [
        (question.id, question.object, template.name, list(question.options), dict(question.tags))
        for question in task.questions
        for template in task.templates
    ]
    assert expected == [
        (
            row["metadata"]["question"],
            row["metadata"]["object"],
            row["metadata"]["template"],
            row["choices"],
            row["metadata"]["tags"],
        )
        for row in rows
    ]


@pytest.mark.parametrize("text", [*HOSTILE, JINJA])
def test_a_data_set_holds_what_the_texts_hold(tmp_path: Path, text: str) -> None:
    task = hostile_task(text)
    export(task, tmp_path / "out", "datasets")
    rows = pq.read_table(tmp_path / "out" / "data" / "test.parquet").to_pylist()
    for row, question in zip(rows, task.questions, strict=True):
        assert (row["id"], row["object"], row["tag_kind"]) == (question.id, question.object, text)
        assert row["options"] == list(question.options)
        assert row["prompts"] == [template.ask(question).text for template in task.templates]
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    _, header, body = re.split(r"^---\n", card, maxsplit=2, flags=re.MULTILINE)
    document = yaml.safe_load(header)
    assert (document["license_name"], document["pretty_name"]) == (f"MIT{text}", f"Small{text}")
    assert list(document) == ["license", "license_name", "pretty_name", "configs"]
    # what a task says is on one line each: it cannot begin another part of the card
    plain = len(card_body(tmp_path / "plain").splitlines())
    assert len(body.splitlines()) == plain
    assert all(line.isprintable() for line in body.splitlines())


def card_body(folder: Path) -> str:
    """The card of the same task without hostile texts, below its header."""
    export(hostile_task(""), folder, "datasets")
    return (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]


@pytest.mark.parametrize("text", [*HOSTILE, JINJA])
def test_a_task_file_holds_what_the_texts_hold(tmp_path: Path, text: str) -> None:
    """Texts that no prompt may hold are refused when the file is read; all others come back."""
    task = hostile_task(text)
    export(task, tmp_path / "out", "seesay")
    document = yaml.safe_load((tmp_path / "out" / "task.yaml").read_text(encoding="utf-8"))
    assert document["title"] == task.title
    assert document["citation"] == task.provenance.citation
    assert document["templates"] == {template.name: template.text for template in task.templates}
    rows = json_lines(tmp_path / "out" / "test.jsonl")
    assert [row["thing"] for row in rows] == [q.fields["thing"] for q in task.questions]
    if text in (*CONTROLS, JINJA):
        with pytest.raises(UserError, match="control characters"):
            load_task(str(tmp_path / "out"))
        return
    copy = load_task(str(tmp_path / "out"))
    assert copy.fingerprint == task.fingerprint
    assert (copy.title, copy.provenance.citation) == (task.title, task.provenance.citation)


def test_mirror_images_and_written_options_stay(tmp_path: Path) -> None:
    """What `mirror_consistency` and `--how qa` need of a task is in its file."""
    written = Template(
        "asked", "is {a} larger than {b}? (a) yes (b) no Answer: [MASK]", {">": "yes", "<": "no"}
    )
    pairs = (("cat", "ant", ">"), ("ant", "cat", "<"))
    questions = tuple(
        Question(f"{a}|{b}", {"a": a, "b": b}, (">", "<"), {gold: 1.0}, "ant|cat", twin=f"{b}|{a}")
        for a, b, gold in pairs
    )
    task = Task(
        "sizes",
        "1",
        "",
        (Template("size", "{a} is [MASK] than {b}", {">": "larger", "<": "smaller"}),),
        questions,
        ("accuracy", "mirror_consistency"),
        qa_templates=(written,),
    )
    seesay_target.write(task, tmp_path)
    copy = load_task(str(tmp_path / "task.yaml"))
    assert [question.twin for question in copy.questions] == ["ant|cat", "cat|ant"]
    assert copy.qa_templates == (written,)
    assert copy.metrics == task.metrics
