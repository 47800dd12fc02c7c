"""The ways to ask: each turns a model and tasks into what is actually asked, a model with a
task."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from seesay.cluster import Engine
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model, locate, through_chat
from seesay.models.base import GREEDY, Sampling
from seesay.models.baselines import Baseline
from seesay.models.cluster_model import ClusterModel
from seesay.models.deferred import load_when_asked
from seesay.models.encoders import load_encoder, locate_encoder
from seesay.probes.choice import choice_model, choice_task
from seesay.probes.generated import generated_model
from seesay.probes.linear import linear_task, probe_texts, train_probe
from seesay.probes.shots import with_seed, with_shots
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.probes.vector_cache import LayerCache, VectorCache
from seesay.progress import ProgressBars, no_progress
from seesay.questions import Task
from seesay.runs.ask import Settings
from seesay.runs.layers import LayerCurve, probe_layers
from seesay.runs.learning_curve import FRACTIONS, Point, curve
from seesay.runs.lens import lens

log = logging.getLogger(__name__)


class How(StrEnum):
    """A way to ask."""

    CLOZE = "cloze"
    CHOICE = "choice"
    GENERATE = "generate"
    LINEAR = "linear"
    LINEAR_QUESTION = "linear-question"
    LEARNING_CURVE = "learning-curve"

    @classmethod
    def _missing_(cls, value: object) -> How:
        raise UserError(f"--how is '{value}': choose {', '.join(cls)}.")

    @property
    def trains(self) -> bool:
        """Whether a probe is trained on the model's vectors."""
        return self in (How.LINEAR, How.LINEAR_QUESTION, How.LEARNING_CURVE)


@dataclass(frozen=True)
class Asker:
    """Puts tasks to models in one way: `both` with and without their chat templates; with so many
    `shots` (in-context examples), drawn once for each of `shot_seeds` seeds; free answers by
    `sampling`."""

    how: How = How.CLOZE
    options: ModelOptions = field(default_factory=ModelOptions)
    seeds: int = 1
    progress: ProgressBars = no_progress
    both: bool = False
    shots: int = 0
    shot_seeds: int = 1
    sampling: Sampling = GREEDY

    def __post_init__(self) -> None:
        if self.how.trains and self.options.engine == Engine.RAY:
            raise UserError(
                "--engine ray is for models that are asked; a linear probe is trained on this "
                "machine."
            )
        if self.how.trains and (self.options.chat or self.shots):
            raise UserError(
                f"--chat and --shots are for models that are asked, not for --how {self.how}."
            )
        if self.shots < 0 or self.shot_seeds < 1:
            raise UserError("--shots is a number of examples, and --shot-seeds a number of draws.")
        if self.shot_seeds > 1 and not self.shots:
            raise UserError(
                "--shot-seeds counts draws of in-context examples: say how many with --shots."
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Reject a name that cannot be a model's before any model is asked."""
        for name in names:
            if not name.strip() or not name.isprintable():
                raise UserError(f"{name!r} is not a model's name: `seesay models` lists some.")
            if self.how.trains and not (self.how is not How.LEARNING_CURVE and _is_baseline(name)):
                locate_encoder(name, self.options)
            else:
                locate(name, self.options)

    def pairs(self, model: str | Model, tasks: Sequence[Task]) -> Iterator[tuple[Model, Task]]:
        """The model with each task, both as this way of asking wants them."""
        if self.how in (How.LINEAR, How.LINEAR_QUESTION):
            yield from self._probes(model, tasks)
            return
        put = {How.CHOICE: choice_task, How.GENERATE: without_vocabulary_metrics}.get(self.how)
        tasks = [put(task) for task in tasks] if put else tasks
        seeds = range(self.shot_seeds) if self.shots else ()
        drawn = [[with_shots(task, self.shots, seed) for seed in seeds] for task in tasks]
        for answering in (
            self._on_cluster(model) if self.options.engine == Engine.RAY else self._answering(model)
        ):
            if self.shots and not isinstance(answering, Baseline):
                for draws in drawn:
                    yield from (
                        (with_seed(answering, self.shots, seed), task)
                        for seed, task in enumerate(draws)
                    )
            else:
                yield from ((answering, task) for task in tasks)

    def _answering(self, model: str | Model) -> Iterator[Model]:
        """The model, or where both are wanted the model without and with its chat template."""
        options = replace(self.options, generates=self.how is How.GENERATE)
        if self.both:
            options = replace(options, chat=False, system=None)
        else:
            options = options
        if isinstance(model, Model):
            loaded = model
        else:
            loaded = load_when_asked(model, options)
        if not self.both:
            variants = [through_chat(loaded, options.system) if options.chat else loaded]
        elif isinstance(loaded, Baseline):
            variants = [loaded]
        else:
            variants = [loaded, through_chat(loaded, self.options.system)]
        for variant in variants:
            if self.how is How.CHOICE:
                yield choice_model(variant)
            else:
                yield (
                    generated_model(variant, self.sampling) if self.how is How.GENERATE else variant
                )

    def _on_cluster(self, model: str | Model) -> Iterator[Model]:
        """The same models, on a Ray cluster. A baseline is no work, and stays here."""
        here = replace(
            self, options=replace(self.options, engine=Engine.LOCAL), progress=no_progress
        )
        if isinstance(model, Model):
            raise UserError(
                f"'{model.name}' is loaded here: give a model's name, so that each worker can load "
                "it."
            )
        if _is_baseline(model):
            yield from here._answering(model)
            return
        for number in range(1 + self.both):
            copies = ClusterModel(partial(_variant, here, model, number), self.options.workers)
            try:
                yield copies
            finally:
                copies.close()

    def _probes(self, model: str | Model, tasks: Sequence[Task]) -> Iterator[tuple[Model, Task]]:
        """One probe per task and seed; a baseline, which needs no training, is asked the same
        questions."""
        as_question = self.how is How.LINEAR_QUESTION
        # before anything is encoded
        splits = [linear_task(task, as_question=as_question).splits() for task in tasks]
        if isinstance(model, str) and _is_baseline(model):
            baseline = load_model(model, self.options)
            yield from ((baseline, parts["test"]) for parts in splits)
            return
        vectors = self._vectors(model)
        for parts in splits:
            with self.progress(
                f"{vectors.encoder.name} · {parts['test'].name}: training texts", "texts"
            ) as advance:
                probes = [train_probe(vectors, parts, seed=0, progress=advance)]
            probes += [train_probe(vectors, parts, seed=seed) for seed in range(1, self.seeds)]
            yield from ((probe, parts["test"]) for probe in probes)

    def learning_curve(self, model: str | Model, tasks: Sequence[Task]) -> Iterator[list[Point]]:
        """What probes learn from parts of the training questions, task by task."""
        splits = [linear_task(task).splits() for task in tasks]
        vectors = self._vectors(model)
        for parts in splits:
            title = f"{vectors.encoder.name} · {parts['test'].name}"
            with self.progress(f"{title}: texts", "texts") as advance:
                vectors.rows(
                    [text for part in _in_order(parts) for text in probe_texts(part)], advance
                )
            with self.progress(
                f"{title}: {len(FRACTIONS) * self.seeds} probes", "probes"
            ) as advance:
                yield curve(vectors, parts, seeds=range(self.seeds), progress=advance)

    def layer_curves(
        self,
        model: str | Model,
        tasks: Sequence[Task],
        settings: Settings,
        output: Path,
        layers: str,
        *,
        control: bool,
    ) -> Iterator[LayerCurve]:
        """Figures layer by layer, task by task: of probes, or of the answers that a logit lens
        reads."""
        if self.how is How.LINEAR:
            splits = [linear_task(task).splits() for task in tasks]
            if isinstance(model, Model):
                encoder = model
            else:
                encoder = load_encoder(model, self.options)
            cache = LayerCache(encoder)
            for parts in splits:
                yield probe_layers(
                    cache,
                    parts,
                    settings,
                    layers=layers,
                    seeds=self.seeds,
                    control=control,
                    progress=self.progress,
                )
            return
        if self.how is not How.CLOZE:
            raise UserError(
                "--layers goes with --how linear, or cloze for the logit lens, not with "
                f"{self.how}."
            )
        (answering,) = self._answering(model)
        for task in tasks:
            with self.progress(f"{answering.name} · {task.name}: layers", "prompts") as advance:
                yield lens(answering, task, output, settings, layers, advance)

    def _vectors(self, model: str | Model) -> VectorCache:
        return VectorCache(model if isinstance(model, Model) else load_encoder(model, self.options))


def _in_order(splits: Mapping[str, Task]) -> list[Task]:
    return [splits[name] for name in ("train", "validation", "test")]


def _variant(asker: Asker, model: str, number: int) -> Model:
    return list(asker._answering(model))[number]


def _is_baseline(name: str) -> bool:
    return name.startswith("baseline:")


def with_categories(tasks: Sequence[Task], encoder: str, options: ModelOptions) -> list[Task]:
    """The tasks about single things with a category for each thing that has none, found by a
    sentence encoder."""
    from seesay.tasks.categories import tagged

    def is_about_single_things(task: Task) -> bool:
        return "object" in task.questions[0].fields

    if not any(map(is_about_single_things, tasks)):
        raise UserError("--categories goes with tasks about single things, such as viphy-color.")
    encode = load_encoder(encoder, replace(options, revision=None)).encode
    return [tagged(task, encode) if is_about_single_things(task) else task for task in tasks]
