"""Chat servers give no log-probability of a given text. They are asked in one of two ways, and the
figures say which:

- by default the model makes one choice among the options, to which a JSON schema or, where the
  server heeds none, a regular expression holds it (`scope: choice`);
- with `--chat`, the likeliest alternatives to the reply's first tokens give a distribution over the
  options (`scope: reply`), where the server reports them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from seesay.answers import NO_ANSWER
from seesay.digests import json_digest, text_digest
from seesay.errors import UserError
from seesay.models.base import Model, choice_scores
from seesay.models.chat import Message, conversation, refuse_bare_slot
from seesay.models.multiple_choice import BLANK
from seesay.models.server.base import ServerModel
from seesay.models.server.client import Client, RefusedError
from seesay.models.server.constraints import FORMS, reply_text
from seesay.models.server.replies import (
    STEPS,
    TOPS,
    ReplyToken,
    positions,
    required_positions,
    score_reply,
)
from seesay.models.server.spending import estimated_tokens
from seesay.questions import ENGLISH, SLOT, Prompt, Scores, resolve_separator

# What a choice leaves for the options not taken: something, so that no score is minus infinity.
REFUSED = math.log(1e-6)
ESTIMATED_REPLY = 16  # tokens
_TRIAL_REQUEST = "Say yes or no."
TRIAL = ("down", "left")  # the only replies to "Say hello." of a server that can be held to options


def system_digest(system: str | None) -> str:
    """Of what the user adds to a conversation; the server's own template is not known."""
    return json_digest(["server", system], 4)


def hidden_note(answered: Sequence[Scores]) -> list[str]:
    """Say how much probability was out of reach, and how often that could have changed the
    answer."""
    shares: list[float] = []
    undecided = 0
    for scores in answered:
        if scores.hidden is not None:
            shares.append(scores.hidden)
            # all of it may belong to one other option
            undecided += scores.hidden > math.exp(max(scores.logp))
    if not shares:
        return []
    mean = sum(shares) / len(shares)
    return [
        f"The server reports the likeliest tokens only: on average {mean:.1%} of the probability "
        f"(at most {max(shares):.1%}) was out of reach; in {undecided:,} of {len(shares):,} "
        "prompts that is more than the best option has."
    ]


class ChatServer(ServerModel):
    """`/v1/chat/completions`."""

    endpoint = "chat/completions"
    family = "chat"
    scope = "choice"
    only_chooses = True
    _added_tokens = 0
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
        self.system = system
        self._top = self._count_reported() if scored and not generates else 0
        identity = f"{client.base} {client.model} chat"
        if scored or system is not None:
            self.chat = system_digest(system)
            identity += f" {self.chat}"
        if self._top:
            self.scope = "reply"
            self.only_chooses = False
            identity += f" reply {self._top}"
        if not generates and not self._top:
            self._form = self._find_constraint(scored)
            if self._form != "json_schema":
                identity += f" {self._form}"
        self.fingerprint = text_digest(identity)
        # what the server's chat template adds to every request, as the trial shows
        spending = client.spending
        trial_tokens = estimated_tokens([_TRIAL_REQUEST])
        self._added_tokens = max(0, round(spending.read / max(1, spending.requests)) - trial_tokens)

    def through_chat(self, system: str | None = None) -> Model:
        """The same server by its log-probabilities, where it reports them."""
        return ChatServer(
            self.name, self._client, system=system, scored=True, generates=self._generates
        )

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        return {"messages": self._conversation(prompt)}

    def _conversation(self, prompt: Prompt) -> list[Message]:
        """The conversation of which a free answer is the next turn."""
        return conversation(prompt, self.system)

    def _options_conversation(self, prompt: Prompt) -> list[Message]:
        """The conversation in which every question names its options."""
        return conversation(prompt, self.system, lambda text, _: self._request(text, prompt))

    def _count_reported(self) -> int:
        """Return how many likeliest tokens the server reports; 0 where it reports none."""
        messages = [{"role": "user", "content": _TRIAL_REQUEST}]
        for top in TOPS:
            try:
                reply = self._post(messages, top, positions)
            except RefusedError:
                continue
            # some servers fill the field with one constant
            if reply and len(set(reply[0].likely.values())) > 1:
                return top
        return 0

    def _find_constraint(self, scored: bool) -> str:
        """Return the form of a constraint that the server heeds, which is found out by trial: many
        servers take one and ignore it."""
        messages = [{"role": "user", "content": "Say hello."}]
        refusals: list[RefusedError] = []
        for name, form in FORMS.items():
            body = {
                "messages": messages,
                "temperature": 0,
                **form(TRIAL),
            }
            try:
                content = self._write(body)
            except RefusedError as error:
                refusals.append(error)
                continue
            if reply_text(content, TRIAL) in TRIAL:
                return name
        # a server that refuses them all refuses for another reason, which it says
        if len(refusals) == len(FORMS):
            raise refusals[0]
        reported = "reports no log-probabilities and " if scored else ""
        raise UserError(
            f"{self._client.base} {reported}does not restrict its answers to the given options "
            "(response_format json_schema, regex): its choices cannot be scored. Ask for free "
            "answers: --how generate."
        )

    def _post(
        self,
        messages: Sequence[Message],
        top: int,
        read: Callable[[dict[str, Any]], list[ReplyToken]],
        *,
        reuse: bool = False,
    ) -> list[ReplyToken]:
        """Return the reply's tokens, each with its likeliest alternatives."""
        body: dict[str, Any] = {"messages": messages, "temperature": 0}
        body |= {
            "logprobs": True,
            "top_logprobs": top,
            "max_tokens": STEPS,
        }
        return self._client.post(self.endpoint, body, reuse=reuse, read=read)

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """One reply per prompt, a short one unless answers are free."""
        texts = [self._request(prompt.text, prompt) for prompt in prompts]
        added_tokens = self._added_tokens + (estimated_tokens([self.system]) if self.system else 0)
        tokens_read = estimated_tokens(texts) + len(texts) * added_tokens
        return self._client.spending.estimate(
            len(texts), tokens_read, max_tokens or ESTIMATED_REPLY
        )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The distribution over the options; of a choice, everything on the option chosen."""
        scores = self._client.parallel(self._scores, prompts)
        return [scores[prompt] for prompt in prompts]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """How many choices were none of the options, or what was out of reach."""
        notes = super().notes(answered)
        if self._top or self._generates:
            return [*notes, *hidden_note(answered)]
        astray = sum(set(scores.logp) == {NO_ANSWER} for scores in answered)
        if astray:
            notes.append(
                f"{astray:,} of {len(answered):,} answers were none of the options and count as "
                "wrong."
            )
        return notes

    def _scores(self, prompt: Prompt) -> Scores:
        if self._top:
            messages = self._options_conversation(prompt)
            tokens = self._post(messages, self._top, required_positions, reuse=True)
            reply = score_reply(tokens, prompt.options)
            return replace(choice_scores(prompt, reply.logp), hidden=reply.hidden)
        return choice_scores(prompt, _choice_logps(self._choose(prompt), prompt.options))

    def _request(self, text: str, prompt: Prompt) -> str:
        refuse_bare_slot(text.replace(SLOT, ""))
        text = resolve_separator(text, None).replace(SLOT, BLANK)
        listed = ", ".join(prompt.options)
        how = f"Which of these fills the blank? Answer with one of them: {listed}."
        if prompt.instructions != ENGLISH:
            how = prompt.instructions.name_options(prompt.options)
        return f"{text}\n\n{how}"

    def _choose(self, prompt: Prompt) -> str:
        messages = self._options_conversation(prompt)
        for message in messages:
            # examples answer in the same form
            if message["role"] == "assistant" and self._form == "json_schema":
                message["content"] = json.dumps({"answer": message["content"]})
        body = {
            "messages": messages,
            "temperature": 0,
            **FORMS[self._form](prompt.options),
        }
        return reply_text(self._write(body, reuse=True), prompt.options)

    def _write(self, body: dict[str, Any], *, reuse: bool = False) -> str:
        return self._client.post(self.endpoint, body, reuse=reuse, read=self._read_reply).text


def _choice_logps(choice: str, options: Sequence[str]) -> list[float]:
    """Return the log-probabilities of a choice; one that is none of the options is no answer."""
    if choice not in options:
        return [NO_ANSWER] * len(options)
    return [0.0 if option == choice else REFUSED for option in options]
