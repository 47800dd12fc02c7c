"""The drawings of ViPhy's method: what they show is what mining computes of the room."""

from __future__ import annotations

import re

import pytest

from seesay.mining import method_drawings as drawings
from seesay.mining.rooms import elevation, larger, snapshot


def test_what_is_drawn_is_true_of_the_room() -> None:
    """The room is generated: its sizes, colours and heights are known."""
    pytest.importorskip("PIL")
    _, chart = drawings.three_questions()
    objects = {}
    for item in snapshot(drawings.ROOM).objects:
        objects.setdefault(item.name, item)
    assert f"the cup is {objects['cup'].color}" in chart
    assert larger(objects["chair"], objects["cup"]) == ">"
    assert "the chair is larger than the cup" in chart
    assert elevation(objects["chair"], objects["clock"]) == "<"
    assert "the chair is below the clock" in chart


def test_the_selection_keeps_what_fits_the_picture_and_takes_what_fits_the_region() -> None:
    pytest.importorskip("PIL")
    text, chart = drawings.two_stages()
    assert "selected: kitchen chair" in text
    rows = re.findall(r">1: ([\d.]+) \(([^)]+)\), ([^<]+)<", chart)
    anchor = float(rows[0][0])
    assert rows[0][1] == "anchor"
    for similarity, relation, second in rows[1:]:
        fits = float(similarity) > anchor
        assert relation == ("&gt; anchor" if fits else "≤ anchor")
        assert (second == "left out") == (not fits)


def test_the_transitive_relation_crosses_partitions() -> None:
    """The cabinet is above the refrigerator, which is above the table: so is the cabinet."""
    text, chart = drawings.partitions()
    assert "so the cabinet is above the table" in text
    assert chart.count('class="band"') == 3


def test_outlines_give_both_relations() -> None:
    _, chart = drawings.relations()
    assert "refrigerator, table: above" in chart
    assert ": similar level" in chart


def test_names_before_and_after() -> None:
    pytest.importorskip("PIL")
    text, chart = drawings.names()
    assert "5 of these 10 do not name the subtype" in text
    assert "plate 2 → dinner plate" in chart
    assert "plate → plate" in chart
