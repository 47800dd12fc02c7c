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

SOMETHING = "something"
"""Stands for a thing that a probe is not shown."""

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
    """Return the log-probability of every label for the test questions: layers × seeds × questions
    × labels.

    The splits are those of `linear_task(task)`, and their texts are in the cache; progress counts
    trained probes.
    """
    labels = splits["train"].labels
    train_texts = probe_texts(splits["train"])
    val_texts = probe_texts(splits["validation"])
    test_texts = probe_texts(splits["test"])
    gold = gold_matrix(splits["train"].questions, labels)
    val_gold = gold_matrix(splits["validation"].questions, labels)
    logps = np.empty((len(layers), len(seeds), len(test_texts), len(labels)), np.float32)
    for start in range(0, len(layers), AT_ONCE):
        block = list(layers[start : start + AT_ONCE])
        vectors = cache.layer_rows(train_texts, block)
        val_vectors = cache.layer_rows(val_texts, block)
        probes_by_seed = []
        for seed in seeds:
            probes = train_layers(
                vectors,
                gold,
                val_vectors,
                val_gold,
                seed=seed,
                config=config,
            )
            probes_by_seed.append(probes)
            if progress:
                progress(len(block), len(layers) * len(seeds))
        # the vectors of the test questions take their place, a layer at a time
        del vectors, val_vectors
        for place, layer in enumerate(block):
            (rows,) = cache.layer_rows(test_texts, [layer])
            inputs = with_bias(rows)
            for column, probes in enumerate(probes_by_seed):
                logps[start + place, column] = log_softmax(inputs @ probes[place].weights)
    return logps


def control_splits(splits: Mapping[str, Task]) -> dict[str, Task]:
    """Return the splits with labels that mean nothing: one draw from the training labels for each
    thing, wherever it occurs.

    Of a question about a pair it is the thing named first that decides.
    """
    pools: dict[tuple[str, ...], list[Mapping[str, float]]] = {}
    for question in splits["train"].questions:
        pools.setdefault(question.options, []).append(question.gold)

    def relabel(question: Question) -> Question:
        pool = pools.get(question.options, [question.gold])
        # by the thing's name and not by a generator: a thing has one label in every split
        draw = text_number(first_thing(question)) % len(pool)
        return replace(question, gold=pool[draw])

    return {
        name: replace(
            task,
            questions=tuple(map(relabel, task.questions)),
            published=(),
        )
        for name, task in splits.items()
    }


def first_thing(question: Question) -> str:
    """Return what a question is about; of a pair the one that it names first."""
    things = question.things
    # the object of a pair names both in a fixed order, whichever the question begins with
    for value in question.fields.values():
        for thing in things:
            if _names(value, thing):
                return thing
    return things[0]


def _names(value: str, thing: str) -> bool:
    """Whether a field of a question holds a thing, with an article or without."""
    return value.casefold() == thing.casefold() or value.casefold().endswith(f" {thing.casefold()}")


def second_thing_splits(splits: Mapping[str, Task]) -> dict[str, Task] | None:
    """Return the splits with the thing that a question names first left open; None where a question
    is not about a pair.

    A probe that is not shown one of two things cannot compare them: what it gets right it knows of
    the other one, such as that most things are smaller than a house.
    """
    questions = [question for task in splits.values() for question in task.questions]
    if any(len(question.things) != 2 for question in questions):
        return None
    return {
        name: replace(
            task,
            questions=tuple(map(_without_first_thing, task.questions)),
            published=(),
        )
        for name, task in splits.items()
    }


def _without_first_thing(question: Question) -> Question:
    first = first_thing(question)
    fields = {}
    for name, value in question.fields.items():
        fields[name] = SOMETHING if _names(value, first) else value
    return replace(question, fields=fields)


def control_note(splits: Mapping[str, Task]) -> str:
    """Say how many things of the test questions are not in training; empty if all of them are.

    Labels of the others cannot be learnt by heart, so that a control task says nothing about them.
    """
    test = splits["test"]
    train_things = set(map(first_thing, splits["train"].questions))
    test_things = set(map(first_thing, test.questions))
    shared = len(test_things & train_things)
    if shared == len(test_things):
        return ""
    things = f"Only {shared} of the {len(test_things)} things"
    verb = "occurs" if shared == 1 else "occur"
    others = "the others' labels"
    control = "the control is what guessing gets for the others"
    if not shared:
        things, verb, others = "No thing", "occurs", "labels"
        control = "the control is what guessing gets"
    return (
        f"{things} of {test.name}'s test questions {verb} in training, so that {others} which mean "
        f"nothing cannot be learnt by heart: {control}."
    )
