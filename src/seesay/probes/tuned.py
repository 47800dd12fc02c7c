"""TunedModel: a model that writes an option (`seesay.probes.qa`) after its output head was tuned on
the training questions, the epoch chosen on the validation questions: ViPhy's trained UnifiedQA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from seesay.condition import How, Sampling
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.probes.qa import QaModel, match_exactly
from seesay.progress import ProgressCallback
from seesay.questions import Prompt, Scores, Task

if TYPE_CHECKING:
    from seesay.models.hf.head_tuning import Example, TunedHead, TuningConfig
    from seesay.models.hf.seq2seq import EncoderDecoderModel


class TunedModel(QaModel):
    """Wraps an encoder-decoder, which has the tuned head while it answers."""

    def __init__(
        self,
        model: EncoderDecoderModel,
        sampling: Sampling,
        head: TunedHead,
        *,
        trained_on: Sequence[object],
        seed: int,
    ) -> None:
        super().__init__(model, sampling)
        self._network_model = model
        self.head = head
        self.fingerprint = json_digest([model.fingerprint, *trained_on, seed])
        self.condition = self.condition.replace(how=How.QA_TRAINED, probe_seed=seed)

    def through_chat(self, system: str | None = None) -> Model:
        """Refuse: it was tuned on plain questions."""
        raise UserError(f"'{self.name}' was tuned on plain questions: leave out --chat.")

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the answers of the model with its tuned head."""
        from seesay.models.hf.head_tuning import head_of

        with head_of(self._network_model, self.head):
            return super().answer(prompts)


def tune_model(
    model: Model,
    splits: Mapping[str, Task],
    sampling: Sampling,
    *,
    seed: int = 0,
    config: TuningConfig | None = None,
    progress: ProgressCallback | None = None,
) -> TunedModel:
    """Return the model tuned on `splits["train"]`, its epoch chosen by `splits["validation"]`.

    The splits are those of `qa_task(task, trained=True)`; progress counts epochs.
    """
    from seesay.models.hf.head_tuning import TuningConfig, tune_head
    from seesay.models.hf.seq2seq import EncoderDecoderModel

    if not isinstance(model, EncoderDecoderModel):
        raise UserError(
            f"'{model.name}' is no encoder-decoder: --how qa-trained tunes T5 and its relatives, "
            "and --how linear trains a probe of any model."
        )
    config = config or TuningConfig()
    validation = _examples(splits["validation"])

    def validate() -> float:
        right = 0
        for indices in model.plan([example.prompt for example in validation]):
            batch = [validation[i] for i in indices]
            replies = model.generate([example.prompt for example in batch], sampling)
            for example, (reply,) in zip(batch, replies, strict=True):
                labels = match_exactly(reply.text, example.prompt.options).labels
                right += not set(labels).isdisjoint(example.answers)
        return right / len(validation)

    head = tune_head(
        model,
        _examples(splits["train"]),
        validate,
        seed=seed,
        config=config,
        progress=progress,
    )
    trained_on = [splits["train"].fingerprint, splits["validation"].fingerprint, asdict(config)]
    return TunedModel(model, sampling, head, trained_on=trained_on, seed=seed)


def _examples(task: Task) -> list[Example]:
    """Return the questions as they are put, each with its right answers in words."""
    from seesay.models.hf.head_tuning import Example

    (template,) = task.templates
    examples = []
    for question in task.questions:
        prompt = template.ask(question)
        words = dict(zip(question.options, prompt.options, strict=True))
        examples.append(Example(prompt, tuple(words[label] for label in question.gold)))
    return examples
