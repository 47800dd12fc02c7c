"""What a text brings to mind: the pictures that were seen beside its words, as features.

A ridge regression from the words of captions to the features of their pictures, colour words left
out: a colour is what is asked for. It is worked out and not trained, and gives a word that was met
often about the mean of what was seen beside it. `reared:FOLDER` is a model that was raised with
pictures and, asked without one, sees what it recalls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error
from seesay.models.files import file_digest
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    from seesay.models.encoders.clip_bert_masked import ClipBertModel

FILE = "recall.npz"
RIDGE = 0.5
"""How strongly words are held near nothing: as if each had been met half a time more, in vain."""

Features = NDArray[np.float32]


@dataclass(frozen=True)
class Recall:
    """Words with the features that they bring to mind, beside those of a mean picture."""

    words: Sequence[str]
    weights: Features
    mean: Features

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.words), len(self.mean)):
            raise ValueError("its words do not match its weights")

    @classmethod
    def fit(cls, texts: Sequence[str], features: Features) -> Recall:
        """Work it out from captions and the features of their pictures."""
        vocabulary = {word for text in texts for word in text.split()}
        words = sorted(vocabulary.difference(COLORS))
        mean = features.mean(axis=0)
        counts = _count(words, texts)
        # ridge regression: (X'X + rI) w = X'y
        gram = counts.T @ counts + RIDGE * np.eye(len(words))
        weights = np.linalg.solve(gram, counts.T @ (features - mean))
        return cls(words, weights.astype(np.float32), mean)

    def features(self, texts: Sequence[str]) -> Features:
        """Return what each text brings to mind."""
        evoked = _count(self.words, texts) @ self.weights + self.mean
        return evoked.astype(np.float32)


def _count(words: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
    """Return how often each text has each of the words."""
    counts = np.zeros((len(texts), len(words)))
    columns = {word: column for column, word in enumerate(words)}
    for row, text in enumerate(texts):
        for word in text.lower().split():
            if word in columns:
                counts[row, columns[word]] += 1
    return counts


def write(folder: Path, texts: Sequence[str], features: Features) -> None:
    """Work out what words bring to mind, and write it to a model's folder."""
    recall = Recall.fit(texts, features)
    with atomic_write(folder / FILE) as unfinished, unfinished.open("wb") as file:
        np.savez(file, words=np.array(recall.words), weights=recall.weights, mean=recall.mean)


def read(folder: Path) -> Recall:
    """Read what words bring to mind."""
    path = folder / FILE
    if not path.is_file():
        raise UserError(
            f"There is no {FILE} in '{folder}': give the folder of a model that `seesay rear` "
            "raised with pictures."
        )
    with damage_as_user_error(path, "rear the model again"), np.load(path) as stored:
        words = [str(word) for word in stored["words"]]
        return Recall(words, stored["weights"], stored["mean"])


def load(rest: str, options: ModelOptions) -> ClipBertModel:
    """`reared:FOLDER`."""
    import torch

    from seesay.models.encoders.clip_bert import load_bert
    from seesay.models.encoders.clip_bert_masked import ClipBertModel, PredictingReader

    class RecallingReader(PredictingReader):
        """Shows the network a picture's features, or those that the text brings to mind."""

        sees_text = True
        scope = "slot-recalled"

        def __init__(self, network: Any, recall: Recall) -> None:
            super().__init__(network)
            self._recall = recall

        def features(
            self, ids: torch.Tensor, texts: Sequence[str], picture: str | None
        ) -> torch.Tensor:
            if picture is not None:
                return super().features(ids, texts, picture)
            return torch.from_numpy(self._recall.features(texts)).to(ids.device)

    folder = Path(rest).expanduser()
    recall = read(folder)
    name = f"reared:{rest}"
    checkpoint = load_bert(name, rest, options, None)
    # another memory is another model
    digest = file_digest([folder / FILE])
    checkpoint = replace(checkpoint, fingerprint=f"{checkpoint.fingerprint}-recalling-{digest}")
    return ClipBertModel(name, checkpoint, RecallingReader(checkpoint.model, recall), options)
