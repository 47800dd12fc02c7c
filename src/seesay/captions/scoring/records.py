"""Measurements as the records that `seesay score` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from seesay.metrics.base import Measurement
from seesay.metrics.bootstrap import Resamples


@dataclass(frozen=True, kw_only=True)
class TextRecord:
    """One figure of a system, with its 95 % interval; `slice` is a part of the texts, None for all.

    Fields are those of a run's records (`seesay.runs.records.Record`), so that `--json` prints one
    form.
    """

    model: str
    task: str
    metric: str
    template: None = None
    slice: str | None = None
    value: float
    low: float
    high: float
    n: int
    signature: str


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
    p_mcnemar: None = None
    n: int
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
    """Each measurement with its 95 % interval."""
    return [
        TextRecord(
            model=system,
            task=task,
            metric=measurement.name,
            slice=part,
            **asdict(interval),
            n=len(measurement.statistics),
            signature=signature,
        )
        for measurement, interval in zip(
            measurements, resamples.measurements(measurements), strict=True
        )
    ]


def system_names(sources: Sequence[object]) -> list[str]:
    """File names without endings; whole paths where two would be the same, and numbers for systems
    in memory."""
    paths = [
        source if isinstance(source, str | Path) else f"system {i}"
        for i, source in enumerate(sources, 1)
    ]
    names = [
        Path(path).name.removesuffix(".gz").rpartition(".")[0] or Path(path).name for path in paths
    ]
    if len(set(names)) == len(names):
        return names
    return [str(path) for path in paths]
