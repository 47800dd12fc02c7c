"""The plug-in for inspect_ai, run by the real one: tasks by name, pictures, orders, intervals."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.export.test_export import HOSTILE, hostile_task
from tests.needs import absent

from seesay.models import load_model
from seesay.probes.choice import choice_task
from seesay.questions import Slice, Task
from seesay.runs.ask import Settings, limit_questions, run
from seesay.tasks import load_task

try:
    import inspect_ai
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from seesay.export import inspect_tasks
except ImportError:
    absent("inspect-ai is not installed")

ROOT = Path(__file__).parents[2]
ENTRY_POINT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


def mock_model(*replies: str) -> Any:
    """A model that replies one of these texts, drawn by what it is asked."""

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        text = random.Random(messages[-1].text).choice(replies)
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage()  # else tokens are counted, by a table that is downloaded
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def evaluate(tmp_path: Path, name: str, replies: tuple[str, ...], **settings: Any) -> Any:
    """The log of a task that inspect knows by its name, answered by a mock."""
    return evaluate_model(tmp_path, name, mock_model(*replies), **settings)


def evaluate_model(tmp_path: Path, name: str, model: Any, **settings: Any) -> Any:
    """The log of a task that inspect knows by its name."""
    (log,) = inspect_ai.eval(
        name,
        model=model,
        task_args=settings,
        max_tokens=32,
        temperature=0.0,
        max_connections=1,
        display="none",
        log_dir=str(tmp_path / "logs"),
    )
    assert log.status == "success", log.error
    return log


def figures_of(log: Any) -> dict[str, float]:
    (score,) = log.results.scores
    return {name: metric.value for name, metric in score.metrics.items()}


def our_figures(task: Task, log: Any, tmp_path: Path) -> dict[Slice | None, Any]:
    """Our accuracy and interval of the answers in a log of inspect."""
    with (tmp_path / "answers.jsonl").open("w") as file:
        for sample in log.samples:
            (score,) = sample.scores.values()
            row = {key: sample.metadata[key] for key in ("question", "template")}
            file.write(json.dumps({**row, "answer": score.answer or "none of these"}) + "\n")
    answers = load_model(f"answers:{tmp_path / 'answers.jsonl'}")
    figures = run(answers, task, tmp_path / "runs", Settings()).figures
    parts = {
        figure.slice: figure
        for figure in figures
        if figure.template is None and figure.slice in task.parts and "accuracy" in figure.metric
    }
    assert set(parts) == set(task.parts)
    return parts


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "how", "replies"),
    [
        ("core-color", "choice", ("ANSWER: A", "ANSWER: J", "It is brown.", "Who knows?")),
        # pairs that share a thing: the interval is wider for it
        ("core-size", "choice", ("ANSWER: A", "B) it is")),
        # several templates ask about one object
        ("core-color", "generate", ("Green.", "It's red, not blue.", "I'd say brown", "?")),
    ],
)
def test_intervals_are_ours(name: str, how: str, replies: tuple[str, ...], tmp_path: Path) -> None:
    inspect_name = f"seesay/{name.replace('-', '_')}"
    log = evaluate(tmp_path, inspect_name, replies, how=how, limit=120)
    task = limit_questions(load_task(name), 120, 0)
    if how == "choice":
        task = choice_task(task)
    assert len(log.samples) == len(task.questions) * len(task.templates)
    theirs = figures_of(log)
    ours = our_figures(task, log, tmp_path)[None]
    assert 0.05 < ours.value < 0.95
    assert theirs["accuracy"] == pytest.approx(ours.value, abs=1e-12)
    assert theirs["low"] == pytest.approx(ours.low, abs=1e-9)
    assert theirs["high"] == pytest.approx(ours.high, abs=1e-9)
    assert theirs["stderr"] > 0


@pytest.mark.slow
def test_a_real_server_is_asked(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SmolLM2 behind an OpenAI-compatible server: replies that nobody made up."""
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("LOCAL_BASE_URL", address)
    model = "openai-api/local/smollm2"
    log = evaluate_model(tmp_path, "seesay/core_color", model, limit=12)
    task = choice_task(limit_questions(load_task("core-color"), 12, 0))
    theirs = figures_of(log)
    ours = our_figures(task, log, tmp_path)[None]
    assert theirs["accuracy"] == pytest.approx(ours.value, abs=1e-12)
    assert theirs["low"] == pytest.approx(ours.low, abs=1e-9)
    assert theirs["high"] == pytest.approx(ours.high, abs=1e-9)
    assert len({sample.output.completion for sample in log.samples}) > 1


def samples_of(task: Task, **settings: Any) -> list[Any]:
    values = {"how": "choice", "template_name": None, "rotations": None, **settings}
    return list(inspect_tasks._samples(task, **values))


def test_right_options_stand_in_every_place() -> None:
    task = load_task("core-color")
    first_options = Counter(sample.choices[0] for sample in samples_of(task))
    # 350 questions, eleven options: 31 or 32 times each
    assert set(first_options.values()) == {31, 32}
    rotated = samples_of(task, rotations=11)
    assert len(rotated) == 11 * len(task.questions)
    places = Counter(sample.choices.index("red") for sample in rotated)
    assert set(places.values()) == {len(task.questions)}
    assert len({sample.id for sample in rotated}) == len(rotated)
    for sample in rotated:
        letters = [chr(ord("A") + sample.choices.index(word)) for word in sample.metadata["right"]]
        assert sorted(sample.target) == sorted(letters)
    assert samples_of(task, rotations=0)[1].choices == list(task.questions[1].options)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_as_they_are(text: str) -> None:
    task = hostile_task(text)
    for sample in samples_of(task, rotations=2):
        question = next(q for q in task.questions if q.id == sample.metadata["question"])
        assert sorted(sample.choices) == sorted(question.options)
        assert sample.metadata["right"] == [f"red{text}"]
        assert sample.id.isprintable()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "core-colour"}, "Unknown task 'core-colour'. Did you mean 'core-color'"),
        ({"name": "core-parts"}, "a question here has 39"),
        ({"name": "coda"}, "inspect cannot express 'coda'|seesay data"),
        ({"name": "core-color", "how": "guess"}, "how is 'guess': choose choice or generate."),
        ({"name": "core-color", "template": "x"}, "template is 'x': choose one of question."),
        ({"name": "core-color", "rotations": 12}, "rotations is 12: choose a number from 0 to 11."),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        inspect_tasks.build(**settings)
    assert any(part in str(refused.value.message) for part in sentence.split("|"))


RUN = """
import sys, inspect_ai
from inspect_ai.model import ModelOutput, ModelUsage, get_model
assert "seesay" not in sys.modules
reply = ModelOutput.from_content("mockllm/model", "ANSWER: A")
reply.usage = ModelUsage()
model = get_model("mockllm/model", custom_outputs=[reply] * 3)
(log,) = inspect_ai.eval("seesay/core_color", model=model, limit=3, display="none", log_dir="logs")
print(log.status, log.eval.task, log.results.completed_samples)
"""


@pytest.mark.seconds
def test_inspect_finds_the_tasks_by_the_entry_point(tmp_path: Path) -> None:
    """As in an environment into which this pyproject.toml was installed."""
    folder = tmp_path / "site" / "seesay-9.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: seesay\nVersion: 9\n")
    lines = [f"{name} = {module}" for name, module in ENTRY_POINT["inspect_ai"].items()]
    (folder / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]))
    origin = {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    (folder / "direct_url.json").write_text(json.dumps(origin))
    paths = [str(folder.parent), str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split()[-3:] == ["success", "seesay/core_color", "3"], done.stderr
