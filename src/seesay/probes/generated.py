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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from seesay.answers import NO_ANSWER
from seesay.condition import How, Sampling
from seesay.errors import UserError
from seesay.matching import NamedOptions, match
from seesay.models.base import Model, Reply, choice_scores
from seesay.models.baselines import Baseline
from seesay.models.chat import user_turn
from seesay.models.wrapped import RephrasedModel, rephrase
from seesay.questions import ENGLISH, SLOT, Instructions, Prompt, Scores

LEAST = 1e-6  # what an option that no reply named is given
MOST_SHOWN = 30  # options; a longer list is not shown
MISSES_SHOWN = 5
SEVERAL = "several"


def generated_model(
    model: Model,
    sampling: Sampling,
) -> Model:
    """Return the model, asked for free answers. A baseline writes none, so it stays as it is."""
    if isinstance(model, Baseline):
        return model
    return GeneratedModel(model, sampling)


class GeneratedModel(RephrasedModel):
    """Wraps a model that generates."""

    def __init__(
        self,
        model: Model,
        sampling: Sampling,
    ) -> None:
        if "generate" not in model.abilities:
            raise UserError(f"'{model.name}' cannot generate text: leave out --how generate.")
        super().__init__(model)
        self._sampling = sampling
        self.scope = "generated"
        self.condition = model.condition.replace(
            how=How.GENERATE,
            sampling=sampling,
            scope=self.scope,
        )
        self.only_chooses = sampling.samples == 1
        self.probabilities_hint = "sample its answers (--samples 10 --temperature 1)"

    def through_chat(self, system: str | None = None) -> Model:
        """The same free answers in a chat."""
        return GeneratedModel(self._model.through_chat(system), self._sampling)

    def estimate(
        self,
        prompts: Sequence[Prompt],
        max_tokens: int | None = None,
    ) -> str:
        """Return what asking for all samples will take."""
        samples = range(self._sampling.samples)
        requests = [self._put(prompt) for prompt in prompts for _ in samples]
        return self._model.estimate(requests, self._sampling.max_tokens)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the share of each option among the replies."""
        requests = [self._put(prompt) for prompt in prompts]
        by_prompt = self._model.generate(requests, self._sampling)
        return [
            score_replies(prompt, replies, self._match)
            for prompt, replies in zip(prompts, by_prompt, strict=True)
        ]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """Return the model's own notes, and how many replies named no option."""
        return [*super().notes(answered), *note_misses(answered)]

    def _put(self, prompt: Prompt) -> Prompt:
        """The prompt with its options named, and a cue for the answer at its end."""
        return rephrase(prompt, partial(request_text, instructions=prompt.instructions))

    def _match(self, reply: str, prompt: Prompt) -> NamedOptions:
        """The options that a reply to the prompt names."""
        return match_reply(reply, prompt)


def match_reply(reply: str, prompt: Prompt) -> NamedOptions:
    """Return the options that a free reply to a prompt names."""
    return match(
        reply,
        prompt.options,
        question=prompt.question_text,
    )


def score_replies(
    prompt: Prompt,
    replies: Sequence[Reply],
    match: Callable[[str, Prompt], NamedOptions] = match_reply,
) -> Scores:
    """Return the shares of the options among the replies, and each reply with what became of it."""
    if len(set(prompt.options)) < len(prompt.options):
        raise UserError(
            f"Two options of {prompt.text!r} are the same text ({', '.join(prompt.options)}): no "
            "reply could tell them apart."
        )
    weights = [0.0] * len(prompt.options)
    outcomes = []
    for reply in replies:
        matched = match(reply.text, prompt)
        option_indices = [i for i, option in enumerate(prompt.options) if option in matched.labels]
        # a reply that names none says nothing: its share goes to all options alike
        shared_by = option_indices or range(len(weights))
        share = 1 / len(shared_by) / len(replies)
        for i in shared_by:
            weights[i] += share
        names_option = bool(matched.labels)
        outcomes.append((reply.text, _outcome(reply, matched), names_option))
    if any(names_option for _, _, names_option in outcomes):
        # never −inf: an option that no sample named is unlikely, and not impossible
        logp = [math.log(max(weight, LEAST)) for weight in weights]
    else:
        logp = [NO_ANSWER] * len(weights)
    return replace(choice_scores(prompt, logp), replies=tuple(outcomes))


def _outcome(
    reply: Reply,
    matched: NamedOptions,
) -> str:
    """The option that a reply names, or why it names no single one."""
    if len(matched.labels) > 1:
        return SEVERAL
    if matched.labels:
        return next(iter(matched.labels))
    return "cut" if reply.cut else matched.reason


def request_text(
    text: str,
    options: Sequence[str],
    instructions: Instructions = ENGLISH,
) -> str:
    """Return the text with its options named, and a cue for the answer at its end."""
    how = instructions.few_words
    if len(options) <= MOST_SHOWN:
        how = instructions.name_options(options)
    return f"{user_turn(text, instructions)}\n{how}\n{instructions.answer} {SLOT}"


def note_misses(answered: Sequence[Scores]) -> list[str]:
    """Return a note on how many replies named no option, or several; none where each named one."""
    outcomes = [reply for scores in answered for reply in scores.replies or ()]
    kinds = Counter[str]()
    texts: dict[str, None] = {}
    several = 0
    for text, outcome, named in outcomes:
        if named:
            several += outcome == SEVERAL
        else:
            kinds[outcome] += 1
            texts[text] = None
    sentences = []
    if kinds:
        counts = [f"{count:,} {kind}" for kind, count in kinds.most_common()]
        examples = [repr(text[:60]) for text in list(texts)[:MISSES_SHOWN]]
        sentences.append(
            f"{kinds.total():,} of {len(outcomes):,} replies named no option "
            f"({', '.join(counts)}), such as {', '.join(examples)}; they count as wrong."
        )
    if several:
        sentences.append(
            f"{several:,} of {len(outcomes):,} replies named several options, which share the "
            "answer."
        )
    if not sentences:
        return []
    return [" ".join([*sentences, "A run keeps all of them in replies.jsonl."])]
