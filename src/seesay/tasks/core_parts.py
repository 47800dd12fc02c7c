"""core-parts: what things have and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.data import core
from seesay.data.cells import Cells, one_of, split_words
from seesay.data.rows import parse_table
from seesay.data.task_files.texts import capital
from seesay.questions import Question, Task, Template
from seesay.tasks._core import core_task, filled, noun_phrase

# The words around the thing in a question of each relation: "What DOES a dog HAVE?", "What IS a nail MADE OF?"
RELATIONS = {"has": ("does", "have"), "is made of": ("is", "made of")}

TEMPLATES = (
    Template("plain", "{Thing} {relation} [MASK]."),
    Template("everyone-knows", "Everyone knows that {thing} {relation} [MASK]."),
    Template("question", "Q: What {aux} {thing} {verb}? A: [MASK]."),
    Template("child", "As every child knows, {thing} {relation} [MASK]."),
    Template("look", "Look at {thing}: it {relation} [MASK]."),
)
CHOICE = (Template("question", "What {aux} {thing} {verb}? [MASK]"),)
LINEAR_TEXT = "what {thing} {relation}"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    phrase: str
    relation: str
    answers: tuple[str, ...]


def load(data: Path | None = None) -> Task:
    """The task from the embedded table, or from a table of the same columns.

    The options of a relation are all the answers that the table names for it: the annotation is complete, so an
    option that a row does not list is wrong for it.
    """
    rows, bad = parse_table(
        data or core.path("parts"),
        core.COLUMNS["parts"],
        _parse,
        key=lambda row: (row.name.casefold(), row.relation),
    )
    options = {
        relation: tuple(
            dict.fromkeys(word for row in rows.values() if row.relation == relation for word in row.answers)
        )
        for relation in RELATIONS
    }
    return core_task(
        "core-parts",
        [_question(row, options[row.relation]) for row in rows.values()],
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("average_precision", "relaxed_accuracy"),
        neutral={"thing": "something", "Thing": "Something"},
        bad_rows=tuple(bad),
    )


def _parse(cells: Cells) -> _Row:
    relation = one_of(cells["relation"], RELATIONS, "relation")
    return _Row(
        cells["concept"], noun_phrase(cells, "concept"), relation, split_words(filled(cells, "answers"), "answers")
    )


def _question(row: _Row, options: tuple[str, ...]) -> Question:
    aux, verb = RELATIONS[row.relation]
    return Question(
        id=f"{row.name}|{row.relation}",
        fields={
            "thing": row.phrase,
            "Thing": capital(row.phrase),
            "relation": row.relation,
            "aux": aux,
            "verb": verb,
        },
        options=options,
        gold={answer: 1 / len(row.answers) for answer in row.answers},
        object=row.name,
        tags={"relation": row.relation},
    )
