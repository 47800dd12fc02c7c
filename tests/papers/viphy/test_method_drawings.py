"""The drawings of ViPhy's method: what they show is what mining computes of the room."""

from __future__ import annotations

import re

import pytest

from seesay.mining import places
from seesay.mining.choices import SpaceRule
from seesay.mining.rooms import RoomObject, elevation, larger, snapshot
from seesay.papers.viphy import method_drawings as drawings


def test_what_is_drawn_is_true_of_the_room() -> None:
    """The room is generated: its sizes, colours and heights are known."""
    pytest.importorskip("PIL")
    _, chart = drawings.three_questions()
    objects: dict[str, RoomObject] = {}
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
    room = drawings.mined_room()
    high, bridge, low = drawings.CHAIN
    for pair in ((high, bridge), (bridge, low), (high, low)):
        assert room.places[pair] == ">"
    arrays = room.arrays
    shares = (arrays.distance - arrays.nearest) / (arrays.farthest - arrays.nearest)
    ranges = places.partition_ranges(places.RULES[SpaceRule.PAPER])
    members = []
    for name in drawings.CHAIN:
        share = shares[room.indices[name]]
        members.append({i for i, (start, end) in enumerate(ranges) if start <= share <= end})
    assert not members[0] & members[2]
    assert members[0] & members[1]
    assert members[1] & members[2]
    assert "so the cabinet is above the table" in text
    assert chart.count('class="band"') == 3


def test_outlines_give_both_relations() -> None:
    _, chart = drawings.relations()
    assert "refrigerator, table: above" in chart
    assert "table, chair 2: similar level" in chart
    room = drawings.mined_room()
    table, chair = (room.indices[name] for name in ("table", "chair 2"))
    assert room.arrays.lowest[table] >= room.arrays.centroid[chair]
    assert room.arrays.lowest[chair] >= room.arrays.centroid[table]


def test_names_before_and_after() -> None:
    pytest.importorskip("PIL")
    text, chart = drawings.names()
    assert "5 of these 10 do not name the subtype" in text
    assert "plate 2 → dinner plate" in chart
    assert "plate → plate" in chart
