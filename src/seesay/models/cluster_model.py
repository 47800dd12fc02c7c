"""A model whose copies answer on a Ray cluster, each loaded once by its worker.

The batches are those of one copy on one machine, so the digits are too, on processors of the same
kind with as many threads. Answers come back to this process, which keeps the journal: workers share
no folder, but those of a task's pictures and of the model. A batch whose worker died is asked
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from seesay.cluster import MAX_RESTARTS, start_ray, worker_resources
from seesay.errors import UserError, first_line
from seesay.models.base import Model
from seesay.models.wrapped import WrappedModel, identity_of
from seesay.questions import Prompt, Scores, Task


class ClusterModel(WrappedModel):
    """Stands for copies of a model, of which every worker creates its own: all of them answer, the
    first one does whatever else is asked."""

    def __init__(self, create: Callable[[], Model], workers: int) -> None:
        self._ray = start_ray("Asking a model on Ray", workers)
        remote = self._ray.remote(
            **worker_resources(self._ray), max_restarts=MAX_RESTARTS, max_task_retries=MAX_RESTARTS
        )(Worker)
        self._workers = [remote.remote(create, _threads()) for _ in range(workers)]
        self._task: list[Any] = []
        vars(self).update(self._forward("identity"))
        # texts are scored and encoded one after the other, which needs no cluster
        self.abilities &= {"answer", "restrict"}

    def prepare(self, task: Task) -> None:
        """Workers fetch the task when they are first asked about it."""
        self._task = [self._ray.put(task)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """One batch, by the first worker."""
        return next(self.answer_batches([prompts]))[1]

    def answer_batches(
        self, batches: Sequence[Sequence[Prompt]]
    ) -> Iterator[tuple[int, list[Scores]]]:
        """Every worker has one batch at a time, so that a fast one answers more of them."""
        idle = list(self._workers)
        running = dict[Any, tuple[int, Any]]()
        numbers = iter(range(len(batches)))
        while True:
            # the iterator is shared by all rounds: each goes on where the last one stopped
            for number in numbers:
                worker = idle.pop()
                running[worker.answer.remote(self._task, batches[number])] = number, worker
                if not idle:
                    break
            if not running:
                return
            (reference,), _ = self._ray.wait(list(running), num_returns=1)
            number, worker = running.pop(reference)
            idle.append(worker)
            with self._failures():
                scores, notes = self._ray.get(reference)
            for note in notes:
                self.note(note)
            yield number, scores

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """What the workers noted with their batches, and what a copy notes about all the
        answers."""
        if answered:
            return list(dict.fromkeys(super().notes(answered)))
        return Model.notes(self)

    def clear_notes(self) -> None:
        """Forget those of the copies, too."""
        Model.clear_notes(self)
        with self._failures():
            self._ray.get([worker.clear_notes.remote() for worker in self._workers])

    def spent(self) -> dict[str, float]:
        """What all copies have taken together."""
        with self._failures():
            counts = self._ray.get([worker.spent.remote() for worker in self._workers])
        names = dict.fromkeys(name for count in counts for name in count)
        return {name: sum(count.get(name, 0) for count in counts) for name in names}

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            self._ray.kill(worker)

    def _forward(self, hook: str, *arguments: Any, **named: Any) -> Any:
        with self._failures():
            return self._ray.get(
                self._workers[0].call.remote(self._task, hook, *arguments, **named)
            )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """What a worker raised, as it raised it; a worker that keeps dying is one sentence."""
        try:
            yield
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise
        except self._ray.exceptions.RayActorError as error:
            raise UserError(
                f"A worker died {MAX_RESTARTS + 1} times ({first_line(error)}). The answers so far "
                "are kept: run the same command again to resume."
            ) from error


class Worker:
    """One copy of the model, in a process of the cluster."""

    def __init__(self, create: Callable[[], Model], threads: int | None) -> None:
        self._create = create
        self._threads = threads
        self._model: Model | None = None
        self._task: Any = None

    def call(
        self,
        task: list[Any],
        hook: str,
        *arguments: Any,
        **named: Any,
    ) -> Any:
        """What one method of the model returns; its identity is what it states about itself."""
        model = self._prepared(task)
        if hook == "identity":
            return identity_of(model)
        return getattr(model, hook)(*arguments, **named)

    def answer(self, task: list[Any], batch: Sequence[Prompt]) -> tuple[list[Scores], list[str]]:
        """The scores of a batch, and the model's notes so far."""
        model = self._prepared(task)
        return model.answer(batch), model.notes()

    def spent(self) -> dict[str, float]:
        """What this copy has taken; nothing as long as it is not loaded."""
        return {} if self._model is None else self._model.spent()

    def clear_notes(self) -> None:
        """Forget the notes of a finished run."""
        if self._model is not None:
            self._model.clear_notes()

    def _prepared(self, task: list[Any]) -> Model:
        """The model, which is loaded at the first call: an error then reaches the caller."""
        import ray

        if self._model is None:
            # Ray gives a worker one thread, with which sums are cut otherwise
            if self._threads is not None:
                import torch

                torch.set_num_threads(self._threads)
            self._model = self._create()
        if task and task[0] != self._task:
            self._task = task[0]
            self._model.prepare(ray.get(self._task))
        return self._model


def _threads() -> int | None:
    """As many threads as PyTorch takes here, since the last digits depend on them; None without
    PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    return torch.get_num_threads()
