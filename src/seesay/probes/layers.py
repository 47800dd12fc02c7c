"""Linear probes of every layer of an encoder, and the control task that says how much of a figure
is the probe's own.

The control task (Hewitt & Liang 2019, section 2) has the same texts with labels that mean nothing:
each thing gets a label at random, of the task's own distribution. A probe can only learn it by
heart, so that selectivity, the accuracy minus the control's, is what the vectors say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seesay.digests import text_number
from seesay.probes.linear import gold_matrix, probe_texts
from seesay.probes.linear_layer import ProbeConfig, log_softmax, train_layers, with_bias
from seesay.probes.vector_cache import LayerCache
from seesay.progress import ProgressCallback
from seesay.questions import Question, Task

AT_ONCE = 8  # layers that are trained together: more of them fit into no cache

Floats = NDArray[np.float32]


def layer_logps(
    cache: LayerCache,
    splits: Mapping[str, Task],
    layers: Sequence[int],
    *,
    seeds: Sequence[int] = (0,),
    config: ProbeConfig | None = None,
    progress: ProgressCallback | None = None,
) -> Floats:
    """The log-probability of every label for the test questions: layers × seeds × questions ×
    labels.

    The splits are those of `linear_task(task)`, and their texts are in the cache; progress counts
    trained probes.
    """
    labels = splits["train"].labels
    train, validation, test = (
        probe_texts(splits[name]) for name in ("train", "validation", "test")
    )
    gold, val_gold = (
        gold_matrix(splits[name].questions, labels) for name in ("train", "validation")
    )
    logps = np.empty((len(layers), len(seeds), len(test), len(labels)), np.float32)
    for start in range(0, len(layers), AT_ONCE):
        chosen = list(layers[start : start + AT_ONCE])
        vectors = cache.layer_rows(train, chosen)
        val_vectors = cache.layer_rows(validation, chosen)
        trained = []
        for seed in seeds:
            trained.append(
                train_layers(vectors, gold, val_vectors, val_gold, seed=seed, config=config)
            )
            if progress:
                progress(len(chosen), len(layers) * len(seeds))
        del vectors, val_vectors
        for place, layer in enumerate(chosen):
            (rows,) = cache.layer_rows(test, [layer])
            inputs = with_bias(rows)
            for column, of_seed in enumerate(trained):
                logps[start + place, column] = log_softmax(inputs @ of_seed[place].weights)
    return logps


def control_splits(splits: Mapping[str, Task]) -> dict[str, Task]:
    """The splits with labels that mean nothing: one draw from the training labels for each thing,
    wherever it occurs.

    Of a question about a pair it is the thing named first that decides.
    """
    pools: dict[tuple[str, ...], list[Mapping[str, float]]] = {}
    for question in splits["train"].questions:
        pools.setdefault(question.options, []).append(question.gold)

    def relabelled(question: Question) -> Question:
        pool = pools.get(question.options, [question.gold])
        return replace(question, gold=pool[text_number(first_thing(question)) % len(pool)])

    return {
        name: replace(task, questions=tuple(map(relabelled, task.questions)), published=())
        for name, task in splits.items()
    }


def first_thing(question: Question) -> str:
    """What a question is about; of a pair the one that it names first."""
    things = question.object.split("|")
    return next((value for value in question.fields.values() if value in things), things[0])


def shares_things(splits: Mapping[str, Task]) -> bool:
    """Whether things of the test questions occur in training: otherwise a control task cannot be
    learnt by heart."""
    train, test = ({first_thing(q) for q in splits[name].questions} for name in ("train", "test"))
    return bool(train & test)
