"""seesay: how much of the visible world does a model know?

Names are imported when they are first used, so that `import seesay` and `seesay --help` answer at
once. Instruments add functions of their own (`Plugin.functions`): `seesay.mine`,
`seesay.make_scenes`, `seesay.score_captions`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from seesay.api import Results, compare, encode, load_model, load_task, probe, report, score

__all__ = [
    "Results",
    "__version__",
    "compare",
    "encode",
    "load_model",
    "load_task",
    "probe",
    "report",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("seesay.api"), name)
    # A module of ours is about to be imported by its name, or a protocol looks for one of Python's
    # own attributes: neither is a plug-in's function, and looking for one would import every
    # plug-in.
    is_module = name.startswith("_") or find_spec(f"seesay.{name}") is not None
    address = None if is_module else _functions().get(name)
    if address is None:
        raise AttributeError(f"module 'seesay' has no attribute '{name}'")
    from seesay.command_line import errors_in_callers_words
    from seesay.registry import load_address

    return errors_in_callers_words()(load_address(address))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_functions()})


def _functions() -> dict[str, str]:
    from seesay.plugins import collect

    return collect(lambda plugin: plugin.functions)
