"""People's answers from other programs: jsPsych's trials, Potato's annotations, and plain rows.

What a file is follows from the keys of its rows, never from its name or its values. Prolific's
export says whose answers count. What belongs to nobody, to no item or to no option is counted and
reported, and so is who answered an item twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells
from seesay.data.json_stream import parse_json
from seesay.data.lines import LONGEST_TEXT_LINE, read_lines
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
JSPSYCH = frozenset({"trial_type", "trial_index"})
POTATO = frozenset({"instance_id", "user_id", "labels"})
PROLIFIC = frozenset({"Submission id", "Participant id", "Status"})
PLAIN = frozenset({"person", "item"})
TEXT_FIELD = "text_box"
"""What Potato calls the only label of a text field."""
COUNTING_STATES = {"APPROVED", "AWAITING REVIEW"}
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt")
IN_TASK_ORDER = (
    "answers are the numbers of buttons, whose labels the trials do not have: they count in the "
    "order of the task's options"
)
SHOWN = 3


@dataclass(frozen=True, slots=True)
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
    choices: Sequence[str] = ()


Parse = Callable[[Cells, str], ForeignAnswer | None]
"""Makes an answer of a row and the name of its session."""


@dataclass
class ImportedAnswers:
    """Judgements of a study, and what is to be said about the rows that are none."""

    judgements: list[Judgement] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """The numbers of the participants in the study, by their names in the files."""
    rejected: dict[int, str] = field(default_factory=dict)
    """Participants who do not count, and why."""
    problems: dict[str, list[str]] = field(default_factory=dict)
    """What was left out or is missing: each kind with its examples."""

    def report(self, problem: str, *subjects: str) -> None:
        """Keep what was left out, or is missing."""
        if subjects:
            self.problems.setdefault(problem, []).extend(subjects)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out and what is missing, in sentences."""
        notes = []
        for problem, subjects in self.problems.items():
            names = list(dict.fromkeys(subjects))
            examples = "; ".join(names[:SHOWN])
            if len(names) > SHOWN:
                examples += " …"
            notes.append(f"{len(subjects):,} {problem} ({examples}).")
        return tuple(notes)


def import_answers(
    study: Study,
    paths: Sequence[Path],
    keys: ImportKeys | None = None,
) -> ImportedAnswers:
    """Read the answers to a study's items from files of other programs."""
    reader = _Reader(keys or ImportKeys())
    for path in paths:
        reader.read(path)
    imported = reader.imported
    _add_judgements(imported, study, reader.answers)
    _reject_by_state(imported, reader.states)
    answered = {judgement.item.id for judgement in imported.judgements}
    unanswered = [item.id for item in study.measured if item.id not in answered]
    imported.report("items have no answer", *unanswered)
    if not imported.judgements:
        raise UserError(f"No answer to '{study.name}' can be used: {' '.join(imported.notes)}")
    return imported


class _Reader:
    """Reads files into answers, and Prolific's exports into the states of participants."""

    def __init__(self, keys: ImportKeys) -> None:
        self.keys = keys
        self.imported = ImportedAnswers()
        self.answers: list[ForeignAnswer] = []
        self.states: dict[str, set[str]] = {}
        self._trials: set[tuple[str, str]] = set()

    def read(self, path: Path) -> None:
        """Read one file."""
        sessions = _sessions(path)
        rows = [row for session in sessions for row in session]
        first = next((row for row in rows if isinstance(row, Row)), None)
        if first is None:
            raise UserError(f"{path} holds no row that can be read.")
        parse = self._choose_shape(path, first.cells)
        for number, session in enumerate(sessions, start=1):
            # Without a key that says whose it is, a session is a person.
            name = path.stem
            if len(sessions) > 1:
                name += f" {number}"
            for row in session:
                self._read_row(path, row, parse, name)

    def _read_row(
        self,
        path: Path,
        row: Row | BadRow,
        parse: Parse,
        session: str,
    ) -> None:
        """Read a row; one that is no answer is reported."""
        if isinstance(row, BadRow):
            self.imported.report("rows cannot be read", f"{path.name}, {row}")
            return
        try:
            answer = parse(row.cells, session)
        except BadValueError as error:
            self.imported.report("rows cannot be read", f"{path.name}, {row.bad(str(error))}")
            return
        if answer is None:
            return
        if not answer.item:
            self.imported.report("rows ask nothing of the study", f"{path.name}, row {row.number}")
        elif answer.response in (None, "", []):
            self.imported.report("rows have no response", answer.item)
        else:
            self.answers.append(answer)

    def _choose_shape(self, path: Path, cells: Cells) -> Parse:
        """Return what reads the rows of a file, by the keys of its first one."""
        names = cells.keys()
        shapes: dict[frozenset[str], Parse] = {
            PROLIFIC: self._parse_submission,
            JSPSYCH: self._parse_trial,
            POTATO: self._parse_annotation,
            PLAIN: self._parse_plain,
        }
        keys_by_user = frozenset((self.keys.person, self.keys.item, self.keys.response))
        if "" not in keys_by_user:
            shapes[keys_by_user] = self._parse_plain
        for keys, parse in shapes.items():
            if names >= keys:
                return parse
        raise UserError(
            f"{path} is none of these: jsPsych's trials (trial_type, trial_index), Potato's "
            "annotations (instance_id, user_id, labels), rows with person, item and label, or "
            "Prolific's export. Say --person, --item and --response."
        )

    def _parse_submission(self, cells: Cells, session: str) -> None:
        """Note the state of a submission to Prolific."""
        person = _text(cells, "Participant id").strip()
        state = _text(cells, "Status").strip()
        if not person:
            raise BadValueError("'Participant id' is empty")
        # Who began twice has several states: one that counts is enough.
        self.states.setdefault(person, set()).add(state.upper())

    def _parse_trial(self, cells: Cells, session: str) -> ForeignAnswer:
        """Read a trial of jsPsych; trials that name no item ask nothing of the study."""
        _require(cells, JSPSYCH)
        person = _only(cells, self.keys.person, PERSON_KEYS, "--person")
        item = _only(cells, self.keys.item, ITEM_KEYS, "--item")
        if not person:
            person = session
            place = (session, str(cells["trial_index"]))
            if place in self._trials:
                raise UserError(
                    f"'{session}' has the trial {place[1]} twice: it holds the trials of several "
                    "people, and nothing tells them apart. Give one file or list for each, or say "
                    "--person."
                )
            self._trials.add(place)
        response = cells.get(self.keys.response or "response")
        if isinstance(response, Mapping):
            if len(response) != 1:
                raise BadValueError("'response' has answers to several questions")
            response = next(iter(response.values()))
        # Only of buttons a number is a place; elsewhere it is what was typed.
        has_buttons = str(cells["trial_type"]).endswith("button-response")
        is_place = has_buttons and not isinstance(response, float)
        if not is_place and response is not None and not isinstance(response, list):
            response = str(response)
        choices = cells.get("choices")
        if not isinstance(choices, list):
            choices = []
        return ForeignAnswer(
            person,
            item,
            response,
            # jsPsych measures in milliseconds
            _seconds(cells.get("rt"), per_second=1000),
            [str(choice) for choice in choices],
        )

    def _parse_annotation(self, cells: Cells, session: str) -> ForeignAnswer:
        """Read an annotation of Potato: the labels of one of its schemas."""
        _require(cells, POTATO)
        schemas = cells["labels"]
        if not isinstance(schemas, Mapping):
            raise BadValueError("'labels' is not a mapping of schemas")
        if len(schemas) > 1 and not self.keys.response:
            raise UserError(
                f"Potato's annotations have the schemas {', '.join(schemas)}: say which one holds "
                "the answer with --response."
            )
        # The only schema, where the user names none.
        schema = self.keys.response or next(iter(schemas), "")
        labels = schemas.get(schema, {})
        if not isinstance(labels, Mapping):
            raise BadValueError("a schema is not a mapping of labels")
        response = [label for label, value in labels.items() if value not in (None, "", False)]
        if TEXT_FIELD in labels:
            response = [str(labels[TEXT_FIELD] or "")]
        return ForeignAnswer(str(cells["user_id"]), str(cells["instance_id"]), response)

    def _parse_plain(self, cells: Cells, session: str) -> ForeignAnswer:
        """Read a row of anyone's making, or of the table that `seesay judge export` writes."""
        person = _text(cells, self.keys.person or "person")
        item = _text(cells, self.keys.item or "item")
        if not person or not item:
            raise BadValueError("it names no person, or no item")
        response = cells.get(self.keys.response or "label") or cells.get("text")
        if isinstance(response, str):
            # as several labels are exported
            response = response.split("; ")
        return ForeignAnswer(person, item, response, _seconds(cells.get("seconds")))


def _add_judgements(
    imported: ImportedAnswers,
    study: Study,
    answers: Sequence[ForeignAnswer],
) -> None:
    """Add the answers that can be told as judgements, and report the others."""
    by_place: dict[tuple[int, str], list[Judgement]] = {}
    for answer in answers:
        person = imported.numbers.setdefault(answer.person, len(imported.numbers) + 1)
        item = study.items_by_id.get(answer.item)
        if item is None:
            imported.report(f"answers are to no item of '{study.name}'", answer.item)
            continue
        try:
            item_answer = _as_item_answer(item, answer)
            item.check(item_answer)
        except (BadValueError, RequestRejectedError):
            imported.report("answers name no option", str(answer.response)[:40])
            continue
        if type(answer.response) is int and not answer.choices:
            imported.report(IN_TASK_ORDER, answer.item)
        judgement = Judgement(
            person,
            item,
            item_answer.value,
            None,
            IMPORTED,
            answer.seconds,
            0,
            math.nan,
            item_answer.text,
        )
        by_place.setdefault((person, item.id), []).append(judgement)
    for (_, name), given_twice in by_place.items():
        if len({(judgement.value, judgement.text) for judgement in given_twice}) > 1:
            imported.report(
                "answers of one person to one item contradict one another, and none of them counts",
                *[name] * len(given_twice),
            )
            continue
        imported.report("answers were there twice", *[name] * (len(given_twice) - 1))
        imported.judgements.append(given_twice[0])


def _reject_by_state(imported: ImportedAnswers, states: Mapping[str, set[str]]) -> None:
    """Reject who does not count by Prolific's export, if there is one."""
    if not states:
        return
    for person, number in imported.numbers.items():
        if person not in states:
            imported.rejected[number] = "not in Prolific's export"
            imported.report(
                "people with answers are not in Prolific's export, and do not count", person
            )
        elif not states[person] & COUNTING_STATES:
            imported.rejected[number] = f"Prolific: {', '.join(sorted(states[person])).lower()}"
    silent = [person for person in states if person not in imported.numbers]
    imported.report("participants of Prolific's export gave no answer", *silent)


def _as_item_answer(item: StudyItem, answer: ForeignAnswer) -> ItemAnswer:
    """Return an answer in the form of the item's kind."""
    response = answer.response
    if type(response) is int and not isinstance(item, TypedItem):
        names = answer.choices or item.names
        if not 0 <= response < len(names):
            raise BadValueError("there is no such button")
        response = names[response]
    labels = [str(label) for label in _as_list(response)]
    if isinstance(item, TypedItem):
        return ItemAnswer(0, item.how[0], "; ".join(labels).strip())
    if not isinstance(item, ChoiceItem | SeveralItem):
        raise BadValueError("an answer is no rating")
    places = {_option_place(item, label) for label in labels}
    if isinstance(item, SeveralItem):
        # one bit per option
        bits = sum(1 << place for place in places)
        return ItemAnswer(bits, item.how[0])
    if len(places) != 1:
        raise BadValueError("it names several options")
    return ItemAnswer(places.pop(), item.how[0])


def _option_place(item: ChoiceItem | SeveralItem, label: str) -> int:
    """Return the place of the option that a label is: as it is called, or as it was shown."""
    names = [*enumerate(item.options), *enumerate(item.option_texts)]
    places = {place for place, name in names if name == label}
    if not places:
        # other programs may have changed the case
        spelling = label.strip().casefold()
        places = {place for place, name in names if name.strip().casefold() == spelling}
    if len(places) != 1:
        raise BadValueError("it is no option, or several")
    return places.pop()


def _sessions(path: Path) -> list[list[Row | BadRow]]:
    """Return the rows of a file, a list for each session that it keeps apart."""
    if not path.name.removesuffix(".gz").lower().endswith(JSON_SUFFIXES):
        return [list(read_rows(path))]
    try:
        document = load_json(path)
    except NotJsonError:
        document = list(_json_lines(path))
    values = _as_list(document)
    # A list of lists has a list for each person; any other list is of rows.
    sessions = [values]
    if any(isinstance(value, list) for value in values):
        sessions = [_as_list(value) for value in values]
    rows_by_session = []
    for session in sessions:
        rows = [_as_row(number, value) for number, value in enumerate(session, start=1)]
        rows_by_session.append(rows)
    return rows_by_session


def _as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as the only one of a list."""
    return value if isinstance(value, list) else [value]


def _json_lines(path: Path) -> Iterator[Any]:
    """Yield the JSON value of each line, or why it is none."""
    for number, line in read_lines(path, longest=LONGEST_TEXT_LINE):
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
    if isinstance(value, BadRow):
        return value
    return BadRow(number, "not a JSON object")


def _require(cells: Cells, names: frozenset[str]) -> None:
    """Refuse a row that lacks what makes its file what it is."""
    missing = sorted(names - cells.keys())
    if missing:
        raise BadValueError(f"has no '{missing[0]}'")


def _only(
    cells: Cells,
    key: str,
    names: Sequence[str],
    option: str,
) -> str:
    """Return the value under the user's key, or any of these names; differing ones are refused."""
    candidates = (key,) if key else names
    values = {name: str(cells[name]) for name in candidates if cells.get(name) not in (None, "")}
    if len(set(values.values())) > 1:
        raise UserError(f"A trial has {' and '.join(values)}, which differ: say {option}.")
    return next(iter(values.values()), "")


def _text(cells: Cells, key: str) -> str:
    """Return the text of a cell, empty where there is none."""
    return str(cells.get(key) or "")


def _seconds(value: Any, per_second: float = 1) -> float:
    """Return a time in seconds, NaN where there is none."""
    try:
        seconds = float(value) / per_second
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return seconds if 0 <= seconds < math.inf else math.nan
