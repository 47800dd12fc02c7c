"""Charts: every datum drawn where it should be, names only ever text, missing values break
nothing."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from tests.reports.made_up import HOSTILE

from seesay.reports.charts import (
    Bar,
    Series,
    bars,
    columns,
    dendrogram,
    heat_map,
    histograms,
    lines,
    stacked_bars,
)
from seesay.reports.charts.kernel import axis, log_axis
from seesay.reports.charts.lines import spread_apart
from seesay.reports.charts.scatter import HEIGHT, Spot, scatter
from seesay.reports.pages.sections import DataTable, Section, write_page, write_svg

NAN = math.nan
COLORS = ("red", "green", "white")


def parsed(chart: Markup) -> ET.Element:
    return ET.fromstring(str(chart).replace(' xmlns="http://www.w3.org/2000/svg"', ""))


def elements(chart: Markup, kind: str) -> list[ET.Element]:
    """The elements whose class names the kind."""
    return [e for e in parsed(chart).iter() if kind in e.get("class", "").split()]


def box(element: ET.Element) -> tuple[float, ...]:
    return tuple(float(element.get(side, "")) for side in ("x", "y", "width", "height"))


def title_of(element: ET.Element) -> str:
    return element.findtext("title") or ""


def words(chart: Markup) -> list[str]:
    return [e.text or "" for e in parsed(chart).iter("text")]


def test_a_dashed_line_lets_the_curve_below_it_be_seen() -> None:
    asked = Series("asked", [0, 1, 2], [0.5, 0.5, 0.5])
    chance = Series("chance", [0, 1, 2], [0.5, 0.5, 0.5], is_dashed=True)
    chart = lines([asked, chance], title="t", x_label="layer", y_label="accuracy")
    assert len(elements(chart, "curve")) == 1
    assert [title_of(spot)[:5] for spot in elements(chart, "spot")] == ["asked"] * 3
    assert [title_of(dashes) for dashes in elements(chart, "average")] == ["chance"]
    assert {"asked", "chance"} <= {*words(chart)}


def test_a_curve_goes_through_its_points() -> None:
    """Names take 5 × 6.5 + 4 units: x runs from 40 to 391.5; y from 220 (0) up to 20 (1)."""
    chart = lines(
        [Series("curve", [0, 1, 2], [0.0, 1.0, 0.5], [0.0, 0.8, 0.25], [0.25, 1.0, 0.75])],
        title="t",
        x_label="x",
        y_label="y",
    )
    spots = [(float(s.get("cx", "")), float(s.get("cy", ""))) for s in elements(chart, "spot")]
    assert spots == [(40.0, 220.0), (215.75, 20.0), (391.5, 120.0)]
    (curve,) = elements(chart, "curve")
    assert curve.get("d") == "M40 220L215.75 20L391.5 120"
    (band,) = elements(chart, "band")
    assert band.get("d") == "M40 170L215.75 20L391.5 70L391.5 170L215.75 60L40 220Z"
    assert title_of(elements(chart, "spot")[1]) == "curve: 1, 1 (0.8 to 1)"


def test_a_reference_has_the_color_of_text_and_takes_no_hue() -> None:
    """Of three series the first and the last have the first two hues."""
    series = [
        Series("a", [0, 1], [1, 2]),
        Series("average", [0, 1], [2, 3], is_reference=True),
        Series("b", [0, 1], [3, 4]),
    ]
    chart = str(lines(series, title="t", x_label="x", y_label="y"))
    for color, name in (("m0", "a"), ("ink", "average"), ("m1", "b")):
        pattern = rf'<g class="{color}"><path[^>]*class="curve"/><circle[^>]*><title>{name}: '
        assert re.search(pattern, chart), name


def test_points_are_drawn_in_order_of_x_and_a_missing_one_is_a_gap() -> None:
    chart = lines([Series("a", [4, 1, 3, 2], [4, 1, NAN, 2])], title="t", x_label="x", y_label="y")
    assert len(elements(chart, "spot")) == 3
    (curve,) = elements(chart, "curve")
    assert (curve.get("d") or "").count("L") == 1
    assert [title_of(spot).split()[1] for spot in elements(chart, "spot")] == ["1,", "2,", "4,"]


def test_a_logarithmic_axis_gives_every_factor_the_same_room() -> None:
    chart = lines(
        [Series("a", [1, 10, 100], [1, 2, 3])], title="t", x_label="x", y_label="y", log_x=True
    )
    xs = [float(spot.get("cx", "")) for spot in elements(chart, "spot")]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1])
    with pytest.raises(ValueError, match="above 0"):
        lines([Series("a", [0, 1], [1, 2])], title="t", x_label="x", y_label="y", log_x=True)


def test_names_at_the_ends_do_not_lie_on_one_another() -> None:
    chart = lines(
        [Series(n, [0, 1], [0, 0.5]) for n in "abcd"], title="t", x_label="x", y_label="y"
    )
    heights = sorted(float(name.get("y", "")) for name in elements(chart, "series"))
    assert all(after - before >= 13 for before, after in pairwise(heights))


def test_a_long_name_is_shown_in_full_in_a_legend() -> None:
    name = "a model with a rather long name"
    chart = lines([Series(name, [0, 1], [0, 1])], title="t", x_label="x", y_label="y")
    assert name in words(chart)
    (coordinate,) = elements(chart, "series")
    assert (coordinate.text or "").endswith("…")
    assert title_of(coordinate) == name


def test_a_single_point_shows_its_interval() -> None:
    chart = lines([Series("a", [5], [2], [1], [3])], title="t", x_label="x", y_label="y")
    assert len(elements(chart, "spot")) == 1
    (line,) = elements(chart, "curve")
    assert float(line.get("y1", "")) > float(line.get("y2", ""))


def test_cells_stand_in_their_row_and_column_and_darken_with_the_value() -> None:
    chart = heat_map([[0, 1], [3, 4], [2, NAN]], ["a", "b", "c"], ["x", "y"], title="t")
    cells = [cell for cell in elements(chart, "heat") if title_of(cell)]
    at = {title_of(cell).split(":")[0]: box(cell) for cell in cells}
    assert at["a, x"][0] == at["b, x"][0] == at["c, x"][0]
    assert at["b, x"][1] == at["b, y"][1]
    assert at["a, y"][0] - at["a, x"][0] == pytest.approx(44)
    assert at["b, x"][1] - at["a, x"][1] == pytest.approx(26)
    shade = {title_of(cell).split(": ")[1]: float(cell.get("fill-opacity", "")) for cell in cells}
    assert [key for key, _ in sorted(shade.items(), key=lambda item: item[1])] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert (shade["0"], shade["4"]) == (0.04, 1.0)
    assert shade["2"] == pytest.approx(0.52)
    (missing,) = elements(chart, "missing")
    assert title_of(missing) == "c, y: –"


def test_heat_maps_with_the_same_ends_have_the_same_shades() -> None:
    low = heat_map([[0.2, 0.4]], ["a"], ["x", "y"], title="low", ends=(0, 1))
    high = heat_map([[0.4, 0.9]], ["a"], ["x", "y"], title="high", ends=(0, 1))

    def shades(chart: Markup) -> list[str | None]:
        return [cell.get("fill-opacity") for cell in elements(chart, "heat") if title_of(cell)]

    assert shades(low)[1] == shades(high)[0]
    # alone, each would go from the faintest to the darkest
    assert len({*shades(low), *shades(high)}) == 3


def test_a_large_heat_map_keeps_room_for_its_names() -> None:
    chart = heat_map(
        [[i * j for j in range(57)] for i in range(67)], ["row"] * 67, ["column"] * 57, title="t"
    )
    cells = [cell for cell in elements(chart, "heat") if title_of(cell)]
    assert len(cells) == 67 * 57
    assert min(box(cell)[3] for cell in cells) >= 11
    assert "wide" in (parsed(chart).get("class") or "")
    with pytest.raises(ValueError, match="2 x 1"):
        heat_map([[1]], ["a", "b"], ["x"], title="t")


def test_branches_meet_at_their_distance() -> None:
    """Leaves one (0) and two (1) at 0.5, then three at 1.0; x of distance d is 402.5 − 394.5 d, a
    row is 14 high."""
    chart = dendrogram([(0, 1, 0.5, 2), (2, 3, 1.0, 3)], ["one", "two", "three"], title="t")
    first, second = elements(chart, "branch")
    right = 440 - (5 * 6.5 + 4) - 10
    half = (right + 8) / 2
    assert second.get("d") == f"M{right} 7H8V28H{half:.2f}".replace(".50", ".5")
    assert first.get("d") == f"M{right} 21H{half:.2f}V35H{right}"
    names = {
        e.text: float(e.get("y", ""))
        for e in parsed(chart).iter("text")
        if e.text in {"one", "two", "three"}
    }
    assert sorted(names, key=names.__getitem__) == ["three", "one", "two"]
    with pytest.raises(ValueError, match="3 leaves need 2 merges"):
        dendrogram([(0, 1, 0.5, 2)], ["one", "two", "three"], title="t")


@given(st.integers(2, 12), st.randoms(use_true_random=False))
def test_every_leaf_of_a_tree_is_named_once(n: int, draw: object) -> None:
    roots, merges = list(range(n)), []
    for step in range(n - 1):
        first, other = draw.sample(roots, 2)  # type: ignore[attr-defined]
        roots = [node for node in roots if node not in {first, other}] + [n + step]
        merges.append((first, other, step + 1.0, 2.0))
    chart = dendrogram(merges, [f"leaf {i}" for i in range(n)], title="t")
    assert sorted(w for w in words(chart) if w.startswith("leaf")) == sorted(
        f"leaf {i}" for i in range(n)
    )
    heights = [
        float(e.get("y", ""))
        for e in parsed(chart).iter("text")
        if (e.text or "").startswith("leaf")
    ]
    assert len(set(heights)) == n


def test_bars_begin_at_zero_and_end_at_their_value() -> None:
    """A name of one letter takes 10.5 + 8: the axis runs from 18.5 to 394 for −0.5 to 1."""
    rows = [Bar("a", 1.0, 0.5, 1.0), Bar("b", -0.5), Bar("c", NAN)]
    chart = bars(rows, title="t")
    positive, negative = (box(bar) for bar in elements(chart, "fill"))
    unit = (394 - 18.5) / 1.5
    zero = 18.5 + 0.5 * unit
    assert positive[0] == pytest.approx(zero, abs=0.01)
    assert positive[2] == pytest.approx(unit, abs=0.01)
    assert (negative[0], negative[2]) == pytest.approx((18.5, 0.5 * unit), abs=0.01)
    (whisker,) = elements(chart, "spread")
    assert float(whisker.get("x1", "")) == pytest.approx(zero + 0.5 * unit, abs=0.01)
    assert float(whisker.get("x2", "")) == pytest.approx(394)
    assert {"a", "b", "c", "–"} <= set(words(chart))


def test_bars_of_one_name_stand_together() -> None:
    rows = [
        Bar(name, value, series=series)
        for series, value in (("s", 1), ("t", 2))
        for name in ("a", "b")
    ]
    chart = bars(rows, title="title")
    order = [title_of(bar) for bar in elements(chart, "fill") if title_of(bar)]
    assert order == ["a, s: 1", "a, t: 2", "b, s: 1", "b, t: 2"]
    assert {"s", "t"} <= set(words(chart))


def test_a_stacked_bar_is_divided_as_its_values_are() -> None:
    chart = stacked_bars([("apple", (3, 1, 0)), ("none", (0, 0, 0))], COLORS, title="t")
    red, green = (e for e in elements(chart, "part") if title_of(e))
    left = 5 * 6.5 + 4 + 8
    assert box(red)[:1] + box(red)[2:3] == pytest.approx((left, (440 - left) * 0.75), abs=0.01)
    assert box(green)[:1] + box(green)[2:3] == pytest.approx(
        (left + (440 - left) * 0.75, (440 - left) * 0.25), abs=0.01
    )
    assert (title_of(red), title_of(green)) == ("apple: red 75 %", "apple: green 25 %")
    assert "c-red" in (red.get("class") or "")
    assert "–" in words(chart)
    for wrong in ((1, 2), (1, 2, -1)):
        with pytest.raises(ValueError, match="'x' needs 3 values"):
            stacked_bars([("x", wrong)], COLORS, title="t")


def test_columns_are_as_high_as_their_counts() -> None:
    chart = columns([("red", 10), ("b", 5), ("c", NAN)], title="t", y_label="n")
    (red,) = [e for e in elements(chart, "c-red") if title_of(e)]
    (other,) = elements(chart, "fill")
    assert box(red)[1::2] == (20.0, 160.0)
    assert box(other)[1::2] == (100.0, 80.0)
    assert title_of(other) == "b: 5"


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_a_histogram_counts_every_value_once(values: list[float]) -> None:
    chart = histograms([("", [*values, NAN, math.inf])], title="t", x_label="x")
    assert sum(int(title_of(e).rpartition(": ")[2]) for e in elements(chart, "fill")) == len(values)


def test_a_histogram_puts_values_into_their_bins() -> None:
    chart = histograms([("", [0.0, 0.1, 0.9, 1.0])], title="t", x_label="x", bins=2)
    assert [title_of(e) for e in elements(chart, "fill")] == ["0 to 0.5: 2", "0.5 to 1: 2"]


EMPTY = (
    lines([], title="t", x_label="x", y_label="y"),
    lines([Series("a", [], [])], title="t", x_label="x", y_label="y"),
    lines([Series("a", [1, NAN], [NAN, 1])], title="t", x_label="x", y_label="y"),
    heat_map([], [], [], title="t"),
    heat_map([[NAN]], ["a"], ["b"], title="t"),
    dendrogram([], [], title="t"),
    bars([], title="t"),
    bars([Bar("a", NAN)], title="t"),
    stacked_bars([], COLORS, title="t"),
    columns([], title="t", y_label="y"),
    histograms([("", [NAN])], title="t", x_label="x"),
)


@pytest.mark.parametrize("chart", EMPTY, ids=range(len(EMPTY)))
def test_an_empty_chart_says_so(chart: Markup) -> None:
    assert "No data." in words(chart)


def test_charts_of_a_single_value() -> None:
    assert "alone" in words(dendrogram([], ["alone"], title="t"))
    assert (
        len([c for c in elements(heat_map([[7]], ["a"], ["b"], title="t"), "heat") if title_of(c)])
        == 1
    )
    assert len(elements(bars([Bar("a", 0.0)], title="t"), "fill")) == 1


def hostile(name: str) -> list[Markup]:
    texts = {"title": name, "x_label": name, "y_label": name}
    return [
        lines([Series(name, [0, 1], [0, 1], [0, 0], [1, 1]), Series("b", [0], [1])], **texts),  # type: ignore[arg-type]
        heat_map([[0, 1]], [name], [name, "b"], title=name, low_label=name, high_label=name),
        dendrogram([(0, 1, 1, 2)], [name, "b"], title=name),
        bars([Bar(name, 1, 0, 2, name), Bar("b", 1)], title=name, x_label=name),
        stacked_bars([(name, (1, 2))], [name, "b"], title=name),
        columns([(name, 1), ("b", 2)], **texts),
        histograms([("", [1, 2])], title=name, x_label=name, y_label=name),
    ]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_only_text(name: str) -> None:
    allowed_tags = {"svg", "g", "text", "title", "line", "path", "circle", "rect"}
    for chart in hostile(name):
        tree = parsed(chart)
        assert {e.tag for e in tree.iter()} <= allowed_tags
        assert not any(
            key.startswith("on") or key in {"style", "href"}
            for e in tree.iter()
            for key in e.attrib
        )
        assert tree.get("aria-label")
        assert tree.get("role") == "img"


def test_nothing_is_drawn_outside_of_the_chart() -> None:
    for chart in hostile("x" * 300):
        tree = parsed(chart)
        width = float(tree.get("width", ""))
        for rect in tree.iter("rect"):
            if rect.get("rx") is None:
                x, _, broad, _ = box(rect)
                assert x >= -0.01
                assert x + broad <= width + 0.01


def test_a_page_holds_its_sections(tmp_path: Path) -> None:
    chart = columns([("a", 1)], title="Chart", y_label="n")
    table = DataTable(["name", "share"], [[HOSTILE[0], 0.5], ["b", None]])
    path = write_page(
        tmp_path / "page.html",
        HOSTILE[0],
        [Section("First", "One.\n\nTwo <b>.", [chart], table), Section(HOSTILE[1])],
    )
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<img" not in text
    assert "script-src &#39;none&#39;" in text
    assert str(chart) in text
    for expected in (
        '<p class="about">One.</p>',
        "Two &lt;b&gt;.",
        "<bdi>0.5</bdi>",
        "<bdi>–</bdi>",
        "2 rows",
    ):
        assert expected in text


def test_a_file_stands_alone_in_light_colours(tmp_path: Path) -> None:
    chart = stacked_bars([("apple", (3, 1, 0))], COLORS, title="t")
    text = write_svg(tmp_path / "chart.svg", chart).read_text(encoding="utf-8")
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert "@media" not in text
    assert root.get("width") == "464.0"
    assert "#fbfaf7" in text


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), st.booleans())
def test_an_axis_holds_its_values(values: list[float], zero: bool) -> None:
    scale = axis(values, 0, 100, zero=zero)
    assert all(-1e-6 <= scale.at(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(scale.ticks) <= 8
    assert all(
        scale.low - 1e-6 * abs(scale.low) <= tick <= scale.high + 1e-6 * abs(scale.high)
        for tick in scale.ticks
    )
    if zero:
        assert 0 <= scale.at(0) <= 100


def test_a_logarithmic_axis_has_ticks_at_round_numbers() -> None:
    assert log_axis([1, 1000], 0, 1).ticks == (1, 10, 100, 1000)
    assert log_axis([1, 50], 0, 1).ticks == (1, 2, 5, 10, 20, 50)


@given(st.lists(st.floats(0, 100), max_size=8))
def test_spread_places_keep_their_distance(positions: list[float]) -> None:
    places = spread_apart(sorted(positions), 10, 0, 100)
    assert all(after - before >= 10 - 1e-9 for before, after in pairwise(places))
    assert all(place <= 100 for place in places)


@given(st.integers(0, 10**6))
def test_ticks_of_counts_are_whole_numbers(count: int) -> None:
    ticks = axis([0, count], 0, 100, zero=True, whole=True).ticks
    assert all(tick.is_integer() for tick in ticks)
    assert ticks[-1] >= count


@pytest.mark.parametrize("chance", [0.0, 0.5])
def test_chance_lies_within_a_scatter_plot(chance: float) -> None:
    spots = [Spot("a", 1, 0.5, 0.4, 0.6), Spot("b", 10, 0.6, 0.5, 0.7)]
    (line,) = elements(scatter(spots, title="t", x_label="x", y_label="y", chance=chance), "chance")
    assert 0 <= float(line.get("y1", "")) <= HEIGHT
