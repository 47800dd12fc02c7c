"""Baselines that know one thing each.

Of prior against picture, one knows and does not look, the other looks and does not know. Of *big*,
one compares with everything in the picture, the other with things of the same kind.
"""

from __future__ import annotations

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.models.baselines import DOUBT, Baseline, labels_by_prompt
from seesay.pictures.kinds import HERE, KIND
from seesay.pictures.look import compare_sizes, dominant_color
from seesay.pictures.plan import SIZES
from seesay.questions import Prompt, Task


class _LabelRule(Baseline):
    """Puts nearly everything on one label, or the same on all where the rule has no answer."""

    needs = "usual"
    """The field that its questions have."""
    suits = "questions about what is usual: use it with prior-color or prior-size"

    def prepare(self, task: Task) -> None:
        """Note which labels each prompt's options stand for."""
        if self.needs not in task.questions[0].fields:
            raise UserError(f"{self.name} answers {self.suits}.")
        self._labels = labels_by_prompt(task)

    def weights(self, prompt: Prompt) -> list[float]:
        """Return one positive number per option."""
        labels = self._labels[prompt.key]
        answer = self.label(prompt, labels)
        # no picture, nothing seen: the rule abstains
        if answer == "":
            return [1.0] * len(labels)
        return [1 - DOUBT if label == answer else DOUBT for label in labels]

    def label(self, prompt: Prompt, labels: tuple[str, ...]) -> str:
        """Return the answer, or an empty text."""
        return prompt.fields[self.needs]


class Prior(_LabelRule):
    """The most typical answer, whatever is asked and shown: it knows and does not look."""


class Pixels(_LabelRule):
    """What the picture shows, whatever is asked, and nothing without one.

    It looks and does not know.
    """

    def label(self, prompt: Prompt, labels: tuple[str, ...]) -> str:
        if prompt.picture is None:
            return ""
        if set(labels) == set(COLORS):
            return dominant_color(prompt.picture)
        if set(labels) == set(SIZES):
            return compare_sizes(prompt.picture)
        raise UserError(f"{self.name} names colours and compares sizes, not {' or '.join(labels)}.")


class BigHere(_LabelRule):
    """Compares with everything in the picture, whatever is asked."""

    needs = f"by_{HERE}"
    suits = "questions about what is big: use it with kind-size"


class BigForKind(BigHere):
    """Compares with things of the same kind, whatever is asked."""

    needs = f"by_{KIND}"
