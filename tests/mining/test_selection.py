"""The choice of subtypes that a dual encoder makes."""

from __future__ import annotations

from pathlib import Path

from tests.models.vision.test_dual_encoder import picture, save_dual

from seesay.mining.records import Region
from seesay.mining.selection import TEMPLATE, SubtypeSelector, select
from seesay.models.options import ModelOptions
from seesay.models.vision.dual_encoder import DualEncoder


def test_the_two_stages() -> None:
    names = ["chair", "kitchen chair", "office chair", "wheel chair"]
    # office chair fits the region best but the picture less than the bare name does
    assert select(names, [0.5, 0.6, 0.4, 0.7], [0.3, 0.5, 0.9, 0.4]) == "kitchen chair"
    # no subtype fits the picture better than the name
    assert select(names, [0.5, 0.1, 0.5, 0.2], [0.3, 0.5, 0.9, 0.4]) == "chair"
    # the name itself stays a candidate
    assert select(names, [0.5, 0.6, 0.6, 0.6], [0.9, 0.5, 0.8, 0.4]) == "chair"


def test_a_region_gets_its_subtype(tmp_path: Path) -> None:
    encoder = DualEncoder(str(save_dual("clip", tmp_path)), ModelOptions())
    selector = SubtypeSelector(encoder, {"circle": ["circle", "red circle", "big circle"]})
    shown = picture(3)
    regions = [Region(name, (5.0, 5.0, 30.0, 30.0)) for name in ("circle", "square")]
    names_of_regions = selector.choose(shown, regions)
    names = ["circle", "red circle", "big circle"]
    vectors = encoder.texts([TEMPLATE.format(name) for name in names])
    whole, crop = encoder.pictures([shown])[0], encoder.pictures([shown.crop((5, 5, 35, 35))])[0]
    assert names_of_regions == [select(names, vectors @ whole, vectors @ crop), "square"]
