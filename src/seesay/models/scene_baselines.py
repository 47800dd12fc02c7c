"""Baselines that see a scene perfectly: they read its annotation and answer by a rule of `scenes.rules`.

`baseline:fixed-k` is the ceiling for anyone who cannot know the speaker's k, `baseline:whole-scene` and
`baseline:max-is-big` are the shortcuts that a network may learn in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from seesay.questions import Prompt, Scores, UserError
from seesay.scenes.finding import annotated
from seesay.scenes.rules import RULES, holds

BATCH = 256
SURE, ELSE = -1e-6, -13.8155  # all but one millionth for the answer, which is left for the other options
_YES = frozenset(("true", "yes", "right", "correct"))
_NO = frozenset(("false", "no", "wrong", "incorrect"))


class SceneRule:
    """A rule as a model. It finds the scene beside the prompt's picture and the sentence in the prompt's text."""

    family = "baseline"
    scope = "choice"

    def __init__(self, name: str) -> None:
        if name not in RULES:
            raise UserError(f"No baseline '{name}' for scenes: choose {', '.join(RULES)}.")
        self.name = f"baseline:{name}"
        self.fingerprint = f"{self.name}-1"
        self._rule = RULES[name]

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches in order."""
        return [list(range(start, min(start + BATCH, len(prompts)))) for start in range(0, len(prompts), BATCH)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Nearly everything on the answer of the rule."""
        return [self._answer(prompt) for prompt in prompts]

    def _answer(self, prompt: Prompt) -> Scores:
        yes = [option.lower() in _YES for option in prompt.options]
        if any(option.lower() not in _YES | _NO for option in prompt.options):
            raise UserError(f"{self.name} answers yes or no, true or false, not {' or '.join(prompt.options)}.")
        if prompt.picture is None:
            raise UserError(f"{self.name} answers questions about pictures of shapes: use it with a malevic task.")
        claim = sentence_of(prompt.text)
        size = len(prompt.options)
        if claim is None:
            raise UserError(f"{self.name} finds no sentence about shapes in {prompt.text!r}.")
        truth = holds(self._rule, annotated(prompt.picture).scene, claim)
        logp = tuple(SURE if says_yes == truth else ELSE for says_yes in yes)
        return Scores(logp, (1,) * size, tuple(map(len, prompt.options)))


_SENTENCE = re.compile(r"\bthe (\w+ \w+) is ((?:an? |the )?\w+ (?:than the \w+ )?\w+)", re.IGNORECASE)
_QUESTION = re.compile(r"\bis the (\w+ \w+) ((?:an? |the )?\w+ (?:than the \w+ )?\w+)\?", re.IGNORECASE)


def sentence_of(text: str) -> str | None:
    """The sentence that a prompt asks about, whichever way the template turned it."""
    from seesay.scenes.sentences import parse

    for form in (_QUESTION, _SENTENCE):
        for subject, rest in form.findall(text):
            sentence = f"The {subject} is {rest}"
            if parse(sentence) is not None:
                return sentence
    return None


def load_rule(name: str) -> SceneRule:
    """`baseline:fixed-k`, `baseline:whole-scene`, `baseline:max-is-big`."""
    return SceneRule(name)
