"""Build a study from a task or from a file of word pairs, with its control items."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from seesay.data.cells import BadValueError, Cells
from seesay.data.rows import column_names, parse_table
from seesay.errors import UserError
from seesay.judge.items import (
    ITEM_TYPES,
    MAX_SEVERAL,
    ControlKind,
    RatingItem,
    SentenceItem,
    StudyItem,
    TextItem,
)
from seesay.judge.messages import mark
from seesay.judge.numbers import option_number
from seesay.judge.pictures import PICTURES
from seesay.judge.study import INSTRUCTIONS, Study, StudyDesign
from seesay.judge.texts import StudyTexts, read_texts
from seesay.questions import SEPARATOR, Question, Task, Template

ODD_WORD = "green"
MAX_CONTROLS = 40
"""Different controls of one kind in a study."""


def option_name(field: str) -> str:
    """The option of `seesay judge serve` that sets a field of a study."""
    if field == "allocation":
        return "--design"
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
    answer: str = "choice",
    most: int = 0,
    icons: Path | None = None,
    text_file: Path | None = None,
) -> Study:
    """A study from the name of a task or a file of pairs; `design` holds the fields of
    `StudyDesign` to set."""
    try:
        study_design = StudyDesign(**design)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{option_name(str(first['loc'][0]))}: {first['msg']}.") from None
    if not source.endswith((".yaml", ".yml")) and (
        source.endswith((".csv", ".tsv", ".txt")) or Path(source).is_file()
    ):
        study = study_from_pairs(
            Path(source), study_design, odd_word=odd_word, name=name, icons=icons
        )
        return with_texts(study, text_file)
    from seesay.runs.ask import limited
    from seesay.tasks import load_task

    task = load_task(source, data)
    if limit is not None:
        task = limited(task, limit, study_design.seed)
    study = study_from_task(
        task,
        study_design,
        template=template,
        known=known,
        name=name,
        answer=answer,
        most=most,
        icons=icons,
    )
    return with_texts(study, text_file)


def with_texts(study: Study, path: Path | None) -> Study:
    """The study with the texts of a file; its languages are those of the design and of the file."""
    texts = read_texts(path, study.kind) if path is not None else {}
    languages = tuple(dict.fromkeys((*study.design.languages, *texts)))
    bases = {item.base for item in study.items}
    unknown = [name for block in texts.values() for name in block.items if name not in bases]
    if unknown:
        raise UserError(f"'{unknown[0]}' in '{path}' is not an item of the study.")
    default = texts.get(languages[0], StudyTexts())
    for step in ("check", "practice"):
        if not getattr(default, step) and any(getattr(block, step) for block in texts.values()):
            raise UserError(
                f"'{path}' has no `{step}` in '{languages[0]}', the study's first language, which "
                "stands in for the "
                "others: add one, or put another language first with --languages."
            )
    items = tuple(_with_aliases(item, texts.values()) for item in study.items)
    design = study.design.model_copy(update={"languages": languages})
    return study.model_copy(update={"texts": texts, "design": design, "items": items})


def _with_aliases(item: StudyItem, texts: Iterable[StudyTexts]) -> StudyItem:
    """A typed answer may name an option in any of the study's languages."""
    if not isinstance(item, TextItem):
        return item
    names = {
        option: tuple(t.options[option] for t in texts if option in t.options)
        for option in item.options
    }
    return item.model_copy(
        update={"aliases": {option: aliases for option, aliases in names.items() if aliases}}
    )


def study_from_pairs(
    path: Path,
    design: StudyDesign,
    *,
    odd_word: str = ODD_WORD,
    name: str = "",
    icons: Path | None = None,
) -> Study:
    """A rating study from a CSV file with the columns `a`, `b` and, if wanted, `similarity` (a
    reference, 0 to 1) and `picture` (a path beside the file).

    Controls as published (Ghanimifard & Dobnik 2019): a colour word with a relation, and a relation
    with itself.
    """
    header = column_names(path)
    columns = ["a", "b", *(column for column in ("similarity", "picture") if column in header)]
    rows, bad_rows = parse_table(
        path, columns, _parse_pair, key=lambda pair: frozenset((pair[0], pair[1]))
    )
    items = [
        RatingItem(
            id=f"{a}|{b}",
            base=f"{a}|{b}",
            words=(a, b),
            reference=similarity,
            picture=str((path.parent / picture).resolve()) if picture else None,
        )
        for a, b, similarity, picture in rows.values()
    ]
    words = sorted({word for item in items for word in item.words})
    if odd_word in words:
        raise UserError(
            f"'{odd_word}' is among the pairs: choose another word for the controls with "
            "--odd-word."
        )
    return Study(
        name=name or path.stem,
        title=mark("How similar are these words?"),
        kind="rating",
        design=design,
        instructions=INSTRUCTIONS["rating"],
        items=_with_icons([*items, *_pair_controls(words, odd_word, design)], icons),
        bad_rows=tuple(bad_rows),
    )


def _parse_pair(cells: Cells) -> tuple[str, str, float | None, str]:
    a = cells["a"].strip()
    b = cells["b"].strip()
    if not a or not b:
        raise BadValueError("a word is empty")
    if "|" in a + b:
        raise BadValueError("a word contains '|'")
    if a == b:
        raise BadValueError(
            f"'{a}' is paired with itself: such pairs are controls, which seesay adds"
        )
    picture = (cells.get("picture") or "").strip()
    if not cells.get("similarity"):
        return a, b, None, picture
    try:
        similarity = float(cells["similarity"])
    except ValueError:
        raise BadValueError(f"'similarity' is {cells['similarity']!r}, not a number") from None
    if not 0 <= similarity <= 1:
        raise BadValueError(f"'similarity' is {similarity}, not between 0 and 1")
    return a, b, similarity, picture


def _pair_controls(words: Sequence[str], odd_word: str, design: StudyDesign) -> list[RatingItem]:
    if not design.controls:
        return []
    chosen = random.Random(f"{design.seed}|controls").sample(
        list(words), min(len(words), MAX_CONTROLS)
    )
    kinds: tuple[ControlKind, ...] = ("distinct", "same")
    pairs = [
        (kind, odd_word if kind == "distinct" else word, word) for kind in kinds for word in chosen
    ]
    return [
        RatingItem(id=f"control|{a}|{b}", base=f"{a}|{b}", words=(a, b), control=kind)
        for kind, a, b in pairs
    ]


def study_from_task(
    task: Task,
    design: StudyDesign,
    *,
    template: str | None = None,
    known: Sequence[str] | None = None,
    name: str = "",
    answer: str = "choice",
    most: int = 0,
    icons: Path | None = None,
) -> Study:
    """A study that asks a task's questions with one of its templates. `answer` is the kind of the
    items: people choose one option, or several (at most `most`, if that is not 0), or type a number
    or a text.

    Controls are questions with a single gold label, listed in `known` or drawn by the seed. A
    question that serves one participant as a control is measured with others, so that every
    question of the task gets its judgements.
    """
    chosen = _find_template(task, template)
    _check_kind(task, answer)
    items = [_sentence_item(chosen, question, answer, most) for question in task.questions]
    return Study(
        name=name or task.name,
        title=task.title,
        kind=items[0].kind,
        design=design,
        instructions=INSTRUCTIONS[answer],
        items=_with_icons([*items, *_known_controls(task, items, known, design)], icons),
        task=replace(task, load_splits=None),  # people are not trained; a function cannot be stored
        bad_rows=task.bad_rows,
    )


def _find_template(task: Task, name: str | None) -> Template:
    for template in task.templates:
        if name in (None, template.name):
            return template
    names = ", ".join(template.name for template in task.templates)
    raise UserError(f"'{task.name}' has no template '{name}': choose one of {names}.")


def _check_kind(task: Task, kind: str) -> None:
    if kind not in ITEM_TYPES:
        raise UserError(f"--answer is one of {', '.join(ITEM_TYPES)}, not '{kind}'.")
    if kind == "several" and any(
        len(question.options) > MAX_SEVERAL for question in task.questions
    ):
        raise UserError(
            f"'{task.name}' has questions with more than {MAX_SEVERAL} options: people cannot tick "
            "several."
        )
    others = [label for label in task.labels if option_number(label) is None]
    if kind == "number" and others:
        raise UserError(
            f"'{others[0]}' of '{task.name}' is not a number: ask for a text with --answer text."
        )


def _sentence_item(template: Template, question: Question, kind: str, most: int) -> Any:
    prompt = template.ask(question)
    limits: Any = {"most": most} if kind == "several" else {}
    return ITEM_TYPES[kind](
        id=question.id,
        base=question.id,
        question=question.id,
        template=template.name,
        text=prompt.text.replace(SEPARATOR, "").replace("  ", " "),
        options=question.options,
        option_texts=prompt.options,
        picture=question.picture,
        **limits,
    )


def _known_controls(
    task: Task, items: Sequence[SentenceItem], known: Sequence[str] | None, design: StudyDesign
) -> list[SentenceItem]:
    if not design.controls:
        return []
    gold = {
        question.id: [label for label, weight in question.gold.items() if weight > 0]
        for question in task.questions
    }
    unknown = [name for name in known or () if name not in gold]
    if unknown:
        raise UserError(
            f"'{unknown[0]}' is not a question of '{task.name}': --known lists ids of its "
            "questions."
        )
    single = [name for name, labels in gold.items() if len(labels) == 1]
    chosen = set(known) if known is not None else set(_draw(single, design))
    return [
        item.model_copy(
            update={"id": f"control|{item.id}", "control": "known", "known": tuple(gold[item.id])}
        )
        for item in items
        if item.id in chosen
    ]


def _draw(names: Sequence[str], design: StudyDesign) -> list[str]:
    size = min(len(names), MAX_CONTROLS, max(len(names) // 5, 2 * design.controls * design.pages))
    return random.Random(f"{design.seed}|controls").sample(list(names), size)


def _with_icons(items: Sequence[Any], folder: Path | None) -> tuple[StudyItem, ...]:
    """The items with the pictures of their words or options: files of these names in the folder."""
    missing = [item.picture for item in items if item.picture and not Path(item.picture).is_file()]
    if missing:
        raise UserError(
            f"The picture '{missing[0]}' does not exist ({len(missing)} are missing): make the "
            "scenes first."
        )
    if folder is None:
        return tuple(items)
    files = {
        path.stem: str(path.resolve())
        for path in folder.iterdir()
        if path.suffix.lower() in PICTURES
    }
    with_icons = [
        item.model_copy(update={"icons": tuple(map(files.get, item.names))}) for item in items
    ]
    if not any(path for item in with_icons for path in item.icons):
        names = ", ".join(list(items[0].names)[:3])
        raise UserError(
            f"No picture in '{folder}' is called after a word or option, such as {names}."
        )
    return tuple(with_icons)
