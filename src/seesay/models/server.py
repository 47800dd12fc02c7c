"""OpenAI-compatible servers.

`completions` reads log-probabilities: of the prompt's own tokens where the server can echo them (vLLM), else by walking
an option token by token through the likeliest next tokens (llama.cpp, OpenAI). `chat` has no log-probability of a given
text: there the model makes one constrained choice among the options, and the figures say so (`scope: choice`).

What a server cannot do is found out at the start, not after an hour at chance.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from seesay.models.batching import chunks
from seesay.models.spelling import resolve_separator
from seesay.questions import SLOT, Prompt, Scores, UserError

if TYPE_CHECKING:
    from seesay.models.loading import Options

BATCH = 32
PARALLEL = 4
TRIES = 5
TIMEOUT = 120.0
TOPS = (1000, 100, 20, 5)  # how many likeliest tokens to ask for: the most that the server grants
DEEPER = 50  # once more, this many times as many, before an option counts as out of reach
TRIAL = "The opposite of up is"
REFUSED = math.log(1e-6)  # what a constrained choice leaves for the options not taken


def load_server(rest: str, options: Options) -> Completions | Chat:
    """`openai:MODEL` with --base-url, and --endpoint completions or chat."""
    base = options.base_url or os.environ.get("OPENAI_BASE_URL")
    if not rest or not base:
        raise UserError(
            "A server needs a model name and an address: seesay probe openai:MODEL --base-url http://host:port/v1"
        )
    client = Client(base, rest)
    if options.endpoint == "chat":
        return Chat(f"openai:{rest}", client)
    if options.endpoint == "completions":
        return Completions(f"openai:{rest}", client, options.scope)
    raise UserError(f"Unknown endpoint '{options.endpoint}': choose completions or chat.")


class Client:
    """Posts JSON, tries again where that may help, and turns what goes wrong into one sentence."""

    def __init__(self, base: str, model: str) -> None:
        try:
            import httpx
        except ImportError as error:
            raise UserError("Servers need an extra that is not installed: pip install 'seesay[api]'") from error
        self.model, self.base = model, base.rstrip("/")
        key = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._transport_error, self._status_error = httpx.TransportError, httpx.HTTPStatusError
        try:
            self._http = httpx.Client(headers=headers, timeout=TIMEOUT)
            httpx.URL(self.base).host  # noqa: B018 - raises for an address that is none
        except httpx.InvalidURL as error:
            raise UserError(f"'{base}' is not an address: {error}.") from error

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The server's answer; busy and broken connections are tried again, with growing pauses."""
        for attempt in range(TRIES):
            try:
                response = self._http.post(f"{self.base}/{path}", json={"model": self.model, **body})
                if response.status_code != 429 and response.status_code < 500:
                    response.raise_for_status()
                    answer: dict[str, Any] = response.json()
                    return answer
                problem = f"status {response.status_code}"
            except self._transport_error as error:
                problem = str(error) or type(error).__name__
            except self._status_error as error:
                raise RefusedError(
                    f"{self.base} refused ({error.response.status_code}): {error.response.text[:200]}"
                ) from error
            except ValueError as error:
                raise UserError(f"{self.base} did not answer in JSON: is it an OpenAI-compatible server?") from error
            if attempt + 1 < TRIES:
                time.sleep(0.25 * 2**attempt)
        raise UserError(f"{self.base} could not be reached after {TRIES} tries ({problem}).")


class RefusedError(UserError):
    """The server said no: the request asks for something it does not do."""


class Completions:
    """`/v1/completions` with log-probabilities."""

    family = "completions"

    def __init__(self, name: str, client: Client, scope: str = "option") -> None:
        self.name, self.scope, self._client = name, scope, client
        self._echo = self._can_echo()
        if not self._echo:
            self._top = self._granted()
        first = self._next([TRIAL]) if not self._echo else {}
        likely = sorted(first.get(TRIAL, {}).items(), key=lambda item: -item[1])[:5]
        seen = json.dumps([client.base, client.model, [token for token, _ in likely]])
        self.fingerprint = hashlib.blake2b(seen.encode(), digest_size=8).hexdigest()

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches in order: the server does its own batching."""
        return list(chunks(range(len(prompts)), BATCH))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability and length of every option."""
        contexts, targets = zip(*(self._cut(prompt) for prompt in prompts), strict=True)
        pairs = [(context, target) for context, row in zip(contexts, targets, strict=True) for target in row]
        found = self._echoed(pairs) if self._echo else self._walked(pairs)
        return [
            Scores(
                logp=tuple(found[context, target][0] for target in row),
                tokens=tuple(found[context, target][1] for target in row),
                chars=tuple(len(target.strip()) for target in row),
            )
            for context, row in zip(contexts, targets, strict=True)
        ]

    def _cut(self, prompt: Prompt) -> tuple[str, list[str]]:
        """What stands before, and each option with the space before it (and what follows), as tokenisers cut."""
        before, after = (resolve_separator(part, None) for part in prompt.parts)
        context = before.rstrip(" ")
        space = before[len(context) :]
        return context, [space + option + (after if self.scope == "sentence" else "") for option in prompt.options]

    def _echoed(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[float, int]]:
        def ask(pair: tuple[str, str]) -> tuple[float, int]:
            context, target = pair
            body = {"prompt": context + target, "max_tokens": 0, "echo": True, "logprobs": 1}
            tokens, logps = _told(self._client.post("completions", body))
            end, scored = 0, []
            for token, logp in zip(tokens, logps, strict=True):
                end += len(token)
                if end > len(context):
                    scored.append(logp if logp is not None else 0.0)
            return math.fsum(scored), len(scored)

        unique = list(dict.fromkeys(pairs))
        with ThreadPoolExecutor(PARALLEL) as pool:
            return dict(zip(unique, pool.map(ask, unique), strict=True))

    def _walked(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[float, int]]:
        """Each target written token by token, always the longest token that fits, as a tokeniser would."""
        state = {
            pair: (0.0, 0, pair[0], pair[1]) for pair in pairs
        }  # log-probability, tokens, text so far, what is left
        out_of_reach = 0
        while open_pairs := [pair for pair, (_, _, _, left) in state.items() if left]:
            likely = self._next(sorted({state[pair][2] for pair in open_pairs}))
            deeper: dict[str, dict[str, float]] = {}
            for pair in open_pairs:
                logp, count, text, left = state[pair]
                token = _longest_fit(likely[text], left)
                if token is None and len(likely[text]) >= self._top:
                    if text not in deeper:
                        deeper |= self._next([text], self._top * DEEPER)
                    token = _longest_fit(deeper[text], left)
                table = deeper.get(text) or likely[text]
                if token is None:
                    out_of_reach += 1
                    state[pair] = (logp + min(table.values()), count + 1, text, "")
                else:
                    state[pair] = (logp + table[token], count + 1, text + token, left[len(token) :])
        if out_of_reach:
            warnings.warn(
                f"{out_of_reach} of {len(state)} options were not among the likeliest tokens that the server tells; "
                "they were given the lowest log-probability it told, which is too high.",
                stacklevel=2,
            )
        return {pair: (logp, count) for pair, (logp, count, _, _) in state.items()}

    def _next(self, texts: Sequence[str], top: int | None = None) -> dict[str, dict[str, float]]:
        """The likeliest next tokens after each text, with their log-probabilities."""

        def ask(text: str) -> dict[str, float]:
            body = {"prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": top or self._top}
            return _likeliest(self._client.post("completions", body))

        with ThreadPoolExecutor(PARALLEL) as pool:
            return dict(zip(texts, pool.map(ask, texts), strict=True))

    def _can_echo(self) -> bool:
        """Whether the server gives the prompt's own tokens their log-probabilities."""
        try:
            answer = self._client.post("completions", {"prompt": TRIAL, "max_tokens": 0, "echo": True, "logprobs": 1})
        except RefusedError:
            return False
        tokens, logps = _told(answer)
        known = [logp for logp in logps[1:] if logp is not None]
        return "".join(tokens) == TRIAL and len(set(known)) > 1

    def _granted(self) -> int:
        """The most next tokens that the server tells; refuses one whose log-probabilities say nothing."""
        for self._top in TOPS:
            try:
                told = self._next([TRIAL])[TRIAL]
            except RefusedError:
                continue
            if len(told) < 2:
                raise UserError(
                    f"{self._client.base} returns no log-probabilities: options cannot be scored. "
                    "Start the server with log-probabilities, or use --endpoint chat."
                )
            if max(told.values()) - min(told.values()) < 1e-6:
                raise UserError(
                    f"{self._client.base} returns the same log-probability for every token: they say nothing."
                )
            return self._top
        raise UserError(f"{self._client.base} refuses every request with log-probabilities: use --endpoint chat.")


class Chat:
    """`/v1/chat/completions`: one choice among the options, held to them by a JSON schema."""

    family = "chat"
    scope = "choice"

    def __init__(self, name: str, client: Client) -> None:
        self.name, self._client = name, client
        self.fingerprint = hashlib.blake2b(f"{client.base} {client.model} chat".encode(), digest_size=8).hexdigest()
        trial = Prompt(f"{TRIAL} {SLOT}.", ("down", "left"))
        if self._choose(trial) not in trial.options:
            raise UserError(
                f"{client.base} does not hold its answers to the given options (response_format json_schema)."
            )

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches in order: the server does its own batching."""
        return list(chunks(range(len(prompts)), BATCH))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Everything on the option chosen; an answer that is no option leaves them all alike."""
        with ThreadPoolExecutor(PARALLEL) as pool:
            choices = list(pool.map(self._choose, prompts))
        astray = sum(choice not in prompt.options for prompt, choice in zip(prompts, choices, strict=True))
        if astray:
            warnings.warn(
                f"{astray} of {len(prompts)} answers were none of the options and count as no answer.", stacklevel=2
            )
        return [
            Scores(
                logp=tuple(0.0 if option == choice else REFUSED for option in prompt.options),
                tokens=(1,) * len(prompt.options),
                chars=tuple(map(len, prompt.options)),
            )
            for prompt, choice in zip(prompts, choices, strict=True)
        ]

    def _choose(self, prompt: Prompt) -> str:
        text = resolve_separator(prompt.text, None).replace(SLOT, "___")
        asked = f"{text}\n\nWhich of these fills the blank? Answer with one of them: {', '.join(prompt.options)}."
        body = {
            "messages": [{"role": "user", "content": asked}],
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "choice", "schema": {"type": "string", "enum": list(prompt.options)}},
            },
        }
        answer = self._client.post("chat/completions", body)
        try:
            content = str(answer["choices"][0]["message"]["content"]).strip()
        except (KeyError, IndexError, TypeError) as error:
            raise UserError(f"{self._client.base} answered without a message: is it a chat server?") from error
        try:
            return str(json.loads(content))
        except json.JSONDecodeError:
            return content


def _longest_fit(likely: dict[str, float], left: str) -> str | None:
    return max((token for token in likely if token and left.startswith(token)), key=len, default=None)


def _logprobs(answer: dict[str, Any]) -> dict[str, Any]:
    choices = answer.get("choices") or [{}]
    return choices[0].get("logprobs") or {}


def _told(answer: dict[str, Any]) -> tuple[list[str], list[float | None]]:
    """Tokens and log-probabilities, in OpenAI's older layout or the newer one (llama.cpp)."""
    logprobs = _logprobs(answer)
    if "content" in logprobs:
        return [t["token"] for t in logprobs["content"]], [t["logprob"] for t in logprobs["content"]]
    return logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []


def _likeliest(answer: dict[str, Any]) -> dict[str, float]:
    """The likeliest tokens at the first position, in either layout."""
    logprobs = _logprobs(answer)
    if logprobs.get("content"):
        return {t["token"]: t["logprob"] for t in logprobs["content"][0].get("top_logprobs") or []}
    tops = logprobs.get("top_logprobs") or [{}]
    return dict(tops[0] or {})
