"""The same items in several logs, and runs of them, which are compared like any others.

Items are the same where their ids are, or their texts, and nothing that both logs say of them
differs. An item that is twice in a log is not used: nobody can know which is meant. What is left
out, and what a program reports otherwise than its own rows, is said.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import seesay
from seesay.answers import NO_ANSWER, Answer, Scores
from seesay.condition import Condition
from seesay.defaults import RESAMPLES
from seesay.digests import file_digest
from seesay.errors import UserError
from seesay.questions import SLOT, Question, Task, Template
from seesay.runs.answer_table import AnswerTable
from seesay.runs.figures import figures
from seesay.runs.logs.items import Log, LogItem, LogKeys
from seesay.runs.logs.read import read_log
from seesay.runs.records import Manifest
from seesay.runs.run import Run

log = logging.getLogger(__name__)

SAME_FIGURE = 1e-6
"""How far a figure that a program reports may be from the mean of its own rows."""
PERCENT = 100
_SHOWN = 3
_OPTIONS = ("right", "wrong")
_TEMPLATE = Template("log", f"{{item}} {SLOT}")


@dataclass
class _Item:
    """What logs call the same item, as the first of them has it."""

    first: LogItem
    program: str
    cluster: str | None
    scores: dict[int, float] = field(default_factory=dict)


def read_logs(paths: Sequence[Path], keys: LogKeys) -> list[Run]:
    """Read logs of other programs as runs; logs of one task share their items."""
    logs = [read_log(path, keys) for path in paths]
    counts = Counter(other.task for other in logs)
    # programs call a task differently: names tell tasks apart only where each is there twice
    if min(counts.values(), default=0) < 2:
        return _make_runs(logs, keys)
    runs: list[Run] = []
    for task in counts:
        runs += _make_runs([other for other in logs if other.task == task], keys)
    return runs


def _make_runs(logs: Sequence[Log], keys: LogKeys) -> list[Run]:
    """Return a run for each log of one task."""
    by_id = _are_shared_by_id(logs)
    keyed = [_by_key(other, by_id, alone=len(logs) == 1) for other in logs]
    _refuse_unrelated(logs, keyed)
    items = _join(logs, keyed, by_id, keys)
    if keys.cluster is not None:
        _drop_unclustered(logs, items, keys.cluster)
    numbers = range(len(logs))
    metric = "mean_score"
    if all(score in (0, 1) for item in items.values() for score in item.scores.values()):
        metric = "accuracy"
    names = list(dict.fromkeys(other.task for other in logs))
    questions = {key: _question(key, item) for key, item in items.items()}
    runs = []
    for number in numbers:
        _check_reported(logs[number])
        scores = {key: item.scores[number] for key, item in items.items() if number in item.scores}
        task = Task(
            name=" / ".join(names),
            version="log",
            title=f"{' / '.join(names)}, from logs",
            templates=(_TEMPLATE,),
            questions=tuple(questions[key] for key in scores),
            metrics=(metric,),
        )
        how = f"score:{logs[number].metric}|same:{'id' if by_id else 'text'}|cluster:{keys.cluster}"
        runs.append(_make_run(logs[number], task, scores, how))
    return runs


def _are_shared_by_id(logs: Sequence[Log]) -> bool:
    """Return whether logs share more items by their ids than by their texts."""
    ids = [{item.id for item in other.items if item.id is not None} for other in logs]
    texts = [{item.text_key for item in other.items if item.text_key} for other in logs]
    shared_ids = sum(len(ids[0] & others) for others in ids[1:])
    shared_texts = sum(len(texts[0] & others) for others in texts[1:])
    return shared_ids >= shared_texts


def _by_key(other: Log, by_id: bool, *, alone: bool) -> dict[str, LogItem]:
    """Return a log's items by id or text, without those that are there twice or have no key."""
    if alone:
        return {str(number): item for number, item in enumerate(other.items, start=1)}
    keys = [item.id if by_id else item.text_key for item in other.items]
    counts = Counter(keys)
    what = "ids" if by_id else "texts"
    _note(
        other,
        f"items have {what} that are there more than once, and are left out",
        [
            _name(item)
            for item, key in zip(other.items, keys, strict=True)
            if counts[key] > 1 and key
        ],
    )
    _note(
        other,
        f"items have no {what}, and are left out",
        [_name(item) for item, key in zip(other.items, keys, strict=True) if key is None],
    )
    pairs = zip(other.items, keys, strict=True)
    return {key: item for item, key in pairs if key is not None and counts[key] == 1}


def _name(item: LogItem) -> str:
    return item.id or item.text[:60]


def _note(other: Log, problem: str, subjects: Iterable[str]) -> None:
    """Note how many items have a problem, with some of their names."""
    names = list(subjects)
    if names:
        examples = "; ".join(list(dict.fromkeys(names))[:_SHOWN])
        other.notes.append(f"{len(names):,} {problem} ({examples})")


def _refuse_unrelated(logs: Sequence[Log], keyed: Sequence[dict[str, LogItem]]) -> None:
    """Refuse a log that shares no item with the first."""
    for other, items in zip(logs[1:], keyed[1:], strict=True):
        if items.keys() & keyed[0].keys():
            continue
        first_names = "; ".join(map(_name, logs[0].items[:_SHOWN]))
        other_names = "; ".join(map(_name, other.items[:_SHOWN]))
        repeated = f" ({'; '.join(other.notes)})" if other.notes else ""
        raise UserError(
            f"{logs[0].path} and {other.path} share no item by id or text: the one has "
            f"{first_names}, the other {other_names}{repeated}. Name the field of their ids with "
            "--item."
        )


def _join(
    logs: Sequence[Log],
    keyed: Sequence[dict[str, LogItem]],
    by_id: bool,
    keys: LogKeys,
) -> dict[str, _Item]:
    """Return the items of all logs by key; those that differ under one key stay apart."""
    items: dict[str, _Item] = {}
    for number, (other, by_key) in enumerate(zip(logs, keyed, strict=True)):
        differing: dict[str, list[str]] = {}
        reordered: list[str] = []
        for key, item in by_key.items():
            same = items.get(key)
            difference = None
            if same is not None:
                is_number = str(item.id).isdecimal() and keys.item is None
                needs_text = by_id and (is_number or same.program == other.program)
                difference = _difference(same, item, needs_text)
            if difference is not None:
                differing.setdefault(difference, []).append(_name(item))
                key, same = f"{key} ({number + 1})", None
            if same is None:
                same = items[key] = _Item(item, other.program, item.cluster)
            elif same.first.choices != item.choices and same.first.choices and item.choices:
                reordered.append(_name(item))
            same.cluster = same.cluster or item.cluster
            same.scores[number] = item.score
        for difference, names in differing.items():
            _note(other, f"items have {difference} than in {logs[0].path}: not compared", names)
        _note(other, "items have their choices in another order, and are compared", reordered)
    return items


def _difference(same: _Item, item: LogItem, needs_text: bool) -> str | None:
    """Return in what two items of one key differ, among what both logs say of them."""
    first = same.first
    has_texts = None not in (first.text_key, item.text_key)
    if needs_text and has_texts and first.text_key != item.text_key:
        return "another text"
    if first.choices and item.choices and sorted(first.choices) != sorted(item.choices):
        return "other choices"
    if first.right and item.right and first.right != item.right:
        return "another right answer"
    if None not in (same.cluster, item.cluster) and same.cluster != item.cluster:
        return "another cluster"
    return None


def _drop_unclustered(logs: Sequence[Log], items: dict[str, _Item], cluster: str) -> None:
    """Leave out items of which no log names the cluster."""
    missing = [key for key, item in items.items() if item.cluster is None]
    if len(missing) == len(items):
        raise UserError(f"No item of these logs has a field '{cluster}' to cluster by.")
    for number, other in enumerate(logs):
        names = [_name(items[key].first) for key in missing if number in items[key].scores]
        _note(other, f"items have no '{cluster}' to cluster by, and are left out", names)
    for key in missing:
        del items[key]


def _check_reported(other: Log) -> None:
    """Note where the program's own figure is not the mean of its rows, and what was left out."""
    _note(other, "rows cannot be used", map(str, other.bad))
    present = len(other.items) + len(other.bad)
    if other.rows is not None and other.rows != present:
        other.notes.append(
            f"{other.program} says that the log has {other.rows:,} rows, and it has {present:,}"
        )
    mean = sum(item.score for item in other.items) / len(other.items)
    reported = other.reported
    # some write shares, and some percentages
    if reported is not None and all(
        abs(reported / unit - mean) > SAME_FIGURE for unit in (1, PERCENT)
    ):
        other.notes.append(
            f"{other.program} reports {reported:.6g} as {other.metric}, and the mean of its "
            f"{len(other.items):,} items is {mean:.6g}"
        )
    for note in other.notes:
        log.warning("%s: %s.", other.path, note)


def _question(key: str, item: _Item) -> Question:
    """Return an item as a question whose score is the probability of being right."""
    return Question(
        id=key,
        fields={"item": item.first.text or _name(item.first)},
        options=_OPTIONS,
        gold={_OPTIONS[0]: 1.0},
        object=item.cluster or f"item {key.replace('|', '/')}",
    )


def _make_run(other: Log, task: Task, scores: dict[str, float], how: str) -> Run:
    """Return a log as a run."""
    digest = file_digest(other.path)
    condition = Condition(scope="log")
    manifest = Manifest(
        seesay=seesay.__version__,
        created=datetime.fromtimestamp(other.path.stat().st_mtime, UTC).isoformat(
            timespec="seconds"
        ),
        command="",
        model=other.model,
        family=other.program,
        # unknown: the signature holds the digest of the log
        model_fingerprint="",
        condition=condition,
        task=task.name,
        task_version=task.version,
        task_fingerprint=task.fingerprint,
        templates=[_TEMPLATE.name],
        questions=len(task.questions),
        limit=None,
        seed=0,
        resamples=RESAMPLES,
        signature=f"task:{task.name}@{task.fingerprint}|questions:{len(task.questions)}|"
        f"model:{other.model}|log:{other.program}@{digest}|{how}|seed:0|resamples:{RESAMPLES}|"
        f"seesay:{seesay.__version__}",
        environment={},
        notes=other.notes,
        bad_rows=other.bad,
    )
    by_score: dict[float, Scores] = {}
    answers = []
    for question in task.questions:
        score = scores[question.id]
        if score not in by_score:
            logarithms = (_logarithm(score), _logarithm(1 - score))
            by_score[score] = Scores(logarithms, (1, 1), (1, 1))
        answers.append(Answer(question.id, _TEMPLATE.name, _OPTIONS, by_score[score]))
    table = AnswerTable.of(answers)
    # there is nothing to guess: the log has scores, and no options
    run_figures = [
        figure.model_copy(update={"chance": None}) for figure in figures(manifest, task, table)
    ]
    return Run(other.path, manifest, task, table, tuple(run_figures))


def _logarithm(share: float) -> float:
    return math.log(share) if share > 0 else NO_ANSWER
