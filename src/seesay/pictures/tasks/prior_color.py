"""prior-color: what colour is the thing in this picture, and what colour is it usually?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from seesay.data import store
from seesay.errors import UserError
from seesay.pictures.dataset_writer import cached_pictures, images, read_manifest
from seesay.pictures.icons import ICONS, LICENCE
from seesay.pictures.plan import color_pictures
from seesay.pictures.questions import color_questions
from seesay.pictures.things import Thing
from seesay.questions import Question, Task, Template

NAME, VERSION = "prior-color", "1"
TEMPLATES = (
    Template("question", "{question} Answer: [MASK]."),
    Template("q-a", "Q: {question} A: [MASK]."),
    Template("claim", "{claim} [MASK]."),
)
CHOICE = (Template("question", "{question} [MASK]"),)
METRICS = (
    "relaxed_accuracy",
    "prior_pull",
    "prior_log_odds",
    "picture_pull",
    "picture_log_odds",
    "gain_over_blind",
)
CITATION = (
    "seesay prior against picture, CC0 1.0; icons: Fluent Emoji, Microsoft Corporation, MIT licence"
)
_BITS = ((1.0, "below 1 bit"), (2.0, "1 to 2 bits"), (np.inf, "above 2 bits"))


def load(data: Path | None = None) -> Task:
    """The task about the pictures of a folder that `seesay pictures make` wrote, or about those in
    the cache."""
    folder, seed = picture_folder(NAME, data)
    entropies = people_entropies()

    def tags(thing: Thing) -> Mapping[str, str]:
        own = {"typical": f"{len(thing.colors)} typical"}
        if (bits := entropies.get(thing.name.lower())) is not None:
            own["entropy"] = next(name for most, name in _BITS if bits < most)
        return own

    return prior_task(
        NAME,
        tuple(color_questions(color_pictures(seed), images(folder), tags)),
        TEMPLATES,
        data_notes=(
            f"{ICONS.requirement}, {LICENCE}",
            *(["slices by entropy: CoDa"] if entropies else []),
        ),
    )


def prior_task(
    name: str,
    questions: tuple[Question, ...],
    templates: tuple[Template, ...],
    data_notes: tuple[str, ...],
) -> Task:
    """What the two tasks have in common: here, usually and blind questions are never mixed into one
    figure."""
    return Task(
        name=name,
        version=VERSION,
        title="",
        templates=templates,
        questions=questions,
        metrics=METRICS,
        citation=CITATION,
        data_notes=data_notes,
        nested_by="asked",
        choice_templates=CHOICE,
    )


def picture_folder(name: str, data: Path | None) -> tuple[Path, int]:
    """The folder of the pictures, and the seed that they were made with."""
    if data is None:
        return cached_pictures(name), 0
    settings = read_manifest(data)
    if settings["task"] != name:
        raise UserError(f"'{data}' holds the pictures of {settings['task']}, not of {name}.")
    return data, settings["seed"]


@cache
def people_entropies() -> dict[str, float]:
    """How unsure people are of a thing's colour, in bits, by its name: CoDa, where the user has
    it."""
    if any(
        store.find_file("coda", file) is None for file in ("annotations.jsonl", "objects.jsonl")
    ):
        return {}
    from seesay.tasks import coda

    entropies = {}
    for question in coda.load().questions:
        shares = np.array(list(question.gold.values()))
        bits = float(-(shares * np.log2(shares)).sum())
        for name in (question.object, question.fields["thing"]):
            entropies[name.lower()] = bits
    return entropies
