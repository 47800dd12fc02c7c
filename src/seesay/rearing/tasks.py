"""What reared models are asked: the usual colour of every kind, and the colour in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, read_json
from seesay.pictures.drawing import png
from seesay.questions import Provenance, Question, Scores, Task, Template
from seesay.rearing.diet import Diet
from seesay.rearing.texts import INDIRECT, SAYINGS, CardRow, picture_of, write_texts
from seesay.rearing.world import World, make_world

USUAL = "reared-color"
HERE = "reared-color-here"
CARD = "card.json"
SIDE = 64
"""Pixels per side of the pictures that are shown."""
VARIANT = 0
PRIOR = "prior"
"""The mark of a wrong answer that texts state."""


def load_usual(data: Path | None = None) -> Task:
    """Load the questions about the usual colour of every kind.

    The kinds are on the card in a folder that `seesay rear` wrote, or those of the world 0.
    """
    if data is not None:
        return usual_task(read_card(data))
    texts = write_texts(make_world(), Diet(name="default"))
    return usual_task(texts.card)


def read_card(folder: Path) -> tuple[CardRow, ...]:
    """Read the card of a reared model."""
    path = folder / CARD if folder.is_dir() else folder
    if not path.is_file():
        raise UserError(f"There is no {CARD} in '{folder}': give the folder of a reared model.")
    with damage_as_user_error(path, "rear the model again"):
        return tuple(CardRow(**row) for row in read_json(path)["kinds"])


def usual_task(card: Sequence[CardRow]) -> Task:
    """Return one question per kind: what colour is it, without a picture?"""
    questions = [_question(row, row.color) for row in card]
    return _task(USUAL, "usual colour, without a picture", questions, ("accuracy",))


def here_task(world: World, card: Sequence[CardRow], folder: Path) -> Task:
    """Return one question per kind that may have been met: what colour is the one in this picture,
    which has an unusual colour?

    Pictures are drawn to the folder.
    """
    things = {kind.name: kind.thing for kind in world.kinds}
    questions = []
    for row in card:
        if row.evidence == INDIRECT:
            continue
        picture = picture_of(things[row.kind], row.unusual, VARIANT)
        path = folder / f"{picture.name}.png"
        if not path.is_file():
            with atomic_write(path) as unfinished:
                unfinished.write_bytes(png(picture, SIDE))
        questions.append(_question(row, row.unusual, str(path)))
    return _task(HERE, "colour in the picture", questions, ("accuracy", "prior_pull"))


def _question(row: CardRow, color: str, picture: str | None = None) -> Question:
    """Return the question to which a colour is the answer, with what results are sliced by."""
    marks = {}
    if row.claim != color:
        # texts that state another colour pull towards it
        marks[PRIOR] = (row.claim,)
    stated = "as shown" if row.claim == row.color else "otherwise"
    return Question(
        id=row.kind,
        fields={"thing": row.kind, "usual": row.color},
        options=COLORS,
        gold={color: 1.0},
        object=row.kind,
        tags={"dose": str(row.dose), "evidence": row.evidence, "stated": stated},
        picture=picture,
        marks=marks,
    )


def _task(name: str, title: str, questions: Sequence[Question], metrics: tuple[str, ...]) -> Task:
    # a caption of the diets that needs no place
    template = Template("color", SAYINGS[0].replace("{color}", "[MASK]"))
    return Task(
        name=name,
        version="1",
        title=title,
        templates=(template,),
        questions=tuple(questions),
        metrics=metrics,
        provenance=Provenance(citation="seesay rearing, CC0 1.0"),
    )


def best_option(question: Question, scores: Scores) -> str:
    """Return the colour of the highest score."""
    return question.options[int(np.argmax(scores.logp))]


def is_prior(question: Question, color: str) -> bool:
    """Return whether a colour is a wrong answer that texts state."""
    return color in question.marks.get(PRIOR, ())
