"""Where long work runs: on this machine, or on a Ray cluster."""

from __future__ import annotations

import logging
import os
from enum import StrEnum
from typing import Any

from seesay.errors import UserError, missing_extra

MAX_RESTARTS = 5
"""How often a worker that died is started again."""


class Engine(StrEnum):
    """Where work runs."""

    LOCAL = "local"
    RAY = "ray"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise UserError(f"Unknown engine '{value}': choose {' or '.join(cls)}.")


def start_ray(what: str, workers: int) -> Any:
    """Ray, connected to the cluster of RAY_ADDRESS, or to one of `workers` cores that is started here."""
    try:
        import ray
    except ImportError as error:
        raise missing_extra(what, "mine", error) from error
    if not ray.is_initialized():
        is_local = not os.environ.get("RAY_ADDRESS")
        # "local": one that somebody started on this machine is not ours to join
        local: dict[str, Any] = (
            {"address": "local", "num_cpus": workers, "include_dashboard": False} if is_local else {}
        )
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **local)
    return ray


def worker_resources(ray: Any) -> dict[str, float]:
    """What one worker takes: a core, and a GPU where the cluster has some."""
    return {"num_cpus": 1, "num_gpus": min(1, ray.cluster_resources().get("GPU", 0))}
