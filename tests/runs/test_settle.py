"""Asking until it is settled: decisions, resuming, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.made_up import Counting, task

from seesay import api
from seesay.cli import main
from seesay.errors import UserError
from seesay.progress import AtMost
from seesay.questions import Prompt, Question, Scores, Slice, Task, Template
from seesay.runs import store
from seesay.runs.ask import Settings
from seesay.runs.ask import run as ask_whole
from seesay.runs.settle import Settlement, settle

SETTINGS = Settings(resamples=100)


def yes_or_no(count: int = 400, **changes: Any) -> Task:
    """Questions to which "yes" is right, each about an object of its own."""
    questions = tuple(
        Question(f"q{i}", {"n": str(i)}, ("yes", "no"), {"yes": 1.0}, f"object {i:03}")
        for i in range(count)
    )
    templates = (Template("is", "Is it {n}? [MASK]"),)
    made = Task("yes-or-no", "1", "", templates, questions, ("accuracy",))
    return replace(made, **changes)


@dataclass
class Knower(Counting):
    """Knows the questions whose number leaves a remainder below `known`, of 10."""

    known: int = 10

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Say yes or no, and remember what was asked."""
        super().answer(prompts)
        return [
            Scores((-1.0, -2.0) if self.knows_number(p) else (-2.0, -1.0), (1, 1), (3, 2))
            for p in prompts
        ]

    def knows_number(self, prompt: Prompt) -> bool:
        """Whether it knows the answer."""
        return int(prompt.fields["n"]) % 10 < self.known


def knower(known: int, **changes: Any) -> Knower:
    return Knower(f"knows {known}", fingerprint=str(known), known=known, **changes)


def decide(
    a: Knower, b: Knower, folder: Path, asked_task: Task | None = None, margin: float = 0.02
) -> Settlement:
    asked_task = asked_task or yes_or_no()
    (settlement,) = settle(((a, asked_task), (b, asked_task)), folder, SETTINGS, margin)
    return settlement


def test_progress_counts_at_most_all_prompts(tmp_path: Path) -> None:
    totals: list[int] = []
    pairs = ((knower(9), yes_or_no()), (knower(3), yes_or_no()))
    settle(pairs, tmp_path, SETTINGS, progress=lambda done, total: totals.append(total))
    assert {(type(total), total) for total in totals} == {(AtMost, 400)}


def test_a_large_difference_takes_few_questions(tmp_path: Path) -> None:
    better, worse = knower(9), knower(3)
    settlement = decide(better, worse, tmp_path)
    assert settlement.verdict == "a"
    assert 0 < settlement.low < 0.6 < settlement.high
    assert settlement.asked == len(better.asked) == len(worse.asked) < 60
    assert settlement.prompts == 400
    sentence = str(settlement)
    assert "knows 9 is ahead of knows 3 on the task as a whole (" in sentence
    assert f"{settlement.difference:+.3f} in what was asked, mostly too large" in sentence
    assert f"on the task as a whole (accuracy, difference {settlement.low:+.3f}" in sentence
    # `compare` says whether it would hold of others, and may not agree
    assert "which is about these questions and not about others of their kind. " in sentence
    assert f"Asked {settlement.asked} of 400 prompts" in sentence
    sample = settlement.model_copy(update={"limit": 60})
    assert "is ahead of knows 3 on the sample (limit 60) as a whole (accuracy, " in str(sample)
    part = settlement.model_copy(update={"slice": Slice.parse("kind=animal")})
    assert "is ahead of knows 3 on this part of the task as a whole (accuracy, " in str(part)
    turned = decide(worse, better, tmp_path)
    assert turned.verdict == "b"
    # who is named first has no part in it: the interval is that of the one ahead
    assert -turned.high > 0
    assert f"difference {-turned.high:+.3f} to {-turned.low:+.3f}, 95 %" in str(turned)


def test_models_that_answer_alike_are_alike_within_the_margin(tmp_path: Path) -> None:
    one, other = knower(5), replace(knower(5), name="twin", fingerprint="twin")
    assert decide(one, other, tmp_path, margin=0.1).verdict == "alike"
    assert len(one.asked) < 100
    # a smaller margin goes on from there: nothing is asked again, and all questions settle it
    settlement = decide(one, other, tmp_path, margin=0.0)
    assert (settlement.verdict, settlement.asked) == ("alike", 400)
    assert (settlement.low, settlement.high) == (0, 0)
    assert len(one.asked) == 400


def test_what_is_noted_of_all_answers_is_noted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked_task = task(40)
    for name, answers in (("right", {}), ("mute", dict.fromkeys(range(0, 40, 4), "No idea."))):
        rows = [
            {"question": question.id, "answer": answers.get(number, question.best_label)}
            for number, question in enumerate(asked_task.questions)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    models = [f"answers:{tmp_path}/{name}.jsonl" for name in ("right", "mute")]
    api.probe(models, asked_task, until_settled=True, output=tmp_path / "runs", resamples=100)
    (note,) = [message for message in caplog.messages if "named no option" in message]
    # more than one round was asked
    assert int(note.split(" of ")[1].split()[0]) > 16
    manifests = [store.read_manifest(path) for path in tmp_path.rglob(store.MANIFEST)]
    reply_notes = [text for manifest in manifests for text in manifest.notes if "replies" in text]
    assert (len(manifests), reply_notes) == (2, [note])


def test_prompts_are_questions_in_one_template(tmp_path: Path) -> None:
    """Both models are asked the same ones, and most questions in some of their templates only."""
    templates = tuple(Template(name, f"{name} {{n}}? [MASK]") for name in ("Is it", "Maybe", "So"))
    better, worse = knower(8), knower(5)
    settlement = decide(better, worse, tmp_path, yes_or_no(100, templates=templates))
    assert settlement.verdict == "a"
    assert settlement.prompts == 300
    assert better.asked == worse.asked
    assert len(set(better.asked)) == len(better.asked) == settlement.asked < 150
    numbers = {text.split()[-2] for text in better.asked}
    assert len(numbers) > settlement.asked / 3


def test_what_was_asked_is_no_run(tmp_path: Path) -> None:
    """A run has every question in every template; this has not."""
    decide(knower(9), knower(3), tmp_path)
    with pytest.raises(UserError, match="no finished run"):
        store.find_runs([tmp_path])


def test_all_prompts_give_the_difference_of_whole_runs(tmp_path: Path) -> None:
    """The first round has all sixteen of them."""
    models = knower(6), knower(5)
    settlement = decide(*models, tmp_path, yes_or_no(16))
    runs = [ask_whole(model, yes_or_no(16), tmp_path / "whole", SETTINGS) for model in models]
    difference = runs[0].figures[0].value - runs[1].figures[0].value
    assert settlement.asked == 16
    assert settlement.difference == pytest.approx(difference) != 0
    assert settlement.low == settlement.high == settlement.difference


def test_nested_questions_are_settled_part_by_part(tmp_path: Path) -> None:
    questions = [
        replace(question, tags={"part": "first" if i < 200 else "second"})
        for i, question in enumerate(yes_or_no().questions)
    ]
    nested = yes_or_no(questions=tuple(questions), nested_by="part")
    pair = ((knower(9), nested), (knower(2), nested))
    settlements = settle(pair, tmp_path, SETTINGS)
    assert [str(s.slice) for s in settlements] == ["part=first", "part=second"]
    assert {s.verdict for s in settlements} == {"a"}
    assert all(s.prompts == 200 for s in settlements)


def test_a_settled_part_is_asked_no_longer(tmp_path: Path) -> None:
    """On the second part the models are alike, which takes all of it."""

    class Halfway(Knower):
        def knows_number(self, prompt: Prompt) -> bool:
            return int(prompt.fields["n"]) >= 200 or super().knows_number(prompt)

    questions = [
        replace(question, tags={"part": "first" if i < 200 else "second"})
        for i, question in enumerate(yes_or_no().questions)
    ]
    nested = yes_or_no(questions=tuple(questions), nested_by="part")
    one, other = (
        Halfway("all", fingerprint="all", known=10),
        Halfway("none", fingerprint="0", known=0),
    )
    first, second = settle(((one, nested), (other, nested)), tmp_path, SETTINGS, 0.0)
    assert (first.verdict, second.verdict) == ("a", "alike")
    assert first.asked < 60
    assert second.asked == 200
    assert len(one.asked) == first.asked + second.asked


def test_a_run_that_breaks_down_comes_to_the_same_decision(tmp_path: Path) -> None:
    whole = decide(knower(6), knower(5), tmp_path / "whole")
    with pytest.raises(ConnectionError):
        decide(knower(6), knower(5, breaks_after=31), tmp_path / "broken")
    with pytest.raises(ConnectionError):
        decide(knower(6, breaks_after=10), knower(5), tmp_path / "broken")
    first, second = knower(6), knower(5)
    assert decide(first, second, tmp_path / "broken") == whole
    # what was answered before is not asked again, but for a batch that was cut
    assert len(second.asked) <= whole.asked - 30
    again = knower(6)
    assert decide(again, knower(5), tmp_path / "broken") == whole
    assert not again.asked


@pytest.mark.seconds
def test_a_killed_command_comes_to_the_same_decision(tmp_path: Path) -> None:
    arguments = ["probe", "mock:0:120", "mock:1:120", "--task", "core-color", "--until-settled"]
    arguments += ["--margin", "0.05", "--resamples", "100", "--quiet", "--output"]
    output = tmp_path / "killed"
    for size in (1, 30_000):
        with subprocess.Popen([sys.executable, "-m", "seesay", *arguments, str(output)]) as process:
            while sum(p.stat().st_size for p in output.rglob(store.JOURNAL)) < size:
                assert process.poll() is None
                time.sleep(0.005)
            process.kill()
    for folder in (output, tmp_path / "whole"):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, str(folder)])
        assert ended.value.code == 0
    killed, whole = [
        json.loads((folder / "settled.json").read_text()) for folder in (output, tmp_path / "whole")
    ]
    assert killed == whole
    assert whole[0]["asked"] <= whole[0]["prompts"] == 6 * 350


@pytest.mark.parametrize(
    ("models", "options", "reason"),
    [
        (["mock:0"], {}, "compares two models: 1 model named"),
        (["mock:0", "mock:1", "mock:2"], {}, "compares two models: 3 models named"),
        (["mock:0", "mock:1"], {"margin": -0.1}, "margin is -0.1"),
        (["mock:0", "mock:1"], {"shard": "1/2"}, "go without shard"),
    ],
)
def test_what_cannot_be_settled_is_refused(
    models: list[str], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=reason):
        api.probe(models, "core-color", until_settled=True, output=tmp_path, **options)


@pytest.mark.parametrize("metric", ["macro_f1", "brier", "vocabulary_accuracy"])
def test_a_metric_that_prompts_do_not_share_is_refused(metric: str, tmp_path: Path) -> None:
    made_up = replace(task(neutral=False), metrics=(metric,))
    with pytest.raises(UserError, match=f"{metric}, which is no mean of credits"):
        settle(((knower(1), made_up), (knower(2), made_up)), tmp_path, SETTINGS)


def test_one_model_is_no_pair(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="compared with itself"):
        decide(knower(1), knower(1), tmp_path)


def test_a_margin_needs_something_to_settle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["probe", "mock:0", "--margin", "0.1", "--output", str(tmp_path)])
    assert ended.value.code == 2
    assert "add --until-settled" in capsys.readouterr().err
