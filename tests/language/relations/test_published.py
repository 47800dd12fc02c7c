"""The figures in print, from the files that were published (Ghanimifard & Dobnik 2019)."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.language.relations.correlation import correlate
from seesay.language.relations.inventory import shown_relations
from seesay.language.relations.published import (
    CLUSTERS,
    FILES,
    PublishedFiles,
    Reproduction,
    p_vectors_of,
    read,
    readings,
    reproduce,
)


@pytest.fixture(scope="module")
def data() -> PublishedFiles:
    return read(shared("spatial_relations"))


@pytest.fixture(scope="module")
def figures(data: PublishedFiles) -> dict[tuple[str, str], Reproduction]:
    return {(figure.test, figure.vectors): figure for figure in reproduce(data)}


@pytest.mark.parametrize(
    ("test", "vectors", "right", "questions"),
    [
        ("analogy", "LM embeddings", 103, 120),
        ("analogy", "P-vectors", 75, 120),
        ("odd one out, cosine", "LM embeddings", 462, 528),
        ("odd one out, spearman", "LM embeddings", 480, 528),
        ("odd one out, cosine", "P-vectors", 384, 528),
        ("odd one out, spearman", "P-vectors", 372, 528),
        ("odd one out, cosine", "spatial templates", 48, 216),
        ("odd one out, spearman", "spatial templates", 216, 216),
    ],
)
def test_every_figure_lies_within_a_hundredth_of_the_one_in_print(
    figures: dict[tuple[str, str], Reproduction],
    test: str,
    vectors: str,
    right: int,
    questions: int,
) -> None:
    """Counts are ours; what is in print is in two digits, sometimes cut off and not rounded
    (docs/relations.md)."""
    figure = figures[test, vectors]
    assert figure.n == questions
    assert figure.value == pytest.approx(right / questions)
    assert figure.printed is not None
    assert abs(figure.value - figure.printed) < 0.01


@pytest.mark.parametrize(
    ("test", "vectors", "pairs", "printed"),
    [
        ("word association", "P-vectors", 55, 0.48),
        ("word association", "LM embeddings", 55, 0.48),
        ("word association, associated pairs", "P-vectors", 28, 0.40),
        ("word association, associated pairs", "LM embeddings", 28, 0.59),
        ("word similarity", "P-vectors", 55, 0.19),
        ("word similarity", "LM embeddings", 55, 0.15),
        ("word similarity, associated pairs", "LM embeddings", 28, 0.08),
    ],
)
def test_the_correlations_are_those_in_print(
    figures: dict[tuple[str, str], Reproduction],
    test: str,
    vectors: str,
    pairs: int,
    printed: float,
) -> None:
    """Table 5, for the vectors that are published; of P-vectors and similarity over 28 pairs the
    sign is another."""
    figure = figures[test, vectors]
    assert (figure.n, figure.printed) == (pairs, printed)
    assert abs(figure.value - printed) < 0.01


def test_every_printed_cluster_has_relations_of_the_67() -> None:
    """Table 2 has thirty clusters; no relation is in two."""
    members = [relation for cluster in CLUSTERS for relation in cluster]
    assert len(CLUSTERS) == 30
    assert sorted(members) == sorted(shown_relations())


def test_the_numbers_of_questions_with_phrases(
    figures: dict[tuple[str, str], Reproduction],
) -> None:
    assert figures["odd one out, phrases, cosine", "P-vectors"].n == 3456
    assert figures["analogy, phrases", "P-vectors"].n == 1008


def test_the_parts_of_the_matrix_agree(data: PublishedFiles) -> None:
    """perplexity_67x57.csv is the part of the 97 x 97 matrix that the paper shows."""
    lines = (
        shared("spatial_relations/perplexity_67x57.csv").read_text(encoding="utf-8").splitlines()
    )
    table = [line.split(",") for line in lines]
    part = data.matrix.take(tuple(row[0] for row in table[1:]), tuple(table[0][1:]))
    assert part.perplexity == pytest.approx(
        np.array([row[1:] for row in table[1:]], dtype=float), abs=1e-6
    )
    assert p_vectors_of(data, "67 x 57").words == part.words


def test_readings_differ(data: PublishedFiles) -> None:
    reproductions = readings(data)
    assert len(reproductions) == 4 * 5 * 4
    assert len({round(figure.value, 3) for figure in reproductions if figure.test == "analogy"}) > 5
    whole = next(
        o
        for o in reproductions
        if o.reading == "97 x 97; columns by their sum" and o.test == "word association"
    )
    own = correlate(p_vectors_of(data, "97 x 97"), data.association)
    assert own is not None
    assert whole.value == own.rho


def test_pickled_and_missing_files_are_refused(tmp_path: Path) -> None:
    for name in FILES:
        shutil.copy(shared(f"spatial_relations/{name}"), tmp_path / name)
    (tmp_path / "embeddings.npy").chmod(0o644)
    np.save(tmp_path / "embeddings.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="Python objects"):
        read(tmp_path)
    (tmp_path / "embeddings.npy").unlink()
    with pytest.raises(UserError, match=r"lacks embeddings\.npy"):
        read(tmp_path)
