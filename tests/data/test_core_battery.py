"""The embedded battery as data: enough of it, balanced, consistent, and spelt as it should be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar

import pytest
from wordfreq import zipf_frequency

from seesay.data.core_tables import FOLDER, core_rows

COLORS = {
    "black",
    "blue",
    "brown",
    "gray",
    "green",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
}
NAME = re.compile(r"[a-z]+(?:[' -][a-z]+)*")
# What the letter alone gets wrong: "a unicorn", "an hour".
SOUNDS_CONSONANT = ("unicorn", "unicycle", "uniform", "university", "ukulele", "used", "european")
SOUNDS_VOWEL = ("hour", "honest", "heir")


def names(table: str) -> list[str]:
    column = {"colors": "object", "sizes": "object", "parts": "concept"}[table]
    return [row[column] for row in core_rows(table)]


def bare(name: str) -> str:
    """The name without what tells a plural or a spelling apart."""
    return re.sub(r"(?<=[a-z]{3})e?s$", "", re.sub(r"[^a-z]", "", name.casefold()))


def doubles(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


@pytest.mark.parametrize(
    ("table", "least"),
    [("colors", 220), ("sizes", 170), ("spaces", 270), ("parts", 160)],
    ids=lambda value: str(value),
)
def test_every_table_is_large_enough_to_tell_models_apart(table: str, least: int) -> None:
    assert len(core_rows(table)) >= least


@pytest.mark.parametrize("table", ["colors", "sizes"])
def test_things_are_unique_even_in_the_plural(table: str) -> None:
    assert doubles(map(bare, names(table))) == []


def test_concepts_are_unique_within_a_relation() -> None:
    assert doubles(f"{bare(row['concept'])} {row['relation']}" for row in core_rows("parts")) == []


def all_names() -> list[str]:
    spaces = [name for row in core_rows("spaces") for name in (row["scene"], row["a"], row["b"])]
    answers = [word for row in core_rows("parts") for word in row["answers"].split(";")]
    return sorted({*names("colors"), *names("sizes"), *names("parts"), *spaces, *answers})


def test_names_are_lower_case_words() -> None:
    assert [name for name in all_names() if not NAME.fullmatch(name)] == []


def test_every_word_is_a_known_english_word() -> None:
    words = {word for name in all_names() for word in re.split(r"[ -]", name)}
    assert sorted(word for word in words if zipf_frequency(word, "en") < 1.5) == []


@pytest.mark.parametrize("table", ["colors", "sizes", "parts"])
def test_articles_fit_their_nouns(table: str) -> None:
    def expected(noun: str) -> str:
        vowel = noun.startswith(SOUNDS_VOWEL) or (
            noun[0] in "aeiou" and not noun.startswith(SOUNDS_CONSONANT)
        )
        return "an" if vowel else "a"

    wrong = [
        (row["article"], noun)
        for row, noun in zip(core_rows(table), names(table), strict=True)
        if row["article"] not in ("", "the", expected(noun))
    ]
    assert wrong == []


@pytest.mark.parametrize("table", ["sizes", "parts"])
def test_things_that_a_verb_agrees_with_are_singular(table: str) -> None:
    assert [row for row in core_rows(table) if not row["article"]] == []


class TestColors:
    rows = core_rows("colors")

    def test_only_the_eleven_colors(self) -> None:
        assert {color for row in self.rows for color in row["colors"].split(";")} == COLORS

    def test_every_color_is_gold_often_enough_for_macro_f1(self) -> None:
        counts = Counter(color for row in self.rows for color in row["colors"].split(";"))
        assert min(counts.values()) >= 15, counts
        alone = Counter(row["colors"] for row in self.rows if ";" not in row["colors"])
        assert all(alone[color] >= 5 for color in COLORS), alone

    def test_most_things_have_one_color_and_none_more_than_three(self) -> None:
        sizes = Counter(len(row["colors"].split(";")) for row in self.rows)
        assert set(sizes) == {1, 2, 3}
        assert 0.55 <= sizes[1] / len(self.rows) <= 0.65

    def test_no_name_gives_a_color_away(self) -> None:
        assert [
            row["object"] for row in self.rows if any(color in row["object"] for color in COLORS)
        ] == []

    def test_every_category_is_large_enough_to_slice_by(self) -> None:
        counts = Counter(row["category"] for row in self.rows)
        assert len(counts) == 9
        assert min(counts.values()) >= 15, counts


class TestSizes:
    rows = core_rows("sizes")
    metres: ClassVar = {row["object"]: float(row["metres"]) for row in rows}

    def test_sizes_span_millimetres_to_kilometres(self) -> None:
        for low, high in [(0, 0.01), (0.01, 0.1), (0.1, 1), (1, 10), (10, 100), (100, 1000)]:
            assert sum(low <= metres < high for metres in self.metres.values()) >= 10, (low, high)

    @pytest.mark.parametrize(
        "rising",
        [
            [
                "grain of sand",
                "flea",
                "ladybug",
                "bumblebee",
                "snail",
                "mouse",
                "rat",
                "cat",
                "fox",
                "sheep",
                "horse",
            ],
            ["horse", "rhinoceros", "elephant", "killer whale", "humpback whale", "blue whale"],
            ["poppy seed", "pea", "grape", "plum", "apple", "grapefruit", "cabbage", "watermelon"],
            ["marble", "golf ball", "tennis ball", "soccer ball", "beach ball"],
            ["tricycle", "motorcycle", "car", "fire engine", "jumbo jet", "cruise ship"],
            [
                "birdhouse",
                "doghouse",
                "garage",
                "house",
                "church",
                "skyscraper",
                "airport",
                "city",
                "continent",
            ],
            ["moon", "earth", "sun", "solar system", "galaxy"],
        ],
        ids=lambda chain: f"{chain[0]} to {chain[-1]}",
    )
    def test_familiar_orders_hold(self, rising: list[str]) -> None:
        sizes = [self.metres[name] for name in rising]
        assert sizes == sorted(sizes)
        assert len(set(sizes)) == len(sizes)

    @pytest.mark.parametrize(
        "shape", ["rope", "hose", "needle", "pencil", "broom", "ladder", "snake", "river", "rug"]
    )
    def test_no_thing_is_so_thin_that_length_misleads(self, shape: str) -> None:
        assert [name for name in self.metres if shape in name.split()] == []


def space_classes() -> Iterator[tuple[str, dict[str, str], list[tuple[str, str]]]]:
    """For every scene: what stands on one level (each thing with a representative), and which level
    is above which."""
    rows = core_rows("spaces")
    for scene in dict.fromkeys(row["scene"] for row in rows):
        here = [row for row in rows if row["scene"] == scene]
        level = {name: name for row in here for name in (row["a"], row["b"])}
        for row in here:
            if row["relation"] == "similar":
                old, new = level[row["a"]], level[row["b"]]
                level = {name: new if mark == old else mark for name, mark in level.items()}
        above = [(level[row["a"]], level[row["b"]]) for row in here if row["relation"] == "above"]
        above += [(level[row["b"]], level[row["a"]]) for row in here if row["relation"] == "below"]
        yield scene, level, above


class TestSpaces:
    rows = core_rows("spaces")
    opposite: ClassVar = {"above": "below", "below": "above", "similar": "similar"}

    def test_pairs_are_unique_and_asked_in_both_orders(self) -> None:
        relations = {(row["scene"], row["a"], row["b"]): row["relation"] for row in self.rows}
        assert len(relations) == len(self.rows)
        assert {
            (scene, b, a): self.opposite[relation] for (scene, a, b), relation in relations.items()
        } == relations

    def test_relations_are_balanced_in_every_scene(self) -> None:
        scenes = {row["scene"] for row in self.rows}
        assert scenes == {"bathroom", "bedroom", "kitchen", "living room", "office"}
        counts = Counter((row["scene"], row["relation"]) for row in self.rows)
        for scene in scenes:
            total = sum(counts[scene, relation] for relation in self.opposite)
            assert counts[scene, "above"] == counts[scene, "below"]
            assert counts[scene, "similar"] >= total / 5
            assert total >= 50

    def test_heights_are_consistent_across_levels(self) -> None:
        """Above is transitive, also through things on one level: a ring would mean that something
        is above itself."""
        for scene, _, above in space_classes():
            graph: dict[str, set[str]] = {}
            for higher, lower in above:
                graph.setdefault(higher, set()).add(lower)
            try:
                TopologicalSorter(graph).prepare()
            except CycleError as error:
                pytest.fail(f"{scene}: {error.args[1]} are above one another in a ring")

    def test_the_ceiling_is_above_all_and_the_floor_below_all(self) -> None:
        for row in self.rows:
            assert row["relation"] != "below" or row["a"] != "ceiling"
            assert row["relation"] != "above" or row["a"] not in (
                "floor",
                "carpet",
                "rug",
                "bath mat",
                "floor mat",
            )

    def test_things_are_singular_for_the_verb(self) -> None:
        things = {name for row in self.rows for name in (row["a"], row["b"])}
        assert [name for name in things if name.endswith("s") and not name.endswith("ss")] == []


class TestParts:
    rows = core_rows("parts")

    def answers(self, relation: str) -> dict[str, set[str]]:
        return {
            row["concept"]: set(row["answers"].split(";"))
            for row in self.rows
            if row["relation"] == relation
        }

    def test_there_are_many_concepts_under_both_relations(self) -> None:
        assert len({row["concept"] for row in self.rows}) >= 160
        assert Counter(row["relation"] for row in self.rows).keys() == {"has", "is made of"}

    @pytest.mark.parametrize(("relation", "size"), [("has", 39), ("is made of", 16)])
    def test_every_word_of_a_vocabulary_is_used(self, relation: str, size: int) -> None:
        counts = Counter(word for words in self.answers(relation).values() for word in words)
        assert len(counts) == size
        assert min(counts.values()) >= 2, counts

    def test_no_concept_gives_its_answer_away(self) -> None:
        leaks = [
            (row["concept"], word)
            for row in self.rows
            for word in row["answers"].split(";")
            if word in row["concept"] or word.removesuffix("s") in row["concept"].split()
        ]
        assert leaks == []

    @pytest.mark.parametrize(
        ("part", "implied"),
        [
            ("feathers", "wings claws legs eyes bones"),
            ("fur", "legs eyes teeth bones"),
            ("whiskers", "fur claws"),
            ("hooves", "fur legs"),
            ("antlers", "hooves"),
            ("horns", "hooves"),
            ("tusks", "teeth legs"),
            ("gills", "eyes"),
            ("bones", "eyes"),
            ("petals", "leaves roots"),
            ("branches", "leaves roots"),
            ("thorns", "leaves roots"),
            ("headlights", "wheels doors windows"),
            ("handlebars", "wheels"),
        ],
    )
    def test_a_part_brings_the_parts_that_always_go_with_it(self, part: str, implied: str) -> None:
        """The annotation is complete, so what implies another part must list it."""
        lacking = {
            concept: missing
            for concept, words in self.answers("has").items()
            if part in words and (missing := set(implied.split()) - words)
        }
        assert lacking == {}

    @pytest.mark.parametrize(
        ("part", "never"),
        [
            ("feathers", "fur teeth fins gills scales hooves"),
            ("fur", "feathers fins gills scales"),
            ("fins", "legs wings fur feathers"),
            ("hooves", "claws whiskers"),
            ("petals", "wheels eyes"),
            ("wheels", "eyes bones leaves legs"),
        ],
    )
    def test_parts_that_exclude_one_another(self, part: str, never: str) -> None:
        both = {
            concept: words & set(never.split())
            for concept, words in self.answers("has").items()
            if part in words
        }
        assert {concept: words for concept, words in both.items() if words} == {}


def test_the_tables_come_with_their_dedication() -> None:
    text = (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert "CC0 1.0" in text
    assert all(path.name in text for path in FOLDER.glob("*.csv"))
