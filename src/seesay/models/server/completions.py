"""Servers with `/v1/completions` and log-probabilities: causal models behind an HTTP interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seesay.digests import json_digest
from seesay.models.base import Model
from seesay.models.server.base import ServerModel
from seesay.models.server.chat import ChatServer
from seesay.models.server.client import Client
from seesay.models.server.logprobs import completed_text
from seesay.models.server.scoring import TRIALS, Scorer, choose_scorer, greedy_request
from seesay.questions import Prompt, Scores, resolve_separator

BEGINNING = "\n"  # a server needs a context: an option that opens its sentence opens a line


class CompletionsServer(ServerModel):
    """Scope `sentence` scores the option and what follows it, `option` the option alone."""

    endpoint = family = "completions"

    def __init__(
        self,
        name: str,
        client: Client,
        scope: str = "option",
        *,
        generates: bool = False,
    ) -> None:
        super().__init__(name, client, generates=generates)
        self.scope = scope
        if generates:
            self._scorer = Scorer(client)
            scoring = "Free"
        else:
            self._scorer = choose_scorer(client, self.note)
            scoring = self._scorer.key
        if not generates and scope == "sentence" and not self._scorer.whole_texts:
            self.note(
                f"{client.base} cannot score a given text at once: every token after the slot "
                "costs a request for each option. --scope option needs about one request per "
                "prompt."
            )

        def complete(text: str) -> str:
            return completed_text(client.post("completions", greedy_request(text)))

        # The weights behind an address cannot be seen: what they write after a few texts tells
        # most models apart that are served under one name.
        completions = client.parallel(complete, TRIALS)
        self.fingerprint = json_digest([client.base, client.model, scoring, completions])

    def through_chat(self, system: str | None = None) -> Model:
        """The same server at its chat endpoint."""
        return ChatServer(
            self.name, self._client, system=system, scored=True, generates=self._generates
        )

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        """What the model writes in the slot is read up to the end of the line."""
        text = resolve_separator(prompt.parts[0], None).rstrip(" ")
        return {"prompt": text or BEGINNING, "stop": ["\n"]}

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """One request per option where the server scores given texts, else about one per prompt."""
        texts: list[str] = []
        for prompt in prompts:
            requests = len(prompt.options) if self._scorer.whole_texts else 1
            texts += [prompt.text] * requests
        return self._client.spending.estimate(texts, max_tokens or 1)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability and length of every option."""
        rows = [self._split(prompt) for prompt in prompts]
        pairs = [(context, target) for context, targets in rows for target in targets]
        scores = self._scorer.score(pairs)
        results = []
        for context, targets in rows:
            options = [scores[context, target] for target in targets]
            results.append(
                Scores(
                    logp=tuple(logp for logp, _ in options),
                    tokens=tuple(tokens for _, tokens in options),
                    chars=tuple(len(target.lstrip(" ")) for target in targets),
                )
            )
        return results

    def _split(self, prompt: Prompt) -> tuple[str, list[str]]:
        """Return the context, and each option with the space before it (and what follows), as
        tokenizers split texts."""
        before, after = (resolve_separator(part, None) for part in prompt.parts)
        context = before.rstrip(" ")
        space = before[len(context) :] if context else ""
        rest = after if self.scope == "sentence" else ""
        return context or BEGINNING, [f"{space}{option}{rest}" for option in prompt.options]
