"""The expected alignments were given by METEOR 1.5 (`edu.cmu.meteor.aligner.Aligner`, beam 40) for
these words."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.captions.coco.meteor.pairs import matched

from seesay.captions.coco.meteor.alignment import EXACT, PARAPHRASE, STEM, SYNONYM, RawMatch, align
from seesay.captions.coco.meteor.resources import MeteorResources


def _exact(hypothesis: str, reference: str) -> list[list[RawMatch]]:
    hypothesis_words = hypothesis.split()
    return [
        [(j, 1, i, 1, EXACT) for i, other in enumerate(hypothesis_words) if other == word]
        for j, word in enumerate(reference.split())
    ]


def _align(hypothesis: str, reference: str) -> tuple[list[tuple[int, int]], int]:
    alignment, chunks = align(_exact(hypothesis, reference), len(hypothesis.split()))
    return [(match.reference, match.hypothesis) for match in alignment], chunks


def test_repeated_words() -> None:
    assert _align("a b a", "a c a") == ([(0, 0), (2, 2)], 2)
    assert _align("x b c", "x b d") == ([(0, 0), (1, 1)], 1)
    assert _align("a a a", "b a") == ([(1, 0)], 1)


def test_the_gap_before_a_match_counts_as_no_chunk_yet() -> None:
    """Both alignments end with one chunk; the one that skips first was ahead when the beam was last
    sorted."""
    assert _align("a b", "a a") == ([(1, 0)], 1)


def test_single_words_matched_otherwise_count_for_nothing() -> None:
    """`dogs big` against `dog large`: five rival matches, and METEOR takes none."""
    dog: list[RawMatch] = [
        (0, 1, 0, 1, module) for module in (STEM, SYNONYM, PARAPHRASE, PARAPHRASE)
    ]
    large: list[RawMatch] = [(1, 1, 1, 1, module) for module in (SYNONYM, PARAPHRASE, PARAPHRASE)]
    assert align([dog, large], 2) == ([], 0)
    assert align([dog[:1], large[:1]], 2)[1] == 1, "without rivals they are matched beforehand"


def test_a_longer_paraphrase_wins_by_its_words() -> None:
    """`in front of the house` against `before the house`, all matches that METEOR finds, in its
    order."""
    before: list[RawMatch] = [
        (0, 1, 0, 2, PARAPHRASE),
        (0, 1, 0, 3, PARAPHRASE),
        (0, 2, 0, 4, PARAPHRASE),
        (0, 1, 1, 1, PARAPHRASE),
        (0, 1, 1, 2, PARAPHRASE),
        (0, 2, 1, 3, PARAPHRASE),
    ]
    rows: list[list[RawMatch]] = [before, [(1, 1, 3, 1, EXACT)], [(2, 1, 4, 1, EXACT)]]
    alignment, chunks = align(rows, 5)
    assert [tuple(match) for match in alignment] == [(0, 2, 0, 4, PARAPHRASE), (2, 1, 4, 1, EXACT)]
    assert chunks == 1


SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "dogs", "dog"]), max_size=9)


@settings(deadline=None)
@given(SENTENCES, SENTENCES)
def test_laws(hypothesis_words: list[str], reference_words: list[str]) -> None:
    """No word is matched twice, chunks are counted right, and every match was offered."""
    offered = matched(MeteorResources(), hypothesis_words, reference_words)
    alignment, chunks = align(offered, len(hypothesis_words))
    assert (
        len({match.reference for match in alignment})
        == len({match.hypothesis for match in alignment})
        == len(alignment)
    )
    assert all(tuple(match) in offered[match.reference] for match in alignment)
    runs = sum(
        i == 0
        or (alignment[i - 1].reference + 1, alignment[i - 1].hypothesis + 1)
        != (match.reference, match.hypothesis)
        for i, match in enumerate(alignment)
    )
    assert chunks == runs


@settings(deadline=None)
@given(SENTENCES)
def test_a_text_matches_itself_whole(words: list[str]) -> None:
    alignment, chunks = align(matched(MeteorResources(), words, words), len(words))
    assert len(alignment) == len(words)
    assert chunks == bool(words)
