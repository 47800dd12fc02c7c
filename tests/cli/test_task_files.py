"""`seesay tasks check | new | schema` as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.cli.program import error_here

from seesay.cli import main
from seesay.tasks import TASK_FILES, load_task

FRUIT = (
    "fruit,color,kind\nlemon,yellow,citrus\napple,red,pome\nplum,purple,stone\nlime,green,citrus\n"
)
PROGRAM = """
import csv, re, sys, time
from seesay.cli import main
from seesay.tasks.from_file import check
bare = time.process_time()
with open("fruit.csv") as file:
    prompt = "The color of a {fruit} is [MASK]."
    rows = [(row, prompt.format_map(row)) for row in csv.DictReader(file)]
del rows
begun = time.process_time()
try:
    main(["tasks", "check", "fruit.yaml"])
finally:
    # not that of the tests' process
    memory = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
    print(begun - bare, time.process_time() - begun, memory, file=sys.stderr)
"""
FILE = """rows: fruit.csv
object: fruit
gold: color
tags: [kind]
templates: The color of {a fruit} is [MASK].
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(FRUIT)
    (tmp_path / "fruit.yaml").write_text(FILE)
    return tmp_path


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = 0
    try:
        main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, capsys.readouterr().out


def test_check_shows_three_questions_as_models_see_them_and_counts_slices(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = ran(capsys, "tasks", "check", "fruit.yaml")
    assert code == 0
    assert "fruit: 4 questions about 4 objects." in out
    assert out.count("  masked:          The color of") == 3
    assert "causal:          The color of an apple is ⟨red⟩." in out
    assert "(a) green (b) purple (c) red (d) yellow Answer:" in out
    assert "Slices by kind: citrus (2), pome (1), stone (1)." in out
    assert out.endswith("Nothing is wrong.\n")


def test_an_empty_tag_has_a_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "fruit.csv"
    table.write_text(table.read_text().replace("pome", ""))
    _, out = ran(capsys, "tasks", "check", "fruit.yaml")
    assert "(none) (1)" in out


def test_check_lists_problems_and_exits_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fruit.yaml").write_text(FILE.replace("gold:", "glod:") + "metrics: [best]\n")
    code, out = ran(capsys, "tasks", "check", "fruit.yaml")
    assert code == 1
    assert out.splitlines() == [
        "fruit.yaml, line 1, column 1: 'gold' is missing.",
        "fruit.yaml, line 3, column 1: unknown field 'glod' (did you mean 'gold'?).",
        "fruit.yaml, line 6, column 1: unknown metric 'best'.",
        "3 problems.",
    ]
    code, out = ran(capsys, "tasks", "check", "fruit.yaml", "--json")
    document: dict[str, Any] = json.loads(out)
    assert code == 1
    assert [(p["line"], p["column"]) for p in document["problems"]] == [(1, 1), (3, 1), (6, 1)]


def test_probe_refuses_a_broken_file_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fruit.yaml").write_text(FILE.replace("gold:", "glod:"))
    sentence = error_here(capsys, "probe", "baseline:uniform", "--task", "fruit.yaml")
    assert sentence == (
        "fruit.yaml, line 1, column 1: 'gold' is missing. There is 1 more problem: "
        "`seesay tasks check fruit.yaml` lists them all."
    )


def test_showing_and_listing_work_beside_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "tasks", "core-color")[1].startswith("core-color (version 1")
    assert json.loads(ran(capsys, "tasks", "--json")[1])["groups"]["core"]
    shown = json.loads(ran(capsys, "tasks", "fruit.yaml", "--json")[1])
    assert (shown["name"], shown["questions"], shown["licence"]) == ("fruit", 4, {"fruit": ""})
    assert ran(capsys, "tasks", "numersens")[0] == 2


def test_new_writes_a_file_that_checks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "tasks", "new", "fruit.csv", "-o", "new.yaml")[0] == 0
    assert ran(capsys, "tasks", "check", "new.yaml")[0] == 0
    task = load_task("new.yaml")
    assert [t.ask(task.questions[1]).text for t in task.templates] == [
        "The color of an apple is [MASK].",
        "Q: What is the color of an apple? A: [MASK].",
    ]
    assert "exists: give another name, or --force" in error_here(
        capsys, "tasks", "new", "fruit.csv", "-o", "new.yaml"
    )


TABLES = {
    "letters": (
        "id,question,A,B,C,answer\nq1,What flies?,bird,cow,fish,A\nq2,What "
        "swims?,bird,cow,fish,C\n",
        "bird",
    ),
    "numbers": (
        "question,option1,option2,label\nWhat flies?,cow,bird,2\nWhat swims?,fish,hen,1\n",
        "bird",
    ),
    "words": (
        "question,choices,gold\nWhat flies?,bird;cow,bird\nWhat moos?,bird;cow,cow\n",
        "bird",
    ),
    "blank": ("sentence,answer\nA bird has ___ legs.,two\nA cat has ___ legs.,four\n", "two"),
    "semicolons": ("word;color\nlemon;yellow\nplum;purple\n", "yellow"),
    "several": ("object,color\nlemon,yellow\napple,red;green\n", "yellow"),
}


@pytest.mark.parametrize("name", TABLES)
def test_new_reads_what_columns_are(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, gold = TABLES[name]
    (folder / "t.csv").write_text(content)
    assert ran(capsys, "tasks", "new", "t.csv", "-o", "t.yaml")[0] == 0
    task = load_task("t.yaml")
    assert list(task.questions[0].gold) == [gold]
    assert not task.provenance.bad_rows
    assert load_task("t.csv").questions == task.questions


def test_a_table_without_answers_is_rejected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text("x,y,z\n1,2,3\n4,5,6\n")
    assert "`seesay tasks new t.csv -o t.yaml` writes a first task file" in error_here(
        capsys, "tasks", "check", "t.csv"
    )


def test_the_schema_accepts_our_files_and_describes_every_field(
    capsys: pytest.CaptureFixture[str],
) -> None:
    schema = json.loads(ran(capsys, "tasks", "schema")[1])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    files = sorted(TASK_FILES.glob("*.yaml"))
    assert files
    for path in files:
        assert not [
            error.message
            for error in validator.iter_errors(
                json.loads(json.dumps(yaml.safe_load(path.read_text())))
            )
        ], path
    for name, part in [
        *schema["properties"].items(),
        *((f"{d}.{n}", p) for d, v in schema["$defs"].items() for n, p in v["properties"].items()),
    ]:
        assert part.get("description", "").endswith("."), name
    assert list(
        validator.iter_errors({"rows": "x.csv", "gold": "y", "templates": "z", "optoins": []})
    )


def test_100_000_rows_take_little_more_than_a_bare_loop(folder: Path) -> None:
    """Against a loop that only reads rows and fills a template; a busy machine slows both."""
    colors = ("black", "blue", "brown", "gray", "green", "red")
    rows = "".join(f"thing number {n},{colors[n % 6]},kind {n % 17}\n" for n in range(100_000))
    (folder / "fruit.csv").write_text(f"fruit,color,kind\n{rows}")
    (folder / "fruit.yaml").write_text(FILE + "rules: [{rename: color, values: {gray: grey}}]\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ.copy(),
    )
    assert "100,000 questions about 100,000 objects" in done.stdout
    bare, checked, kilobytes = map(float, done.stderr.split()[-3:])
    assert checked < 12 * bare
    assert kilobytes < 500_000


def test_new_takes_the_columns_that_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "hues.csv"
    table.write_text("fruit,shape,hue\nlemon,oval,yellow\nlime,round,green\nplum,round,purple\n")
    target = folder / "hues.yaml"
    named = ("--gold", "hue", "--object", "fruit")
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "new", str(table), "-o", str(target), *named])
    text = target.read_text(encoding="utf-8")
    assert "\nobject: fruit\n" in text
    assert "\ngold: hue\n" in text
    capsys.readouterr()
    sentence = error_here(capsys, "tasks", "new", table, "-o", target, "--force", "--gold", "shap")
    assert "did you mean 'shape'" in sentence
    assert sentence.endswith("are fruit, shape, hue.")


def test_rows_that_ask_the_same_are_named_in_their_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "coal,black\ncoal,black\nlemon,yellow\nlemon,green\nleaf,green\n"
    (folder / "fruit.csv").write_text(f"fruit,color\n{rows}")
    (folder / "fruit.yaml").write_text(FILE.replace("tags: [kind]\n", ""))
    _, out = ran(capsys, "tasks", "check", "fruit.yaml")
    hints = [line.split("the rows ")[1] for line in out.splitlines() if "the rows" in line]
    assert [hint.split(" ask")[0] for hint in hints] == ["2, 3", "4, 5"]


def test_new_asks_about_the_other_of_two_columns_and_check_counts_what_is_worth_a_look(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "contra.csv").write_text(
        "fruit,color\nlemon,yellow\nlemon,green\nlime,green\nplum,purple\n"
    )
    code, out = ran(capsys, "tasks", "new", "contra.csv", "-o", "contra.yaml")
    assert (code, "Look at this first" in out) == (0, False)
    code, out = ran(capsys, "tasks", "check", "contra.yaml")
    assert code == 0
    assert "hint: contra.yaml, line 7, column 1: the rows 2, 3 ask the same, with different" in out
    assert "What is the color of a lemon?" in out
    assert out.endswith("\nNothing is wrong; 1 hint above, worth a look.\n")


@pytest.mark.parametrize(
    ("fruits", "seasons", "is_found"),
    [
        ("lemon lemon lemon plum plum lime pear fig", "a a b b a a b b", True),
        ("lemon lemon lemon plum plum plum fig fig", "a a b b a a b b", False),
        # either may be what is asked about
        ("lemon lemon lemon plum plum lime pear fig", "a b c d a b c d", False),
        # of two, the one whose words nearly all differ
        ("lemon lime plum pear fig date kiwi kiwi", "a b c d a b c d", True),
    ],
)
def test_new_asks_about_words_some_of_which_recur(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    fruits: str,
    seasons: str,
    is_found: bool,
) -> None:
    pairs = zip(fruits.split(), seasons.split(), strict=True)
    rows = "".join(f"{fruit},{season},red\n" for fruit, season in pairs)
    (folder / "t.csv").write_text(f"Fruit,Season,Color\n{rows}")
    code, out = ran(capsys, "tasks", "new", "t.csv", "-o", "t.yaml")
    assert (code, "Look at this first" in out) == (0, not is_found)
    assert ("\nobject: Fruit\n" in (folder / "t.yaml").read_text()) == is_found


def test_a_table_that_is_not_utf_8_is_told_how_to_become_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "latin.csv"
    table.write_bytes("fruit,color\naçaí,purple\nlemon,yellow\nlime,green\n".encode("latin-1"))
    reason = "row 2: not UTF-8 text: save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
    code, out = ran(capsys, "tasks", "new", "latin.csv", "-o", "latin.yaml")
    first = " ".join(out.split()).partition(" Wrote latin.yaml.")[0]
    assert (code, first) == (0, f"Look at this first: 1 row cannot be read ({reason}).")
    code, out = ran(capsys, "tasks", "check", "latin.yaml")
    assert (code, f"latin.csv, {reason}." in " ".join(out.split())) == (1, True)
    table.write_bytes("fruit,color\naçaí,purple\n".encode("latin-1"))
    sentence = error_here(capsys, "tasks", "new", "latin.csv", "-o", "other.yaml")
    assert sentence == f"latin.csv has no row that can be read ({reason})."
    assert not (folder / "other.yaml").exists()


def test_check_hints_at_objects_that_differ_only_in_capitals(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an object every question is its own, and its id may be spelt in any way."""
    rows = "a,lemon,yellow\nb,apple,red\nc,plum,purple\nA,Apple,red\n"
    (folder / "fruit.csv").write_text(f"key,fruit,color\n{rows}")
    text_with_ids = FILE.replace("tags: [kind]", "id: key")
    (folder / "fruit.yaml").write_text(text_with_ids)
    code, out = ran(capsys, "tasks", "check", "fruit.yaml")
    hint = (
        "hint: fruit.yaml, line 2, column 1: the objects 'apple' (row b) and 'Apple' (row A) "
        "differ only in capitals or blanks: they count as 2 in intervals."
    )
    assert (code, hint in out) == (0, True)
    assert "1 hint above" in out
    (folder / "fruit.yaml").write_text(text_with_ids.replace("object: fruit\n", ""))
    code, out = ran(capsys, "tasks", "check", "fruit.yaml")
    assert (code, out.splitlines()[-1]) == (0, "Nothing is wrong.")


def test_a_draft_without_a_text_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "numbers.csv").write_text("a,b,c\n1,2,3\n3,4,5\n")
    code, out = ran(capsys, "tasks", "new", "numbers.csv", "-o", "numbers.yaml")
    assert (code, out.count("Look at this first")) == (0, 2)
    code, out = ran(capsys, "tasks", "check", "numbers.yaml")
    assert (code, out.splitlines()[-1]) == (1, "1 problem.")
    assert "there is no column 'a text with columns in braces'" in out
    sentence = error_here(capsys, "probe", "baseline:uniform", "--task", "numbers.yaml")
    assert "there is no column 'a text with columns in braces'" in sentence


def test_check_goes_from_top_to_bottom_and_names_rows_that_ask_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "things.csv"
    table.write_text(
        "thing,color\nlemon,yellow\nsnow,\nlemon,yellow\ncoal,black\nlemon,green\ncoal,black\n,red\n"
    )
    target = folder / "things.yaml"
    target.write_text(
        'version: "1"\nrows: things.csv\nobject: thing\n'
        "options: [yellow, black, green, pink]\ngold: color\n"
        'templates: "A {thing} is [MASK]."\n',
        encoding="utf-8",
    )
    with pytest.raises(SystemExit, match="1"):
        main(["tasks", "check", str(target), "--json"])
    problems = json.loads(capsys.readouterr().out)["problems"]
    lines = [problem["line"] for problem in problems if problem["line"]]
    assert lines == sorted(lines)
    assert len(lines) > 2
    texts = [problem["text"] for problem in problems]
    assert any(
        "the rows 2, 4, 6 ask the same, with different answers (yellow, green)" in text
        for text in texts
    )
    assert any("the rows 5, 7 ask the same, with the answer 'black'" in text for text in texts)
    rows = [int(text.split("row ")[1].partition(":")[0]) for text in texts if ", row " in text]
    assert rows == sorted(rows)
    assert len(rows) == 2


def test_a_question_that_names_its_answer_is_refused_or_pointed_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "told.csv"
    table.write_text("thing,color\nlemon,yellow\ncoal,black\n")
    target = folder / "told.yaml"
    columns = ("--gold", "color", "--object", "color")
    sentence = error_here(capsys, "tasks", "new", table, "-o", target, *columns)
    assert "--gold and --object are both color: a question that names its answer" in sentence
    assert not target.exists()
    target.write_text(
        'version: "1"\nrows: told.csv\nobject: color\noptions: [yellow, black]\ngold: color\n'
        'templates: "The color of a {color} is [MASK]."\n',
        encoding="utf-8",
    )
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "check", str(target), "--json"])
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["hint"]
    assert "'{color}' is the right answer of every row: the question tells it" in problem["text"]


def test_the_page_of_items_is_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`tasks lite -o` makes one."""
    sentence = error_here(capsys, "tasks", "items", "core-color", "runs", "-o", "items")
    assert sentence == "'items' is not the name of a page: let it end in .html."
