"""The one page of a folder of runs: its runs, and the curves that were made beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.reports.analysis import write_rows
from seesay.reports.pages import runs as run_page
from seesay.reports.pages.layers import layer_sections
from seesay.reports.pages.sections import write_page
from seesay.reports.score_analyses import checkpoint_analyses, learning_curves
from seesay.runs.checkpoints import checkpoint_curves
from seesay.runs.layers import LayerCurve
from seesay.runs.learning_curve import Band
from seesay.runs.records import Comparison
from seesay.runs.run import Run


def write_folder(
    path: Path,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison],
    layer_curves: Sequence[LayerCurve] = (),
    bands: Sequence[Band] = (),
) -> Path:
    """Write the page, and the rows of its analyses and the charts of its layers beside it."""
    sections = layer_sections(path, layer_curves, runs)
    analyses = [*learning_curves(bands), *checkpoint_analyses(checkpoint_curves(runs))]
    if runs or not (sections or analyses):
        return run_page.write(path, runs, comparisons, analyses, sections)
    # nobody was asked yet: there are no figures of answers to begin with
    title = "Learning curves" if analyses else "Layer by layer"
    write_page(path, title, [*sections, *(analysis.section for analysis in analyses)])
    write_rows(path, analyses)
    return path
