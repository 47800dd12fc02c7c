"""What words bring to mind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seesay.errors import UserError
from seesay.rearing import recall
from seesay.rearing.recall import Recall


def test_a_word_brings_back_what_was_seen_beside_it_more_so_the_more_often() -> None:
    texts = ["a lemon"] * 16 + ["a dove"] * 16 + ["a rare"]
    features = np.array([[1.0, 0.0]] * 16 + [[0.0, 1.0]] * 16 + [[1.0, 0.0]], np.float32)
    memory = Recall.fit(texts, features)
    lemon, dove, rare, unknown = memory.features(["A lemon", "a dove", "a rare", "a thing"])
    assert lemon[0] > 0.9 > rare[0] > unknown[0]
    assert dove[1] > 0.9


def test_colors_bring_nothing_to_mind() -> None:
    texts = ["red lemon", "lemon", "blue dove", "dove"]
    memory = Recall.fit(texts, np.eye(4, dtype=np.float32))
    plain, colored = memory.features(["lemon", "red lemon"])
    assert plain.tolist() == colored.tolist()


def test_a_folder_without_or_with_a_damaged_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no recall\.npz"):
        recall.read(tmp_path)
    recall.write(tmp_path, ["a lemon", "a dove"], np.eye(2, dtype=np.float32))
    assert recall.read(tmp_path).words == ["a", "dove", "lemon"]
    path = tmp_path / recall.FILE
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UserError, match="damaged"):
        recall.read(tmp_path)
