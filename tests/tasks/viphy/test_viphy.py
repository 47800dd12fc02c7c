"""The ViPhy tasks: from the published files, from mined knowledge, and from files that are not what
they should be."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from seesay.data import knowledge, store
from seesay.data import viphy as files
from seesay.data.knowledge import COLORS, ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.data.splits import sample
from seesay.errors import UserError
from seesay.probes.linear import linear_task
from seesay.questions import BadRow, Task
from seesay.tasks import expand, load_task, task_groups
from seesay.tasks.viphy import color, facts, human

SIZES = {
    "viphy-color": (2_650, 1_325, 9_275),
    "viphy-size": (8_619, 4_309, 30_167),
    "viphy-size-subtype": (8_619, 4_309, 23_926),
    "viphy-size-transitive": (8_619, 4_309, 18_286),
    "viphy-space": (1_314, 657, 4_599),
}


def published() -> Path:
    return shared("viphy/results/size.csv").parents[1]


@pytest.fixture(autouse=True)
def nothing_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "stored"))


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    """A knowledge folder of the shape that `seesay mine` writes: things of sizes 1 to 10, each a
    colour, in a room."""
    folder = tmp_path / "mined"
    names = [f"thing {size}" for size in "abcdefghij"]
    near = [(a, b) for a in range(10) for b in range(10) if 0 < abs(a - b) <= 3]
    shares = np.eye(11)[:10] * 0.75 + np.eye(11)[1:] * 0.25
    knowledge.write(
        folder,
        [
            ColorFact(
                name,
                tuple(row),
                tuple(c for c, share in zip(COLORS, row, strict=True) if share),
                40,
            )
            for name, row in zip(names, shares.tolist(), strict=True)
        ],
        ColorFact,
    )
    knowledge.write(
        folder,
        [
            SizeFact(names[a], names[b], 9 * (a > b), 9 * (a < b), (">" if a > b else "<",))
            for a, b in near
        ],
        SizeFact,
    )
    knowledge.write(
        folder,
        [
            PlaceFact("living_room", names[a], names[b], 5, 5, 0, (">", "="))
            if a > b
            else PlaceFact("living_room", names[a], names[b], 0, 5, 5, ("=", "<"))
            for a, b in near
        ],
        PlaceFact,
    )
    knowledge.write(
        folder,
        [
            SubtypeFact(name, kind, 12)
            for name in names
            for kind in (name, f"red {name}", f"old {name}")
        ],
        SubtypeFact,
    )
    return folder


@pytest.mark.parametrize("name", SIZES)
def test_published_files_give_the_published_splits(name: str) -> None:
    tasks = load_task(name, published()).splits()
    assert tuple(len(task.questions) for task in tasks.values()) == SIZES[name]
    assert list(tasks) == ["train", "validation", "test"]
    learnt = {q.id for part in ("train", "validation") for q in tasks[part].questions}
    # Some pairs of the published transitive set are known after all, the other way round: 13 of
    # them to train and val.
    again = [q for q in tasks["test"].questions if q.id in learnt]
    assert len(again) == (13 if name == "viphy-size-transitive" else 0)
    assert load_task(name, published()) == tasks["test"]
    assert tasks["test"].provenance.as_published
    assert all(source.as_published for source in tasks["test"].provenance.data)
    assert not tasks["train"].published


def test_the_group_is_all_five() -> None:
    assert expand(["viphy"]) == list(task_groups()["viphy"]) == list(SIZES)


def things_of(task: Task) -> set[str]:
    return {thing for question in task.questions for thing in question.things}


def objects_of(task: Task) -> set[str]:
    return {question.object for question in task.questions}


def test_test_questions_whose_mirror_image_is_trained_on_are_tagged() -> None:
    for name, mirrored in (("viphy-size", 6_043), ("viphy-space", 879)):
        splits = load_task(name, published()).splits()
        trained = {question.id for question in splits["train"].questions}
        yes = [q for q in splits["test"].questions if q.tags["mirrored"] == "yes"]
        assert len(yes) == mirrored
        assert all(question.twin in trained for question in yes)
        no = [q for q in splits["test"].questions if q.tags["mirrored"] == "no"]
        assert not any(question.twin in trained for question in no)


def test_a_split_by_pairs_shares_no_pair() -> None:
    splits = load_task("viphy-size-pairs", published()).splits()
    assert [len(task.questions) for task in splits.values()] == [8_618, 4_308, 30_166]
    train, validation, test = map(objects_of, splits.values())
    assert train.isdisjoint(test | validation)
    assert validation.isdisjoint(test)
    # every pair is asked both ways round
    ids = {question.id for question in splits["test"].questions}
    assert all(question.twin in ids for question in splits["test"].questions)
    assert things_of(splits["train"]) & things_of(splits["test"])


def test_a_split_by_things_shares_no_thing() -> None:
    splits = load_task("viphy-size-things", published()).splits()
    assert [len(task.questions) for task in splits.values()] == [8_702, 890, 6_980]
    train, validation, test = map(things_of, splits.values())
    assert train.isdisjoint(test | validation)
    assert validation.isdisjoint(test)


def test_a_split_of_ours_has_no_published_figure() -> None:
    for name in ("viphy-size-pairs", "viphy-size-things"):
        task = load_task(name, published())
        assert task.name == name
        assert task.templates == load_task("viphy-size", published()).templates
        assert not task.published
        assert not task.training.linear_published
        assert not task.provenance.as_published


def test_splits_of_ours_on_mined_knowledge(mined: Path) -> None:
    splits = load_task("viphy-size-pairs", mined).splits()
    train, validation, test = map(objects_of, splits.values())
    assert all(map(len, (train, test)))
    assert train.isdisjoint(test | validation)
    assert validation.isdisjoint(test)
    knowledge.write(
        mined, [SizeFact("cup", "house", larger=0, smaller=9, typical=("<",))], SizeFact
    )
    with pytest.raises(UserError, match="too few pairs for the split of 'viphy-size-things'"):
        load_task("viphy-size-things", mined)


def test_questions_in_the_published_words() -> None:
    def texts(name: str, key: str) -> list[tuple[str, tuple[str, ...]]]:
        task = load_task(name, published())
        question = next(q for q in task.questions if q.id == key)
        prompts = [template.ask(question) for template in (*task.templates, *task.choice_templates)]
        return [(prompt.text, prompt.options) for prompt in prompts]

    assert texts("viphy-color", "pig") == [
        ("pig is of [MASK] color", COLORS),
        ("What is the color of pig? [MASK]", COLORS),
    ]
    assert texts("viphy-size", "couch|fixture") == [
        ("couch is [MASK] than fixture in size", ("bigger", "smaller")),
        ("couch is [MASK] than fixture in size", ("larger", "smaller")),
        # as in the published code
        ("the couch is [MASK] than fixture in size", ("bigger", "smaller")),
        ("the couch is [MASK] than fixture in size", ("larger", "smaller")),
        ("what is the size of couch in comparison to fixture? [MASK]", ("larger", "smaller")),
    ]
    assert texts("viphy-space", "living_room|sofa seat cushion|fireplace") == [
        (
            "in a living room, the sofa seat cushion is located [MASK] the fireplace",
            ("above", "beside", "below"),
        ),
        (
            "in a living room, where is sofa seat cushion located in comparison to fireplace? "
            "[MASK]",
            ("above", "similar level", "below"),
        ),
    ]


def test_tags_and_gold_of_published_questions() -> None:
    colors = load_task("viphy-color", published())
    pig = next(q for q in colors.questions if q.id == "pig")
    assert pig.tags == {"labels": "4", "category": "animal body"}
    assert list(pig.gold) == ["brown", "pink", "white", "black"]
    assert len({q.tags["category"] for q in colors.questions}) == 17
    places = load_task("viphy-space", published())
    level = Counter(q.tags["level"] for q in places.questions)
    assert level["yes"] == sum("=" in q.gold for q in places.questions)
    assert {q.tags["scene"] for q in places.questions} == {
        "bathroom",
        "bedroom",
        "kitchen",
        "living room",
        "office",
    }
    assert {q.tags["labels"] for q in places.questions} == {"1", "2"}
    sizes = load_task("viphy-size", published())
    assert Counter(len(q.object.split("|")) for q in sizes.questions) == {2: 30_167}
    both_ways = Counter(q.object for q in sizes.questions)
    assert max(both_ways.values()) == 2, (
        "a pair and its mirror image are one object, and no other pair is"
    )


def test_the_transitive_repeats_are_reported() -> None:
    task = load_task("viphy-size-transitive", published())
    assert len(task.provenance.bad_rows) == 1_714
    assert task.provenance.bad_rows[0].row == 264
    assert task.provenance.bad_rows[0].reason == "repeats row 222"
    assert {tuple(q.gold) for q in task.questions} == {("<",)}


def test_published_figures_are_shown_with_published_questions_only(tmp_path: Path) -> None:
    values = {
        (row.model, row.metric): row.value for row in load_task("viphy-size", published()).published
    }
    assert values["BERT-large", "vocabulary_accuracy"] == 0.4461
    assert values["people", "accuracy"] == 0.9012
    folder = tmp_path / "changed"
    (folder / "results").mkdir(parents=True)
    text = shared("viphy/results/size.csv").read_text()
    (folder / "results" / "size.csv").write_text(
        text.replace("guy,clock,303,60", "guy,clock,304,60")
    )
    changed = load_task("viphy-size", folder)
    assert changed.published == ()
    assert not changed.provenance.as_published
    assert not changed.provenance.data[0].as_published


def test_linear_figures_are_found_by_metric() -> None:
    clip = {
        name: {
            row.metric: row.value
            for row in load_task(name, published()).training.linear_published
            if "CLIP" in row.model
        }
        for name in task_groups()["viphy"]
    }
    assert clip == {
        "viphy-color": {"relaxed_accuracy": 0.7996, "true_confidence": 0.6550, "macro_f1": 0.4954},
        "viphy-size": {"accuracy": 0.7543},
        "viphy-size-subtype": {"accuracy": 0.6656},
        "viphy-size-transitive": {"accuracy": 0.7248},
        "viphy-space": {
            "relaxed_accuracy": 0.6510,
            "true_confidence": 0.6356,
            "macro_f1_space": 0.6226,
        },
    }


def test_mined_knowledge_makes_the_same_tasks(mined: Path) -> None:
    for name, total in (("viphy-color", 10), ("viphy-size", 48), ("viphy-space", 48)):
        tasks = load_task(name, mined).splits()
        assert [len(task.questions) for task in tasks.values()] == [
            int(s * total) for s in (0.2, 0.1, 0.7)
        ]
        assert all(
            not task.published and not task.provenance.bad_rows and not task.provenance.citation
            for task in tasks.values()
        )
        assert [source.name for source in tasks["test"].provenance.data] == [
            knowledge.FILES[fact_kinds()[name]]
        ]
        assert not tasks["test"].provenance.as_published
        left_over = (
            () if total == 10 else ("2 of 48 rows in no split: each split's size is rounded down",)
        )
        assert tasks["test"].provenance.notes == left_over
    color = load_task("viphy-color", mined).questions[0]
    assert sorted(color.gold.values()) == [0.25, 0.75]
    assert color.tags == {"labels": "2"}
    place = load_task("viphy-space", mined).questions[0]
    assert place.gold in ({">": 0.5, "=": 0.5}, {"=": 0.5, "<": 0.5})
    assert place.fields["scene"] == "living room"


def fact_kinds() -> dict[str, type]:
    return {"viphy-color": ColorFact, "viphy-size": SizeFact, "viphy-space": PlaceFact}


def test_derived_sets_are_built_of_mined_knowledge(mined: Path) -> None:
    subtypes = load_task("viphy-size-subtype", mined)
    assert len(subtypes.questions) == int(0.7 * 48)
    assert all(
        name.startswith(("red ", "old ")) for q in subtypes.questions for name in q.fields.values()
    )
    assert [source.name for source in subtypes.provenance.data] == [
        "sizes.parquet",
        "subtypes.parquet",
    ]
    assert subtypes.provenance.notes == ("derived by seesay (seed 0)",)
    transitive = load_task("viphy-size-transitive", mined)
    # Things 4 to 6 sizes apart are known through one other thing: 6 + 5 + 4 pairs.
    assert len(transitive.questions) == 15
    for question in (*subtypes.questions, *transitive.questions):
        a, b = (question.fields[field][-1] for field in "ab")
        assert question.gold == {">" if a > b else "<": 1.0}


def test_mined_facts_that_make_no_question_are_reported(mined: Path) -> None:
    facts = [
        SizeFact("cup", "bus", 5, 5, (">", "<")),
        SizeFact("cup", "car", 5, 5, ()),
        SizeFact("cup", "[MASK]", 5, 5, ("<",)),
        SizeFact("cup", "van", 1, 9, ("<",)),
        SizeFact("cup", "van", 1, 9, ("<",)),
        SizeFact("a|b", "van", 1, 9, ("<",)),
        SizeFact("van", "van", 5, 5, ("<",)),
        SizeFact("bus", "van", -1, 9, ("<",)),
        *(SizeFact(f"cup {i}", "van", 1, 9, ("<",)) for i in range(9)),
    ]
    knowledge.write(mined, facts, SizeFact)
    task = load_task("viphy-size", mined)
    assert [row.row for row in task.provenance.bad_rows] == [1, 2, 3, 5, 6, 7, 8]
    assert task.provenance.bad_rows[5].reason == "van, van: compares 'van' with itself"
    assert len(task.questions) == 7
    knowledge.write(mined, [PlaceFact("attic", "a", "b", 1, 1, 1, (">", "=", "<"))] * 2, PlaceFact)
    with pytest.raises(UserError, match="no questions"):
        load_task("viphy-space", mined)
    knowledge.write(mined, [ColorFact("crow", (1.0,), ("black",), 9)], ColorFact)
    with pytest.raises(UserError, match="no questions"):
        load_task("viphy-color", mined)


def test_a_table_of_its_own_is_asked_whole() -> None:
    task = load_task("viphy-size", shared("viphy/examples/size_examples.tsv"))
    assert len(task.questions) == 99
    assert [row.row for row in task.provenance.bad_rows] == [42]
    assert task.published == ()
    assert (
        len(load_task("viphy-space", shared("viphy/examples/spatial_examples.tsv")).questions)
        == 100
    )
    with pytest.raises(UserError, match=r"a single table without splits.*give a folder"):
        task.splits()


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"neither results/size\.csv.*nor sizes\.parquet"):
        load_task("viphy-size", tmp_path)
    with pytest.raises(UserError, match=r"data fetch viphy` fetches it.*data add viphy PATH"):
        load_task("viphy-size")
    with pytest.raises(UserError, match="no split 'dev'"):
        facts.load_facts(PlaceFact, published()).split("dev")
    with pytest.raises(UserError, match="Did you mean 'viphy-size'"):
        load_task("viphy-sizes")


def test_the_data_folder_serves_the_tasks() -> None:
    placed = store.add("viphy", published())
    assert len(placed) == 12
    assert [status.state for status in store.check_files(["viphy"])] == ["verified"] * 12
    assert len(load_task("viphy-space").questions) == 4_599


def test_a_sample_takes_a_fraction() -> None:
    questions = load_task("viphy-space", published()).splits()["train"].questions
    fifth, half = sample(questions, 0.2, 1), sample(questions, 0.5, 1)
    assert (len(fifth), len(half)) == (262, 657)
    assert half[:262] == fifth
    assert sample(questions, 0.2, 2) != fifth


def test_people_of_coda_on_the_shared_things() -> None:
    rows, _ = files.read(shared("viphy/results/colors.json"), ColorFact)
    figures = human.human_figures(rows, shared("coda/objects.jsonl").parent)
    assert figures.objects == 432
    assert round(figures.any_overlap, 4) == 0.9745  # published: 97.45
    assert figures.confidence == pytest.approx(0.7865, abs=2e-4)  # published: 78.65
    assert figures.any_overlap * 432 == pytest.approx(421)
    assert figures.most_frequent * 432 == pytest.approx(375)


def test_human_rows_are_shown_if_coda_is_available(tmp_path: Path) -> None:
    without = color.load(published()).published
    shutil.copytree(shared("coda/objects.jsonl").parent, tmp_path / "stored" / "coda")
    added = color.load(published()).published[len(without) :]
    assert [(row.model, row.metric) for row in added] == [
        ("people (CoDa), any overlap", "relaxed_accuracy"),
        ("people (CoDa), most frequent", "relaxed_accuracy"),
        ("people (CoDa)", "true_confidence"),
        ("people (CoDa)", "macro_f1"),
    ]
    assert round(added[0].value, 4) == 0.9745
    assert added[1].value < added[0].value
    linear = linear_task(color.load(published())).published
    assert linear[-4:] == added, "a probe is shown people's rows too"


def test_damaged_coda_loses_the_human_rows_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without = color.load(published())
    (tmp_path / "stored" / "coda").mkdir(parents=True)
    for file in ("annotations.jsonl", "objects.jsonl"):
        (tmp_path / "stored" / "coda" / file).write_text("no JSON\n")
    assert color.load(published()) == without
    assert "shown without the human row" in caplog.text


def test_rows_of_coda_that_cannot_be_used_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Path(shutil.copytree(shared("coda/objects.jsonl").parent, tmp_path / "coda"))
    with (folder / "objects.jsonl").open("a") as file:
        file.write('{"class_id": 5}\n')
    rows, _ = files.read(shared("viphy/results/colors.json"), ColorFact)
    assert human.human_figures(rows, folder).objects == 432
    assert re.search(
        r"1 rows of .*objects\.jsonl cannot be used \(row \d+: 'class_id'", caplog.text
    )


def test_files_beside_the_colours_have_bad_rows_too(tmp_path: Path) -> None:
    for folder in ("results", "extra"):
        (tmp_path / folder).mkdir()
    colours = {f"thing {i}": {"red": 1.0} for i in range(10)}
    (tmp_path / "results" / "colors.json").write_text(json.dumps(colours))
    (tmp_path / "results" / "col_meta.csv").write_text("object,total\nthing 1,12\nthing 2,many\n")
    (tmp_path / "extra" / "obj2cat.json").write_text(json.dumps({"thing 1": "food", "thing 2": 7}))
    task = load_task("viphy-color", tmp_path)
    assert task.provenance.bad_rows == (
        BadRow(3, "'total' is 'many', not a count", "col_meta.csv"),
        BadRow(2, "'thing 2': its category is not a text", "obj2cat.json"),
    )


def test_derived_sets_are_built_where_the_published_ones_are_absent(tmp_path: Path) -> None:
    """From the published pairs; they are not the published sets, so no published figure stands
    beside them."""
    for file in ("results/size.csv", "data/object_subtypes_o100_s10.json"):
        (tmp_path / file).parent.mkdir()
        shutil.copy(shared(f"viphy/{file}"), tmp_path / file)
    subtypes, transitive = (
        load_task(f"viphy-size-{kind}", tmp_path) for kind in ("subtype", "transitive")
    )
    assert len(transitive.questions) == 20_000
    assert abs(len(subtypes.questions) - 23_926) < 300, (
        "as many as the published draw, but for repeats"
    )
    for task in (subtypes, transitive):
        assert task.provenance.notes == ("derived by seesay (seed 0)",)
        assert task.provenance.citation
        assert linear_task(task).published == ()
    assert linear_task(load_task("viphy-size", tmp_path)).published
    assert load_task("viphy-size", tmp_path).provenance.notes == (
        "1 of 43,096 rows in no split: each split's size is rounded down",
    )
