"""What a server costs: tokens and money so far, a budget that stops in time, and an estimate before
the start."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from seesay.errors import UserError

CHARS_PER_TOKEN = 4
MILLION = 1_000_000


class Spending:
    """Counts the tokens that a server reports. Prices are the user's, per million tokens read and
    written; without them a budget is a number of tokens."""

    def __init__(self, budget: float | None = None, price: str | None = None) -> None:
        self.budget = budget
        self.prices = _prices(price)
        self.read = self.written = self.requests = 0
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        """In money where there are prices, else in tokens."""
        return self.cost(self.read, self.written)

    def cost(self, read: float, written: float) -> float:
        """Of so many tokens, in the budget's unit."""
        if self.prices is None:
            return read + written
        return (read * self.prices[0] + written * self.prices[1]) / MILLION

    def refuse_if_spent(self) -> None:
        """Stop before a request that there is no budget for. What was answered is kept."""
        if self.budget is not None and self.spent >= self.budget:
            raise UserError(
                f"The budget is spent ({self._format(self.spent)} of {self._format(self.budget)}). "
                "The answers so far are kept: give a larger --budget and run the same command "
                "again."
            )

    def add(self, answer: Any) -> None:
        """Count what an answer reports; an answer that reports nothing counts as a request."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        if not isinstance(usage, dict):
            usage = {}
        # answers come in on several threads
        with self._lock:
            self.requests += 1
            self.read += _count(usage.get("prompt_tokens"))
            self.written += _count(usage.get("completion_tokens"))

    def estimate(self, requests: int, read: int, reply_tokens: int, *, more: str = "") -> str:
        """Say what so many requests will take, which read so many tokens together, about; more
        than the budget has left is refused. `more` says what they may grow to."""
        # replies may be shorter: the estimate errs on the dear side
        written = requests * reply_tokens
        cost = self.cost(read, written)
        if self.budget is not None and self.spent + cost > self.budget:
            raise UserError(
                f"About {requests:,} requests with {read:,} tokens to read and at most {written:,} "
                f"to write would take {self._format(cost)}, more than the budget of "
                f"{self._format(self.budget)} has left: ask less (--limit)."
            )
        return (
            f"About {requests:,} requests: {read:,} tokens to read and at most {written:,} to "
            f"write{self._at_prices(cost)}{more}."
        )

    def counts(self) -> dict[str, float]:
        """What the server says that it took so far; the cost where there are prices."""
        with self._lock:
            counts: dict[str, float] = {
                "requests": self.requests,
                "tokens_read": self.read,
                "tokens_written": self.written,
            }
        if self.prices is not None:
            counts["cost"] = self.spent
        return counts

    def _at_prices(self, amount: float) -> str:
        """Return an amount of money as the end of a sentence; nothing without prices."""
        if self.prices is None:
            return ""
        return f", {self._format(amount)} at the prices given"

    def _format(self, amount: float) -> str:
        if self.prices is None:
            return f"{amount:,.0f} tokens"
        return f"{amount:,.4f}"


def estimated_tokens(texts: Iterable[str]) -> int:
    """Return how many tokens texts have together, about."""
    return sum(len(text) // CHARS_PER_TOKEN + 1 for text in texts)


def _count(value: Any) -> int:
    # what a server reports is untrusted, and one wrong number would spend the budget
    if isinstance(value, int) and 0 < value < 1 << 40:
        return value
    return 0


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        read = written = -1.0
    most = float("inf")
    if not (0 <= read < most and 0 <= written < most):
        raise UserError(
            f"--price is '{text}': give two numbers, per million tokens read and written, as in "
            "0.15,0.60."
        )
    return read, written
