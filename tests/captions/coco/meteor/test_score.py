from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.captions.strategies import CORPORA, FULL

from seesay.captions import CaptionCorpus, MeteorResources, meteor
from seesay.captions.coco.meteor.score import pooled, statistics


def test_multi30k(corpus: CaptionCorpus, resources: MeteorResources) -> None:
    """Measurement: pycocoevalcap 1.2 (METEOR 1.5, Java 17), caption 1 of the 1,014 validation
    images against 2 to 5."""
    measured = meteor(corpus, resources)
    assert measured.name == "METEOR"
    assert measured.value == pytest.approx(0.2471792395365127, abs=1e-12)


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("the cat", ["the cat"], 1.0),
        ("in front of the house", ["before the house"], 0.7654639175257731),
        ("dogs", ["dog"], 0.0),
        ("the the", ["the dog"], 0.1081081081081081),
        ("a dog", ["", "a dog"], 1.0),
        ("", ["a dog"], 0.0),
        ("", [""], 0.0),
    ],
)
def test_scores_match_the_jar(
    resources: MeteorResources, hypothesis: str, references: list[str], expected: float
) -> None:
    """Measurement: METEOR 1.5 through pycocoevalcap 1.2."""
    assert meteor(CaptionCorpus([hypothesis], [references]), resources).value == pytest.approx(
        expected, abs=1e-12
    )


def test_by_hand() -> None:
    """Five of six words match exactly in two chunks; no function words, so δ cancels.

    P = R = F = 5/6, penalty 0.6 · (2/5)^0.2.
    """
    corpus = CaptionCorpus(["the cat sat on the mat"], [["the cat is on the mat"]])
    assert meteor(corpus, MeteorResources()).value == pytest.approx(
        5 / 6 * (1 - 0.6 * (2 / 5) ** 0.2)
    )


@settings(deadline=None)
@given(FULL)
def test_a_caption_against_itself_is_perfect(text: str) -> None:
    assert meteor(
        CaptionCorpus([text], [["x y z", text]]), MeteorResources()
    ).value == pytest.approx(1)


@settings(deadline=None)
@given(CORPORA)
def test_laws(pairs: list[tuple[str, list[str]]]) -> None:
    """In range; order changes nothing; the best reference is the best one alone."""
    corpus = CaptionCorpus([h for h, _ in pairs], [r for _, r in pairs])
    measured = meteor(corpus, MeteorResources())
    assert ((measured.scores >= 0) & (measured.scores <= 1 + 1e-12)).all()
    backwards = meteor(
        CaptionCorpus(corpus.hypotheses[::-1], corpus.references[::-1]), MeteorResources()
    )
    assert backwards.value == pytest.approx(measured.value, abs=1e-12)
    for i, (text, references) in enumerate(pairs):
        alone = [
            pooled(statistics(CaptionCorpus([text], [[reference]]), MeteorResources()))[0]
            for reference in references
        ]
        assert measured.scores[i] == pytest.approx(max(alone), abs=1e-12)


def test_several_processes_give_the_same(corpus: CaptionCorpus) -> None:
    assert (
        statistics(corpus, MeteorResources(), jobs=2) == statistics(corpus, MeteorResources())
    ).all()


def test_corpus_figure_pools_statistics(corpus: CaptionCorpus) -> None:
    measured = meteor(corpus, MeteorResources())
    assert measured.value == pytest.approx(
        float(pooled(measured.statistics.sum(axis=0))), abs=1e-12
    )
    assert measured.value != pytest.approx(float(np.mean(measured.scores)), abs=1e-4)
