"""Questions for a network while the Trainer of transformers trains it.

    trainer = Trainer(model, arguments, train_dataset=…, processing_class=tokenizer)
    trainer.add_callback(ProbeCallback("core", every=500, name="mine", log=trainer.log))

Each time, the tasks are asked and kept as runs of `mine/checkpoint-STEP`, which `seesay report`
shows as curves over the steps. What `log` is given goes wherever the Trainer reports to: trackio,
MLflow, TensorBoard and the like.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from seesay.defaults import RESAMPLES
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.hf.families import family_of, language_model
from seesay.models.hf.loading import Checkpoint
from seesay.models.options import Family, ModelOptions
from seesay.questions import Task
from seesay.runs.ask import Settings
from seesay.runs.checkpoints import FOLDER
from seesay.runs.watch import measure, watched_tasks


class ProbeCallback(TrainerCallback):
    """Asks tasks before a training, after every so many steps, and at its end.

    `tasks` are names, groups or tasks; `name` is what the training is called in the runs below
    `output`. `limit`, `seed` and `resamples` are those of `seesay.probe`, `options` those of
    `seesay.models.ModelOptions`. The training goes on as if nothing had been asked.
    """

    def __init__(
        self,
        tasks: str | Task | Sequence[str | Task] = "core",
        *,
        every: int,
        name: str = "training",
        output: str | Path = "runs",
        limit: int | None = None,
        seed: int = 0,
        resamples: int = RESAMPLES,
        log: Callable[[dict[str, float]], None] | None = None,
        **options: Any,
    ) -> None:
        if every < 1:
            raise UserError(f"every is {every}: give a number of steps.")
        self._tasks = watched_tasks(tasks)
        self._every = every
        self._name = name
        self._output = Path(output)
        self._settings = Settings(limit=limit, seed=seed, resamples=resamples)
        self._log = log
        self._options = ModelOptions.from_keywords(options)
        self._asked_at: int | None = None

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **parts: Any,
    ) -> None:
        """Ask before the first step."""
        self._ask(state, parts)

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **parts: Any,
    ) -> None:
        """Ask after every so many steps."""
        if state.global_step % self._every == 0:
            self._ask(state, parts)

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **parts: Any,
    ) -> None:
        """Ask at the end, unless it has just been done."""
        if state.global_step != self._asked_at:
            self._ask(state, parts)

    def _ask(self, state: TrainerState, parts: dict[str, Any]) -> None:
        # of several processes, each of which has the same weights, one asks
        if not state.is_world_process_zero:
            return
        self._asked_at = state.global_step
        network = plain_network(parts["model"])
        name = f"{self._name}/{FOLDER}{state.global_step}"
        with _evaluating(network):
            model = model_in_training(name, network, parts.get("processing_class"), self._options)
            figures = measure(model, self._tasks, self._output, self._settings)
        if self._log is not None:
            self._log({f"seesay/{task}": value for task, value in figures.items()})


def model_in_training(
    name: str, network: Any, tokenizer: Any, options: ModelOptions | None = None
) -> Model:
    """Return a network and its tokeniser as a model; it is known by a digest of its weights."""
    if tokenizer is None:
        raise UserError(
            "The Trainer has no tokeniser to ask with: give it processing_class=tokenizer."
        )
    options = options or ModelOptions()
    family = Family(options.family) if options.family else family_of(name, network.config)
    digest = _digest(network, tokenizer)
    checkpoint = Checkpoint(network, tokenizer, network.config, digest, ())
    return language_model(name, checkpoint, family, options)


def plain_network(network: Any) -> Any:
    """Return the network itself, where peft has put an adapter into it."""
    config = getattr(network, "active_peft_config", None)
    if config is None:
        return network
    if config.is_prompt_learning:
        raise UserError("A learnt prompt cannot be asked in training: ask what is trained later.")
    return network.get_base_model()


@contextmanager
def _evaluating(network: torch.nn.Module) -> Iterator[None]:
    """Leave out dropout and the like, and restore what each module did before."""
    training_modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, is_training in training_modes:
            module.training = is_training


def _digest(network: torch.nn.Module, tokenizer: Any) -> str:
    """Return a digest of all weights and of the vocabulary: each step is another model."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(json_digest(sorted(tokenizer.get_vocab().items())).encode())
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        values = tensor.detach().cpu().contiguous().flatten()
        digest.update(values.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
