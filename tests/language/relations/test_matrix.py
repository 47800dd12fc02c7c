"""The matrix of perplexities: its definition sentence by sentence, for every family; stopped and
resumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.language.words.word_lstm import loaded, reference, saved

from seesay.errors import UserError
from seesay.language.relations.matrix import Gap, perplexity_matrix
from seesay.language.words.lstm import LstmModel
from seesay.models import load_model
from seesay.models.base import FilledScores

CONTEXTS: dict[str, list[Gap]] = {
    "on": [("the cat sits ", " the mat"), ("a man is ", " a red horse")],
    "in front of": [("the dog stands ", " the table")],
}
WORDS = ["on", "under", "in front of"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("lstm"))


@pytest.mark.parametrize("level", ["token", "sentence"])
def test_by_definition(folder: Path, level: str) -> None:
    progress: list[tuple[int, int]] = []
    matrix = perplexity_matrix(
        loaded(folder),
        CONTEXTS,
        WORDS,
        level=level,
        progress=lambda done, total: progress.append((done, total)),
    )
    assert matrix.shape == (3, 2)
    assert progress == [(2, 3), (1, 3)]
    for row, word in enumerate(WORDS):
        for column, gaps in enumerate(CONTEXTS.values()):
            texts = [
                before + word.replace("in front of", "in_front_of") + after
                for before, after in gaps
            ]
            rows = [reference(folder, text.split()) for text in texts]
            count = sum(map(len, rows)) if level == "token" else len(rows)
            expected = math.exp(-sum(map(sum, rows)) / count)
            assert matrix[row, column] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "mamba", "bert"])
def test_transformers_write_relations_with_spaces(
    kind: str, tiny_folder: Callable[[str], Path]
) -> None:
    model: Any = load_model(str(tiny_folder(kind)))
    contexts = {
        "a": [("The sky ", " the grass."), ("a banana ", " snow")],
        "b": [("it is ", " the sky")],
    }
    words = ["is in", "and", "of"]
    matrix = perplexity_matrix(model, contexts, words)
    for row, word in enumerate(words):
        for column, gaps in enumerate(contexts.values()):
            alone = [next(model.score([before + word + after])).logp for before, after in gaps]
            expected = math.exp(-sum(map(sum, alone)) / sum(map(len, alone)))
            assert matrix[row, column] == pytest.approx(expected, rel=1e-4)


class Failing(LstmModel):
    """Stops after so many columns, and counts its calls."""

    remaining = 0
    calls = 0

    def score_filled(self, gaps: Sequence[Gap], words: Sequence[str]) -> FilledScores:
        type(self).calls += 1
        if type(self).remaining == 0:
            raise KeyboardInterrupt
        type(self).remaining -= 1
        return super().score_filled(gaps, words)


def test_interrupted_matrix_resumes(folder: Path, tmp_path: Path) -> None:
    whole = perplexity_matrix(loaded(folder), CONTEXTS, WORDS)
    model = loaded(folder)
    model.__class__ = Failing
    Failing.remaining = 1
    with pytest.raises(KeyboardInterrupt):
        perplexity_matrix(model, CONTEXTS, WORDS, folder=tmp_path / "columns")
    assert Failing.calls == 2
    Failing.remaining = 1  # enough for the one column that is missing
    again = perplexity_matrix(model, CONTEXTS, WORDS, folder=tmp_path / "columns")
    np.testing.assert_array_equal(again, whole)
    assert Failing.calls == 3
    sentences = perplexity_matrix(
        model, CONTEXTS, WORDS, level="sentence", folder=tmp_path / "columns"
    )
    np.testing.assert_array_equal(
        sentences, perplexity_matrix(loaded(folder), CONTEXTS, WORDS, level="sentence")
    )
    Failing.remaining = 2
    # other words are other columns
    perplexity_matrix(model, CONTEXTS, WORDS[:2], folder=tmp_path / "columns")
    assert Failing.calls == 5


def test_a_damaged_column_is_computed_again(folder: Path, tmp_path: Path) -> None:
    whole = perplexity_matrix(loaded(folder), CONTEXTS, WORDS, folder=tmp_path)
    columns = sorted(tmp_path.glob("*.npy"))
    assert len(columns) == 2
    columns[0].write_bytes(b"rubbish")
    columns[1].write_bytes(b"")
    np.testing.assert_array_equal(
        perplexity_matrix(loaded(folder), CONTEXTS, WORDS, folder=tmp_path), whole
    )


def test_mistakes(folder: Path) -> None:
    with pytest.raises(UserError, match="Unknown perplexity level 'word'"):
        perplexity_matrix(loaded(folder), CONTEXTS, WORDS, level="word")
    with pytest.raises(UserError, match="'near' has no contexts"):
        perplexity_matrix(loaded(folder), {**CONTEXTS, "near": []}, WORDS)


def test_many_contexts_are_read_in_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seesay.language.relations import matrix as module

    def gaps() -> Iterator[Gap]:
        for thing in ("cat", "dog", "horse", "man", "mat"):
            yield f"the {thing} is ", f" the {thing}"

    whole = perplexity_matrix(loaded(folder), {"on": list(gaps())}, WORDS)
    monkeypatch.setattr(module, "BATCH", 2)
    np.testing.assert_allclose(
        perplexity_matrix(loaded(folder), {"on": list(gaps())}, WORDS), whole, rtol=1e-6
    )
