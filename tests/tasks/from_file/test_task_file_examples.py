"""The worked examples of docs/task-files.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seesay.questions import Task
from seesay.tasks import load_task
from seesay.tasks.from_file.check import check

PAGE = Path(__file__).resolve().parents[3] / "docs" / "task-files.md"
BLOCK = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    for name, content in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (tmp_path / "seen" / "pictures").mkdir()
    for name in ("cat", "dog"):
        (tmp_path / "seen" / "pictures" / f"{name}.png").write_bytes(b"")
    return tmp_path


def asked(task: Task) -> list[str]:
    return [
        template.ask(question).text for question in task.questions for template in task.templates
    ]


def test_there_are_seven_without_a_problem(examples: Path) -> None:
    files = sorted(path.relative_to(examples).as_posix() for path in examples.rglob("*.yaml"))
    assert files == [
        *("animals.yaml", "fruit.yaml", "grammar.yaml", "legs.yaml"),
        *("seen/task.yaml", "sizes.yaml", "votes.yaml"),
    ]
    for name in files:
        assert [str(problem) for problem in check(examples / name).errors] == [], name


def test_page_describes_them(examples: Path) -> None:
    fruit, animals, votes, legs, sizes, seen, grammar = (
        load_task(str(examples / name))
        for name in (
            "fruit.yaml",
            "animals.yaml",
            "votes.yaml",
            "legs.yaml",
            "sizes.yaml",
            "seen",
            "grammar.yaml",
        )
    )
    prompt = grammar.templates[0].ask(grammar.questions[1])
    assert set(prompt.options) == {"I saw a red apple.", "I saw a apple red."}
    assert asked(fruit)[1] == "The color of an apple is [MASK]."
    assert fruit.provenance.licence == "CC0-1.0"
    assert animals.questions[0].options == ("a cow", "a bat", "a fish")
    assert animals.questions[0].gold == {"a bat": 1.0}
    assert votes.questions[1].gold == {"yes": 0.7, "no": 0.3}
    assert asked(legs) == [
        "a bird has [MASK] legs.",
        "a week has [MASK] days.",
        "[MASK] months have thirty days.",
    ]
    assert legs.provenance.notes == ("1 row left out: answer is ? (nobody knew)",)
    assert len(sizes.questions) == 8
    assert {question.tags["certainty"] for question in sizes.questions} == {"sure", "unsure"}
    assert seen.name == "seen"
    assert Path(str(seen.questions[0].picture)).name == "cat.png"
    assert seen.published[0].source == "Nonymous 2026, Table 2"
    assert [question.gold for question in seen.splits()["train"].questions] == [
        {"no": 1.0},
        {"yes": 1.0},
    ]
