"""Three ways to get the log-probability of a given text from a server that completes texts, best
first:

- `EchoScorer` (vLLM and others): the server reports the log-probabilities of the prompt's own
  tokens;
- `TokenLookupScorer` (llama.cpp): the server tokenizes the text, and each token is looked up among
  the likeliest next ones;
- `PrefixMatchScorer` (any other): the text is written token by token, always the longest of the
  likeliest next tokens that fits.

The last two need one request per distinct beginning: for an option of one token that is one per
prompt, and one more for each further token of each option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from seesay.errors import UserError
from seesay.models.base import SEPARATOR
from seesay.models.server.client import Client, IncompleteAnswerError, RefusedError
from seesay.models.server.logprobs import NextTokens, covers, next_tokens, prompt_tokens
from seesay.models.server.spending import estimated_tokens

TOPS = (1000, 100, 20, 5)  # how many likeliest tokens to ask for: the most that the server grants
DEEPEST = 4  # requests for one beginning, at most: 512,000 tokens are more than any vocabulary has
DEEPER = 8  # then this many times as many, again and again, before a token counts as out of reach
MANY = 20  # tokens, among which some begin a word
SPACES = " \u2581\u0120"  # also as SentencePiece and GPT-2 spell them
TRIALS = ("The opposite of up is", "Grass is usually", "Two and two make")

WORDS = re.compile(r"\s*(?:\w+|[^\w\s]+)|\s+$")

Ids = tuple[int, ...]
Pair = tuple[str, str]  # a context, and the text after it that is scored
PairScore = tuple[float, int]  # the text's log-probability and number of tokens
Echo = tuple[list[str], list[float | None]]  # the tokens of a text, each with its log-probability
Note = Callable[[str], None]


class Scorer:
    """One of the ways."""

    key: ClassVar[str]
    """Part of the fingerprints of servers: it must not change."""
    whole_texts: ClassVar[bool] = False
    """Whether a text of any length costs one request."""
    counts_alone: ClassVar[bool] = True
    """Whether requests are counted without the server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, PairScore]:
        """The score of every distinct pair."""
        raise NotImplementedError

    def count_reads(self, pairs: Sequence[Pair]) -> list[int]:
        """Return the tokens that each request reads which `score` makes of these pairs, about."""
        raise NotImplementedError

    @property
    def more_requests(self) -> str:
        """What the number of requests may grow to, as the end of a sentence; nothing where it is
        sure."""
        return ""

    def find_beginning(self) -> str | None:
        """Return the context by which a text is scored after a beginning-of-text token, as local
        models score it: nothing where the server adds that token, else the token's text; None
        where it cannot be known."""
        return None


def choose_scorer(client: Client, note: Note) -> Scorer:
    """The best way that the server allows; one clear sentence where there is none."""
    echo = EchoScorer(client)
    if echo.works():
        return echo
    likeliest = LikeliestTokens(client)
    lookup = TokenLookupScorer(client, likeliest, note)
    if lookup.works():
        return lookup
    return PrefixMatchScorer(client, likeliest, note)


class EchoScorer(Scorer):
    """Reads the log-probabilities of the prompt's own tokens."""

    key = "Echo"
    whole_texts = True

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._mark: list[str] = []

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, PairScore]:
        """A text's tokens are those after the ones that it shares with its context.

        They are counted, not measured: some servers report tokens without their spaces, or a
        beginning-of-text token.
        """
        echoed = self._client.parallel(self._echo, _echoed_texts(pairs))
        scores = {}
        for context, target in pairs:
            context_tokens = echoed[context][0] if context else self._mark
            tokens, logps = echoed[context + target]
            # A tokenizer may join the end of the context with the beginning of the target: the
            # score begins at the first token that the two do not share.
            shared = 0
            for before, token in zip(context_tokens, tokens, strict=False):
                if before != token:
                    break
                shared += 1
            # a first token has no log-probability, and 0 would be a probability of 1
            target_logps = [logp for logp in logps[shared:] if logp is not None]
            if not target_logps or len(target_logps) < len(tokens) - shared:
                raise UserError(
                    f"{self._client.base} reports no log-probability for the beginning of "
                    f"{target!r}: it cannot be scored."
                )
            scores[context, target] = math.fsum(target_logps), len(target_logps)
        return scores

    def count_reads(self, pairs: Sequence[Pair]) -> list[int]:
        """One request for each text."""
        return [estimated_tokens([text]) for text in dict.fromkeys(_echoed_texts(pairs))]

    def works(self) -> bool:
        """Whether the trial's own tokens come back, with log-probabilities that differ."""
        try:
            tokens, logps = self._echo(TRIALS[0])
        except RefusedError:
            return False
        first = tokens[0].strip(SPACES) if tokens else ""
        if not first or not TRIALS[0].startswith(first):
            self._mark = tokens[:1]
        return len(tokens) >= len(TRIALS[0].split()) and len(set(logps[1:])) > 1

    def find_beginning(self) -> str | None:
        """A server that echoes a mark before the text adds it to every text."""
        return "" if self._mark else None

    def _echo(self, text: str) -> Echo:
        """The tokens of a text and their log-probabilities; the first, which has no context, has
        none."""
        body = {
            **greedy_request(text),
            "echo": True,
            "logprobs": 1,
        }
        # a server that echoes nothing is found out by the trial; after it, tokens that are missing
        # were lost on the way
        is_trial = text in TRIALS

        def read(answer: dict[str, Any]) -> Echo:
            tokens, logps = self._read_echo(answer, text)
            if not is_trial and not covers(tokens, text):
                raise IncompleteAnswerError("an echo that does not cover the text")
            return tokens, logps

        return self._client.post("completions", body, reuse=not is_trial, read=read)

    def _read_echo(self, answer: dict[str, Any], text: str) -> Echo:
        """Return the text's own tokens, without the one that is generated as well, because some
        servers take a limit of 0 for none."""
        tokens, logps = prompt_tokens(answer)
        end = _prompt_end(tokens, text, answer.get("usage"))
        if any(logp is None for logp in logps[1:end]):
            raise RefusedError(
                f"{self._client.base} leaves out log-probabilities of tokens in mid-text."
            )
        return tokens[:end], logps[:end]


def _echoed_texts(pairs: Iterable[Pair]) -> list[str]:
    """Return the texts whose tokens give the pairs their scores."""
    texts: list[str] = []
    for context, target in pairs:
        # what is echoed of nothing is known, and some servers refuse an empty prompt
        texts += [context, context + target] if context else [target]
    return texts


def _prompt_end(tokens: Sequence[str], text: str, usage: Any) -> int:
    """Return how many of the reported tokens are the prompt's."""
    written = ""
    for i, token in enumerate(tokens):
        written += token
        if written.endswith(text):
            return i + 1
    # tokens that are not spelt as in the text are counted
    count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    # some count tokens that they do not report
    if isinstance(count, int) and 0 < count <= len(tokens):
        return count
    return len(tokens) - 1


class LikeliestTokens:
    """Asks for the likeliest next tokens, as many as the server grants."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._fewest = 0
        self.top = self._count_reported()
        self._grows = self.top == TOPS[0]

    def after(
        self, prompt: str | Ids, enough: Callable[[NextTokens], bool] = lambda _: True
    ) -> NextTokens:
        """What may come next: more and more of it until it is enough, or the server reports no
        more."""
        top = self.top
        table = self._ask(prompt, top)
        # fewer than were asked for are all that the server has
        while self._grows and table.count >= top and not enough(table):
            top *= DEEPER
            try:
                table = self._ask(prompt, top)
            except RefusedError:
                self._grows = False
        return table

    @property
    def more_requests(self) -> str:
        """What may be asked beyond one request for each beginning, as the end of a sentence."""
        if not self._grows:
            return ""
        return (
            f"; up to {DEEPEST} times as many for options that are not among the {self.top:,} "
            "likeliest tokens"
        )

    def _ask(self, prompt: str | Ids, top: int) -> NextTokens:
        body = {**greedy_request(prompt), "logprobs": top}

        def read(answer: dict[str, Any]) -> NextTokens:
            table = next_tokens(answer)
            if table.count < self._fewest:
                raise IncompleteAnswerError(
                    f"{table.count} likeliest tokens, where {self._fewest} are the fewest"
                )
            return table

        return self._client.post("completions", body, reuse=prompt not in TRIALS, read=read)

    def _count_reported(self) -> int:
        """The most that the server reports; one whose log-probabilities carry no information is
        refused."""
        for top in TOPS:
            try:
                table = self._ask(TRIALS[0], top)
            except RefusedError:
                continue
            self._validate(table.texts)
            # some tokens are spelt alike, so that a few more or less are reported each time; far
            # fewer were lost on the way
            self._fewest = table.count // 2
            return top
        raise UserError(
            f"{self._client.base} refuses every request with log-probabilities: use --endpoint "
            "chat."
        )

    def _validate(self, logps: dict[str, float]) -> None:
        """Refuse log-probabilities of likeliest tokens by which no option could be scored."""
        base = self._client.base
        if len(logps) < 2:
            raise UserError(
                f"{base} returns no log-probabilities: options cannot be scored. Start the server "
                "with them, check that its address ends in /v1, or use --endpoint chat."
            )
        if max(logps.values()) - min(logps.values()) < 1e-6:
            raise UserError(
                f"{base} returns the same log-probability for every token: they say nothing."
            )
        # after the trial's text most words follow a space, so that among many tokens some have it
        if len(logps) >= MANY and not any(token.startswith(" ") for token in logps):
            raise UserError(
                f"{base} reports tokens without their spaces: options cannot be found among them."
            )


class NextTokenScorer(Scorer):
    """Finds texts among the likeliest next tokens, where some may be out of reach."""

    def __init__(
        self,
        client: Client,
        likeliest: LikeliestTokens,
        note: Note,
    ) -> None:
        super().__init__(client)
        self._likeliest = likeliest
        self._note = note

    @property
    def more_requests(self) -> str:
        """Tokens that are out of reach are asked for again, deeper."""
        return self._likeliest.more_requests

    def _report_unreached(self, unreached: int, total: int) -> None:
        """Report how many options were out of reach; refuse where that is most of them."""
        count = f"{unreached} of {total} options"
        if 2 * unreached > total:
            raise UserError(
                f"{count} are not among the likeliest tokens that the server reports: they cannot "
                "be scored. Let it report more (vLLM: --max-logprobs), or use --endpoint chat."
            )
        if unreached:
            self._note(
                f"{count} were not among the likeliest tokens that the server reports; they were "
                "given the lowest log-probability it reported, which is too high."
            )


class TokenLookupScorer(NextTokenScorer):
    """Tokenizes texts with the server's own tokenizer, and looks each token up among the likeliest
    next ones."""

    key = "Lookup"
    counts_alone = False

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, PairScore]:
        """Every beginning is asked about once, for all the tokens that may follow it."""
        tokenized = self._client.parallel(self._tokenize, pairs)
        following = _following_tokens(tokenized.values())

        def find_following(beginning: Ids) -> NextTokens:
            tokens = following[beginning]
            return self._likeliest.after(beginning, lambda table: tokens <= table.ids.keys())

        tables = self._client.parallel(find_following, following)
        scores = {}
        unreached = 0
        for pair, (ids, start) in tokenized.items():
            is_reached = True
            logps = []
            for i in range(start, len(ids)):
                table = tables[ids[:i]]
                is_reached = is_reached and ids[i] in table.ids
                logps.append(table.ids.get(ids[i], table.least))
            unreached += not is_reached
            scores[pair] = math.fsum(logps), len(logps)
        self._report_unreached(unreached, len(scores))
        return scores

    def count_reads(self, pairs: Sequence[Pair]) -> list[int]:
        """One request for each beginning; the server's tokenizer, which costs nothing, tells which
        there are."""
        tokenized = self._client.parallel(self._tokenize, pairs)
        return list(map(len, _following_tokens(tokenized.values())))

    def works(self) -> bool:
        """Whether the server tokenizes texts, and continues tokens as it continues their text."""
        trial = TRIALS[0]
        try:
            ids, start = self._tokenize((trial, " down"))
            after_ids = self._likeliest.after(ids[:start]).ids
        except UserError:
            return False
        after_text = self._likeliest.after(trial).ids
        return bool(after_ids) and _likeliest(after_ids) == _likeliest(after_text)

    def find_beginning(self) -> str | None:
        """The server's tokenizer adds the token to every text, or its properties name it."""
        _, start = self._tokenize(("", TRIALS[0]))
        if start > 0:
            return ""
        # as locally: what stood between documents in training, or what the server names
        if self._is_token(SEPARATOR):
            return SEPARATOR
        try:
            beginning = self._client.get_beside("props", _beginning_token)
        except UserError:
            return None
        return beginning if self._is_token(beginning) else None

    def _is_token(self, text: str) -> bool:
        """Whether a text is one token to the server, whatever follows it."""
        try:
            _, start = self._tokenize((text, TRIALS[0]))
        except UserError:
            return False
        return start == 1

    def _tokenize(self, pair: Pair) -> tuple[Ids, int]:
        """Return the tokens of both texts together, and the first that covers any of the second."""
        context, target = pair
        text = context + target
        request = {
            "content": text,
            "add_special": True,
            "with_pieces": True,
        }

        def read(answer: Any) -> tuple[Ids, list[bytes]]:
            try:
                ids = tuple(int(token["id"]) for token in answer["tokens"])
                return ids, [_piece_bytes(token["piece"]) for token in answer["tokens"]]
            except (KeyError, TypeError, ValueError) as error:
                raise IncompleteAnswerError("it does not say how it tokenizes a text") from error

        ids, pieces = self._client.post_beside("tokenize", request, read)
        whole = b"".join(pieces)
        # a beginning-of-text token, or a space that the tokenizer adds, may come before the text
        if not whole.endswith(text.encode()):
            raise UserError(f"{self._client.base} tokenizes {text!r} as another text.")
        # counted in bytes, since a token may end within a character
        edge = len(whole) - len(target.encode())
        end = 0
        for start, piece in enumerate(pieces):
            end += len(piece)
            if end > edge:
                return ids, start
        raise UserError(f"{self._client.base} has no token for {target!r}.")


def _following_tokens(tokenized: Iterable[tuple[Ids, int]]) -> dict[Ids, set[int]]:
    """Return the tokens that may follow each beginning of texts, each scored from a token on."""
    following: dict[Ids, set[int]] = {}
    for ids, start in tokenized:
        for i in range(start, len(ids)):
            following.setdefault(ids[:i], set()).add(ids[i])
    return following


class PrefixMatchScorer(NextTokenScorer):
    """Writes texts with the likeliest next tokens, always the longest that fits, as a tokenizer
    mostly would."""

    key = "Walk"

    def score(self, pairs: Sequence[Pair]) -> dict[Pair, PairScore]:
        """All texts one token further, until all are written."""
        scores: dict[Pair, PairScore] = dict.fromkeys(pairs, (0.0, 0))
        written = dict.fromkeys(pairs, 0)
        unreached = 0
        while unfinished := [pair for pair in scores if written[pair] < len(pair[1])]:
            open_texts = {pair: _split_written(pair, written[pair]) for pair in unfinished}
            tables = self._find_following(open_texts.values())
            for pair, (text, unwritten) in open_texts.items():
                logp, count = scores[pair]
                table = tables[text]
                token = _longest(table, unwritten)
                if token is None:
                    # what no reported token begins is taken for one token, as likely as the least
                    unreached += 1
                    token = unwritten
                scores[pair] = logp + table.texts.get(token, table.least), count + 1
                written[pair] += len(token)
        self._report_unreached(unreached, len(scores))
        return scores

    def count_reads(self, pairs: Sequence[Pair]) -> list[int]:
        """One request for each beginning, where every word is a token."""
        beginnings = dict.fromkeys(
            context + target[: word.start()]
            for context, target in pairs
            for word in WORDS.finditer(target)
        )
        return [estimated_tokens([text]) for text in beginnings]

    @property
    def more_requests(self) -> str:
        """Where words end is known, where tokens end is not."""
        return f", and more for words of several tokens{super().more_requests}"

    def _find_following(self, open_texts: Iterable[Pair]) -> dict[str, NextTokens]:
        """Return what may follow each text, deep enough for what is unwritten after it."""
        unwritten: dict[str, list[str]] = {}
        for text, rest in open_texts:
            unwritten.setdefault(text, []).append(rest)

        def find(text: str) -> NextTokens:
            rests = unwritten[text]
            return self._likeliest.after(
                text, lambda table: all(_fits(table, rest) for rest in rests)
            )

        return self._client.parallel(find, unwritten)


def greedy_request(prompt: str | Ids) -> dict[str, Any]:
    """The request that all others are made of: one more token, the likeliest."""
    return {
        "prompt": prompt,
        "max_tokens": 1,
        "temperature": 0,
    }


def _likeliest(logps: dict[int, float]) -> int:
    return max(logps, key=logps.__getitem__)


def _beginning_token(properties: Any) -> str:
    """Return the text of a model's beginning-of-text token, or of its end-of-text token where it
    has none, as llama.cpp reports them."""
    names = ("bos_token", "eos_token")
    tokens = [properties.get(name) for name in names] if isinstance(properties, dict) else []
    for token in tokens:
        if token and isinstance(token, str):
            return token
    raise UserError("The server does not say how its texts begin.")


def _piece_bytes(piece: Any) -> bytes:
    """Return a token's bytes; llama.cpp gives a list of them where they are no whole characters."""
    if isinstance(piece, str):
        return piece.encode()
    return bytes(piece)


def _split_written(pair: Pair, written: int) -> Pair:
    """Return a pair's context and what is written of its target, then what is not."""
    context, target = pair
    return context + target[:written], target[written:]


def _longest(table: NextTokens, text: str) -> str | None:
    """Return the longest of the tokens that begin the text; None where there is none."""
    beginnings = [token for token in table.texts if token and text.startswith(token)]
    return max(beginnings, key=len, default=None)


def _fits(table: NextTokens, text: str) -> bool:
    """Whether a token fits that ends where a word does: further down there might be a longer
    one."""
    token = _longest(table, text)
    if token is None:
        return False
    next_character = text[len(token) : len(token) + 1]
    return not next_character.isalnum()
