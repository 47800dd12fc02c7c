"""Item models, short forms and adaptive scores: from runs to files, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from tests.runs.test_settle import SETTINGS, Knower, yes_or_no

from seesay import api
from seesay.cli import main
from seesay.errors import UserError
from seesay.questions import Prompt, Scores
from seesay.reports.pages.items import SHOWN
from seesay.runs.adaptive import ask_adaptively
from seesay.runs.ask import Settings, run
from seesay.runs.items import (
    distinct_rows,
    fit_item_model,
    make_short_form,
    read_items,
    write_items,
)
from seesay.runs.items import items_file as file_of
from seesay.runs.run import Run

TASK = yes_or_no(120)


@dataclass
class Ladder(Knower):
    """Knows the easier questions, and one in six of the others; of the easy ones one in six not."""

    def knows_number(self, prompt: Prompt) -> bool:
        """The good half is wrong about question 0, as if its gold were."""
        number = int(prompt.fields["n"])
        if number == 0:
            return self.known < 60
        is_easy = number * 37 % 120 < self.known
        is_odd_one_out = number * self.known % 6 == 1
        return is_easy != is_odd_one_out


def ladder(known: int) -> Ladder:
    return Ladder(f"knows {known}", fingerprint=str(known), known=known)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [run(ladder(known), TASK, folder, SETTINGS) for known in range(20, 110, 10)]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))


def test_a_question_whose_gold_is_wrong_stands_first(runs: list[Run]) -> None:
    model = fit_item_model(TASK, runs)
    first = model.items[0]
    assert (first.question, first.gold, first.rival) == ("q0", ["yes"], "no")
    assert first.discrimination < 0
    assert first.rival_share == 1
    assert len(model.items) == 120
    assert len(model.runs) == 9
    assert first.people is None
    weighted = [replace(q, gold={"yes": 3.0, "no": 1.0}) for q in TASK.questions]
    with pytest.raises(UserError, match="120 by none"):
        # the same ids with another gold are other questions: nobody answered them
        fit_item_model(replace(TASK, questions=tuple(weighted)), runs)


@dataclass
class Leaner(Knower):
    """Says white where it does not know, but of question 0 blue, as if that were gold."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Give the label that it says the most."""
        answers = []
        for prompt in prompts:
            number = int(prompt.fields["n"])
            label = "red" if number % 10 < self.known else "white"
            # as many of the better models as say white of the hardest questions
            if number == 0:
                label = "blue" if self.known != 6 else "white"
            logps = tuple(-1.0 if option == label else -2.0 for option in prompt.options)
            answers.append(Scores(logps, (1,) * 3, (3,) * 3))
        return answers


def test_an_answer_that_models_lean_to_makes_no_suspect(tmp_path: Path) -> None:
    options = ("red", "white", "blue")
    paints = replace(
        TASK,
        name="paints",
        questions=tuple(
            replace(question, options=options, gold={"red": 1.0}) for question in TASK.questions
        ),
    )
    leaners = [Leaner(f"knows {k}", fingerprint=str(k), known=k) for k in range(2, 11)]
    model = fit_item_model(paints, [run(one, paints, tmp_path, SETTINGS) for one in leaners])
    first = model.items[0]
    assert (first.question, first.rival, first.rival_usual) == ("q0", "blue", 0)
    hardest = [item for item in model.items[1:] if item.rival_share == first.rival_share]
    assert {item.rival for item in hardest} == {"white"}


def test_an_item_model_is_read_as_it_was_written(runs: list[Run]) -> None:
    model = fit_item_model(TASK, runs)
    write_items(model)
    assert read_items(TASK.name) == model
    file_of(TASK.name).write_text("{")
    with pytest.raises(UserError, match="make it anew"):
        read_items(TASK.name)


def test_an_item_model_says_where_it_is_and_what_it_replaces(runs: list[Run]) -> None:
    model = fit_item_model(TASK, runs)
    first = write_items(model)
    assert first == (
        f"The item model of '{TASK.name}' (120 questions, 9 runs) is kept in "
        f"{file_of(TASK.name)}: `seesay probe --task {TASK.name} --adaptive` uses it, wherever its "
        "runs are."
    )
    # the same runs again replace nothing
    assert write_items(fit_item_model(TASK, runs)) == first
    assert write_items(fit_item_model(TASK, runs[:8])).endswith(
        " It replaces one of 9 runs, of which 8 are the same."
    )
    file_of(TASK.name).write_text("{")
    assert write_items(model).endswith(" It replaces one that could not be read.")


def test_too_few_models_and_questions_that_few_answered_are_refused(
    runs: list[Run], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="8 models or more, and there are 3: ask 5 more"):
        fit_item_model(TASK, runs[:3])
    limited = Settings(resamples=100, limit=30)
    partial = [run(ladder(known), TASK, tmp_path, limited) for known in (20, 30, 40, 50, 60)]
    with pytest.raises(UserError, match=r"90 of 120 questions .* fewer than 5 models"):
        fit_item_model(TASK, [*runs[5:], *partial])
    with pytest.raises(UserError, match="has no item model"):
        read_items("core-color")


def test_a_short_form_says_how_far_it_is_off(runs: list[Run]) -> None:
    form = make_short_form(TASK, runs, 40)
    assert len(form.task.questions) == 40
    assert form.task.name == "yes-or-no-lite"
    assert 0 <= form.mean_error < 0.1
    assert form.kendall > 0.8
    assert "off by" in form.task.provenance.notes[-1]
    # models that know from a sixth to five sixths of it: nearly all of them differ
    assert 25 <= form.differing <= 36
    assert (form.kendall_of_differing, form.in_order) == (1, 1)
    prompts = [TASK.templates[0].ask(question) for question in TASK.questions]
    least, most = (np.mean([ladder(k).knows_number(one) for one in prompts]) for k in (20, 100))
    assert (form.lowest, form.highest) == pytest.approx((least, most))
    with pytest.raises(UserError, match="give a smaller number"):
        make_short_form(TASK, runs, 120)


def run_ladders(known: range, folder: Path) -> list[Run]:
    """Return the runs of models that know so many questions."""
    return [run(ladder(number), TASK, folder, SETTINGS) for number in known]


def test_without_a_number_a_form_is_as_long_as_order_takes(tmp_path: Path) -> None:
    """The models are so near to each other that tau is 0.94 with 24 questions and 0.82 with 30."""
    near = run_ladders(range(40, 85, 5), tmp_path)
    form = make_short_form(TASK, near)
    assert form.enough == len(form.task.questions)
    # lengths that are tried are a twentieth of the task apart
    taus = {count: make_short_form(TASK, near, count).kendall for count in range(6, 120, 6)}
    assert form.kendall == taus[form.enough]
    assert min(tau for count, tau in taus.items() if count >= form.enough) >= 0.9
    assert taus[form.enough - 6] < 0.9
    # an order that was kept by luck is none
    lucky = [count for count, tau in taus.items() if tau >= 0.9 and count < form.enough]
    assert lucky
    asked_for = make_short_form(TASK, near, lucky[0])
    assert len(asked_for.task.questions) == lucky[0]
    assert asked_for.enough == form.enough


def test_where_only_the_whole_task_keeps_the_order_a_number_is_needed(tmp_path: Path) -> None:
    nearest = run_ladders(range(55, 64), tmp_path)
    with pytest.raises(UserError, match=r"of the 9 models .* only the whole task does: ask all of"):
        make_short_form(TASK, nearest)
    form = make_short_form(TASK, nearest, 108)
    assert form.kendall >= 0.9
    assert form.enough is None


def test_models_with_equal_answers_count_once(runs: list[Run], tmp_path: Path) -> None:
    """Nine models with the same answers tell no more than one; and one that was left out would be
    known from its double."""
    alike = [
        run(Ladder(f"copy {copy}", fingerprint=f"copy {copy}", known=60), TASK, tmp_path, SETTINGS)
        for copy in range(9)
    ]
    with pytest.raises(UserError, match=r"8 models or more that answer differently.*are 1: ask 7"):
        make_short_form(TASK, alike, 40)
    with_doubles = make_short_form(TASK, [*runs, *alike], 40)
    assert with_doubles.models == len(runs)
    assert with_doubles.mean_error == make_short_form(TASK, runs, 40).mean_error


def test_a_model_that_was_asked_in_two_ways_is_one(runs: list[Run]) -> None:
    """Left out in one of them only, it would be known from the other."""
    first, second = runs[0].manifest, runs[1].manifest
    manifest = second.model_copy(
        update={
            "model_fingerprint": first.model_fingerprint,
            "condition": first.condition.model_copy(update={"chat": "digest"}),
        }
    )
    in_two_ways = [runs[0], replace(runs[1], manifest=manifest), *runs[2:]]
    assert make_short_form(TASK, in_two_ways, 40).models == 8
    with pytest.raises(UserError, match="answer differently, and there are 7: ask 1 more"):
        make_short_form(TASK, in_two_ways[:8], 40)


def test_rows_that_lack_the_same_values_are_equal() -> None:
    rows = np.array([[0.1 + 0.2, np.nan], [1.0, 0.0], [0.3, np.nan], [0.3, 0.0]])
    assert distinct_rows(rows).tolist() == [0, 1, 3]


def test_an_adaptive_score_is_on_the_scale_of_the_whole_task(
    runs: list[Run], tmp_path: Path
) -> None:
    items = fit_item_model(TASK, runs)
    settings = Settings(resamples=100, limit=48)
    model = ladder(73)
    figure = ask_adaptively(model, TASK, items, tmp_path, settings)
    truth = np.mean([ladder(73).knows_number(TASK.templates[0].ask(q)) for q in TASK.questions])
    assert figure.low <= truth <= figure.high
    assert figure.high - figure.low < 0.4
    assert figure.asked == 48 == len(model.asked)
    # the same command asks nothing and says the same
    again = ladder(73)
    assert ask_adaptively(again, TASK, items, tmp_path, settings) == figure
    assert not again.asked
    with pytest.raises(UserError, match="20 or more are needed"):
        ask_adaptively(model, TASK, items, tmp_path, Settings(resamples=100, limit=10))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine mock models, an item model, an adaptive score and a short form that can be asked."""
    folder = tmp_path / "runs"
    api.probe([f"mock:{i}" for i in range(9)], "core-color", output=folder, resamples=100)

    def call(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--quiet"] if arguments[0] == "probe" else list(arguments))
        assert ended.value.code == 0
        return capsys.readouterr().out

    page = tmp_path / "items.html"
    listed = json.loads(
        call("tasks", "items", "core-color", str(folder), "-o", str(page), "--json")
    )
    assert len(listed["items"]) == 350
    # gold of several colours that are all right is no disagreement of people
    assert {item["people"] for item in listed["items"]} == {None}
    assert page.read_text(encoding="utf-8").count("The color of ") == SHOWN
    asked = call("probe", "mock:9", "-t", "core-color", "--adaptive", "-o", str(folder), "--json")
    (figure,) = json.loads(asked)
    assert figure["questions"] == 350
    assert 0 <= figure["low"] <= figure["value"] <= figure["high"] <= 1
    assert figure["asked"] == 100
    lite = tmp_path / "lite"
    form = json.loads(
        call("tasks", "lite", "core-color", str(folder), "-n", "50", "-o", str(lite), "--json")
    )
    assert form["models"] == 9
    assert form["questions"] == 50
    keys = {"lowest", "highest", "mean_error", "kendall", "differing", "in_order", "enough"}
    keys.add("kendall_of_differing")
    assert keys < form.keys()
    # what chance says has no order that fifty questions could keep
    assert form["kendall"] < 0.9
    assert form["enough"] > 50
    text = call("tasks", "lite", "core-color", str(folder), "-n", "50", "-o", str(tmp_path / "2"))
    assert f"is kept from {form['enough']} questions on: leave out -n" in text
    text = call("tasks", "lite", "core-color", str(folder), "-o", str(tmp_path / "3"))
    assert f"Wrote {form['enough']} questions" in text
    assert "leave out -n" not in text
    assert len(api.load_task(str(lite)).questions) == 50
