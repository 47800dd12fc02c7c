"""The log-probabilities in a server's answer, in OpenAI's older layout (vLLM) or the newer one
(llama.cpp)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from seesay.errors import UserError

LOWEST = -9999.0  # an impossible token's, as in vLLM
ROUNDING = 1e-4
# bytes, as SentencePiece and OpenAI spell them, then all that is no letter or digit of ASCII
_NOT_PLAIN = re.compile(r"<0x[0-9A-F]{2}>|bytes:(\\x[0-9a-f]{2})+|[^0-9A-Za-z]")


@dataclass(frozen=True)
class NextTokens:
    """The likeliest next tokens: log-probabilities by text and, where the server reports ids, by
    id."""

    texts: dict[str, float]
    ids: dict[int, float]
    count: int

    @property
    def least(self) -> float:
        """The lowest log-probability reported."""
        return min(self.texts.values(), default=LOWEST)


def completed_text(answer: dict[str, Any]) -> str:
    """The text that was completed."""
    try:
        return str(answer["choices"][0]["text"])
    except (KeyError, IndexError, TypeError) as error:
        raise UserError(
            "The server answered without a text: is it an OpenAI-compatible server?"
        ) from error


def _logprobs(answer: dict[str, Any]) -> dict[str, Any]:
    try:
        logprobs = answer["choices"][0]["logprobs"]
    except (KeyError, IndexError, TypeError):
        return {}
    if isinstance(logprobs, dict):
        return cast("dict[str, Any]", logprobs)
    return {}


def prompt_tokens(answer: dict[str, Any]) -> tuple[list[str], list[float | None]]:
    """The tokens reported and their log-probabilities, in either layout."""
    logprobs = _logprobs(answer)
    try:
        if "content" in logprobs:
            rows = logprobs["content"] or []
            tokens = [row["token"] for row in rows]
            values = [row["logprob"] for row in rows]
        else:
            tokens = logprobs.get("tokens") or []
            values = logprobs.get("token_logprobs") or []
        logps: list[float | None] = []
        for _, value in zip(tokens, values, strict=True):
            # the first token of a text has no context, and no log-probability
            logps.append(None if value is None else log_probability(value))
        return [str(token) for token in tokens], logps
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(
            f"The server reports log-probabilities in a layout that is not OpenAI's ({error})."
        ) from error


def covers(tokens: Sequence[str], text: str) -> bool:
    """Whether reported tokens are those of a whole text, as far as can be seen: some servers report
    tokens without their spaces or as bytes, and a mark before the text.

    >>> covers(["<s>", "A", "cat", "is"], "A cat is"), covers(["<s>", "A", "cat"], "A cat is")
    (True, False)
    """
    return _plain("".join(tokens)).endswith(_plain(text))


def _plain(text: str) -> str:
    """Return the letters and digits that every server writes alike."""
    return _NOT_PLAIN.sub("", text)


def next_tokens(answer: dict[str, Any]) -> NextTokens:
    """The likeliest tokens at the first position, in either layout."""
    logprobs = _logprobs(answer)
    texts: dict[str, float] = {}
    ids: dict[int, float] = {}
    try:
        if "content" in logprobs:
            rows = (logprobs["content"] or [{}])[0].get("top_logprobs") or []
            for row in rows:
                # tokens that are no whole characters are spelt alike: the likeliest comes first
                texts.setdefault(str(row["token"]), log_probability(row["logprob"]))
                if "id" in row:
                    ids[int(row["id"])] = log_probability(row["logprob"])
        else:
            rows = (logprobs.get("top_logprobs") or [{}])[0] or {}
            texts = {str(token): log_probability(logp) for token, logp in rows.items()}
        return NextTokens(texts, ids, len(rows))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(
            f"The server reports log-probabilities in a layout that is not OpenAI's ({error})."
        ) from error


def log_probability(value: Any) -> float:
    """A log-probability that a server reports: one above 0 by more than rounding is not one, nor is
    infinity."""
    # JSON's true is an integer to Python
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -math.inf < value < math.inf:
        raise ValueError("a log-probability is not a number")
    if value > ROUNDING:
        raise ValueError("a log-probability is above 0")
    return float(min(max(value, LOWEST), 0.0))
