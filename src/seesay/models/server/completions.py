"""Servers with `/v1/completions` and log-probabilities: causal models behind an HTTP interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seesay.digests import json_digest
from seesay.models.base import Model, scored_rest, without_bars
from seesay.models.server.base import ServerModel
from seesay.models.server.chat import ChatServer
from seesay.models.server.client import Client
from seesay.models.server.logprobs import completed_text
from seesay.models.server.scoring import TRIALS, Pair, Scorer, choose_scorer, greedy_request
from seesay.models.server.spending import estimated_tokens
from seesay.questions import Prompt, Scores, resolve_separator

LINE = "\n"
"""The context of an option that opens its text, on a server that does not tell how texts begin."""


COUNTED = 256
"""Prompts whose requests are counted one by one where the server's tokenizer is needed for it; the
others are taken to be like them."""


class CompletionsServer(ServerModel):
    """Scope `sentence` scores the option and what follows it, `option` the option alone, `rest`
    what follows it alone."""

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
        self._beginning: str | None = None
        if generates:
            self._scorer = Scorer(client)
            scoring = "Free"
        else:
            self._scorer = choose_scorer(client, self.note)
            self._beginning = self._scorer.find_beginning()
            scoring = self._scorer.key
        if not generates and scope == "sentence" and not self._scorer.whole_texts:
            self.note(
                f"{client.base} cannot score a given text at once: every token after the slot "
                "costs a request for each option. --scope option needs about one request per "
                "prompt."
            )

        def complete(text: str) -> str:
            return client.post("completions", greedy_request(text), read=completed_text)

        # The weights behind an address cannot be seen: what they write after a few texts tells
        # most models apart that are served under one name.
        completions = client.parallel(complete, TRIALS)
        self.beginning = _signed_beginning(self._beginning)
        self.fingerprint = json_digest(
            [client.base, client.model, scoring, self._beginning, completions]
        )

    def through_chat(self, system: str | None = None) -> Model:
        """The same server at its chat endpoint."""
        return ChatServer(
            self.name, self._client, system=system, scored=True, generates=self._generates
        )

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        """What the model writes in the slot is read up to the end of the line."""
        text = resolve_separator(prompt.parts[0], None).rstrip(" ")
        return {"prompt": text or LINE, "stop": ["\n"]}

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """By the way that texts are scored; where counting takes the server, by what the first
        prompts need, and of many in proportion."""
        spending = self._client.spending
        if self._generates:
            read = estimated_tokens(prompt.text for prompt in prompts)
            return spending.estimate(len(prompts), read, max_tokens or 1)
        reads: list[int] = []
        counted = 0
        for indices in self.plan(prompts):
            # a batch at a time, as they are asked: what occurs twice in one is asked once
            if counted >= COUNTED and not self._scorer.counts_alone:
                break
            rows = [self._split(prompts[i]) for i in indices]
            reads += self._scorer.count_reads(_pairs(rows))
            counted += len(indices)
        share = len(prompts) / counted if counted else 0
        more = self._scorer.more_requests
        if counted < len(prompts):
            more = f", counted for {counted:,} of {len(prompts):,} prompts{more}"
        return spending.estimate(
            round(len(reads) * share),
            round(sum(reads) * share),
            1,
            more=more,
        )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability and length of every option."""
        rows = [self._split(prompt) for prompt in prompts]
        scores = self._scorer.score(_pairs(rows))
        results = []
        for row in rows:
            options = [scores[pair] for pair in row]
            results.append(
                Scores(
                    logp=tuple(logp for logp, _ in options),
                    tokens=tuple(tokens for _, tokens in options),
                    chars=tuple(len(target.lstrip(" ")) for _, target in row),
                )
            )
        return results

    def _split(self, prompt: Prompt) -> list[Pair]:
        """Return the context of each option, and the option with the space before it (and what
        follows), as tokenizers split texts."""
        before, after = (resolve_separator(part, None) for part in prompt.parts)
        context = before.rstrip(" ")
        space = before[len(context) :] if context else ""
        ending = after if self.scope == "sentence" else ""
        if not context:
            context = self._open_text()
        if self.scope == "rest":
            rest = scored_rest(prompt)
            return [(f"{context}{space}{option}", rest) for option in prompt.options]
        return [(context, f"{space}{option}{ending}") for option in prompt.options]

    def _open_text(self) -> str:
        """Return the context of an option that opens its text: what local models score it after,
        where that is known."""
        if self._beginning is not None:
            return self._beginning
        self.note(
            f"{self._client.base} does not tell how its texts begin: options that open their text "
            "were scored after a line break, and by models on this machine they are scored after a "
            "beginning-of-text token. Do not compare the two."
        )
        return LINE

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """What precedes a text."""
        return f"bos:{self.beginning.removeprefix('none/')}"


def _pairs(rows: Iterable[Sequence[Pair]]) -> list[Pair]:
    """Return the contexts and targets of all prompts."""
    return [pair for row in rows for pair in row]


def _signed_beginning(beginning: str | None) -> str:
    """Return what stands before a prompt as signatures name it: a token that the server adds to
    every text, or what a prompt that opens with its slot is put after."""
    if beginning is None:
        return "none/newline"
    if not beginning:
        return "server"
    return f"none/{without_bars(beginning)}"
