"""core-space: which of two things is higher up in a room."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.data import core
from seesay.data.cells import BadValueError, Cells, one_of
from seesay.data.rows import parse_table
from seesay.questions import Question, Task, Template
from seesay.tasks._core import core_task, filled

SCENES = {
    "bathroom": "a bathroom",
    "bedroom": "a bedroom",
    "kitchen": "a kitchen",
    "living room": "a living room",
    "office": "an office",
}
RELATIONS = ("above", "below", "similar")
OPPOSITE = {"above": "below", "below": "above", "similar": "similar"}

TEMPLATES = (
    Template("above", "In {a_scene}, the {a} is [MASK] the {b}.", {"similar": "beside"}),
    Template(
        "higher-than",
        "In {a_scene}, the {a} is usually [MASK] the {b}.",
        {"above": "higher than", "below": "lower than", "similar": "level with"},
    ),
    Template(
        "question",
        "Q: Where is the {a} in {a_scene}? A: [MASK] the {b}.",
        {"above": "Above", "below": "Below", "similar": "Beside"},
    ),
    Template(
        "look",
        "To look from the {b} to the {a} in {a_scene}, turn your eyes [MASK].",
        {"above": "up", "below": "down", "similar": "sideways"},
    ),
    Template(
        "height",
        "Compared with the {b}, the {a} in {a_scene} is at a [MASK] height.",
        {"above": "higher", "below": "lower"},
    ),
)
CHOICE = (
    Template("question", "In {a_scene}, where is the {a} compared with the {b}? [MASK]", {"similar": "at its height"}),
)
LINEAR_TEXT = "where the {a} is compared with the {b} in {a_scene}"


@dataclass(frozen=True, slots=True)
class _Triple:
    scene: str
    a: str
    b: str
    relation: str


def load(data: Path | None = None) -> Task:
    """The task from the embedded table, or from a table of the same columns."""
    relations: dict[tuple[str, str, str], str] = {}

    def parse(cells: Cells) -> _Triple:
        triple = _parse(cells)
        reverse = relations.get((triple.scene, triple.b, triple.a), OPPOSITE[triple.relation])
        if reverse != OPPOSITE[triple.relation]:
            raise BadValueError(f"an earlier row says that '{triple.b}' is {reverse} '{triple.a}' in this scene")
        relations.setdefault((triple.scene, triple.a, triple.b), triple.relation)
        return triple

    rows, bad = parse_table(
        data or core.path("spaces"), core.COLUMNS["spaces"], parse, key=lambda row: (row.scene, row.a, row.b)
    )
    return core_task(
        "core-space",
        [_question(row) for row in rows.values()],
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("accuracy", "macro_f1"),
        neutral={"a": "one thing", "b": "other thing"},
        bad_rows=tuple(bad),
    )


def _parse(cells: Cells) -> _Triple:
    a, b = filled(cells, "a"), filled(cells, "b")
    if a == b:
        raise BadValueError(f"compares '{a}' with itself")
    return _Triple(one_of(cells["scene"], SCENES, "scene"), a, b, one_of(cells["relation"], RELATIONS, "relation"))


def _question(row: _Triple) -> Question:
    return Question(
        id=f"{row.scene}|{row.a}|{row.b}",
        fields={"scene": row.scene, "a_scene": SCENES[row.scene], "a": row.a, "b": row.b},
        options=RELATIONS,
        gold={row.relation: 1.0},
        object="|".join((row.scene, *sorted((row.a, row.b)))),
        tags={"scene": row.scene, "relation": row.relation},
    )
