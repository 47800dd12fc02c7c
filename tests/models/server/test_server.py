"""Servers: a real one that serves the default model, toy ones in every layout, and bad ones found
out at the start."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.models.server import toy_server
from tests.models.server.toy_server import Reply, chat, completion, old_layout, serving
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.models.hf.causal import CausalModel
from seesay.models.server.chat import REFUSED
from seesay.models.server.completions import CompletionsServer
from seesay.models.server.constraints import regex
from seesay.models.server.scoring import EchoScorer, PrefixMatchScorer, TokenLookupScorer
from seesay.questions import Prompt, Scores, Template
from seesay.tasks import load_task

OPTION = ModelOptions(scope="option")


def served(address: str, endpoint: str = "completions", scope: str = "option") -> Model:
    return load_model(
        "openai:smollm2", ModelOptions(base_url=address, endpoint=endpoint, scope=scope)
    )


def logps(scores: Sequence[Scores]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([one.logp for one in scores])


def by_rank(rows: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return rows.argsort(axis=1).argsort(axis=1)


def test_a_real_server_agrees_with_the_local_model(address: str) -> None:
    """The server computes with 8-bit activations, so the log-probabilities differ a little."""
    task = load_task("memory-colors", shared("memory_colors/memory_colors.jsonl"))
    template = next(t for t in task.templates if t.text == "The color of {thing} is [MASK].")
    prompts = [template.ask(question) for question in task.questions]
    assert len(prompts) == 109
    remote, local = (
        served(address).answer(prompts),
        load_model("smollm2", OPTION).answer(prompts),
    )
    reference, actual = logps(remote), logps(local)
    assert (reference.argmax(axis=1) == actual.argmax(axis=1)).mean() >= 0.95
    correlations = [
        np.corrcoef(a, b)[0, 1] for a, b in zip(by_rank(reference), by_rank(actual), strict=True)
    ]
    assert np.mean(correlations) > 0.95
    assert np.median(abs(reference - actual)) < 0.4
    assert [(one.tokens, one.chars) for one in remote] == [(one.tokens, one.chars) for one in local]


ODD = (
    Prompt(
        "A cat has [MASK] and a tail.", ("whiskers", "antlers", "a pair of horns", "handlebars")
    ),
    Prompt("The sea is turquoise or [MASK]?", ("navy blue", "blue", "café-au-lait", "x")),
    Prompt('She said "[MASK]" to me.', ("red", "yellow")),
)


def test_options_of_several_tokens_in_mid_sentence(address: str) -> None:
    remote = served(address, scope="sentence")
    assert "every token after the slot costs a request" in remote.notes()[0]
    local = load_model("smollm2", ModelOptions(scope="sentence"))
    for reference, actual in zip(remote.answer(ODD), local.answer(ODD), strict=True):
        assert (reference.tokens, reference.chars) == (actual.tokens, actual.chars)
        assert np.abs(np.subtract(reference.logp, actual.logp)).max() < 0.25 * max(actual.tokens)
    assert remote.scope == "sentence"


def test_a_slot_that_opens_the_sentence(address: str) -> None:
    (scores,) = served(address).answer(
        [Prompt("[MASK] is the color of a lemon.", ("Yellow", "Blue"))]
    )
    assert all(-20 < logp < 0 for logp in scores.logp)
    assert scores.tokens == (1, 1)
    assert scores.chars == (6, 4)


def test_a_text_is_scored_after_the_same_token_as_locally(address: str) -> None:
    prompts = [
        Prompt("[MASK]", ("The cats sleep on the mat.", "The cats sleeps on the mat.")),
        Prompt("[MASK]", ("She saw herself.", "She saw himself.")),
    ]
    remote = served(address, scope="sentence")
    local = load_model("smollm2", ModelOptions(device="cpu"))
    answers = remote.answer(prompts)
    # 0.62 apart, by the server's 8-bit activations; after the chat's <|im_start|> it is far more
    assert logps(answers) == pytest.approx(logps(local.answer(prompts)), abs=0.7)
    assert [one.tokens for one in answers] == [one.tokens for one in local.answer(prompts)]
    assert remote.describe_scoring() == "bos:endoftext"
    assert local.describe_scoring().startswith("bos:endoftext|")
    assert remote.beginning == local.beginning == "none/endoftext"
    assert not any("line break" in note for note in remote.notes())
    assert isinstance(local, CausalModel)
    local._start = local._tokenizer.bos_token_id
    in_a_turn = logps(local.answer(prompts))
    assert np.abs(logps(answers) - in_a_turn).min() > 1.4


def test_a_mark_that_the_server_adds_begins_a_text() -> None:
    prompt = Prompt("[MASK]", ("The color is red", "Two color is red"))
    with serving(old_layout(20, echo=True, beginning="<s>")) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base))
        (scores,) = model.answer([prompt])
    expected_scores = [toy_server.logp("", option) for option in prompt.options]
    assert list(scores.logp) == pytest.approx([logp for logp, _ in expected_scores])
    assert list(scores.tokens) == [count for _, count in expected_scores]
    assert model.describe_scoring() == "bos:server"


def test_scope_rest_scores_what_follows_each_option() -> None:
    prompt = Prompt("The [MASK] is red", ("color", "Two"))
    with serving(old_layout(20, echo=True, beginning="<s>")) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="rest"))
        (scores,) = model.answer([prompt])
        with pytest.raises(UserError, match="nothing does in"):
            model.answer([Prompt("The color is [MASK].", ("red", "Two"))])
    expected = [toy_server.logp(f"The {option}", " is red") for option in prompt.options]
    assert list(scores.logp) == pytest.approx([logp for logp, _ in expected])
    assert list(scores.tokens) == [count for _, count in expected]
    assert scores.chars == (len("is red"),) * 2


@pytest.mark.parametrize("echo", [True, False])
def test_a_server_that_does_not_tell_how_texts_begin_is_noted(echo: bool) -> None:
    with serving(old_layout(1000, echo=echo)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        model.answer(TOY_PROMPTS[:1])
        assert not any("line break" in note for note in model.notes())
        model.answer(TOY_PROMPTS[2:])
    assert sum("scored after a line break" in note for note in model.notes()) == 1
    assert model.describe_scoring() == "bos:newline"


def test_the_way_is_found_and_the_fingerprint_stays(address: str) -> None:
    first, second = served(address), served(address)
    assert isinstance(first, CompletionsServer)
    assert isinstance(first._scorer, TokenLookupScorer)
    assert first.fingerprint == second.fingerprint
    assert first.family == "completions"


def answered_requests(model: Model, prompts: Sequence[Prompt]) -> dict[str, float]:
    """What it takes to answer the prompts, batch by batch as a run does it."""
    before = model.spent()
    for batch in model.plan(prompts):
        model.answer([prompts[i] for i in batch])
    return {name: amount - before[name] for name, amount in model.spent().items()}


def announced(model: Model, prompts: Sequence[Prompt]) -> tuple[int, int]:
    """The requests and the tokens to read that the user is told before the start."""
    match = re.match(r"About ([\d,]+) requests: ([\d,]+) tokens to read", model.estimate(prompts))
    assert match
    requests, read = (int(number.replace(",", "")) for number in match.groups())
    return requests, read


@pytest.mark.parametrize("scope", ["option", "sentence"])
def test_a_real_server_is_asked_as_often_as_announced(address: str, scope: str) -> None:
    model = served(address, scope=scope)
    task = load_task("core-color")
    prompts = [template.ask(task.questions[0]) for template in task.templates]
    prompts += [template.ask(task.questions[50]) for template in task.templates[:3]]
    requests, read = announced(model, prompts)
    spent = answered_requests(model, prompts)
    # tokens that are not among the 1,000 likeliest are asked for again, deeper: the stated bound
    assert "up to 4 times as many" in model.estimate(prompts)
    assert requests <= spent["requests"] <= 4 * requests
    print(f"{scope}: {requests} announced, {spent['requests']:.0f} used")
    if spent["requests"] == requests:
        assert spent["tokens_read"] == read


@pytest.mark.parametrize("scope", ["option", "sentence"])
@pytest.mark.parametrize("echo", [True, False])
def test_a_toy_server_is_asked_as_often_as_announced(scope: str, echo: bool) -> None:
    """Without an echo, words of several tokens take more than can be known before."""
    prompts = [*TOY_PROMPTS[:1] * 3, *TOY_PROMPTS[:2]]
    with serving(old_layout(1000, echo=echo)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope=scope))
        requests, _ = announced(model, prompts)
        spent = answered_requests(model, prompts)["requests"]
        if echo:
            assert spent == requests
        else:
            assert "more for words of several tokens" in model.estimate(prompts)
            assert requests <= spent <= 4 * requests


@pytest.mark.parametrize("echo", [True, False])
def test_all_prompts_are_counted_where_that_takes_no_server(echo: bool) -> None:
    """The first hundreds of prompts are no sample of the others: here these have more options."""
    words = ("red", "green", "blue", "black")
    prompts = [
        Prompt(f"The color of {number} is [MASK].", words if number > 300 else words[:2])
        for number in range(400)
    ]
    with serving(old_layout(1000, echo=echo)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        requests, _ = announced(model, prompts)
        assert "counted for" not in model.estimate(prompts)
    texts = 400 + 2 * 300 + 4 * 99 + 2
    assert requests == (texts if echo else 400)


def test_a_count_of_some_prompts_says_so(address: str) -> None:
    """Where the server's own tokenizer tells which requests there are."""
    model = served(address, scope="option")
    prompts = [Prompt(f"The color of {number} is [MASK].", ("red",)) for number in range(300)]
    counted = re.search(r"counted for (\d+) of 300 prompts", model.estimate(prompts))
    assert counted
    assert 256 <= int(counted[1]) < 300


def test_walking_gives_what_looking_up_gives(address: str) -> None:
    model = served(address)
    assert isinstance(model, CompletionsServer)
    assert isinstance(model._scorer, TokenLookupScorer)
    looked_up = model.answer(ODD[:1])
    model._scorer = PrefixMatchScorer(model._scorer._client, model._scorer._likeliest, model.note)
    assert logps(model.answer(ODD[:1])) == pytest.approx(logps(looked_up), abs=0.05)


def test_chat_makes_a_constrained_choice(address: str) -> None:
    model = served(address, "chat")
    assert (model.family, model.scope) == ("chat", "choice")
    prompts = [
        Template("t", "A tomato is [MASK].").ask(load_task("core-color").questions[0]),
        *ODD[:1],
    ]
    for scores in model.answer(prompts):
        assert sorted(scores.logp)[-1] == 0
        assert sum(logp == 0 for logp in scores.logp) == 1


def test_a_real_server_is_held_to_the_options_by_a_regular_expression(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_schema = served(address, "chat")
    monkeypatch.setattr("seesay.models.server.chat.FORMS", {"regex": regex})
    model = served(address, "chat")
    assert model.fingerprint != by_schema.fingerprint
    prompts = [
        Prompt("A tomato is [MASK].", ("dark red", "U.S. (east)")),
        Prompt("Is it so? [MASK]", ("true", "false")),
    ]
    for scores in model.answer(prompts):
        assert sorted(scores.logp) == [REFUSED, 0]


def test_a_prompt_beyond_the_context_is_one_sentence(address: str) -> None:
    with pytest.raises(UserError, match="exceeds the available context size"):
        served(address).answer([Prompt("red " * 3000 + "[MASK].", ("red", "blue"))])


TOY_PROMPTS = (
    Prompt("The color of a lemon is [MASK].", ("red", "yellow", "light blue", "olive")),
    Prompt("The tomato is [MASK] and two lemon are up.", ("red", "up-down")),
    Prompt("[MASK] is the color of a tomato.", ("Red", "Yellow")),
)


def expected(scope: str) -> list[list[tuple[float, int]]]:
    rest = scope == "sentence"
    results = []
    for prompt in TOY_PROMPTS:
        before, after = prompt.parts
        context, space = (before[:-1], " ") if before else ("\n", "")
        results.append(
            [toy_server.logp(context, space + o + (after if rest else "")) for o in prompt.options]
        )
    return results


@pytest.mark.parametrize("scope", ["option", "sentence"])
@pytest.mark.parametrize(
    ("layout", "way"),
    [
        (old_layout(20, echo=True), EchoScorer),
        (old_layout(20, echo=True, shown=str.strip), EchoScorer),
        (old_layout(1000, echo=False), PrefixMatchScorer),
    ],
    ids=["echo", "echo without spaces", "old layout without echo"],
)
@pytest.mark.filterwarnings("ignore:.*costs a request")
def test_every_layout_gives_the_same_log_probabilities(
    layout: toy_server.Answer, way: type, scope: str
) -> None:
    with serving(layout) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope=scope))
        assert isinstance(model, CompletionsServer)
        assert type(model._scorer) is way
        answers = model.answer(TOY_PROMPTS)
    for scores, right in zip(answers, expected(scope), strict=True):
        assert list(scores.logp) == pytest.approx([logp for logp, _ in right])
        assert list(scores.tokens) == [count for _, count in right]


def test_a_beginning_mark_in_the_echo_is_not_counted() -> None:
    with serving(old_layout(20, echo=True, beginning="<s>")) as base:
        (scores,) = load_model("openai:toy", ModelOptions(base_url=base, scope="option")).answer(
            TOY_PROMPTS[:1]
        )
    assert scores.tokens == tuple(count for _, count in expected("option")[0])


def test_too_few_log_probabilities_are_found_out_at_the_first_batch() -> None:
    with serving(old_layout(5, echo=False)) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        with pytest.raises(UserError, match=r"not among the likeliest tokens .* --endpoint chat"):
            model.answer(TOY_PROMPTS[:1])


def test_a_few_options_out_of_reach_are_admitted() -> None:
    table = toy_server.following(toy_server.spell("The color of a lemon is"))
    words = [token for token in table if len(token) > 2 and token.startswith(" ")][:3]
    reach = list(table).index(words[-1]) + 1
    assert " " not in list(table)[:reach]  # with which any word could be begun

    def answer(path: str, body: dict[str, Any]) -> Reply:
        return old_layout(1000, echo=False)(
            path, {**body, "logprobs": min(body.get("logprobs", 0), reach)}
        )

    with serving(answer) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
        prompt = Prompt("The color of a lemon is [MASK]", (*(word[1:] for word in words), "xx"))
        (scores,) = model.answer([prompt])
    assert "1 of 4 options were not among the likeliest" in model.notes()[0]
    assert list(scores.logp) == pytest.approx([*(table[word] for word in words), table[words[-1]]])


def always(reply: Reply) -> toy_server.Answer:
    return lambda path, body: reply


BAD = {
    "no log-probabilities": (always(completion(None)), "returns no log-probabilities"),
    "empty log-probabilities": (
        always(completion({"content": []})),
        "returns no log-probabilities",
    ),
    "only the token itself": (
        always(completion({"content": [{"token": " a", "logprob": -1, "top_logprobs": []}]})),
        "returns no log-probabilities",
    ),
    "constant log-probabilities": (
        always(
            completion(
                {
                    "tokens": [" a"],
                    "token_logprobs": [-1.0],
                    "top_logprobs": [dict.fromkeys((" a", " b", " c"), -1.0)],
                }
            )
        ),
        "the same log-probability for every token",
    ),
    "tokens without spaces": (
        always(
            completion(
                {
                    "top_logprobs": [
                        {letter: -ord(letter) for letter in "abcdefghijklmnopqrstuvwxyz"}
                    ]
                }
            )
        ),
        "without their spaces",
    ),
    "log-probabilities refused": (
        lambda path, body: (
            (400, {"error": "no logprobs"}) if "logprobs" in body else completion(None)
        ),
        "refuses every request with log-probabilities: use --endpoint chat",
    ),
    "another layout": (
        always(completion({"content": [{"top_logprobs": [{"piece": "a"}]}]})),
        "not OpenAI's",
    ),
    "numbers that are none": (
        always(
            completion({"tokens": [" a"], "token_logprobs": ["x"], "top_logprobs": [{" a": "x"}]})
        ),
        "not OpenAI's",
    ),
    "a list": (always((200, ["hello"])), "did not answer as an OpenAI-compatible server does"),
    "HTML": (always((200, "<!doctype html><title>Welcome</title>")), "did not answer in JSON"),
    "HTML 404": (always((404, "<h1>Not found</h1>")), "does the address end in /v1"),
    "no key": (always((401, {"error": "who are you?"})), "set OPENAI_API_KEY"),
    "a redirect": (always((301, "moved")), r"refused the request \(301\)"),
    "always broken": (
        always((500, {"error": "boom"})),
        r"gave no answer in 5 tries \(status 500.*boom",
    ),
}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No pauses between tries; how long they would have been."""
    pauses: list[float] = []
    monkeypatch.setattr("seesay.models.server.client.time.sleep", pauses.append)
    return pauses


@pytest.mark.parametrize(("answer", "said"), BAD.values(), ids=BAD)
@pytest.mark.usefixtures("hasty")
def test_a_bad_server_is_found_out_at_the_start(answer: toy_server.Answer, said: str) -> None:
    with serving(answer) as base, pytest.raises(UserError, match=said):
        load_model("openai:x", ModelOptions(base_url=base, scope="option"))


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_passing_troubles_are_tried_again(hasty: list[float], status: int) -> None:
    good, calls = old_layout(20, echo=True), 0

    def answer(path: str, body: dict[str, Any]) -> Reply:
        nonlocal calls
        calls += 1
        return (status, "later") if calls <= 2 else good(path, body)

    with serving(answer) as base:
        load_model("openai:toy", ModelOptions(base_url=base, scope="option"))
    assert hasty == [0.25, 0.5]


BAD_CHATS = {
    "free talk": (always(chat("The opposite of up is down.")), "does not restrict its answers"),
    "nothing": (always(chat(None)), "does not restrict its answers"),
    "another object": (always(chat('{"choice": "down"}')), "does not restrict its answers"),
    "no message": (always((200, {"choices": []})), "without a message"),
    "refused": (
        always((400, {"error": "response_format is not supported"})),
        "response_format is not supported",
    ),
}


@pytest.mark.parametrize(("answer", "said"), BAD_CHATS.values(), ids=BAD_CHATS)
def test_a_bad_chat_server_is_found_out_at_the_start(answer: toy_server.Answer, said: str) -> None:
    with serving(answer) as base, pytest.raises(UserError, match=said):
        load_model("openai:x", ModelOptions(base_url=base, endpoint="chat"))


def test_a_server_that_heeds_no_schema_may_heed_a_regular_expression() -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        pattern = body.get("structured_outputs", {}).get("regex")
        return chat("Hello!") if pattern is None else chat(pattern.strip("()").split("|")[-1])

    with serving(answer) as base:
        model = load_model("openai:x", ModelOptions(base_url=base, endpoint="chat"))
        (scores,) = model.answer([Prompt("It is [MASK].", ("red", "blue"))])
    assert scores.logp == (REFUSED, 0)


def test_a_choice_may_come_in_parts() -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        return chat(
            [
                {
                    "type": "text",
                    "text": '{"answer": "%s"}' % ("down" if "'down'" in str(body) else "red"),
                }
            ]
        )

    with serving(answer) as base:
        model = load_model("openai:toy", ModelOptions(base_url=base, endpoint="chat"))
        (scores,) = model.answer([Prompt("A tomato is [MASK].", ("green", "red"))])
    assert scores.logp == (REFUSED, 0.0)


def test_a_choice_that_is_no_option_counts_as_no_answer() -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        (options,) = [
            p["enum"]
            for p in body["response_format"]["json_schema"]["schema"]["properties"].values()
        ]
        return chat('{"answer": "down"}') if "down" in options else chat("I cannot tell.")

    with serving(answer) as base:
        model = load_model("openai:x", ModelOptions(base_url=base, endpoint="chat"))
        (scores,) = model.answer([Prompt("It is [MASK].", ("red", "blue"))])
    assert model.notes([scores]) == ["1 of 1 answers were none of the options and count as wrong."]
    assert len(set(scores.logp)) == 1


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("openai:", ModelOptions(base_url="http://h/v1"), "needs a model name and an address"),
        ("openai:x", ModelOptions(base_url="ftp://h/v1"), "is not an address"),
        ("openai:x", ModelOptions(base_url="h:8080/v1"), "is not an address"),
    ],
)
def test_mistakes(name: str, options: ModelOptions, said: str) -> None:
    with pytest.raises(UserError, match=said):
        load_model(name, options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"endpoint": "talk"}, "choose one of completions, chat"),
        ({"scope": "all"}, "choose one of sentence, option"),
    ],
)
def test_unknown_choices(options: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        ModelOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["batch_size", "concurrency", "workers", "budget"])
@pytest.mark.parametrize("number", [0, -1, math.nan])
def test_numbers_that_nothing_can_be_done_with(name: str, number: float) -> None:
    if not math.isnan(number) or name == "budget":
        with pytest.raises(UserError, match=f"--{name.replace('_', '-')} is {number}: give"):
            ModelOptions.from_keywords({name: number})
