"""Baselines with perfect vision: they read a scene's annotation and answer by a rule of `scenes.rules`.

`baseline:fixed-k` is the ceiling for anyone who cannot know the speaker's k, `baseline:whole-scene` and
`baseline:max-is-big` are shortcuts that a network may learn instead.
"""

from __future__ import annotations

import re

from seesay.errors import UserError
from seesay.models.baselines import Baseline
from seesay.questions import Prompt
from seesay.scenes.lookup import find_scene
from seesay.scenes.rules import RULES, holds
from seesay.scenes.sentences import parse_sentence

DOUBT = 1e-6
_YES = frozenset(("true", "yes", "right", "correct"))
_NO = frozenset(("false", "no", "wrong", "incorrect"))


class SceneRule(Baseline):
    """A rule as a model. It finds the scene beside the prompt's picture and the sentence in the prompt's text."""

    scope = "choice"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        rule = name.removeprefix("baseline:")
        if rule not in RULES:
            raise UserError(f"No baseline '{rule}' for scenes: choose {', '.join(RULES)}.")
        self._rule = RULES[rule]

    def weights(self, prompt: Prompt) -> list[float]:
        """Nearly everything on the answer of the rule."""
        options = [option.lower() for option in prompt.options]
        if not set(options) <= _YES | _NO:
            raise UserError(f"{self.name} answers yes or no, true or false, not {' or '.join(prompt.options)}.")
        if prompt.picture is None:
            raise UserError(f"{self.name} answers questions about pictures of shapes: use it with a malevic task.")
        claim = sentence_of(prompt.text)
        if claim is None:
            raise UserError(f"{self.name} finds no sentence about shapes in {prompt.text!r}.")
        truth = holds(self._rule, find_scene(prompt.picture).scene, claim)
        return [1 - DOUBT if (option in _YES) == truth else DOUBT for option in options]


_FORMS = (
    re.compile(r"\bis the (\w+ \w+) ((?:an? |the )?\w+ (?:than the \w+ )?\w+)\?", re.IGNORECASE),
    re.compile(r"\bthe (\w+ \w+) is ((?:an? |the )?\w+ (?:than the \w+ )?\w+)", re.IGNORECASE),
)


def sentence_of(text: str) -> str | None:
    """The sentence that a prompt asks about, whichever way the template phrases it.

    >>> sentence_of("Is the red square a big object? Answer: [MASK].")
    'The red square is a big object'
    """
    for form in _FORMS:
        for subject, rest in form.findall(text):
            sentence = f"The {subject} is {rest}"
            if parse_sentence(sentence) is not None:
                return sentence
    return None
