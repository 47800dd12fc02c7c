"""QaModel: the question with its options in one fixed order, answered in writing, as ViPhy asked
UnifiedQA (Singh, Qasemi & Chen 2023, Table 2 and `zero_shot.py`).

The likeliest reply counts only where it is the text of an option, letter for letter but for case;
anything else is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seesay.condition import How, Sampling
from seesay.matching import NamedOptions
from seesay.models.base import Model
from seesay.models.baselines import Baseline
from seesay.probes.choice import written_question
from seesay.probes.generated import GeneratedModel
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.questions import SLOT, Prompt, Task, Template

TRAINED = "trained"
"""The template that a model is tuned on, where it is not the one that others are asked."""
_ALSO = {"larger": "bigger", "bigger": "larger"}
"""ViPhy's script counts either word, whichever of them it showed."""


def qa_model(
    model: Model,
    sampling: Sampling,
) -> Model:
    """Return the model, asked to write an option. A baseline writes nothing, so it stays as it
    is."""
    if isinstance(model, Baseline):
        return model
    return QaModel(model, sampling)


def qa_task(
    task: Task,
    *,
    trained: bool = False,
) -> Task:
    """Return the task as a model is asked it that writes an option, or one that was tuned for
    that."""
    templates = {template.name: template for template in task.qa_templates}
    if trained and TRAINED in templates:
        template = templates[TRAINED]
    elif task.qa_templates:
        template = task.qa_templates[0]
    else:
        words = task.choice_templates[0].words if task.choice_templates else {}
        template = Template("qa", f"{written_question(task)} Answer: {SLOT}", words)
    asked = replace(task, templates=(template,), neutral={})
    if trained:
        asked = replace(asked, published=task.training.linear_published)
    return without_vocabulary_metrics(asked)


class QaModel(GeneratedModel):
    """Wraps a model that generates: prompts stay as they are, and only an option's own text
    counts."""

    def __init__(
        self,
        model: Model,
        sampling: Sampling,
    ) -> None:
        super().__init__(model, sampling)
        self.condition = self.condition.replace(how=How.QA)
        self.probabilities_hint = "ask with --how choice, which scores every option"

    def through_chat(self, system: str | None = None) -> Model:
        """The same questions in a chat."""
        return QaModel(self._model.through_chat(system), self._sampling)

    def _put(self, prompt: Prompt) -> Prompt:
        return prompt

    def _match(self, reply: str, prompt: Prompt) -> NamedOptions:
        return match_exactly(reply, prompt.options)


def match_exactly(
    reply: str,
    options: Sequence[str],
) -> NamedOptions:
    """Return the option that the reply is, if it is one."""
    text = reply.strip().lower()
    for option in options:
        if text in (option.lower(), _ALSO.get(option.lower())):
            return NamedOptions((option,))
    return NamedOptions((), "no option's text")
