"""prior-color and prior-size: the questions, and what the two baselines score on them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.needs import absent
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.export import export
from seesay.models import load_model
from seesay.pictures import icons
from seesay.pictures.dataset_writer import VERSION
from seesay.pictures.tasks.prior_color import people_entropies
from seesay.questions import Slice, Task
from seesay.runs.ask import Settings, limit_questions, run
from seesay.runs.run import Run
from seesay.tasks import load_task


@pytest.fixture(scope="module", params=["prior-color", "prior-size"])
def task(request: pytest.FixtureRequest) -> Task:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))
    return load_task(request.param)


def figure(finished: Run, metric: str, **tags: str) -> float:
    """The mean over templates."""
    (value,) = [
        each.value
        for each in finished.figures
        if each.metric == metric and each.slice == Slice.of(tags) and each.template is None
    ]
    return value


def run_task(task: Task, name: str, tmp_path: Path) -> Run:
    return run(load_model(name), task, tmp_path, Settings(resamples=100))


def test_three_questions_per_picture(task: Task) -> None:
    by_object: dict[str, Counter[str]] = {}
    for question in task.questions:
        by_object.setdefault(question.object, Counter())[question.tags["question_type"]] += 1
        assert (question.picture is None) == (question.tags["question_type"] == "blind")
        assert question.options == task.questions[0].options
    things = {name: counts for name, counts in by_object.items() if counts["blind"]}
    assert len(things) == {"prior-color": 240, "prior-size": 180}[task.name]
    for counts in things.values():
        assert counts["blind"] == 1
        assert counts["here"] >= 3
        assert counts["usually"] >= counts["here"]
    ids = {question.id for question in task.questions}
    assert all(question.twin in ids for question in task.questions if question.twin)


def test_a_pull_is_never_right(task: Task) -> None:
    for question in task.questions:
        source = {"here": "prior", "usually": "picture", "blind": ""}[
            question.tags["question_type"]
        ]
        assert set(question.marks) <= {source}
        for labels in question.marks.values():
            assert not set(labels) & set(question.gold)
        agrees = question.tags.get("condition") in (None, "typical", "world", "control")
        assert bool(question.marks) != agrees


@pytest.mark.seconds
def test_prior_knows_and_does_not_look(task: Task, tmp_path: Path) -> None:
    finished = run_task(task, "baseline:prior", tmp_path)
    same, others = (
        ("typical", ("counterfactual", "gray"))
        if task.name == "prior-color"
        else ("world", ("reversed", "equal"))
    )
    assert figure(finished, "relaxed_accuracy", question_type="here", condition=same) == 1.0
    for condition in others:
        assert (
            figure(finished, "relaxed_accuracy", question_type="here", condition=condition) == 0.0
        )
        assert figure(finished, "prior_pull", question_type="here", condition=condition) == 1.0
    assert figure(finished, "relaxed_accuracy", question_type="usually") == 1.0
    assert figure(finished, "relaxed_accuracy", question_type="blind") == 1.0
    assert figure(finished, "picture_pull", question_type="usually") == 0.0
    assert figure(finished, "gain_over_blind", question_type="usually") == 0.0
    chance = 1 / len(task.questions[0].options)
    assert figure(
        finished, "relaxed_accuracy", question_type="here", condition="control"
    ) == pytest.approx(chance)


@pytest.mark.seconds
def test_pixels_look_and_do_not_know(task: Task, tmp_path: Path) -> None:
    finished = run_task(task, "baseline:pixels", tmp_path)
    same, others = (
        ("typical", ("counterfactual", "gray"))
        if task.name == "prior-color"
        else ("world", ("reversed", "equal"))
    )
    for condition in (same, *others, "control"):
        assert (
            figure(finished, "relaxed_accuracy", question_type="here", condition=condition) >= 0.97
        )
    for condition in others:
        assert (
            figure(finished, "relaxed_accuracy", question_type="usually", condition=condition)
            <= 0.03
        )
        assert (
            figure(finished, "picture_pull", question_type="usually", condition=condition) >= 0.97
        )
    assert figure(finished, "relaxed_accuracy", question_type="usually", condition=same) >= 0.97
    assert figure(finished, "prior_pull", question_type="here") <= 0.03
    blind = [row for row in finished.figures if row.slice == Slice.of(question_type="blind")]
    assert blind[0].metric == "relaxed_accuracy"
    assert blind[0].value == pytest.approx(blind[0].chance)  # without a picture it knows nothing


def test_text_models_are_asked_the_blind_questions(task: Task, tmp_path: Path) -> None:
    model = load_model("mock")
    model.accepts = frozenset({"text"})
    finished = run(model, limit_questions(task, 60, 0), tmp_path, Settings(resamples=100))
    assert {question.tags["question_type"] for question in finished.task.questions} == {"blind"}
    assert any("reads text only" in note for note in finished.manifest.notes)


def test_prior_baseline_answers_without_a_picture(task: Task, tmp_path: Path) -> None:
    finished = run(
        load_model("baseline:prior"),
        replace(
            limit_questions(task, 60, 0), neutral={"question": "What is it?", "claim": "It is"}
        ),
        tmp_path,
        Settings(resamples=100),
    )
    assert all(answer.neutral for answer in finished.answers)


def test_baselines_refuse_other_tasks(tmp_path: Path) -> None:
    for name in ("baseline:prior", "baseline:pixels"):
        with pytest.raises(UserError, match="prior-color or prior-size"):
            run_task(load_task("core-color"), name, tmp_path)


def test_entropy_of_people(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    if task.name == "prior-size":
        return
    folder = shared("coda")
    monkeypatch.setattr("seesay.data.store.find_file", lambda name, file, near=None: folder / file)
    people_entropies.cache_clear()
    try:
        entropies = people_entropies()
        tagged = load_task("prior-color")
    finally:
        people_entropies.cache_clear()
    assert 0 <= entropies["lemon"] < entropies["apple"] < 3.46  # log2(11)
    counts = Counter(
        question.tags.get("entropy")
        for question in tagged.questions
        if question.tags["question_type"] == "blind"
    )
    assert counts["below 1 bit"] >= 10
    assert counts["1 to 2 bits"] >= 10


def test_folders_of_other_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no readable pictures\.json"):
        load_task("prior-color", tmp_path)
    settings = {"task": "prior-size", "seed": 0, "version": VERSION}
    (tmp_path / "pictures.json").write_text(json.dumps(settings))
    with pytest.raises(UserError, match="not of prior-color"):
        load_task("prior-color", tmp_path)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["prior-color", "prior-size"])
def test_questions_with_twins_cannot_be_exported_as_a_task_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"A task file cannot express '{name}'"):
        export(load_task(name), tmp_path / "copy", "seesay")


@pytest.mark.seconds
def test_an_edition_shows_other_pictures_but_for_the_anchors(task: Task) -> None:
    edition = load_task(f"{task.name}@2027-01")
    published = {question.id: question for question in task.questions}
    pictures = {question.picture for question in task.questions}
    shown = [question for question in edition.questions if question.picture]
    same = [question for question in shown if question.id in published]
    assert len(edition.questions) == len(task.questions)
    assert 0.2 < len(same) / len(shown) < 0.3
    assert all(question.picture == published[question.id].picture for question in same)
    others = {question.picture for question in shown if question.id not in published}
    assert not others & pictures
    assert all(Path(picture or "").is_file() for picture in others)
    # what a picture is compared with is asked in the same edition
    ids = {question.id for question in edition.questions}
    assert all(question.twin in ids for question in edition.questions if question.twin)
