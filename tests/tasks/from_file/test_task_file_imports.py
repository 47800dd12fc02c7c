"""Task files: published files imported as a user would, and built-in tasks that are files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.shared_data import shared
from tests.tasks.written_tasks import prompts, task_of

from seesay.questions import Question
from seesay.tasks import load_task

MEMORY_COLORS = """
title: The colour that a thing is remembered by
citation: Norlund et al. 2021
rows: memory_colors.jsonl
id: item
object: item
fields: {thing: "{descriptor} {item}"}
options: [black, blue, brown, green, grey, orange, pink, purple, red, white, yellow]
gold: label
tags: {colour: label}
templates:
  the-color-is: The color of {thing} is [MASK].
  usually-has: "{thing} usually has the color of [MASK]."
neutral: {thing: something}
"""

VIPHY_SPACE = """
title: What is above what in a room
citation: Singh, Qasemi & Chen 2023
rows: {train: train.csv, validation: val.csv, test: test.csv}
id: [scene, o1, o2]
object: [o1, o2]
options: [">", "=", <]
words: {">": above, "=": level with, <: below}
gold: {column: typical, separator: ","}
tags: [scene]
rules:
  - rename: scene
    values: {living_room: living room, home_office: home office, dining_room: dining room}
templates: "in a {scene}, the {o1} is [MASK] the {o2}."
linear_text: "{o1} and {o2} in a {scene}"
metrics: [relaxed_accuracy]
"""

MALEVIC = """
title: Is it a big object?
citation: Pezzelle & Fernández 2019
rows: dataset/test.json
read: {list: questions}
id: "test/{question_index}"
object: image_filename
rules: [{rename: answer, values: {yes: "true", no: "false"}}]
options: ["true", "false"]
gold: answer
picture: "images/test/{image_filename}"
templates: "{question}. This is [MASK]."
"""


def copied(folder: str, to: Path, *names: str) -> Path:
    for name in names:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((shared(folder) / name).read_bytes())
    return to


def gold(questions: tuple[Question, ...]) -> list[tuple[str, list[str]]]:
    return [(q.id, sorted(q.gold)) for q in questions]


def test_memory_colors_imported_equals_the_built_in_task(tmp_path: Path) -> None:
    task = task_of(copied("memory_colors", tmp_path, "memory_colors.jsonl"), MEMORY_COLORS)
    built_in = load_task("memory-colors", shared("memory_colors"))
    assert task.questions == built_in.questions
    assert not task.provenance.bad_rows
    assert [t.text for t in task.templates] == [
        built_in.templates[6].text,
        built_in.templates[8].text,
    ]


def test_viphy_places_imported_have_the_published_counts_and_answers(tmp_path: Path) -> None:
    folder = copied("viphy/dataset/spatial", tmp_path, "train.csv", "val.csv", "test.csv")
    task = task_of(folder, VIPHY_SPACE)
    assert not task.provenance.bad_rows
    counts = {name: len(part.questions) for name, part in task.splits().items()}
    assert counts == {"train": 1314, "validation": 657, "test": 4599}  # 20, 10 and 70 % of 6,570
    assert Counter(len(q.gold) for q in task.questions)[1] == 1491 + 360 + 1460


@pytest.mark.parametrize("text", [MEMORY_COLORS, VIPHY_SPACE, MALEVIC])
def test_an_import_takes_at_most_25_lines(text: str) -> None:
    assert len(text.strip().splitlines()) <= 25


# The built-in tasks that are files.


def test_verb_physics_size_has_the_published_counts() -> None:
    task = load_task("verb-physics-size", shared("verb_physics"))
    counts = {name: len(part.questions) for name, part in task.splits().items()}
    assert counts == {"train": 517, "validation": 770, "test": 1265}
    assert sum(counts.values()) == 2552
    assert task.provenance.notes == (
        "563 rows left out: size-maj is -42 (no majority, or not comparable)",
    )
    assert task.provenance.as_published
    assert not task.provenance.bad_rows
    assert {round(sum(q.gold.values()) * 3) for q in task.questions} == {2, 3}


def test_numersense_has_200_questions_one_sentence_of_which_occurs_twice() -> None:
    task = load_task("numersense", shared("numersense"))
    assert len(task.questions) == 200
    assert len({q.object for q in task.questions}) == 199
    assert (
        sum(len(part.questions) for name, part in task.splits().items() if name != "test") == 10_444
    )
    assert task.provenance.as_published
    assert prompts(task)[1][0] == "a [MASK] door car has four entrances for passengers to enter."
