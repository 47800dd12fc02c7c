"""OpenAI-compatible servers of vision-language models: the picture is sent as a data URL.

The reply's first token is requested with the log-probabilities of its likeliest alternatives; an
option's score is the mass of those that begin it. A server that reports none makes one choice, and
the figures say so (`scope: choice`).
"""

from __future__ import annotations

import base64
import copy
import io
import math
from collections.abc import Sequence
from typing import Any

from seesay.answers import NO_ANSWER
from seesay.digests import text_digest
from seesay.models.base import TEXT_AND_PICTURES, choice_scores
from seesay.models.chat import Message, conversation
from seesay.models.pictures import open_picture, question
from seesay.models.server.base import ServerModel
from seesay.models.server.chat import REFUSED, ChatServer, system_digest
from seesay.models.server.client import Client, RefusedError
from seesay.models.server.replies import positions, reply_of
from seesay.questions import Prompt, Scores

TOP = 20
REPLY = 8  # tokens of a reply where no log-probabilities are reported
LARGEST = 1024  # servers scale pictures down anyway: larger ones only cost time


class VisionServer(ChatServer):
    """`/v1/chat/completions` with a picture."""

    probabilities_hint = "use a server that reports log-probabilities"
    accepts = TEXT_AND_PICTURES
    prompts_per_batch = 32

    def __init__(self, name: str, client: Client, *, generates: bool = False) -> None:
        ServerModel.__init__(self, name, client, generates=generates)
        self._system = None
        self._top = 0
        self._logprobs = self._reports_logprobs()
        self.scope, self.only_chooses = ("reply", False) if self._logprobs else ("choice", True)
        identity = f"{client.base} {client.model} vision {self.scope}"
        self.fingerprint = text_digest(identity)

    def through_chat(self, system: str | None = None) -> VisionServer:
        """The same server, which is asked nothing but chats, with a system text."""
        chatting = copy.copy(self)
        chatting._system = system
        chatting.chat = system_digest(system)
        return chatting

    def _reports_logprobs(self) -> bool:
        trial = [{"role": "user", "content": [{"type": "text", "text": "Say yes or no."}]}]
        try:
            return bool(_alternatives(self._client.post(self.endpoint, self._body(trial, True))))
        except RefusedError:
            return False

    def _scores(self, prompt: Prompt) -> Scores:
        return choice_scores(prompt, self._logps(prompt))

    def _logps(self, prompt: Prompt) -> list[float]:
        """Log-probability of every option as the reply's beginning; without log-probabilities, the
        one choice."""
        messages = self._conversation(
            prompt, f" Answer with one word: {' or '.join(prompt.options)}."
        )
        body = self._body(messages, self._logprobs)
        answer = self._client.post(self.endpoint, body, reuse=True)
        if not self._logprobs:
            reply = reply_of(answer, self._client.base).text.lower()
            chosen = [reply.startswith(option.lower()) for option in prompt.options]
            rest = REFUSED if sum(chosen) == 1 else NO_ANSWER
            return [0.0 if named and sum(chosen) == 1 else rest for named in chosen]
        return reply_scores(_alternatives(answer), prompt.options)

    def _conversation(self, prompt: Prompt, hint: str = "") -> list[Message]:
        """The conversation with its pictures; every question ends with the hint."""

        def turn(text: str, picture: str | None) -> list[Message]:
            shown = [] if picture is None else [picture]
            images = [
                {"type": "image_url", "image_url": {"url": data_url(path, self.name)}}
                for path in shown
            ]
            return [*images, {"type": "text", "text": f"{question(text)}{hint}"}]

        return conversation(prompt, self._system, turn)

    def _body(self, messages: list[Message], logprobs: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": messages, "temperature": 0}
        return body | (
            {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
            if logprobs
            else {"max_tokens": REPLY}
        )


def reply_scores(likely: dict[str, float], options: Sequence[str]) -> list[float]:
    """The mass of the tokens that begin each option and no other; the lowest reported for an option
    without any.

    >>> [round(x, 3) for x in reply_scores({"Yes": -0.5, " yes": -1.5, "No": -2.0, "A": -3.0}, ("yes", "no"))]
    [-0.187, -2.0]
    """
    mass: list[list[float]] = [[] for _ in options]
    named = False
    for token, logp in likely.items():
        word = token.strip().lower()
        fits = [i for i, option in enumerate(options) if word and option.lower().startswith(word)]
        if len(fits) == 1:
            mass[fits[0]].append(logp)
        named = named or bool(fits)
    floor = min(likely.values()) if named else NO_ANSWER
    return [
        max(row) + math.log(sum(math.exp(x - max(row)) for x in row)) if row else floor
        for row in mass
    ]


def data_url(path: str | None, name: str) -> str:
    """The picture as a PNG in a data URL."""
    picture = open_picture(path, name)
    picture.thumbnail((LARGEST, LARGEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _alternatives(answer: dict[str, Any]) -> dict[str, float]:
    """The likeliest first tokens of the reply; none where the server reports none."""
    return next((first.likely for first in positions(answer)), {})
