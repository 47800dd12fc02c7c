"""Matches and bounds of many captions at once, against plain loops over one pair of texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.captions.strategies import CORPORA

from seesay.captions import CaptionCorpus, MeteorResources
from seesay.captions.coco.meteor.alignment import EXACT, STEM, SYNONYM, RawMatch
from seesay.captions.coco.meteor.matches import Matcher
from seesay.captions.coco.meteor.normalize import normalize, normalize_all
from seesay.captions.coco.meteor.stem import stem
from seesay.captions.coco.meteor.wordnet import WordNet

RESOURCES = MeteorResources(
    frozenset(["a", "the", "in", "of"]),
    wordnet=WordNet("big\n1 2\nlarge\n2\nrun\n3\ndog\n3 4\npark\n4\n", "run\nran\n"),
)


def _plain(hypothesis: list[str], reference: list[str]) -> list[list[RawMatch]]:
    assert RESOURCES.wordnet is not None
    related = RESOURCES.wordnet.synonyms(dict.fromkeys([*hypothesis, *reference]))
    rows: list[list[RawMatch]] = []
    for j, word in enumerate(reference):
        others = list(enumerate(hypothesis))
        exact = [(j, 1, i, 1, EXACT) for i, other in others if other == word]
        stems = [
            (j, 1, i, 1, STEM) for i, other in others if other != word and stem(other) == stem(word)
        ]
        rows.append(
            [
                *exact,
                *stems,
                *((j, 1, i, 1, SYNONYM) for i, other in others if other in related.get(word, ())),
            ]
        )
    return rows


@settings(deadline=None)
@given(CORPORA, st.integers(0, 2))
def test_matches_are_those_of_each_pair(pairs: list[tuple[str, list[str]]], first: int) -> None:
    """Whatever other captions are there, and from whichever caption on."""
    corpus = CaptionCorpus([h for h, _ in pairs], [r for _, r in pairs])
    texts = [*corpus.hypotheses, *(text for row in corpus.references for text in row)]
    matcher = Matcher(RESOURCES, normalize_all(texts, RESOURCES.prefixes), corpus.owner)
    first = min(first, len(corpus) - 1)
    matches = matcher.matches(range(first, len(corpus)))
    words = [
        (normalize(h, RESOURCES.prefixes), [normalize(r, RESOURCES.prefixes) for r in refs])
        for h, refs in pairs
    ]
    assert matches.rows() == [
        _plain(hypothesis, reference) for hypothesis, refs in words[first:] for reference in refs
    ]
