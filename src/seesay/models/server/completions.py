"""Servers with `/v1/completions` and log-probabilities: causal models at the other end of a wire."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from seesay.models.base import Model
from seesay.models.hf.tokenization import resolve_separator
from seesay.models.server.client import Client
from seesay.models.server.logprobs import text_of
from seesay.models.server.scoring import TRIALS, Echo, greedy, scorer_for
from seesay.questions import Prompt, Scores

BEGINNING = "\n"  # a server needs something to go on from: an option that opens its sentence opens a line


class Completions(Model):
    """Scope `sentence` scores the option and what follows it, `option` the option alone."""

    family = "completions"
    prompts_per_batch = 16

    def __init__(self, name: str, client: Client, scope: str = "option") -> None:
        self.name, self.scope = name, scope
        self._scorer = scorer_for(client, self.note)
        if scope == "sentence" and not isinstance(self._scorer, Echo):
            self.note(
                f"{client.base} cannot score a given text at once: every token after the slot costs a request for "
                "each option. --scope option needs about one request per prompt."
            )
        said = client.parallel(lambda trial: text_of(client.post("completions", greedy(trial))), TRIALS)
        seen = json.dumps([client.base, client.model, type(self._scorer).__name__, said])
        self.fingerprint = hashlib.blake2b(seen.encode(), digest_size=8).hexdigest()

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability and length of every option."""
        cut = [self._cut(prompt) for prompt in prompts]
        found = self._scorer.score([(context, target) for context, targets in cut for target in targets])
        return [
            Scores(
                logp=tuple(found[context, target][0] for target in targets),
                tokens=tuple(found[context, target][1] for target in targets),
                chars=tuple(len(target.lstrip(" ")) for target in targets),
            )
            for context, targets in cut
        ]

    def _cut(self, prompt: Prompt) -> tuple[str, list[str]]:
        """What stands before, and each option with the space before it (and what follows), as tokenisers cut."""
        before, after = (resolve_separator(part, None) for part in prompt.parts)
        context = before.rstrip(" ")
        space = before[len(context) :] if context else ""
        rest = after if self.scope == "sentence" else ""
        return context or BEGINNING, [space + option + rest for option in prompt.options]
