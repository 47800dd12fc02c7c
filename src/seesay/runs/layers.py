"""Figures layer by layer: of linear probes with their control task, and of the answers that a logit
lens reads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.condition import Condition, How, label
from seesay.errors import UserError
from seesay.files import MOVE_AWAY, json_value, read_state, write_json
from seesay.metrics import FloatArray, ScoredItems
from seesay.metrics.base import BoolArray
from seesay.metrics.bootstrap import not_degenerate, too_few
from seesay.metrics.paired import paired_bootstrap
from seesay.models.base import Model
from seesay.probes.layers import (
    control_note,
    control_splits,
    layer_logps,
    second_thing_splits,
)
from seesay.probes.linear import LinearProbe, gold_matrix, probe_texts
from seesay.probes.vector_cache import LayerCache
from seesay.progress import ProgressBars
from seesay.quantities import file_size, quantity
from seesay.questions import Task
from seesay.runs.ask import Settings, limit_task, sign
from seesay.runs.figures import resample_questions

log = logging.getLogger(__name__)

ALL = "all"
LAYERS = "layers.json"
"""The file of the curves in a folder of runs."""


@dataclass(frozen=True)
class LayerFigure:
    """The headline figure at one layer, averaged over seeds (probes) or templates (lens), with its
    95 % interval.

    `control` is the same probe's figure where labels mean nothing, `selectivity` the difference, on
    the same resamples; `second_thing` is that of a probe which is shown one of two things alone,
    and `beyond_second` by how much both things give more, on the same resamples too.
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
    second_thing: float | None = None
    beyond_second: float | None = None
    beyond_second_low: float | None = None
    beyond_second_high: float | None = None


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


def read_curves(folder: Path) -> list[LayerCurve]:
    """Return the curves that are kept in a folder; none where there is no file of them."""
    path = folder / LAYERS
    return read_state(path, list[LayerCurve], MOVE_AWAY) if path.is_file() else []


def keep_curves(folder: Path, curves: Sequence[LayerCurve]) -> None:
    """Write curves to the folder beside those that are there; one that was made in the same way is
    replaced."""
    new = {curve.signature for curve in curves}
    others = [curve for curve in read_curves(folder) if curve.signature not in new]
    write_json(folder / LAYERS, curves_json([*others, *curves]))


def parse_layers(
    text: str,
    count: int,
) -> list[int]:
    """Return the layers that `--layers` names: all, or some by number, from 0 (the embedding) or
    from the end (-1)."""
    if text == ALL:
        return list(range(count))
    numbers = parse_numbers(text)
    for number in numbers:
        if not -count <= number < count:
            raise UserError(
                f"--layers names layer {number}: there are {count}, 0 (the embedding) to "
                f"{count - 1}."
            )
    # -1 is the last layer, and the same layer by two names is one
    return sorted({number % count for number in numbers})


def parse_numbers(text: str) -> list[int]:
    """Return the numbers in a list of layers; anything else is a user's mistake."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--layers is '{text}': give all, or numbers such as 0,6,-1.") from None


def validate_layers(text: str, model: Model) -> None:
    """Refuse layers that the model does not have, where that is known before it is asked."""
    count = model.layer_count()
    if count is not None:
        parse_layers(text, count)


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
    validate_layers(layers, cache.encoder)
    parts = dict(splits)
    # a limit saves answers, not training: a probe of fewer questions would be another probe
    test, _ = limit_task(cache.encoder, parts["test"], settings)
    parts["test"] = test
    splits_in_order = [parts[name] for name in ("train", "validation", "test")]
    labelled_splits = {"probes": parts}
    one_thing = None
    if control:
        labelled_splits["control probes"] = control_splits(parts)
        one_thing = second_thing_splits(parts)
    if one_thing:
        labelled_splits["probes of the second thing alone"] = one_thing
        splits_in_order += one_thing.values()
    texts = [text for split in splits_in_order for text in probe_texts(split)]
    encoder = cache.encoder
    title = f"{label(encoder.name, encoder.condition)} · {test.name}"
    # all texts before the first probe, since encoding is what takes the time
    with progress(f"{title}: texts", "texts") as advance:
        cache.fill(texts, advance)
    vector_bytes = cache.size(texts)
    text_count = quantity(len(set(texts)), "text")
    log.info("Kept vectors of %s: %s.", text_count, file_size(vector_bytes))
    numbers = parse_layers(layers, cache.layers(texts))
    stats = []
    # the same probes on labels that mean nothing, and on texts that leave one thing open: what they
    # get is the probe's own doing, or what one thing tells
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
    sums = [resamples.sums(layer_stats) for layer_stats in stats[0]]
    intervals = resamples.intervals(
        [(layer_sums, metric.value) for layer_sums in sums],
        bounds=[metric.bounds] * len(sums),
    )
    chance = _chance(task)
    rows = []
    for place, layer in enumerate(layers):
        objects = resamples.count_objects(sums[place])
        interval = not_degenerate(intervals[place], objects, signed=metric.signed, most=metric.most)
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
            # on the same draws
            between = paired_bootstrap(
                stats[0][place],
                stats[1][place],
                resamples,
                metric.value,
                most=metric.most,
            )
            figure = replace(
                figure,
                control=between.value_b,
                selectivity=between.difference,
                selectivity_low=between.low,
                selectivity_high=between.high,
            )
        if len(stats) > 2:
            between = paired_bootstrap(
                stats[0][place],
                stats[2][place],
                resamples,
                metric.value,
                most=metric.most,
            )
            figure = replace(
                figure,
                second_thing=between.value_b,
                beyond_second=between.difference,
                beyond_second_low=between.low,
                beyond_second_high=between.high,
            )
        rows.append(figure)
    return rows


def _chance(task: Task) -> float | None:
    """The headline figure where all options of a question score alike; None where it has none."""
    scores = np.where(option_matrix(task, task.labels), 0.0, np.nan)
    gold = gold_matrix(task.questions, task.labels).astype(np.float64)
    chance = metrics.chance(metrics.get(task.metrics[0]), ScoredItems(scores, gold))
    return None if np.isnan(chance) else chance
