"""The four tasks of the embedded battery: what they ask, and what they do with a table of somebody
else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from seesay.data.colors import COLORS
from seesay.data.core_tables import FOLDER, core_rows
from seesay.data.task_files.pair_draws import MOST_RANKED
from seesay.errors import UserError
from seesay.questions import SLOT, Prompt, Task
from seesay.tasks import load_task

TABLES = {
    "core-color": "colors",
    "core-size": "sizes",
    "core-space": "spaces",
    "core-parts": "parts",
}
HEADERS = {
    "core-color": "article,object,colors,category",
    "core-size": "article,object,metres,category",
    "core-space": "scene,a,b,relation",
    "core-parts": "article,concept,relation,answers",
}


@pytest.fixture(scope="module", params=sorted(TABLES))
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(request.param)


def filled(prompt: Prompt) -> list[str]:
    return [prompt.text.replace(SLOT, option) for option in prompt.options]


def table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class TestEveryTask:
    def test_the_embedded_table_has_no_bad_row(self, task: Task) -> None:
        assert task.provenance.bad_rows == ()
        assert task.provenance.citation == "seesay core battery, CC0 1.0"

    def test_gold_weights_sum_to_one(self, task: Task) -> None:
        assert all(sum(question.gold.values()) == pytest.approx(1) for question in task.questions)

    def test_every_sentence_reads_like_one(self, task: Task) -> None:
        for question in task.questions:
            for template in task.templates:
                for sentence in filled(template.ask(question)):
                    assert re.fullmatch(r"[A-Z][^{}\[\]]*\.", sentence), sentence
                    assert "  " not in sentence

    def test_options_differ_in_every_template(self, task: Task) -> None:
        for template in task.templates:
            options = template.ask(task.questions[0]).options
            assert len(set(options)) == len(options)

    def test_the_neutral_prompt_no_longer_names_the_object(self, task: Task) -> None:
        for template in task.templates:
            neutral = {template.ask(question, task.neutral).text for question in task.questions}
            scenes = {"core-space": 5, "core-parts": 2}.get(task.name, 1)
            assert len(neutral) == scenes, neutral

    def test_loading_twice_gives_the_same_task(self, task: Task) -> None:
        assert load_task(task.name).fingerprint == task.fingerprint

    def test_table_of_the_same_format_can_replace_the_rows(self, task: Task) -> None:
        assert (
            load_task(task.name, FOLDER / f"{TABLES[task.name]}.csv").fingerprint
            == task.fingerprint
        )

    def test_card_shows_every_template_and_the_count(self, task: Task) -> None:
        card = (Path(__file__).parents[2] / "docs" / "tasks" / f"{task.name}.md").read_text(
            encoding="utf-8"
        )
        assert f"{len(task.questions)} questions" in card
        asked = {
            template.ask(question).text
            for template in task.templates
            for question in task.questions
        }
        examples = re.findall(r"^\| `[a-z-]+` \| (.+?) \|", card, flags=re.MULTILINE)
        assert len(examples) == len(task.templates)
        assert [example for example in examples if example not in asked] == []


class TestColor:
    task = load_task("core-color")

    def test_one_question_per_thing_with_equal_weights(self) -> None:
        tiger = next(question for question in self.task.questions if question.id == "tiger")
        assert tiger.gold == {"orange": 1 / 3, "black": 1 / 3, "white": 1 / 3}
        assert tiger.tags == {"category": "animal", "cardinality": "3"}
        assert tiger.options == COLORS

    def test_nouns_without_article_keep_none(self) -> None:
        snow = next(question for question in self.task.questions if question.id == "snow")
        assert snow.fields == {"thing": "snow", "Thing": "Snow"}


class TestSize:
    task = load_task("core-size")
    metres: ClassVar = {row["object"]: float(row["metres"]) for row in core_rows("sizes")}

    def test_larger_and_smaller_are_equally_many_in_every_slice(self) -> None:
        counts = Counter(
            (tag, value, answer)
            for question in self.task.questions
            for tag, value in question.tags.items()
            for answer in question.gold
        )
        assert {(tag, value) for tag, value, _ in counts} == {
            ("ratio", "2-5"),
            ("ratio", "5-20"),
            ("ratio", "20+"),
            ("category", "same"),
            ("category", "different"),
        }
        for tag, value, _ in list(counts):
            assert counts[tag, value, "larger"] == counts[tag, value, "smaller"]

    def test_strata_are_equally_large(self) -> None:
        counts = Counter(
            (question.tags["ratio"], question.tags["category"]) for question in self.task.questions
        )
        assert set(counts.values()) == {100}
        assert len(counts) == 6

    def test_gold_follows_the_table_with_a_factor_of_two(self) -> None:
        for question in self.task.questions:
            a, b = question.id.split("|")
            ratio = self.metres[a] / self.metres[b]
            assert question.gold == ({"larger": 1.0} if ratio > 1 else {"smaller": 1.0})
            assert max(ratio, 1 / ratio) >= 2

    def test_both_directions_are_one_fact(self) -> None:
        by_object = Counter(question.object for question in self.task.questions)
        assert set(by_object.values()) == {2}

    def test_every_thing_is_asked_about_equally_often(self) -> None:
        uses = Counter(name for question in self.task.questions for name in question.id.split("|"))
        assert uses.keys() == self.metres.keys()
        assert set(uses.values()) <= {4, 6, 8}  # two to four pairs, each asked twice

    def test_things_of_equal_size_are_not_paired(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "s.csv",
            "article,object,metres,category",
            "a,cat,0.5,animal",
            "a,hen,0.4,animal",
        )
        with pytest.raises(
            UserError, match="no two rows of which one has 2 times the 'metres' of the other"
        ):
            load_task("core-size", path)

    def test_a_table_too_large_to_compare_is_refused(self, tmp_path: Path) -> None:
        things = [f"a,thing {i},{i + 1},other" for i in range(MOST_RANKED + 1)]
        with pytest.raises(UserError, match="There are 2,001 rows"):
            load_task(
                "core-size", table(tmp_path / "s.csv", "article,object,metres,category", *things)
            )

    def test_a_small_table_gives_all_its_pairs(self, tmp_path: Path) -> None:
        things = ("a,flea,0.002,animal", "a,cat,0.5,animal", "a,cow,2.4,animal")
        task = load_task(
            "core-size", table(tmp_path / "s.csv", "article,object,metres,category", *things)
        )
        assert {question.object for question in task.questions} == {
            "cat|flea",
            "cow|flea",
            "cat|cow",
        }


class TestSpace:
    task = load_task("core-space")

    def test_the_scene_takes_its_article(self) -> None:
        office = next(
            question for question in self.task.questions if question.tags["scene"] == "office"
        )
        assert self.task.templates[0].ask(office).text.startswith("In an office, the ")

    def test_both_directions_are_one_fact(self) -> None:
        assert set(Counter(question.object for question in self.task.questions).values()) == {2}

    def test_a_contradiction_is_a_bad_row(self, tmp_path: Path) -> None:
        rows = ("kitchen,pot,stove,above", "kitchen,stove,pot,above", "office,stove,pot,above")
        task = load_task("core-space", table(tmp_path / "s.csv", "scene,a,b,relation", *rows))
        assert [row.row for row in task.provenance.bad_rows] == [3]
        assert task.provenance.bad_rows[0].reason == "row 2 says that 'pot' is above 'stove'"
        assert {question.id: question.gold for question in task.questions} == {
            "kitchen|pot|stove": {"above": 1.0},
            "kitchen|stove|pot": {"below": 1.0},
            "office|stove|pot": {"above": 1.0},
            "office|pot|stove": {"below": 1.0},
        }


class TestParts:
    task = load_task("core-parts")

    def test_all_words_of_a_relation_are_offered(self) -> None:
        sizes = {
            question.tags["relation"]: len(question.options) for question in self.task.questions
        }
        assert sizes == {"has": 39, "is made of": 16}

    def test_one_concept_may_be_asked_both_ways(self) -> None:
        car = {
            question.id: set(question.gold)
            for question in self.task.questions
            if question.object == "car"
        }
        assert car["car|has"] == {"wheels", "headlights", "pedals", "doors", "windows"}
        assert car["car|is made of"] == {"metal", "glass", "rubber", "plastic"}

    def test_the_question_takes_its_verb(self) -> None:
        texts = {self.task.templates[2].ask(question).text for question in self.task.questions}
        assert "Q: What does a dog have? A: [MASK]." in texts
        assert "Q: What is a nail made of? A: [MASK]." in texts


GOOD = {
    "core-color": "a,lemon,yellow,food",
    "core-size": "a,flea,0.002,animal",
    "core-space": "kitchen,pot,stove,above",
    "core-parts": "a,dog,has,fur;legs",
}


@pytest.mark.parametrize(
    ("name", "row", "reason"),
    [
        ("core-color", "a,plum,violet,food", "gold 'violet' is not among the options"),
        ("core-color", "a,plum,red;red,food", "twice"),
        ("core-color", "a,plum,red;,food", "empty part"),
        ("core-color", "a,plum,,food", "'colors' is empty"),
        ("core-color", "a,,red,food", "'object' is empty"),
        ("core-color", "some,plum,red,food", "'article' is 'some'"),
        ("core-color", "a,plum,red", "has 3 cells where there are 4 columns"),
        ("core-color", "a,Lemon,red,food", "repeats row 2"),
        ("core-color", "a,[MASK],red,food", "holds [MASK]"),
        ("core-color", 'a,"plum,red,food', "not CSV"),
        ("core-size", "a,cow,big,animal", "'metres' is 'big'"),
        ("core-size", "a,cow,-2,animal", "not a number above 0"),
        ("core-size", "a,cow,nan,animal", "not a number above 0"),
        ("core-size", "a,cow,inf,animal", "not a number above 0"),
        ("core-size", "a,Flea,0.003,animal", "repeats row 2"),
        ("core-space", "cellar,pot,stove,above", "'scene' is 'cellar'"),
        ("core-space", "kitchen,mug,table,on", "'relation' is 'on'"),
        ("core-space", "kitchen,mug,mug,above", "with itself"),
        ("core-space", "kitchen,pot,stove,above", "repeats row 2"),
        ("core-parts", "a,cat,likes,milk", "'relation' is 'likes'"),
        ("core-parts", "a,cat,has,fur;;legs", "empty part"),
        ("core-parts", "a,dog,has,eyes", "repeats row 2"),
    ],
)
def test_a_bad_row_is_reported_and_the_others_are_used(
    tmp_path: Path, name: str, row: str, reason: str
) -> None:
    last = {"core-size": "a,whale,25,animal"}.get(name)
    path = table(tmp_path / "t.csv", HEADERS[name], GOOD[name], row, *([last] if last else []))
    task = load_task(name, path)
    assert [(bad.row, reason in bad.reason) for bad in task.provenance.bad_rows] == [(3, True)], (
        task.provenance.bad_rows
    )
    # these are asked both ways
    assert len(task.questions) == (2 if name in ("core-size", "core-space") else 1)


@pytest.mark.parametrize("name", sorted(TABLES))
class TestUnusableFiles:
    def test_missing(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="There is no file"):
            load_task(name, tmp_path / "none.csv")

    def test_folder(self, name: str, tmp_path: Path) -> None:
        path = f"{tmp_path}/core/{TABLES[name]}.csv"
        needless = f"There is no file {path}. '{name}' has rows of its own: leave out --data"
        with pytest.raises(UserError, match=re.escape(needless)):
            load_task(name, tmp_path)

    def test_missing_columns(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(
            UserError, match=rf"t.csv does not fit the task '{name}': there is no column '\w+'"
        ):
            load_task(name, table(tmp_path / "t.csv", "article,thing", "a,lemon"))

    def test_empty(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(
            UserError, match=f"t.csv does not fit the task '{name}': there is no column"
        ):
            load_task(name, table(tmp_path / "t.csv", ""))

    def test_no_good_row(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(
            UserError, match=r"t.csv holds no row that can be used \(row 2: has 1 cell where"
        ):
            load_task(name, table(tmp_path / "t.csv", HEADERS[name], "nothing"))


def test_a_table_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    """A byte order mark, Windows line ends, quoted cells, more columns in another order."""
    path = tmp_path / "t.csv"
    path.write_bytes(
        b'\xef\xbb\xbfnote,object,article,category,colors\r\n"ripe, of '
        b'course",lemon,a,food,"yellow"\r\n\r\n'
    )
    task = load_task("core-color", path)
    assert task.provenance.bad_rows == ()
    assert task.questions[0].gold == {"yellow": 1.0}
