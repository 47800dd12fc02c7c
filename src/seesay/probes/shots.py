"""In-context examples: other questions of the task, shown with their answers before the one that is
asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice, zip_longest

from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.wrapped import WrappedModel
from seesay.quantities import quantity
from seesay.questions import Question, Task


def with_shots(task: Task, count: int, seed: int) -> Task:
    """The task with `count` examples before every question, drawn with the seed and balanced over
    the labels.

    They come from the training split where the task has one, else from its own questions; never
    from those about the object asked, or (for pairs) about one of the two. All questions get the
    same examples but for that, so that a model reads them once.
    """
    if task.load_splits is None:
        pool = task.questions
    else:
        pool = task.splits()["train"].questions
    rng = random.Random(f"{task.name} {seed}")
    by_label: dict[str, list[Question]] = {}
    for example in rng.sample(pool, len(pool)):
        by_label.setdefault(example.best_label, []).append(replace(example, tags={}, shots=()))
    columns = [by_label[label] for label in rng.sample(sorted(by_label), len(by_label))]
    common = _draw(columns, count, frozenset())
    questions = []
    for question in task.questions:
        things = _things(question)
        if not any(things & _things(shot) for shot in common):
            shots = common
        else:
            shots = _draw(columns, count, things)
        if len(shots) < count:
            raise UserError(
                f"'{task.name}' has {len(shots)} examples for '{question.id}', not {count}: take "
                "fewer."
            )
        questions.append(replace(question, shots=shots))
    return replace(task, questions=tuple(questions))


def with_seed(model: Model, count: int, seed: int) -> Model:
    """The model under a name that says how many examples it sees, and which draw."""
    seeded = WrappedModel(model)
    seeded.probe = f"{model.name} · {quantity(count, 'shot')}"
    seeded.probe_seed = seed
    seeded.name = f"{seeded.probe} · seed {seed}"
    return seeded


def shots_detail(task: Task) -> tuple[str, ...]:
    """The part of a signature that names the examples: how many, and a digest of all draws."""
    draws = [[shot.id for shot in question.shots] for question in task.questions]
    if not any(draws):
        return ()
    return (f"shots:{len(draws[0])}@{json_digest(draws, 4)}",)


def _draw(
    columns: Sequence[Sequence[Question]], count: int, things: frozenset[str]
) -> tuple[Question, ...]:
    """One example of each label in turn."""
    return tuple(islice(_in_turn(columns, things), count))


def _in_turn(columns: Sequence[Sequence[Question]], things: frozenset[str]) -> Iterator[Question]:
    """Examples about other objects than all before them; where there are no more, any that are not
    about `things`."""
    used = set(things)
    drawn = set[str]()
    left = [iter(column) for column in columns]
    for column in cycle(range(len(left))):
        example = next((q for q in left[column] if not used & _things(q)), None)
        if example is not None:
            used |= _things(example)
            drawn.add(example.id)
            yield example
        elif not any(not used & _things(q) for rest in columns for q in rest):
            break
    others = (
        [q for q in column if q.id not in drawn and not things & _things(q)] for column in columns
    )
    yield from (q for row in zip_longest(*others) for q in row if q is not None)


def _things(question: Question) -> frozenset[str]:
    """What a question is about: for a pair both, as their names are joined."""
    return frozenset(question.object.split("|"))
