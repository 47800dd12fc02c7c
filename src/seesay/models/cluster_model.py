"""A model whose copies answer on a Ray cluster, each loaded once by its worker.

The batches are those of one copy on one machine, so the digits are too, on processors of the same
kind with as many threads. Answers come back to this process, which keeps the journal: workers share
no folder, but those of a task's pictures and of the model. A batch whose worker died is asked
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

from seesay.cluster import Engine, WorkerPool, fetch, share
from seesay.models.base import Model
from seesay.models.wrapped import WrappedModel, identity_of
from seesay.questions import Prompt, Scores, Task


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a copy is asked to do."""

    hook: str
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    number: int = 0
    """Which batch of prompts it is."""
    run: int = 0
    """Notes of an earlier run are forgotten."""
    task: Any = None
    """The task that is shared with the workers, fetched by the first call about it."""


class CallReply(NamedTuple):
    """What a copy returned, and what it has noted and taken so far."""

    value: Any
    notes: list[str]
    copy: str
    spent: dict[str, float]


class ClusterModel(WrappedModel):
    """Stands for copies of a model, of which every worker creates its own: all of them answer, any
    one does whatever else is asked."""

    def __init__(self, create: Callable[[], Model], workers: int) -> None:
        self._pool: WorkerPool[ModelCall, CallReply] = WorkerPool(
            partial(ModelCopy, create, _threads()),
            workers,
            engine=Engine.RAY,
            what="Asking a model on Ray",
            unit="batches",
        )
        self._call = ModelCall("identity")
        self._spent: dict[str, dict[str, float]] = {}
        vars(self).update(self._forward("identity"))
        # texts are scored and encoded one after the other, which needs no cluster
        self.abilities &= {"answer", "restrict"}

    def prepare(self, task: Task) -> None:
        """Workers fetch the task when they are first asked about it."""
        self._call = replace(self._call, task=share(task))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """One batch, by one worker."""
        return next(self.answer_batches([prompts]))[1]

    def answer_batches(
        self, batches: Sequence[Sequence[Prompt]]
    ) -> Iterator[tuple[int, list[Scores]]]:
        """Every worker has one batch at a time, so that a fast one answers more of them."""
        calls = (
            replace(self._call, hook="answer", arguments=(batch,), number=number)
            for number, batch in enumerate(batches)
        )
        for call, reply in self._pool.map(calls):
            self._spent[reply.copy] = reply.spent
            for note in reply.notes:
                self.note(note)
            yield call.number, reply.value

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """What the workers noted with their batches, and what a copy notes about all the
        answers."""
        if answered:
            return list(dict.fromkeys(super().notes(answered)))
        return Model.notes(self)

    def clear_notes(self) -> None:
        """Forget those of the copies, too, before they answer again."""
        Model.clear_notes(self)
        self._call = replace(self._call, run=self._call.run + 1)

    def spent(self) -> dict[str, float]:
        """What all copies have taken together, those that died included."""
        total: Counter[str] = Counter()
        for spent in self._spent.values():
            total.update(spent)
        return dict(total)

    def close(self) -> None:
        """End the workers."""
        self._pool.close()

    def _forward(self, hook: str, *arguments: Any, **named: Any) -> Any:
        call = replace(self._call, hook=hook, arguments=arguments, options=tuple(named.items()))
        ((_, reply),) = self._pool.map([call])
        return reply.value


class ModelCopy:
    """One copy of the model, in a process of the cluster."""

    def __init__(self, create: Callable[[], Model], threads: int | None) -> None:
        # Ray gives a worker one thread, with which sums are cut otherwise
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        self._name = uuid4().hex
        self._model = create()
        self._run = 0
        self._task: Any = None

    def __call__(self, call: ModelCall) -> CallReply:
        model = self._model
        if call.task is not None and call.task != self._task:
            self._task = call.task
            model.prepare(fetch(call.task))
        if call.run != self._run:
            self._run = call.run
            model.clear_notes()
        if call.hook == "identity":
            value: Any = identity_of(model)
        else:
            value = getattr(model, call.hook)(*call.arguments, **dict(call.options))
        return CallReply(value, model.notes(), self._name, model.spent())


def _threads() -> int | None:
    """As many threads as PyTorch takes here, since the last digits depend on them; None without
    PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    return torch.get_num_threads()
