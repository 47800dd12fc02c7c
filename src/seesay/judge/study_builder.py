"""Studies from a task or from a file of word pairs, with their control items."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from seesay.data.jsonl import BadValueError
from seesay.data.tables import Cells, read_csv
from seesay.errors import UserError
from seesay.judge.study import INSTRUCTIONS, Design, Item, Study
from seesay.questions import SEPARATOR, Task, Template

ODD_WORD = "green"
MOST_CONTROLS = 40
"""Different controls of one kind that a study keeps ready."""


def from_pairs(path: Path, design: Design, *, title: str = "", odd_word: str = ODD_WORD, name: str = "") -> Study:
    """A rating study from a CSV file with the columns `a`, `b` and, if there is a reference, `similarity` (0 to 1).

    Controls as published (Ghanimifard & Dobnik 2019): a colour word with a relation, and a relation with itself.
    """
    header = _first_line(path)
    columns = ["a", "b", *(["similarity"] if "similarity" in header else [])]
    rows, bad = read_csv(path, columns, _pair, key=lambda pair: frozenset((pair[0], pair[1])))
    items = [Item(id=f"{a}|{b}", base=f"{a}|{b}", words=(a, b), reference=known) for a, b, known in rows]
    words = sorted({word for a, b, _ in rows for word in (a, b)})
    if odd_word in words:
        raise UserError(f"'{odd_word}' stands among the pairs: name another word for the controls with --odd-word.")
    return Study(
        name=name or path.stem,
        title=title or "How similar are these words?",
        kind="rating",
        design=design,
        instructions=INSTRUCTIONS["rating"],
        items=(*items, *_pair_controls(words, odd_word, design)),
        left_out=tuple(f"row {row.row}: {row.reason}" for row in bad),
    )


def _first_line(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return [cell.strip().strip('"') for cell in file.readline(10_000).split(",")]
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8: give a CSV file with the columns a, b.") from None


def _pair(cells: Cells) -> tuple[str, str, float | None]:
    a, b = cells["a"].strip(), cells["b"].strip()
    if not a or not b:
        raise BadValueError("a word is empty")
    if "|" in a + b:
        raise BadValueError("a word holds '|'")
    if a == b:
        raise BadValueError(f"'{a}' stands beside itself: such pairs are the controls, which seesay adds")
    if not cells.get("similarity"):
        return a, b, None
    try:
        similarity = float(cells["similarity"])
    except ValueError:
        raise BadValueError(f"'similarity' is {cells['similarity']!r}, not a number") from None
    if not 0 <= similarity <= 1:
        raise BadValueError(f"'similarity' is {similarity}, not between 0 and 1")
    return a, b, similarity


def _pair_controls(words: Sequence[str], odd_word: str, design: Design) -> list[Item]:
    if not design.controls:
        return []
    chosen = random.Random(f"{design.seed}|controls").sample(list(words), min(len(words), MOST_CONTROLS))
    controls = [
        Item(id=f"control|{odd_word}|{word}", base=f"{odd_word}|{word}", words=(odd_word, word), control="distinct")
        for word in chosen
    ]
    return controls + [
        Item(id=f"control|{word}|{word}", base=f"{word}|{word}", words=(word, word), control="same") for word in chosen
    ]


def from_task(
    task: Task,
    design: Design,
    *,
    template: str | None = None,
    known: Sequence[str] | None = None,
    title: str = "",
    name: str = "",
) -> Study:
    """A choice study that asks a task's questions in one of its wordings.

    Controls are questions with a single gold label, named in `known` or drawn by the seed. A question that one person
    meets as a control is measured with others, so that every question of the task has its judgements.
    """
    wording = _wording(task, template)
    items = [_choice(task, wording, index) for index in range(len(task.questions))]
    _check_pictures(items)
    return Study(
        name=name or task.name,
        title=title or task.title,
        kind="choice",
        design=design,
        instructions=INSTRUCTIONS["choice"],
        items=(*items, *_known_controls(task, items, known, design)),
        task=task,
        left_out=tuple(f"row {row.row}: {row.reason}" for row in task.bad_rows),
    )


def _wording(task: Task, name: str | None) -> Template:
    for template in task.templates:
        if name in (None, template.name):
            return template
    raise UserError(
        f"'{task.name}' has no wording '{name}': choose one of {', '.join(t.name for t in task.templates)}."
    )


def _choice(task: Task, template: Template, index: int) -> Item:
    question = task.questions[index]
    prompt = template.ask(question)
    return Item(
        id=question.id,
        base=question.id,
        question=question.id,
        template=template.name,
        text=prompt.text.replace(SEPARATOR, "").replace("  ", " "),
        options=question.options,
        wordings=prompt.options,
        picture=question.picture,
    )


def _known_controls(task: Task, items: Sequence[Item], known: Sequence[str] | None, design: Design) -> list[Item]:
    if not design.controls:
        return []
    gold = {
        question.id: [label for label, weight in question.gold.items() if weight > 0] for question in task.questions
    }
    strangers = [name for name in known or () if name not in gold]
    if strangers:
        raise UserError(f"'{strangers[0]}' is no question of '{task.name}': --known lists ids of its questions.")
    single = [name for name, labels in gold.items() if len(labels) == 1]
    chosen = set(known) if known is not None else set(_draw(single, design))
    return [
        item.model_copy(update={"id": f"control|{item.id}", "control": "known", "known": tuple(gold[item.id])})
        for item in items
        if item.id in chosen
    ]


def _draw(names: Sequence[str], design: Design) -> list[str]:
    size = min(len(names), MOST_CONTROLS, max(len(names) // 5, 2 * design.controls * design.pages))
    return random.Random(f"{design.seed}|controls").sample(list(names), size)


def _check_pictures(items: Sequence[Item]) -> None:
    missing = [item.picture for item in items if item.picture and not Path(item.picture).is_file()]
    if missing:
        raise UserError(f"The picture '{missing[0]}' is not there ({len(missing)} are missing): make the scenes first.")
