"""What the questions are like: worked by hand, and against the published files read without
seesay."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from tests.shared_data import shared

from seesay.questions import Question, Task, Template
from seesay.reports.analysis import Analysis, GoldDistribution, LabelShares
from seesay.reports.gold_analyses import (
    by_category,
    by_scene,
    cardinality,
    entropies,
    task_analyses,
)
from seesay.tasks.viphy import color, size, space

COLORS = ("red", "green", "white")


def made_up() -> Task:
    """An apple half red, half green; a pear green; snow white; a flag red 1 : green 1 : white 2."""
    golds = {
        "apple": ("food", {"red": 0.5, "green": 0.5}),
        "pear": ("food", {"green": 1.0}),
        "snow": ("nature", {"white": 1.0}),
        "flag": ("nature", {"red": 1.0, "green": 1.0, "white": 2.0}),
    }
    questions = tuple(
        Question(
            name,
            {"object": name},
            COLORS,
            gold,
            name,
            {"labels": str(len(gold)), "category": category},
        )
        for name, (category, gold) in golds.items()
    )
    return Task(
        "viphy-color",
        "1",
        "t",
        (Template("x", "{object} [MASK]"),),
        questions,
        ("relaxed_accuracy",),
    )


def shares(analysis: Analysis) -> dict[str, tuple[int, dict[str, float]]]:
    rows = [row for row in analysis.rows if isinstance(row, LabelShares)]
    assert len(rows) == len(analysis.rows)
    return {row.part: (row.n, dict(row.shares)) for row in rows}


def spreads(analysis: Analysis) -> list[GoldDistribution]:
    return [row for row in analysis.rows if isinstance(row, GoldDistribution)]


def test_cardinality_by_hand() -> None:
    result = shares(cardinality(made_up()))
    assert list(result) == ["1", "2", "3"]
    assert result["1"] == (2, {"red": 0.0, "green": 0.5, "white": 0.5})
    assert result["2"] == (1, {"red": 0.5, "green": 0.5, "white": 0.0})
    assert result["3"] == (1, {"red": 0.25, "green": 0.25, "white": 0.5})


def test_categories_by_hand() -> None:
    result = shares(by_category(made_up()))
    assert result["food"] == (2, {"red": 0.25, "green": 0.75, "white": 0.0})
    assert result["nature"] == (2, {"red": 0.125, "green": 0.125, "white": 0.75})


def test_entropy_by_hand() -> None:
    """0 bits for one colour, 1 for two alike, 1.5 for ¼ ¼ ½; equals in the order of the
    alphabet."""
    result = entropies(made_up())
    assert [(row.object, row.entropy) for row in spreads(result)] == [
        ("pear", 0.0),
        ("snow", 0.0),
        ("apple", 1.0),
        ("flag", 1.5),
    ]
    assert math.copysign(1, spreads(result)[0].entropy) == 1
    names = [
        e.text
        for e in ET.fromstring(str(result.charts[0])).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert names.index("pear") < names.index("snow") < names.index("apple") < names.index("flag")


def test_analyses_depend_on_labels_and_tags() -> None:
    assert [a.name for a in task_analyses(made_up())] == [
        "cardinality",
        "distributions-by-entropy",
        "labels-by-category",
    ]


@pytest.fixture(scope="module")
def colors() -> Task:
    return color.load(shared("viphy"))


def test_the_published_colours(colors: Task) -> None:
    """The published test split, counted with json and arithmetic alone."""
    rows = json.loads(shared("viphy/dataset/color/test.json").read_text(encoding="utf-8"))
    assert len(rows) == 9_275
    result = shares(cardinality(colors))
    assert {part: n for part, (n, _) in result.items()} == Counter(
        str(len(gold)) for gold in rows.values()
    )
    category = json.loads(shared("viphy/extra/obj2cat.json").read_text(encoding="utf-8"))
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, gold in rows.items():
        for colour, share in gold.items():
            sums[category[name]][colour] += share / sum(gold.values())
    things = Counter(category[name] for name in rows)
    by = shares(by_category(colors))
    assert {part: n for part, (n, _) in by.items()} == things
    assert len(by) == 17
    for part, (n, parts) in by.items():
        for colour, share in parts.items():
            assert share == pytest.approx(sums[part][colour] / n, abs=1e-6)


def test_the_published_colours_by_entropy(colors: Task) -> None:
    result = spreads(entropies(colors))
    assert len(result) == 9_275
    assert all(one.entropy <= other.entropy for one, other in pairwise(result))
    rows = json.loads(shared("viphy/dataset/color/test.json").read_text(encoding="utf-8"))
    for row in result[::500]:
        gold = [share / sum(rows[row.object].values()) for share in rows[row.object].values()]
        assert row.entropy == pytest.approx(
            sum(-p * math.log(p) for p in gold) / math.log(2), abs=1e-6
        )


def test_the_published_places() -> None:
    """Of the test split: pairs in each scene, and relations where a pair has one only."""
    with shared("viphy/dataset/spatial/test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4_599
    labels = next(
        name
        for name in rows[0]
        if any(set(row[name]) <= set("<=>,") and row[name] for row in rows[:1])
    )
    task = space.load(shared("viphy"))
    result = shares(by_scene(task))
    assert {part: n for part, (n, _) in result.items()} == Counter(
        row["scene"].replace("_", " ") for row in rows
    )
    counted = shares(cardinality(task))
    alone = Counter(row[labels] for row in rows if "," not in row[labels])
    n, parts = counted["1"]
    assert n == sum(alone.values())
    words = {">": "above", "=": "similar level", "<": "below"}
    assert parts == pytest.approx({words[sign]: alone[sign] / n for sign in words})


def test_sizes_have_no_analyses() -> None:
    assert task_analyses(size.load(shared("viphy"))) == []
