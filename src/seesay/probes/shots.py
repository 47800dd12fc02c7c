"""In-context examples: other questions of the task, shown with their answers before the one that is
asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice, zip_longest

from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.questions import Question, Task


def with_shots(
    task: Task,
    count: int,
    seed: int,
) -> Task:
    """Return the task with `count` examples before every question, drawn with the seed and
    balanced over the labels.

    They come from the training split where the task has one, else from its own questions; never
    from those about the object asked, or (for pairs) about one of the two. All questions get the
    same examples but for that, so that a model reads them once.
    """
    if task.training.load_splits is None:
        pool = task.questions
    else:
        pool = task.splits()["train"].questions
    rng = random.Random(f"{task.name} {seed}")
    by_label: dict[str, list[Question]] = {}
    for example in rng.sample(pool, len(pool)):
        bare_example = replace(example, tags={}, shots=())
        by_label.setdefault(example.best_label, []).append(bare_example)
    labels = rng.sample(sorted(by_label), len(by_label))
    columns = [by_label[label] for label in labels]
    common_shots = _draw(columns, count, frozenset())
    common_things = frozenset[str]().union(*map(_things, common_shots))
    questions = []
    for question in task.questions:
        things = _things(question)
        # prompts that begin alike are read once: examples differ only where they would give away
        # the answer
        if things & common_things:
            shots = _draw(columns, count, things)
        else:
            shots = common_shots
        if len(shots) < count:
            raise UserError(
                f"'{task.name}' has {len(shots)} examples for '{question.id}', not {count}: take "
                "fewer."
            )
        questions.append(replace(question, shots=shots))
    return replace(task, questions=tuple(questions))


def shots_detail(task: Task) -> tuple[str, ...]:
    """Return the part of a signature that names the examples: how many, and a digest of all
    draws."""
    draws = []
    for question in task.questions:
        draws.append([shot.id for shot in question.shots])
    if not any(draws):
        return ()
    return (f"shots:{len(draws[0])}@{json_digest(draws, 4)}",)


def _draw(
    columns: Sequence[Sequence[Question]],
    count: int,
    things: frozenset[str],
) -> tuple[Question, ...]:
    """One example of each label in turn."""
    return tuple(islice(_in_turn(columns, things), count))


def _in_turn(
    columns: Sequence[Sequence[Question]],
    things: frozenset[str],
) -> Iterator[Question]:
    """Examples about other objects than all before them; where there are no more, any that are not
    about `things`."""
    used_things = set(things)
    used_ids = set[str]()
    examples = [example for column in columns for example in column]
    iterators = [iter(column) for column in columns]

    def is_new(example: Question) -> bool:
        return not used_things & _things(example)

    for iterator in cycle(iterators):
        example = next(filter(is_new, iterator), None)
        if example is not None:
            used_things |= _things(example)
            used_ids.add(example.id)
            yield example
        # a label may have run out while others have not: the turn passes on
        elif not any(map(is_new, examples)):
            break
    repeats = []
    for column in columns:
        repeats.append([q for q in column if q.id not in used_ids and not things & _things(q)])
    for row in zip_longest(*repeats):
        yield from (example for example in row if example is not None)


def _things(question: Question) -> frozenset[str]:
    """What a question is about: for a pair both, as their names are joined."""
    return frozenset(question.things)
