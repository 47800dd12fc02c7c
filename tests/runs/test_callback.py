"""Questions during a real training by the Trainer of transformers, and its checkpoints later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.runs.made_up import task as other_task
from tests.tiny import save_tiny
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)
from typer.testing import CliRunner

from seesay import api
from seesay.cli import app
from seesay.errors import UserError
from seesay.questions import Question, Task, Template
from seesay.runs.callback import ProbeCallback
from seesay.runs.checkpoints import CheckpointCurve

COLORS = {"apple": "red", "banana": "yellow", "sky": "blue", "snow": "white", "grass": "green"}
STEPS = 120
EVERY = 40


def facts() -> Task:
    """What the sentences of the training say."""
    questions = tuple(
        Question(thing, {"thing": thing}, tuple(COLORS.values()), {color: 1.0}, thing)
        for thing, color in COLORS.items()
    )
    templates = (Template("is", "The color of a {thing} is [MASK]."),)
    return Task("facts", "1", "Facts", templates, questions, ("accuracy",))


def trainer(folder: Path, output: Path, **more: Any) -> Trainer:
    """A tiny GPT-2 with dropout that learns five sentences by heart."""
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    network: Any = AutoModelForCausalLM.from_pretrained(folder)
    rows = []
    for thing, color in COLORS.items():
        ids = tokenizer(f"The color of a {thing} is {color}.")["input_ids"]
        rows.append({"input_ids": ids, "labels": ids})
    arguments = TrainingArguments(
        output_dir=str(output),
        max_steps=STEPS,
        learning_rate=3e-3,
        per_device_train_batch_size=5,
        save_steps=EVERY,
        logging_steps=EVERY,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=1,
    )
    return Trainer(
        network,
        arguments,
        data_collator=default_data_collator,
        train_dataset=rows,
        processing_class=tokenizer,
        **more,
    )


def weights(trained: Trainer) -> dict[str, torch.Tensor]:
    network: Any = trained.model
    return dict(network.state_dict())


def steps_of(curve: CheckpointCurve) -> dict[int, float]:
    return {figure.step: figure.value for figure in curve.figures}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("gpt2", tmp_path_factory.mktemp("tiny") / "gpt2")


@pytest.fixture(scope="module")
def folder(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the training's checkpoints, and `runs`, which the callback wrote on the way."""
    folder = tmp_path_factory.mktemp("training")
    watched = trainer(tiny, folder / "mine")
    callback = ProbeCallback(
        facts(),
        every=EVERY,
        name=str(folder / "mine"),
        output=folder / "runs",
        resamples=100,
        log=watched.log,
    )
    watched.add_callback(callback)
    watched.train()
    alone = trainer(tiny, folder / "alone")
    alone.train()
    expected = weights(alone)
    for name, tensor in weights(watched).items():
        assert torch.equal(tensor, expected[name]), name
    (folder / "log.json").write_text(json.dumps(watched.state.log_history))
    return folder


@pytest.mark.seconds
def test_a_training_is_asked_and_goes_on_as_if_it_were_not(folder: Path) -> None:
    """The fixture compares the weights with those of a training that nobody asked."""
    (curve,) = api.results(folder / "runs").checkpoints()
    values = steps_of(curve)
    assert list(values) == [0, 40, 80, 120]
    assert values[120] > values[0]
    logged = {
        line["step"]: line["seesay/facts"]
        for line in json.loads((folder / "log.json").read_text())
        if "seesay/facts" in line
    }
    assert logged == values


@pytest.mark.seconds
def test_saved_checkpoints_give_the_figures_of_the_callback(folder: Path, tmp_path: Path) -> None:
    results = api.probe(
        str(folder / "mine"),
        facts(),
        revisions="checkpoint-*",
        output=tmp_path / "runs",
        resamples=100,
    )
    (later,) = results.checkpoints()
    (curve,) = api.results(folder / "runs").checkpoints()
    during = steps_of(curve)
    assert steps_of(later) == {step: during[step] for step in (40, 80, 120)}
    assert later.model == curve.model
    by_question = {fact.question: fact for fact in later.facts}
    rows = {(row.model, row.question): row.right for row in results.answers()}
    for question, fact in by_question.items():
        right = [
            step
            for step in (40, 80, 120)
            if rows[str(folder / "mine" / f"checkpoint-{step}"), question]
        ]
        assert fact.first == (right[0] if right else None)
        assert (fact.step is not None) == (120 in right)


@pytest.mark.seconds
def test_the_command_prints_curves_and_the_page_draws_them(folder: Path, tmp_path: Path) -> None:
    rows = [f"{thing},{color}\n" for thing, color in COLORS.items()]
    (tmp_path / "facts.csv").write_text("".join(["thing,color\n", *rows]))
    fact_file = tmp_path / "facts.yaml"
    fact_file.write_text(
        "rows: facts.csv\nobject: thing\ngold: color\n"
        "templates: The color of a {thing} is [MASK].\n"
    )
    arguments = [str(folder / "mine"), "--revisions", "checkpoint-40,checkpoint-120"]
    options = ["--task", str(fact_file), "-o", str(tmp_path / "runs"), "--resamples", "100"]
    printed = CliRunner().invoke(app, ["probe", *arguments, *options, "--json"])
    assert printed.exit_code == 0, printed.output
    (curve,) = json.loads(printed.stdout)
    assert [figure["step"] for figure in curve["figures"]] == [40, 120]
    assert {fact["object"] for fact in curve["facts"]} == set(COLORS)
    page = (tmp_path / "runs" / "report.html").read_text()
    assert "Checkpoints of a training" in page
    assert "When facts are learnt" in page
    analyses = json.loads((tmp_path / "runs" / "report.analyses.json").read_text())
    assert [analysis["name"] for analysis in analyses] == ["checkpoints", "learnt-facts"]
    printed = CliRunner().invoke(app, ["probe", *arguments, *options])
    assert "learnt here" in printed.stdout


@pytest.mark.seconds
def test_another_training_of_the_same_name_is_not_mixed_in(
    tiny: Path, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = trainer(tiny, tmp_path / "other")
    other.args.learning_rate = 1e-3
    for number, watched in enumerate((trainer(tiny, tmp_path / "one"), other)):
        watched.args.max_steps = EVERY
        output = tmp_path / "runs"
        watched.add_callback(ProbeCallback(facts(), every=EVERY, output=output, resamples=100))
        watched.train()
        curves = api.results(output).checkpoints()
        assert len(curves) == 1 - number
    assert "Give each training its own name" in caplog.text


@pytest.mark.seconds
def test_modules_that_do_not_train_stay_so(tiny: Path, tmp_path: Path) -> None:
    """Whoever keeps a part of a network in evaluation mode finds it there afterwards."""
    modes: list[list[bool]] = []

    class Notes(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
            model = parts["model"]
            model.transformer.h[0].eval()
            modes.append([module.training for module in model.modules()])

    after = Notes()
    watched = trainer(tiny, tmp_path / "mine", callbacks=[Notes()])
    watched.args.max_steps = 1
    watched.add_callback(ProbeCallback(facts(), every=1, output=tmp_path / "runs", resamples=100))
    watched.add_callback(after)
    watched.train()
    assert len(modes) == 2
    assert modes[0] == modes[1]
    assert True in modes[0]
    assert False in modes[0]


def test_what_cannot_be_asked_is_one_sentence(tiny: Path, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="every is 0"):
        ProbeCallback(facts(), every=0)
    untold = trainer(tiny, tmp_path / "mine")
    untold.processing_class = None
    untold.callback_handler.processing_class = None
    untold.add_callback(ProbeCallback(facts(), every=1, output=tmp_path))
    with pytest.raises(UserError, match="processing_class=tokenizer"):
        untold.train()
    for name, revisions, problem in (
        (str(tiny), "checkpoint-*", "has no revision 'checkpoint-*'"),
        ("baseline:uniform", "step1", "revisions is for folders of checkpoints and Hub ids"),
        ("owner/name@step1", "step2", "revisions is for folders of checkpoints and Hub ids"),
        (str(tiny), " , ", "revisions is empty"),
    ):
        with pytest.raises(UserError, match=problem.replace("*", r"\*")):
            api.probe(name, other_task(), revisions=revisions, output=tmp_path)
