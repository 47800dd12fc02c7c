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
from seesay.models.server.replies import ReplyToken, positions, required_positions
from seesay.questions import ENGLISH, Prompt, Scores

TOP = 20
REPLY = 8  # tokens of a reply where no log-probabilities are reported
LARGEST = 1024  # servers scale pictures down anyway: larger ones only cost time


class VisionServer(ChatServer):
    """`/v1/chat/completions` with a picture."""

    probabilities_hint = "use a server that reports log-probabilities"
    accepts = TEXT_AND_PICTURES
    prompts_per_batch = 32

    def __init__(
        self,
        name: str,
        client: Client,
        *,
        generates: bool = False,
    ) -> None:
        ServerModel.__init__(self, name, client, generates=generates)
        self._top = 0
        self._logprobs = self._reports_logprobs()
        self.scope = "reply" if self._logprobs else "choice"
        self.only_chooses = not self._logprobs
        self.fingerprint = text_digest(f"{client.base} {client.model} vision {self.scope}")

    def through_chat(self, system: str | None = None) -> VisionServer:
        """The same server, which is asked nothing but chats, with a system text."""
        chatting = copy.copy(self)
        chatting.system = system
        chatting.chat = system_digest(system)
        return chatting

    def _reports_logprobs(self) -> bool:
        trial = [{"role": "user", "content": [{"type": "text", "text": "Say yes or no."}]}]
        try:
            reply = self._client.post(
                self.endpoint, self._body(trial, logprobs=True), read=positions
            )
        except RefusedError:
            return False
        return bool(_alternatives(reply))

    def _scores(self, prompt: Prompt) -> Scores:
        return choice_scores(prompt, self._logps(prompt))

    def _logps(self, prompt: Prompt) -> list[float]:
        """Log-probability of every option as the reply's beginning; without log-probabilities, the
        one choice."""
        options = prompt.options
        how = f"Answer with one word: {' or '.join(options)}."
        if prompt.instructions != ENGLISH:
            how = prompt.instructions.name_options(options)
        messages = self._conversation(prompt, f" {how}")
        body = self._body(messages, logprobs=self._logprobs)
        if self._logprobs:
            tokens = self._client.post(self.endpoint, body, reuse=True, read=required_positions)
            return reply_scores(_alternatives(tokens), options)
        reply = self._client.post(self.endpoint, body, reuse=True, read=self._read_reply)
        text = reply.text.lower()
        choices = [option for option in options if text.startswith(option.lower())]
        # a reply that begins like two options chooses neither
        if len(choices) != 1:
            return [NO_ANSWER] * len(options)
        return [0.0 if option == choices[0] else REFUSED for option in options]

    def _conversation(self, prompt: Prompt, hint: str = "") -> list[Message]:
        """The conversation with its pictures; every question ends with the hint."""

        def turn(text: str, picture: str | None) -> list[Message]:
            parts: list[Message] = []
            if picture is not None:
                url = data_url(picture, self.name)
                parts.append({"type": "image_url", "image_url": {"url": url}})
            parts.append({"type": "text", "text": f"{question(text)}{hint}"})
            return parts

        return conversation(prompt, self.system, turn)

    def _body(self, messages: list[Message], *, logprobs: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": messages, "temperature": 0}
        if logprobs:
            # the alternatives to the first token are all that is read
            body |= {
                "max_tokens": 1,
                "logprobs": True,
                "top_logprobs": TOP,
            }
        else:
            body["max_tokens"] = REPLY
        return body


def reply_scores(likely: dict[str, float], options: Sequence[str]) -> list[float]:
    """Return the mass of the tokens that begin each option and no other; the lowest reported for an
    option without any.

    >>> likely = {"Yes": -0.5, " yes": -1.5, "No": -2.0, "A": -3.0}
    >>> [round(logp, 3) for logp in reply_scores(likely, ("yes", "no"))]
    [-0.187, -2.0]
    """
    option_logps: list[list[float]] = [[] for _ in options]
    is_answer = False
    for token, logp in likely.items():
        word = token.strip().lower()
        fits = [i for i, option in enumerate(options) if word and option.lower().startswith(word)]
        if len(fits) == 1:
            option_logps[fits[0]].append(logp)
        is_answer = is_answer or bool(fits)
    # where no token begins any option, the server answered something else
    if not is_answer:
        return [NO_ANSWER] * len(options)
    floor = min(likely.values())
    return [_log_sum(logps) if logps else floor for logps in option_logps]


def _log_sum(logps: Sequence[float]) -> float:
    """Return log Σ exp, with the largest taken out so that no exponential underflows to 0."""
    top = max(logps)
    return top + math.log(sum(math.exp(logp - top) for logp in logps))


def data_url(path: str | None, name: str) -> str:
    """The picture as a PNG in a data URL."""
    picture = open_picture(path, name)
    picture.thumbnail((LARGEST, LARGEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _alternatives(reply: Sequence[ReplyToken]) -> dict[str, float]:
    """The likeliest first tokens of the reply; none where the server reports none."""
    return reply[0].likely if reply else {}
