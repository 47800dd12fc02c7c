"""Figures layer by layer: of linear probes with their control task, and of the answers that a logit
lens reads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from seesay import metrics
from seesay.condition import Condition, How, label
from seesay.errors import UserError
from seesay.files import json_value
from seesay.metrics import FloatArray, ScoredItems
from seesay.metrics.base import BoolArray
from seesay.metrics.bootstrap import not_degenerate, present, summarise, too_few, widen
from seesay.metrics.paired import difference
from seesay.probes.layers import control_note, control_splits, layer_logps
from seesay.probes.linear import LinearProbe, gold_matrix, probe_texts
from seesay.probes.vector_cache import LayerCache
from seesay.progress import ProgressBars
from seesay.questions import Task
from seesay.runs.ask import Settings, limit_task, sign
from seesay.runs.figures import resample_questions

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
    objects: int
    too_few: bool
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
    """All layers of one model on one task, by `linear` probes or the logit `lens`.

    Its signature names no layer. `vector_bytes` is the size of the vectors behind it, `answers`
    are those of a lens, and `notes` what a reader should know.
    """

    how: str
    figures: tuple[LayerFigure, ...]
    signature: str
    vector_bytes: int = 0
    answers: tuple[LensAnswer, ...] = ()
    notes: tuple[str, ...] = ()


def curves_json(
    curves: Sequence[LayerCurve],
) -> list[dict[str, object]]:
    """Return the curves for a file or `--json`."""
    return [json_value(asdict(curve)) for curve in curves]


def parse_layers(
    text: str,
    count: int,
) -> list[int]:
    """Return the layers that `--layers` names: all, or some by number, from 0 (the embedding) or
    from the end (-1)."""
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
    # -1 is the last layer, and the same layer by two names is one
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
    """Return figures of probes on the splits of `linear_task(task)`, and of their control task."""
    parts = dict(splits)
    # a limit saves answers, not training: a probe of fewer questions would be another probe
    parts["test"] = limit_task(cache.encoder, parts["test"], settings)
    test = parts["test"]
    splits_in_order = [parts[name] for name in ("train", "validation", "test")]
    texts = [text for split in splits_in_order for text in probe_texts(split)]
    encoder = cache.encoder
    title = f"{label(encoder.name, encoder.condition)} · {test.name}"
    # all texts before the first probe, since encoding is what takes the time
    with progress(f"{title}: texts", "texts") as advance:
        cache.fill(texts, advance)
    vector_bytes = cache.size(texts)
    log.info(
        "Kept vectors of %s texts: %s.",
        f"{len(set(texts)):,}",
        f"{vector_bytes / 1e9:,.2f} GB",
    )
    numbers = parse_layers(layers, cache.layers(texts))
    labelled_splits = {"probes": parts}
    if control:
        labelled_splits["control probes"] = control_splits(parts)
    stats = []
    # the same probes on labels that mean nothing: what they get is the probe's own doing
    for name, labelled in labelled_splits.items():
        with progress(f"{title}: {name}", "probes") as advance:
            logps = layer_logps(
                cache,
                labelled,
                numbers,
                seeds=range(seeds),
                progress=advance,
            )
        stats.append(_statistics(logps, labelled["test"], labelled["train"].labels))
    note = control_note(parts) if control else ""
    details = (f"seeds:{seeds}", f"control:{'thing' if control else 'none'}")
    condition = Condition(
        how=How.LINEAR,
        scope=LinearProbe.scope,
        length=settings.length,
    )

    def sign_layer(layer: int | None) -> str:
        return sign(
            encoder,
            test,
            settings,
            condition.replace(layer=layer),
            details,
        )

    figures = layer_figures(
        encoder.name,
        test,
        numbers,
        stats,
        settings,
        sign_layer,
    )
    return LayerCurve(
        How.LINEAR,
        tuple(figures),
        sign_layer(None),
        vector_bytes,
        notes=(note,) if note else (),
    )


def _statistics(
    logps: FloatArray,
    task: Task,
    labels: Sequence[str],
) -> list[FloatArray]:
    """The headline metric's statistics, seeds × questions × k, of each layer."""
    metric = metrics.get(task.metrics[0])
    gold = gold_matrix(task.questions, labels).astype(np.float64)
    offered = option_matrix(task, labels)
    stats = []
    for by_seed in logps:
        # a probe scores every label: those that a question does not offer are none of its options
        items = [
            ScoredItems(
                np.where(offered, logp, np.nan),
                gold,
            )
            for logp in by_seed
        ]
        stats.append(np.stack(list(map(metric.stats, items))))
    return stats


def option_matrix(
    task: Task,
    labels: Sequence[str],
) -> BoolArray:
    """Return which labels each question offers, one row per question."""
    rows = []
    for question in task.questions:
        rows.append([label in question.options for label in labels])
    return np.array(rows)


def layer_figures(
    model: str,
    task: Task,
    layers: Sequence[int],
    stats: Sequence[Sequence[FloatArray]],
    settings: Settings,
    sign_layer: Callable[[int], str],
) -> list[LayerFigure]:
    """Return a figure for each layer, from its statistics (seeds or templates × questions × k) and
    those of the control."""
    metric = metrics.get(task.metrics[0])
    resamples = resample_questions(task.questions, settings.resamples, settings.seed)
    # the layers of the task, then those of its control, if there is one: resampled together, so
    # that their difference is on the same draws
    sums = [resamples.sums(layer_stats) for task_stats in stats for layer_stats in task_stats]
    values = resamples.values([(layer_sums, metric.value) for layer_sums in sums])
    chance = _chance(task)
    rows = []
    for place, layer in enumerate(layers):
        present_objects = present(sums[place])
        point, resampled = values[place]
        widening = resamples.widening(sums[place], metric.value)
        summary = summarise(point, widen(point, resampled, widening))
        interval = not_degenerate(summary, present_objects, signed=metric.signed)
        objects = resamples.count_objects(sums[place])
        repeats = [float(metric.value(part.sum(axis=0))) for part in stats[0][place]]
        figure = LayerFigure(
            model=model,
            task=task.name,
            metric=metric.name,
            layer=layer,
            value=interval.value,
            low=interval.low,
            high=interval.high,
            spread=metrics.spread(repeats),
            chance=chance,
            n=len(task.questions),
            objects=objects,
            too_few=too_few(objects),
            signature=f"{sign_layer(layer)}|metric:{metric.name}",
        )
        if len(stats) > 1:
            control_place = len(layers) + place
            apart = resamples.widening(sums[place], metric.value, minus=sums[control_place])
            between = difference(
                values[place],
                values[control_place],
                objects=present_objects,
                widening=apart,
            )
            figure = replace(
                figure,
                control=between.value_b,
                selectivity=between.difference,
                selectivity_low=between.low,
                selectivity_high=between.high,
            )
        rows.append(figure)
    return rows


def _chance(task: Task) -> float | None:
    """The headline figure where all options of a question score alike; None where it has none."""
    scores = np.where(option_matrix(task, task.labels), 0.0, np.nan)
    gold = gold_matrix(task.questions, task.labels).astype(np.float64)
    chance = metrics.chance(metrics.get(task.metrics[0]), ScoredItems(scores, gold))
    return None if np.isnan(chance) else chance
