"""Broken task files: every problem is one sentence that names its place, and none is a
traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.tasks import load_task
from seesay.tasks.from_file.check import check

ROWS = "fruit,color,n\nlemon,yellow,1\napple,red,2\nlime,green,3\n"
GOOD = """name: fruit
rows: rows.csv
object: fruit
options: [red, green, yellow]
gold: color
templates:
  is: The color of {a fruit} is [MASK].
"""


def edited(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "unknown field": (
        GOOD + "templatez: x\n",
        "line 8, column 1: unknown field 'templatez' (did you mean 'templates'",
    ),
    "missing gold": (edited("gold: color\n", ""), "line 1, column 1: 'gold' is missing."),
    "missing rows": (edited("rows: rows.csv\n", ""), "line 1, column 1: 'rows' is missing."),
    "not a mapping": (
        "- rows\n- gold\n",
        "line 1, column 1: a task file is a mapping of fields, such as `rows: fruit.csv`.",
    ),
    "empty": (
        "",
        "line 1, column 1: a task file is a mapping of fields, such as `rows: fruit.csv`.",
    ),
    "field twice": (GOOD + "gold: fruit\n", "line 8, column 1: field 'gold' appears twice."),
    "no slot": (
        edited("is [MASK].", "is red."),
        "line 7, column 3: a template needs exactly one [MASK], and this has none: 'The color of "
        "{a fruit} is red.'.",
    ),
    "two slots": (
        edited("[MASK].", "[MASK] [MASK]."),
        "line 7, column 3: a template needs exactly one [MASK], and this has 2",
    ),
    "no column in a template": (
        edited("{a fruit}", "it") + "choice_templates: What colour? [MASK]\n",
        "line 7, column 3: the template names no column, so that all 3 questions read the same: "
        "write one in braces (fruit, color, n).",
    ),
    "no such column in a template": (
        edited("{a fruit}", "{a friut}"),
        "line 7, column 3: there is no column 'a friut'",
    ),
    "a word with a format": (
        GOOD + "words: {red: '{fruit:>999999999}'}\n",
        "line 8, column 9: {fruit:>999999999} is not a column's name.",
    ),
    "a word with an attribute": (
        GOOD + "words: {red: '{fruit.__class__}'}\n",
        "line 8, column 9: {fruit.__class__} is not a column's name.",
    ),
    "a word of a template with an index": (
        edited(
            "is: The color of {a fruit} is [MASK].",
            "is: {text: 'It is [MASK].', words: {red: '{fruit[0]}'}}",
        ),
        "line 7, column 39: {fruit[0]} is not a column's name.",
    ),
    "a word with no such column": (
        GOOD + "words: {red: '{nothing}'}\n",
        "line 8, column 9: there is no column 'nothing'.",
    ),
    "a word with half a brace": (
        GOOD + "words: {red: 'a }'}\n",
        "line 8, column 9: the braces of 'a }' do not match",
    ),
    "a word with a slot": (
        GOOD + "words: {red: 'a [MASK]'}\n",
        "line 8, column 9: 'red' holds [MASK] or [SEP].",
    ),
    "a neutral text with a slot": (
        GOOD + "neutral: {fruit: 'a [MASK]'}\n",
        "line 8, column 11: 'fruit' holds [MASK] or [SEP].",
    ),
    "an option with a slot": (
        edited("[red, green, yellow]", "[red, green, yellow, '[MASK]']"),
        "line 4, column 1: 'option' holds [MASK] or [SEP].",
    ),
    "an option twice": (
        edited("[red, green, yellow]", "[red, green, yellow, red]"),
        "line 4, column 1: the option 'red' is there twice.",
    ),
    "no such gold column": (
        edited("gold: color", "gold: colour"),
        "line 5, column 1: there is no column 'colour' (did you mean 'color'?).",
    ),
    "no such object": (
        edited("object: fruit", "object: fruits"),
        "line 3, column 1: there is no column 'fruits' (did you mean 'fruit'?).",
    ),
    "no name of an object": (
        edited("object: fruit", 'object: ""'),
        "line 3, column 1: {} is not a column's name.",
    ),
    "braces do not match": (edited("{a fruit}", "{a fruit"), "line 7, column 3: the braces of"),
    "an expression": (
        edited("{a fruit}", "{fruit.upper}"),
        "line 7, column 3: {fruit.upper} is not a column's name.",
    ),
    "a format": (
        edited("{a fruit}", "{a:fruit}"),
        "line 7, column 3: {a:fruit} is not a column's name: write {a fruit}.",
    ),
    "slot without quotes": (
        edited("is: The color of {a fruit} is [MASK].", "is: [MASK] is the color."),
        "needs quotes.",
    ),
    "a colon in a text": (
        edited("is: The", "is: Q: The"),
        "line 7, column 8: not YAML (mapping values are not allowed in this context)",
    ),
    "a tag": (
        edited("rows: rows.csv", "rows: !function os.system"),
        "line 2, column 7: tag '!function': nothing in a task file executes.",
    ),
    "a Python object": (
        edited("rows: rows.csv", "rows: !!python/object/apply:os.system [ls]"),
        "line 2, column 7: tag 'tag:yaml.org,2002:python/object/apply:os.system': nothing in a "
        "task file executes.",
    ),
    "an alias": (
        edited("rows: rows.csv", "rows: *rows"),
        "line 2, column 7: alias '*rows': write the value out.",
    ),
    "deep": (
        edited("gold: color", f"gold: {'[' * 50}{']' * 50}"),
        "nested more than 12 levels deep.",
    ),
    "two documents": (
        GOOD + "---\n" + GOOD,
        "line 8, column 1: a second document begins here: one task per file.",
    ),
    "not text": (b"rows: \xff\xfe\x00", "not UTF-8 text."),
    "too large": (
        "x" * ((1 << 20) + 1),
        "larger than 1 MB: put the rows into a file of their own.",
    ),
    "a name with spaces": (
        edited("name: fruit", "name: My Fruit"),
        "line 1, column 1: 'name' is 'My Fruit': use small letters, digits, '-', '.' and '_'.",
    ),
    "a built-in name": (
        edited("name: fruit", "name: core-color"),
        "line 1, column 1: 'core-color' is a built-in task's name",
    ),
    "no such file": (edited("rows.csv", "fruit.csv"), "line 2, column 1: There is no file"),
    "outside": (
        edited("rows.csv", "../rows.csv"),
        "line 2, column 1: '../rows.csv' leaves the folder of the task file",
    ),
    "unknown format": (edited("rows.csv", "rows.xlsx"), "line 2, column 1: "),
    "unknown metric": (
        GOOD + "metrics: [acuracy]\n",
        "line 8, column 1: unknown metric 'acuracy' (did you mean 'accuracy'",
    ),
    "a metric that does not fit": (
        edited("gold: color", "gold: {weights: {red: n, green: n}}") + "metrics: [accuracy]\n",
        "line 8, column 1: accuracy needs one gold label per question",
    ),
    "gold twice": (
        edited("gold: color", "gold: {column: color, votes: n}"),
        "line 5, column 1: give one of column, weights, votes; this has column and votes.",
    ),
    "sets without by": (
        edited("options: [red, green, yellow]", "options: {sets: {a: [red, green]}}"),
        "line 4, column 1: 'sets' and 'by' go together",
    ),
    "one option": (
        edited("[red, green, yellow]", "[red]"),
        "line 4, column 1: 'options' needs at least 2 entries, and has 1.",
    ),
    "unknown rule": (
        GOOD + "rules:\n  - remove: n\n",
        "line 9, column 5: a rule begins with one of drop, keep, rename",
    ),
    "unknown field of a rule": (
        GOOD + "rules:\n  - drop: n\n    valeus: 1\n",
        "line 10, column 5: unknown field 'valeus' (did you mean 'values'",
    ),
    "a rule for no column": (
        GOOD + "rules:\n  - drop: m\n    values: 1\n",
        "line 9, column 5: there is no column 'm'",
    ),
    "thresholds and names": (
        GOOD + "rules:\n  - threshold: n\n    at: [1, 2]\n    names: [low, high]\n",
        "line 9, column 5: 2 thresholds make 3 ranges, and 'names' has 2.",
    ),
    "a threshold that is none": (
        GOOD + "rules:\n  - threshold: n\n    at: [4, NaN]\n    names: [low, high, top]\n",
        "line 10, column 13: '1' is 'NaN': it should be a finite number",
    ),
    "a seed too large to draw pairs with": (
        GOOD + "rules:\n  - draw_pairs: 2\n    seed: 4294967296\n",
        "line 10, column 5: 'seed' is '4294967296': it should be less than or equal to 4294967295",
    ),
    "a seed too large to split by": (
        GOOD + "split: {seed: 4294967296}\n",
        "line 8, column 9: 'seed' is '4294967296': it should be less than or equal to 4294967295",
    ),
    "a published figure that is none": (
        GOOD + "published: [{model: m, metric: accuracy, value: Infinity, source: s}]\n",
        "line 8, column 42: 'value' is 'Infinity': it should be a finite number",
    ),
    "a number that is none": (
        GOOD + "published: [{model: m, metric: accuracy, value: most, source: s}]\n",
        "line 8, column 42: 'value' is 'most': it should be a valid number",
    ),
    "words for no option": (
        GOOD + "words: {blue: azure}\n",
        "line 8, column 9: no question has the option 'blue'.",
    ),
    "no row is usable": (
        edited("[red, green, yellow]", "[pink, teal]"),
        "line 2, column 1: no row can be used (row 2: gold 'yellow' is not",
    ),
    "split of splits": (
        edited("rows: rows.csv", "rows: {test: rows.csv, train: rows.csv}") + "split: {seed: 0}\n",
        "line 8, column 1: 'split' divides one source of rows, and 'rows' has one per split.",
    ),
}


def write(folder: Path, content: str | bytes) -> Path:
    (folder / "rows.csv").write_text(ROWS)
    path = folder / "fruit.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence_with_its_place(tmp_path: Path, name: str) -> None:
    content, expected = BROKEN[name]
    path = write(tmp_path, content)
    examination = check(path)
    assert examination.task is None
    sentences = [str(problem) for problem in examination.errors]
    assert any(expected in sentence for sentence in sentences), sentences
    for sentence in sentences:
        assert sentence.startswith(("fruit.yaml", "rows.csv, row "))
        assert sentence.endswith(".")
        assert "\n" not in sentence
    with pytest.raises(UserError) as refused:
        load_task(str(path))
    # the root of the trouble, which need not stand on the first line
    assert str(refused.value).startswith(tuple(sentences))


def test_there_are_more_than_thirty() -> None:
    assert len(BROKEN) >= 30


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = (
        GOOD.replace("{a fruit}", "{a friut}").replace("object: fruit", "object: fruits")
        + "metrics: [acuracy]\ntitel: x\n"
    )
    problems = [str(problem) for problem in check(write(tmp_path, text)).errors]
    assert len(problems) == 4
    assert [problem.split(":")[0] for problem in problems] == [
        "fruit.yaml, line 3, column 1",
        "fruit.yaml, line 7, column 3",
        "fruit.yaml, line 8, column 1",
        "fruit.yaml, line 9, column 1",
    ]
    with pytest.raises(
        UserError,
        match=r"There are 3 more problems: `seesay tasks check .*fruit\.yaml` lists them all",
    ):
        load_task(str(tmp_path / "fruit.yaml"))


def test_what_comes_after_a_break_is_not_called_missing(tmp_path: Path) -> None:
    """Whoever closes the quote has all the fields."""
    path = write(tmp_path, edited("name: fruit", 'name: "fruit'))
    (problem,) = check(path).errors
    assert "not YAML" in str(problem)


def test_hints_about_articles_options_and_pictures(tmp_path: Path) -> None:
    text = """name: fruit
rows: rows.csv
options: [red, green, yellow, a very dark shade of blue]
gold: color
picture: "{fruit}.png"
templates: The color of a {fruit} is [MASK].
"""
    examination = check(write(tmp_path, text))
    assert [str(problem) for problem in examination.problems] == [
        "fruit.yaml, line 3, column 1: no row has the answer 'a very dark shade of blue'.",
        "fruit.yaml, line 3, column 1: options differ much in length ('a very dark shade of blue' "
        "has about 6 tokens, "
        "'red' about 1): look at --length mean too.",
        "fruit.yaml, line 5, column 1: 3 pictures are not there, such as 'lemon.png'.",
        "fruit.yaml, line 6, column 1: 'a {fruit}' does not fit 'apple': write {a fruit}.",
    ]
    assert examination.task is not None


@pytest.mark.parametrize("options", ["", "options: {answers: color}\n"])
def test_answers_written_in_two_ways_are_refused_and_named(tmp_path: Path, options: str) -> None:
    path = write(tmp_path, edited("options: [red, green, yellow]\n", options))
    (tmp_path / "rows.csv").write_text(
        "fruit,color\nlemon,Yellow\nlime,green\nbanana,yellow\nivy,dark green\nleaf,dark  green\n"
    )
    alike = "differ only in capitals or blanks, and each would be an option: write them alike, or "
    listed = "list the options in the task file, if they are not the same."
    assert [str(problem) for problem in check(path).errors] == [
        f"fruit.yaml, line 4, column 1: the answers {labels} {alike}{listed}"
        for labels in (
            "'Yellow' (row 2) and 'yellow' (row 4)",
            "'dark green' (row 5) and 'dark  green' (row 6)",
        )
    ]
    with pytest.raises(UserError, match=r"'Yellow' \(row 2\) and 'yellow' \(row 4\) differ only"):
        load_task(str(path))


def test_answers_written_in_two_ways_in_other_rows_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, edited("options: [red, green, yellow]\n", ""))
    (tmp_path / "train.csv").write_text("fruit,color\nkiwi,Green\n")
    splits = path.read_text().replace("rows: rows.csv", "rows: {train: train.csv, test: rows.csv}")
    path.write_text(splits)
    with pytest.raises(UserError, match=r"'Green' \(row train/2\) and 'green' \(row 4\)"):
        load_task(str(path))
    path.write_text(edited("options: [red, green, yellow]\n", ""))
    other = tmp_path / "other.csv"
    other.write_text("fruit,color\nkiwi,Green\nlime,green\n")
    with pytest.raises(UserError, match=r"other\.csv: the answers 'Green' \(row 2\) and 'green'"):
        load_task(str(path), other)


def test_options_that_the_file_lists_are_its_author_s_word(tmp_path: Path) -> None:
    path = write(tmp_path, edited("[red, green, yellow]", "[red, green, yellow, Red]"))
    hints = [str(problem) for problem in check(path).problems]
    place = "fruit.yaml, line 4, column 1: "
    assert f"{place}the options 'red' and 'Red' differ only in capitals or blanks." in hints
    assert load_task(str(path)).questions[0].options == ("red", "green", "yellow", "Red")


@pytest.mark.parametrize(
    "declaration",
    [
        "options: [red, green, yellow]\npicture: '{fruit}.png'",
        "options: [red, green, yellow]\nwords: {red: 'red like {a fruit}'}",
        "options: {columns: [color, fruit]}",
    ],
)
def test_a_template_without_a_column_is_one_where_questions_differ(
    tmp_path: Path, declaration: str
) -> None:
    """By their pictures, by the words of options, or by the options."""
    text = f"name: fruit\nrows: rows.csv\n{declaration}\ngold: color\ntemplates: It is [MASK].\n"
    for fruit in ("lemon", "apple", "lime"):
        (tmp_path / f"{fruit}.png").touch()
    assert check(write(tmp_path, text)).errors == []


def test_bad_rows_of_every_split_are_problems(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("fruit,color,n\nfig,purpel,1\nkiwi,green,1\n")
    path = write(tmp_path, edited("rows: rows.csv", "rows: {train: train.csv, test: rows.csv}"))
    sentence = "train.csv, row 2: gold 'purpel' is not among the options (red, green, yellow)."
    assert [str(problem) for problem in check(path).problems] == [sentence]


@pytest.mark.parametrize("seed", range(200))
def test_damaged_files_never_raise_anything_else(tmp_path: Path, seed: int) -> None:
    """Characters changed, removed and inserted at random: a task, or a UserError."""
    chance = random.Random(seed)
    text = list(GOOD)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(text))
        text[place] = chance.choice(
            [
                "",
                "{",
                "}",
                "[",
                ":",
                "\n",
                " ",
                "-",
                "'",
                '"',
                "&a ",
                "*a",
                "!x ",
                "\t",
                "é",
                "\0",
                "#",
            ]
        )
    path = write(tmp_path, "".join(text))
    examination = check(path)
    assert examination.task is not None or examination.errors


def test_thousands_of_broken_rules_are_all_reported(tmp_path: Path) -> None:
    """Each problem is looked up by its path, and not by going through all rules: fifty thousand
    took minutes."""
    path = tmp_path / "fruit.yaml"
    count = 50_000
    path.write_text("rows: rows.csv\nrules:\n" + "  - gue\n" * count, encoding="utf-8")
    problems = check(path).problems
    lines = {problem.line for problem in problems}
    assert lines >= set(range(3, count + 3))
