"""Build a study from a task or from a file of word pairs, with its control items."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from seesay.data.jsonl import BadValueError
from seesay.data.tables import Cells, read_csv
from seesay.errors import UserError
from seesay.judge.study import INSTRUCTIONS, Study, StudyDesign, StudyItem
from seesay.questions import SEPARATOR, Question, Task, Template

ODD_WORD = "green"
MAX_CONTROLS = 40
"""Different controls of one kind in a study."""


def option_name(field: str) -> str:
    """The option of `seesay judge serve` that sets a field of a study."""
    return "--" + field.replace("_minutes", "").replace("_", "-")


def build_study(
    source: str,
    design: Mapping[str, Any],
    *,
    name: str = "",
    data: Path | None = None,
    template: str | None = None,
    limit: int | None = None,
    known: Sequence[str] | None = None,
    odd_word: str = ODD_WORD,
) -> Study:
    """A study from the name of a task or a file of pairs; `design` holds the fields of `StudyDesign` to set."""
    try:
        study_design = StudyDesign(**design)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{option_name(str(first['loc'][0]))}: {first['msg']}.") from None
    if not source.endswith((".yaml", ".yml")) and (source.endswith((".csv", ".tsv", ".txt")) or Path(source).is_file()):
        if not Path(source).is_file():
            raise UserError(f"There is no file '{source}'.")
        return study_from_pairs(Path(source), study_design, odd_word=odd_word, name=name)
    from seesay.runs.ask import limited
    from seesay.tasks import load_task

    task = load_task(source, data)
    if limit is not None:
        task = limited(task, limit, study_design.seed)
    return study_from_task(task, study_design, template=template, known=known, name=name)


def study_from_pairs(path: Path, design: StudyDesign, *, odd_word: str = ODD_WORD, name: str = "") -> Study:
    """A rating study from a CSV file with the columns `a`, `b` and, if there is a reference, `similarity` (0 to 1).

    Controls as published (Ghanimifard & Dobnik 2019): a colour word with a relation, and a relation with itself.
    """
    columns = ["a", "b", *(["similarity"] if "similarity" in _header(path) else [])]
    rows, bad_rows = read_csv(path, columns, _parse_pair, key=lambda pair: frozenset((pair[0], pair[1])))
    items = [StudyItem(id=f"{a}|{b}", base=f"{a}|{b}", words=(a, b), reference=similarity) for a, b, similarity in rows]
    words = sorted({word for a, b, _ in rows for word in (a, b)})
    if odd_word in words:
        raise UserError(f"'{odd_word}' is among the pairs: choose another word for the controls with --odd-word.")
    return Study(
        name=name or path.stem,
        title="How similar are these words?",
        kind="rating",
        design=design,
        instructions=INSTRUCTIONS["rating"],
        items=(*items, *_pair_controls(words, odd_word, design)),
        left_out=tuple(bad_rows),
    )


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return [cell.strip().strip('"') for cell in file.readline(10_000).split(",")]
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text: give a CSV file with the columns a, b.") from None


def _parse_pair(cells: Cells) -> tuple[str, str, float | None]:
    a, b = cells["a"].strip(), cells["b"].strip()
    if not a or not b:
        raise BadValueError("a word is empty")
    if "|" in a + b:
        raise BadValueError("a word contains '|'")
    if a == b:
        raise BadValueError(f"'{a}' is paired with itself: such pairs are controls, which seesay adds")
    if not cells.get("similarity"):
        return a, b, None
    try:
        similarity = float(cells["similarity"])
    except ValueError:
        raise BadValueError(f"'similarity' is {cells['similarity']!r}, not a number") from None
    if not 0 <= similarity <= 1:
        raise BadValueError(f"'similarity' is {similarity}, not between 0 and 1")
    return a, b, similarity


def _pair_controls(words: Sequence[str], odd_word: str, design: StudyDesign) -> list[StudyItem]:
    if not design.controls:
        return []
    chosen = random.Random(f"{design.seed}|controls").sample(list(words), min(len(words), MAX_CONTROLS))
    controls = [
        StudyItem(
            id=f"control|{odd_word}|{word}", base=f"{odd_word}|{word}", words=(odd_word, word), control="distinct"
        )
        for word in chosen
    ]
    return controls + [
        StudyItem(id=f"control|{word}|{word}", base=f"{word}|{word}", words=(word, word), control="same")
        for word in chosen
    ]


def study_from_task(
    task: Task, design: StudyDesign, *, template: str | None = None, known: Sequence[str] | None = None, name: str = "",
    several: bool = False,
) -> Study:  # fmt: skip
    """A choice study that asks a task's questions with one of its templates; `several` lets people name several labels.

    Controls are questions with a single gold label, listed in `known` or drawn by the seed. A question that serves one
    participant as a control is measured with others, so that every question of the task gets its judgements.
    """
    chosen = _find_template(task, template)
    items = [_choice_item(chosen, question, several) for question in task.questions]
    _check_pictures(items)
    return Study(
        name=name or task.name,
        title=task.title,
        kind="choice",
        design=design,
        instructions=INSTRUCTIONS["several" if several else "choice"],
        items=(*items, *_known_controls(task, items, known, design)),
        task=replace(task, load_splits=None),  # people are not trained; a function cannot be stored
        left_out=task.bad_rows,
    )


def _find_template(task: Task, name: str | None) -> Template:
    for template in task.templates:
        if name in (None, template.name):
            return template
    names = ", ".join(template.name for template in task.templates)
    raise UserError(f"'{task.name}' has no template '{name}': choose one of {names}.")


def _choice_item(template: Template, question: Question, several: bool) -> StudyItem:
    prompt = template.ask(question)
    return StudyItem(
        id=question.id,
        base=question.id,
        question=question.id,
        template=template.name,
        text=prompt.text.replace(SEPARATOR, "").replace("  ", " "),
        options=question.options,
        option_texts=prompt.options,
        picture=question.picture,
        several=several,
    )


def _known_controls(
    task: Task, items: Sequence[StudyItem], known: Sequence[str] | None, design: StudyDesign
) -> list[StudyItem]:
    if not design.controls:
        return []
    gold = {
        question.id: [label for label, weight in question.gold.items() if weight > 0] for question in task.questions
    }
    unknown = [name for name in known or () if name not in gold]
    if unknown:
        raise UserError(f"'{unknown[0]}' is not a question of '{task.name}': --known lists ids of its questions.")
    single = [name for name, labels in gold.items() if len(labels) == 1]
    chosen = set(known) if known is not None else set(_draw(single, design))
    return [
        item.model_copy(update={"id": f"control|{item.id}", "control": "known", "known": tuple(gold[item.id])})
        for item in items
        if item.id in chosen
    ]


def _draw(names: Sequence[str], design: StudyDesign) -> list[str]:
    size = min(len(names), MAX_CONTROLS, max(len(names) // 5, 2 * design.controls * design.pages))
    return random.Random(f"{design.seed}|controls").sample(list(names), size)


def _check_pictures(items: Sequence[StudyItem]) -> None:
    missing = [item.picture for item in items if item.picture and not Path(item.picture).is_file()]
    if missing:
        raise UserError(
            f"The picture '{missing[0]}' does not exist ({len(missing)} are missing): make the scenes first."
        )
