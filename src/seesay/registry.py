"""Names to things, imported only when asked for, so that listing them costs nothing.

Other packages add their own through an entry-point group:

    [project.entry-points."seesay.tasks"]
    my-task = "my_package.tasks:load"
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from seesay.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def unknown(kind: str, name: str, names: Iterable[str], listing: str) -> UserError:
    """The error for a name that nobody has, with the names that look like it."""
    near = _near(name, names)
    hint = f" Did you mean {near}?" if near else ""
    return UserError(f"Unknown {kind} '{name}'.{hint} `{listing}` lists them all.")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.55) -> str:
    """The names that look like an unknown one, to be put behind it.

    >>> did_you_mean("optoins", ["options", "gold"])
    " (did you mean 'options'?)"
    """
    near = _near(name, names, cutoff)
    return f" (did you mean {near}?)" if near else ""


def _near(name: str, names: Iterable[str], cutoff: float = 0.55) -> str:
    lowered = {each.lower(): each for each in names}
    return " or ".join(
        f"'{lowered[match]}'" for match in difflib.get_close_matches(name.lower(), lowered, n=2, cutoff=cutoff)
    )


def load_address(address: str) -> Any:
    """Import what stands at "module:attribute"."""
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


class Registry(Generic[T]):
    """Built-in "module:attribute" addresses by name, and those that installed packages add.

    A built-in name cannot be taken over by another package: results carry that name.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str], group: str, listing: str) -> None:
        self.kind = kind
        self.builtin = dict(builtin)
        self.group = group
        self.listing = listing

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points

        points: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: (point.name, _package(point))):
            if point.name not in self.builtin:
                points.setdefault(point.name, point)
        return points

    def names(self) -> list[str]:
        """Every name: the built-in ones in their own order, then the others by alphabet."""
        return [*self.builtin, *self._added]

    def package(self, name: str) -> str:
        """The package that brings a name."""
        return "seesay" if name in self.builtin else _package(self._added[name])

    def load(self, name: str) -> T:
        """Import what stands behind a name."""
        if name in self.builtin:
            loaded: T = load_address(self.builtin[name])
            return loaded
        if name not in self._added:
            raise unknown(self.kind, name, self.names(), self.listing)
        point = self._added[name]
        try:
            added: T = point.load()
        except Exception as error:  # whatever another package does on import, its name belongs in the message
            raise UserError(
                f"The {self.kind} '{name}' comes from the package '{_package(point)}', which could not be loaded "
                f"({type(error).__name__}: {error}). Update that package or uninstall it."
            ) from error
        return added


def _package(point: EntryPoint) -> str:
    name = point.dist.metadata["Name"] if point.dist else None
    return str(name or "unknown")
