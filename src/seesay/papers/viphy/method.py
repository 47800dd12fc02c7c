"""ViPhy's figures of its method, drawn from our own mining of generated rooms."""

from __future__ import annotations

from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Render, Rendered
from seesay.registry import load_address

DRAWINGS = "seesay.mining.method_drawings"


def drawing(name: str) -> Render:
    """Return what renders a drawing of the mining instrument, which may be missing."""

    def render(material: Material) -> Rendered:
        try:
            draw = load_address(f"{DRAWINGS}:{name}")
        except ModuleNotFoundError as error:
            raise UserError(f"The drawing needs '{error.name}', which is not installed.") from error
        text, chart = draw()
        return Rendered(text, charts=[chart])

    return render
