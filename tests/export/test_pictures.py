"""Exports with pictures, opened by the loaders of lm-eval, lmms-eval and pandas (VLMEvalKit)."""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image
from tests.export.test_export import HOSTILE, JINJA, hostile_task, json_lines, yaml_documents
from tests.needs import absent

from seesay.errors import UserError
from seesay.export import export, right_labels
from seesay.export.lm_eval_target import ANSWERS
from seesay.questions import Task

COLORS = {"apple": (250, 10, 10), "leaf": (10, 250, 10)}


def pictured_task(folder: Path, text: str = "", *, blind: bool = False) -> Task:
    """Two things with a picture each, whatever else the texts hold; the first question may have
    none."""
    task = hostile_task(text)
    questions = []
    for question, (name, color) in zip(task.questions, COLORS.items(), strict=True):
        path = folder / f"{name}.png"
        Image.new("RGB", (8, 8), color).save(path)
        questions.append(replace(question, picture=str(path)))
    if blind:
        questions[0] = replace(questions[0], picture=None)
    return replace(task, questions=tuple(questions))


def answers_module(folder: Path) -> ModuleType:
    (folder / "answers.py").write_text(ANSWERS)
    spec = importlib.util.spec_from_file_location("answers", folder / "answers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        (" b.\n", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("B) green", "B"),
        ("Green.", "B"),
        ("Answer: b", "B"),
        ("The answer is (B), as leaves are.", "B"),
        ("The answer is a green one.", ""),
        ("A or B: who knows", ""),
        ("It is B: green", "B"),
        ("A) or B)", ""),
        ("Option A or option B", ""),
        ("D", ""),
        ("Answer: D", ""),
        ("A leaf has many colors", ""),
        ("", ""),
    ],
)
def test_a_reply_is_one_letter_or_none(tmp_path: Path, reply: str, letter: str) -> None:
    module = answers_module(tmp_path)
    assert module.read_letter(reply, ["red", "green", "dark blue"]) == letter
    doc = {"choices": ["red", "green", "dark blue"], "gold": "BC"}
    assert module.judge(doc, [reply]) == {"acc": float(letter == "B")}


@pytest.mark.seconds
@pytest.mark.parametrize("text", ["", "".join(HOSTILE) + JINJA])
def test_lm_eval_shows_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Its loader, its requests and its figures, with a model that replies by what it is shown."""
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))

    class Eye(LM):  # type: ignore[misc]  # lm-eval has no types
        MULTIMODAL = True

        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            replies = []
            for request in requests:
                text, _, shown = request.args
                assert text.count("<image>") == len(shown["visual"])
                pixels = [picture.getpixel((0, 0)) for picture in shown["visual"]]
                replies.append("A" if pixels == [COLORS["apple"]] else "Answer: B")
            return replies

        def loglikelihood(self, requests: list[Any], **_: Any) -> list[Any]:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    task = pictured_task(tmp_path, text)
    export(task, tmp_path / "out", "lm-eval")
    moved = shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    results = lm_eval.simple_evaluate(
        Eye(),
        tasks=["small_one"],
        task_manager=TaskManager(include_path=str(moved), include_defaults=False),
        log_samples=True,
        bootstrap_iters=0,
    )
    # red, the first option, is right about both, and said of the apple alone
    assert results["groups"]["small_one"]["acc,none"] == 0.5
    samples = [sample for part in results["samples"].values() for sample in part]
    assert len(samples) == len(task.questions) * len(task.templates)
    for sample in samples:
        assert sample["doc"]["choices"][0].lower() == f"red{text}".lower()
    assert not Path("/tmp/seesay-jinja").exists()


@pytest.mark.parametrize("text", [*HOSTILE, JINJA])
@pytest.mark.parametrize("target", ["lm-eval", "lmms-eval"])
def test_yaml_and_code_are_the_same_whatever_the_texts_hold(
    tmp_path: Path, target: str, text: str
) -> None:
    task = pictured_task(tmp_path, text)
    files = export(task, tmp_path / "out", target)
    export(pictured_task(tmp_path), tmp_path / "plain", target)
    for path in files:
        assert path.name.isascii()
        if path.suffix == ".py":
            assert path.read_text() == (tmp_path / "plain" / path.name).read_text()
    documents = yaml_documents(tmp_path / "out")
    members = [documents[f"{name}.yaml"] for name in documents["small_one.yaml"]["task"]]
    assert len(members) == len(documents) - 1
    for member, template in zip(members, task.templates, strict=True):
        assert (member["doc_to_text"], member["doc_to_target"]) == ("text", "gold")
        assert member["process_results"] == ("!function", "answers.judge")
        assert member["metadata"]["text"] == template.text
    rows = [row for path in files if path.suffix == ".jsonl" for row in json_lines(path)]
    assert [row["gold"] for row in rows] == ["A"] * 4
    for row in rows:
        pixel = Image.open(tmp_path / "out" / row["picture"]).getpixel((0, 0))
        assert pixel == COLORS["apple" if row["object"].startswith("apple") else "leaf"]
        assert text in row["text"]


LMMS = """
import sys
from lmms_eval.tasks import TaskManager, get_task_dict
manager = TaskManager(include_path=sys.argv[1], include_defaults=False, model_name="dummy")
names = [name for name in manager.all_tasks if name != "small_one"]
for name, task in get_task_dict(names, manager).items():
    for doc in task.test_docs():
        (picture,) = task.doc_to_visual(doc)
        right = task.process_results(doc, ["(A)"])["acc"]
        wrong = task.process_results(doc, ["Answer: B"])["acc"]
        print("DOC", name, picture.getpixel((0, 0))[0], right, wrong, len(task.doc_to_text(doc)))
"""


@pytest.mark.slow
def test_lmms_eval_loads_the_folder(tmp_path: Path) -> None:
    """By an interpreter of its own, which SEESAY_LMMS_PYTHON names: lmms-eval needs torchvision."""
    python = os.environ.get("SEESAY_LMMS_PYTHON")
    if python is None:
        absent("SEESAY_LMMS_PYTHON names no interpreter with lmms-eval")
    task = pictured_task(tmp_path, "".join(HOSTILE) + JINJA)
    export(task, tmp_path / "out", "lmms-eval")
    done = subprocess.run(
        [python, "-c", LMMS, str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": "", "HF_DATASETS_CACHE": str(tmp_path / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    docs = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("DOC")]
    assert len(docs) == len(task.questions) * len(task.templates), done.stderr
    assert [doc[1] for doc in docs] == ["250", "10"] * len(task.templates)
    assert {(doc[2], doc[3]) for doc in docs} == {("1.0", "0.0")}
    rows = [row for path in (tmp_path / "out").rglob("*.jsonl") for row in json_lines(path)]
    assert sorted(int(doc[4]) for doc in docs) == sorted(len(row["text"]) for row in rows)
    assert not Path("/tmp/seesay-jinja").exists()


@pytest.mark.parametrize("text", ["", *(text for text in HOSTILE if not set(text) & set("\0\r"))])
def test_pandas_reads_a_table_of_vlmevalkit(tmp_path: Path, text: str) -> None:
    """As VLMEvalKit's `load` and `decode_base64_to_image` do."""
    pandas = pytest.importorskip("pandas")
    task = pictured_task(tmp_path, text)
    files = export(task, tmp_path / "out", "vlmevalkit")
    assert len(files) == len(task.templates)
    for path in files:
        table = pandas.read_csv(path, sep="\t")
        assert table["index"].tolist() == [0, 1]
        assert table["answer"].tolist() == ["A", "A"]
        assert not table.isna().any().any()
        for question, (_, row) in zip(task.questions, table.iterrows(), strict=True):
            options = [row["A"].lower(), row["B"].lower()]
            assert options == [option.lower() for option in question.options]
            assert row["object"] == question.object
            assert right_labels(task, question)[0].lower() == row[row["answer"]].lower()
            # texts of up to 64 characters are taken for another row's index
            assert len(row["image"]) > 64
            picture = Image.open(io.BytesIO(base64.b64decode(row["image"])))
            assert picture.getpixel((0, 0)) in COLORS.values()


def with_options(task: Task, *options: str) -> Task:
    questions = [
        replace(question, options=options, gold={options[0]: 1.0}) for question in task.questions
    ]
    return replace(task, questions=tuple(questions))


def test_what_a_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    task = pictured_task(tmp_path)
    for number, option in enumerate(("None", "nan", "1.50", "inf", "007", "a\0", "a\rb")):
        with pytest.raises(UserError, match="its reader of tables would change"):
            export(with_options(task, option, "b"), tmp_path / f"no-{number}", "vlmevalkit")
    export(with_options(task, "1", "2"), tmp_path / "numbers", "vlmevalkit")
    with pytest.raises(UserError, match="'q0' has no picture"):
        export(pictured_task(tmp_path, blind=True), tmp_path / "no", "vlmevalkit")
    both = replace(task.questions[0], gold={"red": 1.0, "green": 1.0})
    with pytest.raises(UserError, match="'q0' has several right answers"):
        export(replace(task, questions=(both,)), tmp_path / "no", "vlmevalkit")
    marked = replace(task.questions[0], fields={"thing": "<image>"})
    for target in ("lm-eval", "lmms-eval"):
        with pytest.raises(UserError, match="<image> in its text, the mark of a picture"):
            export(replace(task, questions=(marked,)), tmp_path / "no", target)


def test_numbers_that_pandas_reads_stay(tmp_path: Path) -> None:
    """Laws of the reader: what is not refused comes back as it was written."""
    pandas = pytest.importorskip("pandas")
    draw = random.Random(0)
    texts = ["1", "12", "1e3", "-1", "yes", "NA", "N/A", " x", "0x1", "1_000", "1,5", '"', "t\tb"]
    task = pictured_task(tmp_path)
    survivors = 0
    for number in range(40):
        options = tuple(draw.sample(texts, 2))
        try:
            path, _ = export(with_options(task, *options), tmp_path / f"t{number}", "vlmevalkit")
        except UserError:
            continue
        survivors += 1
        row = pandas.read_csv(path, sep="\t").iloc[0]
        assert [str(row["A"]), str(row["B"])] == list(options)
    assert survivors > 5


def test_nested_sets_are_tasks_of_their_own(tmp_path: Path) -> None:
    """No harness averages over them; a question without a picture shows none."""
    task = pictured_task(tmp_path, blind=True)
    questions = [
        replace(question, tags={"seen": value})
        for question, value in zip(task.questions, ("no", "yes"), strict=True)
    ]
    nested = replace(task, questions=tuple(questions), nested_by="seen")
    for target in ("lm-eval", "lmms-eval"):
        export(nested, tmp_path / target, target)
        group = yaml_documents(tmp_path / target)["small_one.yaml"]
        assert group["task"] == [
            f"small_one_{seen}_{template}" for seen in ("no", "yes") for template in ("is", "sees")
        ]
        assert "aggregate_metric_list" not in group
        (row,) = json_lines(tmp_path / target / "rows" / "no_is" / "test.jsonl")
        assert row["picture"] is None
        assert "<image>" not in row["text"]
        (seen,) = json_lines(tmp_path / target / "rows" / "yes_is" / "test.jsonl")
        assert ("<image>" in seen["text"]) == (target == "lm-eval")
