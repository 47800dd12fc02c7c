"""seesay: how much of the visible world does a model know?

>>> import seesay
>>> seesay.load_task("core-color").questions[0].gold  # doctest: +ELLIPSIS
{...}

Names are imported when they are first used, so that `import seesay` and `seesay --help` answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_FRONT_DOOR = {
    **dict.fromkeys(("Results", "compare", "load_model", "load_task", "probe", "report"), "seesay.api"),
}

if TYPE_CHECKING:
    from seesay.api import Results, compare, load_model, load_task, probe, report

__all__ = ["Results", "__version__", "compare", "load_model", "load_task", "probe", "report"]


def __getattr__(name: str) -> Any:
    if name not in _FRONT_DOOR:
        raise AttributeError(f"module 'seesay' has no attribute '{name}'")
    return getattr(import_module(_FRONT_DOOR[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_FRONT_DOOR})
