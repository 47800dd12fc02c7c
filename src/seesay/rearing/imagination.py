"""What a text evokes: the features of pictures, predicted from its words.

A ridge regression from the words of captions to the features of their pictures. Asked without a
picture, a model that was raised with pictures sees what it imagines.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.digests import file_digest
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error
from seesay.models.base import Model
from seesay.models.options import ModelOptions
from seesay.rearing.sight import Features

FILE = "imagination.npz"
RIDGE = 1.0
"""How strongly words are held near zero: as if each had been met once more, and meant nothing."""


def fit(texts: Sequence[str], features: Features) -> tuple[list[str], Features, Features]:
    """Return the words, their weights (one row each), and the mean features."""
    words = sorted({word for text in texts for word in text.split()})
    counts = _count_words(texts, words)
    mean = features.mean(axis=0)
    gram = counts.T @ counts + RIDGE * np.eye(len(words))
    weights = np.linalg.solve(gram, counts.T @ (features - mean))
    return words, weights.astype(np.float32), mean.astype(np.float32)


def write(path: Path, texts: Sequence[str], features: Features) -> None:
    """Fit and write an imagination."""
    words, weights, mean = fit(texts, features)
    with atomic_write(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, words=np.array(words), weights=weights, mean=mean)


def _count_words(texts: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
    places = {word: place for place, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)))
    for row, text in enumerate(texts):
        for word in text.split():
            if word in places:
                counts[row, places[word]] += 1
    return counts


class Imagination(Model):
    """The features that words evoke: an encoder of texts."""

    def __init__(self, name: str, path: Path) -> None:
        if not path.is_file():
            raise UserError(f"There is no imagination '{path}': `seesay rear` writes one.")
        with damage_as_user_error(path, "rear the model again"), np.load(path) as stored:
            self._words = [str(word) for word in stored["words"]]
            self._weights = stored["weights"]
            self._mean = stored["mean"]
            if len(self._words) != len(self._weights) or self._mean.ndim != 1:
                raise ValueError("its words do not match its weights")
        self.name = name
        self.family = "encoder"
        self.fingerprint = file_digest(path)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the features that each text evokes."""
        counts = _count_words([text.lower() for text in texts], self._words)
        features: Features = (counts @ self._weights + self._mean).astype(np.float32)
        return features


def load(rest: str, options: ModelOptions) -> Imagination:
    """`imagined:FOLDER`."""
    return Imagination(f"imagined:{rest}", Path(rest).expanduser() / FILE)
