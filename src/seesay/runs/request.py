"""What a user asks for, as the models and tasks that are asked: one pair for every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from seesay.cluster import Engine
from seesay.condition import GREEDY, How, PictureKind, Sampling, StandIn, label
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, ModelSource, load_model, through_chat
from seesay.models.baselines import Baseline
from seesay.models.cluster_model import ClusterModel
from seesay.models.deferred import load_when_asked
from seesay.models.encoders import load_encoder
from seesay.models.wrapped import under_condition
from seesay.probes.choice import choice_model, choice_task
from seesay.probes.generated import generated_model
from seesay.probes.linear import linear_task, train_probe
from seesay.probes.qa import qa_model, qa_task
from seesay.probes.shots import with_shots
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.probes.tuned import tune_model
from seesay.probes.vector_cache import VectorCache
from seesay.progress import ProgressBars, no_progress
from seesay.questions import Task

Pair = tuple[Model, Task]
"""A model under its condition, with a task as it is asked under it."""


@dataclass(frozen=True)
class Request:
    """The conditions under which models are asked: `both` with and without their chat templates;
    with so many `shots` (in-context examples), drawn once for each of `shot_seeds` seeds; free
    answers by `sampling`; probes trained with so many `seeds`; beside each of `pictures`, a random
    one drawn once for each of `picture_seeds` seeds, made of `regions` for models that see those
    alone."""

    how: How = How.CLOZE
    options: ModelOptions = field(default_factory=ModelOptions)
    seeds: int = 1
    progress: ProgressBars = no_progress
    both: bool = False
    shots: int = 0
    shot_seeds: int = 1
    sampling: Sampling = GREEDY
    pictures: tuple[PictureKind | None, ...] = (None,)
    picture_seeds: int = 1
    regions: Path | None = None

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
        if any(self.pictures) and (self.how.trains or self.shots):
            raise UserError("--picture is for questions that are asked without examples.")
        if self.picture_seeds != 1 and PictureKind.RANDOM not in self.pictures:
            raise UserError(
                "--picture-seeds counts draws of a random picture: add --picture random."
            )
        if self.picture_seeds < 1:
            raise UserError("--picture-seeds is a number of draws.")

    @property
    def stand_ins(self) -> list[StandIn | None]:
        """The pictures beside which questions are asked; None for none."""
        stand_ins: list[StandIn | None] = []
        for kind in self.pictures:
            if kind is None:
                stand_ins.append(None)
                continue
            seeds = self.picture_seeds if kind is PictureKind.RANDOM else 1
            stand_ins += [StandIn(kind, seed, self.regions) for seed in range(seeds)]
        return stand_ins


def validate_names(
    request: Request,
    names: Sequence[str],
) -> None:
    """Reject a name that cannot be a model's before any model is asked."""
    for name in names:
        if not name.strip() or not name.isprintable():
            raise UserError(f"{name!r} is not a model's name: `seesay models` lists some.")
        source = ModelSource.parse(name, request.options)
        # a baseline needs no vectors, but a learning curve has no place for one
        asks_baseline = is_baseline(name) and request.how is not How.LEARNING_CURVE
        if request.how.trains and not asks_baseline:
            source.validate_encoder()


def refuse_unknown(request: Request, names: Sequence[str]) -> None:
    """Refuse names of which one is known to stand for no model, before any of them is asked.

    One name alone is refused when it is loaded.
    """
    if len(names) > 1:
        for name in names:
            ModelSource.parse(name, request.options).validate()


def expand(
    request: Request,
    model: str | Model,
    tasks: Sequence[Task],
) -> Iterator[Pair]:
    """Yield the model under every condition of the request, with each task as it is asked."""
    if request.how in (How.LINEAR, How.LINEAR_QUESTION):
        yield from _probes(request, model, tasks)
        return
    if request.how is How.QA_TRAINED:
        yield from _tuned_models(request, model, tasks)
        return
    _validate_pictures(request, tasks)
    put = _PUT.get(request.how, _as_it_is)
    put_tasks = [put(task) for task in tasks]
    # before a model is loaded: a task with too few examples is refused at once
    draws = [_with_examples(request, task) for task in put_tasks]
    for answering in _answering_models(request, model):
        if isinstance(answering, Baseline):
            for task, put_task in zip(tasks, put_tasks, strict=True):
                yield _baseline_on(answering, request.how, task), put_task
        elif request.shots:
            for task_draws in draws:
                for seed, task in enumerate(task_draws):
                    yield (
                        under_condition(
                            answering,
                            shots=request.shots,
                            shot_seed=seed,
                        ),
                        task,
                    )
        else:
            for task in put_tasks:
                yield answering, task


def _validate_pictures(
    request: Request,
    tasks: Sequence[Task],
) -> None:
    """Reject tasks with pictures of their own where another one is to be shown."""
    for task in tasks:
        has_pictures = any(question.picture is not None for question in task.questions)
        if has_pictures and any(request.pictures):
            raise UserError(
                f"The questions of {task.name} have pictures of their own: leave out --picture."
            )


def _as_it_is(task: Task) -> Task:
    return task


_PUT: dict[How, Callable[[Task], Task]] = {
    How.CHOICE: choice_task,
    How.GENERATE: without_vocabulary_metrics,
    How.QA: qa_task,
}
"""Turns a task into what is asked of it."""


def _with_examples(
    request: Request,
    task: Task,
) -> list[Task]:
    """The task with each draw of in-context examples; none where none are wanted."""
    if not request.shots:
        return []
    return [with_shots(task, request.shots, seed) for seed in range(request.shot_seeds)]


def _baseline_on(
    baseline: Baseline,
    how: How,
    task: Task,
) -> Model:
    """The baseline as it is asked: it weighs options in a blank, unless the task has templates of
    their own for a choice."""
    if how is How.CHOICE and task.choice_templates:
        return under_condition(baseline, how=how)
    return baseline


def _answering_models(
    request: Request,
    model: str | Model,
) -> Iterator[Model]:
    """The models that answer, here or on a cluster. A baseline is no work, and stays here."""
    if request.options.engine != Engine.RAY:
        yield from _variants(request, model)
        return
    if isinstance(model, Model):
        raise UserError(
            f"'{model.name}' is loaded here: give a model's name, so that each worker can load it."
        )
    local_options = replace(request.options, engine=Engine.LOCAL)
    # what shows progress here cannot be sent to a worker
    local = replace(request, options=local_options, progress=no_progress)
    if is_baseline(model):
        yield from _variants(local, model)
        return
    for number in range((1 + request.both) * len(request.stand_ins)):
        copies = ClusterModel(partial(_variant, local, model, number), request.options.workers)
        try:
            yield copies
        finally:
            copies.close()


def _variant(
    request: Request,
    model: str,
    number: int,
) -> Model:
    return list(_variants(request, model))[number]


def _note_idle_chat(request: Request, model: Model) -> None:
    """Note where the chat template was asked for and changes nothing."""
    if isinstance(model, Baseline) and (request.both or request.options.chat):
        model.note(f"'{model.name}' is a rule that reads no text: --chat changes nothing.")


def _variants(
    request: Request,
    model: str | Model,
) -> Iterator[Model]:
    """The model beside each picture; where both are wanted without and with its chat template."""
    options = replace(request.options, generates=request.how in (How.GENERATE, How.QA))
    if request.both:
        options = replace(options, chat=False, system=None)
    if isinstance(model, Model):
        loaded = model
    else:
        loaded = load_when_asked(model, options)
    _note_idle_chat(request, loaded)
    if options.chat:
        variants = [through_chat(loaded, options.system)]
    elif request.both and not isinstance(loaded, Baseline):
        variants = [loaded, through_chat(loaded, request.options.system)]
    else:
        variants = [loaded]
    for variant in variants:
        for shown in _beside_pictures(request, variant):
            if request.how is How.CHOICE:
                yield choice_model(shown)
            elif request.how is How.GENERATE:
                yield generated_model(shown, request.sampling)
            elif request.how is How.QA:
                yield qa_model(shown, request.sampling)
            else:
                yield shown


def _beside_pictures(
    request: Request,
    model: Model,
) -> Iterator[Model]:
    """The model beside each picture of the request. A baseline looks at none, and is asked once."""
    if isinstance(model, Baseline):
        yield model
        return
    for stand_in in request.stand_ins:
        yield model if stand_in is None else model.with_picture(stand_in)


def answering_model(
    request: Request,
    model: str | Model,
) -> Model:
    """Return the one model that a request without `both` asks."""
    (answering,) = _variants(request, model)
    return answering


def _probes(
    request: Request,
    model: str | Model,
    tasks: Sequence[Task],
) -> Iterator[Pair]:
    """One probe per task and seed; a baseline, which needs no training, is asked the same
    questions."""
    as_question = request.how is How.LINEAR_QUESTION
    # before anything is encoded: a task without training questions is refused at once
    splits = [linear_task(task, as_question=as_question).splits() for task in tasks]
    if isinstance(model, str) and is_baseline(model):
        yield from _baselines(request, model, splits)
        return
    vectors = load_vectors(request, model)
    for parts in splits:
        title = f"{progress_title(vectors.encoder, parts['test'])}: training texts"
        # the first probe encodes the texts, and all of them are trained before one is asked
        with request.progress(title, "texts") as advance:
            probes = [
                train_probe(
                    vectors,
                    parts,
                    how=request.how,
                    seed=0,
                    progress=advance,
                )
            ]
        for seed in range(1, request.seeds):
            probes.append(
                train_probe(
                    vectors,
                    parts,
                    how=request.how,
                    seed=seed,
                )
            )
        for probe in probes:
            yield probe, parts["test"]


def _baselines(
    request: Request,
    name: str,
    splits: Sequence[Mapping[str, Task]],
) -> Iterator[Pair]:
    """A baseline, which needs no training, with the questions that trained models are asked."""
    baseline = under_condition(load_model(name, request.options), how=request.how)
    for parts in splits:
        yield baseline, parts["test"]


def _tuned_models(
    request: Request,
    model: str | Model,
    tasks: Sequence[Task],
) -> Iterator[Pair]:
    """One model with a tuned head per task and seed."""
    splits = [qa_task(task, trained=True).splits() for task in tasks]
    if isinstance(model, str) and is_baseline(model):
        yield from _baselines(request, model, splits)
        return
    loaded = load_model(model, request.options) if isinstance(model, str) else model
    for parts in splits:
        for seed in range(request.seeds):
            title = f"{progress_title(loaded, parts['test'])}: tuning, seed {seed}"
            with request.progress(title, "epochs") as advance:
                tuned = tune_model(
                    loaded,
                    parts,
                    request.sampling,
                    seed=seed,
                    progress=advance,
                )
            yield tuned, parts["test"]


def load_vectors(
    request: Request,
    model: str | Model,
) -> VectorCache:
    """Return the vectors of the model, which is loaded as an encoder if it is a name."""
    if isinstance(model, Model):
        return VectorCache(model)
    return VectorCache(load_encoder(model, request.options))


def progress_title(
    model: Model,
    task: Task,
) -> str:
    """Return what a progress line says: who is asked what."""
    return f"{label(model.name, model.condition)} · {task.name}"


def is_baseline(name: str) -> bool:
    """Whether a model's name is that of a baseline."""
    return name.startswith("baseline:")
