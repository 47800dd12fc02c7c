"""seesay: how much of the visible world does a model know?

Names are imported when they are first used, so that `import seesay` and `seesay --help` answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("Results", "compare", "load_model", "load_task", "perplexity", "probe", "report"), "seesay.api"),
    **dict.fromkeys(("score_captions", "score_parses"), "seesay.captions.scoring"),
    "make_scenes": "seesay.scenes",
    "mine": "seesay.mining.pipeline",
}

if TYPE_CHECKING:
    from seesay.api import Results, compare, load_model, load_task, perplexity, probe, report
    from seesay.captions.scoring import score_captions, score_parses
    from seesay.mining.pipeline import mine
    from seesay.scenes import make_scenes

__all__ = [
    "Results", "__version__", "compare", "load_model", "load_task", "make_scenes", "mine", "perplexity", "probe",
    "report", "score_captions", "score_parses",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seesay' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
