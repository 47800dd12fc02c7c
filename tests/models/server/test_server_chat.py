"""Chat servers: a distribution over options from `top_logprobs`, free answers, and servers that
mean no good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.models.server.toy_server import Reply as Answered
from tests.models.server.toy_server import chat, serving

from seesay.condition import label
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.models.base import Reply, Sampling
from seesay.models.server.chat import ChatServer
from seesay.models.server.replies import ReplyToken, positions, score_reply
from seesay.probes.generated import GeneratedModel
from seesay.questions import Prompt, Shot, after_shots
from seesay.tasks import load_task

COLORS = ("red", "green", "blue")
PROMPT = Prompt("The color of grass is [MASK].", COLORS)


def served(base: str, **options: Any) -> Model:
    return load_model("openai:x", ModelOptions(base_url=base, **options))


def test_a_real_server_gives_a_distribution_over_the_options(address: str) -> None:
    """Beside the same conversation with the local model, whose replies begin with the options' own
    tokens."""
    model = served(address, chat=True)
    assert (model.name, model.scope, model.only_chooses) == ("openai:x", "reply", False)
    assert label(model.name, model.condition) == "openai:x · chat"
    task = load_task("core-size")
    prompts = [task.templates[0].ask(question) for question in task.questions[:12]]
    scores = model.answer(prompts)
    for prompt_scores in scores:
        assert prompt_scores.hidden is not None
        assert 0 <= prompt_scores.hidden < 0.6
        assert sum(map(math.exp, prompt_scores.logp)) <= 1.1
        assert len(set(prompt_scores.logp)) > 1
    assert "out of reach" in model.notes(scores)[0]
    assert model.answer(prompts[:1]) == scores[:1]
    assert served(address, chat=True, system="Be brief.").fingerprint != model.fingerprint


def test_a_real_server_writes_free_answers(address: str) -> None:
    prompts = [PROMPT, Prompt("The color of snow is [MASK].", COLORS)]
    for options in ({"chat": True}, {"endpoint": "chat"}, {}):
        model = GeneratedModel(served(address, generates=True, **options), Sampling(max_tokens=12))
        for scores in model.answer(prompts):
            ((text, _, _),) = scores.replies or ()
            assert text
    sampled = served(address, chat=True, generates=True).generate([PROMPT], Sampling(4, 1.5, 8))
    assert len(sampled[0]) == 4
    assert len(set(sampled[0])) > 1


def likely(token: str, **shares: float) -> ReplyToken:
    return ReplyToken(
        token, {name.replace("_", " "): math.log(share) for name, share in shares.items()}
    )


def masses(reply: Sequence[ReplyToken], options: Sequence[str]) -> tuple[list[float], float]:
    scores = score_reply(reply, options)
    return [round(math.exp(logp), 4) for logp in scores.logp], round(scores.hidden, 4)


def test_spellings_are_added_up_and_the_rest_is_bounded() -> None:
    reply = [likely("Red", Red=0.5, _red=0.2, Green=0.1, The=0.1)]
    assert masses(reply, COLORS) == ([0.7, 0.1, 0.1], 0.1)  # blue: 0.1 is left over


def test_options_that_begin_alike_are_told_apart_by_the_next_token() -> None:
    reply = [
        likely("light", light=0.6, red=0.3, dark=0.05),
        likely(" blue", _blue=0.7, _green=0.2),
    ]
    shares, hidden = masses(reply, ("light blue", "light green", "red", "dark red"))
    assert shares == [0.42, 0.12, 0.3, 0.05]
    assert hidden == round(0.05 + 0.6 * 0.1, 4)


def test_a_beginning_that_was_not_followed_is_out_of_reach() -> None:
    reply = [likely("red", red=0.6, light=0.3)]
    shares, hidden = masses(reply, ("light blue", "light green", "red"))
    assert shares == [0.3, 0.3, 0.6]  # each of the first two may have all of it
    assert hidden == pytest.approx(0.4)


def test_marks_before_and_after_the_option() -> None:
    reply = [likely("**", **{"**": 0.9, "Red": 0.1}), likely("red", **{"red": 0.8, "Green.": 0.2})]
    assert masses(reply, COLORS)[0][:2] == [round(0.1 + 0.72, 4), 0.18]


def test_a_reply_that_says_nothing_hides_everything() -> None:
    assert masses([], COLORS)[1] == 1.0
    assert positions({"choices": [{"logprobs": None}]}) == []


def scripted(content: object = "Green", **message: object) -> Any:
    """A chat server without log-probabilities or constrained choices."""

    def answer(path: str, body: dict[str, Any]) -> Answered:
        finish = message.get("finish_reason", "stop")
        reply = {
            "role": "assistant",
            "content": content,
            **{k: v for k, v in message.items() if k != "finish_reason"},
        }
        return 200, {"choices": [{"index": 0, "message": reply, "finish_reason": finish}]}

    return answer


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (scripted("Green", reasoning_content="Is it red? No."), "green"),
        (scripted("Green", reasoning="red red red"), "green"),
        (scripted("<think>red?</think>Green"), "green"),
        (scripted(None, reasoning_content="It is red", finish_reason="length"), "cut"),
        (scripted("<think>It is red", finish_reason="length"), "cut"),
        (scripted("The color of", finish_reason="length"), "cut"),
        (scripted("Green is the", finish_reason="length"), "green"),
        (
            scripted([{"type": "reasoning", "text": "red"}, {"type": "text", "text": "green"}]),
            "green",
        ),
        (scripted(None, refusal="I cannot help with that."), "none"),
        (scripted(""), "empty"),
    ],
)
def test_reasoning_is_cut_off_and_cut_answers_count_as_such(answer: Any, outcome: str) -> None:
    with serving(answer) as base:
        model = GeneratedModel(served(base, chat=True, generates=True), Sampling(max_tokens=8))
        (scores,) = model.answer([PROMPT])
    assert [result for _, result, _ in scores.replies or ()] == [outcome]
    assert np.argmax(scores.logp) == (1 if outcome == "green" else 0)
    assert (len(set(scores.logp)) == 1) == (outcome != "green")


def test_a_server_that_refuses_what_reasoning_models_refuse() -> None:
    requests: list[dict[str, Any]] = []

    def answer(path: str, body: dict[str, Any]) -> Answered:
        requests.append(body)
        if "max_tokens" in body:
            return 400, {
                "error": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            }
        if "temperature" in body:
            return 400, {"error": "'temperature' does not support 0 with this model."}
        return chat("Green.")

    with serving(answer) as base:
        model = served(base, chat=True, generates=True)
        assert model.generate([PROMPT]) == [(Reply("Green."),)]
    assert requests[-1]["max_completion_tokens"] == 64
    assert model.notes() == [
        "The server takes no temperature: its answers were sampled as it does by default."
    ]


def test_a_chat_server_without_log_probabilities_or_choices_can_only_write() -> None:
    with (
        serving(scripted()) as base,
        pytest.raises(UserError, match=r"reports no log-probabilities .*--how generate"),
    ):
        served(base, chat=True)


def test_examples_are_turns_and_the_system_comes_first() -> None:
    requests: list[dict[str, Any]] = []

    def answer(path: str, body: dict[str, Any]) -> Answered:
        requests.append(body)
        top = [
            {"token": token, "logprob": math.log(share)}
            for token, share in (("Green", 0.8), ("Red", 0.1))
        ]
        message = {
            "message": {"role": "assistant", "content": "Green"},
            "logprobs": {"content": [{"token": "Green", "top_logprobs": top}]},
        }
        return 200, {"choices": [message]}

    shots = (Shot("The color of snow is [MASK].", COLORS, "blue"),)
    prompt = Prompt(after_shots(shots, PROMPT.text), COLORS, shots=shots)
    with serving(answer) as base:
        model = served(base, chat=True, system="Be brief.")
        assert isinstance(model, ChatServer)
        (scores,) = model.answer([prompt])
    assert [message["role"] for message in requests[-1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert requests[-1]["messages"][2]["content"] == "blue"
    assert requests[-1]["messages"][3]["content"].startswith("The color of grass is ___.")
    assert np.exp(scores.logp) == pytest.approx([0.1, 0.8, 0.1], abs=1e-6)
