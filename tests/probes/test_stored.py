"""Stored answers get the figures of the model that gave them, and whatever does not fit is
reported."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seesay import api
from seesay.errors import UserError
from seesay.models import load_model
from seesay.questions import Task
from seesay.reports.every_eval_ever import write_records
from seesay.reports.formats import as_text, figure_rows
from seesay.reports.groups import group_runs
from seesay.reports.site import write_site
from seesay.runs.run import Run
from seesay.runs.store import ANSWERS
from seesay.tasks import load_task

RESAMPLES = 100


@pytest.fixture(scope="module")
def task() -> Task:
    whole = load_task("core-color")
    return replace(whole, questions=whole.questions[:30], templates=whole.templates[:2], neutral={})


@pytest.fixture(scope="module")
def answered(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Run:
    output = tmp_path_factory.mktemp("mock")
    return api.probe("mock", task, resamples=RESAMPLES, output=output).runs[0]


def scored(path: Path, task: Task, output: Path, **more: Any) -> Run:
    (run,) = api.probe(f"answers:{path}", task, resamples=RESAMPLES, output=output, **more).runs
    return run


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def values(run: Run) -> list[tuple[object, ...]]:
    return [
        (f.metric, f.template, f.slice, f.value, f.low, f.high)
        for f in run.figures
        if f.metric != "vocabulary_accuracy"
    ]


def as_rows(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "question": a.question,
            "template": a.template,
            "logp": dict(zip(a.options, a.scores.logp, strict=True)),
        }
        for a in run.answers
    ]


def test_stored_log_probabilities_give_the_same_figures(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    rows = as_rows(answered)
    run = scored(lines(tmp_path / "answers.jsonl", rows[::-1]), task, tmp_path)
    assert values(run) == values(answered)
    assert run.manifest.family == "stored"
    assert not run.manifest.notes
    listed = [{**row, "logp": list(row["logp"].values())} for row in rows]
    pq.write_table(pa.Table.from_pylist(listed), tmp_path / "listed.parquet")
    assert values(scored(tmp_path / "listed.parquet", task, tmp_path)) == values(answered)
    # a run's own table
    assert values(scored(answered.folder / ANSWERS, task, tmp_path)) == values(answered)
    (comparison, *_) = api.Results((answered, run)).compare(resamples=RESAMPLES)
    assert comparison.difference == 0
    assert comparison.n == 30


def test_texts_are_matched_like_free_answers(task: Task, tmp_path: Path) -> None:
    rows = [
        {"id": q.id, "answer": f"I would say it is {q.best_label}." if i % 2 else "No idea."}
        for i, q in enumerate(task.questions)
    ]
    run = scored(lines(tmp_path / "texts.jsonl", rows), task, tmp_path)
    headline = next(f for f in run.figures if f.metric == "relaxed_accuracy")
    assert headline.value == pytest.approx(0.5)
    # texts give no probabilities
    assert {figure.metric for figure in run.figures} == {"relaxed_accuracy"}
    sampled = [
        {"id": q.id, "answer": [q.best_label, q.best_label, "no idea"]} for q in task.questions
    ]
    run = scored(lines(tmp_path / "samples.jsonl", sampled), task, tmp_path)
    assert next(f for f in run.figures if f.metric == "relaxed_accuracy").value == 1.0
    assert any(figure.metric == "true_confidence" for figure in run.figures)


def test_rows_that_do_not_fit_are_reported(task: Task, answered: Run, tmp_path: Path) -> None:
    rows = as_rows(answered)
    rows[1] = {**rows[1], "logp": {"green": -1.0}}  # other options
    rows[2] = {**rows[2], "logp": dict.fromkeys(rows[2]["logp"], 0.5)}  # no log-probability
    rows[3] = {"template": "x", "answer": "red"}
    path = lines(tmp_path / "damaged.jsonl", [*rows[:-1], {"question": "nobody", "answer": "red"}])
    with path.open("a") as file:
        file.write("{not json\n")
    run = scored(path, task, tmp_path)
    notes = "\n".join(run.manifest.notes)
    missing = "4 of 60 prompts of 'core-color' have no stored answer: asked, they count as wrong"
    assert missing in notes
    assert "1 of 58 stored answers are to no question of 'core-color' (nobody)" in notes
    assert "1 stored answers have other options" in notes
    assert "3 rows cannot be read" in notes
    assert "above 0" in notes
    assert "not JSON" in notes


def test_answers_of_which_none_can_be_used_are_refused(task: Task, tmp_path: Path) -> None:
    """Uniform guesses in their place would have a macro F1 above many models'."""
    rows = [{"question": question.id, "logp": {"mauve": -1.0}} for question in task.questions]
    with pytest.raises(UserError, match="has no usable answer to 'core-color'"):
        scored(lines(tmp_path / "mauve.jsonl", rows), task, tmp_path)


def test_an_unanswered_template_is_left_out(task: Task, answered: Run, tmp_path: Path) -> None:
    first = task.templates[0].name
    rows = [row for row in as_rows(answered) if row["template"] == first]
    run = scored(lines(tmp_path / "one.jsonl", rows), task, tmp_path)
    assert run.manifest.templates == [first]
    assert not run.manifest.notes


def test_user_mistakes_are_refused(task: Task, tmp_path: Path) -> None:
    other = lines(tmp_path / "other.jsonl", [{"question": "nobody", "answer": "red"}])
    for path, message in (
        (tmp_path / "none.jsonl", "no file"),
        (lines(tmp_path / "empty.jsonl", []), "no stored answer"),
        (other, "no answer to a question"),
    ):
        with pytest.raises(UserError, match=message):
            scored(path, task, tmp_path)
    with pytest.raises(UserError, match="named by their file"):
        load_model("answers:")
    known = lines(
        tmp_path / "known.jsonl", [{"question": q.id, "answer": "red"} for q in task.questions]
    )
    with pytest.raises(UserError, match="answers that exist"):
        scored(known, task, tmp_path, how="choice")


def logged(task: Task, *, reverse: bool = False, ending: bool = False) -> list[dict[str, Any]]:
    """Return lines as lm-eval 0.4.13 writes them (`tests/export/test_lm_eval.py` runs the program
    itself), of a model that is always right."""
    rows = []
    for number, question in enumerate(task.questions):
        prompt = task.templates[-1].ask(question)
        context, after = prompt.parts
        pairs = list(zip(prompt.options, question.options, strict=True))
        if reverse:
            pairs.reverse()
        scores = [-1.0 if label == question.best_label else -2.0 for _, label in pairs]
        choices = [word + after if ending else word for word, _ in pairs]
        arguments = {
            f"gen_args_{i}": {"arg_0": context, "arg_1": choice} for i, choice in enumerate(choices)
        }
        rows.append(
            {
                "doc_id": number,
                "doc": {"id": question.id, "context": context, "choices": choices},
                "target": "0",
                "arguments": arguments,
                "resps": [[[str(s), "False"]] for s in scores],
                "filtered_resps": [[str(s), "False"] for s in scores],
            }
        )
    return rows


def headline(run: Run) -> float:
    return next(f.value for f in run.figures if f.metric == run.task.metrics[0])


def test_logged_samples_of_lm_eval(task: Task, tmp_path: Path) -> None:
    lines(tmp_path / "samples_core_color_x_2026.jsonl", logged(task))
    (tmp_path / "results_2026.json").write_text("{}")
    run = scored(tmp_path, task, tmp_path / "runs")
    assert run.manifest.templates == [task.templates[1].name]
    assert not run.manifest.notes
    assert headline(run) == 1.0


@pytest.mark.parametrize("ending", [False, True])
@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("form", ["arguments", "lists", "choices"])
def test_logged_choices_are_known_by_their_texts(
    form: str, numbered: bool, ending: bool, task: Task, tmp_path: Path
) -> None:
    rows = logged(task, reverse=True, ending=ending)
    for row in rows:
        if numbered and form != "choices":
            row["doc"]["id"] = row["doc_id"]
        if form == "lists":
            row["arguments"] = [list(request.values()) for request in row["arguments"].values()]
        if form == "choices":
            del row["arguments"]
            row["doc"]["choices"] = [choice.rstrip(".") for choice in row["doc"]["choices"]]
    one_template = replace(task, templates=task.templates[1:])
    run = scored(lines(tmp_path / "samples_x.jsonl", rows), one_template, tmp_path)
    assert not run.manifest.notes
    assert headline(run) == 1.0


def test_logged_choices_that_are_no_options_are_reported(task: Task, tmp_path: Path) -> None:
    rows = logged(task)
    for request in rows[0]["arguments"].values():
        request["arg_1"] = f"no {request['arg_1']}"
    rows[1]["arguments"]["gen_args_0"]["arg_0"] = "Another text"
    run = scored(lines(tmp_path / "samples_x.jsonl", rows), task, tmp_path)
    notes = "\n".join(run.manifest.notes)
    assert "2 of 30 prompts of 'core-color' have no stored answer" in notes
    assert "1 stored answers have other options" in notes
    assert "1 rows cannot be read (samples_x.jsonl, row 2: its choices follow" in notes


def put_alike(task: Task) -> Task:
    """Return the task with a second question of the first one's wording, and another answer."""
    first = task.questions[0]
    label = next(option for option in first.options if option not in first.gold)
    twin = replace(first, id="twin", gold={label: 1.0})
    return replace(task, questions=(*task.questions, twin))


def test_questions_that_are_put_alike_have_their_own_answers(task: Task, tmp_path: Path) -> None:
    twins = put_alike(task)
    right = [{"id": question.id, "answer": question.best_label} for question in twins.questions]
    wrong = [*right[1:-1], {**right[0], "id": "twin"}, {**right[-1], "id": right[0]["id"]}]
    assert headline(scored(lines(tmp_path / "a.jsonl", right), twins, tmp_path)) == 1.0
    run = scored(lines(tmp_path / "b.jsonl", wrong), twins, tmp_path)
    assert headline(run) == pytest.approx(29 / 31)
    # a run's own table holds the scores that they share once
    (mock,) = api.probe("mock", twins, resamples=RESAMPLES, output=tmp_path / "mock").runs
    again = scored(mock.folder / ANSWERS, twins, tmp_path)
    assert values(again) == values(mock)
    assert not again.manifest.notes


def test_equal_answers_count_once(task: Task, answered: Run, tmp_path: Path) -> None:
    rows = as_rows(answered)
    run = scored(lines(tmp_path / "twice.jsonl", [*rows, *rows[::-1]]), task, tmp_path)
    assert values(run) == values(answered)
    assert not run.manifest.notes
    texts = [{"id": q.id, "answer": q.best_label} for q in task.questions]
    run = scored(lines(tmp_path / "texts.jsonl", texts * 3), task, tmp_path)
    # three copies are no samples
    assert {figure.metric for figure in run.figures} == {"relaxed_accuracy"}
    agreeing = [
        {**row, "answer": max(row["logp"], key=row["logp"].__getitem__), "text": None}
        for row in rows
    ]
    run = scored(lines(tmp_path / "agreeing.jsonl", agreeing), task, tmp_path)
    assert values(run) == values(answered)


def test_answers_that_contradict_one_another_are_refused(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    rows = as_rows(answered)
    first = rows[0]
    name = first["question"]
    best = max(first["logp"], key=first["logp"].__getitem__)
    other = next(option for option in first["logp"] if option != best)
    text = {"question": name, "answer": "green"}
    contradictions = {
        "scores": [*rows, {**first, "logp": {**first["logp"], best: -99.0}}],
        "beside": [{**first, "answer": other}, *rows[1:]],
        "text": [*rows, {"question": name, "template": first["template"], "answer": other}],
        "texts": [text, {**text, "answer": "red"}],
        "samples": [text, {**text, "answer": ["green", "green"]}],
    }
    for file, lines_of_file in contradictions.items():
        path = lines(tmp_path / f"{file}.jsonl", lines_of_file)
        with pytest.raises(UserError, match=rf"contradict one another to 1 question \({name}"):
            scored(path, task, tmp_path)
    # two logs in one folder
    (tmp_path / "logs" / "a").mkdir(parents=True)
    (tmp_path / "logs" / "b").mkdir()
    lines(tmp_path / "logs" / "a" / "samples_x.jsonl", logged(task))
    log = lines(tmp_path / "logs" / "b" / "samples_x.jsonl", logged(task))
    assert headline(scored(tmp_path / "logs", task, tmp_path)) == 1.0
    log.write_text(log.read_text().replace("-2.0", "-3.0"))
    with pytest.raises(UserError, match="contradict one another to 30 questions"):
        scored(tmp_path / "logs", task, tmp_path)


def test_a_question_counts_once_in_however_many_templates(task: Task, tmp_path: Path) -> None:
    name, other = (question.id for question in task.questions[:2])
    rows = [{"question": name, "answer": "red"}, {"question": name, "answer": "green"}]
    sentence = rf"contradict one another to 1 question \({re.escape(name)}\): keep one answer"
    with pytest.raises(UserError, match=sentence):
        scored(lines(tmp_path / "two.jsonl", rows), task, tmp_path)
    mauve = {"question": other, "logp": {"mauve": -1.0}}
    run = scored(lines(tmp_path / "mauve.jsonl", [rows[0], mauve]), task, tmp_path)
    assert any(
        f"1 stored answers have other options than their question ({other})." in note
        for note in run.manifest.notes
    )


def test_columns_that_contradict_one_another_are_reported(task: Task, tmp_path: Path) -> None:
    """The gold answers may stand beside the model's."""
    rows: list[dict[str, Any]] = [
        {"id": q.id, "answer": q.best_label, "prediction": "mauve"} for q in task.questions
    ]
    with pytest.raises(UserError, match="`answer` and `prediction` differ: keep one of them"):
        scored(lines(tmp_path / "gold.jsonl", rows), task, tmp_path)
    options = list(task.questions[0].options)
    short = {"id": task.questions[0].id, "logp": [-1.0] * 3, "options": options[:2]}
    twice = {"id": task.questions[1].id, "logp": [-1.0, -2.0], "options": ["red", "red"]}
    fine = {"id": task.questions[2].id, "logp": [-1.0] * len(options)}
    run = scored(lines(tmp_path / "options.jsonl", [short, twice, fine]), task, tmp_path)
    notes = "\n".join(run.manifest.notes)
    assert "3 log-probabilities of 2 options" in notes
    assert "an option has two log-probabilities" in notes


def test_texts_that_name_no_option_are_counted(task: Task, tmp_path: Path) -> None:
    rows = [{"id": q.id, "answer": "No idea."} for q in task.questions]
    run = scored(lines(tmp_path / "texts.jsonl", rows), task, tmp_path)
    assert headline(run) == 0.0
    assert any("60 of 60 replies named no option" in note for note in run.manifest.notes)
    rows = [{"id": q.id, "answer": q.best_label} for q in task.questions]
    fine = scored(lines(tmp_path / "fine.jsonl", rows), task, tmp_path)
    assert not any("replies" in note for note in fine.manifest.notes)


def test_one_text_among_scores_gives_no_probabilities(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    rows = as_rows(answered)
    rows[0] = {"question": rows[0]["question"], "template": rows[0]["template"], "answer": "red"}
    run = scored(lines(tmp_path / "mixed.jsonl", rows), task, tmp_path)
    assert {figure.metric for figure in run.figures} == {"relaxed_accuracy"}


def test_options_in_a_table_of_several_sets(tmp_path: Path) -> None:
    """A Parquet file has a column for every option of any row."""
    whole = load_task("core-color")
    two_sets = replace(
        whole,
        questions=(
            replace(whole.questions[0], options=("red", "blue"), gold={"red": 1.0}),
            replace(whole.questions[1], options=("green", "pink"), gold={"pink": 1.0}),
        ),
        neutral={},
    )
    rows = [
        {"question": q.id, "logp": {o: -1.0 if o in q.gold else -2.0 for o in q.options}}
        for q in two_sets.questions
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "sets.parquet")
    run = scored(tmp_path / "sets.parquet", two_sets, tmp_path)
    assert headline(run) == 1.0
    assert not run.manifest.notes


def test_stored_answers_stand_beside_models_that_were_just_asked(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    """Read from its folder, such a run was always of the same task as the others."""
    rows = [{"question": q.id, "answer": q.best_label} for q in task.questions]
    file = lines(tmp_path / "answers.jsonl", rows)
    fresh = scored(file, task, tmp_path / "runs")
    (group,) = group_runs([fresh, answered])
    assert len(group.entries) == 2


def test_exports_and_the_leaderboard_count_prompts_without_an_answer(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    """The first question has an answer in one template; the others have one in all."""
    first, *others = task.questions
    rows = [{"question": q.id, "answer": q.best_label} for q in others]
    template = task.templates[0].name
    rows.append({"question": first.id, "template": template, "answer": first.best_label})
    run = scored(lines(tmp_path / "answers.jsonl", rows), task, tmp_path / "runs")
    missing = len(task.templates) - 1
    figures = figure_rows([run])
    counts = {row["template"]: row["unanswered"] for row in figures if row["slice"] is None}
    assert counts[None] == missing
    assert counts[template] == 0
    assert counts[task.templates[1].name] == 1
    tag, value = "cardinality", first.tags["cardinality"]
    slices = {row["slice"]: row["unanswered"] for row in figures if row["template"] is None}
    assert slices[f"{tag}={value}"] == missing
    of_tag = [count for part, count in slices.items() if part and part.startswith(f"{tag}=")]
    assert sum(of_tag) == missing

    words = f"{missing} of {len(task.questions) * len(task.templates)} prompts"
    note = f"Prompts without an answer count as wrong: {run.label} on {task.name}, {words}."
    for format in ("markdown", "latex"):
        plain = as_text(format, [run, answered], []).replace("{}", "").replace("\\_", "_")
        assert note in plain
        assert "without an answer" not in as_text(format, [answered], [])
    index = write_site(tmp_path / "site", [run, answered])
    for page in (index, *(tmp_path / "site" / "tasks").iterdir()):
        assert note in page.read_text(encoding="utf-8")
    (file,) = (tmp_path / "site" / "hub").glob("answers*/.eval_results/*.yaml")
    assert f"{words} without an answer count as wrong" in " ".join(file.read_text().split())
    (record,) = write_records(tmp_path / "eee", [run], "Us", "other")
    (result, *_) = json.loads(record.read_text())["evaluation_results"]
    details = result["score_details"]["details"]
    assert details["prompts_without_an_answer"] == str(missing)


def test_only_what_is_asked_is_counted_as_missing(answered: Run, tmp_path: Path) -> None:
    path = lines(tmp_path / "some.jsonl", as_rows(answered))
    (run,) = api.probe(
        f"answers:{path}", "core-color", limit=20, resamples=RESAMPLES, output=tmp_path
    ).runs
    asked = len(run.answers)
    (note,) = [note for note in run.manifest.notes if "no stored answer" in note]
    assert f"{run.answers.unanswered} of {asked} prompts of 'core-color'" in note
