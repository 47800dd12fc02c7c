"""Task files: from rows to questions, with published files imported as a user would."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.api import probe
from seesay.data.task_files.yaml_text import TaskFileError
from seesay.errors import UserError
from seesay.questions import Question, Task
from seesay.tasks import expand, load_task

FRUIT = "fruit,color,kind\nlemon,yellow,citrus\napple,red,pome\nplum,purple,stone\nlime,green,citrus\n"
FILE = "rows: fruit.csv\nobject: fruit\ngold: color\ntemplates: The color of {a fruit} is [MASK].\n"


def task_of(folder: Path, text: str, **files: str) -> Task:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return load_task(str(folder / "mine.yaml"))


def prompts(task: Task) -> list[tuple[str, tuple[str, ...]]]:
    return [(prompt.text, prompt.options) for q in task.questions for t in task.templates for prompt in [t.ask(q)]]


def inline(folder: Path, rows: list[dict[str, Any]], rest: str, template: str = "{x} is [MASK]") -> Task:
    return task_of(folder, f"rows: {json.dumps(rows)}\ntemplates: {json.dumps(template)}\n{rest}")


def test_four_lines_are_a_task(tmp_path: Path) -> None:
    task = task_of(tmp_path, FILE, fruit=FRUIT)
    assert task.name == "mine"
    assert task.metrics == ("accuracy",)
    assert [q.object for q in task.questions] == ["lemon", "apple", "plum", "lime"]
    assert prompts(task)[1] == ("The color of an apple is [MASK].", ("green", "purple", "red", "yellow"))
    assert task.questions[1].gold == {"red": 1.0}
    assert [source.name for source in task.data] == ["fruit.csv"]
    assert not task.as_published


def test_a_task_file_is_probed_like_any_task(tmp_path: Path) -> None:
    task_of(tmp_path, FILE, fruit=FRUIT)
    results = probe("baseline:uniform", str(tmp_path / "mine.yaml"), output=tmp_path / "runs", resamples=100)
    assert results.figures[0].task == "mine"
    assert results.figures[0].value == pytest.approx(1 / 4)  # four options


def test_a_folder_and_a_bare_table_are_tasks(tmp_path: Path) -> None:
    task_of(tmp_path, FILE, fruit=FRUIT)
    assert len(load_task(str(tmp_path)).questions) == 4
    assert prompts(load_task(str(tmp_path / "fruit.csv")))[0][0] == "The color of a lemon is [MASK]."
    (tmp_path / "second.yaml").write_text(FILE)
    with pytest.raises(UserError, match=r"several task files \(mine.yaml, second.yaml\): name one"):
        load_task(str(tmp_path))


def test_names_that_look_like_files_are_files(tmp_path: Path) -> None:
    odd = tmp_path / "one, two"
    odd.mkdir()
    assert expand([str(odd)]) == [str(odd)]
    assert expand(["a.yaml,core-color", "b/c"]) == ["a.yaml", "core-color", "b/c"]
    with pytest.raises(UserError, match=r"There is no task file 'nothing\.yaml'"):
        load_task("nothing.yaml")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz"])
def test_every_format_gives_the_same_questions(tmp_path: Path, suffix: str) -> None:
    import gzip

    rows = [dict(zip(("fruit", "color", "kind"), line.split(","), strict=True)) for line in FRUIT.splitlines()[1:]]
    path = tmp_path / f"rows.{suffix}"
    match suffix:
        case "csv":
            path.write_text(FRUIT)
        case "csv.gz":
            path.write_bytes(gzip.compress(FRUIT.encode()))
        case "tsv":
            path.write_text(FRUIT.replace(",", "\t"))
        case "jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        case "json":
            path.write_text(json.dumps(rows))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
    task = task_of(tmp_path, FILE.replace("fruit.csv", path.name))
    assert prompts(task) == prompts(task_of(tmp_path, FILE, fruit=FRUIT))
    assert [q.gold for q in task.questions] == [{row["color"]: 1.0} for row in rows]


def test_words_that_yaml_would_turn_into_truth_values_stay_words(tmp_path: Path) -> None:
    task = inline(tmp_path, [{"x": "snow", "y": "no"}, {"x": "ice", "y": "yes"}], "options: [yes, no, 1.0]\ngold: y")
    assert task.questions[0].options == ("yes", "no", "1.0")
    assert task.questions[0].gold == {"no": 1.0}


def test_options_of_columns_with_gold_by_letter_index_and_column(tmp_path: Path) -> None:
    rows = [
        {"x": "q", "A": "one", "B": "two", "C": "", "letter": "B", "index": 1, "number": 2, "col": "B", "word": "two"}
    ]
    for says, column in (("letter", "letter"), ("index", "index"), ("number", "number"), ("column", "col")):
        rest = f"options: {{columns: [A, B, C]}}\ngold: {{column: {column}, says: {says}}}"
        question = inline(tmp_path, rows, rest).questions[0]
        assert (question.options, question.gold) == (("one", "two"), {"two": 1.0})


def test_options_in_a_column_by_sets_and_within(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": "a", "kind": "yn", "y": "no", "list": "no;yes"},
        {"x": "b", "kind": "num", "y": "2", "list": ["2", "4"]},
        {"x": "c", "kind": "num", "y": "4", "list": ["4", "2"]},
        {"x": "d", "kind": "yn", "y": "yes", "list": "yes; no"},
    ]
    by_sets = inline(tmp_path, rows, "gold: y\noptions: {by: kind, sets: {yn: [yes, no], num: [2, 4, 6]}}")
    assert [q.options for q in by_sets.questions[:2]] == [("yes", "no"), ("2", "4", "6")]
    within = inline(tmp_path, rows, "gold: y\noptions: {answers: y, within: kind}")
    assert [q.options for q in within.questions] == [("no", "yes"), ("2", "4"), ("2", "4"), ("no", "yes")]
    listed = inline(tmp_path, rows, "gold: y\noptions: list")
    assert [q.options for q in listed.questions] == [("no", "yes"), ("2", "4"), ("4", "2"), ("yes", "no")]


def test_gold_as_list_weights_votes_and_share(tmp_path: Path) -> None:
    rows = [
        {"x": "a", "y": "red;blue", "red": 0.3, "blue": 0.9, "n": 2, "said": ["red", "red", "blue"], "map": {"red": 2}}
    ]

    def gold(rest: str) -> tuple[dict[str, float], tuple[str, ...]]:
        task = inline(tmp_path, rows, f"options: [red, blue, green]\n{rest}")
        return dict(task.questions[0].gold), task.metrics

    assert gold("gold: {column: y, separator: ;}") == ({"red": 0.5, "blue": 0.5}, ("relaxed_accuracy",))
    assert gold("gold: {weights: [red, blue]}") == ({"red": 0.3, "blue": 0.9}, ("majority_accuracy",))
    assert gold("gold: {weights: {green: red}}")[0] == {"green": 0.3}
    assert gold("gold: {weights: map}")[0] == {"red": 2.0}
    assert gold("gold: {votes: said}")[0] == {"red": 2 / 3, "blue": 1 / 3}
    assert gold("gold: {votes: {red: n, blue: blue}}")[0] == {"red": 2 / 2.9, "blue": 0.9 / 2.9}
    rows[0]["y"] = "blue"
    assert gold("gold: {column: y, share: n, of: 3}") == ({"blue": 2 / 3}, ("accuracy",))


def test_rules_rename_drop_threshold_and_count_and_say_so(tmp_path: Path) -> None:
    rows = [
        {"x": "a", "y": 1, "n": "[1, 2]", "p": 0.95},
        {"x": "b", "y": -1, "n": "[]", "p": 0.5},
        {"x": "c", "y": -42, "n": "[1]", "p": 0.1},
        {"x": "a", "y": 1, "n": "[1]", "p": 0.9},
    ]
    rules = """
rules:
  - drop: y
    values: -42
    because: nobody agreed
  - unique: x
  - rename: y
    values: {1: more, -1: less}
  - count: n
    into: votes
  - threshold: p
    at: [0.2, 0.8]
    names: [sure, unsure, sure]
    into: certainty
"""
    task = inline(tmp_path, rows, f"gold: y\ntags: [votes, certainty]{rules}")
    assert [(q.gold, q.tags) for q in task.questions] == [
        ({"more": 1.0}, {"votes": "2", "certainty": "sure"}),
        ({"less": 1.0}, {"votes": "0", "certainty": "unsure"}),
    ]
    assert task.data_notes == (
        "1 rows left out: y is -42 (nobody agreed)",
        "1 rows left out: the same x as a row before",
    )


def test_keep_is_by_value_or_by_range(tmp_path: Path) -> None:
    rows = [{"x": str(n), "n": n, "y": "ab"[n % 2]} for n in range(6)]
    ranged = inline(tmp_path, rows, "gold: y\nrules: [{keep: n, at_least: 2, at_most: 4}]")
    assert [q.fields["x"] for q in ranged.questions] == ["2", "3", "4"]
    assert ranged.data_notes == ("3 rows left out: n is not at least 2 and at most 4",)


def test_a_sentence_is_cut_at_its_blank_and_a_row_without_one_is_reported(tmp_path: Path) -> None:
    rows = [
        {"s": "a bird has ___ legs.", "y": "two"},
        {"s": "___ suns shine.", "y": "no"},
        {"s": "nothing to fill.", "y": "no"},
    ]
    rest = 'gold: y\nrules: [{cut: s, at: "___", into: [l, r]}]'
    task = inline(tmp_path, rows, rest, "{l}[MASK]{r}")
    assert prompts(task) == [("a bird has [MASK] legs.", ("no", "two")), ("[MASK] suns shine.", ("No", "Two"))]
    assert [str(row) for row in task.bad_rows] == ["row 3: 's' has no '___' where one is needed"]


def test_rows_are_paired_up_by_a_column(tmp_path: Path) -> None:
    rows = [
        {"x": "cat", "n": 1, "pair": "p"},
        {"x": "dog", "n": 2, "pair": "p"},
        {"x": "ant", "n": 0, "pair": "q"},
    ]
    rest = """
gold: {weights: [larger, smaller]}
options: [larger, smaller]
rules:
  - pair_up: pair
  - compare: [n_a, n_b]
    into: [larger, smaller]
"""
    task = inline(tmp_path, rows, rest, "a {x_a} is [MASK] than a {x_b}")
    assert [(q.fields, q.gold) for q in task.questions] == [({"x_a": "cat", "x_b": "dog"}, {"smaller": 1.0})]
    assert [str(row) for row in task.bad_rows] == ["row 3: 1 rows have 'q' in 'pair' where two make a pair"]


def test_the_share_that_says_larger_comes_from_means_and_standard_deviations(tmp_path: Path) -> None:
    """Φ((10 − 7) / √(3² + 4²)) = Φ(0.6) = 0.725747 (tables of the normal distribution)."""
    rule = "{compare: [m, k], sd: [s, t], into: [more, less]}"
    rest = f"gold: {{weights: [more, less]}}\noptions: [more, less]\nrules: [{rule}]"
    task = inline(tmp_path, [{"x": "a", "m": 10, "k": 7, "s": 3, "t": 4}], rest)
    assert task.questions[0].gold == {"more": 0.725747, "less": 0.274253}


@given(rows=st.integers(2, 30), wanted=st.integers(1, 60), seed=st.integers(0, 5))
def test_drawn_pairs_are_distinct_and_even(rows: int, wanted: int, seed: int) -> None:
    from seesay.data.task_files.row_rules import DrawPairs
    from seesay.data.task_files.rows import Row, Table
    from seesay.data.task_files.rules import apply

    table = Table([Row(n, {"x": str(n)}) for n in range(rows)], {"x": None})
    rule = DrawPairs(draw_pairs=wanted, seed=seed)
    drawn = apply(rule, table)
    pairs = [tuple(sorted((row.cells["x_a"], row.cells["x_b"]))) for row in drawn.rows]
    assert len(set(pairs)) == len(pairs) == min(wanted, rows * (rows - 1) // 2)
    assert drawn.rows == apply(rule, table).rows
    if wanted <= rows // 2:  # one order is enough: nobody is in two pairs
        assert max(Counter(name for pair in pairs for name in pair).values()) == 1


def test_splits_by_file_by_column_and_by_seed(tmp_path: Path) -> None:
    more = "fruit,color,kind\n" + "".join(f"fruit{n},{c},k\n" for n, c in enumerate(["red", "blue"] * 50))
    text = FILE.replace("rows: fruit.csv", "rows: {train: train.csv, test: fruit.csv}") + "linear_text: a {fruit}\n"
    by_file = task_of(tmp_path, text, fruit=FRUIT, train=more).splits()
    assert {name: len(part.questions) for name, part in by_file.items()} == {"train": 90, "validation": 10, "test": 4}
    assert "blue" in by_file["test"].questions[0].options  # answers of every split are options
    column = "fruit,color,part\na,red,train\nb,blue,dev\nc,red,test\nd,blue,fest\n"
    task = task_of(tmp_path, FILE + "split: {column: part}\n", fruit=column)
    assert {name: [q.object for q in part.questions] for name, part in task.splits().items()} == {
        "train": ["a"], "validation": ["b"], "test": ["c"],
    }  # fmt: skip
    assert str(task.bad_rows[0]) == "row 5: 'part' is 'fest', not train, validation or test"
    seeded = task_of(tmp_path, FILE + "split: {seed: 1}\n", fruit=more)
    assert len(seeded.questions) == 100
    assert {name: len(part.questions) for name, part in seeded.splits().items()} == {
        "train": 20, "validation": 10, "test": 70,
    }  # fmt: skip


def test_capitals_articles_words_neutral_and_choice(tmp_path: Path) -> None:
    text = """
rows: [{a: egg, b: house, y: ">"}, {a: hour, b: unicorn, y: <}]
fields: {pair: "{a} and {b}"}
options: [">", <]
words: {">": bigger, <: smaller}
gold: y
templates:
  opening: "{A a} is [MASK] than {a b}."
  own: {text: "{Pair}: {a} is [MASK].", words: {">": large}}
choice_templates: "is {a} bigger than {b}? [MASK]"
neutral: {a: something, b: something else}
"""
    task = task_of(tmp_path, text)
    assert prompts(task)[:2] == [
        ("An egg is [MASK] than a house.", ("bigger", "smaller")),
        ("Egg and house: egg is [MASK].", ("large", "smaller")),
    ]
    assert prompts(task)[2][0] == "An hour is [MASK] than a unicorn."
    assert task.templates[0].ask(task.questions[0], task.neutral).text == "Something is [MASK] than something else."
    assert task.choice_templates[0].ask(task.questions[0]).text == "is egg bigger than house? [MASK]"


def test_every_bad_row_is_reported_and_none_is_lost(tmp_path: Path) -> None:
    rows = (
        'fruit,color,kind\nlemon,yelow,c\n"open,red,c\nkiwi,green\n,red,c\nfig,,c\nlemon,yellow,c\nlemon,yellow,c\n'
        'pear,"gr\neen",c\nlime,green,[MASK]\n'
    )
    file = FILE + "id: fruit\noptions: [red, green, yellow]\ntags: [kind]\n"
    task = task_of(tmp_path, file.replace("is [MASK]", "({kind}) is [MASK]"), fruit=rows)
    assert [q.id for q in task.questions] == ["lemon"]
    assert [str(row) for row in task.bad_rows] == [
        "row 2: gold 'yelow' is not among the options (did you mean 'yellow'?)",
        "row 3: not CSV (',' expected after '\"')",
        "row 4: has 2 cells where there are 3 columns",
        "row 5: 'a fruit' is empty",
        "row 6: 'color' is empty: there is no gold answer",
        "row 8: id 'lemon' is already that of row 7",
        "row 9: gold 'gr\neen' is not among the options (did you mean 'green'?)",
        "row 11: 'kind' holds [MASK] or [SEP]",
    ]


def test_pictures_stay_inside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"x")
    rows = [
        {"x": "a", "y": "red", "p": "a.png"},
        {"x": "b", "y": "blue", "p": "../../secret"},
        {"x": "c", "y": "red", "p": "c.png"},
        {"x": "d", "y": "red", "p": "loop"},
        {"x": "e", "y": "red", "p": "x" * 300},
        {"x": "f", "y": "red", "p": "x" * 5000},
    ]
    (tmp_path / "pictures" / "loop").symlink_to("loop")
    task = inline(tmp_path, rows, 'gold: y\npicture: "pictures/{p}"')
    assert [Path(str(q.picture)).name for q in task.questions] == ["a.png", "c.png"]
    reason = "the picture 'pictures/../../secret' leaves the folder of the rows, or is no name of a file"
    assert str(task.bad_rows[0]) == f"row 2: {reason}"
    assert [bad.row for bad in task.bad_rows] == [2, 4, 5, 6]
    assert "1 pictures are not there, such as pictures/c.png" in task.data_notes


@pytest.mark.parametrize("name", ["../fruit.csv", "/etc/passwd", "link.csv"])
def test_files_of_rows_stay_inside_the_folder(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "fruit.csv").write_text(FRUIT)
    (inner / "link.csv").symlink_to(tmp_path / "fruit.csv")
    with pytest.raises(TaskFileError, match="leaves the folder of the task file"):
        task_of(inner, FILE.replace("fruit.csv", name))


def test_other_rows_can_be_given_and_published_figures_go(tmp_path: Path) -> None:
    text = FILE + "published: [{model: m, metric: accuracy, value: 0.5, source: Someone 2020}]\n"
    assert task_of(tmp_path, text, fruit=FRUIT, other=FRUIT.replace("lemon", "citron")).published[0].value == 0.5
    task = load_task(str(tmp_path / "mine.yaml"), tmp_path / "other.csv")
    assert (task.questions[0].object, task.published) == ("citron", ())


def test_rows_of_the_hub_are_read_at_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`datasets` takes a folder of that name as the data set, so that no network is needed."""
    pytest.importorskip("datasets")
    (tmp_path / "owner" / "fruit").mkdir(parents=True)
    (tmp_path / "owner" / "fruit" / "test.csv").write_text(FRUIT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    task = task_of(tmp_path, FILE.replace("fruit.csv", "hf:owner/fruit@main"))
    assert len(task.questions) == 4
    assert task.data_notes == ("rows of hf:owner/fruit@main, split test",)
    with pytest.raises(TaskFileError, match="is not a data set on the Hub: write hf:owner/name@revision"):
        task_of(tmp_path, FILE.replace("fruit.csv", "hf:owner/fruit"))


# Published files, as a user would import them.

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
    assert not task.bad_rows
    assert [t.text for t in task.templates] == [built_in.templates[6].text, built_in.templates[8].text]


def test_viphy_places_imported_have_the_published_counts_and_answers(tmp_path: Path) -> None:
    folder = copied("viphy/dataset/spatial", tmp_path, "train.csv", "val.csv", "test.csv")
    task = task_of(folder, VIPHY_SPACE)
    assert not task.bad_rows
    counts = {name: len(part.questions) for name, part in task.splits().items()}
    assert counts == {"train": 1314, "validation": 657, "test": 4599}  # 20, 10 and 70 % of 6,570
    assert Counter(len(q.gold) for q in task.questions)[1] == 1491 + 360 + 1460


def test_malevic_imported_equals_the_built_in_task(tmp_path: Path) -> None:
    task = task_of(copied("malevic/pos", tmp_path, "dataset/test.json"), MALEVIC)
    built_in = load_task("malevic-pos", shared("malevic/pos"))
    assert len(task.questions) == 2000
    assert gold(task.questions) == gold(built_in.questions)
    assert [Path(str(q.picture)).name for q in task.questions] == [
        Path(str(q.picture)).name for q in built_in.questions
    ]


@pytest.mark.parametrize("text", [MEMORY_COLORS, VIPHY_SPACE, MALEVIC])
def test_an_import_takes_at_most_25_lines(text: str) -> None:
    assert len(text.strip().splitlines()) <= 25


# The built-in tasks that are files.


def test_verb_physics_size_has_the_published_counts() -> None:
    task = load_task("verb-physics-size", shared("verb_physics"))
    counts = {name: len(part.questions) for name, part in task.splits().items()}
    assert counts == {"train": 517, "validation": 770, "test": 1265}
    assert sum(counts.values()) == 2552
    assert task.data_notes == ("563 rows left out: size-maj is -42 (no majority, or not comparable)",)
    assert task.as_published
    assert not task.bad_rows
    assert {round(sum(q.gold.values()) * 3) for q in task.questions} == {2, 3}


def test_numersense_has_200_questions_one_sentence_of_which_occurs_twice() -> None:
    task = load_task("numersense", shared("numersense"))
    assert len(task.questions) == 200
    assert len({q.object for q in task.questions}) == 199
    assert sum(len(part.questions) for name, part in task.splits().items() if name != "test") == 10_444
    assert task.as_published
    assert prompts(task)[1][0] == "a [MASK] door car has four entrances for passengers to enter."
