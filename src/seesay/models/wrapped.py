"""Models that stand for other models: they state what those state, and pass on whatever they are
asked.

A subclass changes what it is there for. Every hook of `Model` is passed on unless it says
otherwise, those that `Model` gains tomorrow included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from seesay.condition import Condition
from seesay.models.base import IDENTITY, Model
from seesay.questions import Prompt, Scores, Task, after_shots

HOOKS = tuple(
    name
    for name, value in vars(Model).items()
    if isinstance(value, FunctionType) and name[0] != "_"
)
"""The public methods of every model."""


class WrappedModel(Model):
    """A stand-in for another model, under its name. What it notes itself is kept beside what that
    model notes."""

    abilities: frozenset[str] = frozenset()
    condition: Condition = Condition()

    def __init__(self, model: Model) -> None:
        self._model = model
        vars(self).update(identity_of(model))

    def restrict(self, task: Task) -> Task:
        """The task as the model can be asked it; one that takes every task is not needed for
        that."""
        if "restrict" not in self.abilities:
            return task
        restricted: Task = self._forward("restrict", task)
        return restricted

    def note(self, text: str, *, lasting: bool = False) -> None:
        """Keep the note here."""
        Model.note(self, text, lasting=lasting)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The notes kept here, then the model's own."""
        return [*Model.notes(self), *self._forward("notes", answered)]

    def clear_notes(self) -> None:
        """Forget both."""
        Model.clear_notes(self)
        self._forward("clear_notes")

    def _forward(self, hook: str, *arguments: Any, **named: Any) -> Any:
        """What a method of the model returns."""
        return getattr(self._model, hook)(*arguments, **named)


def identity_of(model: Model) -> dict[str, Any]:
    """What a model states about itself, by the names of its fields."""
    return {field: getattr(model, field) for field in IDENTITY}


def under_condition(model: Model, **changes: Any) -> Model:
    """Return a stand-in for the model that is asked under its condition with these changes."""
    wrapper = WrappedModel(model)
    wrapper.condition = model.condition.replace(**changes)
    return wrapper


def _forwarding(hook: str) -> Callable[..., Any]:
    def method(self: WrappedModel, *arguments: Any, **named: Any) -> Any:
        return self._forward(hook, *arguments, **named)

    return method


# Written out, a method that `Model` gains tomorrow would silently be `Model`'s own here.
for _hook in HOOKS:
    if _hook not in vars(WrappedModel):
        setattr(WrappedModel, _hook, _forwarding(_hook))


class RephrasedModel(WrappedModel):
    """A model whose questions are put in another way: it answers them, and no longer scores options
    as they stand."""

    answer_batches = Model.answer_batches
    answer_layers = Model.answer_layers
    describe_scoring = Model.describe_scoring
    pieces = Model.pieces

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.abilities = (model.abilities & {"restrict"}) | {"answer"}

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """The model's own batches of the prompts as they are put to it."""
        return self._model.plan([self._put(prompt) for prompt in prompts])

    def _put(self, prompt: Prompt) -> Prompt:
        """The prompt as the model is asked it."""
        raise NotImplementedError


def rephrase(prompt: Prompt, wording: Callable[[str, tuple[str, ...]], str]) -> Prompt:
    """The prompt and its examples, worded anew: `wording` is given a text with a slot and the
    options for it."""
    # examples are put as the question is: else they would show how not to answer it
    shots = tuple(replace(shot, text=wording(shot.text, shot.options)) for shot in prompt.shots)
    text = after_shots(shots, wording(prompt.question_text, prompt.options))
    return replace(prompt, text=text, shots=shots)
