"""Three ways to the log-probability of a given text from a server that completes texts, the best that it can do:

- `Echo` (vLLM and others): the server tells the log-probabilities of the prompt's own tokens;
- `Lookup` (llama.cpp): the server spells the text with its own tokeniser, and each token is looked up among the
  likeliest next ones;
- `Walk` (any other): the text is written token by token, always the longest of the likeliest next tokens that fits.

The last two need a request for every distinct beginning: for an option of one token that is one a prompt, and one more
for each further token of each option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from seesay.errors import UserError
from seesay.models.server.client import Client, RefusedError
from seesay.models.server.logprobs import Next, next_tokens, tokens_told

TOPS = (1000, 100, 20, 5)  # how many likeliest tokens to ask for: the most that the server grants
DEEPER = 8  # and this many times as many, again and again, before a token counts as out of reach
MANY = 20  # tokens, among which some begin a word
TRIALS = ("The opposite of up is", "Grass is usually", "Two and two make")

Pair = tuple[str, str]  # what stands before, and what is scored
Scored = tuple[float, int]  # its log-probability, and how many tokens it has


class Scorer(Protocol):
    """One of the ways."""

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, Scored]:
        """Every distinct pair, scored."""


def scorer_for(client: Client, note: Callable[[str], None]) -> Scorer:
    """The best way that the server allows; one clear sentence where there is none."""
    echo = Echo(client)
    if echo.works():
        return echo
    likeliest = Likeliest(client)
    lookup = Lookup(client, likeliest, note)
    return lookup if lookup.works() else Walk(client, likeliest, note)


class Echo:
    """Reads the log-probabilities of the prompt's own tokens."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, Scored]:
        """A text's tokens are those after the ones that it shares with what stands before it.

        They are counted, not measured: some servers tell tokens without their spaces, or a beginning mark with them.
        """
        told = self._client.parallel(self._echo, [text for c, target in pairs for text in (c, c + target)])
        found = {}
        for context, target in pairs:
            (alone, _), (tokens, logps) = told[context], told[context + target]
            first = next((i for i, (a, b) in enumerate(zip(alone, tokens, strict=False)) if a != b), len(alone))
            found[context, target] = math.fsum(logps[first:]), len(logps[first:])
        return found

    def works(self) -> bool:
        """Whether the trial's own tokens come back, with log-probabilities that differ."""
        try:
            tokens, logps = self._echo(TRIALS[0])
        except RefusedError:
            return False
        return len(tokens) >= len(TRIALS[0].split()) and len(set(logps[1:])) > 1

    def _echo(self, text: str) -> tuple[list[str], list[float]]:
        """The tokens of a text and their log-probabilities, 0 for the first, which follows nothing."""
        answer = self._client.post("completions", {**greedy(text), "echo": True, "logprobs": 1})
        tokens, logps = tokens_told(answer)
        usage = answer.get("usage")
        count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        # a token is generated as well, because some servers take a limit of 0 for none
        end = count if isinstance(count, int) and 0 < count <= len(tokens) else len(tokens) - 1
        if any(logp is None for logp in logps[1:end]):
            raise RefusedError(f"{self._client.base} leaves out log-probabilities of tokens in mid-text.")
        return tokens[:end], [0.0 if logp is None else logp for logp in logps[:end]]


class Likeliest:
    """Asks for the likeliest next tokens, as many as the server grants."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.top = self._granted()
        self._grows = self.top == TOPS[0]

    def after(self, prompt: str | tuple[int, ...], enough: Callable[[Next], bool] = lambda _: True) -> Next:
        """What may come next: more and more of it until it is enough, or the server tells no more."""
        top = self.top
        told = self._ask(prompt, top)
        while self._grows and told.count >= top and not enough(told):
            top *= DEEPER
            try:
                told = self._ask(prompt, top)
            except RefusedError:
                self._grows = False
        return told

    def _ask(self, prompt: str | tuple[int, ...], top: int) -> Next:
        return next_tokens(self._client.post("completions", {**greedy(prompt), "logprobs": top}))

    def _granted(self) -> int:
        """The most that the server tells; refuses one whose log-probabilities say nothing."""
        base = self._client.base
        for top in TOPS:
            try:
                told = self._ask(TRIALS[0], top).texts
            except RefusedError:
                continue
            if len(told) < 2:
                raise UserError(
                    f"{base} returns no log-probabilities: options cannot be scored. Start the server with them, see "
                    "that its address ends in /v1, or use --endpoint chat."
                )
            if max(told.values()) - min(told.values()) < 1e-6:
                raise UserError(f"{base} returns the same log-probability for every token: they say nothing.")
            if len(told) >= MANY and not any(token.startswith(" ") for token in told):
                raise UserError(f"{base} tells its tokens without their spaces: options cannot be found among them.")
            return top
        raise UserError(f"{base} refuses every request with log-probabilities: use --endpoint chat.")


class Lookup:
    """Spells texts with the server's own tokeniser, and looks each token up among the likeliest next ones."""

    def __init__(self, client: Client, likeliest: Likeliest, note: Callable[[str], None]) -> None:
        self._client, self._likeliest, self._note = client, likeliest, note

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, Scored]:
        """Every beginning is asked about once, for all the tokens that may follow it."""
        spelt = self._client.parallel(self._spell, pairs)
        wanted: dict[tuple[int, ...], set[int]] = {}
        for ids, start in spelt.values():
            for i in range(start, len(ids)):
                wanted.setdefault(ids[:i], set()).add(ids[i])
        told = self._client.parallel(
            lambda beginning: self._likeliest.after(beginning, lambda table: wanted[beginning] <= table.ids.keys()),
            wanted,
        )
        missing = {(b, token) for b, tokens in wanted.items() for token in tokens if token not in told[b].ids}
        found = {}
        astray = 0
        for pair, (ids, start) in spelt.items():
            steps = [(ids[:i], ids[i]) for i in range(start, len(ids))]
            astray += any(step in missing for step in steps)
            found[pair] = math.fsum(told[b].ids.get(token, told[b].least) for b, token in steps), len(steps)
        _admit(astray, len(found), self._note)
        return found

    def works(self) -> bool:
        """Whether the server spells texts, and goes on from tokens as it does from their text."""
        trial = TRIALS[0]
        try:
            ids, start = self._spell((trial, " down"))
            told = self._likeliest.after(ids[:start])
        except UserError:
            return False
        text = self._likeliest.after(trial)
        return bool(told.ids) and max(told.ids, key=told.ids.__getitem__) == max(text.ids, key=text.ids.__getitem__)

    def _spell(self, pair: Pair) -> tuple[tuple[int, ...], int]:
        """The tokens of both texts together, and the first that covers any of the second."""
        context, target = pair
        answer = self._client.beside(
            "tokenize", {"content": context + target, "add_special": True, "with_pieces": True}
        )
        try:
            ids = tuple(int(token["id"]) for token in answer["tokens"])
            pieces = [_bytes(token["piece"]) for token in answer["tokens"]]
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{self._client.base} does not tell how it spells a text.") from error
        whole = b"".join(pieces)
        if not whole.endswith((context + target).encode()):
            raise UserError(f"{self._client.base} spells {context + target!r} as another text.")
        edge = len(whole) - len(target.encode())
        end = 0
        for start, piece in enumerate(pieces):
            end += len(piece)
            if end > edge:
                return ids, start
        raise UserError(f"{self._client.base} spells {target!r} with no token at all.")


class Walk:
    """Writes texts with the likeliest next tokens, always the longest that fits, as a tokeniser mostly would."""

    def __init__(self, client: Client, likeliest: Likeliest, note: Callable[[str], None]) -> None:
        self._client, self._likeliest, self._note = client, likeliest, note

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, Scored]:
        """All texts a token further, until all are written."""
        scored: dict[Pair, Scored] = dict.fromkeys(pairs, (0.0, 0))
        written = dict.fromkeys(pairs, 0)
        astray = 0
        while unfinished := [pair for pair in scored if written[pair] < len(pair[1])]:
            open_texts = {pair: (pair[0] + pair[1][: written[pair]], pair[1][written[pair] :]) for pair in unfinished}
            tables = self._after(open_texts.values())
            for pair, (text, left) in open_texts.items():
                logp, count = scored[pair]
                table = tables[text]
                token = _longest(table, left)
                astray += token is None
                scored[pair] = logp + (table.least if token is None else table.texts[token]), count + 1
                written[pair] += len(left if token is None else token)
        _admit(astray, len(scored), self._note)
        return scored

    def _after(self, open_texts: Iterable[Pair]) -> dict[str, Next]:
        """What may follow each text, deep enough for what is left to write after it."""
        left: dict[str, list[str]] = {}
        for text, rest in open_texts:
            left.setdefault(text, []).append(rest)
        return self._client.parallel(
            lambda text: self._likeliest.after(text, lambda table: all(_fits(table, rest) for rest in left[text])), left
        )


def greedy(prompt: str | tuple[int, ...]) -> dict[str, Any]:
    """The request that all others are made of: one token more, the likeliest."""
    return {"prompt": prompt, "max_tokens": 1, "temperature": 0}


def _admit(astray: int, total: int, note: Callable[[str], None]) -> None:
    """Say how many options were out of reach; refuse where that is most of them."""
    if 2 * astray > total:
        raise UserError(
            f"{astray} of {total} options are not among the likeliest tokens that the server tells: they cannot be "
            "scored. Let it tell more (vLLM: --max-logprobs), or use --endpoint chat."
        )
    if astray:
        note(
            f"{astray} of {total} options were not among the likeliest tokens that the server reports; they were given "
            "the lowest log-probability it reported, which is too high."
        )


def _longest(table: Next, left: str) -> str | None:
    return max((token for token in table.texts if token and left.startswith(token)), key=len, default=None)


def _fits(table: Next, left: str) -> bool:
    """Whether a token fits that ends where a word does: further down there might be a longer one."""
    token = _longest(table, left)
    return token is not None and not left[len(token) :][:1].isalnum()


def _bytes(piece: str | list[int]) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)
