"""The tables and figures of MALeViC, as `seesay paper malevic` goes through them."""

from __future__ import annotations

from seesay.papers.malevic.hard_test import (
    by_adjective_and_shape,
    by_distance,
    k_of_agreeing_and_differing,
    max_pooled_features,
)
from seesay.papers.malevic.scene_figures import approach, examples, queried_areas
from seesay.papers.malevic.tables import published_table, seen_and_unseen, sweep_table
from seesay.papers.paper import read_paper
from seesay.scenes.tasks.malevic import ACCURACY, CITATION, published_figures

PAPER = read_paper(
    "malevic",
    CITATION,
    {
        "Figure 1": approach,
        "Figure 2": examples,
        "Figure 3": queried_areas,
        "Table 1": sweep_table("Table 1"),
        "Table 2": sweep_table("Table 2"),
        "Figure 4": by_adjective_and_shape,
        "Figure 5": k_of_agreeing_and_differing,
        "Figure 6": by_distance,
        "Figure 7": max_pooled_features,
        "Table 3": seen_and_unseen,
    },
    {number: published_table(number) for number in ("Table 1", "Table 2", "Table 3")},
    {f"malevic-{name}": published_figures(name) for name in ACCURACY},
)
