"""Options shown in one order and written out: the prompts that ViPhy's authors used, exact match,
and a T5 whose head is tuned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.modules import needed
from tests.shared_data import shared

from seesay import api
from seesay.answers import NO_ANSWER
from seesay.condition import GREEDY, How, Sampling, label
from seesay.errors import UserError
from seesay.models import Model, load_model
from seesay.models.base import Reply
from seesay.models.chat import user_turn
from seesay.probes.qa import QaModel, match_exactly, qa_model, qa_task
from seesay.probes.tuned import tune_model
from seesay.questions import Prompt, Question, Task, Template, Training
from seesay.tasks import load_task

if TYPE_CHECKING:
    from seesay.models.hf.seq2seq import EncoderDecoderModel

OPTIONS = ("red", "green")
THINGS = {"grass": "green", "the sky": "red", "a banana": "green", "snow": "red"}
QUESTIONS = tuple(
    Question(thing, {"thing": thing}, OPTIONS, {color: 1.0}, thing)
    for thing, color in THINGS.items()
)
TASK = Task(
    "colors",
    "1",
    "",
    (Template("is", "The color of {thing} is [MASK]."),),
    QUESTIONS,
    ("accuracy", "true_confidence"),
    choice_templates=(Template("question", "What is the color of {thing}? [MASK]"),),
    training=Training(
        load_splits=lambda: {"train": QUESTIONS, "validation": QUESTIONS},
    ),
)


class Writer(Model):
    """Writes what it is told to, whatever the question."""

    name = fingerprint = "writer"
    family = "encoder-decoder"

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.prompts: list[Prompt] = []

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        self.prompts += prompts
        return [(Reply(self.reply),) for _ in prompts]


def load_t5(folder: Path) -> EncoderDecoderModel:
    from seesay.models.hf.seq2seq import EncoderDecoderModel

    model = load_model(str(folder))
    assert isinstance(model, EncoderDecoderModel)
    return model


def right_answers(model: Model, task: Task) -> list[str]:
    """The questions that the model answers, and answers rightly."""
    (template,) = task.templates
    answers = model.answer([template.ask(question) for question in task.questions])
    right = []
    for question, scores in zip(task.questions, answers, strict=True):
        best = max(scores.logp)
        if best != NO_ANSWER and question.options[scores.logp.index(best)] in question.gold:
            right.append(question.id)
    return right


def published(name: str) -> Task:
    return load_task(name, shared("viphy/results/size.csv").parents[1])


def text_of(task: Task, key: str) -> str:
    """What an encoder-decoder reads."""
    (template,) = task.templates
    question = next(question for question in task.questions if question.id == key)
    return user_turn(template.ask(question).text)


def test_the_questions_as_the_authors_put_them() -> None:
    """`zero_shot.py` and, for tuning, `dataloader.py` of the published code."""
    color, size, space = map(published, ("viphy-color", "viphy-size", "viphy-space"))
    assert text_of(qa_task(color), "pig") == (
        "what is the color of pig? (a) red (b) orange (c) yellow (d) brown (e) green (f) blue (g) "
        "purple (h) pink (i) white (j) gray (k) black"
    )
    assert text_of(qa_task(size), "couch|fixture") == (
        "what is the size of couch in comparison to fixture? (a) smaller (b) larger"
    )
    assert text_of(qa_task(size, trained=True), "couch|fixture") == (
        "how is the size of couch in comparison to fixture? (a) bigger (b) smaller"
    )
    pair = "living_room|sofa seat cushion|fireplace"
    where = "in a living room, where is sofa seat cushion located in comparison to fireplace?"
    assert text_of(qa_task(space), pair) == f"{where} (a) above (b) below"
    assert text_of(qa_task(space, trained=True), pair) == (
        f"{where} (a) above (b) below (c) same level"
    )


def test_a_task_without_such_templates_shows_its_options() -> None:
    (template,) = qa_task(TASK).templates
    assert template.ask(QUESTIONS[0]).text == (
        "what is the color of grass? \\n (a) red (b) green Answer: [MASK]"
    )
    with pytest.raises(UserError, match="same options throughout"):
        qa_task(replace(TASK, choice_templates=()))


def test_only_the_text_of_an_option_counts() -> None:
    for reply in ("red", " Red "):
        assert match_exactly(reply, OPTIONS).labels == ("red",)
    for reply in ("it is red", "red.", "(a) red", "a", "red green", ""):
        assert match_exactly(reply, OPTIONS).labels == ()
    # as ViPhy's script has it
    assert match_exactly("bigger", ("larger", "smaller")).labels == ("larger",)
    assert match_exactly("larger", ("bigger", "smaller")).labels == ("bigger",)


def test_figures_of_written_answers(tmp_path: Path) -> None:
    writer = Writer("Green")
    results = api.probe([writer], [TASK], how="qa", output=tmp_path / "right", resamples=100)
    (run,) = results.runs
    figures = {figure.metric: figure.value for figure in run.figures}
    assert figures == {"accuracy": 0.5}, "who only writes has no probabilities"
    assert run.manifest.condition.how is How.QA
    assert "how:qa" in run.figures[0].signature
    assert label("writer", run.manifest.condition) == "writer · qa"
    assert len(writer.prompts) == len(THINGS), "one order, asked once"
    assert "Answer with" not in writer.prompts[0].text
    (silent,) = api.probe(
        [Writer("I do not know")], [TASK], how="qa", output=tmp_path / "wrong", resamples=100
    ).runs
    assert silent.figures[0].value == 0.0


def test_the_published_two_options_for_places(tmp_path: Path) -> None:
    """A pair that may be level is asked and never answered: the slice without them is published."""
    task = published("viphy-space")
    part = [q for q in task.questions if q.tags["scene"] == "office"][:40]
    task = replace(task, questions=tuple(part))
    (run,) = api.probe([Writer("above")], [task], how="qa", output=tmp_path, resamples=100).runs
    without_level = [q for q in part if q.tags["level"] == "no"]
    expected = sum(">" in q.gold for q in without_level) / len(without_level)
    figures = {str(f.slice): f.value for f in run.figures if f.metric == "relaxed_accuracy"}
    assert figures["level=no"] == pytest.approx(expected)


def test_a_baseline_writes_nothing() -> None:
    majority = load_model("baseline:majority")
    assert qa_model(majority, GREEDY) is majority
    assert isinstance(qa_model(Writer("red"), GREEDY), QaModel)


def test_a_tuned_t5_writes_what_it_was_taught(
    tiny_folder: Callable[[str], Path],
) -> None:
    torch = needed("torch")
    from seesay.models.hf.head_tuning import TuningConfig

    model = load_t5(tiny_folder("t5"))
    splits = qa_task(TASK, trained=True).splits()
    sampling = Sampling(max_tokens=8)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    asked = QaModel(model, sampling)
    assert right_answers(asked, splits["test"]) == []
    epochs: list[int] = []
    tuned = tune_model(
        model,
        splits,
        sampling,
        config=TuningConfig(epochs=60, batch=2, rate=0.05),
        progress=lambda n, _: epochs.append(n),
    )
    assert len(epochs) == len(tuned.head.history) == 60
    assert max(tuned.head.history) == tuned.head.history[tuned.head.epoch - 1] == 1.0
    assert right_answers(tuned, splits["test"]) == list(THINGS)
    # the model itself is as it was, and everything in it can be trained again
    for name, value in model.network.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert all(parameter.requires_grad for parameter in model.network.parameters())
    assert right_answers(asked, splits["test"]) == []
    assert tuned.fingerprint != model.fingerprint
    other = tune_model(model, splits, sampling, seed=1, config=TuningConfig(epochs=1))
    assert other.fingerprint != tuned.fingerprint
    assert label("t5", tuned.condition) == "t5 · qa-trained · seed 0"


def test_tuning_changes_the_head_alone(tiny_folder: Callable[[str], Path], tmp_path: Path) -> None:
    """A head of its own (T5 1.1): nothing but its weights is in the tuned state."""
    needed("torch")
    from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

    from seesay.models.hf.head_tuning import TuningConfig

    folder = tiny_folder("t5")
    config = T5Config.from_pretrained(folder, tie_word_embeddings=False)
    T5ForConditionalGeneration(config).save_pretrained(tmp_path / "untied")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "untied")
    model = load_t5(tmp_path / "untied")
    splits = qa_task(TASK, trained=True).splits()
    tuned = tune_model(
        model, splits, Sampling(max_tokens=4), config=TuningConfig(epochs=1, rate=0.1)
    )
    network = model.network
    (weights,) = tuned.head.weights
    assert weights.shape == network.lm_head.weight.shape
    assert not weights.equal(network.lm_head.weight)
    assert network.lm_head.weight is not network.shared.weight


def test_what_cannot_be_tuned_is_refused(tiny_folder: Callable[[str], Path]) -> None:
    needed("torch")
    splits = qa_task(TASK, trained=True).splits()
    with pytest.raises(UserError, match="is no encoder-decoder: --how qa-trained tunes T5"):
        tune_model(load_model(str(tiny_folder("gpt2"))), splits, GREEDY)
