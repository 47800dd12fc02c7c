"""Build a study from a task or from a file of word pairs, with its control items."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
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
"""The word of controls that resembles no other (Ghanimifard & Dobnik 2019)."""
MAX_CONTROLS = 40
"""Different controls of one kind in a study."""


def option_name(field: str) -> str:
    """Return the option of `seesay judge serve` that sets a field of a study."""
    if field == "allocation":
        return "--design"
    return "--" + field.replace("_minutes", "").replace("_", "-")


# The parameters are the options of `seesay judge serve`.
def build_study(  # noqa: PLR0913
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
    """Build a study from a task or a file of pairs.

    `source`: the name of a task, or a path.
    `design`: the fields of `StudyDesign` to set.
    `known`: the ids of control questions; by default they are drawn.
    `answer`: the kind of the items, of a task.
    `text_file`: YAML with the study's texts by language.
    """
    try:
        study_design = StudyDesign(**design)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{option_name(str(first['loc'][0]))}: {first['msg']}.") from None
    if _is_pair_file(source):
        study = study_from_pairs(
            Path(source), study_design, odd_word=odd_word, name=name, icons=icons
        )
        return add_texts(study, text_file)
    from seesay.runs.ask import limit_questions
    from seesay.tasks import load_task

    task = load_task(source, data)
    if limit is not None:
        task = limit_questions(task, limit, study_design.seed)
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
    return add_texts(study, text_file)


def _is_pair_file(source: str) -> bool:
    """Return whether a source is a file of pairs: a task file ends in .yaml, a task is a name."""
    if source.endswith((".yaml", ".yml")):
        return False
    return source.endswith((".csv", ".tsv", ".txt")) or Path(source).is_file()


def add_texts(study: Study, path: Path | None) -> Study:
    """Return the study with the texts of a file.

    Its languages are those of the design and of the file.
    """
    texts = read_texts(path, study.kind) if path is not None else {}
    languages = tuple(dict.fromkeys((*study.design.languages, *texts)))
    bases = {item.base for item in study.items}
    for block in texts.values():
        for name in block.items:
            if name not in bases:
                raise UserError(f"'{name}' in '{path}' is not an item of the study.")
    with_texts = study.model_copy(
        update={
            "texts": texts,
            "design": study.design.model_copy(update={"languages": languages}),
            "items": tuple(_add_aliases(item, texts.values()) for item in study.items),
        }
    )
    # People who read another language take the step of the first one, which must therefore exist.
    first_language = texts.get(languages[0], StudyTexts())
    for step in ("check", "practice"):
        if with_texts.has_step(step) and not getattr(first_language, step):
            raise UserError(
                f"'{path}' has no `{step}` in '{languages[0]}', the study's first language, which "
                "stands in for the others: add one, or put another language first with --languages."
            )
    return with_texts


def _add_aliases(item: StudyItem, texts: Iterable[StudyTexts]) -> StudyItem:
    """Let a typed answer name an option in any of the study's languages."""
    if not isinstance(item, TextItem):
        return item
    aliases = {}
    for option in item.options:
        names = tuple(block.options[option] for block in texts if option in block.options)
        if names:
            aliases[option] = names
    return item.model_copy(update={"aliases": aliases})


def study_from_pairs(
    path: Path,
    design: StudyDesign,
    *,
    odd_word: str = ODD_WORD,
    name: str = "",
    icons: Path | None = None,
) -> Study:
    """Build a rating study from a CSV file of pairs.

    It has the columns `a` and `b`, and may have `similarity` (a reference, 0 to 1) and `picture` (a
    path beside the file). Controls as published (Ghanimifard & Dobnik 2019): a colour word with a
    relation, and a relation with itself.
    """
    header = column_names(path)
    optional = [column for column in ("similarity", "picture") if column in header]
    # A pair in either order is the same pair.
    rows, bad_rows = parse_table(
        path,
        ["a", "b", *optional],
        _parse_pair,
        key=lambda pair: frozenset((pair[0], pair[1])),
    )
    items = []
    for a, b, similarity, picture in rows.values():
        name_of_pair = f"{a}|{b}"
        item = RatingItem(
            id=name_of_pair,
            base=name_of_pair,
            words=(a, b),
            reference=similarity,
            picture=str((path.parent / picture).resolve()) if picture else None,
        )
        items.append(item)
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
        items=_add_icons([*items, *_pair_controls(words, odd_word, design)], icons),
        bad_rows=tuple(bad_rows),
    )


def _parse_pair(cells: Cells) -> tuple[str, str, float | None, str]:
    """Return the words of a row, its similarity if it has one, and its picture."""
    a = cells["a"].strip()
    b = cells["b"].strip()
    if not a or not b:
        raise BadValueError("a word is empty")
    # Ids of pairs are their words with this sign between them.
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
    """Return two controls for each of some words: with the odd word, and with itself."""
    if not design.controls:
        return []
    rng = random.Random(f"{design.seed}|controls")
    sampled = rng.sample(list(words), min(len(words), MAX_CONTROLS))
    return [
        *(_pair_control("distinct", odd_word, word) for word in sampled),
        *(_pair_control("same", word, word) for word in sampled),
    ]


def _pair_control(kind: ControlKind, a: str, b: str) -> RatingItem:
    return RatingItem(id=f"control|{a}|{b}", base=f"{a}|{b}", words=(a, b), control=kind)


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
    """Build a study that asks a task's questions with one of its templates.

    `answer` is the kind of the items: people choose one option, or several (at most `most`, if that
    is not 0), or type a number or a text.

    Controls are questions with a single gold label, listed in `known` or drawn by the seed. A
    question that serves one participant as a control is measured with others, so that every
    question of the task gets its judgements.
    """
    shown = _find_template(task, template)
    _check_kind(task, answer)
    items = [_sentence_item(shown, question, answer, most) for question in task.questions]
    return Study(
        name=name or task.name,
        title=task.title,
        kind=items[0].kind,
        design=design,
        instructions=INSTRUCTIONS[answer],
        items=_add_icons([*items, *_known_controls(task, items, known, design)], icons),
        # People are not trained.
        task=task.without_splits(),
        bad_rows=task.provenance.bad_rows,
    )


def _find_template(task: Task, name: str | None) -> Template:
    """Return the task's template of this name, or its first."""
    for template in task.templates:
        if name in (None, template.name):
            return template
    names = ", ".join(template.name for template in task.templates)
    raise UserError(f"'{task.name}' has no template '{name}': choose one of {names}.")


def _check_kind(task: Task, kind: str) -> None:
    """Refuse a kind of items in which the task's questions cannot be asked."""
    if kind not in ITEM_TYPES:
        raise UserError(f"--answer is one of {', '.join(ITEM_TYPES)}, not '{kind}'.")
    most_options = max((len(question.options) for question in task.questions), default=0)
    if kind == "several" and most_options > MAX_SEVERAL:
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
    task: Task,
    items: Sequence[SentenceItem],
    known: Sequence[str] | None,
    design: StudyDesign,
) -> list[SentenceItem]:
    """Return controls: copies of the items of questions whose answer is known."""
    if not design.controls:
        return []
    gold = {}
    for question in task.questions:
        gold[question.id] = [label for label, weight in question.gold.items() if weight > 0]
    unknown = [name for name in known or () if name not in gold]
    if unknown:
        raise UserError(
            f"'{unknown[0]}' is not a question of '{task.name}': --known lists ids of its "
            "questions."
        )
    if known is None:
        # Of several right answers any might be typical.
        known = _sample_known([name for name, labels in gold.items() if len(labels) == 1], design)
    controls = []
    for item in items:
        if item.id in known:
            update = {
                "id": f"control|{item.id}",
                "control": "known",
                "known": tuple(gold[item.id]),
            }
            controls.append(item.model_copy(update=update))
    return controls


def _sample_known(names: Sequence[str], design: StudyDesign) -> list[str]:
    """Draw a fifth of the questions, but enough for participants, who get at most half of them."""
    size = min(len(names), MAX_CONTROLS, max(len(names) // 5, 2 * design.controls * design.pages))
    return random.Random(f"{design.seed}|controls").sample(list(names), size)


def _add_icons(items: Sequence[Any], folder: Path | None) -> tuple[StudyItem, ...]:
    """Return the items with the pictures of their words or options, files of these names."""
    missing = [item.picture for item in items if item.picture and not Path(item.picture).is_file()]
    if missing:
        raise UserError(
            f"The picture '{missing[0]}' does not exist ({len(missing)} are missing): make the "
            "scenes first."
        )
    if folder is None:
        return tuple(items)
    pictures = [path for path in folder.iterdir() if path.suffix.lower() in PICTURES]
    files = {path.stem: str(path.resolve()) for path in pictures}
    with_icons = [
        item.model_copy(update={"icons": tuple(map(files.get, item.names))}) for item in items
    ]
    if not any(path for item in with_icons for path in item.icons):
        names = ", ".join(list(items[0].names)[:3])
        raise UserError(
            f"No picture in '{folder}' is called after a word or option, such as {names}."
        )
    return tuple(with_icons)
