"""ViPhy's figures of its method, drawn from our own mining of generated rooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Render, Rendered
from seesay.registry import load_address

T = TypeVar("T")


def from_mining(make: Callable[[], T]) -> T:
    """Return what the mining instrument makes, which may be missing or lack a library."""
    try:
        return make()
    except ModuleNotFoundError as error:
        raise UserError(
            f"'{error.name}' is not installed here: pip install 'seesay[mine]'."
        ) from error


def drawing(name: str) -> Render:
    """Return what renders a drawing, whose module is loaded with the mining that it shows."""

    def render(material: Material) -> Rendered:
        address = f"seesay.papers.viphy.method_drawings:{name}"
        text, chart = from_mining(lambda: load_address(address)())
        return Rendered(text, charts=[chart])

    return render
