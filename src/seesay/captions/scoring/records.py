"""Measurements as the records that `seesay score` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from seesay.metrics.base import Measurement
from seesay.metrics.bootstrap import Resamples, not_degenerate, too_few


@dataclass(frozen=True, kw_only=True)
class TextRecord:
    """One figure of a system, with its 95 % interval; `slice` is a part of the texts, None for all.

    Fields are those of a run's records (`seesay.runs.records.Record`), so that `--json` prints one
    form.
    """

    model: str
    """The system's name."""
    task: str
    """`captions`, `relevance` or `parses`."""
    metric: str
    template: None = None
    slice: str | None = None
    value: float
    low: float
    high: float
    n: int
    """The number of texts."""
    objects: int
    """The same: every text is an object of its own."""
    too_few: bool
    """Whether there are fewer than ten: the interval may then be too narrow."""
    signature: str
    """How the figure was made."""


@dataclass(frozen=True, kw_only=True)
class TextComparison:
    """Two systems on the same texts; fields are those of `seesay.runs.records.Comparison`."""

    task: str
    metric: str
    slice: None = None
    a: str
    b: str
    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_signflip: float
    p_holm: float
    """The sign-flip test's p-value, adjusted over the metrics."""
    p_mcnemar: None = None
    n: int
    objects: int
    too_few: bool
    signature_a: str
    signature_b: str


def make_records(
    task: str,
    system: str,
    measurements: Sequence[Measurement],
    resamples: Resamples,
    signature: str,
    part: str | None = None,
) -> list[TextRecord]:
    """Return each measurement with its 95 % interval."""
    intervals = resamples.measurements(measurements)
    objects = resamples.clusters.size
    return [
        TextRecord(
            model=system,
            task=task,
            metric=measurement.name,
            slice=part,
            # captions that are all perfect, or all without a match, leave others in doubt
            **asdict(not_degenerate(interval, objects, most=measurement.metric.most)),
            n=len(measurement.statistics),
            objects=objects,
            too_few=too_few(objects),
            signature=signature,
        )
        for measurement, interval in zip(measurements, intervals, strict=True)
    ]


def system_names(sources: Sequence[object]) -> list[str]:
    """Return names of systems: file names without endings.

    Where two would be the same they are whole paths; systems in memory have numbers.
    """
    paths = []
    for i, source in enumerate(sources, 1):
        in_file = isinstance(source, str | Path)
        paths.append(str(source) if in_file else f"system {i}")
    names = []
    for path in paths:
        name = Path(path).name
        names.append(name.removesuffix(".gz").rpartition(".")[0] or name)
    # Two files called captions.json in two folders must not become one system.
    return names if len(set(names)) == len(names) else paths
