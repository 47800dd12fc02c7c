"""GeneratedModel: the model writes what it likes, and what it wrote is matched to the options
(`seesay.matching`).

Greedy, it makes one choice. Sampled, the shares of its replies are a distribution over the options.
A reply that names no option, or was cut before it did, is no answer: among samples its share goes
to all options alike, and where no reply names one, the question is answered wrongly. The run says
how many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from seesay.answers import NO_ANSWER
from seesay.errors import UserError
from seesay.matching import match
from seesay.models.base import Model, Reply, Sampling, choice_scores
from seesay.models.baselines import Baseline
from seesay.models.chat import user_turn
from seesay.models.wrapped import RephrasedModel, rephrase
from seesay.questions import SLOT, Prompt, Scores

LEAST = 1e-6  # what an option that no reply named is given
MOST_SHOWN = 30  # options; a longer list is not shown
MISSES_SHOWN = 5
SEVERAL = "several"


def generated_model(model: Model, sampling: Sampling) -> Model:
    """The model, asked for free answers. A baseline writes none, so it stays as it is."""
    if isinstance(model, Baseline):
        return model
    return GeneratedModel(model, sampling)


class GeneratedModel(RephrasedModel):
    """Wraps a model that generates."""

    def __init__(self, model: Model, sampling: Sampling) -> None:
        if "generate" not in model.abilities:
            raise UserError(f"'{model.name}' cannot generate text: leave out --how generate.")
        super().__init__(model)
        self._sampling = sampling
        self.name = f"{model.name} · generated"
        self.scope = f"generated-{sampling}"
        self.only_chooses = sampling.samples == 1
        self.probabilities_hint = "sample its answers (--samples 10 --temperature 1)"

    def through_chat(self, system: str | None = None) -> Model:
        """The same free answers in a chat."""
        return GeneratedModel(self._model.through_chat(system), self._sampling)

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """That of all samples."""
        requests = [self._put(prompt) for prompt in prompts for _ in range(self._sampling.samples)]
        return self._model.estimate(requests, self._sampling.max_tokens)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The share of each option among the replies."""
        replies = self._model.generate([self._put(prompt) for prompt in prompts], self._sampling)
        return [score_replies(prompt, own) for prompt, own in zip(prompts, replies, strict=True)]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The model's own notes, and how many replies named no option."""
        outcomes = [reply for scores in answered for reply in scores.replies or ()]
        return [*super().notes(answered), *([_misses(outcomes)] if outcomes else [])]

    def _put(self, prompt: Prompt) -> Prompt:
        """The prompt with its options named, and a cue for the answer at its end."""
        return rephrase(prompt, _request_text)


def score_replies(prompt: Prompt, replies: Sequence[Reply]) -> Scores:
    """The shares of the options among the replies, and each reply with what became of it."""
    weights = [0.0] * len(prompt.options)
    outcomes = []
    for reply in replies:
        matched = match(reply.text, prompt.options, asked=prompt.asked)
        named = [i for i, option in enumerate(prompt.options) if option in matched.labels] or range(
            len(weights)
        )
        for i in named:
            weights[i] += 1 / len(named) / len(replies)
        miss = "cut" if reply.cut else matched.reason
        if len(matched.labels) > 1:
            outcome = SEVERAL
        else:
            outcome = next(iter(matched.labels), miss)
        outcomes.append((reply.text, outcome, bool(matched.labels)))
    answered = any(named for _, _, named in outcomes)
    logp = [math.log(max(weight, LEAST)) if answered else NO_ANSWER for weight in weights]
    return replace(choice_scores(prompt, logp), replies=tuple(outcomes))


def _request_text(text: str, options: Sequence[str]) -> str:
    if len(options) <= MOST_SHOWN:
        among = f"one of these: {', '.join(options)}"
    else:
        among = "one or two words"
    return f"{user_turn(text)}\nAnswer with {among}.\nAnswer: {SLOT}"


def _misses(outcomes: Sequence[tuple[str, str, bool]]) -> str:
    counts = Counter(outcome for _, outcome, named in outcomes if not named)
    several = sum(outcome == SEVERAL for _, outcome, named in outcomes if named)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
    examples = [
        repr(text[:60]) for text in dict.fromkeys(text for text, _, named in outcomes if not named)
    ]
    if counts:
        listed = f" ({kinds}), such as {', '.join(examples[:MISSES_SHOWN])}"
    else:
        listed = ""
    return (
        f"{counts.total():,} of {len(outcomes):,} replies named no option{listed}; they count as "
        "wrong. "
        f"{several:,} named several, which share the answer. replies.jsonl holds all of them."
    )
