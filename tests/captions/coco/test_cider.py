from __future__ import annotations

from collections import Counter
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.captions.strategies import CORPORA

from seesay.captions import CaptionCorpus, DocumentFrequency, cider, cider_d
from seesay.errors import NewerVersionError, UserError


def test_multi30k(corpus: CaptionCorpus) -> None:
    """Measurement: pycocoevalcap 1.2, Cider(), caption 1 of the 1,014 validation images against
    captions 2 to 5."""
    assert cider_d(corpus).value == pytest.approx(0.5031186134004404, abs=1e-12)


def test_a_saved_table_gives_the_same(corpus: CaptionCorpus, tmp_path: Path) -> None:
    table = DocumentFrequency.of(corpus.references)
    table.save(tmp_path / "df.json")
    again = DocumentFrequency.load(tmp_path / "df.json")
    assert again == table
    assert cider_d(corpus, again).scores == pytest.approx(cider_d(corpus).scores, abs=1e-12)


def test_a_table_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = tmp_path / "df.json"
    DocumentFrequency(1, {"a": 1}).save(path)
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(
        NewerVersionError, match=r"df\.json was written by a newer version of seesay"
    ):
        DocumentFrequency.load(path)


def _naive(corpus: CaptionCorpus, *, clipped: bool) -> list[float]:
    """The formula of the paper, one caption at a time."""

    def grams(text: str, k: int) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[i : i + k]) for i in range(len(words) - k + 1))

    scores = []
    for hypothesis, references in zip(corpus.hypotheses, corpus.references, strict=True):
        total = 0.0
        for reference in references:
            for k in range(1, 5):
                document = Counter(
                    g for refs in corpus.references for g in {g for r in refs for g in grams(r, k)}
                )
                idf = {
                    g: log(len(corpus)) - log(max(1, document[g]))
                    for g in grams(hypothesis, k) | grams(reference, k)
                }
                caption_weights = {g: n * idf[g] for g, n in grams(hypothesis, k).items()}
                reference_weights = {g: n * idf[g] for g, n in grams(reference, k).items()}
                scale = sqrt(sum(v * v for v in caption_weights.values())) * sqrt(
                    sum(v * v for v in reference_weights.values())
                )
                dot = sum(
                    (min(v, reference_weights[g]) if clipped else v) * reference_weights[g]
                    for g, v in caption_weights.items()
                    if g in reference_weights
                )
                gap = grams(hypothesis, 2).total() - grams(reference, 2).total()
                total += (dot / scale if scale else 0) * (exp(-(gap**2) / 72) if clipped else 1)
        scores.append(10 * total / 4 / len(references))
    return scores


@settings(deadline=None)
@given(CORPORA)
@pytest.mark.filterwarnings("ignore:CIDEr of one image")
def test_against_the_formula(pairs: list[tuple[str, list[str]]]) -> None:
    corpus = CaptionCorpus([h for h, _ in pairs], [r for _, r in pairs])
    assert cider_d(corpus).scores == pytest.approx(_naive(corpus, clipped=True), abs=1e-9)
    assert cider(corpus).scores == pytest.approx(_naive(corpus, clipped=False), abs=1e-9)
    for metric in (cider_d(corpus), cider(corpus)):
        assert np.isfinite(metric.scores).all()
        assert (metric.scores >= 0).all()
        assert (metric.scores <= 10 + 1e-9).all()


def test_a_caption_against_itself_is_ten() -> None:
    texts = ["a red dog runs fast today", "two big cats sleep on mats"]
    assert cider_d(CaptionCorpus(texts, [[text] for text in texts])).scores == pytest.approx(
        [10, 10]
    )


def test_one_image_is_zero_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    table = DocumentFrequency.of([["a dog"], ["a cat"]])
    assert cider_d(CaptionCorpus(["a dog"], [["a dog"]]), table).value > 0
    assert not caplog.records
    assert cider_d(CaptionCorpus(["a dog"], [["a dog"]])).value == 0
    assert "CIDEr of one image is 0" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "[]",
            "{}",
            '{"images": 0, "counts": {}}',
            '{"images": 2, "counts": {"a": "x"}}',
            "nope",
        ),
        *(
            f'{{"images": {"9" * 400}, "counts": {{}}}}',
            f'{{"images": 2, "counts": {{"a": {"9" * 400}}}}}',
            "[" * 99_999,
        ),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "df.json").write_text(text)
    with pytest.raises(UserError, match="document frequencies"):
        DocumentFrequency.load(tmp_path / "df.json")
