"""ChoiceModel: what a leaning to a position does, and what models of every family are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.server.toy_server import Reply, chat, serving
from tests.shared_data import shared

from seesay.condition import Condition, How
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.probes.choice import ChoiceModel, choice_model, choice_task
from seesay.questions import Prompt, Question, Scores, Task, Template
from seesay.runs import ask
from seesay.tasks import load_task

OPTIONS = ("red", "green", "light blue", "black")
PROMPT = Prompt("What is the color of a crow? [MASK]", OPTIONS)


class Leaning(Model):
    """Likes options for what they are and for where they stand."""

    name = fingerprint = "leaning"
    family, scope = "causal", "option"

    def __init__(self, liking: dict[str, float], leaning: Sequence[float]) -> None:
        self.liking, self.leaning = liking, leaning
        self.prompts: list[Prompt] = []

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        return [[i] for i in reversed(range(len(prompts)))]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        self.prompts += prompts
        return [
            Scores(
                tuple(
                    self.liking.get(o, 0.0) + bias
                    for o, bias in zip(p.options, self.leaning, strict=False)
                ),
                tuple(len(o.split()) for o in p.options),
                tuple(map(len, p.options)),
                (1,) * len(p.options),
            )
            for p in prompts
        ]


def softmax(values: Sequence[float]) -> list[float]:
    weights = np.exp(np.array(values) - max(values))
    return list(weights / weights.sum())


@given(st.integers(2, 8), st.data())
def test_a_preference_for_one_position_gives_a_uniform_distribution(
    n: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, n - 1))
    model = ChoiceModel(Leaning({}, [0.0 if i == place else -13.0 for i in range(n)]))
    [scores] = model.answer([Prompt("Which? [MASK]", tuple("abcdefgh"[:n]))])
    assert softmax(scores.logp) == pytest.approx([1 / n] * n)
    assert f"({place + 1}) 100.0%" in model.notes([scores])[0]


LOGITS = st.floats(-20, 0)


@given(st.lists(LOGITS, min_size=4, max_size=4), st.lists(LOGITS, min_size=4, max_size=4))
def test_a_position_bias_cancels_out(liking: list[float], leaning: list[float]) -> None:
    model = ChoiceModel(Leaning(dict(zip(OPTIONS, liking, strict=True)), leaning))
    [scores] = model.answer([PROMPT])
    assert softmax(scores.logp) == pytest.approx(softmax(liking), abs=1e-9)
    assert scores.tokens == (1, 1, 2, 1)
    assert scores.chars == (3, 5, 10, 5)
    assert scores.rank is None  # a rank in one order says nothing of another


def test_every_rotation_is_shown_with_letters() -> None:
    inner = Leaning({"black": 1.0}, (0.0,) * 4)
    model = ChoiceModel(inner)
    pair = Prompt("Snow is [MASK] in winter.", ("white", "black"))
    scores = model.answer([PROMPT, pair])
    assert [np.argmax(s.logp) for s in scores] == [3, 1]
    assert sorted(prompt.text for prompt in inner.prompts) == sorted(
        [
            "What is the color of a crow? (a) red (b) green (c) light blue (d) black Answer: "
            "[MASK]",
            "What is the color of a crow? (a) green (b) light blue (c) black (d) red Answer: "
            "[MASK]",
            "What is the color of a crow? (a) light blue (b) black (c) red (d) green Answer: "
            "[MASK]",
            "What is the color of a crow? (a) black (b) red (c) green (d) light blue Answer: "
            "[MASK]",
            "Snow is ___ in winter. (a) white (b) black Answer: [MASK]",
            "Snow is ___ in winter. (a) black (b) white Answer: [MASK]",
        ]
    )
    assert [note.startswith("Position bias") for note in model.notes(scores)] == [True, True]


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5"])
def test_every_family_answers_by_choice(kind: str, tiny_folder: Callable[[str], Path]) -> None:
    inner = load_model(str(tiny_folder(kind)))
    options = ("red", "green", "black")
    prompts = [
        Prompt("What is the color of a banana? [MASK]", options),
        Prompt("The sky is [MASK].", options),
    ]
    model = choice_model(inner)
    batches = model.plan(prompts)
    assert sorted(i for batch in batches for i in batch) == [0, 1]
    turned = [Prompt(prompts[0].text, options[by:] + options[:by]) for by in range(3)]
    if kind != "t5":  # UnifiedQA's way of asking letters the options itself
        turned = [
            Prompt(
                f"What is the color of a banana? (a) {a} (b) {b} (c) {c} Answer: [MASK]", (a, b, c)
            )
            for a, b, c in (prompt.options for prompt in turned)
        ]
    by_hand = [dict(zip(p.options, s.logp, strict=True)) for p in turned for s in inner.answer([p])]
    expected = [
        np.mean([scores_by_option[option] for scores_by_option in by_hand]) for option in options
    ]
    assert model.answer(prompts)[0].logp == pytest.approx(expected, abs=1e-4)
    assert model.condition == inner.condition.replace(how=How.CHOICE)
    assert model.name == inner.name


def test_a_chat_server_that_always_picks_the_first_option_is_at_chance(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def first(_: str, body: dict[str, object]) -> Reply:
        text = json.dumps(body)
        if "opposite of up" in text:
            return chat(json.dumps({"answer": "down"}))
        enum = body["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"]  # type: ignore[index]
        return chat(json.dumps({"answer": enum[0]}))

    question = Question("crow", {"object": "a crow"}, OPTIONS, {"black": 1.0}, "crow")
    task = Task(
        "t",
        "1",
        "",
        (Template("q", "What is the color of {object}? [MASK]"),),
        (question,),
        ("accuracy",),
    )
    with serving(first) as address:
        model = choice_model(
            load_model("openai:first", ModelOptions(base_url=address, endpoint="chat"))
        )
        run = ask.run(model, task, tmp_path, ask.Settings(resamples=100))
    assert caplog.messages == run.manifest.notes
    assert run.manifest.condition == Condition(how=How.CHOICE, scope="choice")
    assert [(figure.metric, figure.value) for figure in run.figures if figure.template is None] == [
        ("accuracy", 0.25)
    ]
    assert run.manifest.notes == [
        "Position bias: over 4 prompts with 4 lettered options, the one picked stood (1) 100.0%, "
        "(2) 0.0%, (3) 0.0%, "
        "(4) 0.0% of the time; without a leaning each position would have 25.0%."
    ]


class Interrupted(Leaning):
    """Fails at its fifth prompt."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        if len(self.prompts) >= 4:
            raise ConnectionError
        return super().answer(prompts)


def test_the_position_bias_of_a_resumed_run_covers_all_its_answers(tmp_path: Path) -> None:
    questions = tuple(
        Question(name, {"object": name}, OPTIONS, {"black": 1.0}, name)
        for name in ("crow", "raven")
    )
    task = Task(
        "t",
        "1",
        "",
        (Template("q", "What is the color of {object}? [MASK]"),),
        questions,
        ("accuracy",),
    )
    settings = ask.Settings(resamples=100)
    with pytest.raises(ConnectionError):
        ask.run(
            ChoiceModel(Interrupted({}, (1.0, 0.0, 0.0, 0.0))), task, tmp_path / "resumed", settings
        )
    resumed = ask.run(
        ChoiceModel(Leaning({}, (1.0, 0.0, 0.0, 0.0))), task, tmp_path / "resumed", settings
    )
    assert resumed.manifest.notes[0].startswith(
        "Position bias: over 8 prompts with 4 lettered options"
    )


def test_notes_stay_with_the_run_that_they_are_about(tmp_path: Path) -> None:
    class Noting(Leaning):
        def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
            self.note(f"asked about {prompts[0].text[21:25]}")
            return super().answer(prompts)

    model = ChoiceModel(Noting({}, (0.0,) * 4))
    crow, pig = (
        Question(name, {"object": name}, OPTIONS, {"black": 1.0}, name) for name in ("crow", "pigs")
    )
    template = Template("q", "What is the color of {object}? [MASK]")
    shown = replace(crow, id="shown", picture="crow.png")
    first = Task("t", "1", "", (template,), (crow, shown), ("accuracy",))
    notes = [
        ask.run(model, task, tmp_path, ask.Settings(resamples=100)).manifest.notes
        for task in (first, replace(first, name="u", questions=(pig,)))
    ]
    assert [sum("reads text only" in note for note in run_notes) for run_notes in notes] == [1, 0]
    assert [note for run_notes in notes for note in run_notes if note.startswith("asked")] == [
        "asked about crow",
        "asked about pigs",
    ]


def test_a_task_without_a_metric_of_options_is_refused() -> None:
    task = replace(load_task("core-color"), metrics=("vocabulary_accuracy",))
    with pytest.raises(
        UserError, match="vocabulary_accuracy needs ranks among the whole vocabulary"
    ):
        choice_task(task)


def test_a_baseline_is_not_wrapped() -> None:
    baseline = load_model("baseline:majority")
    assert choice_model(baseline) is baseline


def test_a_task_without_choice_templates_keeps_its_own() -> None:
    core = load_task("core-color")
    assert choice_task(core).templates == core.choice_templates
    assert choice_task(replace(core, choice_templates=())).templates == core.templates
    task = choice_task(load_task("viphy-space", shared("viphy/results/size.csv").parents[1]))
    assert [template.name for template in task.templates] == ["question"]
    assert "vocabulary_accuracy" not in task.metrics
    assert [row.model for row in task.published] == ["UnifiedQA-large", "people"]
