"""Measurements as the records that every command prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.metrics.base import Measurement
from seesay.metrics.bootstrap import Resamples
from seesay.questions import Slice
from seesay.runs.records import Record


def make_records(
    task: str,
    system: str,
    measurements: Sequence[Measurement],
    resamples: Resamples,
    signature: str,
    part: str | None = None,
) -> list[Record]:
    """Each measurement with its 95 % interval."""
    return [
        Record(
            model=system, task=task, metric=measurement.name, template=None, value=interval.value, low=interval.low,
            high=interval.high, n=len(measurement.statistics), signature=signature,
            slice=Slice.parse(part) if part else None,
        )
        for measurement, interval in zip(measurements, resamples.measurements(measurements), strict=True)
    ]  # fmt: skip


def system_names(sources: Sequence[object]) -> list[str]:
    """File names without endings; whole paths where two would be the same, and numbers for systems in memory."""
    paths = [source if isinstance(source, str | Path) else f"system {i}" for i, source in enumerate(sources, 1)]
    names = [Path(path).name.removesuffix(".gz").rpartition(".")[0] or Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]
