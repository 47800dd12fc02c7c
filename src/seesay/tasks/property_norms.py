"""Visual Property Norms: what people say about how things look (Hagström & Johansson 2022, from the
CSLB norms).

The CSLB norms are available on request only, so the questions are built from a user's own
`norms.dat`. A question asks for everything that enough people said of a concept under one relation
("an accordion has …"); "enough" is one of five minimum production frequencies, each of which is a
segment of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.data import store
from seesay.data.catalogue import CATALOGUE
from seesay.data.cells import BadValueError, Cells, prompt_text
from seesay.data.colors import COLORS
from seesay.data.lines import whole_lines
from seesay.data.rows import column_names, parse_rows, read_table
from seesay.errors import UserError
from seesay.questions import BadRow, Question, Task
from seesay.tasks.wording import wording

COLUMNS = (
    "domain",
    "feature type",
    "concept",
    "feature",
    "pf",
    "feature alternatives",
    "participant list",
)
COLORS_AS_PUBLISHED = frozenset("grey" if color == "gray" else color for color in COLORS)
ARTICLES = frozenset({"", "a", "an", "the"})
PUBLISHED_ENTRIES = {2: 6541, 5: 3641, 10: 2001, 20: 613, 30: 27}
"""The least production frequency of each segment, and the entries in it (Hagström & Johansson 2022,
Table 4)."""

SEGMENTS = tuple(PUBLISHED_ENTRIES)
RELATIONS = {"is": "is", "has": "has", "has a": "has a", "made of": "is made of"}

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
"""Features, and the alternatives that the authors read as them
(`create-visual-property-norms-evaluation.ipynb`)."""
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


def resolve(feature: str, alternatives: str, participants: str) -> str:
    """The form of a feature written with `_` ("is noisy_loud") that most participants gave.

    Some alternatives are read as another feature (`READ_AS`); where people said something else ("is
    deafening"), the first form stands for it, as the authors have it.
    """
    if "_" not in feature:
        return feature
    counts = [len(group.split()) for group in participants.removeprefix("p").split("/")]
    choices = alternatives.split("; ")
    favourite = counts.index(max(counts))
    if favourite >= len(choices) or not choices[favourite].strip():
        raise BadValueError("the participant list does not fit the feature alternatives")
    form = choices[favourite].strip()
    form = _READINGS.get(form, form)
    forms = _forms(feature)
    return form if form in forms else forms[0]


def _forms(feature: str) -> list[str]:
    """What a feature written with `_` may stand for: "has a wire_cord" for a wire or a cord, with
    or without "a"."""
    first, second = (part.split(" ") for part in feature.split("_")[:2])
    forms = [first, second, [first[0], *second]]
    if len(first) > 2:
        forms.append([*first[:2], *second])
    if len(second) > 1:
        forms.append([*first, *second[1:]])
    return [" ".join(form) for form in forms]


def _entry(row: Cells) -> Entry | None:
    """An entry of the norms, or None where the row is not about how a thing looks in a way that is
    asked."""
    cells = {column.lower(): cell for column, cell in row.items()}
    if cells["feature type"] != "visual perceptual":
        return None
    concept = prompt_text(cells["concept"], "concept")
    feature = prompt_text(cells["feature"], "feature")
    pf = cells["pf"].strip()
    if not (pf.isascii() and pf.isdigit() and len(pf) < 4):
        raise BadValueError("'pf' is not a whole number")
    resolved = prompt_text(
        resolve(feature, cells["feature alternatives"], cells["participant list"]), "feature"
    )
    start, _, answer = resolved.rpartition(" ")
    if start not in RELATIONS or not answer:
        return None
    return Entry(
        prompt_text(cells["domain"], "domain", empty=True),
        concept,
        RELATIONS[start],
        answer,
        int(pf),
    )


def read_norms(path: Path) -> tuple[list[Entry], list[BadRow]]:
    """The entries of a CSLB `norms.dat`, and the rows that could not be used."""
    header = [name.lower() for name in column_names(path, "\t")]
    if missing := [column for column in COLUMNS if column not in header]:
        raise UserError(
            f"{path} is not the CSLB norms: its first line has no column '{missing[0]}'."
        )
    entries, bad = parse_rows(path, read_table(path, "\t"), _entry)
    return [entry for entry in entries.values() if entry], bad


def read_words(path: Path | None) -> list[str]:
    """The words of a list, one per line; none without a file."""
    if path is None:
        return []
    words = [line.strip() for line in whole_lines(path)]
    if any(len(word) > 50 or " " in word or not word.isprintable() for word in words):
        raise UserError(f"{path} is not a list of words, one per line.")
    return list(dict.fromkeys(words))


def read_articles(path: Path | None) -> dict[str, str]:
    """The article of each concept ("a", "an" or none); no articles without a file."""
    if path is None:
        return {}
    rows = [line.strip().partition(",") for line in whole_lines(path)]
    articles = {concept: article for concept, _, article in rows}
    if articles.pop("concept", "") != "descriptor" or not ARTICLES.issuperset(articles.values()):
        raise UserError(
            f"{path} does not give each concept's article ('a', 'an', 'the' or none): "
            "'concept,descriptor'."
        )
    return articles


def build(
    entries: Sequence[Entry], words: Sequence[str], articles: Mapping[str, str]
) -> list[Question]:
    """One question per concept, relation and segment, with every answer of that segment as gold."""
    options = tuple(words)
    vocabulary = set(words)
    groups: dict[tuple[int, str, str], list[Entry]] = {}
    for segment in SEGMENTS:
        for entry in entries:
            if entry.pf >= segment and entry.answer in vocabulary:
                groups.setdefault((segment, entry.concept, entry.relation), []).append(entry)
    questions = []
    for (segment, concept, relation), members in groups.items():
        name = concept.replace("_", " ")
        gold = {entry.answer: 1.0 for entry in members}
        questions.append(
            Question(
                id=f"{concept}/{relation}/pf{segment}",
                fields={
                    "thing": f"{articles.get(concept, '')} {name}".strip(),
                    "relation": relation,
                },
                options=options,
                gold=gold,
                object=name,
                tags={
                    "relation": relation,
                    "segment": f"pf>={segment}",
                    "answers": "colour"
                    if all(answer in COLORS_AS_PUBLISHED for answer in gold)
                    else "other",
                    "domain": members[0].domain,
                },
            )
        )
    return questions


def entries_by_segment(entries: Sequence[Entry], words: Sequence[str]) -> dict[int, Counter[str]]:
    """How many entries each segment has, by relation."""
    vocabulary = set(words)
    return {
        segment: Counter(
            entry.relation
            for entry in entries
            if entry.pf >= segment and entry.answer in vocabulary
        )
        for segment in SEGMENTS
    }


def describe_entries(counts: Mapping[int, Counter[str]]) -> list[str]:
    """The entries of each segment beside the number that the paper counts."""
    lines = []
    for segment, kept in counts.items():
        by_relation = ", ".join(f"{relation} {kept[relation]:,}" for relation in RELATIONS.values())
        published = PUBLISHED_ENTRIES[segment]
        if kept.total() == published:
            beside = "as published"
        else:
            beside = f"published: {published:,}"
        lines.append(f"entries of pf>={segment}: {kept.total():,} ({beside}); {by_relation}")
    return lines


def read_files(data: Path | None = None) -> tuple[list[Entry], list[BadRow], list[str], str]:
    """The entries of the norms, the rows that could not be used, the answer words, and where these
    come from."""
    entries, bad = read_norms(store.require_file("cslb-norms", "norms.dat", data))
    words = read_words(store.find_file("property-norms", "labels.txt", data))
    if words:
        return entries, bad, words, f"{len(words)} published answer words as options"
    words = sorted({entry.answer for entry in entries if entry.pf >= SEGMENTS[0]})
    return entries, bad, words, f"the {len(words)} answer words of the file as options"


def load(data: Path | None = None) -> Task:
    """The task from a CSLB `norms.dat` (that file, a folder that holds it, or the data folder's).

    `labels.txt` and `descriptors.csv` are taken from beside it or from the data folder. Without the
    first the answers found in the file are the options; without the second no concept has an
    article.
    """
    entries, bad, words, source = read_files(data)
    articles = read_articles(store.find_file("property-norms", "descriptors.csv", data))
    questions = build(entries, words, articles)
    if not questions:
        why = f" (line {bad[0].row}: {bad[0].reason})" if bad else ""
        path = store.require_file("cslb-norms", "norms.dat", data)
        raise UserError(
            f"{path} contains nothing that can be asked{why}. Is it the CSLB norms file?"
        )
    notes = [source, *([] if articles else ["concepts without articles"])]
    return Task(
        name="property-norms",
        version="2",
        title="",
        questions=tuple(questions),
        citation=CATALOGUE["property-norms"].citation,
        bad_rows=tuple(bad),
        data_notes=(*notes, *describe_entries(entries_by_segment(entries, words))),
        nested_by="segment",
        **wording("property-norms"),
    )
