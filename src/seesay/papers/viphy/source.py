"""The published files that ViPhy's page reads besides the tasks' questions, and people's figures
from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from seesay.data import store, viphy
from seesay.data.knowledge import ColorFact, Fact, PlaceFact, SizeFact
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.tasks.viphy import facts, human

CODA_FILES = ("annotations.jsonl", "objects.jsonl")
CONCEPTNET = "extra/cnet_objs.txt"
EXAMPLES = {SizeFact: "examples/size_examples.tsv", PlaceFact: "examples/spatial_examples.tsv"}
"""The annotated examples, from another repository of the authors (github.com/luka-group/ViPhy,
`viphy_data`)."""

Pair = TypeVar("Pair", SizeFact, PlaceFact)


def rows(material: Material, kind: type[Fact]) -> list[Fact]:
    """All facts of a published table."""
    return facts.load_facts(kind, material.data_of("viphy") if material.data else None).rows


def file(material: Material, name: str) -> Path | None:
    """A published file, if it is at hand."""
    return store.find_file("viphy", name, material.data_of("viphy"))


def require(material: Material, name: str) -> Path:
    """A published file, or the sentence that says where it belongs."""
    path = file(material, name)
    if path is None:
        raise UserError(
            f"There is no {name} among the published files: put it there, or give --data FOLDER."
        )
    return path


def conceptnet_names(material: Material) -> set[str] | None:
    """The names that ConceptNet knows, as published, if the file is at hand."""
    path = file(material, CONCEPTNET)
    if path is None:
        return None
    return set(path.read_text(encoding="utf-8").splitlines()) - {""}


def shared_things(material: Material) -> human.SharedThings:
    """CoDa's annotators on the things that they share with ViPhy."""
    folder = material.data_of("coda")
    if folder and all((folder / name).is_file() for name in CODA_FILES):
        beside = folder
    else:
        beside = None
    return human.shared_things(rows(material, ColorFact), beside)


def on_examples(material: Material, kind: type[Pair]) -> tuple[int, int]:
    """How many of the authors' annotated examples agree with the published table, and of how many.

    A shared label counts. An example that cannot be read, or whose pair the table does not have, is
    left out.
    """
    annotated, _ = viphy.read(require(material, EXAMPLES[kind]), kind)
    table: dict[tuple[str, ...], Sequence[str]] = {
        _key(fact): fact.typical for fact in rows(material, kind)
    }
    present = [fact for fact in annotated if _key(fact) in table]
    if not present:
        raise UserError(f"None of the pairs in {EXAMPLES[kind]} is in the published table.")
    return sum(bool(set(fact.typical) & set(table[_key(fact)])) for fact in present), len(present)


def _key(fact: SizeFact | PlaceFact) -> tuple[str, ...]:
    if isinstance(fact, PlaceFact):
        return (fact.scene, fact.a, fact.b)
    return (fact.a, fact.b)
