"""malevic-…: questions from generated and from published data, and baselines that answer them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.shared_data import shared
from tests.tasks.from_file.test_task_file_imports import MALEVIC, copied, gold
from tests.tasks.written_tasks import task_of

from seesay.errors import UserError
from seesay.models import load_model
from seesay.questions import Prompt, Task
from seesay.scenes.baselines import SceneRule
from seesay.scenes.tasks import malevic
from seesay.tasks import load_task, task_groups

NAMES = sorted(name.removeprefix("malevic-") for name in task_groups()["malevic"])


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Few items, in a cache of the session's own."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "malevic-cache"))
    monkeypatch.setattr(malevic, "PICTURE", 64)
    monkeypatch.setattr(malevic, "ITEMS", 160)


def accuracy(task: Task, rule: str) -> float:
    model = SceneRule(f"baseline:{rule}")
    right = 0
    prompts = [(q, template.ask(q)) for q in task.questions for template in task.templates]
    for batch in model.plan([prompt for _, prompt in prompts]):
        for i, scores in zip(batch, model.answer([prompts[i][1] for i in batch]), strict=True):
            question = prompts[i][0]
            right += question.options[scores.logp.index(max(scores.logp))] in question.gold
    return right / len(prompts)


@pytest.mark.seconds
@pytest.mark.parametrize("name", NAMES)
def test_generated_tasks(name: str) -> None:
    task = malevic.load(name)
    assert task.name == f"malevic-{name}"
    assert len(task.questions) == 160
    assert Counter(label for q in task.questions for label in q.gold) == {"true": 80, "false": 80}
    assert all(Path(q.picture or "").is_file() for q in task.questions)
    assert task.fingerprint == malevic.load(name).fingerprint
    assert accuracy(task, "fixed-k") >= (1 if name in ("sup1", "comparative") else 0.8)


@pytest.mark.seconds
def test_templates() -> None:
    task = malevic.load("set-pos")
    question = next(
        q for q in task.questions if q.fields["sentence"] == "The red square is a big square"
    )
    assert [template.ask(question).text for template in task.templates] == [
        "The red square is a big square. True or false? Answer: [MASK].",
        "Is the red square a big square? Answer: [MASK].",
        "Is it true that the red square is a big square? Answer: [MASK].",
    ]
    assert [template.ask(question).options for template in task.templates] == [
        ("true", "false"),
        ("yes", "no"),
        ("yes", "no"),
    ]
    assert question.tags["colour"] == "red"
    assert question.tags["vague"] in ("yes", "no")
    comparative = malevic.load("comparative").questions[0]
    assert comparative.fields["question"].startswith("Is the red circle bigger than the ")


def test_published_data_becomes_questions() -> None:
    seen = malevic.load("compositional-seen", shared("malevic/set-pos-compositional"))
    assert len(seen.questions) == 1000
    assert accuracy(seen, "fixed-k") == pytest.approx(0.976)
    sup1 = malevic.load("sup1", shared("malevic/sup1/dataset/test.json"))
    assert len(sup1.questions) == 2000
    assert accuracy(sup1, "fixed-k") == 1


def test_published_examples_become_questions_with_pictures() -> None:
    task = malevic.load("pos", shared("malevic/examples/pos"))
    assert len(task.questions) == 164
    assert all(Path(q.picture or "").is_file() for q in task.questions)
    assert accuracy(task, "fixed-k") > 0.9


def test_task_has_the_published_figures() -> None:
    figures = {(p.model, p.value) for p in malevic.load("set-pos").published}
    assert figures == {
        ("CNN+LSTM", 0.551),
        ("CNN+LSTM+SA", 0.7751),
        ("FiLM", 0.8788),
        ("ceiling (k = 0.29)", 0.97),
    }


def test_bad_rows_are_reported_and_the_others_used(tmp_path: Path) -> None:
    good = {
        "question": "The red square is a big object",
        "answer": "yes",
        "image_filename": "0.png",
        "image_index": 0,
    }
    rows = [good, good, {**good, "question": "Who is it?", "image_index": 1}, {**good, "answer": 3}]
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "test.json").write_text(json.dumps({"questions": rows}))
    task = malevic.load("pos", tmp_path)
    assert len(task.questions) == 1
    assert len(task.provenance.bad_rows) == 3
    with pytest.raises(UserError, match="no file or folder"):
        malevic.load("pos", tmp_path / "nowhere")
    with pytest.raises(UserError, match="no file"):
        malevic.load("compositional-seen", tmp_path)


def test_baselines_say_what_they_need(tmp_path: Path) -> None:
    model = SceneRule("baseline:fixed-k")
    text = "The red square is a big object. True or false? Answer: [MASK]."
    fields = {"sentence": "The red square is a big object"}
    for prompt, reason in (
        (Prompt(text, ("true", "false")), "malevic task"),
        (Prompt(text, ("large", "small"), "x.png"), "yes or no"),
        (Prompt(text, ("yes", "no"), "x.png"), "needs questions with the field 'sentence'"),
        (Prompt(text, ("yes", "no"), str(tmp_path / "x.png"), fields), "There is no annotation of"),
        (Prompt(text, ("yes", "no"), "x.png", fields), "There is no annotation of"),
    ):
        with pytest.raises(UserError, match=reason):
            model.answer([prompt])
    with pytest.raises(UserError, match=r"Did you mean 'fixed-k'"):
        load_model("baseline:fixed")


def test_malevic_imported_equals_the_built_in_task(tmp_path: Path) -> None:
    task = task_of(copied("malevic/pos", tmp_path, "dataset/test.json"), MALEVIC)
    built_in = load_task("malevic-pos", shared("malevic/pos"))
    assert len(task.questions) == 2000
    assert gold(task.questions) == gold(built_in.questions)
    assert [Path(str(q.picture)).name for q in task.questions] == [
        Path(str(q.picture)).name for q in built_in.questions
    ]


@pytest.mark.seconds
def test_an_edition_shows_other_scenes_but_for_the_anchors() -> None:
    published = load_task("malevic-pos")
    edition = load_task("malevic-pos@2027-01")
    pictures = {question.id: question.picture for question in published.questions}
    anchors = [question for question in edition.questions if question.id in pictures]
    new = [question for question in edition.questions if question.id not in pictures]
    assert (len(anchors), len(new)) == (40, 120)
    assert all(question.picture == pictures[question.id] for question in anchors)
    assert not {question.picture for question in new} & set(pictures.values())
    # a rule reads the scenes of both draws
    assert accuracy(edition, "max-is-big") == pytest.approx(
        accuracy(published, "max-is-big"), abs=0.12
    )
