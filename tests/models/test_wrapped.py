"""A model that wraps another states what that one states and passes on every hook, also those of
other packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seesay.models.base import GREEDY, IDENTITY, Model, Reply, Sampling, choice_scores
from seesay.models.deferred import DeferredModel
from seesay.models.wrapped import WrappedModel, identity_of, under_condition
from seesay.probes.choice import ChoiceModel
from seesay.probes.generated import GeneratedModel
from seesay.questions import Prompt, Scores, Task
from seesay.runs.ask import Settings, run
from seesay.tasks import load_task

FIELDS = [name for name in inspect.get_annotations(Model) if not name.startswith("_")]
METHODS = [
    name for name, _ in inspect.getmembers(Model, inspect.isfunction) if not name.startswith("_")
]
PROPERTIES = [name for name, value in vars(Model).items() if isinstance(value, property)]

KEPT_HERE = {"note"}
"""What a wrapper does itself: its notes are its own."""


class Recorder(Model):
    """Has a value of its own in every field, and returns what it was asked."""

    def __init__(self) -> None:
        for field in FIELDS:
            setattr(self, field, f"the {field}")

    @property
    def abilities(self) -> frozenset[str]:
        return frozenset({"answer", "restrict"})


def _record(method: str) -> Callable[..., Any]:
    def returned(self: Recorder, *arguments: Any, **named: Any) -> Any:
        return [method, *arguments, named]

    return returned


for _method in METHODS:
    setattr(Recorder, _method, _record(_method))


def test_every_field_is_stated() -> None:
    wrapper = WrappedModel(Recorder())
    assert FIELDS
    assert {field: getattr(wrapper, field) for field in FIELDS} == {
        field: f"the {field}" for field in FIELDS
    }
    assert PROPERTIES == ["abilities", "condition"]
    assert wrapper.abilities == {"answer", "restrict"}
    assert wrapper.condition == Recorder().condition
    assert set(IDENTITY) == {*FIELDS, *PROPERTIES}


@pytest.mark.parametrize("method", sorted(set(METHODS) - KEPT_HERE))
def test_every_method_is_passed_on(method: str) -> None:
    wrapper = WrappedModel(Recorder())
    parameters = list(inspect.signature(getattr(Model, method)).parameters.values())[1:]
    keywords = {
        each.name: f"a {each.name}"
        for each in parameters
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    }
    positional = [f"a {each.name}" for each in parameters if each.name not in keywords]
    result = getattr(wrapper, method)(*positional, **keywords)
    expected = None if method == "clear_notes" else [method, *positional, keywords]
    assert result == expected


def test_notes_of_both_are_told_and_forgotten() -> None:
    model = Halving()
    wrapper = WrappedModel(model)
    model.note("the model's")
    wrapper.note("the wrapper's")
    wrapper.note("a lasting one", lasting=True)
    assert wrapper.notes() == ["the wrapper's", "a lasting one", "the model's"]
    assert model.notes() == ["the model's"]
    wrapper.clear_notes()
    assert wrapper.notes() == ["a lasting one"]
    assert model.notes() == []


class Halving(Model):
    """Another package's model, which takes the first half of a task's questions and would fail on
    the others."""

    name = fingerprint = "halving"
    family = "causal"

    def restrict(self, task: Task) -> Task:
        return replace(task, questions=task.questions[: len(task.questions) // 2])

    def prepare(self, task: Task) -> None:
        self.questions = len(task.questions)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return [choice_scores(prompt, [-1.0] * len(prompt.options)) for prompt in prompts]

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        return [(Reply(prompt.options[0]),) for prompt in prompts]


def deferred(model: Model) -> Model:
    return DeferredModel(identity_of(model), lambda: model, Path("identity.json"))


@pytest.mark.parametrize(
    "wrap",
    [
        WrappedModel,
        ChoiceModel,
        deferred,
        lambda model: GeneratedModel(model, GREEDY),
        lambda model: under_condition(model, shots=2, shot_seed=0),
        lambda model: under_condition(ChoiceModel(deferred(model)), shots=2, shot_seed=0),
    ],
)
def test_a_model_that_restricts_its_task_is_asked_that_part(
    wrap: Callable[[Model], Model], tmp_path: Path
) -> None:
    task = load_task("core-color")
    task = replace(task, questions=task.questions[:8], metrics=("relaxed_accuracy",))
    model = Halving()
    finished = run(wrap(model), task, tmp_path, Settings(resamples=100))
    assert model.questions == 4
    assert {figure.n for figure in finished.figures if figure.slice is None} == {4}
    assert len(finished.task.questions) == 4


def test_a_model_that_restricts_nothing_is_not_loaded_to_say_so() -> None:
    identity = {**identity_of(Halving()), "abilities": ["answer"]}

    def load() -> Model:
        raise AssertionError("loaded")

    model = DeferredModel(identity, load, Path("identity.json"))
    task = load_task("core-color")
    assert model.restrict(task) is task
    model.prepare(task)
    assert model.notes() == []
    with pytest.raises(AssertionError, match="loaded"):
        model.answer([])


def test_a_model_asked_by_choice_or_freely_is_so_asked_in_a_chat_too() -> None:
    class Chatting(Halving):
        def through_chat(self, system: str | None = None) -> Model:
            self.chat = "chat"
            return self

    choice = ChoiceModel(Chatting()).through_chat()
    free = GeneratedModel(Chatting(), GREEDY).through_chat()
    assert (type(choice), choice.chat) == (ChoiceModel, "chat")
    assert (type(free), free.chat) == (GeneratedModel, "chat")
