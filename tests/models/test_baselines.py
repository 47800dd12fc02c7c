"""Baselines and the mock: what needs no model."""

from __future__ import annotations

import math
import time

import pytest

from seesay.models import load_model
from seesay.models.baselines import Majority
from seesay.probes.shots import with_shots
from seesay.questions import Prompt, Question, Task, Template

OPTIONS = ("black", "purple", "turquoise")


def task() -> Task:
    gold = {"snow": "white", "milk": "white", "coal": "black", "grass": "green"}
    return Task(
        name="few",
        version="1",
        title="A few colours",
        templates=(
            Template("is", "The {thing} is [MASK].", {"white": "pale"}),
            Template("first", "[MASK] is the {thing}."),
        ),
        questions=tuple(
            Question(thing, {"thing": thing}, ("black", "green", "white"), {colour: 1.0}, thing)
            for thing, colour in gold.items()
        ),
        metrics=("accuracy",),
        neutral={"thing": "thing"},
    )


@pytest.mark.parametrize(
    "name", ["baseline:uniform", "baseline:random", "baseline:frequency", "mock", "mock:7"]
)
def test_probabilities_sum_to_one(name: str) -> None:
    model = load_model(name)
    assert "answer" in model.abilities
    [scores] = model.answer([Prompt("It is [MASK].", OPTIONS)])
    assert math.fsum(map(math.exp, scores.logp)) == pytest.approx(1)
    assert scores.chars == (5, 6, 9)
    assert scores.rank is None
    assert model.name == name


def test_uniform_is_chance() -> None:
    [scores] = load_model("baseline:uniform").answer([Prompt("It is [MASK].", OPTIONS)])
    assert scores.logp == pytest.approx([-math.log(3)] * 3)


def test_random_is_a_fixed_order_for_a_prompt_and_another_for_the_next() -> None:
    model, options = load_model("baseline:random"), tuple(map(str, range(200)))
    first, second = model.answer(
        [Prompt(text, options) for text in ("It is [MASK].", "So is [MASK].")]
    )
    assert [first] == load_model("baseline:random").answer([Prompt("It is [MASK].", options)])
    assert first.logp != second.logp
    assert len(set(first.logp)) == 200


def test_majority_gives_the_commonest_gold_label_in_every_wording() -> None:
    model = load_model("baseline:majority")
    assert isinstance(model, Majority)
    model.prepare(task())
    for template in task().templates:
        for question in task().questions:
            prompts = [template.ask(question), template.ask(question, task().neutral)]
            for scores in model.answer(prompts):
                assert [math.exp(logp) for logp in scores.logp] == pytest.approx(
                    [2 / 7, 2 / 7, 3 / 7]
                )


def test_frequency_prefers_the_commoner_word() -> None:
    pytest.importorskip("wordfreq")
    [scores] = load_model("baseline:frequency").answer(
        [Prompt("It is [MASK].", (*OPTIONS, "xqzzt"))]
    )
    assert list(scores.logp) == sorted(scores.logp, reverse=True)


def test_the_mock_says_the_same_each_time_and_another_thing_by_another_seed() -> None:
    prompts = [Prompt("It is [MASK].", OPTIONS), Prompt("It was [MASK].", OPTIONS)]
    first, second = (load_model("mock:1").answer([prompt]) for prompt in prompts)
    assert load_model("mock:1").answer(prompts) == first + second
    assert load_model("mock:1").answer(prompts) != load_model("mock:2").answer(prompts)
    assert load_model("mock").answer(prompts) == load_model("mock:0").answer(prompts)


def test_the_mock_pauses_over_a_batch() -> None:
    model = load_model("mock:0:30")
    began = time.monotonic()
    model.answer([Prompt("It is [MASK].", OPTIONS)])
    assert time.monotonic() - began >= 0.03


def test_plans_hold_every_prompt_once() -> None:
    prompts = [Prompt(f"{i} is [MASK].", OPTIONS) for i in range(2500)]
    plan = load_model("baseline:uniform").plan(prompts)
    assert [i for batch in plan for i in batch] == list(range(2500))
    assert len(plan) > 1


@pytest.mark.parametrize("name", ["baseline:uniform", "baseline:random", "baseline:majority"])
def test_examples_that_a_rule_does_not_read_are_noted(name: str) -> None:
    model = load_model(name)
    model.prepare(task())
    assert model.notes() == []
    model.prepare(with_shots(task(), 1, seed=0))
    assert model.notes() == [f"'{name}' is a rule that reads no examples: shots changes nothing."]
