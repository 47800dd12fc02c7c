"""What must not change a figure, on tasks and servers drawn at random.

The fuzzer of readers sees crashes; these see wrong numbers. Each law compares two ways to one
figure: a task and its export, a run and its stored answers, rows and the same rows in another
order, a good server and one that fails now and then.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.export.test_export import available
from tests.models.server.test_incomplete_answers import (
    cut_logprobs,
    no_choice,
    no_logprobs,
    proxy_error,
)
from tests.models.server.toy_server import Answer, Reply, old_layout, serving

from seesay import api
from seesay.errors import UserError
from seesay.export import export
from seesay.matching import match
from seesay.models.server.scoring import TRIALS
from seesay.questions import Question, Task, Template
from seesay.runs.run import Run
from seesay.tasks import TASKS, load_task

SEEDS = range(12)
# what options and things of other people's files hold
WORDS = (
    "red",
    "Red wine",
    "not red",
    "yes: no",
    "a, b; c",
    "(a)",
    "1",
    "-1.5",
    "=SUM(A1)",
    "but because",
    'said "so"',
    "it's",
    "Größe",
    "日本語",
    "می\u200cخواهم",
    "50 %",
    "a|b",
    "null",
    "none of these",
    "A sparrow is larger than a hedgehog",
    "<b>bold</b>",
    "back\\slash",
    "two  spaces",
)


def draw_rows(chance: random.Random) -> list[dict[str, Any]]:
    """Rows with options of their own or shared ones, some objects in several rows."""
    shared = chance.sample(WORDS, chance.randint(2, 5))
    has_own_options = chance.random() < 0.5
    rows = []
    for number in range(chance.randint(12, 30)):
        options = chance.sample(WORDS, chance.randint(2, 5)) if has_own_options else shared
        rows.append(
            {
                # a text of its own: rows that read the same are one question put twice
                "thing": f"{chance.choice(WORDS)} {number}",
                "kind": chance.choice(("x", "y: z")),
                "about": f"object {chance.randrange(12)}",
                "options": options,
                "gold": chance.choice(options),
            }
        )
    return rows


def write_task(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A task file of these rows."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    document = {
        "name": "drawn",
        "rows": "rows.jsonl",
        "object": "about",
        "options": {"column": "options"},
        "gold": "gold",
        "tags": {"kind": "kind"},
        "templates": {"is": "A {thing} is [MASK].", "asked": "What is {thing}? [MASK]"},
        "metrics": ["accuracy", "true_confidence"],
    }
    path = folder / "drawn.yaml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return path


def probe(model: str, task: Task | str, output: Path, **more: Any) -> Run:
    (run,) = api.probe(model, task, resamples=100, output=output, **more).runs
    return run


def figures(run: Run) -> list[tuple[object, ...]]:
    """What a reader takes from a run, whatever the order of its questions."""
    return [
        (f.metric, f.template, str(f.slice), pytest.approx(f.value), pytest.approx(f.low))
        for f in run.figures
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_changes_no_figure(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = draw_rows(chance)
    first = probe("mock", str(write_task(tmp_path / "a", rows)), tmp_path / "one")
    chance.shuffle(rows)
    again = probe("mock", str(write_task(tmp_path / "b", rows)), tmp_path / "two")
    assert figures(first) == figures(again)
    for row in rows:
        chance.shuffle(row["options"])
    other_order = probe("mock", str(write_task(tmp_path / "c", rows)), tmp_path / "three")
    assert figures(first) == figures(other_order)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_every_row_twice_changes_no_figure(seed: int, tmp_path: Path) -> None:
    """Resampling draws objects, so that questions that are there twice add no certainty."""
    rows = draw_rows(random.Random(seed))
    once = probe("mock", str(write_task(tmp_path / "a", rows)), tmp_path / "one")
    twice = probe("mock", str(write_task(tmp_path / "b", rows * 2)), tmp_path / "two")
    assert figures(once) == figures(twice)
    assert [f.objects for f in once.figures] == [f.objects for f in twice.figures]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_exported_task_has_the_same_figures(seed: int, tmp_path: Path) -> None:
    path = write_task(tmp_path / "a", draw_rows(random.Random(seed)))
    task = load_task(str(path))
    export(task, tmp_path / "exported", "seesay")
    (exported,) = (tmp_path / "exported").glob("*.yaml")
    first = probe("mock", task, tmp_path / "one")
    again = probe("mock", str(exported), tmp_path / "two")
    assert figures(first) == figures(again)


def stored_rows(run: Run) -> Iterator[dict[str, Any]]:
    """The answers of a run as another program would write them."""
    for answer in run.answers:
        yield {
            "question": answer.question,
            "template": answer.template,
            "logp": dict(zip(answer.options, answer.scores.logp, strict=True)),
        }


def write_answers(path: Path, rows: list[dict[str, Any]]) -> str:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return f"answers:{path}"


@pytest.mark.parametrize("seed", SEEDS)
def test_stored_answers_have_the_same_figures(seed: int, tmp_path: Path) -> None:
    """In any order of lines and options, and though some lines are there twice."""
    chance = random.Random(seed)
    task = load_task(str(write_task(tmp_path / "a", draw_rows(chance))))
    asked = probe("mock", task, tmp_path / "one")
    rows = []
    for row in stored_rows(asked):
        names = list(row["logp"])
        chance.shuffle(names)
        rows.append({**row, "logp": {name: row["logp"][name] for name in names}})
    rows += chance.sample(rows, 5)
    chance.shuffle(rows)
    again = probe(write_answers(tmp_path / "answers.jsonl", rows), task, tmp_path / "two")
    assert figures(asked) == figures(again)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_logged_choice_is_known_by_its_text(seed: int, tmp_path: Path) -> None:
    """A log of another harness, whose choices are in an order of its own."""
    chance = random.Random(seed)
    task = load_task(str(write_task(tmp_path / "a", draw_rows(chance))))
    task = replace(task, templates=task.templates[:1])
    asked = probe("mock", task, tmp_path / "one")
    rows = []
    for answer in asked.answers:
        scores = list(zip(answer.options, answer.scores.logp, strict=True))
        chance.shuffle(scores)
        rows.append(
            {
                "doc": {"id": answer.question, "choices": [option for option, _ in scores]},
                "filtered_resps": [[logp, False] for _, logp in scores],
            }
        )
    again = probe(write_answers(tmp_path / "log.jsonl", rows), task, tmp_path / "two")
    assert figures(asked) == figures(again)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_option_word_for_word_is_that_option(seed: int, tmp_path: Path) -> None:
    """Replies that repeat the gold answer are right, and those that repeat another are wrong."""
    chance = random.Random(seed)
    task = load_task(str(write_task(tmp_path / "a", draw_rows(chance))))
    right, wrong = [], []
    for question in task.questions:
        (gold,) = question.gold
        other = chance.choice([option for option in question.options if option != gold])
        right.append({"question": question.id, "answer": gold})
        wrong.append({"question": question.id, "answer": chance.choice((other, f"{other}."))})
    for rows, accuracy in ((right, 1.0), (wrong, 0.0)):
        model = write_answers(tmp_path / "texts.jsonl", rows)
        run = probe(model, task, tmp_path / str(accuracy))
        assert {f.value for f in run.figures if f.metric == "accuracy"} == {accuracy}


@pytest.mark.seconds
@pytest.mark.parametrize("name", TASKS.ours)
def test_options_of_built_in_tasks_word_for_word(name: str, tmp_path: Path) -> None:
    task = available(name, tmp_path / "norms")
    questions = random.Random(0).sample(task.questions, min(60, len(task.questions)))
    for question in questions:
        template = task.templates[0]
        for option in question.options[:30]:
            word = template.words.get(option, option)
            words = tuple(template.words.get(other, other) for other in question.options)
            labels = match(word, words, question=template.ask(question).text).labels
            assert list(labels) == [word], (question.id, option)


def failing(layout: Answer, chance: random.Random, rate: float) -> Answer:
    """A server that damages answers at random once its trials are over."""
    damages = (proxy_error, no_choice, no_logprobs, cut_logprobs)

    def answer(path: str, body: dict[str, Any]) -> Reply:
        status, reply = layout(path, body)
        is_trial = any(trial in str(body.get("prompt")) for trial in TRIALS)
        if not isinstance(reply, dict) or is_trial or chance.random() >= rate:
            return status, reply
        return 200, chance.choice(damages)(reply)

    return answer


THINGS = ("lemon", "tomato", "lemon tomato")
COLORS = ("red", "yellow", "blue", "green")


def color_task() -> Task:
    questions = tuple(
        Question(f"{noun} {thing}", {"noun": noun, "thing": thing}, COLORS, {"red": 1.0}, thing)
        for noun in ("color", "light")
        for thing in THINGS
    )
    template = Template("is", "The {noun} of a {thing} is [MASK].")
    return Task("colors", "1", "", (template,), questions, ("accuracy", "true_confidence"))


@pytest.mark.seconds
@pytest.mark.parametrize("echo", [True, False])
@pytest.mark.parametrize(("seed", "rate"), [(0, 0.05), (1, 0.2), (2, 0.9)])
def test_a_server_that_fails_now_and_then_is_asked_again_or_refused(
    seed: int, rate: float, echo: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never a figure that rests on answers which were not given."""
    monkeypatch.setattr("seesay.models.server.client.time.sleep", lambda seconds: None)
    layout = old_layout(1000, echo=echo)
    with serving(layout) as server:
        expected = ask_server(server, tmp_path / "good")
    with serving(failing(layout, random.Random(seed), rate)) as server:
        if rate > 0.5:
            # five tries in a row fail for one of the questions
            with pytest.raises(UserError, match="gave no answer in 5 tries"):
                ask_server(server, tmp_path / "bad")
            return
        run = ask_server(server, tmp_path / "bad")
    assert figures(run) == figures(expected)


def ask_server(address: str, output: Path) -> Run:
    return probe("openai:toy", color_task(), output, base_url=address, scope="option")
