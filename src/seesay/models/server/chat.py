"""Chat servers give no log-probability of a given text: the model makes one constrained choice among the options.

The figures say so (`family: chat`, `scope: choice`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model, choice_scores
from seesay.models.hf.tokenization import resolve_separator
from seesay.models.server.client import Client
from seesay.questions import SLOT, Prompt, Scores

REFUSED = math.log(1e-6)  # what a choice leaves for the options not taken
TRIAL = Prompt(f"The opposite of up is {SLOT}.", ("down", "left"))


class ChatServer(Model):
    """`/v1/chat/completions`, constrained to the options by a JSON schema."""

    family = "chat"
    scope = "choice"
    only_chooses = True
    prompts_per_batch = 16
    probabilities_hint = "use its completions endpoint (--endpoint completions)"

    def __init__(self, name: str, client: Client) -> None:
        self.name, self._client = name, client
        self.fingerprint = hashlib.blake2b(f"{client.base} {client.model} chat".encode(), digest_size=8).hexdigest()
        if self._choose(TRIAL) not in TRIAL.options:
            raise UserError(
                f"{client.base} does not restrict its answers to the given options (response_format json_schema): "
                "its choices cannot be scored."
            )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Everything on the option chosen; an answer that is no option leaves them all alike."""
        logps = self._client.parallel(self._logps, prompts)
        return [choice_scores(prompt, logps[prompt]) for prompt in prompts]

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """How many answers were none of the options: those give all options the same score."""
        astray = sum(len(scores.logp) > 1 and len(set(scores.logp)) == 1 for scores in answered)
        note = f"{astray:,} of {len(answered):,} answers were none of the options and count as no answer."
        return [*super().notes(), note] if astray else super().notes()

    def _logps(self, prompt: Prompt) -> list[float]:
        choice = self._choose(prompt)
        return [0.0 if option == choice else REFUSED for option in prompt.options]

    def _choose(self, prompt: Prompt) -> str:
        text = resolve_separator(prompt.text, None).replace(SLOT, "___")
        request = f"{text}\n\nWhich of these fills the blank? Answer with one of them: {', '.join(prompt.options)}."
        schema = {  # an object at the root: OpenAI takes nothing else there
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": list(dict.fromkeys(prompt.options))}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        body = {
            "messages": [{"role": "user", "content": request}],
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "choice", "strict": True, "schema": schema},
            },
        }
        content = self._message(self._client.post("chat/completions", body))
        try:
            reply: Any = json.loads(content)
        except json.JSONDecodeError:
            return content.strip()
        return str(reply.get("answer", "")) if isinstance(reply, dict) else str(reply)

    def _message(self, answer: dict[str, Any]) -> str:
        """The text of a chat server's answer."""
        try:
            return str(answer["choices"][0]["message"]["content"] or "")
        except (KeyError, IndexError, TypeError) as error:
            raise UserError(f"{self._client.base} answered without a message: is it a chat server?") from error
