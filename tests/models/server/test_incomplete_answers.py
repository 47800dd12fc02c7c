"""Servers that answer with status 200 and without what an answer must hold, after a good trial: no
option may score by the tokens that are missing."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.models.server.toy_server import Answer, Reply, logp, old_layout, serving

from seesay.caches import SERVER_ANSWERS
from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.models.server.replies import required_positions
from seesay.models.server.scoring import TRIALS
from seesay.questions import Prompt, Scores
from seesay.runs.ask import validate_scores

COLORS = ("red", "yellow", "blue", "green")
PROMPTS = tuple(
    Prompt(f"The {noun} of {article} {thing} is [MASK].", COLORS)
    for noun in ("color", "light", "opposite")
    for article in ("a", "the", "two")
    for thing in ("lemon", "tomato", "lemon tomato")
    if article != "the"
)
ECHO = old_layout(20, echo=True)
TABLES = old_layout(1000, echo=False)

Damage = Callable[[dict[str, Any]], dict[str, Any]]


def proxy_error(answer: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"message": "upstream timed out"}}


def no_choice(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "choices": []}


def no_logprobs(answer: dict[str, Any]) -> dict[str, Any]:
    answer["choices"][0]["logprobs"] = None
    return answer


def cut_logprobs(answer: dict[str, Any]) -> dict[str, Any]:
    """The first tokens alone, and of tables the first entries."""
    logprobs = answer["choices"][0]["logprobs"]
    for name, values in logprobs.items():
        logprobs[name] = values[: max(1, len(values) // 2)]
    tables = logprobs["top_logprobs"]
    logprobs["top_logprobs"] = [table and dict(list(table.items())[:1]) for table in tables]
    return answer


def damaged(layout: Answer, damage: Damage, *, always: bool = False) -> Answer:
    """A server that damages its first answer to every third request, or all of them; never one to
    a trial."""
    requests: set[str] = set()

    def answer(path: str, body: dict[str, Any]) -> Reply:
        status, reply = layout(path, body)
        prompt = body["prompt"]
        is_first = prompt not in requests
        requests.add(prompt)
        is_third = is_first and len(requests) % 3 == 0
        if status == 200 and prompt not in TRIALS and (always or is_third):
            assert isinstance(reply, dict)
            return status, damage(copy.deepcopy(reply))
        return status, reply

    return answer


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No pauses between tries; how long they would have been."""
    pauses: list[float] = []
    monkeypatch.setattr("seesay.models.server.client.time.sleep", pauses.append)
    return pauses


def assert_true_scores(answers: list[Scores]) -> None:
    for prompt, scores in zip(PROMPTS, answers, strict=True):
        context = prompt.parts[0].rstrip()
        expected = [logp(context, f" {option}") for option in COLORS]
        assert list(scores.logp) == pytest.approx([value for value, _ in expected])
        assert list(scores.tokens) == [count for _, count in expected]


@pytest.mark.seconds
@pytest.mark.parametrize("damage", [proxy_error, no_choice, no_logprobs, cut_logprobs])
@pytest.mark.parametrize("layout", [ECHO, TABLES], ids=["echo", "likeliest"])
def test_incomplete_answers_are_asked_again(
    hasty: list[float], layout: Answer, damage: Damage
) -> None:
    with serving(damaged(layout, damage)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        assert_true_scores(model.answer(PROMPTS))
    assert len(hasty) > 0  # some answers were damaged


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("damage", [proxy_error, no_choice, no_logprobs, cut_logprobs])
@pytest.mark.parametrize("layout", [ECHO, TABLES], ids=["echo", "likeliest"])
def test_a_server_that_loses_its_tokens_for_good_is_refused(layout: Answer, damage: Damage) -> None:
    with serving(damaged(layout, damage, always=True)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        with pytest.raises(UserError, match="gave no answer in 5 tries"):
            model.answer(PROMPTS)


@pytest.mark.seconds
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("damage", [proxy_error, no_choice, no_logprobs, cut_logprobs])
def test_stored_answers_are_checked_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    with serving(damaged(ECHO, damage)) as base:
        options = ModelOptions(base_url=base, scope="option", reuse=True)
        assert_true_scores(load_model("openai:toy", options).answer(PROMPTS))
        path = SERVER_ANSWERS.folder / "answers.sqlite"
        with closing(sqlite3.connect(path)) as database, database:
            stored = database.execute("SELECT key, answer FROM answers").fetchall()
            # as earlier versions stored them
            for key, answer in stored[::3]:
                row = (json.dumps(damage(json.loads(answer))), key)
                database.execute("UPDATE answers SET answer = ? WHERE key = ?", row)
        assert_true_scores(load_model("openai:toy", options).answer(PROMPTS))


def test_a_token_that_is_counted_and_not_reported_is_not_made_up_for() -> None:
    """The generated token would otherwise count as the last of the text."""

    def answer(path: str, body: dict[str, Any]) -> Reply:
        status, reply = ECHO(path, body)
        if isinstance(reply, dict) and "usage" in reply:
            reply["usage"]["prompt_tokens"] += 1
        return status, reply

    with serving(answer) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        assert_true_scores(model.answer(PROMPTS))


def test_a_chat_reply_without_its_log_probabilities_is_incomplete() -> None:
    message = {"role": "assistant", "content": "red"}
    incomplete: tuple[dict[str, Any], ...] = ({}, {"logprobs": None}, {"logprobs": {"content": []}})
    for lost in incomplete:
        with pytest.raises(UserError, match="without log-probabilities"):
            required_positions({"choices": [{"message": message, **lost}]})
    # a model may say nothing, and then there is nothing to report
    assert required_positions({"choices": [{"message": {"content": ""}}]}) == []


def test_scores_of_no_tokens_are_refused_for_every_model() -> None:
    prompt = Prompt("A pig is [MASK].", ("red", "pink"))
    validate_scores(prompt, Scores((-1.0, -2.0), (1, 1), (3, 4)), "model")
    with pytest.raises(UserError, match="an option has no tokens"):
        validate_scores(prompt, Scores((0.0, -2.0), (0, 1), (3, 4)), "model")
