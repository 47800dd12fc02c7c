"""Task files: from rows to questions."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.tasks.written_tasks import FILE, FRUIT, inline, prompts, task_of

from seesay.api import probe
from seesay.data.cells import BadValueError, one_line, prompt_text
from seesay.data.task_files.yaml_text import TaskFileError
from seesay.errors import UserError
from seesay.tasks import expand, load_task
from seesay.tasks.from_file.draft import draft_file


def test_four_lines_are_a_task(tmp_path: Path) -> None:
    task = task_of(tmp_path, FILE, fruit=FRUIT)
    assert task.name == "mine"
    assert task.metrics == ("accuracy",)
    assert [q.object for q in task.questions] == ["lemon", "apple", "plum", "lime"]
    assert prompts(task)[1] == (
        "The color of an apple is [MASK].",
        ("green", "purple", "red", "yellow"),
    )
    assert task.questions[1].gold == {"red": 1.0}
    assert [source.name for source in task.provenance.data] == ["fruit.csv"]
    assert not task.provenance.as_published


def test_a_task_file_is_probed_like_any_task(tmp_path: Path) -> None:
    task_of(tmp_path, FILE, fruit=FRUIT)
    results = probe(
        "baseline:uniform", str(tmp_path / "mine.yaml"), output=tmp_path / "runs", resamples=100
    )
    assert results.figures[0].task == "mine"
    assert results.figures[0].value == pytest.approx(1 / 4)  # four options


def test_a_folder_and_a_bare_table_are_tasks(tmp_path: Path) -> None:
    task_of(tmp_path, FILE, fruit=FRUIT)
    assert len(load_task(str(tmp_path)).questions) == 4
    assert (
        prompts(load_task(str(tmp_path / "fruit.csv")))[0][0] == "The color of a lemon is [MASK]."
    )
    (tmp_path / "second.yaml").write_text(FILE)
    with pytest.raises(UserError, match=r"several task files \(mine.yaml, second.yaml\): name one"):
        load_task(str(tmp_path))


def test_names_that_look_like_files_are_files(tmp_path: Path) -> None:
    odd = tmp_path / "one, two"
    odd.mkdir()
    assert expand([str(odd)]) == [str(odd)]
    assert expand(["a.yaml,core-color", "b/c"]) == ["a.yaml", "core-color", "b/c"]
    with pytest.raises(UserError, match=r"There is no file nothing\.yaml"):
        load_task("nothing.yaml")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz"])
def test_every_format_gives_the_same_questions(tmp_path: Path, suffix: str) -> None:
    import gzip

    rows = [
        dict(zip(("fruit", "color", "kind"), line.split(","), strict=True))
        for line in FRUIT.splitlines()[1:]
    ]
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
    task = inline(
        tmp_path,
        [{"x": "snow", "y": "no"}, {"x": "ice", "y": "yes"}],
        "options: [yes, no, 1.0]\ngold: y",
    )
    assert task.questions[0].options == ("yes", "no", "1.0")
    assert task.questions[0].gold == {"no": 1.0}


def test_options_of_columns_with_gold_by_letter_index_and_column(tmp_path: Path) -> None:
    rows = [
        {
            "x": "q",
            "A": "one",
            "B": "two",
            "C": "",
            "letter": "B",
            "index": 1,
            "number": 2,
            "col": "B",
            "word": "two",
        }
    ]
    for says, column in (
        ("letter", "letter"),
        ("index", "index"),
        ("number", "number"),
        ("column", "col"),
    ):
        declaration = f"options: {{columns: [A, B, C]}}\ngold: {{column: {column}, says: {says}}}"
        question = inline(tmp_path, rows, declaration).questions[0]
        assert (question.options, question.gold) == (("one", "two"), {"two": 1.0})


def test_options_in_a_column_by_sets_and_within(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": "a", "kind": "yn", "y": "no", "list": "no;yes"},
        {"x": "b", "kind": "num", "y": "2", "list": ["2", "4"]},
        {"x": "c", "kind": "num", "y": "4", "list": ["4", "2"]},
        {"x": "d", "kind": "yn", "y": "yes", "list": "yes; no"},
    ]
    by_sets = inline(
        tmp_path, rows, "gold: y\noptions: {by: kind, sets: {yn: [yes, no], num: [2, 4, 6]}}"
    )
    assert [q.options for q in by_sets.questions[:2]] == [("yes", "no"), ("2", "4", "6")]
    within = inline(tmp_path, rows, "gold: y\noptions: {answers: y, within: kind}")
    assert [q.options for q in within.questions] == [
        ("no", "yes"),
        ("2", "4"),
        ("2", "4"),
        ("no", "yes"),
    ]
    listed = inline(tmp_path, rows, "gold: y\noptions: list")
    assert [q.options for q in listed.questions] == [
        ("no", "yes"),
        ("2", "4"),
        ("4", "2"),
        ("yes", "no"),
    ]


def test_gold_as_list_weights_votes_and_share(tmp_path: Path) -> None:
    rows = [
        {
            "x": "a",
            "y": "red;blue",
            "red": 0.3,
            "blue": 0.9,
            "n": 2,
            "said": ["red", "red", "blue"],
            "map": {"red": 2},
        }
    ]

    def gold(declaration: str) -> tuple[dict[str, float], tuple[str, ...]]:
        task = inline(tmp_path, rows, f"options: [red, blue, green]\n{declaration}")
        return dict(task.questions[0].gold), task.metrics

    assert gold("gold: {column: y, separator: ;}") == (
        {"red": 0.5, "blue": 0.5},
        ("relaxed_accuracy",),
    )
    assert gold("gold: {weights: [red, blue]}") == (
        {"red": 0.3, "blue": 0.9},
        ("majority_accuracy",),
    )
    assert gold("gold: {weights: {green: red}}")[0] == {"green": 0.3}
    assert gold("gold: {weights: map}")[0] == {"red": 2.0}
    assert gold("gold: {votes: said}")[0] == {"red": 2 / 3, "blue": 1 / 3}
    assert gold("gold: {votes: {red: n, blue: blue}}")[0] == {"red": 2 / 2.9, "blue": 0.9 / 2.9}
    rows[0]["y"] = "blue"
    assert gold("gold: {column: y, share: n, of: 3}") == ({"blue": 2 / 3}, ("accuracy",))


def test_splits_by_file_by_column_and_by_seed(tmp_path: Path) -> None:
    more = "fruit,color,kind\n" + "".join(
        f"fruit{n},{c},k\n" for n, c in enumerate(["red", "blue"] * 50)
    )
    text = (
        FILE.replace("rows: fruit.csv", "rows: {train: train.csv, test: fruit.csv}")
        + "linear_text: a {fruit}\n"
    )
    by_file = task_of(tmp_path, text, fruit=FRUIT, train=more).splits()
    assert {name: len(part.questions) for name, part in by_file.items()} == {
        "train": 90,
        "validation": 10,
        "test": 4,
    }
    assert "blue" in by_file["test"].questions[0].options  # answers of every split are options
    column = "fruit,color,part\na,red,train\nb,blue,dev\nc,red,test\nd,blue,fest\n"
    task = task_of(tmp_path, FILE + "split: {column: part}\n", fruit=column)
    assert {name: [q.object for q in part.questions] for name, part in task.splits().items()} == {
        "train": ["a"],
        "validation": ["b"],
        "test": ["c"],
    }
    assert (
        str(task.provenance.bad_rows[0]) == "row 5: 'part' is 'fest', not train, validation or test"
    )
    seeded = task_of(tmp_path, FILE + "split: {seed: 1}\n", fruit=more)
    assert len(seeded.questions) == 100
    assert {name: len(part.questions) for name, part in seeded.splits().items()} == {
        "train": 20,
        "validation": 10,
        "test": 70,
    }


def test_splits_without_rows_for_validation(tmp_path: Path) -> None:
    rows = [f"fruit{n},{('red', 'blue')[n % 2]},train\n" for n in range(100)]
    column = "".join(["fruit,color,part\n", *rows, "c,red,test\n"])
    task = task_of(tmp_path, FILE + "split: {column: part}\n", fruit=column)
    assert {name: len(part.questions) for name, part in task.splits().items()} == {
        "train": 90,
        "validation": 10,
        "test": 1,
    }
    seven = "fruit,color,kind\n" + "".join(
        f"fruit{n},{('red', 'blue')[n % 2]},k\n" for n in range(7)
    )
    seeded = task_of(tmp_path, FILE + "split: {seed: 1}\n", fruit=seven).splits()
    assert seeded["validation"].questions == seeded["train"].questions


@pytest.mark.parametrize(
    ("filling", "text"),
    [
        ("object", "An object is here."),
        ("thing", "A thing is here."),
        ("something", "Something is here."),
        ("one thing", "One thing is here."),
        ("the thing", "The thing is here."),
    ],
)
def test_a_neutral_filling_has_the_article_of_its_template(
    filling: str, text: str, tmp_path: Path
) -> None:
    file = """
rows: [{a: egg, y: red}, {a: hour, y: blue}]
gold: y
options: [red, blue]
templates: "{A a} is here. [MASK]."
neutral: {a: FILLING}
"""
    task = task_of(tmp_path, file.replace("FILLING", filling))
    asked = task.templates[0].ask(task.questions[0], task.neutral).text
    assert asked == f"{text} [MASK]."


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
    assert (
        task.templates[0].ask(task.questions[0], task.neutral).text
        == "Something is [MASK] than something else."
    )
    assert (
        task.choice_templates[0].ask(task.questions[0]).text == "is egg bigger than house? [MASK]"
    )


def test_every_bad_row_is_reported_and_none_is_lost(tmp_path: Path) -> None:
    rows = (
        'fruit,color,kind\nlemon,yelow,c\n"open,red,c\nkiwi,green\n,red,c\nfig,,c\nlemon,yellow,c\nlemon,yellow,c\n'
        'pear,"gr\neen",c\nlime,green,[MASK]\n'
    )
    file = FILE + "id: fruit\noptions: [red, green, yellow]\ntags: [kind]\n"
    task = task_of(tmp_path, file.replace("is [MASK]", "({kind}) is [MASK]"), fruit=rows)
    assert [q.id for q in task.questions] == ["lemon"]
    assert [str(row) for row in task.provenance.bad_rows] == [
        "row 2: gold 'yelow' is not among the options (did you mean 'yellow'?)",
        "row 3: not CSV (',' expected after '\"')",
        "row 4: has 2 cells where there are 3 columns",
        "row 5: 'a fruit' is empty",
        "row 6: 'color' is empty: there is no gold answer",
        "row 8: id 'lemon' is already that of row 7",
        "row 9: gold 'gr\neen' is not among the options (did you mean 'green'?)",
        "row 11: 'kind' holds [MASK] or [SEP]",
    ]


def test_gold_cells_without_a_label_are_bad_rows(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": "a", "y": "red;blue"},
        {"x": "b", "y": []},
        {"x": "c", "y": " ; "},
        {"x": "d", "y": {"red": 1}},
        {"x": "e", "y": ["green"]},
    ]
    task = inline(tmp_path, rows, "gold: {column: y, separator: ;}")
    assert [(q.fields["x"], q.options) for q in task.questions] == [
        (x, ("blue", "green", "red")) for x in "ae"
    ]
    assert [str(row) for row in task.provenance.bad_rows] == [
        "row 2: 'y' is empty: there is no gold answer",
        "row 3: 'y' is empty: there is no gold answer",
        "row 4: 'y' is neither a label nor a list of labels",
    ]


def test_lists_of_gold_labels_are_options_too(tmp_path: Path) -> None:
    task = inline(tmp_path, [{"x": "a", "y": ["red", "blue"]}, {"x": "b", "y": "green"}], "gold: y")
    assert [q.options for q in task.questions] == [("blue", "green", "red")] * 2


def test_a_row_of_csv_ends_at_the_end_of_its_line_alone(tmp_path: Path) -> None:
    rows = 'fruit,color,kind\n"lemon",yellow,a\u2028b\nlime,green,c\n'
    task = task_of(tmp_path, FILE + "tags: [kind]\n", fruit=rows)
    assert [(q.object, q.tags["kind"]) for q in task.questions] == [
        ("lemon", "a\u2028b"),
        ("lime", "c"),
    ]


def test_a_row_in_none_of_the_nested_sets_is_reported(tmp_path: Path) -> None:
    rows = [
        {"x": "a", "y": "1", "level": "low"},
        {"x": "b", "y": "2", "level": "high"},
        {"x": "c", "y": "2"},
    ]
    task = inline(tmp_path, rows, "gold: y\ntags: [level]\nnested_by: level")
    assert len(task.parts) == len(task.questions) == 2
    assert [row.row for row in task.provenance.bad_rows] == [3]


def test_parquet_with_broken_texts_is_one_sentence(tmp_path: Path) -> None:
    texts = pa.array([b"\xff", b"red"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"color": texts}), tmp_path / "rows.parquet")
    with pytest.raises(UserError, match="not a Parquet file"):
        task_of(tmp_path, "rows: rows.parquet\ngold: color\ntemplates: It is [MASK].\n")


@pytest.mark.parametrize("header", ['thing,"the ""best"" color"', "null,answer"])
def test_a_draft_is_a_task_file_whatever_the_columns_are_called(
    tmp_path: Path, header: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\napple,red\npear,green\nplum,red\nleaf,green\n")
    task = task_of(tmp_path, draft_file(path).text)
    assert [q.object for q in task.questions] == ["apple", "pear", "plum", "leaf"]


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
    reason = (
        "the picture 'pictures/../../secret' leaves the folder of the rows, or is not a file name"
    )
    assert str(task.provenance.bad_rows[0]) == f"row 2: {reason}"
    assert [bad.row for bad in task.provenance.bad_rows] == [2, 4, 5, 6]
    assert "1 pictures are not there, such as pictures/c.png" in task.provenance.notes


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
    assert (
        task_of(tmp_path, text, fruit=FRUIT, other=FRUIT.replace("lemon", "citron"))
        .published[0]
        .value
        == 0.5
    )
    task = load_task(str(tmp_path / "mine.yaml"), tmp_path / "other.csv")
    assert (task.questions[0].object, task.published) == ("citron", ())


def test_rows_of_the_hub_are_read_at_a_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`datasets` takes a folder of that name as the data set, so that no network is needed."""
    pytest.importorskip("datasets")
    (tmp_path / "owner" / "fruit").mkdir(parents=True)
    (tmp_path / "owner" / "fruit" / "test.csv").write_text(FRUIT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    task = task_of(tmp_path, FILE.replace("fruit.csv", "hf:owner/fruit@main"))
    assert len(task.questions) == 4
    assert task.provenance.notes == ("rows of hf:owner/fruit@main, split test",)
    with pytest.raises(
        TaskFileError, match="is not a data set on the Hub: write hf:owner/name@revision"
    ):
        task_of(tmp_path, FILE.replace("fruit.csv", "hf:owner/fruit"))


SEEN = """
object: name
options: [red, blue]
gold: color
picture: image
templates: The picture is [MASK].
"""


def solid_png(color: str) -> bytes:
    file = BytesIO()
    Image.new("RGB", (4, 3), color).save(file, format="png")
    return file.getvalue()


@pytest.mark.parametrize("source", ["hf:owner/seen@main", "owner/seen/test.parquet"])
def test_pictures_inside_rows_become_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    pictures = [
        {"bytes": solid_png(color), "path": f"{color}.png"} for color in ("red", "blue", "red")
    ]
    rows = {
        "name": ["a", "b", "c", "d"],
        "color": ["red", "blue", "red", "blue"],
        "image": [*pictures, None],
    }
    (tmp_path / "owner" / "seen").mkdir(parents=True)
    data: Any = datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())
    data.to_parquet(tmp_path / "owner" / "seen" / "test.parquet")
    task = task_of(tmp_path, f"rows: {source}\n{SEEN}")
    paths = [Path(question.picture or "") for question in task.questions]
    assert [path.read_bytes() for path in paths[:3]] == [picture["bytes"] for picture in pictures]
    assert paths[0] == paths[2]
    assert task.questions[3].picture is None
    assert "1 questions have no picture" in task.provenance.notes
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["task-pictures"]


def test_broken_and_large_pictures_are_bad_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("seesay.data.task_files.hub.LARGEST_PICTURE", 1000)
    rows = {
        "name": ["a", "b", "c"],
        "color": ["red"] * 3,
        "image": [solid_png("red"), b"", b"x" * 1001],
    }
    pq.write_table(pa.table(rows), tmp_path / "seen.parquet")
    task = task_of(tmp_path, f"rows: seen.parquet\n{SEEN}")
    assert [question.object for question in task.questions] == ["a"]
    assert [row.reason for row in task.provenance.bad_rows] == [
        "a picture has no bytes",
        "a picture has more than 0 MB",
    ]
    (tmp_path / "seen.jsonl").write_text(
        '{"name": "a", "color": "red", "image": {"bytes": "x", "path": 5}}\n'
    )
    with pytest.raises(TaskFileError, match="'image' is a mapping, not a text"):
        task_of(tmp_path, f"rows: seen.jsonl\n{SEEN}")


def test_hub_pictures_are_read_from_downloads_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "owner" / "files" / "test"
    folder.mkdir(parents=True)
    (folder / "red.png").write_bytes(solid_png("red"))
    (folder / "metadata.csv").write_text("file_name,name,color\nred.png,a,red\n")
    text = f"rows: hf:owner/files@main\n{SEEN}"
    with pytest.raises(TaskFileError, match="a picture has no bytes"):
        task_of(tmp_path, text)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "owner"))
    picture = task_of(tmp_path, text).questions[0].picture
    assert Path(picture or "").read_bytes() == solid_png("red")


@pytest.mark.parametrize(
    "address",
    ["hf:../x@main", "hf:x/..@main", "hf:./x@main", "hf:a/b@../main", "hf:a/b@..", "hf:-a/b@main"],
)
def test_an_address_of_the_hub_is_no_path(tmp_path: Path, address: str) -> None:
    with pytest.raises(TaskFileError, match="is not a data set on the Hub"):
        task_of(tmp_path, FILE.replace("fruit.csv", f'"{address}"'))


def test_a_data_set_of_the_hub_is_no_folder_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`datasets` takes a folder of that name, wherever the task file is."""
    (tmp_path / "private" / "notes").mkdir(parents=True)
    (tmp_path / "private" / "notes" / "test.csv").write_text(FRUIT)
    (tmp_path / "task").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TaskFileError, match="There is a folder 'private/notes' here"):
        task_of(tmp_path / "task", FILE.replace("fruit.csv", "hf:private/notes@main"))


@pytest.mark.parametrize("rule", ["votes", "weights"])
def test_votes_that_sum_to_infinity_are_a_bad_row(tmp_path: Path, rule: str) -> None:
    text = (
        "rows: rows.csv\nobject: x\noptions: [yes, no]\n"
        f"gold: {{{rule}: {{yes: a, no: b}}}}\ntemplates: Is {{x}}? [MASK]\n"
    )
    task = task_of(tmp_path, text, rows="x,a,b\none,1e308,1e308\ntwo,1,3\n")
    assert [question.object for question in task.questions] == ["two"]
    (bad,) = task.provenance.bad_rows
    assert bad.reason == f"the {rule} add up to more than a number can hold"


@pytest.mark.parametrize("word", ["می\u200cخواهم", "👩\u200d🔬"])
def test_joiners_are_part_of_words(tmp_path: Path, word: str) -> None:
    task = task_of(tmp_path, FILE, fruit=f"fruit,color\n{word},red\nlime,green\n")
    assert [question.object for question in task.questions] == [word, "lime"]
    assert prompt_text(word, "fruit") == word
    assert one_line(f"{word}\u2028") == f"{word} "
    for control in ("\x1b[2J", "\u202e", "\0"):
        with pytest.raises(BadValueError, match="holds control characters"):
            prompt_text(f"{word}{control}x", "fruit")
