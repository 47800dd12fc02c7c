"""Correlation with people by hand, and with a study that the judge's own code exported."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from tests.judge.annotators import always_similar, at_random, careful, judge
from tests.judge.results.test_export import put
from tests.judge.studies import serve_in_test

from seesay.errors import UserError
from seesay.judge.results.export import export_study
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_pairs
from seesay.language.relations.correlation import HumanRatings, correlate, read_human
from seesay.language.relations.vectors import WordVectors, cosine
from seesay.metrics.agreement import rank_correlation

VECTORS = WordVectors(("above", "over", "below"), np.array([[1.0, 0], [0.8, 0.6], [0, 1]]))


def test_three_pairs_by_hand() -> None:
    """Cosines: above–over 0.8, above–below 0, over–below 0.6. People's order 3, 2, 1 against 3, 1,
    2: rho 0.5."""
    ratings = HumanRatings(
        "made",
        (("above", "over"), ("above", "below"), ("over", "below")),
        np.array([0.9, 0.5, 0.1]),
    )
    result = correlate(VECTORS, ratings, resamples=200)
    assert result is not None
    assert result.rho == pytest.approx(0.5)
    assert (result.pairs, result.words) == (3, 3)
    assert result.low <= result.rho <= result.high
    assert correlate(VECTORS, ratings.where([True, True, False])) is None
    assert correlate(VECTORS, HumanRatings("x", (("far", "off"),) * 3, np.zeros(3))) is None


@given(st.integers(0, 10**6), st.integers(5, 30), st.integers(2, 6))
def test_ties_match_scipy(seed: int, n: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.integers(0, values, n).astype(float)
    if np.ptp(y) > 0:
        assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_p_and_interval_separate_a_correlation_from_chance() -> None:
    rng = np.random.default_rng(5)
    words = tuple(f"w{i}" for i in range(11))
    vectors = WordVectors(words, rng.normal(size=(11, 4)))
    pairs = tuple((a, b) for i, a in enumerate(words) for b in words[i + 1 :])
    near = cosine(vectors.rows)[np.triu_indices(11, 1)]
    linked = correlate(
        vectors, HumanRatings("linked", pairs, near + rng.normal(0, 0.3, 55)), resamples=2000
    )
    loose = correlate(vectors, HumanRatings("loose", pairs, rng.normal(size=55)), resamples=2000)
    assert linked is not None
    assert loose is not None
    assert linked.p_words < 0.005
    assert linked.low > 0
    assert loose.p_words > 0.05


def test_tables_of_people(tmp_path: Path) -> None:
    square = tmp_path / "association.csv"
    square.write_text(",in,on,up\nin,1,0.4,0\non,0.2,1,0\nup,0,0.1,1\n", encoding="utf-8")
    ratings = read_human(square)
    assert ratings.pairs == (("in", "on"), ("in", "up"), ("on", "up"))
    # of "up" and "on" one direction alone exists
    assert ratings.values == pytest.approx([0.3, 0, 0.1])
    assert ratings.where(ratings.values > 0).pairs == (("in", "on"), ("on", "up"))
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a,b,similarity\non,in,0.5\nup,up,1\nin,up,\n", encoding="utf-8")
    assert read_human(pairs).pairs == (("in", "on"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        (",in,on\nin,1\non,0,1\n", "row 2: has 2 cells where there are 3 columns"),
        ("word,value\nin,2\n", "is not a table"),
        ("a,b,value\nin,on,much\n", "'much' is not a number"),
        ("a,b,value\nin,on,1\non,in,1\n", "row 3, repeats the pair"),
        ("a,b,value\n\nin,on\n", "row 3: has 2 cells"),
        ("a,b,value\nin,in,1\n", "no pair with a rating"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=reason):
        read_human(path)


def test_an_exported_study_of_pairs(tmp_path: Path) -> None:
    """66 people, some careless: the published rule drops them, and the rest agree with the vectors
    they rate by."""
    rng = np.random.default_rng(0)
    words = ("above", "over", "below", "under", "left", "right", "near", "next")
    vectors = WordVectors(words, rng.normal(size=(8, 3)))
    pairs = [(a, b) for i, a in enumerate(words) for b in words[i + 1 :]]
    path = tmp_path / "pairs.csv"
    path.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in pairs), encoding="utf-8")
    study = study_from_pairs(path, StudyDesign(judgements=10))
    near = (cosine(vectors.rows) + 1) / 2
    truth = {f"{a}|{b}": near[words.index(a), words.index(b)] for a, b in pairs}
    raters = [careful(truth)] * 12 + [at_random] * 4 + [always_similar] * 4
    random.Random(1).shuffle(raters)
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    put(served, judge(study, raters))
    made = export_study(served.database, study, tmp_path / "people", resamples=200)
    served.database.close()
    assert made.report.people_counted == 12
    ratings = read_human(tmp_path / "people")
    assert len(ratings) == 28
    assert ratings.description.startswith("12 of 20 people, ")
    result = correlate(vectors, ratings, resamples=500)
    assert result is not None
    assert result.rho > 0.9
    with pytest.raises(UserError, match=r"holds no items\.csv"):
        read_human(tmp_path / "people" / "runs")
