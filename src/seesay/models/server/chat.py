"""Chat servers give no log-probability of a given text. They are asked in one of two ways, and the
figures say which:

- by default the model makes one choice among the options, to which a JSON schema or, where the server heeds none, a
  regular expression holds it (`scope: choice`);
- with `--chat`, the likeliest alternatives to the reply's first tokens give a distribution over the options
  (`scope: reply`), where the server reports them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from seesay.answers import NO_ANSWER
from seesay.digests import json_digest, text_digest
from seesay.errors import UserError
from seesay.models.base import Model, choice_scores
from seesay.models.chat import Message, conversation
from seesay.models.multiple_choice import BLANK
from seesay.models.server.base import ServerModel
from seesay.models.server.client import Client, RefusedError
from seesay.models.server.constraints import FORMS, reply_text
from seesay.models.server.replies import STEPS, TOPS, positions, reply_of, score_reply
from seesay.questions import SLOT, Prompt, Scores, resolve_separator

REFUSED = math.log(1e-6)  # what a choice leaves for the options not taken
ESTIMATED_REPLY = 16  # tokens
TRIAL = ("down", "left")  # the only replies to "Say hello." of a server that can be held to options


def system_digest(system: str | None) -> str:
    """Of what the user adds to a conversation; the server's own template is not known."""
    return json_digest(["server", system], 4)


def hidden_note(answered: Sequence[Scores]) -> list[str]:
    """How much probability was out of reach, and how often that could have changed the answer."""
    hidden = [(s.hidden, math.exp(max(s.logp))) for s in answered if s.hidden is not None]
    if not hidden:
        return []
    undecided = sum(share > best for share, best in hidden)
    return [
        "The server reports the likeliest tokens only: on average "
        f"{sum(h for h, _ in hidden) / len(hidden):.1%} of "
        f"the probability (at most {max(hidden)[0]:.1%}) was out of reach; in {undecided:,} of "
        f"{len(hidden):,} prompts "
        "that is more than the best option has."
    ]


class ChatServer(ServerModel):
    """`/v1/chat/completions`."""

    endpoint = "chat/completions"
    family = "chat"
    scope = "choice"
    only_chooses = True
    probabilities_hint = (
        "use its completions endpoint (--endpoint completions), or --chat for its log-probabilities"
    )

    def __init__(
        self,
        name: str,
        client: Client,
        *,
        system: str | None = None,
        scored: bool = False,
        generates: bool = False,
    ) -> None:
        super().__init__(name, client, generates=generates)
        self._system = system
        self._top = self._granted() if scored and not generates else 0
        identity = f"{client.base} {client.model} chat"
        if scored or system is not None:
            self.chat = system_digest(system)
            identity += f" {self.chat}"
        if self._top:
            self.scope = "reply"
            self.only_chooses = False
            identity += f" reply {self._top}"
        if not generates and not self._top:
            self._form = self._heeded(scored)
            identity += "" if self._form == "json_schema" else f" {self._form}"
        self.fingerprint = text_digest(identity)

    def through_chat(self, system: str | None = None) -> Model:
        """The same server by its log-probabilities, where it reports them."""
        return ChatServer(
            self.name, self._client, system=system, scored=True, generates=self._generates
        )

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        return {"messages": self._conversation(prompt)}

    def _conversation(self, prompt: Prompt) -> list[Message]:
        """The conversation of which a free answer is the next turn."""
        return conversation(prompt, self._system)

    def _options_conversation(self, prompt: Prompt) -> list[Message]:
        """The conversation in which every question names its options."""
        return conversation(
            prompt, self._system, lambda text, _: self._request(text, prompt.options)
        )

    def _granted(self) -> int:
        """How many likeliest tokens the server reports; 0 where it reports none."""
        for top in TOPS:
            try:
                reply = positions(self._post([{"role": "user", "content": "Say yes or no."}], top))
            except RefusedError:
                continue
            if reply and len(set(reply[0].likely.values())) > 1:
                return top
        return 0

    def _heeded(self, scored: bool) -> str:
        """The form of a constraint that the server heeds."""
        refusals: list[RefusedError] = []
        for name, form in FORMS.items():
            body = {
                "messages": [{"role": "user", "content": "Say hello."}],
                "temperature": 0,
                **form(TRIAL),
            }
            try:
                content = self._write(body)
            except RefusedError as error:
                refusals.append(error)
            else:
                if reply_text(content, TRIAL) in TRIAL:
                    return name
        if len(refusals) == len(FORMS):
            raise refusals[0]
        reported = "reports no log-probabilities and " if scored else ""
        raise UserError(
            f"{self._client.base} {reported}does not restrict its answers to the given options "
            "(response_format "
            "json_schema, regex): its choices cannot be scored. Ask for free answers: --how "
            "generate."
        )

    def _post(
        self, messages: Sequence[Message], top: int, *, reuse: bool = False
    ) -> dict[str, Any]:
        reported = {"logprobs": True, "top_logprobs": top, "max_tokens": STEPS}
        return self._client.post(
            self.endpoint, {"messages": messages, "temperature": 0, **reported}, reuse=reuse
        )

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """One reply per prompt, a short one unless answers are free."""
        requests = [self._request(prompt.text, prompt.options) for prompt in prompts]
        return self._client.spending.estimate(requests, max_tokens or ESTIMATED_REPLY)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The distribution over the options; of a choice, everything on the option chosen."""
        scores = self._client.parallel(self._scores, prompts)
        return [scores[prompt] for prompt in prompts]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """How many choices were none of the options, or what was out of reach."""
        own = super().notes(answered)
        if self._top or self._generates:
            return [*own, *hidden_note(answered)]
        astray = sum(set(scores.logp) == {NO_ANSWER} for scores in answered)
        note = (
            f"{astray:,} of {len(answered):,} answers were none of the options and count as wrong."
        )
        return [*own, note] if astray else own

    def _scores(self, prompt: Prompt) -> Scores:
        if self._top:
            answer = self._post(self._options_conversation(prompt), self._top, reuse=True)
            reply = score_reply(positions(answer), prompt.options)
            return replace(choice_scores(prompt, reply.logp), hidden=reply.hidden)
        choice = self._choose(prompt)
        rest = REFUSED if choice in prompt.options else NO_ANSWER
        return choice_scores(
            prompt, [0.0 if option == choice else rest for option in prompt.options]
        )

    def _request(self, text: str, options: Sequence[str]) -> str:
        text = resolve_separator(text, None).replace(SLOT, BLANK)
        return f"{text}\n\nWhich of these fills the blank? Answer with one of them: {', '.join(options)}."

    def _choose(self, prompt: Prompt) -> str:
        messages = self._options_conversation(prompt)
        for message in messages:
            # examples answer in the same form
            if message["role"] == "assistant" and self._form == "json_schema":
                message["content"] = json.dumps({"answer": message["content"]})
        body = {"messages": messages, "temperature": 0, **FORMS[self._form](prompt.options)}
        return reply_text(self._write(body, reuse=True), prompt.options)

    def _write(self, body: dict[str, Any], *, reuse: bool = False) -> str:
        return reply_of(self._client.post(self.endpoint, body, reuse=reuse), self._client.base).text
