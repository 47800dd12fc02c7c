"""What servers have in common: free answers, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from seesay.models.base import GREEDY, Model, Reply, Sampling
from seesay.models.server.client import Client, RefusedError
from seesay.models.server.replies import reply_of
from seesay.questions import Prompt


class ServerModel(Model):
    """A model behind a server's endpoint. One that `generates` is asked for free answers only."""

    endpoint: ClassVar[str]
    """Where it is asked, below the server's address."""

    prompts_per_batch = 16

    def __init__(
        self,
        name: str,
        client: Client,
        *,
        generates: bool = False,
    ) -> None:
        self.name = name
        self._client = client
        self._generates = generates

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the server writes, without what it reports as reasoning: one request for each
        sample, since few servers heed a number of them."""
        settings: dict[str, Any] = {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
        }
        samples = range(sampling.samples)

        def request(item: tuple[Prompt, int]) -> Reply:
            prompt, sample = item
            body = self._request_body(prompt)
            # a seed of its own: samples of one prompt and one seed would be one reply
            if sampling.temperature:
                body["seed"] = sampling.seed + sample
            return self._request_reply(body, settings)

        items = [(prompt, sample) for prompt in prompts for sample in samples]
        replies = self._client.parallel(request, items)
        return [tuple(replies[prompt, i] for i in samples) for prompt in prompts]

    def _request_reply(self, body: dict[str, Any], settings: dict[str, Any]) -> Reply:
        """Return a reply; settings that the server refuses are changed for all further requests."""
        while True:
            # other threads change the settings too: this request's refusal is about its own copy
            used = dict(settings)
            try:
                return self._client.post(
                    self.endpoint, {**body, **used}, reuse=True, read=self._read_reply
                )
            except RefusedError as error:
                if not self._adapt(settings, used, str(error)):
                    raise

    def _read_reply(self, answer: dict[str, Any]) -> Reply:
        return reply_of(answer, self._client.base)

    def spent(self) -> dict[str, float]:
        """What the server reports of all requests so far."""
        return self._client.spending.counts()

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        """Return the part of a request for a free answer that says what is asked."""
        raise NotImplementedError

    def _adapt(
        self,
        settings: dict[str, Any],
        used: dict[str, Any],
        reason: str,
    ) -> bool:
        """Leave out or rename what the server refuses, as models that reason do; whether there was
        anything to change."""
        if "max_completion_tokens" in reason and "max_tokens" in used:
            settings["max_completion_tokens"] = settings.pop("max_tokens", used["max_tokens"])
            return True
        if "temperature" in reason and "temperature" in used:
            settings.pop("temperature", None)
            self.note(
                "The server takes no temperature: its answers were sampled as it does by default."
            )
            return True
        return False
