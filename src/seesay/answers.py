"""What came back: a model's scores for a prompt, and the rows of the answers table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

NO_ANSWER = -math.inf
"""What every option gets where a reply named none: wrong by right or wrong, and all alike by
probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A model's scores for one prompt, option by option.

    `logp` is the log-probability of the scored text (`NO_ANSWER` for all options where there is
    none), `tokens` and `chars` its length (for the length rules), and `rank` how many entries of
    the model's whole vocabulary score at least as high in the slot (1 is the top; 0 where that is
    not known, as for an option of several tokens). None where the model has no vocabulary to speak
    of. `picks` says how often the option picked stood in each position, where options are shown in
    several orders; `hidden` how much probability a server kept to itself; `replies` hold free
    answers, each with what became of it (an option, or a reason) and whether it named an option.
    """

    logp: Sequence[float]
    tokens: Sequence[int]
    chars: Sequence[int]
    rank: Sequence[int] | None = None
    picks: Sequence[float] | None = None
    hidden: float | None = None
    replies: tuple[tuple[str, str, bool], ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scores) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    @property
    def _values(self) -> tuple[object, ...]:
        """What two scores are compared by, whether their numbers are in tuples or in arrays."""
        rank = None if self.rank is None else tuple(self.rank)
        picks = None if self.picks is None else tuple(self.picks)
        return (
            tuple(self.logp),
            tuple(self.tokens),
            tuple(self.chars),
            rank,
            picks,
            self.hidden,
            self.replies,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the answers table: a question in one template, and the scores of its options.

    `neutral` holds the scores of the same options where the prompt does not name the object.
    """

    question: str
    template: str
    options: tuple[str, ...]
    scores: Scores
    neutral: Scores | None = None
