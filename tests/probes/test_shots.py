"""In-context examples: whom they may be about, how they are balanced, and what models see of
them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.program import error_here, json_labels

from seesay.cli import main
from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.wrapped import under_condition
from seesay.probes.choice import ChoiceModel
from seesay.probes.shots import with_shots
from seesay.questions import Prompt, Question, Task, Template
from seesay.runs import ask
from seesay.runs.seeds import over_seeds
from seesay.tasks import load_task

COLOR, SIZE = load_task("core-color"), load_task("core-size")


@pytest.mark.parametrize("task", [COLOR, SIZE], ids=["things", "pairs"])
@pytest.mark.parametrize("seed", [0, 1])
def test_examples_come_from_training_and_never_show_the_object(task: Task, seed: int) -> None:
    train = {question.id for question in task.splits()["train"].questions}
    for question in with_shots(task, 5, seed).questions:
        things = set(question.object.split("|"))
        assert not any(things & set(shot.object.split("|")) for shot in question.shots)
        assert {shot.id for shot in question.shots} <= train
        assert len({shot.object for shot in question.shots}) == 5


def test_examples_may_share_an_object_when_few_are_left() -> None:
    shown = with_shots(load_task("core-space"), 5, seed=0)
    for question in shown.questions:
        assert len({shot.id for shot in question.shots}) == 5
        assert not {question.fields["a"], question.fields["b"]} & {
            shot.fields[name] for shot in question.shots for name in ("a", "b")
        }


def test_examples_are_balanced_over_labels() -> None:
    for question in with_shots(SIZE, 6, 0).questions:
        assert Counter(shot.best_label for shot in question.shots) == {"larger": 3, "smaller": 3}
    for question in with_shots(COLOR, 11, 0).questions:
        assert len({shot.best_label for shot in question.shots}) == 11


def test_questions_share_the_draw_of_a_seed() -> None:
    draws = [with_shots(COLOR, 3, seed) for seed in (0, 0, 1)]
    assert draws[0].questions == draws[1].questions != draws[2].questions
    counts = Counter(tuple(shot.id for shot in question.shots) for question in draws[0].questions)
    # so that a model reads them once
    assert counts.most_common(1)[0][1] > 0.95 * len(COLOR.questions)


def test_examples_come_from_other_objects_without_a_training_split() -> None:
    task = replace(COLOR.without_splits(), questions=COLOR.questions[:6])
    for question in with_shots(task, 5, 0).questions:
        assert {shot.id for shot in question.shots} == {q.id for q in task.questions} - {
            question.id
        }
    with pytest.raises(UserError, match=r"has 5 examples for .* not 6: take fewer"):
        with_shots(task, 6, 0)


QUESTIONS = (
    Question("snow", {"thing": "snow"}, ("red", "white"), {"white": 1.0}, "snow"),
    Question("blood", {"thing": "blood"}, ("red", "white"), {"red": 0.8, "white": 0.2}, "blood"),
)
TASK = Task(
    "t",
    "1",
    "",
    (
        Template("is", "The color of {thing} is [MASK]."),
        Template("opens", "[MASK] is the color of {thing}."),
    ),
    QUESTIONS,
    ("relaxed_accuracy",),
    neutral={"thing": "something"},
)


def test_the_text_begins_with_the_examples_and_their_answers() -> None:
    snow, blood = with_shots(TASK, 1, 0).questions
    first, second = (template.ask(snow) for template in TASK.templates)
    assert first.text == "The color of blood is red.\n\nThe color of snow is [MASK]."
    assert second.text == "Red is the color of blood.\n\n[MASK] is the color of snow."
    assert (first.question_text, second.question_text) == (
        "The color of snow is [MASK].",
        "[MASK] is the color of snow.",
    )
    assert second.options == ("Red", "White")
    neutral = TASK.templates[0].ask(snow, TASK.neutral)
    assert neutral.text == "The color of blood is red.\n\nThe color of something is [MASK]."
    assert (
        len(
            {
                first.key,
                neutral.key,
                TASK.templates[0].ask(blood).key,
                TASK.templates[0].ask(QUESTIONS[0]).key,
            }
        )
        == 4
    )


def test_examples_are_lettered_in_a_choice() -> None:
    prompt = TASK.templates[0].ask(with_shots(TASK, 1, 0).questions[0])
    lettered = ChoiceModel(load_model("mock"))._lettered(prompt, ("white", "red"))
    assert lettered.text == (
        "The color of blood is ___. (a) white (b) red Answer: red\n\n"
        "The color of snow is ___. (a) white (b) red Answer: [MASK]"
    )


def test_the_key_of_a_prompt_without_examples_is_stable() -> None:
    assert Prompt("A [MASK].", ("b", "c")).key == "89c03404d4025968bb5e96c1"


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5"])
def test_every_family_reads_examples(
    kind: str, tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    model = load_model(str(tiny_folder(kind)))
    settings = ask.Settings(resamples=100)
    runs = []
    for seed in (0, 1):
        seeded = under_condition(model, shots=1, shot_seed=seed)
        runs.append(ask.run(seeded, with_shots(TASK, 1, seed), tmp_path, settings))
    plain = ask.run(model, TASK, tmp_path, settings)
    # the same questions are compared
    assert runs[0].manifest.task_fingerprint == plain.manifest.task_fingerprint
    assert runs[0].answers[0].scores.logp != plain.answers[0].scores.logp
    assert "|shots:1@" in runs[0].manifest.signature
    assert runs[0].task.questions[0].shots[0].id == "blood"  # the draw is in the run
    assert {run.manifest.model for run in runs} == {model.name}
    assert [run.label for run in runs] == [
        f"{model.name} · 1 shot · seed {seed}" for seed in (0, 1)
    ]
    (summary,) = [
        row
        for row in over_seeds([*runs, plain])
        if row.metric == "relaxed_accuracy" and row.slice is None
    ]
    assert (summary.model, summary.seeds) == (model.name, 2)
    assert summary.label == f"{model.name} · 1 shot"


def test_shots_on_the_command_line(
    tiny_folder: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--task",
        "core-color",
        "--limit",
        "4",
        "--resamples",
        "100",
        "--output",
        str(tmp_path),
        "--json",
    ]
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "probe",
                str(tiny_folder("gpt2")),
                "mock",
                "--shots",
                "2",
                "--shot-seeds",
                "2",
                *options,
            ]
        )
    assert ended.value.code == 0
    assert json_labels(capsys.readouterr().out) == {
        "mock",
        *(f"{tiny_folder('gpt2')} · 2 shots · seed {seed}" for seed in (0, 1)),
    }
    assert json.loads((tmp_path / "seeds.json").read_text())[0]["seeds"] == 2
    assert "say how many with --shots" in error_here(capsys, "probe", "mock", "--shot-seeds", "3")
    assert "not for --how linear" in error_here(
        capsys, "probe", "mock", "--shots", "3", "--how", "linear"
    )
