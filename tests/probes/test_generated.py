"""Generated answers: what is asked, what becomes of the replies, and the families that write
them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.vision.tiny_vision import save_tiny_vision
from tests.modules import needed

from seesay.errors import UserError
from seesay.models import Model, load_model
from seesay.models.base import GREEDY, Reply, Sampling
from seesay.models.options import ModelOptions
from seesay.models.vision import load_vision
from seesay.probes.generated import GeneratedModel, generated_model, score_replies
from seesay.questions import Prompt, Question, Task, Template
from seesay.reports.answer_rows import answer_rows
from seesay.reports.answers import choices
from seesay.reports.pages.runs import render
from seesay.runs import ask
from seesay.runs.store import read_run

OPTIONS = ("red", "green", "blue", "white")
PROMPT = Prompt("The color of grass is [MASK].", OPTIONS)
TASK = Task(
    "t",
    "1",
    "",
    (Template("is", "The color of {thing} is [MASK]."),),
    tuple(
        Question(thing, {"thing": thing}, OPTIONS, {label: 1.0}, thing)
        for thing, label in (("grass", "green"), ("snow", "white"))
    ),
    ("accuracy", "true_confidence"),
)


class Writer(Model):
    """Writes what it is told to."""

    name = fingerprint = "writer"
    family = "causal"

    def __init__(self, *replies: Reply) -> None:
        self.replies = replies
        self.prompts = list[Prompt]()

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        self.prompts += prompts
        return [self.replies for _ in prompts]


def shares(*texts: str) -> list[float]:
    return [
        round(math.exp(logp), 3)
        for logp in score_replies(PROMPT, [Reply(text) for text in texts]).logp
    ]


def test_the_share_of_each_option() -> None:
    assert shares("Green.", "It is green", "red", "Blue!") == [0.25, 0.5, 0.25, 0]
    assert shares("green or blue") == [0, 0.5, 0.5, 0]
    assert shares("I cannot tell.", "") == [0] * 4  # no answer
    assert shares("green", "not red") == pytest.approx([0.125, 0.625, 0.125, 0.125])


def test_the_outcome_of_each_reply() -> None:
    replies = [
        Reply("green"),
        Reply("red or blue"),
        Reply("It is not", cut=True),
        Reply("not red"),
        Reply("green", cut=True),
    ]
    assert score_replies(PROMPT, replies).replies == (
        ("green", "green", True),
        ("red or blue", "several", True),
        ("It is not", "cut", False),
        ("not red", "denied", False),
        ("green", "green", True),
    )


def test_a_prompt_lists_the_options_and_ends_in_a_cue() -> None:
    writer = Writer(Reply("green"))
    GeneratedModel(writer, GREEDY).answer([PROMPT])
    assert writer.prompts[0].text == (
        "Fill in the blank: The color of grass is ___.\n"
        "Answer with one of these: red, green, blue, white.\nAnswer: [MASK]"
    )
    GeneratedModel(writer, GREEDY).answer(
        [Prompt("It has [MASK].", tuple(f"part{i}" for i in range(31)))]
    )
    assert "Answer with one or two words." in writer.prompts[1].text


def test_a_run_keeps_every_reply_and_counts_the_misses(tmp_path: Path) -> None:
    model = GeneratedModel(Writer(Reply("Grass is green."), Reply("")), Sampling(2, 1.0, 16))
    run = ask.run(model, TASK, tmp_path, ask.Settings(resamples=100))
    assert (run.manifest.model, run.label) == ("writer", "writer · generated")
    assert run.manifest.condition.sampling == Sampling(2, 1.0, 16)
    assert "|how:generate|sampling:2@1-16|scope:generated|" in run.manifest.signature
    rows = [json.loads(line) for line in (run.folder / "replies.jsonl").read_text().splitlines()]
    assert [(row["question"], row["outcome"], row["named"]) for row in rows] == [
        ("grass", "green", True),
        ("grass", "empty", False),
        ("snow", "green", True),
        ("snow", "empty", False),
    ]
    assert run.manifest.notes[0].startswith(
        "2 of 4 replies named no option (2 empty), such as ''; they count as wrong"
    )
    assert next(f.value for f in run.figures if f.template is None and f.slice is None) == 0.5


def test_a_note_about_the_task_stays_with_the_run(tmp_path: Path) -> None:
    shown = replace(TASK.questions[0], id="shown", picture="grass.png")
    model = GeneratedModel(Writer(Reply("green")), GREEDY)
    runs = [
        ask.run(model, task, tmp_path, ask.Settings(resamples=100))
        for task in (replace(TASK, questions=(*TASK.questions, shown)), replace(TASK, name="u"))
    ]
    assert [sum("reads text only" in note for note in run.manifest.notes) for run in runs] == [1, 0]


def test_a_question_without_an_answer_is_wrong(tmp_path: Path) -> None:
    run = ask.run(
        GeneratedModel(Writer(Reply("Who knows.")), GREEDY),
        TASK,
        tmp_path,
        ask.Settings(resamples=100),
    )
    assert [figure.value for figure in run.figures if figure.slice is None] == [0.0] * len(
        run.figures
    )
    again = read_run(run.folder)  # from the file
    assert [(row.chosen, row.right) for row in answer_rows(again)] == [("", False)] * 2
    assert [choice.labels for choice in choices(again).values()] == [()] * 2
    assert '"chosen":[null,null]' in render([again])


def test_greedy_answers_are_choices(tmp_path: Path) -> None:
    model = GeneratedModel(Writer(Reply("green")), GREEDY)
    assert model.only_chooses
    run = ask.run(model, TASK, tmp_path, ask.Settings(resamples=100))
    assert {figure.metric for figure in run.figures} == {"accuracy"}


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5"])
def test_every_generating_family_answers(kind: str, tiny_folder: Callable[[str], Path]) -> None:
    model = load_model(str(tiny_folder(kind)))
    prompts = [PROMPT, Prompt("The color of snow is [MASK] today.", OPTIONS)]
    generated = GeneratedModel(model, Sampling(3, 1.0, 5, seed=1))
    first = generated.answer(prompts)
    assert [len(scores.replies or ()) for scores in first] == [3, 3]
    assert generated.answer(prompts) == first  # the seed is that of the batch
    assert GeneratedModel(model, Sampling(3, 1.0, 5, seed=2)).answer(prompts) != first
    together = model.generate(prompts, Sampling(max_tokens=5))
    alone = [model.generate([prompt], Sampling(max_tokens=5))[0] for prompt in prompts]
    assert together == alone  # padding does not matter


def test_a_vision_model_writes_about_a_picture(tmp_path: Path) -> None:
    pillow = needed("PIL.Image")
    pillow.new("RGB", (64, 64), "red").save(tmp_path / "red.png")
    model = load_vision(str(save_tiny_vision("llava", tmp_path / "llava")), ModelOptions())
    prompt = Prompt("What color is it? Answer: [MASK]", OPTIONS, str(tmp_path / "red.png"))
    ((reply,),) = model.generate([prompt], Sampling(max_tokens=4))
    assert reply.cut or reply.text


def test_a_model_that_cannot_generate_is_refused(tiny_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UserError, match="cannot generate text"):
        generated_model(load_model(str(tiny_folder("bert"))), GREEDY)
    baseline = load_model("baseline:uniform")
    assert generated_model(baseline, GREEDY) is baseline
    with pytest.raises(UserError, match="all samples are"):
        Sampling(samples=5)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [("us", "us"), ("US", "US"), ("Us.", "ambiguous"), ("I mean us.", "ambiguous")],
)
def test_of_options_that_differ_in_case_only_an_exact_reply_names_one(
    reply: str, outcome: str
) -> None:
    scores = score_replies(Prompt("It is [MASK].", ("us", "US", "them")), [Reply(reply)])
    assert scores.replies == ((reply, outcome, outcome != "ambiguous"),)


def test_options_that_are_the_same_text_are_refused() -> None:
    with pytest.raises(UserError, match="are the same text"):
        score_replies(Prompt("It is [MASK].", ("big", "small", "big")), [Reply("big")])
