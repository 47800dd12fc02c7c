"""The front door: what a Python user gets without the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import seesay
from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.models import Model
from seesay.plugins import instruments
from seesay.questions import Prompt, Scores
from seesay.reports.answer_rows import AnswerRow
from seesay.reports.formats import COLUMNS
from seesay.runs.ask import Settings, run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> seesay.Results:
    return seesay.probe(
        ["mock", "baseline:majority"],
        "core-color",
        limit=8,
        resamples=100,
        output=tmp_path_factory.mktemp("runs"),
    )


def test_every_public_name_is_available_in_any_import_order() -> None:
    names = "probe compare report load_model load_task Results score encode"
    code = (
        "import seesay.reports, seesay.runs.ask, seesay\n"
        f"for name in '{names}'.split():\n"
        "    assert callable(getattr(seesay, name)), name\n    assert name in dir(seesay)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_instruments_add_functions_to_the_front_door() -> None:
    functions = [name for plugin in instruments() for name in plugin.functions]
    assert len(functions) == len(set(functions))
    for name in functions:
        assert callable(getattr(seesay, name)), name
        assert name in dir(seesay)


def test_importing_seesay_imports_nothing_heavy() -> None:
    code = (
        "import sys, seesay; heavy = ('numpy', 'torch', 'pyarrow', 'pydantic', 'rich'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'prob'"):
        seesay.prob  # noqa: B018


def test_results_as_a_data_frame(results: seesay.Results) -> None:
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == len(results.figures)
    row = frame[(frame.model == "mock") & frame.template.isna() & frame.slice.isna()].iloc[0]
    figure = next(
        figure
        for figure in results.runs[0].figures
        if figure.template is None and figure.slice is None
    )
    assert (row.metric, row.value, row.low, row.high) == (
        figure.metric,
        figure.value,
        figure.low,
        figure.high,
    )
    answers = pandas.DataFrame(results.answers())
    assert tuple(answers.columns) == AnswerRow._fields


def test_without_pandas_there_is_one_sentence(
    results: seesay.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"A DataFrame needs .*pip install 'seesay\[pandas\]'"):
        results.to_pandas()


def test_answers_agree_with_the_figures(results: seesay.Results) -> None:
    majority = results.runs[1]
    rows = [row for row in results.answers() if row.model == "baseline:majority"]
    assert len(rows) == 8 * len(majority.task.templates)
    first = rows[0]
    assert first.prompt == majority.task.templates[0].ask(majority.task.questions[0]).text
    assert first.logp[first.options.index(first.chosen)] == max(first.logp)
    assert first.right == (first.chosen in first.gold)
    accuracy = next(
        f
        for f in majority.figures
        if f.metric == "relaxed_accuracy" and not f.template and not f.slice
    )
    assert sum(row.right for row in rows) / len(rows) == pytest.approx(accuracy.value), (
        "the baseline has no ties here"
    )


def test_comparisons_and_the_page(results: seesay.Results, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^resamples is 1: give a number from"):
        results.compare(resamples=1)
    [headline, *_] = results.compare(resamples=100)
    assert {headline.a, headline.b} == {"mock", "baseline:majority"}
    page = results.save_report(tmp_path / "page.html", results.compare(resamples=100))
    assert "core-color" in page.read_text(encoding="utf-8")
    assert "mock" in results._repr_html_()
    assert repr(results) == "<Results: mock on core-color, baseline:majority on core-color>"
    with pytest.raises(UserError, match="is a folder"):
        results.save_report(tmp_path)
    folders = [done.folder for done in results.runs]
    assert [c.model_dump() for c in seesay.compare(folders, resamples=100)] == [
        c.model_dump() for c in results.compare(resamples=100)
    ]
    assert seesay.report(folders, tmp_path / "again.html").is_file()


def test_models_and_tasks_may_be_given_as_objects(results: seesay.Results, tmp_path: Path) -> None:
    model, task = seesay.load_model("mock"), seesay.load_task("core-color")
    again = seesay.probe(model, task, limit=8, resamples=100, output=tmp_path)
    assert again.runs[0].answers == results.runs[0].answers
    assert run(model, task, tmp_path, Settings(limit=8, resamples=100)) == again.runs[0], (
        "the same folder"
    )


def test_a_failing_model_does_not_stop_the_others(tmp_path: Path) -> None:
    models = ["baseline:fixed-k", "mock"]  # the first answers questions about pictures only
    done = seesay.probe(models, "core-color", limit=2, resamples=100, output=tmp_path)
    assert [one.manifest.model for one in done.runs] == ["mock"]
    assert [str(error) for error in done.errors] == [
        f"baseline:fixed-k answers yes or no, true or false, not {' or '.join(COLORS)}."
    ]
    with pytest.raises(UserError, match="baseline:fixed-k answers yes or no"):
        seesay.probe(models[:1], "core-color", limit=2, resamples=100, output=tmp_path)
    with pytest.raises(UserError, match="Unknown task"):
        seesay.probe("mock", "core-colour", output=tmp_path)
    with pytest.raises(UserError, match="No model was named"):
        seesay.probe([], "core-color", output=tmp_path)
    with pytest.raises(UserError, match="No task was named"):
        seesay.probe("mock", [], output=tmp_path)
    with pytest.raises(UserError, match="is 'abc': give a whole number"):
        seesay.probe("mock", "core-color", limit=cast("Any", "abc"), output=tmp_path)
    with pytest.raises(UserError, match="is True: give a whole number"):
        seesay.probe("mock", "core-color", limit=True, output=tmp_path)
    with pytest.raises(UserError, match=r"There is no option 'limits' \(did you mean 'limit'"):
        seesay.probe("mock", "core-color", limits=5, output=tmp_path)
    with pytest.raises(UserError, match=r"call seesay\.api\.learning_curves"):
        seesay.probe("mock", "core-color", how="learning-curve", output=tmp_path)
    # in Python, options are arguments
    with pytest.raises(UserError, match=r"^how is 'guess'"):
        seesay.probe("mock", "core-color", how="guess", output=tmp_path)


@pytest.mark.seconds
def test_the_embedded_battery_can_be_asked_under_every_condition(tmp_path: Path) -> None:
    results_by_choice = seesay.probe(
        "mock", "core-space", how="choice", limit=4, resamples=100, output=tmp_path
    )
    assert results_by_choice.runs[0].manifest.templates == ["question"]
    probed = seesay.probe(
        "baseline:majority", "core-size", how="linear", resamples=100, output=tmp_path
    )
    assert probed.runs[0].manifest.templates == ["linear"]
    assert probed.runs[0].manifest.questions < len(seesay.load_task("core-size").questions)


@pytest.mark.seconds
def test_a_metric_that_does_not_fit_one_task_is_measured_of_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One task of several right answers refused a whole folder."""
    one = seesay.load_task("core-size")
    several = seesay.load_task("core-color")
    results = seesay.probe("baseline:uniform", [one, several], output=tmp_path / "runs")
    with caplog.at_level("WARNING"):
        measured = results.measured("brier")
    assert {figure.task for figure in measured.figures if figure.metric == "brier"} == {one.name}
    assert "'core-color' has questions with several right answers: brier is for one." in caplog.text
    only_several = replace(results, runs=results.runs[1:])
    with pytest.raises(UserError, match="'core-color' has questions with several right answers"):
        only_several.measured("brier")


def test_progress_is_shown_where_someone_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments: dict[str, Any] = {"limit": 5, "resamples": 100, "output": tmp_path}
    seesay.probe("baseline:majority", "core-color", **arguments)
    assert capsys.readouterr().err == ""
    # as in a terminal
    monkeypatch.setenv("FORCE_COLOR", "1")
    seesay.probe("baseline:uniform", "core-color", **arguments)
    assert "baseline:uniform · core-color" in capsys.readouterr().err


def test_damaged_curves_are_left_out_with_a_sentence(
    results: seesay.Results, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "layers.json").write_text('[{"figures": 3}]')
    (tmp_path / "learning-curve.json").write_text("[{]")
    again = seesay.probe("mock", "core-color", limit=8, resamples=100, output=tmp_path)
    caplog.clear()
    for shown in (seesay.api.results(tmp_path), again.with_folder(tmp_path)):
        assert [run.manifest.model for run in shown.runs] == ["mock"]
        assert (shown.layer_curves, shown.learning_points) == ((), ())
    assert [message.split(" is ")[0] for message in caplog.messages] == [
        f"Left out: {tmp_path}/{name}" for name in ("layers.json", "learning-curve.json") * 2
    ]


class Careless(Model):
    """A model of somebody who has not read what `answer` returns."""

    name = "careless"
    family = "custom"
    fingerprint = "0"

    def __init__(self, answers: Any) -> None:
        self._answers = answers

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return cast("list[Scores]", self._answers)


def test_what_python_would_stumble_over_is_one_sentence(tmp_path: Path) -> None:
    mistakes: dict[str, Any] = {
        "Model is a class: give an object of it.": Model,
        "None is no model: give its name, a seesay Model, or a list.": None,
        "3 is no model: give its name, a seesay Model, or a list.": ["mock", 3],
    }
    for sentence, models in mistakes.items():
        with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
            seesay.probe(models, "core-color", output=tmp_path)
    with pytest.raises(UserError, match=r"^3 is no task: give its name, a seesay Task, or a list"):
        seesay.probe("mock", cast("Any", 3), output=tmp_path)
    with pytest.raises(UserError, match=r"^name is 3: give a text"):
        seesay.load_task(cast("Any", 3))
    for answers in ([1], [], None, [Scores((0.0,), (1,), (1,))] * 2):
        with pytest.raises(
            UserError, match=r"^'careless' answered 12 prompts with .*: `answer` ret"
        ):
            seesay.probe(Careless(answers), "core-color", limit=1, output=tmp_path)


def test_ties_are_the_shared_credit_of_the_figure(tmp_path: Path) -> None:
    """By its first option a model that prefers none would be black, and 0.200 right."""
    uniform = seesay.probe("baseline:uniform", "core-color", limit=40, output=tmp_path)
    rows = uniform.answers()
    assert {row.chosen for row in rows} == {None}
    mean = sum(row.right for row in rows) / len(rows)
    assert mean == pytest.approx(uniform.figures[0].value, abs=1e-12)


def test_a_page_where_none_can_be_written(results: seesay.Results) -> None:
    with pytest.raises(UserError, match=r"'/proc/x/y\.html' cannot be written"):
        results.save_report("/proc/x/y.html")


def test_what_changes_nothing_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = ["baseline:majority", "baseline:majority"]
    (run,) = seesay.probe(names, "core-color", limit=10, chat=True, output=tmp_path).runs
    assert "'baseline:majority' is named more than once: it is asked once." in caplog.text
    assert any("reads no text" in note for note in run.manifest.notes)
