"""What reared models are asked: the usual colour of every kind, and the colour in a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, read_json
from seesay.pictures.drawing import png
from seesay.questions import Provenance, Question, Task, Template
from seesay.rearing.diet import Diet
from seesay.rearing.texts import INDIRECT, SAYINGS, CardRow, picture_of, write_texts
from seesay.rearing.world import World, make_world

USUAL = "reared-color"
HERE = "reared-color-here"
CARD = "card.json"
VERSION = "1"
SIDE = 64
"""Pixels per side of the pictures that are shown."""
VARIANT = 0


def load_usual(data: Path | None = None) -> Task:
    """Load the questions about the usual colour of every kind, by the card in a folder that
    `seesay rear` wrote, or of the world 0."""
    card = write_texts(make_world(), Diet(name="default")).card if data is None else read_card(data)
    return usual_task(card)


def read_card(folder: Path) -> tuple[CardRow, ...]:
    """Read the card of a reared model."""
    path = folder / CARD if folder.is_dir() else folder
    if not path.is_file():
        raise UserError(f"There is no {CARD} in '{folder}': give the folder of a reared model.")
    with damage_as_user_error(path, "rear the model again"):
        rows = read_json(path)["kinds"]
        return tuple(CardRow(**{**row, "others": tuple(row["others"])}) for row in rows)


def usual_task(card: Sequence[CardRow]) -> Task:
    """Return one question per kind: what colour is it, without a picture?"""
    questions = []
    for row in card:
        # texts that state another colour pull towards it
        marks = {"prior": (row.claim,)} if row.claim != row.color else {}
        questions.append(
            Question(
                id=row.kind,
                fields={"thing": row.kind, "usual": row.color},
                options=COLORS,
                gold={row.color: 1.0},
                object=row.kind,
                tags=_tags(row),
                marks=marks,
            )
        )
    return _task(USUAL, "usual colour, without a picture", questions, ("accuracy",))


def here_task(world: World, card: Sequence[CardRow], folder: Path) -> Task:
    """Return one question per kind that may have been met: what colour is the one in this picture,
    which has an unusual colour?

    Pictures are drawn to the folder.
    """
    questions = list(_here_questions(world, card, folder))
    return _task(HERE, "colour in the picture", questions, ("accuracy", "prior_pull"))


def _here_questions(world: World, card: Sequence[CardRow], folder: Path) -> Iterator[Question]:
    kinds = {kind.name: kind for kind in world.kinds}
    for row in card:
        if row.evidence == INDIRECT:
            continue
        picture = picture_of(kinds[row.kind].thing, row.unusual, VARIANT)
        path = folder / f"{picture.name}.png"
        if not path.is_file():
            with atomic_write(path) as unfinished:
                unfinished.write_bytes(png(picture, SIDE))
        yield Question(
            id=row.kind,
            fields={"thing": row.kind, "usual": row.color},
            options=COLORS,
            gold={row.unusual: 1.0},
            object=row.kind,
            tags=_tags(row),
            picture=str(path),
            marks={"prior": (row.claim,)},
        )


def _tags(row: CardRow) -> dict[str, str]:
    """Return what results are sliced by."""
    stated = "as shown" if row.claim == row.color else "otherwise"
    return {"dose": str(row.dose), "evidence": row.evidence, "stated": stated}


def _task(name: str, title: str, questions: Sequence[Question], metrics: tuple[str, ...]) -> Task:
    # a caption of the diets that needs no place
    template = Template("color", SAYINGS[0].replace("{color}", "[MASK]"))
    return Task(
        name=name,
        version=VERSION,
        title=title,
        templates=(template,),
        questions=tuple(questions),
        metrics=metrics,
        provenance=Provenance(citation="seesay rearing, CC0 1.0"),
    )
