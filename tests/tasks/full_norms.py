"""A file like the CSLB norms in size and shape, made up by a seed: every word and every number in
it is invented."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from seesay.tasks.property_norms import COLUMNS, SEGMENTS

CONCEPTS = 638
WORDS = 614
ENTRIES = dict(zip(SEGMENTS, (6541, 3641, 2001, 613, 27), strict=True))
"""Entries of at least this many people, as Hagström & Johansson 2022 count them in the real
file."""

ANOTHER_WORD, ANOTHER_RELATION, ANOTHER_TYPE = 467, 1899, 13_000
"""Rows that are not asked: in the real file as many have an answer that is no word piece, or
another relation."""

RELATIONS = {"is": 0.45, "has": 0.2, "has a": 0.15, "made of": 0.2}
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def invented(count: int, syllables: int, draw: random.Random) -> list[str]:
    """Distinct words of so many syllables."""
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(SYLLABLES, k=syllables))] = None
    return list(words)


def write_full_norms(folder: Path, seed: int = 0, words: Sequence[str] = ()) -> Path:
    """`norms.dat`, `labels.txt` and `descriptors.csv` in the folder; answer words are invented
    where none are given."""
    draw = random.Random(seed)
    answers = list(words) or invented(WORDS, 2, draw)
    concepts = invented(CONCEPTS, 3, draw)
    entries = [
        (concept, relation, answer)
        for concept in concepts
        for relation in RELATIONS
        for answer in answers
    ]
    weights = [RELATIONS[relation] for _, relation, _ in entries]
    every = zip(
        concepts,
        draw.choices(list(RELATIONS), list(RELATIONS.values()), k=CONCEPTS),
        answers * 2,
        strict=False,
    )
    sampled_entries = dict.fromkeys(every)  # every concept and every word occurs
    sampled_entries.update(
        dict.fromkeys(draw.choices(entries, weights, k=2 * ENTRIES[SEGMENTS[0]]))
    )
    rows = []
    for (concept, relation, answer), pf in zip(sampled_entries, _frequencies(draw), strict=False):
        rows.append(_row(concept, "visual perceptual", f"{relation} {answer}", pf))
    for _ in range(ANOTHER_WORD):
        rows.append(
            _row(
                draw.choice(concepts),
                "visual perceptual",
                f"is {''.join(draw.choices(SYLLABLES, k=5))}",
                4,
            )
        )
    for _ in range(ANOTHER_RELATION):
        rows.append(
            _row(
                draw.choice(concepts),
                "visual perceptual",
                f"looks like a {draw.choice(answers)}",
                3,
            )
        )
    for _ in range(ANOTHER_TYPE):
        rows.append(_row(draw.choice(concepts), "functional", f"does {draw.choice(answers)}", 5))
    rows.sort()
    (folder / "norms.dat").write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n")
    (folder / "labels.txt").write_text("\n".join(answers) + "\n")
    descriptors = [f"{concept},{draw.choice(('a', 'an', ''))}" for concept in concepts]
    (folder / "descriptors.csv").write_text("\n".join(["concept,descriptor", *descriptors]) + "\n")
    return folder


def _frequencies(draw: random.Random) -> list[int]:
    """A production frequency for every entry, so that each segment has its size."""
    sizes = [*ENTRIES.values(), 0]
    ends = [*SEGMENTS[1:], SEGMENTS[-1] + 1]
    sampled_rows = [
        draw.randrange(low, high)
        for low, high, more, fewer in zip(SEGMENTS, ends, sizes, sizes[1:], strict=False)
        for _ in range(more - fewer)
    ]
    draw.shuffle(sampled_rows)
    return sampled_rows


def _row(concept: str, kind: str, feature: str, pf: int) -> str:
    people = " ".join(map(str, range(1, pf + 1)))
    domain = "living" if concept[0] < "m" else "nonliving"
    return "\t".join((domain, kind, concept, feature, str(pf), feature, f"p {people}"))
