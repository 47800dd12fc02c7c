"""What a chat server says of its reply: the text, how it ended, and the likeliest alternatives to
its first tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Reply
from seesay.models.server.client import IncompleteAnswerError
from seesay.models.server.logprobs import log_probability

TOPS = (20, 5)  # how many likeliest tokens to ask for: the most that the server grants
STEPS = 4  # tokens of a reply that are looked at, where options begin alike
LEAST = 1e-12
_OPENING = " \n\t\"'`*_([{“‘"
_CLOSING = " \n\t\"'`*_)]}”’.,;:!?"


@dataclass(frozen=True)
class ReplyToken:
    """A token of the reply, and the likeliest tokens in its place."""

    token: str
    likely: dict[str, float]


@dataclass(frozen=True)
class ReplyScores:
    """Log-probabilities of the options as the reply's beginning.

    `hidden` is the probability that belongs to no option for sure: of tokens that the server does
    not report, and of beginnings that several options share. An option that was not found has at
    most that, and at most the least that was reported; so much it is given.
    """

    logp: list[float]
    hidden: float


def positions(answer: dict[str, Any]) -> list[ReplyToken]:
    """The reply's tokens with their alternatives; none where the server reports none."""
    try:
        reply = []
        for row in answer["choices"][0]["logprobs"]["content"] or []:
            likely = {
                str(entry["token"]): log_probability(entry["logprob"])
                for entry in row["top_logprobs"] or []
            }
            reply.append(ReplyToken(str(row["token"]), likely))
        return reply
    except (KeyError, IndexError, TypeError):
        return []
    except ValueError as error:
        raise UserError(f"The server does not report log-probabilities ({error}).") from error


def required_positions(answer: dict[str, Any]) -> list[ReplyToken]:
    """The reply's tokens with their alternatives, of a server that reports some; only a reply of
    nothing has none."""
    reply = positions(answer)
    is_empty = not reply or not reply[0].likely
    if is_empty and reply_of(answer, "The server").text:
        raise IncompleteAnswerError("it answered without log-probabilities")
    return reply


def score_reply(reply: Sequence[ReplyToken], options: Sequence[str]) -> ReplyScores:
    """Return the mass of the replies that begin an option and no other, as far as the server's own
    reply leads.

    >>> shares = {"Yes": 0.6, " yes": 0.1, "No": 0.2, "A": 0.05}
    >>> reply = ReplyToken("Yes", {token: math.log(share) for token, share in shares.items()})
    >>> scores = score_reply([reply], ("yes", "no", "perhaps"))
    >>> [round(math.exp(logp), 3) for logp in scores.logp], round(scores.hidden, 3)
    ([0.7, 0.2, 0.05], 0.05)
    """
    lowered = [option.lower() for option in options]
    mass = [0.0] * len(options)
    written = ""
    reached = 1.0  # the probability of what the server wrote before this position
    hidden = 0.0
    least = 1.0
    for position in reply:
        is_open = False
        for token, logp in position.likely.items():
            share = reached * math.exp(logp)
            least = min(least, share)
            fits = _fitting(written + token, lowered)
            if len(fits) == 1:
                mass[fits[0]] += share
            elif fits and token == position.token:
                # several options begin so, and the server's own reply says how it goes on
                is_open = True
            elif fits:
                hidden += share
        hidden += reached * max(0.0, 1.0 - math.fsum(map(math.exp, position.likely.values())))
        if not is_open:
            break
        reached *= math.exp(position.likely[position.token])
        written += position.token
    else:
        hidden += reached  # the reply ended, or was cut, before it told the options apart
    # what was not found has at most what is hidden, and at most the least that was reported
    bound = max(min(hidden, least), LEAST)
    return ReplyScores([math.log(share or bound) for share in mass], min(hidden, 1.0))


def _fitting(text: str, options: Sequence[str]) -> list[int]:
    """Return the numbers of the options that a reply may be the beginning of; or, of one that goes
    beyond an option by punctuation alone, of that option."""
    word = text.lower().lstrip(_OPENING)
    fits = [i for i, option in enumerate(options) if option.startswith(word)]
    if word and not fits:
        word = word.rstrip(_CLOSING)
        fits = [i for i, option in enumerate(options) if option == word]
    return fits


def reply_of(answer: dict[str, Any], base: str) -> Reply:
    """The text of a completion or of a chat message. What is reported apart as reasoning is left
    out."""
    try:
        choice = answer["choices"][0]
        message = choice.get("message") or {}
        if "text" in choice:
            content = choice["text"]
        else:
            content = choice["message"].get("content")
        if isinstance(content, list):  # parts, of which some may be reasoning
            texts = [part for part in content if part.get("type", "text") == "text"]
            content = "".join(str(part.get("text", "")) for part in texts)
        # a refusal is an answer, if no useful one, and is reported in a field of its own
        text = str(content or "") or str(message.get("refusal") or "")
        return Reply(text.strip(), choice.get("finish_reason") == "length")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise IncompleteAnswerError(
            f"{base} answered without a message: is it the right --endpoint?"
        ) from error
