"""Colours of regions: words, pixels, a model's answers, and the the facts from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageColor
from tests.models.vision.tiny_vision import save_tiny_vision
from transformers import ViltImageProcessorPil

from seesay.data.color_names import color_names, lab
from seesay.data.knowledge import COLORS
from seesay.mining.colors import WORDS, VqaColors, color_facts, colors_by_pixels, named_colors
from seesay.mining.pixels import region_colors, votes
from seesay.mining.records import Region
from seesay.models import load_model
from seesay.models.vision.vision_language import VisionModel
from seesay.questions import SLOT, Prompt

FOCAL = {
    "red": (200, 20, 30),
    "orange": (245, 130, 20),
    "yellow": (250, 220, 30),
    "brown": (110, 65, 30),
    "green": (40, 140, 60),
    "blue": (30, 70, 190),
    "purple": (120, 40, 150),
    "pink": (250, 160, 190),
    "white": (250, 250, 250),
    "gray": (128, 128, 128),
    "black": (10, 10, 10),
}


def test_words() -> None:
    """ViPhy's list, the eleven themselves among it."""
    for color in COLORS:
        assert WORDS[color] == (color,)
    expected = (
        "gold golden blond blonde cream:yellow|wooden tan bronze copper:brown"
        "|grey silver metal steel:gray|violet:purple|maroon:red|turquoise:blue"
        "|beige:yellow brown|peach:yellow pink|teal:blue green"
    )
    listed = {
        word: set(colors.split())
        for words, colors in (part.split(":") for part in expected.split("|"))
        for word in words.split()
    }
    assert {word: set(colors) for word, colors in WORDS.items() if word not in COLORS} == listed


@pytest.mark.parametrize(
    ("rgb", "expected"),
    [  # from the CIE's definitions, as published in colour tables (D65)
        ((1.0, 1.0, 1.0), (100.0, 0.0, 0.0)),
        ((1.0, 0.0, 0.0), (53.24, 80.09, 67.20)),
        ((0.0, 1.0, 0.0), (87.74, -86.18, 83.18)),
        ((0.0, 0.0, 1.0), (32.30, 79.19, -107.86)),
    ],
)
def test_lab(rgb: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert lab(np.array(rgb)) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("color", COLORS)
def test_focal_colours(color: str) -> None:
    assert COLORS[int(color_names(np.array(FOCAL[color]) / 255))] == color


def test_color_names_of_css() -> None:
    """CSS names 77 colours by a basic colour word (darkred, lightskyblue, …): 67 get that word
    here.

    Light gray does not: in pictures, white in shade is far commoner.
    """
    words = [
        (
            next(
                "gray" if word == "grey" else word
                for word in (*COLORS, "grey")
                if name.endswith(word)
            ),
            name,
        )
        for name in ImageColor.colormap
        if name.endswith((*COLORS, "grey"))
    ]
    # by name: Pillow replaces the value of a name that was looked up before
    indices = color_names(np.array([ImageColor.getrgb(name) for _, name in words]) / 255)
    right = [COLORS[i] == word for i, (word, _) in zip(indices, words, strict=True)]
    assert len(words) == 77
    assert sum(right) == 67


def test_the_middle_wins_and_the_polygon_decides() -> None:
    picture = np.full((40, 40, 3), FOCAL["green"], dtype=np.uint8)
    picture[10:30, 10:30] = FOCAL["red"]  # a quarter of the pixels, and more of the votes
    whole = votes(picture, Region("cup", (0, 0, 40, 40)))
    assert whole[COLORS.index("red")] > 0.25
    assert region_colors(picture, Region("cup", (0, 0, 40, 40))) == ("red", "green")
    outline = (10.0, 10.0, 29.0, 10.0, 29.0, 29.0, 10.0, 29.0)
    assert region_colors(picture, Region("cup", (0, 0, 40, 40), outline)) == ("red",)
    assert colors_by_pixels(
        picture, [Region("cup", (10, 10, 20, 20)), Region("leaf", (0, 0, 8, 8))]
    ) == [
        ("red",),
        ("green",),
    ]


@given(st.integers(-50, 90), st.integers(-50, 90), st.integers(0, 60), st.integers(0, 60))
def test_any_box_has_colors(left: int, top: int, width: int, height: int) -> None:
    picture = np.full((30, 40, 3), FOCAL["blue"], dtype=np.uint8)
    overlaps = (
        left < 40
        and top < 30
        and left + width > 0
        and top + height > 0
        and width > 0
        and height > 0
    )
    assert region_colors(picture, Region("x", (left, top, width, height))) == (
        ("blue",) if overlaps else ()
    )


PICTURE = np.random.default_rng(0).integers(0, 255, (60, 60, 3), dtype=np.uint8)
REGIONS = [
    Region("circle", (0, 0, 20, 20)),
    Region("square", (30, 30, 30, 30)),
    Region("circle", (5, 20, 50, 9)),
]


def load_tiny(kind: str, folder: Path) -> VisionModel:
    model = load_model(f"vision:{save_tiny_vision(kind, folder)}")
    assert isinstance(model, VisionModel)
    return model


@pytest.mark.parametrize("kind", ["blip", "llava"])
def test_model_answers_about_each_region(kind: str, tmp_path: Path) -> None:
    """The colours that it names, in its own words, of the region's own crop, alone; questions
    differ in length."""
    model = load_tiny(kind, tmp_path)
    free, expected = [], []
    for region in REGIONS:
        x, y, w, h = (int(side) for side in region.box)
        crop = Image.fromarray(PICTURE[y : y + h, x : x + w])
        free += model.describe(
            [crop], [Prompt(f"What color is the {region.name}? Answer: {SLOT}", ())]
        )
        expected.append(named_colors(free[-1]))
    assert VqaColors(model)(PICTURE, REGIONS) == expected
    assert all(free)
    # the question is not part of the answer
    assert not any("what color" in answer.lower() for answer in free)


@pytest.mark.parametrize("kind", ["vilt", "blip", "llava"])
@pytest.mark.parametrize(
    "box", [(0, 0, 6, 200), (0, 0, 200, 6), (0, 0, 200, 1), (0, 0, 200, 3), (9, 9, 1, 1)]
)
def test_thin_region_is_asked_about_like_any_other(
    kind: str, box: tuple[float, float, float, float], tmp_path: Path
) -> None:
    """ViLT's processor scaled a strip to no pixel across, and one thin box ended the mining."""
    picture = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    regions = [Region("pole", box), Region("square", (30, 30, 30, 30))]
    model = load_tiny(kind, tmp_path)
    if kind == "vilt":
        # as published: the tiny one's takes no more than 3 to 1
        model._processor.images.size = ViltImageProcessorPil().size
    ask = VqaColors(model)
    (_, square) = ask(picture, regions)
    assert ask(picture, regions[1:]) == [square]


@pytest.mark.parametrize(
    ("answer", "colors"),
    [
        ("teal", ("green", "blue")),
        ("maroon", ("red",)),
        ("black", ("black",)),
        ("black and white", ("white", "black")),  # every colour that is named
        ("Light grey/silver with gold trim", ("yellow", "gray")),
        ("colored", ()),  # the published code, which looks for parts of words, finds red
        ("yes", ()),
    ],
)
def test_answers_are_mapped_to_colors(answer: str, colors: tuple[str, ...], tmp_path: Path) -> None:
    """ViLT chooses among fixed answers; here its last layer is made to prefer one, whatever it
    sees."""
    model, words = load_tiny("vilt", tmp_path), ["purple", answer]
    network = model._network
    last = network.classifier[-1]
    network.config.label2id = {word: int(word != answer) for word in words}
    with torch.no_grad():
        last.bias[0] += 100.0
    assert VqaColors(model)(PICTURE, REGIONS) == [colors] * len(REGIONS)


def test_object_is_the_mean_of_its_subtypes() -> None:
    def row(**counts: int) -> list[int]:
        return [counts.get(color, 0) for color in COLORS]

    counts = {
        "apple": row(red=8, green=2),
        "green apple": row(green=100),
        "candy apple": row(red=9),  # seen too rarely
    }
    seen = {"apple": 10, "green apple": 100, "candy apple": 9}
    facts = color_facts(
        counts, seen, {"apple": ["apple", "green apple", "candy apple"]}, {"apple": ["1.jpg"]}
    )
    assert [fact.object for fact in facts] == ["apple", "green apple"]
    apple = dict(zip(COLORS, facts[0].shares, strict=True))
    assert apple["red"] == pytest.approx(0.4)
    assert apple["green"] == pytest.approx(0.6)
    assert facts[0].typical == ("red", "green")
    assert (facts[0].seen, facts[0].examples) == (110, ("1.jpg",))
    assert facts[1].typical == ("green",)


def test_object_of_which_only_subtypes_are_seen() -> None:
    """Nobody calls it "vehicle": the colours of cars and buses are a vehicle's, those of the rare
    tram are not."""
    red, blue = COLORS.index("red"), COLORS.index("blue")
    counts = {"car": [0] * 11, "bus": [0] * 11, "tram": [0] * 11, "vehicle": [0] * 11}
    counts["car"][red], counts["bus"][blue], counts["tram"][blue], counts["vehicle"][blue] = (
        30,
        10,
        9,
        1,
    )
    seen = {"car": 30, "bus": 10, "tram": 9, "vehicle": 1}
    kinds = {
        "vehicle": ["vehicle", "car", "bus", "tram"],
        "craft": ["craft", "tram"],
        "machine": ["car"],
    }
    examples = {"vehicle": ["0"], "car": ["1", "2"], "bus": ["2", "3", "4"], "tram": ["5"]}
    facts = {fact.object: fact for fact in color_facts(counts, seen, kinds, examples)}
    assert list(facts) == ["bus", "car", "machine", "vehicle"]
    assert (facts["vehicle"].shares[red], facts["vehicle"].shares[blue]) == (0.5, 0.5)
    assert (facts["vehicle"].seen, facts["vehicle"].examples) == (40, ("1", "2", "3"))
    assert (facts["machine"].typical, facts["machine"].examples) == (("red",), ("1", "2"))
