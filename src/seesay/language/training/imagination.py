"""Imagination in training: a text encoder's vector of each text.

It is shown to a BERT as CLIP-BERT is shown a picture.

The vector is that of the masked text, with the letters `[MASK]` for each masked word, as a slot is
imagined when it is asked (`docs/models.md`). So it never holds the words to predict, and losses
with and without it can be compared.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.language.training.ragged import Rows
from seesay.models.encoders.clip_bert import PROJECTION, load_imagination
from seesay.models.options import ModelOptions
from seesay.models.source import FEATURES

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CACHE_SIZE = 1 << 16
"""Vectors kept in memory: masks of a small corpus come again."""


class Imagination:
    """A text encoder by its name, as in linear probes.

    It has the length of its vectors, and a fingerprint.
    """

    def __init__(self, name: str) -> None:
        self._encoder = load_imagination(name, "", name, ModelOptions(device="cpu"))
        folder = Path(name).expanduser()
        # The trained model remembers its encoder, and may be opened from another folder.
        self.name = str(folder.resolve()) if folder.is_dir() else name
        self.size = int(self._encoder.encode(["a"]).shape[1])
        self.fingerprint = self._encoder.fingerprint
        self._vector = lru_cache(maxsize=CACHE_SIZE)(self._encode)

    def features(
        self,
        tokenizer: PreTrainedTokenizerBase,
        ids: Rows,
        words: Rows,
        masked: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """Return one vector per masked text.

        `words` has the number of the word that each token belongs to.
        """
        shown_specials = {tokenizer.mask_token_id, tokenizer.unk_token_id}
        left_out = set(tokenizer.all_special_ids) - shown_specials
        # The later pieces of a masked word: a word is one [MASK].
        inside = np.zeros_like(masked)
        same_word = words[:, 1:] == words[:, :-1]
        inside[:, 1:] = masked[:, 1:] & masked[:, :-1] & same_word
        shown = ~inside & ~np.isin(ids, list(left_out))
        vectors = []
        for row, mask in zip(ids, shown, strict=True):
            text = str(tokenizer.decode(row[mask].tolist()))
            vectors.append(self._vector(text))
        return np.stack(vectors)

    def _encode(self, text: str) -> NDArray[np.float32]:
        """Return a text's vector.

        Each is encoded by itself: the last digits do not depend on neighbours, so one that is kept
        is the one that a resumed training computes.
        """
        vector: NDArray[np.float32] = self._encoder.encode([text])[0]
        return vector

    def shown_to(self, bert: PreTrainedModel, seed: int) -> PreTrainedModel:
        """Return the same BERT, weight by weight, with a projection of these vectors.

        The projection is its own, or one drawn by the seed.
        """
        source = f"--imagine '{self.name}'"
        return add_features(bert, self.size, source, seed, text_encoder=self.name)


def add_features(
    bert: PreTrainedModel,
    width: int,
    source: str,
    seed: int,
    **entries: object,
) -> PreTrainedModel:
    """Return the same BERT, weight by weight, with a projection of features of this width.

    What it did not have is drawn by the seed. `source` names where the features come from, in an
    error; `entries` are added to the configuration.
    """
    import torch

    from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM

    config: Any = bert.config
    if config.model_type != "bert":
        raise UserError(f"{source} needs a BERT to start from, and this is a {config.model_type}.")
    if getattr(config, FEATURES, width) != width:
        raise UserError(
            f"{source} has vectors of {width} numbers, and the model to start from was trained "
            f"with {getattr(config, FEATURES)}: give the encoder that it was trained with."
        )
    config.img_feature_dim = width
    for name, value in entries.items():
        setattr(config, name, value)
    torch.manual_seed(seed)
    network = ClipBertForMaskedLM(config)
    differences = network.load_state_dict(bert.state_dict(), strict=False)
    assert not differences.unexpected_keys
    parts = (PROJECTION, "imagination")
    assert all(any(part in key for part in parts) for key in differences.missing_keys)
    return network
