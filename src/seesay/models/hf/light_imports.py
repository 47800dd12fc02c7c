"""transformers without what asking a model never uses: most of its import are PyTorch's compiler, distributed tensors
and SciPy's optimisers, of which it needs decorators, type checks and the loss of object detectors, and a list of all
installed packages, of which it needs the versions of a few.

Stand-ins take their place; whoever wants more of one gets the real thing."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest import mock

MODULES = ("transformers.modeling_utils", "transformers.generation.utils", "transformers.modeling_layers")


class StandIn(ModuleType):
    """A module that has a few names; with any other one the real module replaces it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and (self.__name__, name) != ("torch._dynamo", "__path__"):  # imports look for these
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


class Distributions(dict[str, list[str]]):
    """Which distributions hold a package: the one of its name, else what a search of all that are installed gives."""

    def __missing__(self, package: str) -> list[str]:
        if not package.startswith("flash_attn"):  # which has several
            try:
                return [importlib.metadata.distribution(package).name]
            except importlib.metadata.PackageNotFoundError:
                pass
        return _all_distributions()[package]

    def get(self, package: str, default: Any = None) -> Any:
        """As for any mapping."""
        try:
            return self[package]
        except KeyError:
            return default


_packages_distributions = importlib.metadata.packages_distributions


@cache
def _all_distributions() -> Mapping[str, list[str]]:
    return _packages_distributions()


def import_transformers() -> ModuleType:
    """transformers, with its base class of models."""
    import torch

    # transformers remembers the answer: no distributed tensors, unless torchrun started this process
    distributed = torch.distributed.is_available() and "WORLD_SIZE" in os.environ
    with (
        without_compiler(),
        mock.patch.object(torch.distributed, "is_available", return_value=distributed),
        mock.patch.object(importlib.metadata, "packages_distributions", Distributions),
    ):
        for name in MODULES:
            importlib.import_module(name)
    return importlib.import_module("transformers")


@contextmanager
def without_compiler() -> Iterator[None]:
    """Leave PyTorch's compiler out of what marks functions for it: imports, operations on tensors without memory."""
    compiler = StandIn("torch._dynamo")
    vars(compiler).update(dict.fromkeys(("allow_in_graph", "assume_constant_result", "disable"), _unchanged))
    vmap = StandIn("torch._dynamo._trace_wrapped_higher_order_op")
    vars(vmap).update(TransformGetItemToIndex=lambda: vmap.__getattr__("TransformGetItemToIndex")())
    assignment = StandIn("scipy.optimize")
    vars(assignment).update(
        linear_sum_assignment=lambda *costs: assignment.__getattr__("linear_sum_assignment")(*costs)
    )
    absent = [module for module in (compiler, vmap, assignment) if module.__name__ not in sys.modules]
    sys.modules.update({module.__name__: module for module in absent})
    try:
        yield
    finally:
        for module in absent:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]


def _unchanged(function: Any = None, *_: object, **__: object) -> Any:
    """A mark for the compiler, which is never started here."""
    return function if callable(function) else lambda marked: marked
