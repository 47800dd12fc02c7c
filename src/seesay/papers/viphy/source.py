"""The published files that ViPhy's page reads besides the tasks' questions, and people's figures
from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seesay.data import store, viphy
from seesay.data.knowledge import COLORS, ColorFact, Fact, PlaceFact, SizeFact
from seesay.errors import UserError
from seesay.metrics.typical_labels import typical_labels
from seesay.papers.material import Material
from seesay.tasks import coda
from seesay.tasks.viphy import facts, human

CODA_FILES = ("annotations.jsonl", "objects.jsonl")
CONCEPTNET = "extra/cnet_objs.txt"
EXAMPLES = {SizeFact: "examples/size_examples.tsv", PlaceFact: "examples/spatial_examples.tsv"}
"""The annotated examples, from another repository of the authors (github.com/luka-group/ViPhy,
`viphy_data`)."""

Pair = TypeVar("Pair", SizeFact, PlaceFact)


def rows(material: Material, kind: type[Fact]) -> list[Fact]:
    """Return all facts of a published table."""
    folder = material.data_of("viphy") if material.data else None
    return facts.load_facts(kind, folder).rows


def file(material: Material, name: str) -> Path | None:
    """Return a published file, if it is at hand."""
    return store.find_file("viphy", name, material.data_of("viphy"))


def require(material: Material, name: str) -> Path:
    """Return a published file, or raise the sentence that says where it belongs."""
    path = file(material, name)
    if path is None:
        raise UserError(
            f"There is no {name} among the published files: put it there, or give --data FOLDER."
        )
    return path


def conceptnet_names(material: Material) -> set[str] | None:
    """Return the names that ConceptNet knows, as published, if the file is at hand."""
    path = file(material, CONCEPTNET)
    if path is None:
        return None
    # a blank line is no name
    return set(path.read_text(encoding="utf-8").splitlines()) - {""}


def shared_things(material: Material) -> human.SharedThings:
    """Return CoDa's annotators on the things that they share with ViPhy."""
    return human.shared_things(rows(material, ColorFact), _coda_folder(material))


def coda_typical(material: Material) -> NDArray[np.bool_]:
    """Return which colours are typical of each of CoDa's objects, by ViPhy's rule."""
    shares = []
    for question in coda.load(_coda_folder(material)).questions:
        shares.append([question.gold.get(color, 0.0) for color in COLORS])
    return np.asarray(typical_labels(np.array(shares)) > 0)


def _coda_folder(material: Material) -> Path | None:
    """Return where CoDa is; None for the data folder."""
    folder = material.data_of("coda")
    # without all of them below the data given, those of the data folder are read
    if folder and not all((folder / name).is_file() for name in CODA_FILES):
        return None
    return folder


def on_examples(material: Material, kind: type[Pair]) -> tuple[int, int]:
    """Return how many of the authors' annotated examples agree with the published table, and of how
    many.

    A shared label counts. An example that cannot be read, or whose pair the table does not have, is
    left out.
    """
    annotated, _ = viphy.read(require(material, EXAMPLES[kind]), kind)
    published_labels: dict[tuple[str, ...], Sequence[str]] = {
        _key(fact): fact.typical for fact in rows(material, kind)
    }
    compared = 0
    agreeing = 0
    for fact in annotated:
        labels = published_labels.get(_key(fact))
        if labels is not None:
            compared += 1
            agreeing += bool(set(fact.typical) & set(labels))
    if not compared:
        raise UserError(f"None of the pairs in {EXAMPLES[kind]} is in the published table.")
    return agreeing, compared


def _key(fact: SizeFact | PlaceFact) -> tuple[str, ...]:
    """Return what identifies a pair: of places, its scene as well."""
    if isinstance(fact, PlaceFact):
        return (fact.scene, fact.a, fact.b)
    return (fact.a, fact.b)
