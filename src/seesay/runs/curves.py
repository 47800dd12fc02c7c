"""Figures along an axis, for a request: over parts of the training questions, or layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from seesay.condition import How
from seesay.errors import UserError
from seesay.models import Model
from seesay.models.encoders import load_encoder
from seesay.probes.linear import linear_task, probe_texts
from seesay.probes.linear_layer import ProbeConfig
from seesay.probes.vector_cache import LayerCache
from seesay.questions import Task
from seesay.runs.ask import Settings
from seesay.runs.layers import ALL, LayerCurve, parse_numbers, probe_layers
from seesay.runs.learning_curve import FRACTIONS, Point, curve
from seesay.runs.lens import lens
from seesay.runs.request import Request, answering_model, load_vectors, progress_title

SPLITS = ("train", "validation", "test")


def learning_curves(
    request: Request,
    model: str | Model,
    tasks: Sequence[Task],
    *,
    fractions: Sequence[float] = FRACTIONS,
    config: ProbeConfig | None = None,
) -> Iterator[list[Point]]:
    """Yield what probes learn from parts of the training questions, task by task."""
    config = config or ProbeConfig()
    read_splits = [name for name in SPLITS if config.validation or name != "validation"]
    # before the encoder is loaded: a task without training questions is refused at once
    splits = [linear_task(task).splits() for task in tasks]
    vectors = load_vectors(request, model)
    for parts in splits:
        title = progress_title(vectors.encoder, parts["test"])
        texts = [text for name in read_splits for text in probe_texts(parts[name])]
        # every probe reads these vectors: encoded once, they are read from the disk
        with request.progress(f"{title}: texts", "texts") as advance:
            vectors.fill(texts, advance)
        probes = len(fractions) * request.seeds
        with request.progress(f"{title}: {probes} probes", "probes") as advance:
            yield curve(
                vectors,
                parts,
                fractions=fractions,
                seeds=range(request.seeds),
                config=config,
                progress=advance,
            )


def layer_curves(
    request: Request,
    model: str | Model,
    tasks: Sequence[Task],
    settings: Settings,
    output: Path,
    layers: str,
    *,
    control: bool,
) -> Iterator[LayerCurve]:
    """Yield figures layer by layer, task by task: of probes, or of the answers that a logit lens
    reads."""
    # before a model is loaded
    if layers != ALL:
        parse_numbers(layers)
    if request.how is How.LINEAR:
        splits = [linear_task(task).splits() for task in tasks]
        if isinstance(model, Model):
            cache = LayerCache(model)
        else:
            cache = LayerCache(load_encoder(model, request.options))
        for parts in splits:
            yield probe_layers(
                cache,
                parts,
                settings,
                layers=layers,
                seeds=request.seeds,
                control=control,
                progress=request.progress,
            )
        return
    if request.how is not How.CLOZE:
        raise UserError(
            f"--layers goes with --how linear, or cloze for the logit lens, not with {request.how}."
        )
    answering = answering_model(request, model)
    for task in tasks:
        title = f"{progress_title(answering, task)}: layers"
        with request.progress(title, "prompts") as advance:
            yield lens(
                answering,
                task,
                output,
                settings,
                layers,
                advance,
            )
