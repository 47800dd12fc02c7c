"""People's answers from other programs: jsPsych's trials, Potato's annotations, and plain rows.

What a file is follows from the keys of its rows, never from its name or its values. Prolific's
export says whose answers count. What belongs to nobody, to no item or to no option is counted and
reported, and so is who answered an item twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells
from seesay.data.json_stream import parse_json
from seesay.data.lines import read_lines
from seesay.data.rows import NotJsonError, Row, load_json, read_rows
from seesay.errors import UserError
from seesay.judge.items import ChoiceItem, ItemAnswer, SeveralItem, StudyItem, TypedItem
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.results.quality import IMPORTED, Judgement
from seesay.judge.study import Study
from seesay.questions import BadRow

PERSON_KEYS = (
    "subject",
    "subject_id",
    "participant",
    "participant_id",
    "worker_id",
    "PROLIFIC_PID",
    "prolific_pid",
    "prolific_id",
)
ITEM_KEYS = ("item", "item_id", "question", "question_id")
CHOICE_KEYS = ("choices", "options")
JSPSYCH = frozenset({"trial_type", "trial_index"})
POTATO = frozenset({"instance_id", "user_id", "labels"})
TEXT_FIELD = "text_box"
PLAIN = frozenset({"person", "item"})
PROLIFIC = frozenset({"Submission id", "Participant id", "Status"})
COUNTING_STATUSES = ("APPROVED", "AWAITING REVIEW")
SHOWN = 3


@dataclass(frozen=True)
class ImportKeys:
    """The keys that the user names, where a file does not say by itself what they hold."""

    person: str = ""
    item: str = ""
    response: str = ""


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """One answer as another program stored it.

    `response` is a text, a list of texts, or the number of a button from 0: one of `choices`, or,
    where these are not known, of the options of the item.
    """

    person: str
    item: str
    response: Any
    seconds: float = math.nan
    choices: tuple[str, ...] = ()


@dataclass
class ImportedAnswers:
    """Judgements of a study, and what is to be said about the rows that are none."""

    judgements: list[Judgement] = field(default_factory=list)
    people: dict[int, str] = field(default_factory=dict)
    """The names of the participants in the files, by their numbers in the study."""
    rejected: dict[int, str] = field(default_factory=dict)
    """Participants who do not count, and why."""
    notes: list[str] = field(default_factory=list)


def import_answers(
    study: Study,
    paths: Sequence[Path],
    keys: ImportKeys | None = None,
) -> ImportedAnswers:
    """Read the answers to a study's items from files of other programs."""
    reader = _Reader(keys or ImportKeys())
    for path in paths:
        reader.read(path)
    return _Matcher(study, reader).match()


class _Reader:
    """Reads files into answers, and Prolific's exports into the states of participants."""

    def __init__(self, keys: ImportKeys) -> None:
        self.keys = keys
        self.answers: list[ForeignAnswer] = []
        self.states: dict[str, set[str]] = {}
        self.bad: list[BadRow] = []
        self._trials: set[tuple[str, str]] = set()
        self.other_rows = 0
        self.without_response = 0

    def read(self, path: Path) -> None:
        """Read one file."""
        sessions = list(_sessions(path))
        first = next((row for rows in sessions for row in rows if isinstance(row, Row)), None)
        if first is None:
            raise UserError(f"{path} holds no row that can be read.")
        parse = self._choose_shape(path, first.cells)
        for number, rows in enumerate(sessions, start=1):
            # Without a key that says whose it is, a session is a person.
            session = path.stem if len(sessions) == 1 else f"{path.stem} {number}"
            for row in rows:
                self._read_row(path, row, parse, session)

    def _read_row(
        self,
        path: Path,
        row: Row | BadRow,
        parse: Callable[[Cells, str], ForeignAnswer | None],
        session: str,
    ) -> None:
        """Read a row; one that cannot be read is reported."""
        if isinstance(row, BadRow):
            self.bad.append(BadRow(row.row, row.reason, path.name))
            return
        try:
            answer = parse(row.cells, session)
        except BadValueError as error:
            self.bad.append(BadRow(row.number, str(error), path.name))
            return
        if answer is None:
            self.other_rows += 1
        elif answer.response in (None, "", []):
            self.without_response += 1
        else:
            self.answers.append(answer)

    def _choose_shape(
        self,
        path: Path,
        cells: Cells,
    ) -> Callable[[Cells, str], ForeignAnswer | None]:
        """Return what reads the rows of a file, by the keys of its first one."""
        names = cells.keys()
        if names >= PROLIFIC:
            return self._parse_prolific
        if names >= JSPSYCH:
            return self._parse_trial
        if names >= POTATO:
            return self._parse_annotation
        given = {self.keys.person, self.keys.item, self.keys.response}
        if names >= PLAIN or ("" not in given and names >= given):
            return self._parse_plain
        raise UserError(
            f"{path} is none of these: jsPsych's trials (trial_type, trial_index), Potato's "
            "annotations (instance_id, user_id, labels), rows with person, item and label, or "
            "Prolific's export. Say --person, --item and --response."
        )

    def _parse_prolific(self, cells: Cells, session: str) -> None:
        """Note the state of a submission."""
        person = str(cells.get("Participant id") or "").strip()
        if not person:
            raise BadValueError("'Participant id' is empty")
        state = str(cells.get("Status") or "").strip().upper()
        self.states.setdefault(person, set()).add(state)
        # It is no row without an answer, either.
        self.other_rows -= 1

    def _parse_trial(self, cells: Cells, session: str) -> ForeignAnswer | None:
        """Read a trial of jsPsych; trials that name no item ask nothing of the study."""
        _require(cells, JSPSYCH)
        person = _only(cells, (self.keys.person,) if self.keys.person else PERSON_KEYS, "--person")
        item = _only(cells, (self.keys.item,) if self.keys.item else ITEM_KEYS, "--item")
        if person is None:
            person = self._session_person(session, cells["trial_index"])
        if item is None:
            return None
        response = cells.get(self.keys.response or "response")
        if isinstance(response, Mapping):
            if len(response) != 1:
                raise BadValueError("'response' has answers to several questions")
            response = next(iter(response.values()))
        is_button = str(cells["trial_type"]).endswith("button-response")
        if isinstance(response, int | float) and not is_button:
            response = str(response)
        return ForeignAnswer(
            str(person),
            str(item),
            response,
            _seconds(cells.get("rt"), per_second=1000),
            _choices(cells),
        )

    def _session_person(self, session: str, trial: Any) -> str:
        """Return the person of a session in which nothing says whose it is."""
        if (session, str(trial)) in self._trials:
            raise UserError(
                f"'{session}' has the trial {trial} twice: it holds the trials of several people, "
                "and nothing tells them apart. Give one file or list for each, or say --person."
            )
        self._trials.add((session, str(trial)))
        return session

    def _parse_annotation(self, cells: Cells, session: str) -> ForeignAnswer:
        """Read an annotation of Potato: the labels of one of its schemas."""
        _require(cells, POTATO)
        schemas = cells["labels"]
        if not isinstance(schemas, Mapping):
            raise BadValueError("'labels' is not a mapping of schemas")
        name = self.keys.response or next(iter(schemas), "")
        if len(schemas) > 1 and not self.keys.response:
            raise UserError(
                f"Potato's annotations have the schemas {', '.join(schemas)}: say which one holds "
                "the answer with --response."
            )
        labels = schemas.get(name) or {}
        if not isinstance(labels, Mapping):
            labels = {str(labels): True}
        response = [label for label, value in labels.items() if value not in (None, "", False)]
        # A text field has this name for a label, and what was typed for a value.
        if TEXT_FIELD in labels:
            response = [labels[TEXT_FIELD]]
        return ForeignAnswer(str(cells["user_id"]), str(cells["instance_id"]), response)

    def _parse_plain(self, cells: Cells, session: str) -> ForeignAnswer:
        """Read a row of anyone's making, or of the table that `seesay judge export` writes."""
        person = cells.get(self.keys.person or "person")
        item = cells.get(self.keys.item or "item")
        if person in (None, "") or item in (None, ""):
            raise BadValueError("it names no person, or no item")
        response = cells.get(self.keys.response or "label") or cells.get("text")
        if isinstance(response, str):
            response = response.split("; ")
        return ForeignAnswer(str(person), str(item), response, _seconds(cells.get("seconds")))


class _Matcher:
    """Finds the item and the option of each answer, and counts what has none."""

    def __init__(self, study: Study, reader: _Reader) -> None:
        self.study = study
        self.reader = reader
        self.numbers: dict[str, int] = {}
        self.unknown_items: Counter[str] = Counter()
        self.unknown_options: Counter[str] = Counter()

    def match(self) -> ImportedAnswers:
        """Return the judgements that can be told, with what is said about the others."""
        by_place: dict[tuple[int, str], list[Judgement]] = {}
        for answer in self.reader.answers:
            judgement = self._judgement(answer)
            if judgement is not None:
                place = (judgement.person, judgement.item.id)
                by_place.setdefault(place, []).append(judgement)
        imported = ImportedAnswers()
        repeated = 0
        contradicted: list[str] = []
        for (_, item), given in by_place.items():
            if len({(judgement.value, judgement.text) for judgement in given}) > 1:
                contradicted += [item] * len(given)
                continue
            repeated += len(given) - 1
            imported.judgements.append(given[0])
        imported.people = {number: person for person, number in self.numbers.items()}
        imported.rejected = self._rejected(imported.people)
        imported.notes = self._notes(imported, repeated, contradicted)
        if not imported.judgements:
            reasons = " ".join(imported.notes) or "There is none."
            raise UserError(f"No answer to '{self.study.name}' can be used: {reasons}")
        return imported

    def _judgement(self, answer: ForeignAnswer) -> Judgement | None:
        """Return an answer as a judgement; None where its item or option is not the study's."""
        person = self.numbers.setdefault(answer.person, len(self.numbers) + 1)
        item = self.study.items_by_id.get(answer.item)
        if item is None:
            self.unknown_items[answer.item] += 1
            return None
        try:
            given = _as_item_answer(item, answer)
            item.check(given)
        except (BadValueError, RequestRejectedError):
            self.unknown_options[str(answer.response)[:40]] += 1
            return None
        return Judgement(
            person,
            item,
            given.value,
            None,
            IMPORTED,
            answer.seconds,
            0,
            math.nan,
            given.text,
        )

    def _rejected(self, people: Mapping[int, str]) -> dict[int, str]:
        """Return who does not count by Prolific's export, if there is one."""
        states = self.reader.states
        if not states:
            return {}
        rejected = {}
        for number, person in people.items():
            if person not in states:
                rejected[number] = "not in Prolific's export"
            elif not states[person] & set(COUNTING_STATUSES):
                rejected[number] = f"Prolific: {', '.join(sorted(states[person])).lower()}"
        return rejected

    def _notes(
        self,
        imported: ImportedAnswers,
        repeated: int,
        contradicted: Sequence[str],
    ) -> list[str]:
        """Return what was left out, and what is missing, in sentences."""
        reader = self.reader
        answered = {judgement.item.id for judgement in imported.judgements}
        unanswered = [item.id for item in self.study.measured if item.id not in answered]
        silent = [person for person in reader.states if person not in self.numbers]
        absent = [
            imported.people[number]
            for number, reason in imported.rejected.items()
            if reason.startswith("not in")
        ]
        problems: dict[str, Sequence[str]] = {
            "rows cannot be read": [str(row) for row in reader.bad],
            f"answers are to no item of '{self.study.name}'": list(self.unknown_items.elements()),
            "answers name no option": list(self.unknown_options.elements()),
            "answers of one person to one item contradict one another, and none of them counts": (
                contradicted
            ),
            "items have no answer": unanswered,
            "participants of Prolific's export gave no answer": silent,
            "people with answers are not in Prolific's export, and do not count": absent,
        }
        counts = {
            "rows ask nothing of the study": reader.other_rows,
            "rows have no response": reader.without_response,
            "answers were there twice": repeated,
        }
        notes = [f"{count:,} {problem}." for problem, count in counts.items() if count > 0]
        for problem, subjects in problems.items():
            if subjects:
                names = list(dict.fromkeys(subjects))
                more = " …" if len(names) > SHOWN else ""
                notes.append(f"{len(subjects):,} {problem} ({'; '.join(names[:SHOWN])}{more}).")
        return notes


def _as_item_answer(item: StudyItem, answer: ForeignAnswer) -> ItemAnswer:
    """Return an answer in the form of the item's kind."""
    how = item.how[0]
    if isinstance(item, TypedItem):
        responses = answer.response if isinstance(answer.response, list) else [answer.response]
        return ItemAnswer(0, how, "; ".join(map(str, responses)).strip())
    if not isinstance(item, ChoiceItem | SeveralItem):
        raise BadValueError("an answer is no rating")
    places = _option_places(item, answer)
    if isinstance(item, SeveralItem):
        return ItemAnswer(sum(1 << place for place in places), how)
    if len(places) != 1:
        raise BadValueError("it names several options")
    return ItemAnswer(places[0], how)


def _option_places(item: ChoiceItem | SeveralItem, answer: ForeignAnswer) -> list[int]:
    """Return the places of the options that an answer names, each once."""
    response = answer.response
    if isinstance(response, int) and not isinstance(response, bool):
        names = answer.choices or item.options
        if not 0 <= response < len(names):
            raise BadValueError("there is no such button")
        response = names[response]
    places = []
    for label in response if isinstance(response, list) else [response]:
        places.append(_option_place(item, str(label)))
    return list(dict.fromkeys(places))


def _option_place(item: ChoiceItem | SeveralItem, label: str) -> int:
    """Return the place of the option that a label is: as it is called, or as it was shown."""
    for names in (item.options, item.option_texts):
        spelled = [name.strip().casefold() for name in names]
        matches = [place for place, name in enumerate(spelled) if name == label.strip().casefold()]
        if label in names:
            return names.index(label)
        if len(matches) == 1:
            return matches[0]
    raise BadValueError("it is no option")


def _sessions(path: Path) -> Iterator[list[Row | BadRow]]:
    """Yield the rows of a file, a list for each session that it keeps apart."""
    if not path.name.removesuffix(".gz").lower().endswith((".json", ".txt", ".jsonl", ".ndjson")):
        yield list(read_rows(path))
        return
    documents: list[Any]
    try:
        documents = [load_json(path)]
    except NotJsonError:
        documents = list(_json_lines(path))
    rows: list[Row | BadRow] = []
    sessions: list[list[Any]] = []
    for document in documents:
        if isinstance(document, list) and document and isinstance(document[0], list):
            sessions += document
        elif isinstance(document, list):
            sessions.append(document)
        elif isinstance(document, BadRow):
            rows.append(document)
        else:
            rows.append(_as_row(len(rows) + 1, document))
    if rows:
        yield rows
    number = 0
    for session in sessions:
        trials = []
        for trial in session if isinstance(session, list) else [session]:
            number += 1
            trials.append(_as_row(number, trial))
        yield trials


def _json_lines(path: Path) -> Iterator[Any]:
    """Yield the JSON value of each line, or why it is none."""
    for number, line in read_lines(path, longest=1 << 24):
        if isinstance(line, BadRow):
            yield line
        elif line.strip():
            try:
                yield parse_json(line)
            except ValueError:
                yield BadRow(number, "not JSON")


def _as_row(number: int, value: Any) -> Row | BadRow:
    """Return a JSON value as a row, which must be an object."""
    if isinstance(value, dict):
        return Row(number, value)
    return BadRow(number, "not a JSON object")


def _require(cells: Cells, names: frozenset[str]) -> None:
    """Refuse a row that lacks what makes its file what it is."""
    missing = sorted(names - cells.keys())
    if missing:
        raise BadValueError(f"has no '{missing[0]}'")


def _only(
    cells: Cells,
    names: Sequence[str],
    option: str,
) -> Any:
    """Return the value under any of these names; values that differ are the user's to decide."""
    values = {name: cells[name] for name in names if cells.get(name) not in (None, "")}
    if len({str(value) for value in values.values()}) > 1:
        raise UserError(f"A trial has {' and '.join(values)}, which differ: say {option}.")
    return next(iter(values.values()), None)


def _choices(cells: Cells) -> tuple[str, ...]:
    """Return the labels of the buttons, where the trial stored them."""
    for name in CHOICE_KEYS:
        if isinstance(cells.get(name), list):
            return tuple(map(str, cells[name]))
    return ()


def _seconds(value: Any, per_second: float = 1) -> float:
    """Return a time in seconds, NaN where there is none."""
    try:
        seconds = float(value) / per_second
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return seconds if 0 <= seconds < math.inf else math.nan
