"""Figures layer by layer: of linear probes with their control task, and of the answers that a logit
lens reads."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

import seesay
from seesay import metrics
from seesay.errors import UserError
from seesay.files import json_value
from seesay.metrics import FloatArray, Resamples, ScoredItems
from seesay.metrics.bootstrap import not_degenerate, present, summarise
from seesay.metrics.paired import difference
from seesay.probes.layers import control_splits, layer_logps, shares_things
from seesay.probes.linear import gold_matrix, probe_texts
from seesay.probes.vector_cache import LayerCache
from seesay.progress import ProgressBars
from seesay.questions import Task
from seesay.runs.ask import Settings, limited

log = logging.getLogger(__name__)

ALL = "all"


@dataclass(frozen=True)
class LayerFigure:
    """The headline figure at one layer, averaged over seeds (probes) or templates (lens), with its
    95 % interval.

    `control` is the same probe's figure where labels mean nothing, `selectivity` the difference, on
    the same resamples.
    """

    model: str
    task: str
    metric: str
    layer: int
    value: float
    low: float
    high: float
    spread: float | None
    chance: float | None
    n: int
    signature: str
    control: float | None = None
    selectivity: float | None = None
    selectivity_low: float | None = None
    selectivity_high: float | None = None


@dataclass(frozen=True)
class LensAnswer:
    """A question in one template: the probability of each option, among the options, by layer.

    `takeover` is the layer from which on a gold option stays ahead to the last one, and `rival`
    what was ahead before it; both None where no gold option is ahead in the end.
    """

    question: str
    template: str
    text: str
    options: tuple[str, ...]
    gold: str
    probabilities: tuple[tuple[float, ...], ...]
    takeover: int | None
    rival: str | None


@dataclass(frozen=True)
class LayerCurve:
    """All layers of one model on one task, by `linear` probes or the logit `lens`; `kept` are the
    bytes of the vectors behind it, `answers` those of a lens, and `notes` what a reader should
    know."""

    how: str
    figures: tuple[LayerFigure, ...]
    kept: int = 0
    answers: tuple[LensAnswer, ...] = ()
    notes: tuple[str, ...] = ()


def curves_json(curves: Sequence[LayerCurve]) -> list[dict[str, object]]:
    """For a file or `--json`."""
    return [json_value(asdict(curve)) for curve in curves]


def chosen_layers(text: str, count: int) -> list[int]:
    """The layers that `--layers` names: all, or some by number, from 0 (the embedding) or from the
    end (-1)."""
    if text == ALL:
        return list(range(count))
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--layers is '{text}': give all, or numbers such as 0,6,-1.") from None
    for number in numbers:
        if not -count <= number < count:
            raise UserError(
                f"--layers names layer {number}: there are {count}, 0 (the embedding) to "
                f"{count - 1}."
            )
    return sorted({number % count for number in numbers})


def probe_layers(
    cache: LayerCache,
    splits: Mapping[str, Task],
    settings: Settings,
    *,
    layers: str = ALL,
    seeds: int = 1,
    control: bool = True,
    progress: ProgressBars,
) -> LayerCurve:
    """Probes of the layers on the splits of `linear_task(task)`, and of their control task."""
    parts = dict(splits)
    if settings.limit is not None:
        parts["test"] = limited(parts["test"], settings.limit, settings.seed)
    test = parts["test"]
    texts = [text for name in ("train", "validation", "test") for text in probe_texts(parts[name])]
    title = f"{cache.encoder.name} · {test.name}"
    with progress(f"{title}: texts", "texts") as advance:
        cache.fill(texts, advance)
    kept = cache.size(texts)
    log.info("Kept vectors of %s texts: %s.", f"{len(set(texts)):,}", f"{kept / 1e9:,.2f} GB")
    chosen = chosen_layers(layers, cache.layers(texts))
    tasks = [parts, *([control_splits(parts)] if control else [])]
    stats = []
    for labelled in tasks:
        with progress(
            f"{title}: {'probes' if labelled is parts else 'control probes'}", "probes"
        ) as advance:
            logps = layer_logps(cache, labelled, chosen, seeds=range(seeds), progress=advance)
        stats.append(_statistics(logps, labelled["test"], labelled["train"].labels))
    notes = []
    if control and not shares_things(parts):
        notes.append(
            f"No thing of {test.name}'s test questions occurs in training, so that labels which "
            "mean nothing "
            "cannot be learnt by heart: the control is what guessing gets."
        )
    signature = (
        f"task:{test.name}.{test.version}@{test.fingerprint}|questions:{len(test.questions)}|"
        f"model:{cache.encoder.name}@{cache.encoder.fingerprint}|how:linear|seeds:{seeds}|"
        f"control:{'thing' if control else 'none'}|seed:{settings.seed}|resamples:{settings.resamples}|"
        f"seesay:{seesay.__version__}"
    )
    figures = layer_figures(cache.encoder.name, test, chosen, stats, settings, signature)
    return LayerCurve("linear", tuple(figures), kept, notes=tuple(notes))


def _statistics(logps: FloatArray, task: Task, labels: Sequence[str]) -> list[FloatArray]:
    """The headline metric's statistics, seeds × questions × k, of each layer."""
    metric = metrics.get(task.metrics[0])
    gold = gold_matrix(task.questions, labels).astype(np.float64)
    offered = np.array(
        [[label in question.options for label in labels] for question in task.questions]
    )
    return [
        np.stack(
            [metric.stats(ScoredItems(np.where(offered, logp, np.nan), gold)) for logp in of_layer]
        )
        for of_layer in logps
    ]


def layer_figures(
    model: str,
    task: Task,
    layers: Sequence[int],
    stats: Sequence[Sequence[FloatArray]],
    settings: Settings,
    signature: str,
) -> list[LayerFigure]:
    """A figure for each layer, from its statistics (seeds or templates × questions × k) and those
    of the control."""
    metric = metrics.get(task.metrics[0])
    draw = Resamples(
        [question.object for question in task.questions], settings.resamples, settings.seed
    )
    sums = [[draw.sums(of_layer) for of_layer in of_task] for of_task in stats]
    drawn = draw.values([(each, metric.value) for of_task in sums for each in of_task])
    uniform = ScoredItems(
        np.array(
            [
                [0.0 if label in q.options else np.nan for label in task.labels]
                for q in task.questions
            ]
        ),
        gold_matrix(task.questions, task.labels).astype(np.float64),
    )
    chance = metrics.chance(metric, uniform)
    rows = []
    for place, layer in enumerate(layers):
        objects = present(sums[0][place])
        interval = not_degenerate(summarise(*drawn[place]), objects)
        figure = LayerFigure(
            model=model,
            task=task.name,
            metric=metric.name,
            layer=layer,
            value=interval.value,
            low=interval.low,
            high=interval.high,
            spread=metrics.spread(
                [float(metric.value(part.sum(axis=0))) for part in stats[0][place]]
            ),
            chance=None if np.isnan(chance) else chance,
            n=len(task.questions),
            signature=f"{signature}|metric:{metric.name}|layer:{layer}",
        )
        if len(stats) > 1:
            between = difference(drawn[place], drawn[len(layers) + place], objects=objects)
            figure = replace(
                figure,
                control=between.value_b,
                selectivity=between.difference,
                selectivity_low=between.low,
                selectivity_high=between.high,
            )
        rows.append(figure)
    return rows
