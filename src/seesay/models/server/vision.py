"""OpenAI-compatible servers of vision-language models: the picture goes along as a data address.

The reply's first token is asked for with the log-probabilities of its likeliest alternatives; an option's score is the
mass of those that write it. A server that tells none makes one choice, and the figures say so (`scope: choice`).
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.models.server.chat import count_unanswered
from seesay.models.vision.vision_language import open_picture, question
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions
    from seesay.models.server.client import Client

TOP = 20
REPLY = 8  # tokens of a reply where no log-probabilities are told
LARGEST = 1024  # servers scale pictures down anyway: larger ones only cost time
REFUSED = math.log(1e-6)


def load_vision_server(rest: str, options: ModelOptions) -> VisionServer:
    """`openai-vision:MODEL` with --base-url."""
    from seesay.models.server.client import Client

    base = options.base_url or os.environ.get("OPENAI_BASE_URL")
    if not rest or not base:
        raise UserError(
            "A server needs a model name and an address: seesay probe openai-vision:MODEL --base-url http://host:port/v1"
        )
    return VisionServer(f"openai-vision:{rest}", Client(base, rest))


class VisionServer(Model):
    """`/v1/chat/completions` with a picture."""

    family = "chat"
    accepts = TEXT_AND_PICTURES
    prompts_per_batch = 32

    def __init__(self, name: str, client: Client) -> None:
        self.name, self._client = name, client
        self._logprobs = self._tells()
        self.scope = "reply" if self._logprobs else "choice"
        seen = f"{client.base} {client.model} vision {self.scope}"
        self.fingerprint = hashlib.blake2b(seen.encode(), digest_size=8).hexdigest()

    def _tells(self) -> bool:
        """Whether the server tells log-probabilities: found out at the start."""
        from seesay.models.server.client import RefusedError

        trial = [{"type": "text", "text": "Say yes or no."}]
        try:
            return bool(_alternatives(self._client.post("chat/completions", self._body(trial, True))))
        except RefusedError:
            return False

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability of every option as the reply's beginning; without log-probabilities, the one choice."""
        told = self._client.parallel(self._scores, prompts)
        rows = [told[prompt] for prompt in prompts]
        return [
            Scores(tuple(row), (1,) * len(row), tuple(map(len, prompt.options)))
            for row, prompt in zip(rows, prompts, strict=True)
        ]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """How many replies were none of the options."""
        return [*super().notes(), *count_unanswered(answered)]

    def _scores(self, prompt: Prompt) -> list[float]:
        asked = f"{question(prompt)} Answer with one word: {' or '.join(prompt.options)}."
        content: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": data_address(prompt.picture, self.name)}},
            {"type": "text", "text": asked},
        ]
        told = self._client.post("chat/completions", self._body(content, self._logprobs))
        if not self._logprobs:
            reply = _reply(told, self._client.base).strip().lower()
            chosen = [reply.startswith(option.lower()) for option in prompt.options]
            return [0.0 if yes else REFUSED for yes in chosen] if sum(chosen) == 1 else [REFUSED] * len(chosen)
        return reply_scores(_alternatives(told), prompt.options)

    def _body(self, content: list[dict[str, Any]], logprobs: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": [{"role": "user", "content": content}], "temperature": 0}
        return body | ({"max_tokens": 1, "logprobs": True, "top_logprobs": TOP} if logprobs else {"max_tokens": REPLY})


def reply_scores(likely: dict[str, float], options: Sequence[str]) -> list[float]:
    """The mass of the tokens that begin each option and no other; the lowest told for an option without any.

    >>> [round(x, 3) for x in reply_scores({"Yes": -0.5, " yes": -1.5, "No": -2.0, "A": -3.0}, ("yes", "no"))]
    [-0.187, -2.0]
    """
    floor = min(likely.values(), default=REFUSED)
    mass: list[list[float]] = [[] for _ in options]
    for token, logp in likely.items():
        word = token.strip().lower()
        fits = [i for i, option in enumerate(options) if word and option.lower().startswith(word)]
        if len(fits) == 1:
            mass[fits[0]].append(logp)
    return [max(row) + math.log(sum(math.exp(x - max(row)) for x in row)) if row else floor for row in mass]


def data_address(path: str | None, name: str) -> str:
    """The picture as a PNG inside an address."""
    picture = open_picture(path, name)
    picture.thumbnail((LARGEST, LARGEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _alternatives(told: dict[str, Any]) -> dict[str, float]:
    """The likeliest first tokens of the reply."""
    try:
        first = told["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return {str(one["token"]): float(one["logprob"]) for one in first}
    except (KeyError, IndexError, TypeError, ValueError):
        return {}


def _reply(told: dict[str, Any], base: str) -> str:
    try:
        return str(told["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError) as error:
        raise UserError(f"{base} answered without a message: is it a chat server?") from error
