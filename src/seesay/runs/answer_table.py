"""The answers of a run in memory: numbers in ragged columns, and rows that point into them.

Property norms have 614 options and tens of thousands of rows, so that an object per row, or per
score, would take several times the memory of the numbers. Rows are made when they are looked at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from seesay.answers import NO_ANSWER, Answer, Scores
from seesay.metrics.base import BoolArray, FloatArray, IntArray

NO_SCORES = -1
"""The place of scores that a row does not have: those of a prompt that names no object."""


class RaggedColumn:
    """Lists of numbers end to end: list `i` is `values[bounds[i] : bounds[i + 1]]`."""

    def __init__(self, kind: str) -> None:
        """Make an empty column; `kind` is the type code of its numbers, as for `array`."""
        # `array` grows in place, a sixteenth at a time; NumPy would copy all of it
        self.values: array[Any] = array(kind)
        self.bounds = array("q", [0])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, place: int) -> array[Any]:
        """Return the list at a place, as a copy: a view would keep the column from growing."""
        start = self.bounds[place]
        stop = self.bounds[place + 1]
        return self.values[start:stop]

    def sizes(self, places: IntArray) -> IntArray:
        """Return how many numbers the lists at these places have."""
        bounds = np.asarray(self.bounds)
        return np.asarray(bounds[places + 1] - bounds[places])

    def append(self, numbers: Sequence[float] | npt.NDArray[Any]) -> None:
        """Add a list after the others."""
        self.values.frombytes(np.asarray(numbers, self.values.typecode).tobytes())
        self.bounds.append(len(self.values))

    def extend(self, numbers: npt.NDArray[Any], sizes: IntArray) -> None:
        """Add lists that stand end to end, with how many numbers each has."""
        # before the numbers are added, which is where the first list begins
        bounds = len(self.values) + np.cumsum(sizes, dtype=np.int64)
        self.values.frombytes(np.asarray(numbers, self.values.typecode).tobytes())
        self.bounds.frombytes(bounds.tobytes())

    def gather(self, places: IntArray) -> npt.NDArray[Any]:
        """Return the lists at these places, end to end."""
        values = np.asarray(self.values)
        lists = [values[:0]]
        for place in places:
            start = self.bounds[place]
            stop = self.bounds[place + 1]
            lists.append(values[start:stop])
        return np.concatenate(lists)

    def matrix(self, places: IntArray, width: int) -> npt.NDArray[Any]:
        """Return the lists at these places as the rows of a matrix; all have `width` numbers."""
        # else numbers of the next list would pass for this one's
        if (self.sizes(places) != width).any():
            raise ValueError("the scores differ in length")
        starts = np.asarray(self.bounds)[places]
        positions = starts[:, None] + np.arange(width)
        values = np.asarray(self.values)
        return np.asarray(values[positions])


class ScoreMatrix(NamedTuple):
    """Scores of several prompts that have equally many options, prompts × options."""

    logp: FloatArray
    tokens: IntArray
    chars: IntArray


class _Details(NamedTuple):
    """What `Scores` has beside numbers by option; a run's files keep none of it but the replies."""

    picks: Sequence[float] | None = None
    hidden: float | None = None
    replies: tuple[tuple[str, str, bool], ...] | None = None


class ScoreColumns:
    """The scores of distinct prompts as ragged columns, each at the place where it was added.

    Options repeat from prompt to prompt, and so do their lengths: each list of lengths is held
    once, in `lengths`, and `tokens` and `chars` are places in it. Where there are no ranks, the
    list of ranks is empty.
    """

    def __init__(self) -> None:
        self.logp = RaggedColumn("d")
        self.rank = RaggedColumn("i")
        self.lengths = RaggedColumn("i")
        self.tokens = array("i")
        self.chars = array("i")
        self._length_places: dict[bytes, int] = {}
        self._details: dict[int, _Details] = {}

    def __len__(self) -> int:
        return len(self.logp)

    def __getitem__(self, place: int) -> Scores:
        """Return the scores at a place.

        They are made when they are looked at, and are not kept.
        """
        return Scores(
            self.logp[place],
            self.lengths[self.tokens[place]],
            self.lengths[self.chars[place]],
            self.rank[place] or None,
            *self._details.get(place, _Details()),
        )

    def append(self, scores: Scores) -> int:
        """Add the scores of a prompt, and return their place."""
        place = len(self)
        tokens = np.asarray(scores.tokens, np.int32)
        chars = np.asarray(scores.chars, np.int32)
        self.logp.append(scores.logp)
        self.rank.append(() if scores.rank is None else scores.rank)
        self.tokens.append(self.place_lengths(tokens))
        self.chars.append(self.place_lengths(chars))
        details = _Details(scores.picks, scores.hidden, scores.replies)
        # most scores have none, and an object for each would be most of the memory
        if details != _Details():
            self._details[place] = details
        return place

    def place_lengths(self, lengths: npt.NDArray[np.int32]) -> int:
        """Return where a list of lengths stands, and add it if it is new."""
        # as bytes, since arrays cannot be keys
        content = lengths.tobytes()
        place = self._length_places.setdefault(content, len(self.lengths))
        if place == len(self.lengths):
            self.lengths.append(lengths)
        return place

    def matrix(self, places: IntArray, width: int) -> ScoreMatrix:
        """Return the scores at these places, all of `width` options."""
        token_places = np.asarray(self.tokens)[places]
        char_places = np.asarray(self.chars)[places]
        return ScoreMatrix(
            self.logp.matrix(places, width),
            self.lengths.matrix(token_places, width),
            self.lengths.matrix(char_places, width),
        )

    def rank_matrix(self, places: IntArray, width: int) -> IntArray:
        """Return the ranks at these places, all of `width` options; 0 where they are unknown."""
        ranks = np.zeros((len(places), width), np.int32)
        is_ranked = self.rank.sizes(places) > 0
        ranks[is_ranked] = self.rank.matrix(places[is_ranked], width)
        return ranks

    def replies(self, place: int) -> tuple[tuple[str, str, bool], ...]:
        """Return the free answers behind the scores at a place.

        There are none where the model gave log-probabilities.
        """
        return self._details.get(place, _Details()).replies or ()

    def drop_details(self) -> None:
        """Forget picks, hidden shares and replies.

        A run that is read again has none of them either.
        """
        self._details.clear()


class ScoresView(Sequence[Scores]):
    """Some of the scores of a table, each made when it is looked at."""

    def __init__(self, columns: ScoreColumns, places: Sequence[int]) -> None:
        self._columns = columns
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> Scores: ...
    @overload
    def __getitem__(self, number: slice) -> ScoresView: ...
    def __getitem__(self, number: int | slice) -> Scores | ScoresView:
        if isinstance(number, slice):
            return ScoresView(self._columns, self._places[number])
        return self._columns[self._places[number]]


class PromptScores:
    """Scores by the key of their prompt, added as they come; of two for a key the later counts."""

    def __init__(self, scores: Mapping[str, Scores] | None = None) -> None:
        self.columns = ScoreColumns()
        self.places: dict[str, int] = {}
        for key, prompt_scores in (scores or {}).items():
            self.add(key, prompt_scores)

    def __contains__(self, key: str) -> bool:
        return key in self.places

    def __len__(self) -> int:
        return len(self.places)

    def add(self, key: str, scores: Scores) -> None:
        """Add the scores of a prompt."""
        self.places[key] = self.columns.append(scores)

    def discard(self, key: str) -> None:
        """Forget the scores of a prompt, if there are any."""
        self.places.pop(key, None)

    def view(self, keys: Iterable[str]) -> ScoresView:
        """Return the scores of these prompts, in this order."""
        return ScoresView(
            self.columns,
            array("q", (self.places[key] for key in keys)),
        )


class AnswerTable(Sequence[Answer]):
    """The answers of a run: a row is a question in a template, with the places of its scores.

    Rows that share scores hold the same place. `neutral_places` is `NO_SCORES` where no prompt
    without the object was asked.
    """

    def __init__(
        self,
        questions: list[str],
        templates: list[str],
        options: list[tuple[str, ...]],
        columns: ScoreColumns,
        places: IntArray,
        neutral_places: IntArray,
    ) -> None:
        self.questions = questions
        self.templates = templates
        self.options = options
        self.columns = columns
        self.places = places
        self.neutral_places = neutral_places

    @classmethod
    def of(cls, rows: Iterable[Answer]) -> AnswerTable:
        """Make a table of rows.

        Those that hold one `Scores` object share it here, too.
        """
        rows = list(rows)  # held while their identities are looked at
        columns = ScoreColumns()
        places: dict[int, int] = {}

        def place(scores: Scores | None) -> int:
            if scores is None:
                return NO_SCORES
            identity = id(scores)
            if identity not in places:
                places[identity] = columns.append(scores)
            return places[identity]

        return cls(
            [row.question for row in rows],
            [row.template for row in rows],
            [row.options for row in rows],
            columns,
            np.array([place(row.scores) for row in rows], np.int32),
            np.array([place(row.neutral) for row in rows], np.int32),
        )

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, row: int) -> Answer: ...
    @overload
    def __getitem__(self, row: slice) -> AnswerTable: ...
    def __getitem__(self, row: int | slice) -> Answer | AnswerTable:
        if isinstance(row, slice):
            # a range understands steps and negative ends
            return self.take(range(len(self))[row])
        neutral = None
        if self.neutral_places[row] != NO_SCORES:
            neutral = self.columns[int(self.neutral_places[row])]
        return Answer(
            self.questions[row],
            self.templates[row],
            self.options[row],
            self.columns[int(self.places[row])],
            neutral,
        )

    def __eq__(self, other: object) -> bool:
        """Whether the rows are equal.

        Places do not count: a resumed run holds the same scores at other places.
        """
        if not isinstance(other, AnswerTable) or len(self) != len(other):
            return False
        return all(row == other_row for row, other_row in zip(self, other, strict=True))

    # like a list: tables are compared by what they hold
    __hash__ = None  # type: ignore[assignment]

    @property
    def keys(self) -> Iterator[tuple[str, str]]:
        """The question and the template of each row."""
        return zip(self.questions, self.templates, strict=True)

    @property
    def replies(self) -> Iterator[tuple[tuple[str, str, bool], ...]]:
        """The free answers behind each row, if there are any."""
        return (self.columns.replies(int(place)) for place in self.places)

    @property
    def has_neutral(self) -> bool:
        """Whether any prompt without the object was asked."""
        return bool((self.neutral_places != NO_SCORES).any())

    @property
    def is_unanswered(self) -> BoolArray:
        """Which rows have no answer, which counts as wrong."""
        if not len(self):
            return np.zeros(0, dtype=np.bool_)
        best = np.maximum.reduceat(self.columns.logp.values, self.columns.logp.bounds[:-1])
        return np.asarray(best[self.places] == NO_ANSWER)

    @property
    def unanswered(self) -> int:
        """How many rows have no answer."""
        return int(self.is_unanswered.sum())

    def take(self, rows: Sequence[int]) -> AnswerTable:
        """Return some of the rows, in this order; the scores stay where they are."""
        return AnswerTable(
            [self.questions[row] for row in rows],
            [self.templates[row] for row in rows],
            [self.options[row] for row in rows],
            self.columns,
            self.places[list(rows)],
            self.neutral_places[list(rows)],
        )

    def select(self, questions: Iterable[str], templates: Iterable[str]) -> AnswerTable:
        """Return the rows of these questions in these templates, in the table's order."""
        question_ids = set(questions)
        names = set(templates)
        rows = [
            row
            for row, (question, template) in enumerate(self.keys)
            if question in question_ids and template in names
        ]
        return self.take(rows)

    def rows_by_question(self, template: str) -> dict[str, int]:
        """Return the row of each question in one template.

        One template at a time: pairs of names as keys would take twice the memory.
        """
        return {question: row for row, (question, name) in enumerate(self.keys) if name == template}
