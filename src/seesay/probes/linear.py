"""The linear probe (Singh, Qasemi & Chen 2023, section 4): a frozen encoder and one layer, trained
on its vectors.

The probe is a model like any other: it gives every option of a question a log-probability, so runs,
metrics and reports treat it like a language model. Its template ends in the slot; the text before
it is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.condition import Condition, How
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.grouping import chunks
from seesay.models.base import Model, choice_scores
from seesay.probes.choice import written_question
from seesay.probes.linear_layer import LinearLayer, ProbeConfig, log_softmax, train_layer, with_bias
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.probes.vector_cache import VectorCache
from seesay.progress import ProgressCallback
from seesay.questions import SLOT, Prompt, Question, Scores, Task, Template

BATCH = 1024  # prompts


class EncodedSplit(NamedTuple):
    """A split as a probe takes it: the vectors of its questions, and which labels are gold."""

    vectors: NDArray[np.float32]
    gold: NDArray[np.bool_]


class LinearProbe(Model):
    """A trained layer on an encoder."""

    family = "linear"
    scope = "linear"

    def __init__(
        self,
        vectors: VectorCache,
        labels: Sequence[str],
        layer: LinearLayer,
        trained_on: Sequence[str],
        *,
        how: How,
        seed: int,
    ) -> None:
        self.name = vectors.encoder.name
        self.parameters = vectors.encoder.parameters
        self._how = how
        self._seed = seed
        parts = [vectors.encoder.fingerprint, *trained_on, asdict(layer.config), seed]
        self.fingerprint = json_digest(parts)
        self.labels = tuple(labels)
        self.layer = layer
        self._vectors = vectors
        self._columns = {label: column for column, label in enumerate(labels)}

    @property
    def condition(self) -> Condition:
        """How the probe was trained, and with which seed."""
        return Condition(
            how=self._how,
            probe_seed=self._seed,
            scope=self.scope,
        )

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """Return the encoder's notes too: they belong to the probe's figures."""
        encoder_notes = self._vectors.encoder.notes()
        return [*encoder_notes, *super().notes(answered)]

    def describe_encoding(self) -> str:
        """Return how the encoder begins texts."""
        return self._vectors.encoder.describe_encoding()

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Return batches in alphabetical order: texts that begin alike are encoded together."""
        order = sorted(range(len(prompts)), key=lambda i: (prompts[i].text, i))
        return list(chunks(order, BATCH))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the layer's log-probability of every option, among all the labels it was trained
        on."""
        if not prompts:
            return []
        texts = list(map(text_before_slot, prompts))
        vectors = self._vectors.rows(texts)
        logits = with_bias(vectors) @ self.layer.weights
        rows = log_softmax(logits)
        return [self._scores(prompt, row) for prompt, row in zip(prompts, rows, strict=True)]

    def _scores(
        self,
        prompt: Prompt,
        row: NDArray[np.float32],
    ) -> Scores:
        unknown = [option for option in prompt.options if option not in self._columns]
        if unknown:
            raise UserError(
                f"'{self.name}' was trained on {', '.join(self.labels)} and cannot answer "
                f"'{unknown[0]}': ask it the task that it was trained on."
            )
        columns = [self._columns[option] for option in prompt.options]
        return choice_scores(prompt, map(float, row[columns]))


def train_probe(
    vectors: VectorCache,
    splits: Mapping[str, Task],
    *,
    how: How = How.LINEAR,
    seed: int = 0,
    config: ProbeConfig | None = None,
    progress: ProgressCallback | None = None,
) -> LinearProbe:
    """Return a probe trained on `splits["train"]`, its epoch chosen by `splits["validation"]`;
    progress counts encoded texts.

    The splits are those of `linear_task(task)`, asked by `how`.
    """
    parts = [splits["train"], splits["validation"]]
    labels = splits["train"].labels
    # the texts of both splits together, so that progress has one total
    texts = [text for part in parts for text in probe_texts(part)]
    vectors.fill(texts, progress)
    train = encode_split(vectors, splits["train"], labels)
    validation = encode_split(vectors, splits["validation"], labels)
    layer = train_layer(
        *train,
        *validation,
        seed=seed,
        config=config,
    )
    trained_on = [part.fingerprint for part in parts]
    return LinearProbe(
        vectors,
        labels,
        layer,
        trained_on,
        how=how,
        seed=seed,
    )


def linear_task(
    task: Task,
    *,
    as_question: bool = False,
) -> Task:
    """Return the task as a probe is asked it: the linear text as its only template, no metric of
    the whole vocabulary, and the published figures of linear probes.

    `as_question`: the text is the question with its lettered options, as UnifiedQA, whose row
    stands among the published ones, is asked.
    """
    if not task.training.linear_text or task.training.load_splits is None:
        raise UserError(
            f"'{task.name}' declares no text and training questions for a linear probe: `seesay "
            "tasks` shows which do."
        )
    if as_question:
        template = Template("linear-question", f"{written_question(task)} {SLOT}")
    else:
        template = Template("linear", f"{task.training.linear_text} {SLOT}")
    probed = replace(
        task,
        templates=(template,),
        neutral={},
        published=task.training.linear_published,
    )
    return without_vocabulary_metrics(probed)


def text_before_slot(prompt: Prompt) -> str:
    """Return what is encoded: everything before the slot."""
    before, after = prompt.parts
    if after.strip() or not before.strip():
        raise UserError(f"A linear probe needs a text that ends in {SLOT}, not {prompt.text!r}.")
    return before.strip()


def probe_texts(task: Task) -> list[str]:
    """Return the text of every question in the task's first template."""
    template = task.templates[0]
    return [text_before_slot(template.ask(question)) for question in task.questions]


def encode_split(
    vectors: VectorCache,
    task: Task,
    labels: Sequence[str],
) -> EncodedSplit:
    """Return the vectors and gold labels of a task's questions."""
    rows = vectors.rows(probe_texts(task))
    return EncodedSplit(rows, gold_matrix(task.questions, labels))


def gold_matrix(
    questions: Sequence[Question],
    labels: Sequence[str],
) -> NDArray[np.bool_]:
    """Return which labels are gold, one row per question."""
    rows = []
    for question in questions:
        rows.append([label in question.gold for label in labels])
    return np.array(rows)
