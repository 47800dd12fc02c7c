from __future__ import annotations

import numpy as np
import pytest

from seesay.captions import CaptionCorpus, MeteorResources, compare, evaluate, fuse, signature
from seesay.errors import UserError
from seesay.metrics.bootstrap import Resamples

NAMES = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR(ex_st)", "ROUGE-L", "CIDEr-D"]


@pytest.fixture(scope="module")
def small(corpus: CaptionCorpus) -> CaptionCorpus:
    return CaptionCorpus(corpus.hypotheses[:60], corpus.references[:60])


def test_the_average_is_the_plain_mean_of_four(small: CaptionCorpus) -> None:
    measured = {figure.name: figure for figure in evaluate(small, MeteorResources())}
    assert list(measured) == [*NAMES, "average fusion with METEOR(ex_st)", "unigram precision"]
    parts = [measured[name] for name in ("BLEU-4", "METEOR(ex_st)", "ROUGE-L", "CIDEr-D")]
    fused = measured["average fusion with METEOR(ex_st)"]
    assert fused.value == pytest.approx(np.mean([part.value for part in parts]))
    assert fused.scores == pytest.approx(np.mean([part.scores for part in parts], axis=0))
    without = [name for name in NAMES if "METEOR" not in name]
    assert [figure.name for figure in evaluate(small, None)] == [*without, "unigram precision"]


def test_a_resample_is_the_figure_of_the_drawn_captions(small: CaptionCorpus) -> None:
    """The matrix product must give what scoring the drawn captions again would give."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(small), len(small))
    again = CaptionCorpus([small.hypotheses[i] for i in rows], [small.references[i] for i in rows])
    counts = np.bincount(rows, minlength=len(small)).astype(np.float64)
    whole, part = evaluate(small, MeteorResources()), evaluate(again, MeteorResources())
    # CIDEr-D's document frequencies would be drawn anew
    for a, b in zip(whole[:6], part[:6], strict=True):
        assert float(a.metric.value(counts @ a.statistics)) == pytest.approx(b.value, abs=1e-12)


def test_intervals_hold_the_figure_and_are_seeded(small: CaptionCorpus) -> None:
    measured = evaluate(small, MeteorResources())
    ids = [str(i) for i in range(len(small))]
    intervals, again = (Resamples(ids, 300, 7).measurements(measured) for _ in range(2))
    assert intervals == again
    for figure, interval in zip(measured, intervals, strict=True):
        assert interval.value == pytest.approx(figure.value)
        assert interval.low < interval.value < interval.high


def test_paired_tests_are_antisymmetric_and_see_a_difference(small: CaptionCorpus) -> None:
    worse = CaptionCorpus(["a thing" for _ in small.hypotheses], small.references)
    ids = [str(i) for i in range(len(small))]
    a, b = evaluate(small, MeteorResources()), evaluate(worse, MeteorResources())
    there, back = compare(a, b, ids, Resamples(ids, 200)), compare(b, a, ids, Resamples(ids, 200))
    for forward, reverse in zip(there, back, strict=True):
        assert forward.difference.difference == pytest.approx(-reverse.difference.difference)
        assert forward.p_signflip == pytest.approx(reverse.p_signflip)
    meteor = there[4]
    assert meteor.difference.low > 0
    assert meteor.p_signflip < 0.05
    same = compare(a, a, ids, Resamples(ids, 200))
    assert all(test.difference.difference == 0 and test.p_signflip == 1 for test in same)


def test_signature_says_how() -> None:
    corpus = CaptionCorpus(["a", "b"], [["a"], ["b", "c"]])
    line = signature(corpus, MeteorResources(), None, 100, 3)
    for part in ("nrefs:1-2", "meteor:1.5-ex_st", "df=references:2", "boot:100-seed3", "seesay:"):
        assert part in line
    assert "fusion:mean(bleu4,meteor,rougeL,ciderD)" in line
    assert "\n" not in line


def test_a_signature_names_only_what_was_computed(small: CaptionCorpus) -> None:
    names = [measurement.name for measurement in evaluate(small, None)]
    assert not [name for name in names if "METEOR" in name or "fusion" in name]
    line = signature(small, None, None, 100, 3)
    assert "meteor" not in line
    assert "fusion" not in line


def test_fusing_keeps_columns_apart(small: CaptionCorpus) -> None:
    measured = evaluate(small, None)
    assert fuse([measured[0], measured[-1]]).value == pytest.approx(
        (measured[0].value + measured[-1].value) / 2
    )


@pytest.mark.parametrize(("texts", "references"), [([], []), (["a"], []), (["a"], [[]])])
def test_what_cannot_be_scored_is_refused(texts: list[str], references: list[list[str]]) -> None:
    with pytest.raises(UserError):
        CaptionCorpus(texts, references)
