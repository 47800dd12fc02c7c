"""prior-color: what colour is the thing in this picture, and what colour is it usually?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from seesay.data import store
from seesay.errors import UserError, require_packages
from seesay.pictures.dataset_writer import cached_pictures, images, read_manifest
from seesay.pictures.icons import ICONS, LICENCE
from seesay.pictures.plan import color_pictures
from seesay.pictures.questions import color_questions
from seesay.pictures.things import Thing
from seesay.questions import Provenance, Question, Task, Template

NAME = "prior-color"
VERSION = "2"
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


def load(data: Path | None = None, *, seed: int = 0) -> Task:
    """Load the task about the pictures of a folder that `seesay pictures make` wrote.

    By default it is about those in the cache, which are drawn with a seed.
    """
    folder, seed = picture_folder(NAME, data, seed)
    entropies = people_entropies()

    def tags(thing: Thing) -> Mapping[str, str]:
        thing_tags = {"typical": f"{len(thing.colors)} typical"}
        bits = entropies.get(thing.name.lower())
        if bits is not None:
            thing_tags["entropy"] = next(name for most, name in _BITS if bits < most)
        return thing_tags

    notes = [f"{ICONS.requirement}, {LICENCE}"]
    if entropies:
        notes.append("slices by entropy: CoDa")
    questions = color_questions(color_pictures(seed), images(folder), tags)
    return prior_task(NAME, VERSION, tuple(questions), TEMPLATES, tuple(notes))


def prior_task(
    name: str,
    version: str,
    questions: tuple[Question, ...],
    templates: tuple[Template, ...],
    notes: tuple[str, ...],
) -> Task:
    """Return a task with what the two have in common.

    Here, usually and blind questions are never mixed into one figure.
    """
    return Task(
        name=name,
        version=version,
        title="",
        templates=templates,
        questions=questions,
        metrics=METRICS,
        nested_by="question_type",
        choice_templates=CHOICE,
        provenance=Provenance(notes=notes, citation=CITATION),
    )


def picture_folder(name: str, data: Path | None, seed: int = 0) -> tuple[Path, int]:
    """Return the folder of the pictures, and the seed that they were made with."""
    # all that its pictures need, whether they are drawn, looked at or shown on a page
    require_packages(f"'{name}'", "pictures", "PIL.Image", "resvg_py")
    if data is None:
        return cached_pictures(name, seed), seed
    settings = read_manifest(data)
    if settings["task"] != name:
        raise UserError(f"'{data}' holds the pictures of {settings['task']}, not of {name}.")
    return data, settings["seed"]


@cache
def people_entropies() -> dict[str, float]:
    """Return how unsure people are of a thing's colour, in bits, by its name.

    The answers of people are CoDa's; without its files there are none.
    """
    for file in ("annotations.jsonl", "objects.jsonl"):
        if store.find_file("coda", file) is None:
            return {}
    # CoDa is the user's own copy: it may be missing
    from seesay.tasks import coda

    entropies = {}
    for question in coda.load().questions:
        shares = np.array(list(question.gold.values()))
        # Shannon's entropy of the colours that people named
        bits = float(-(shares * np.log2(shares)).sum())
        # by its key, and by the name that its question uses
        for name in (question.object, question.fields["thing"]):
            entropies[name.lower()] = bits
    return entropies
