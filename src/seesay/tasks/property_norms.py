"""Visual Property Norms: what people say about how things look (Hagström & Johansson 2022).

The CSLB norms are available on request only, so the questions are built from a user's own
`norms.dat`. A question asks for everything that enough people said of a concept under one relation
("an accordion has …"); "enough" is one of five minimum production frequencies, each of which is a
segment of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from seesay.data import store
from seesay.data.catalogue import CATALOGUE
from seesay.data.cells import BadValueError, Cells, prompt_text
from seesay.data.colors import COLORS
from seesay.data.lines import whole_lines
from seesay.data.rows import column_names, parse_rows, read_table
from seesay.errors import UserError
from seesay.questions import BadRow, Provenance, Question, Task
from seesay.tasks.template_files import read_template_file

COLUMNS = (
    "domain",
    "feature type",
    "concept",
    "feature",
    "pf",
    "feature alternatives",
    "participant list",
)
# The norms are British.
COLORS_AS_PUBLISHED = frozenset("grey" if color == "gray" else color for color in COLORS)
ARTICLES = frozenset({"", "a", "an", "the"})
PUBLISHED_ENTRIES = {
    2: 6541,
    5: 3641,
    10: 2001,
    20: 613,
    30: 27,
}
"""The least production frequency of each segment, and the entries in it (the paper's Table 4)."""

SEGMENTS = tuple(PUBLISHED_ENTRIES)
RELATIONS = {
    "is": "is",
    "has": "has",
    "has a": "has a",
    "made of": "is made of",
}

READ_AS = {
    "has fur": ("is furry", "is hairy"),
    "has skin": ("has a skin",),
    "has hard skin": ("has a hard skin",),
    "has tough skin": ("has a tough skin",),
    "has pips": ("has a pip",),
    "has a wire": ("has a cable", "has wires", "made of wires"),
    "is round": ("is rounded", "has round"),
    "is streamlined": ("is stream-lined",),
    "is transparent": ("is see through", "is see-through", "is translucent"),
    "made of ceramic": ("made of porcelain", "is ceramic", "made of clay"),
    "made of fabric": ("is made of material", "made of material"),
}
"""Features, and the alternatives that the authors read as them.

From their notebook `create-visual-property-norms-evaluation.ipynb`.
"""
_READINGS = {
    alternative: feature
    for feature, alternatives in READ_AS.items()
    for alternative in alternatives
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One property that people name for a concept, and how many of 30 named it."""

    domain: str
    concept: str
    relation: str
    answer: str
    pf: int


def resolve(
    feature: str,
    alternatives: str,
    participants: str,
) -> str:
    """Return the form of a feature written with `_` ("is noisy_loud") that most people gave.

    Some alternatives are read as another feature (`READ_AS`); where people said something else ("is
    deafening"), the first form stands for it, as the authors have it.
    """
    if "_" not in feature:
        return feature
    # "p 1 4 / 2" lists the participants who gave each of the alternatives, in their order.
    groups = participants.removeprefix("p").split("/")
    counts = [len(group.split()) for group in groups]
    choices = alternatives.split("; ")
    favourite = counts.index(max(counts))
    if favourite >= len(choices) or not choices[favourite].strip():
        raise BadValueError("the participant list does not fit the feature alternatives")
    form = choices[favourite].strip()
    form = _READINGS.get(form, form)
    forms = _forms(feature)
    if form in forms:
        return form
    return forms[0]


def _forms(feature: str) -> list[str]:
    """Return what a feature written with `_` may stand for.

    "has a wire_cord" is a wire or a cord, with or without "a".
    """
    before, after = feature.split("_")[:2]
    first = before.split(" ")
    second = after.split(" ")
    forms = [first, second, [first[0], *second]]
    if len(first) > 2:
        forms.append([*first[:2], *second])
    if len(second) > 1:
        forms.append([*first, *second[1:]])
    return [" ".join(form) for form in forms]


def _entry(row: Cells) -> Entry | None:
    """Return an entry of the norms.

    None where the row is not about how a thing looks, or its relation is not asked about.
    """
    cells = {column.lower(): cell for column, cell in row.items()}
    if cells["feature type"] != "visual perceptual":
        return None
    concept = prompt_text(cells["concept"], "concept")
    feature = prompt_text(cells["feature"], "feature")
    pf = cells["pf"].strip()
    # `isdigit` alone would take a superscript, which `int` refuses.
    if not (pf.isascii() and pf.isdigit() and len(pf) < 4):
        raise BadValueError("'pf' is not a whole number")
    form = resolve(feature, cells["feature alternatives"], cells["participant list"])
    # The relation is every word but the last, and the answer is the last.
    start, _, answer = prompt_text(form, "feature").rpartition(" ")
    if start not in RELATIONS or not answer:
        return None
    return Entry(
        domain=prompt_text(cells["domain"], "domain", empty=True),
        concept=concept,
        relation=RELATIONS[start],
        answer=answer,
        pf=int(pf),
    )


def read_norms(path: Path) -> tuple[list[Entry], list[BadRow]]:
    """Read the entries of a CSLB `norms.dat`, and the rows that could not be used."""
    header = [name.lower() for name in column_names(path, "\t")]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise UserError(
            f"{path} is not the CSLB norms: its first line has no column '{missing[0]}'."
        )
    entries, bad = parse_rows(path, read_table(path, "\t"), _entry)
    return [entry for entry in entries.values() if entry], bad


def read_words(path: Path | None) -> list[str]:
    """Read the words of a list, one per line; none without a file.

    `labels.txt` lists the published answers, all of which are one word piece of BERT.
    """
    if path is None:
        return []
    words = [line.strip() for line in whole_lines(path)]
    if any(len(word) > 50 or " " in word or not word.isprintable() for word in words):
        raise UserError(f"{path} is not a list of words, one per line.")
    return list(dict.fromkeys(words))


def read_articles(path: Path | None) -> dict[str, str]:
    """Read the article of each concept ("a", "an" or none); no articles without a file."""
    if path is None:
        return {}
    rows = [line.strip().partition(",") for line in whole_lines(path)]
    articles = {concept: article for concept, _, article in rows}
    # The header reads like a row of its own: a concept "concept" with the article "descriptor".
    if articles.pop("concept", "") != "descriptor" or not ARTICLES.issuperset(articles.values()):
        raise UserError(
            f"{path} does not give each concept's article ('a', 'an', 'the' or none): "
            "'concept,descriptor'."
        )
    return articles


def build(
    entries: Sequence[Entry],
    words: Sequence[str],
    articles: Mapping[str, str],
) -> list[Question]:
    """Return one question per concept, relation and segment, with all its answers as gold.

    The same concept and relation is asked once in every segment that has answers: segments are
    nested, and each has a figure of its own.
    """
    options = tuple(words)
    groups: dict[tuple[int, str, str], list[Entry]] = {}
    for segment in SEGMENTS:
        for entry in _entries_of_segment(entries, segment, set(words)):
            groups.setdefault((segment, entry.concept, entry.relation), []).append(entry)
    questions = []
    for (segment, concept, relation), members in groups.items():
        name = concept.replace("_", " ")
        answers = {entry.answer for entry in members}
        questions.append(
            Question(
                id=f"{concept}/{relation}/pf{segment}",
                fields={
                    "thing": f"{articles.get(concept, '')} {name}".strip(),
                    "relation": relation,
                },
                options=options,
                gold={entry.answer: 1.0 for entry in members},
                object=name,
                tags={
                    "relation": relation,
                    "segment": f"pf>={segment}",
                    "answers": "colour" if answers <= COLORS_AS_PUBLISHED else "other",
                    "domain": members[0].domain,
                },
            )
        )
    return questions


def _entries_of_segment(
    entries: Sequence[Entry],
    segment: int,
    words: Set[str],
) -> Iterator[Entry]:
    """Return the entries that enough people gave, and whose answer is an option."""
    return (entry for entry in entries if entry.pf >= segment and entry.answer in words)


def entries_by_segment(entries: Sequence[Entry], words: Sequence[str]) -> dict[int, Counter[str]]:
    """Return how many entries each segment has, by relation."""
    counts: dict[int, Counter[str]] = {}
    for segment in SEGMENTS:
        members = _entries_of_segment(entries, segment, set(words))
        counts[segment] = Counter(entry.relation for entry in members)
    return counts


def describe_entries(counts: Mapping[int, Counter[str]]) -> list[str]:
    """Return a line per segment: its entries beside the number that the paper counts.

    A norms file of another release is usable; the lines say how far it is the paper's.
    """
    lines = []
    for segment, by_relation in counts.items():
        published = PUBLISHED_ENTRIES[segment]
        comparison = f"published: {published:,}"
        if by_relation.total() == published:
            comparison = "as published"
        relations = [f"{relation} {by_relation[relation]:,}" for relation in RELATIONS.values()]
        lines.append(
            f"entries of pf>={segment}: {by_relation.total():,} ({comparison}); "
            f"{', '.join(relations)}"
        )
    return lines


def read_files(data: Path | None = None) -> tuple[list[Entry], list[BadRow], list[str], str]:
    """Read the entries of the norms and the answer words.

    Returns the entries, the rows that could not be used, the words, and where these come from.
    """
    entries, bad = read_norms(store.require_file("cslb-norms", "norms.dat", data))
    words = read_words(store.find_file("property-norms", "labels.txt", data))
    if words:
        return entries, bad, words, f"{len(words)} published answer words as options"
    # Without the published list: every answer that two people gave, the least that any segment
    # asks.
    words = sorted({entry.answer for entry in entries if entry.pf >= SEGMENTS[0]})
    return entries, bad, words, f"the {len(words)} answer words of the file as options"


def load(data: Path | None = None) -> Task:
    """Load the task from a CSLB `norms.dat`: that file, a folder with it, or the data folder's.

    `labels.txt` and `descriptors.csv` are taken from beside it or from the data folder. Without the
    first the answers found in the file are the options; without the second no concept has an
    article.
    """
    entries, bad, words, source = read_files(data)
    articles = read_articles(store.find_file("property-norms", "descriptors.csv", data))
    questions = build(entries, words, articles)
    if not questions:
        reason = f" (line {bad[0].row}: {bad[0].reason})" if bad else ""
        path = store.require_file("cslb-norms", "norms.dat", data)
        raise UserError(
            f"{path} contains nothing that can be asked{reason}. Is it the CSLB norms file?"
        )
    notes = [source]
    if not articles:
        notes.append("concepts without articles")
    notes += describe_entries(entries_by_segment(entries, words))
    return Task(
        name="property-norms",
        version="2",
        title="",
        questions=tuple(questions),
        nested_by="segment",
        provenance=Provenance(
            notes=tuple(notes),
            bad_rows=tuple(bad),
            citation=CATALOGUE["property-norms"].citation,
        ),
        **read_template_file("property-norms"),
    )
