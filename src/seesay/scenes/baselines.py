"""Baselines with perfect vision: rules of `scenes.rules` over a scene's annotation.

`baseline:fixed-k` is the ceiling for anyone who cannot know the speaker's k, `baseline:whole-scene`
and `baseline:max-is-big` are shortcuts that a network may learn instead.
"""

from __future__ import annotations

from seesay.errors import UserError
from seesay.models.baselines import DOUBT, Baseline
from seesay.questions import Prompt
from seesay.scenes.lookup import find_scene
from seesay.scenes.rules import RULES, holds

YES = frozenset(("true", "yes", "right", "correct"))
NO = frozenset(("false", "no", "wrong", "incorrect"))


class SceneRule(Baseline):
    """A rule as a model.

    It finds the scene beside the prompt's picture, and the sentence in the prompt's fields.
    """

    scope = "choice"
    only_chooses = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._rule = RULES[name.removeprefix("baseline:")]

    def weights(self, prompt: Prompt) -> list[float]:
        """Put nearly everything on the answer of the rule."""
        options = [option.lower() for option in prompt.options]
        if not set(options) <= YES | NO:
            raise UserError(
                f"{self.name} answers yes or no, true or false, not {' or '.join(prompt.options)}."
            )
        if prompt.picture is None:
            raise UserError(
                f"{self.name} answers questions about pictures of shapes: use it with a malevic "
                "task."
            )
        if "sentence" not in prompt.fields:
            raise UserError(
                f"{self.name} needs questions with the field 'sentence', as malevic's: "
                f"{prompt.text!r}."
            )
        scene = find_scene(prompt.picture).scene
        truth = holds(self._rule, scene, prompt.fields["sentence"])
        return [1 - DOUBT if (option in YES) == truth else DOUBT for option in options]
