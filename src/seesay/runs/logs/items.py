"""What every reader of a log gives: items with their scores."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from seesay.data.cells import BadValueError, Cells, holds_controls
from seesay.data.stored_answers import IDS, as_spoken, first_value
from seesay.digests import text_digest
from seesay.questions import BadRow

QUESTIONS = ("question", "query", "problem", "prompt", "input", "instruction", "goal", "sentence")
"""Names under which data sets have the text of a question."""
CHOICES = ("choices", "options")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHOWN = 300
"""How much of an item's text is held, for pages; it is known by a digest of the whole."""
_PLACE = re.compile("[0-9]{1,4}")
_LARGEST_MEAN = 1e300
_TRUE = {"c", "true", "yes", "correct"}
_FALSE = {"i", "n", "false", "no", "incorrect"}


class LogKeys(NamedTuple):
    """Which fields of a log's rows to read: the item's id, its cluster, its score.

    None leaves the id and the score to the format; without a cluster, each item is its own.
    """

    item: str | None = None
    cluster: str | None = None
    score: str | None = None


class LogItem(NamedTuple):
    """An item as one log has it.

    `text` is shortened, and `text_key` a digest of the whole. `choices` and `right` are as the log
    has them but for case, space and full stops; empty where it does not say.
    """

    id: str | None
    text: str
    text_key: str | None
    score: float
    cluster: str | None
    choices: tuple[str, ...] = ()
    right: frozenset[str] = frozenset()


@dataclass
class Log:
    """A log: who was asked what, the items, and the figure that the program itself reports."""

    path: Path
    program: str
    model: str
    task: str
    metric: str
    items: list[LogItem]
    bad: list[BadRow] = field(default_factory=list)
    reported: float | None = None
    rows: int | None = None
    """How many rows the program says that the log has."""
    notes: list[str] = field(default_factory=list)


class Source(NamedTuple):
    """Where the fields of a row are looked for, the nearest first."""

    mappings: Sequence[Any]

    def get(self, name: str) -> Any:
        """Return the value of this name; a name with dots leads into mappings."""
        for mapping in self.mappings:
            value = mapping
            # a name may itself have dots
            is_key = isinstance(mapping, Mapping) and name in mapping
            parts = [name] if is_key else name.split(".")
            for part in parts:
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return value
        return None


def make_item(
    source: Source,
    keys: LogKeys,
    *,
    id: Any,
    text: str | None,
    score: Any,
    choices: Any = None,
    right: Any = None,
) -> LogItem:
    """Return an item of what a reader took from a row; the user's keys come before it."""
    item_id = id if keys.item is None else source.get(keys.item)
    if keys.item is not None and item_id is None:
        item_id = id
    spoken = as_spoken(text or "")
    cluster = None if keys.cluster is None else source.get(keys.cluster)
    names = tuple(map(plain_choice, choices)) if isinstance(choices, list | tuple) else ()
    return LogItem(
        id=None if item_id is None else _label(item_id, "id"),
        text=spoken[:SHOWN],
        text_key=text_digest(spoken) if spoken else None,
        score=parse_score(score),
        cluster=None if cluster is None else _label(cluster, "cluster"),
        choices=names,
        right=right_choices(right, names),
    )


def _label(value: Any, name: str) -> str:
    """Return an id or a cluster as a text; what is a list or a mapping names nothing."""
    text = str(value)
    if isinstance(value, Mapping | list | float) or not text or len(text) > SHOWN:
        raise BadValueError(f"its {name} is neither a short text nor a whole number")
    if holds_controls(text):
        raise BadValueError(f"its {name} holds control characters")
    return text


def as_mean(value: Any) -> float | None:
    """Return a mean that a log states, or None where the value is none.

    A number of a thousand digits is no mean, nor is NaN.

    >>> as_mean(0.25), as_mean("0.25"), as_mean(10**400)
    (0.25, None, None)
    """
    if isinstance(value, int | float) and abs(value) < _LARGEST_MEAN:
        return float(value)
    return None


def parse_score(value: Any) -> float:
    """Return a score as a number of 0 or more: right is 1, wrong is 0.

    >>> parse_score("C"), parse_score(False), parse_score("0.25")
    (1.0, 0.0, 0.25)
    """
    if value is None:
        raise BadValueError("it has no score")
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE:
            return 1.0
        if word in _FALSE:
            return 0.0
        # inspect's letter for an answer that is right in part
        if word == "p":
            return 0.5
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadValueError(f"its score {str(value)[:40]!r} is not a number") from None
    if not math.isfinite(score) or score < 0:
        raise BadValueError(f"its score {score} is below 0 or not a number")
    return score


def plain_choice(choice: Any) -> str:
    """Return a choice as it is compared between logs, which differ in space, case and full stops.

    >>> plain_choice(" Red. ")
    'red'
    """
    return as_spoken(str(choice)).rstrip(".").casefold()


def right_choices(target: Any, choices: Sequence[str]) -> frozenset[str]:
    """Return the right choices that places, letters or texts name; none where that is not clear.

    >>> sorted(right_choices("BC", ["red", "green", "blue"]))
    ['blue', 'green']
    """
    if not choices or target is None:
        return frozenset()
    targets = target if isinstance(target, list | tuple) else [target]
    right: set[str] = set()
    for value in targets:
        text = plain_choice(value)
        letters = str(value).strip()
        if text in choices:
            right.add(text)
        elif _PLACE.fullmatch(letters) and int(letters) < len(choices):
            right.add(choices[int(letters)])
        elif letters and set(letters) <= set(LETTERS[: len(choices)]):
            right |= {choices[LETTERS.index(letter)] for letter in letters}
        else:
            return frozenset()
    return frozenset(right)


def question_text(cells: Any) -> str | None:
    """Return the text of a question, under any of the names that data sets have for it."""
    if not isinstance(cells, Mapping):
        return None
    value = first_value(cells, QUESTIONS)
    return value if isinstance(value, str) else None


def own_id(cells: Any) -> Any:
    """Return the id that a data set gives its row."""
    return first_value(cells, IDS[1:]) if isinstance(cells, Mapping) else None


def listed_choices(cells: Cells) -> Any:
    """Return the choices of a row of a data set: a list, or texts beside their letters."""
    choices = first_value(cells, CHOICES)
    if isinstance(choices, Mapping):
        choices = choices.get("text")
    return choices


def chat_text(value: Any, roles: Sequence[str] = ("user",)) -> str:
    """Return the text that a user wrote: a text itself, or the messages of a chat."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    texts = []
    for part in value:
        # a part of a message has no role of its own
        if isinstance(part, Mapping) and part.get("role", "user") in roles:
            texts.append(chat_text(part.get("content", part.get("text"))))
    # a prompt may be one message of the system
    if not texts and "system" not in roles:
        return chat_text(value, ("system",))
    return " ".join(texts)
