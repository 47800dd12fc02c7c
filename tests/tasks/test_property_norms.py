"""Visual Property Norms from a small norms file in the CSLB format; every row here is invented."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.data import store
from seesay.errors import UserError
from seesay.questions import BadRow, Question
from seesay.tasks import load_task
from seesay.tasks.property_norms import COLUMNS, read_articles, read_words, resolve
from seesay.tasks.template_files import read_template_file

TEMPLATES = read_template_file("property-norms")["templates"]

Row = tuple[str, str, int, str, str]


def people(*groups: int) -> str:
    numbers = iter(range(1, 31))
    return "p " + " / ".join(" ".join(str(next(numbers)) for _ in range(size)) for size in groups)


# concept, feature, pf, feature alternatives, participant list
LOOKS: tuple[Row, ...] = (
    ("magic_lamp", "has a spout", 12, "has a spout", people(12)),
    ("magic_lamp", "has a handle_grip", 6, "has a grip; has a handle", people(4, 2)),
    ("magic_lamp", "made of brass", 21, "made of brass; made of copper", people(20, 1)),
    ("magic_lamp", "made of gold", 4, "made of gold", people(4)),
    ("magic_lamp", "is shiny_gleaming", 30, "is gleaming; is shiny", people(9, 21)),
    ("magic_lamp", "is gold", 1, "is gold", people(1)),
    ("magic_lamp", "has smoke rising slowly", 5, "has smoke rising slowly", people(5)),
    ("magic_lamp", "does glow", 9, "does glow", people(9)),
    ("imp", "is red", 30, "is red", people(30)),
    ("imp", "is black_dark", 7, "is dark; is black", people(2, 5)),
    ("imp", "has horns", 15, "has horns", people(15)),
    ("imp", "has unobtainium", 5, "has unobtainium", people(5)),
    ("soot", "is black", 30, "is black", people(30)),
    ("soot", "is fine", 3, "is fine", people(3)),
)
OTHER = (
    "nonliving",
    "functional",
    "magic_lamp",
    "does grant wishes",
    "25",
    "does grant wishes",
    people(25),
)
WORDS = [
    "black",
    "brass",
    "dark",
    "fine",
    "gleaming",
    "gold",
    "grip",
    "handle",
    "horns",
    "red",
    "shiny",
    "spout",
]


def line(row: Row) -> str:
    concept, feature, pf, alternatives, participants = row
    return "\t".join(
        ("nonliving", "visual perceptual", concept, feature, str(pf), alternatives, participants)
    )


def write(folder: Path, rows: Sequence[str], *, words: bool = True, articles: bool = True) -> Path:
    (folder / "norms.dat").write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n")
    if words:
        (folder / "labels.txt").write_text("\n".join(WORDS) + "\n")
    if articles:
        (folder / "descriptors.csv").write_text("concept,descriptor\nmagic_lamp,a\nimp,an\nsoot,\n")
    return folder


@pytest.fixture(autouse=True)
def no_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))


def asked(folder: Path) -> dict[str, Question]:
    return {question.id: question for question in load_task("property-norms", folder).questions}


def gold(questions: dict[str, Question], segment: int) -> dict[tuple[str, str], set[str]]:
    return {
        (q.object, q.tags["relation"]): set(q.gold)
        for q in questions.values()
        if q.tags["segment"] == f"pf>={segment}"
    }


def test_questions_of_every_segment(tmp_path: Path) -> None:
    questions = asked(write(tmp_path, [*map(line, LOOKS), "\t".join(OTHER)]))
    assert gold(questions, 2) == {
        ("magic lamp", "has a"): {"spout", "grip"},
        ("magic lamp", "is made of"): {"brass", "gold"},
        ("magic lamp", "is"): {"shiny"},
        ("imp", "is"): {"red", "black"},
        ("imp", "has"): {"horns"},
        ("soot", "is"): {"black", "fine"},
    }
    assert gold(questions, 10) == {
        ("magic lamp", "has a"): {"spout"},
        ("magic lamp", "is made of"): {"brass"},
        ("magic lamp", "is"): {"shiny"},
        ("imp", "is"): {"red"},
        ("imp", "has"): {"horns"},
        ("soot", "is"): {"black"},
    }
    assert gold(questions, 30) == {
        ("magic lamp", "is"): {"shiny"},
        ("imp", "is"): {"red"},
        ("soot", "is"): {"black"},
    }
    assert all(question.options == tuple(WORDS) for question in questions.values())


def test_templates(tmp_path: Path) -> None:
    questions = asked(write(tmp_path, list(map(line, LOOKS))))
    lamp, soot = questions["magic_lamp/is made of/pf2"], questions["soot/is/pf2"]
    assert [template.ask(lamp).text for template in TEMPLATES] == [
        "a magic lamp is made of [MASK].",
        "everybody knows that a magic lamp is made of [MASK].",
        "a magic lamp usually is made of [MASK].",
        "q: a magic lamp is made of? a: [MASK].",
        "q: a magic lamp usually is made of? a: [MASK].",
        "generally, a magic lamp is made of [MASK].",
        "a magic lamp generally is made of [MASK].",
        "describe the properties of a magic lamp. a magic lamp is made of [MASK].",
        "describe the properties of a magic lamp. a magic lamp usually is made of [MASK].",
    ]
    assert TEMPLATES[0].ask(soot).text == "soot is [MASK]."


def test_colour_answers_are_those_with_nothing_else(tmp_path: Path) -> None:
    questions = asked(write(tmp_path, list(map(line, LOOKS))))
    colour = {q.id for q in questions.values() if q.tags["answers"] == "colour"}
    assert "imp/is/pf2" in colour
    assert "soot/is/pf2" not in colour
    assert "soot/is/pf5" in colour


def test_without_the_word_list_the_answers_of_the_file_are_the_options(tmp_path: Path) -> None:
    task = load_task(
        "property-norms", write(tmp_path, list(map(line, LOOKS)), words=False, articles=False)
    )
    assert "unobtainium" in task.labels
    assert list(task.labels) == sorted(task.labels)
    assert task.provenance.notes[:2] == (
        "the 10 answer words of the file as options",
        "concepts without articles",
    )
    assert task.questions[0].fields["thing"] == "magic lamp"


def test_the_word_list_is_found_in_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "norms").mkdir()
    path = (
        write(tmp_path / "norms", list(map(line, LOOKS)), words=False, articles=False) / "norms.dat"
    )
    place = store.stored_path(store.get_dataset("property-norms"), "labels.txt")
    place.parent.mkdir(parents=True)
    place.write_text("red\nblack\n")
    task = load_task("property-norms", path)
    assert task.labels == ("red", "black")
    assert "2 published answer words as options" in task.provenance.notes


@pytest.mark.parametrize(
    ("feature", "alternatives", "participants", "resolved"),
    [
        ("is loud", "is noisy; is loud", "p 1 2 3 / 4", "is loud"),
        ("is big_large", "is big; is large", "p 1 / 2 3", "is large"),
        ("is big_large", "is big; is large", "p 1 2 / 3 4", "is big"),
        ("has a lid_a cap", "has a cap; has a lid", "p 1 2 / 3", "has a cap"),
        ("has a lid_cap", "has a cap; has a lid", "p 1 2 / 3", "has a cap"),
        # the first form, where neither was said
        ("has a lid_cap", "does close; has a cap", "p 1 2 / 3", "has a lid"),
        ("has a lid_a flat cap", "has a lid flat cap; is odd", "p 1 2 / 3", "has a lid flat cap"),
        # Read as another feature, as in the authors' create-visual-property-norms-evaluation.ipynb.
        ("is circular_round", "is rounded; is circular", "p 1 2 / 3", "is round"),
        ("has hair_fur", "is furry; has hair", "p 1 2 / 3", "has fur"),
        ("has a cord_a wire", "has a cable; has a cord", "p 1 2 / 3", "has a wire"),
        ("made of china_ceramic", "made of clay; made of china", "p 1 2 / 3", "made of ceramic"),
    ],
)
def test_features_with_alternatives(
    feature: str, alternatives: str, participants: str, resolved: str
) -> None:
    assert resolve(feature, alternatives, participants) == resolved


def test_entries_are_counted_beside_the_published_numbers(tmp_path: Path) -> None:
    task = load_task("property-norms", write(tmp_path, [*map(line, LOOKS), "\t".join(OTHER)]))
    assert task.provenance.notes[-5:] == (
        "entries of pf>=2: 10 (published: 6,541); is 5, has 1, has a 2, is made of 2",
        "entries of pf>=5: 8 (published: 3,641); is 4, has 1, has a 2, is made of 1",
        "entries of pf>=10: 6 (published: 2,001); is 3, has 1, has a 1, is made of 1",
        "entries of pf>=20: 4 (published: 613); is 3, has 0, has a 0, is made of 1",
        "entries of pf>=30: 3 (published: 27); is 3, has 0, has a 0, is made of 0",
    )


def test_bad_rows_are_skipped_and_reported(tmp_path: Path) -> None:
    good = line(LOOKS[8])
    rows = [
        good,
        "imp\tis odd",
        good.replace("\t30\t", "\tmany\t"),
        good.replace("imp", ""),
        good.replace("imp", "x" * 101),
        line(("imp", "is small_tiny", 3, "is small", people(1, 2))),
    ]
    task = load_task("property-norms", write(tmp_path, rows))
    assert {question.object for question in task.questions} == {"imp"}
    assert task.provenance.bad_rows == (
        BadRow(3, "has 2 cells where there are 7 columns"),
        BadRow(4, "'pf' is not a whole number"),
        BadRow(5, "'concept' is empty"),
        BadRow(6, "'concept' is longer than 100 characters"),
        BadRow(7, "the participant list does not fit the feature alternatives"),
    )


def test_files_that_are_not_the_norms(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Centre for Speech, Language and the Brain"):
        load_task("property-norms")
    (tmp_path / "norms.dat").write_text("concept,feature\n")
    with pytest.raises(UserError, match="separated by commas, not by tabs"):
        load_task("property-norms", tmp_path)
    (tmp_path / "norms.dat").write_text("concept\tfeature\n")
    with pytest.raises(
        UserError, match="is not the CSLB norms: its first line has no column 'domain'"
    ):
        load_task("property-norms", tmp_path)
    with pytest.raises(UserError, match="contains nothing that can be asked"):
        load_task("property-norms", write(tmp_path, ["\t".join(OTHER)]))
    write(tmp_path, list(map(line, LOOKS)))
    (tmp_path / "descriptors.csv").write_text("concept,descriptor\nimp,[MASK]\n")
    with pytest.raises(UserError, match="does not give each concept's article"):
        load_task("property-norms", tmp_path)
    (tmp_path / "labels.txt").write_text("two words\n")
    with pytest.raises(UserError, match="is not a list of words"):
        load_task("property-norms", tmp_path)


def test_the_published_word_list_and_articles() -> None:
    words = read_words(shared("property_norms/labels.txt"))
    assert len(words) == 614
    articles = read_articles(shared("property_norms/descriptors.csv"))
    assert len(articles) == 638
    assert set(articles.values()) == {"", "a", "an"}
