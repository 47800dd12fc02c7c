"""Names to things, imported only when asked for, so that listing them costs nothing."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

from seesay.errors import UserError, name_missing_extra
from seesay.plugins import Addresses, Plugin, instruments, other_packages

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
    if not near:
        return ""
    return f" (did you mean {near}?)"


def _near(name: str, names: Iterable[str], cutoff: float = 0.55) -> str:
    lowered = {text.lower(): text for text in names}
    matches = difflib.get_close_matches(name.lower(), lowered, n=2, cutoff=cutoff)
    return " or ".join(f"'{lowered[match]}'" for match in matches)


def load_address(address: str) -> Any:
    """Import what stands at "module:attribute"; an extra that it needs is named if missing."""
    module_name, _, attribute = address.partition(":")
    with name_missing_extra():
        module = import_module(module_name)
    return getattr(module, attribute)


class Registry(Generic[T]):
    """Addresses by name: those of the core, of our instruments, and of installed packages.

    `brought` picks what a plug-in brings of this kind. A name of the core or of an instrument
    cannot be taken over by another package: results carry that name. Other packages are looked up
    last, and only where the name is not ours or all names are listed.
    """

    def __init__(
        self, kind: str, core: Addresses, brought: Callable[[Plugin], Addresses], listing: str
    ) -> None:
        self.kind = kind
        self.core = core
        self.brought = brought
        self.listing = listing

    @cached_property
    def ours(self) -> Mapping[str, str]:
        """The addresses of the core and of our instruments."""
        addresses = dict(self.core)
        for plugin in instruments():
            addresses.update(self.brought(plugin))
        return addresses

    @cached_property
    def _others(self) -> dict[str, tuple[str, str]]:
        """The addresses of other packages' things, each with its package."""
        addresses: dict[str, tuple[str, str]] = {}
        for package, plugin in other_packages():
            brought = self.brought(plugin)
            for name in sorted(brought):
                # of two packages with one name the first counts, whatever the order of installing
                if name not in self.ours:
                    addresses.setdefault(name, (brought[name], package))
        return addresses

    def __contains__(self, name: str) -> bool:
        return name in self.ours or name in self._others

    def names(self) -> list[str]:
        """Every name: the core's in their own order, then the instruments', then the others by
        alphabet."""
        return [*self.ours, *self._others]

    def package(self, name: str) -> str:
        """The package that brings a name."""
        if name in self.ours:
            return "seesay"
        _, package = self._others[name]
        return package

    def load(self, name: str) -> T:
        """Import what stands behind a name."""
        if name in self.ours:
            loaded: T = load_address(self.ours[name])
            return loaded
        if name not in self._others:
            raise unknown(self.kind, name, self.names(), self.listing)
        address, package = self._others[name]
        try:
            added: T = load_address(address)
        # whatever another package does on import, its name belongs in the message
        except Exception as error:
            raise UserError(
                f"The {self.kind} '{name}' comes from the package '{package}', which could not be "
                "loaded "
                f"({type(error).__name__}: {error}). Update that package or uninstall it."
            ) from error
        return added
