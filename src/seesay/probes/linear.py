"""The linear probe (Singh, Qasemi & Chen 2023, section 5): a frozen encoder and one layer, trained on its vectors.

The probe is a model like any other: it gives every option of a question a log-probability, so runs, metrics and reports
take it as they take a language model. Its question is a template that ends in the slot; what stands before it is the
text that is encoded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.hf.batching import chunks
from seesay.probes.linear_layer import Recipe, Trained, log_softmax, train, with_bias
from seesay.probes.vector_cache import Features, Progress
from seesay.questions import SLOT, Prompt, Question, Scores, Task, Template

BATCH = 1024  # prompts
NAME = "{encoder} · linear · seed {seed}"


@dataclass(frozen=True)
class Split:
    """A task's questions as a probe takes them: vectors, and which labels are gold."""

    vectors: NDArray[np.float32]
    gold: NDArray[np.bool_]


class LinearProbe(Model):
    """A trained layer on an encoder."""

    family = "linear"
    scope = "linear"

    def __init__(
        self, features: Features, labels: Sequence[str], trained: Trained, learnt: Sequence[str], *, seed: int
    ) -> None:
        self.name = NAME.format(encoder=features.encoder.name, seed=seed)
        parts = [features.encoder.fingerprint, *learnt, asdict(trained.recipe), seed]
        self.fingerprint = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
        self.labels, self.trained = tuple(labels), trained
        self._features = features
        self._columns = {label: column for column, label in enumerate(labels)}

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches by the alphabet: texts that begin alike are encoded together."""
        return list(chunks(sorted(range(len(prompts)), key=lambda i: (prompts[i].text, i)), BATCH))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The layer's log-probability of every option, among all the labels that it learnt."""
        if not prompts:
            return []
        vectors = self._features.rows([text_of(prompt) for prompt in prompts])
        logp = log_softmax(with_bias(vectors) @ self.trained.weights)
        return [self._scores(prompt, row) for prompt, row in zip(prompts, logp, strict=True)]

    def _scores(self, prompt: Prompt, row: NDArray[np.float32]) -> Scores:
        strange = [option for option in prompt.options if option not in self._columns]
        if strange:
            raise UserError(
                f"'{self.name}' learnt {', '.join(self.labels)} and cannot answer '{strange[0]}': ask it the task that "
                "it was trained on."
            )
        return Scores(
            logp=tuple(float(row[self._columns[option]]) for option in prompt.options),
            tokens=(1,) * len(prompt.options),
            chars=tuple(map(len, prompt.options)),
        )


def probe(
    encoder: Model | Features,
    splits: Mapping[str, Task],
    *,
    seed: int = 0,
    recipe: Recipe | None = None,
    progress: Progress | None = None,
) -> LinearProbe:
    """A probe trained on `splits["train"]`, its epoch chosen by `splits["val"]`; progress counts encoded texts."""
    features = encoder if isinstance(encoder, Features) else Features(encoder)
    labels = splits["train"].labels
    both = [text for part in ("train", "val") for text in texts_of(splits[part])]
    features.rows(both, progress)  # together, so that the bar has one end
    learn, choose = (split_of(features, splits[part], labels) for part in ("train", "val"))
    trained = train(learn.vectors, learn.gold, choose.vectors, choose.gold, seed=seed, recipe=recipe or Recipe())
    return LinearProbe(features, labels, trained, [splits["train"].fingerprint, splits["val"].fingerprint], seed=seed)


def linear_models(
    encoder: Model | Features,
    task: str,
    *,
    data: Path | None = None,
    seeds: Sequence[int] = (0,),
    progress: Progress | None = None,
) -> Iterator[LinearProbe]:
    """A probe a seed for a task with a training split, each trained when its turn comes; vectors are encoded once."""
    from seesay.tasks.viphy import kinds

    features = encoder if isinstance(encoder, Features) else Features(encoder)
    splits = {part: ask_task(of) for part, of in kinds.training(task, data).items()}
    for place, seed in enumerate(seeds):  # texts are counted once: for the first
        yield probe(features, splits, seed=seed, progress=progress if place == 0 else None)


def ask_task(task: Task) -> Task:
    """The task as a probe is asked it: the linear wording alone, the metrics that need no vocabulary, and beside the
    published questions the paper's linear rows and what seesay computed of people."""
    from seesay.tasks.viphy import facts, kinds, people

    if task.name not in kinds.KINDS:
        raise UserError(
            f"'{task.name}' has no training questions for a linear probe: choose from {', '.join(kinds.KINDS)}."
        )
    kind = kinds.kind(task.name)
    metrics = tuple(metric for metric in task.metrics if not metric.startswith("vocabulary"))
    rows = [row for metric in metrics for row in kind.linear_published.get(metric, ())]
    human_rows = [row for row in task.published if row.source.startswith(people.SOURCE)]
    return replace(
        task,
        templates=(linear_template(kind.linear_text),),
        metrics=metrics,
        neutral={},
        published=(*rows, *human_rows) if facts.as_published(task) else (),
    )


def linear_template(text: str) -> Template:
    """A wording whose slot stands at its end.

    >>> linear_template("color of {object}").text
    'color of {object} [MASK]'
    """
    return Template("linear", f"{text} {SLOT}")


def text_of(prompt: Prompt) -> str:
    """What is encoded: all that stands before the slot."""
    before, after = prompt.parts
    if after.strip() or not before.strip():
        raise UserError(f"A linear probe is asked with a text that ends in {SLOT}, not {prompt.text!r}.")
    return before.strip()


def texts_of(task: Task) -> list[str]:
    """The text of every question in the task's first wording."""
    return [text_of(task.templates[0].ask(question)) for question in task.questions]


def split_of(features: Features, task: Task, labels: Sequence[str]) -> Split:
    """Vectors and gold labels of a task's questions."""
    return Split(features.rows(texts_of(task)), gold_of(task.questions, labels))


def gold_of(questions: Sequence[Question], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Which labels are gold, a row a question."""
    return np.array([[label in question.gold for label in labels] for question in questions])
