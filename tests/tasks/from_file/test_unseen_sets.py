"""Nine published sets' shapes, each a task file without a script: made-up rows of the same shape.

What is asked is checked prompt by prompt, a copy is asked alike, and where a set has a measure of
its own, a real network's figure equals the one worked out with plain transformers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tests.models.reference import CausalReference
from tests.models.vision.test_dual_encoder import picture, save_dual
from tests.tasks.written_tasks import prompts, task_of
from tests.tiny import save_tiny

from seesay import api
from seesay.errors import UserError
from seesay.export import export
from seesay.models import ModelOptions, load_model
from seesay.probes.choice import ChoiceModel
from seesay.probes.generated import request_text
from seesay.questions import Task
from seesay.tasks import load_task


def json_lines(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def gold_words(task: Task) -> list[list[str]]:
    """What is right, as the first template says it."""
    answers = []
    for question in task.questions:
        options = task.templates[0].ask(question).options
        answers.append([options[question.options.index(label)] for label in question.gold])
    return answers


def copied(task: Task, folder: Path) -> Task:
    """The task after a round trip through a task file of its own."""
    export(task, folder, "seesay")
    copy = load_task(str(folder))
    assert copy.fingerprint == task.fingerprint
    return copy


# 1. Labels in a second file, line by line (PIQA) and by key (VQA).

PIQA = """
rows: piqa.jsonl
rules:
  - join: labels.lst
    read: {format: csv, columns: [label]}
options: {columns: [sol1, sol2]}
gold: {column: label, says: index}
templates: "{goal} [MASK]"
"""
GOALS = [
    {"goal": "To cool soup,", "sol1": "blow on it.", "sol2": "heat it."},
    {"goal": "To dry socks,", "sol1": "soak them.", "sol2": "hang them up."},
]


def test_1_labels_in_a_second_file_line_by_line(tmp_path: Path) -> None:
    json_lines(tmp_path / "piqa.jsonl", *GOALS)
    (tmp_path / "labels.lst").write_text("0\n1\n")
    task = task_of(tmp_path, PIQA)
    assert gold_words(task) == [["blow on it."], ["hang them up."]]
    assert prompts(task)[0] == ("To cool soup, [MASK]", ("blow on it.", "heat it."))
    copied(task, tmp_path / "copy")


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("0\n", "There are 2 rows, and labels.lst has 1"),
        ("0\n1\n1\n", "labels.lst has 3"),
        ("0\n1,2\n", "one cannot be read (row 2: has 2 cells where there is 1 column)"),
    ],
)
def test_1_labels_that_are_not_one_for_each_row(tmp_path: Path, labels: str, sentence: str) -> None:
    json_lines(tmp_path / "piqa.jsonl", *GOALS)
    (tmp_path / "labels.lst").write_text(labels)
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, PIQA)
    assert sentence in str(raised.value)


def test_1_line_by_line_goes_first(tmp_path: Path) -> None:
    json_lines(tmp_path / "piqa.jsonl", *GOALS)
    (tmp_path / "labels.lst").write_text("0\n1\n")
    dropping = PIQA.replace("rules:\n", "rules:\n  - {drop: goal, values: x}\n")
    with pytest.raises(UserError, match="goes row by row: put it first"):
        task_of(tmp_path, dropping)


VQA = """
rows: questions.json
read: {list: questions}
rules:
  - join: annotations.json
    on: {question_id: id}
    take: answer
    read: {list: annotations}
id: question_id
gold: answer
templates: "{question} [MASK]"
"""


def vqa(folder: Path, annotations: list[dict[str, Any]], text: str = VQA) -> Task:
    questions = [
        {"question_id": 7, "question": "Is it red?", "image": 1},
        {"question_id": 8, "question": "Is it big?", "image": 2},
    ]
    (folder / "questions.json").write_text(json.dumps({"questions": questions}))
    (folder / "annotations.json").write_text(json.dumps({"annotations": annotations}))
    return task_of(folder, text)


ANNOTATIONS = [
    {"id": 8, "answer": "no", "image": 2},
    {"id": 9, "answer": "no", "image": 3},
    {"id": 7, "answer": "yes", "image": 1},
]


def test_1_labels_by_key(tmp_path: Path) -> None:
    task = vqa(tmp_path, ANNOTATIONS)
    assert {question.id: list(question.gold) for question in task.questions} == {
        "7": ["yes"],
        "8": ["no"],
    }
    assert "1 rows of annotations.json belong to no row" in task.provenance.notes
    assert {source.name for source in task.provenance.data} == {
        "questions.json",
        "annotations.json",
    }
    copied(task, tmp_path / "copy")


def test_1_a_row_without_a_partner_is_bad(tmp_path: Path) -> None:
    text = VQA.replace("gold: answer", "gold: answer\noptions: ['yes', 'no']")
    task = vqa(tmp_path, ANNOTATIONS[:2], text)
    assert [question.id for question in task.questions] == ["8"]
    (bad,) = task.provenance.bad_rows
    assert str(bad) == "row 1: annotations.json has no key '7'"


@pytest.mark.parametrize(
    ("text", "annotations", "sentence"),
    [
        (
            VQA,
            [*ANNOTATIONS, {"id": 7, "answer": "no"}],
            "annotations.json has the key '7' twice, in the rows 3 and 4",
        ),
        (
            VQA.replace("    take: answer\n", ""),
            ANNOTATIONS,
            "both have a column 'image': say which columns to `take`",
        ),
        (
            VQA.replace("take: answer", "take: anwser"),
            ANNOTATIONS,
            "annotations.json: there is no column 'anwser' (did you mean 'answer'?)",
        ),
        (
            VQA.replace("question_id: id", "question_id: identity"),
            ANNOTATIONS,
            "annotations.json: there is no column 'identity'",
        ),
        (
            VQA.replace("join: annotations.json", "join: {dev: annotations.json}"),
            ANNOTATIONS,
            "'train', 'validation' or 'test'",
        ),
        (
            VQA.replace("join: annotations.json", "join: ../annotations.json"),
            ANNOTATIONS,
            "leaves the folder of the task file",
        ),
        (VQA.replace("take:", "takes:"), ANNOTATIONS, "unknown field 'takes'"),
    ],
)
def test_1_ambiguous_joins_are_one_sentence(
    tmp_path: Path, text: str, annotations: list[dict[str, Any]], sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        vqa(tmp_path, annotations, text)
    assert sentence in str(raised.value)


# 2. Rows as a mapping.

MAPPING = """
rows: things.json
read: {key: thing, list: things}
object: thing
options: [red, green, yellow]
gold: color
templates: "{A thing} is [MASK]."
"""


def test_2_rows_as_a_mapping(tmp_path: Path) -> None:
    things = {"lemon": {"color": "yellow"}, "apple": {"color": "red"}}
    (tmp_path / "things.json").write_text(json.dumps({"things": things}))
    task = task_of(tmp_path, MAPPING)
    assert [prompt for prompt, _ in prompts(task)] == ["A lemon is [MASK].", "An apple is [MASK]."]
    assert gold_words(task) == [["yellow"], ["red"]]
    copied(task, tmp_path / "copy")


def test_2_a_mapping_to_single_values(tmp_path: Path) -> None:
    (tmp_path / "things.json").write_text('{"lemon": "yellow", "apple": "red"}')
    text = MAPPING.replace(", list: things", "").replace("gold: color", "gold: value")
    assert gold_words(task_of(tmp_path, text)) == [["yellow"], ["red"]]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ('{"things": {"a": {"color": "red"}, "a": {"color": "green"}}}', "has a key twice"),
        ('{"things": [{"color": "red"}]}', "is not a mapping of rows"),
        ('{"other": {}}', "has no rows under 'things'"),
    ],
)
def test_2_what_is_no_mapping_of_rows(tmp_path: Path, document: str, sentence: str) -> None:
    (tmp_path / "things.json").write_text(document)
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, MAPPING)
    assert sentence in str(raised.value)


def test_2_a_row_that_has_the_key_s_column_itself_is_bad(tmp_path: Path) -> None:
    things = {"lemon": {"color": "yellow"}, "lime": {"thing": "fruit", "color": "green"}}
    (tmp_path / "things.json").write_text(json.dumps({"things": things}))
    task = task_of(tmp_path, MAPPING)
    assert [question.object for question in task.questions] == ["lemon"]
    (bad,) = task.provenance.bad_rows
    assert str(bad) == "row 2: 'lime' has a 'thing' of its own beside its key"


def test_2_a_mapping_that_nobody_declared_says_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "things.json").write_text('{"a": {"color": "red"}, "b": {"color": "green"}}')
    text = MAPPING.replace("read: {key: thing, list: things}\n", "")
    with pytest.raises(UserError, match=r"but a mapping of them: give `read: \{key: id\}`"):
        task_of(tmp_path, text)
    table = MAPPING.replace("things.json", "x.csv")
    for option in ("key", "list"):
        text = table.replace("{key: thing, list: things}", f"{{{option}: things}}")
        with pytest.raises(UserError, match=f"not a JSON document: leave out .*{option}"):
            task_of(tmp_path, text, x="thing,color\na,red\n")


def test_2_a_row_with_a_key_twice_is_bad(tmp_path: Path) -> None:
    (tmp_path / "things.json").write_text(
        '{"things": {"lemon": {"color": "yellow"}, "lime": {"color": "green", "color": "red"}}}'
    )
    task = task_of(tmp_path, MAPPING)
    assert [question.object for question in task.questions] == ["lemon"]
    assert [str(bad) for bad in task.provenance.bad_rows] == ["row 2: a key occurs twice"]


# 3. Alternating lines as pairs.

LINES = """
rows: pairs.txt
read: {format: lines, columns: [good, bad]}
pairs: {good: good, bad: bad}
"""


def test_3_alternating_lines_as_pairs(tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text(
        "The cats sleep.\nThe cats sleeps.\n\nA dog barks.\nA dog bark.\n"
    )
    task = task_of(tmp_path, LINES)
    assert gold_words(task) == [["The cats sleep."], ["A dog barks."]]
    assert [question.id for question in task.questions] == ["1", "4"]
    copied(task, tmp_path / "copy")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("a b.\na c.\nd e.\n", "ends with 1 of the 2 lines of a row (good, bad)"),
        ("a b.\n\na c.\nd e.\n", "line 2 is blank, and a row has 2 lines"),
        ("a b.\n\udcff\n", "every line is part of a row"),
    ],
)
def test_3_a_line_that_is_missing_refuses_the_file(
    tmp_path: Path, lines: str, sentence: str
) -> None:
    (tmp_path / "pairs.txt").write_bytes(lines.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, LINES)
    assert sentence in str(raised.value)


def test_3_lines_need_names(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="`format: lines` needs 'columns'"):
        task_of(tmp_path, LINES.replace(", columns: [good, bad]", ""))


# 4. Votes as a list in the order of the options (ChaosNLI).

VOTES = """
rows: chaos.jsonl
id: uid
options: [entailment, neutral, contradiction]
gold: {votes: label_count, says: order}
templates: "{premise} {hypothesis} [MASK]"
"""


def test_4_votes_in_option_order(tmp_path: Path) -> None:
    row = {"uid": "a", "premise": "It rains.", "hypothesis": "It is wet."}
    json_lines(
        tmp_path / "chaos.jsonl",
        {**row, "label_count": [75, 25, 0]},
        {**row, "uid": "b", "label_count": "[0, 1, 3]"},
        {**row, "uid": "c", "label_count": [1, 2]},
        {**row, "uid": "d", "label_count": [0, 0, 0]},
    )
    task = task_of(tmp_path, VOTES)
    assert [question.gold for question in task.questions] == [
        {"entailment": 0.75, "neutral": 0.25},
        {"neutral": 0.25, "contradiction": 0.75},
    ]
    assert [bad.reason for bad in task.provenance.bad_rows] == [
        "'label_count' has 2 numbers, and there are 3 options",
        "all votes are 0: there is no gold answer",
    ]
    assert task.metrics == ("majority_accuracy",)
    copied(task, tmp_path / "copy")


@pytest.mark.parametrize(
    ("gold", "sentence"),
    [
        ("{column: label_count, says: order}", "goes with one column of 'votes' or 'weights'"),
        ("{votes: {neutral: x}, says: order}", "goes with one column of 'votes' or 'weights'"),
        ("{votes: label_count, says: index}", "`says: index` goes with 'column'"),
    ],
)
def test_4_order_is_for_a_list(tmp_path: Path, gold: str, sentence: str) -> None:
    json_lines(tmp_path / "chaos.jsonl", {"uid": "a", "label_count": [1]})
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, VOTES.replace("{votes: label_count, says: order}", gold))
    assert sentence in str(raised.value)


# 5. Two targets under two contexts (EWoK): log P(target | context).

EWOK = """
rows: ewok.jsonl
rules:
  - number: row
  - spread: {target: [Target1, Target2]}
    into: [case, other]
    names: [first, second]
id: [row, case]
twin: [row, other]
object: row
options: [first, second]
words: {first: "{Context1}", second: "{Context2}"}
gold: case
tags: [Domain]
templates: "[MASK] {target}"
metrics: [accuracy, text_score]
"""
EWOK_ROWS = [
    {
        "Domain": "spatial",
        "Context1": "The ball is on the left.",
        "Context2": "The ball is on the right.",
        "Target1": "The box is to its right.",
        "Target2": "The box is to its left.",
    },
    {
        "Domain": "social",
        "Context1": "Ann helps Bob.",
        "Context2": "Ann hinders Bob.",
        "Target1": "Bob thanks Ann.",
        "Target2": "Bob blames Ann.",
    },
]


def test_5_one_target_under_two_contexts(tmp_path: Path) -> None:
    json_lines(tmp_path / "ewok.jsonl", *EWOK_ROWS)
    task = task_of(tmp_path, EWOK)
    assert [question.id for question in task.questions] == [
        "1|first",
        "1|second",
        "2|first",
        "2|second",
    ]
    assert [question.twin for question in task.questions][:2] == ["1|second", "1|first"]
    assert prompts(task)[2] == ("[MASK] Bob thanks Ann.", ("Ann helps Bob.", "Ann hinders Bob."))
    assert gold_words(task)[2:] == [["Ann helps Bob."], ["Ann hinders Bob."]]
    copied(task, tmp_path / "copy")

    folder = save_tiny("gpt2", tmp_path / "gpt2")
    (run,) = api.probe(
        str(folder), task, scope="rest", output=tmp_path / "runs", resamples=100
    ).runs
    reference = CausalReference(folder)
    start = reference.tokenizer.bos_token
    both: list[list[bool]] = []
    for row in EWOK_ROWS:
        right = []
        for number, target in enumerate([row["Target1"], row["Target2"]]):
            given = [
                reference.given(f"{start}{row[context]}", f" {target}")
                for context in ("Context1", "Context2")
            ]
            answer = run.answers[2 * len(both) + number]
            np.testing.assert_allclose(answer.scores.logp, given, atol=1e-3)
            right.append(int(np.argmax(given)) == number)
        both.append(right)
    figures = {figure.metric: figure.value for figure in run.figures if figure.slice is None}
    assert figures["accuracy"] == pytest.approx(np.mean(both))
    assert figures["text_score"] == pytest.approx(np.mean([all(right) for right in both]))
    assert "scope:rest" in run.manifest.signature


def test_5_a_missing_partner_is_noted(tmp_path: Path) -> None:
    json_lines(tmp_path / "ewok.jsonl", EWOK_ROWS[0], {**EWOK_ROWS[1], "Target2": ""})
    task = task_of(tmp_path, EWOK)
    assert [question.id for question in task.questions] == ["1|first", "1|second", "2|first"]
    assert "1 questions have no twin among the others, such as 2|first" in task.provenance.notes
    assert [bad.reason for bad in task.provenance.bad_rows] == ["'target' is empty"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[Target1, Target2]", "[Target1]", "two at least"),
        ("[Target1, Target2]", "[Target1, Target3]", "no column 'Target3'"),
        ("names: [first, second]", "names: [first]", "as many columns for each name"),
        ("    into: [case, other]\n", "", "'names' goes with 'into'"),
        ("into: [case, other]", "into: [case, other, third]", "at most 2"),
    ],
)
def test_5_what_cannot_be_spread(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    json_lines(tmp_path / "ewok.jsonl", *EWOK_ROWS)
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, EWOK.replace(old, new))
    assert sentence in str(raised.value)


# 6. One property under two contexts (COMPS).

COMPS = """
rows: comps.jsonl
id: id
pairs: {good: prefix_acceptable, bad: prefix_unacceptable, after: property_phrase}
tags: [negative_sample_type]
"""


def comps(folder: Path) -> Task:
    json_lines(
        folder / "comps.jsonl",
        {
            "id": 1,
            "prefix_acceptable": "a sock",
            "prefix_unacceptable": "a stone",
            "property_phrase": "absorbs sweat.",
            "negative_sample_type": "random",
        },
        {
            "id": 2,
            "prefix_acceptable": "a robin",
            "prefix_unacceptable": "a penguin",
            "property_phrase": "can fly.",
            "negative_sample_type": "taxonomic",
        },
    )
    return task_of(folder, COMPS)


def test_6_a_property_under_two_contexts(tmp_path: Path) -> None:
    task = comps(tmp_path)
    assert [text for text, _ in prompts(task)] == ["[MASK] absorbs sweat.", "[MASK] can fly."]
    assert gold_words(task) == [["A sock"], ["A robin"]]
    copied(task, tmp_path / "copy")
    folder = save_tiny("gpt2", tmp_path / "gpt2")
    model = load_model(str(folder), ModelOptions(scope="rest"))
    reference = CausalReference(folder)
    start = reference.tokenizer.bos_token
    for question in task.questions:
        prompt = task.templates[0].ask(question)
        (scores,) = model.answer([prompt])
        rest = prompt.parts[1]
        given = [reference.given(f"{start}{option}", rest) for option in prompt.options]
        np.testing.assert_allclose(scores.logp, given, atol=1e-3)
        assert scores.chars == (len(rest) - 1,) * 2
        assert scores.tokens == (len(reference.tokenizer(rest)["input_ids"]),) * 2


def test_6_scope_rest_is_refused_where_it_would_mean_something_else(tmp_path: Path) -> None:
    gpt2 = save_tiny("gpt2", tmp_path / "gpt2")
    bert = save_tiny("bert", tmp_path / "bert")
    with pytest.raises(UserError, match="does not score what follows an option"):
        load_model(str(bert), ModelOptions(scope="rest"))
    model = load_model(str(gpt2), ModelOptions(scope="rest"))
    prompt = comps(tmp_path).templates[0].ask(comps(tmp_path).questions[0])
    with pytest.raises(UserError, match="nothing does in"):
        ChoiceModel(model).answer([prompt])
    assert load_model("baseline:majority", ModelOptions(scope="rest")).scope == "option"


# 7. Two pictures and two captions (Winoground).

WINOGROUND = """
rows: examples.jsonl
rules:
  - spread: {image: [image_0, image_1]}
    into: [case, other]
    names: [first, second]
id: [id, case]
twin: [id, other]
object: id
picture: "{image}.png"
options: [first, second]
words: {first: "{caption_0}", second: "{caption_1}"}
gold: case
tags: [tag]
templates: "[MASK]"
metrics: [group_score, text_score, image_score, accuracy]
"""
CAPTIONS = [
    ("The big red circle", "The red big circle"),
    ("The small blue square", "The blue small square"),
    ("The circle is red", "The red is circle"),
    ("The big square", "The square big"),
    ("The triangle is blue", "The blue is triangle"),
    ("The yellow circle", "The circle yellow"),
]


def winoground(folder: Path) -> Task:
    rows = []
    for number, captions in enumerate(CAPTIONS):
        row: dict[str, Any] = {"id": number, "tag": "Object"}
        for place, caption in enumerate(captions):
            name = f"ex_{number}_img_{place}"
            picture(2 * number + place).save(folder / f"{name}.png")
            row |= {f"image_{place}": name, f"caption_{place}": caption}
        rows.append(row)
    json_lines(folder / "examples.jsonl", *rows)
    return task_of(folder, WINOGROUND)


def test_7_two_pictures_and_two_captions(tmp_path: Path) -> None:
    task = winoground(tmp_path)
    assert len(task.questions) == 2 * len(CAPTIONS)
    assert gold_words(task)[:2] == [["The big red circle"], ["The red big circle"]]
    copied(task, tmp_path / "copy")
    (tmp_path / "model").mkdir()
    folder = save_dual("clip", tmp_path / "model")
    (run,) = api.probe(f"vision:{folder}", task, resamples=100, output=tmp_path / "runs").runs

    network = transformers.CLIPModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    images = transformers.AutoImageProcessor.from_pretrained(folder)
    text, image = [], []
    for number, captions in enumerate(CAPTIONS):
        pictures = [picture(2 * number + place).convert("RGB") for place in (0, 1)]
        pixels = images(images=pictures, return_tensors="pt")["pixel_values"]
        tokens = tokenizer(list(captions), return_tensors="pt", padding=True)
        with torch.inference_mode():
            s = network(tokens["input_ids"], pixels, tokens["attention_mask"]).logits_per_text
        text.append(bool(s[0, 0] > s[1, 0] and s[1, 1] > s[0, 1]))
        image.append(bool(s[0, 0] > s[0, 1] and s[1, 1] > s[1, 0]))
    figures = {figure.metric: figure for figure in run.figures if figure.slice is None}
    assert figures["text_score"].value == pytest.approx(np.mean(text))
    assert figures["image_score"].value == pytest.approx(np.mean(image))
    assert figures["group_score"].value == pytest.approx(np.mean(np.array(text) & np.array(image)))
    assert figures["group_score"].chance == pytest.approx(1 / 6)
    assert figures["group_score"].objects == len(CAPTIONS)


def test_7_scores_that_depend_on_the_other_options_are_not_compared(tmp_path: Path) -> None:
    task = winoground(tmp_path)
    (run,) = api.probe("mock", task, resamples=100, output=tmp_path / "runs").runs
    metrics = {figure.metric for figure in run.figures}
    assert metrics == {"text_score", "accuracy"}
    assert any("compares questions" in note for note in run.manifest.notes)
    only = task_of(tmp_path, WINOGROUND.replace(", text_score, image_score, accuracy", ""))
    with pytest.raises(UserError, match="group_score compares questions"):
        api.probe("mock", only, resamples=100, output=tmp_path / "runs")


# 8. An article before the slot that fits the option.

ARTICLE = """
rows: [{thing: lemon, kind: fruit}, {thing: crow, kind: animal}, {thing: chair, kind: object}]
object: thing
gold: kind
words: {fruit: edible fruit}
templates:
  is: "{A thing} is {a [MASK]}."
  opens: "{A [MASK]}, such as {a thing}."
"""


def test_8_an_article_that_fits_the_option(tmp_path: Path) -> None:
    task = task_of(tmp_path, ARTICLE)
    first, second = prompts(task)[:2]
    assert first == ("A lemon is [MASK].", ("an animal", "an edible fruit", "an object"))
    assert second == (
        "[MASK], such as a lemon.",
        ("An animal", "An edible fruit", "An object"),
    )
    assert task.labels == ("animal", "fruit", "object")
    copied(task, tmp_path / "copy")


def test_8_words_of_other_splits_get_their_article_too(tmp_path: Path) -> None:
    text = ARTICLE.replace("rows: [", "rows:\n  train: [{thing: oak, kind: [tree]}]\n  test: [")
    text = text.replace("gold: kind", "options: {answers: kind}\ngold: kind")
    task = task_of(tmp_path, text)
    assert task.templates[0].words["tree"] == "a tree"


def test_8_words_that_differ_from_row_to_row_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="write the article into the column"):
        task_of(tmp_path, ARTICLE.replace("edible fruit", "'{thing}'"))


# 9. Instructions in another language.

GERMAN = """
rows: [{ding: Zitrone, farbe: gelb}, {ding: Rasen, farbe: grün}]
object: ding
gold: farbe
templates: "Welche Farbe hat {ding}? [MASK]"
instructions:
  answer: "Antwort:"
  one_of: "Antworte mit einem von diesen: {options}."
  few_words: Antworte mit ein oder zwei Wörtern.
  blank: "Fülle die Lücke:"
"""


def test_9_instructions_in_another_language(tmp_path: Path) -> None:
    task = task_of(tmp_path, GERMAN)
    prompt = task.templates[0].ask(task.questions[0])
    model = ChoiceModel(load_model("mock"))
    (shown,) = [model._put(prompt)]
    assert shown.text == "Welche Farbe hat Zitrone? (a) gelb (b) grün Antwort: [MASK]"
    free = request_text(prompt.text, prompt.options, prompt.instructions)
    assert free == (
        "Welche Farbe hat Zitrone?\nAntworte mit einem von diesen: gelb, grün.\nAntwort: [MASK]"
    )
    many = [str(number) for number in range(100)]
    assert "ein oder zwei Wörtern" in request_text("Es ist [MASK] hier.", many, prompt.instructions)
    assert "Fülle die Lücke: Es ist ___ hier." in request_text(
        "Es ist [MASK] hier.", many, prompt.instructions
    )
    english = task_of(tmp_path, GERMAN.partition("instructions:")[0])
    assert english.fingerprint != task.fingerprint
    assert english.templates[0].ask(task.questions[0]).key != prompt.key
    copy = copied(task, tmp_path / "copy")
    assert copy.templates[0].instructions == task.templates[0].instructions


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("{options}", "ihnen", "'one_of' needs {options}"),
        ("  answer:", "  anwser:", "unknown field 'anwser' (did you mean 'answer'?)"),
        ("{options}", "{options} {ding}", "nothing else in braces"),
    ],
)
def test_9_instructions_that_cannot_be_put(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        task_of(tmp_path, GERMAN.replace(old, new))
    assert sentence in str(raised.value)
