"""The tables and figures of ViPhy, as `seesay paper viphy` goes through them."""

from __future__ import annotations

from collections.abc import Callable

from seesay.data.catalogue import SINGH
from seesay.questions import Task
from seesay.reports.papers.material import Material
from seesay.reports.papers.paper import Paper, PaperEntry, Rendered, Status
from seesay.reports.papers.viphy.analysis import Analysis
from seesay.reports.papers.viphy.gold import by_category, entropies

_COMMAND = "seesay data add viphy FOLDER && seesay paper viphy"
_NEEDS = "the published files (clone https://github.com/Axe--/ViPhy)."


def of_questions(name: str, analyse: Callable[[Task], Analysis]) -> Callable[[Material], Rendered]:
    """Renders an analysis of a task's published questions."""

    def render(material: Material) -> Rendered:
        analysis = analyse(material.task(name))
        return Rendered(Status.SHOWN, analysis.text, charts=analysis.charts, numbers=analysis.section.table)

    return render


PAPER = Paper(
    name="viphy",
    title="ViPhy: visible physical commonsense",
    citation=SINGH,
    entries=(
        PaperEntry(
            "Figure 15", "Colours by category", of_questions("viphy-color", by_category), _COMMAND, needs=_NEEDS
        ),
        PaperEntry(
            "Figure 16", "From one colour to many", of_questions("viphy-color", entropies), _COMMAND, needs=_NEEDS
        ),
    ),
)
