"""A word-level LSTM of our own: `config.json`, `vocabulary.txt` and `model.safetensors` in a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from seesay.models.batching import halving
from seesay.models.loading import device_of, file_digest, require_models
from seesay.models.word_level import WordModel
from seesay.models.words import Vocabulary
from seesay.questions import UserError

if TYPE_CHECKING:
    import torch

    from seesay.models.loading import Options
    from seesay.models.lstm_network import Network

MODEL_TYPE = "seesay-lstm"
FILES = ("config.json", "vocabulary.txt", "model.safetensors")
AUTO_BUDGET = 4096


def is_lstm(folder: Path) -> bool:
    """Whether the folder's configuration says that a model of this kind is in it."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == MODEL_TYPE


def save(folder: Path, network: Network, vocabulary: Vocabulary) -> None:
    """Write the folder that `load_lstm` reads; the configuration last, so that half a model is none."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.save(folder / "vocabulary.txt")
    save_file({name: weights.contiguous() for name, weights in network.state_dict().items()}, folder / FILES[2])
    config = {"model_type": MODEL_TYPE, "vocabulary": len(vocabulary), **asdict(network.sizes)}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> tuple[Network, Vocabulary]:
    """The network and its words, as saved."""
    require_models()
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from seesay.models.lstm_network import Network, Sizes

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        vocabulary = Vocabulary.read(folder / "vocabulary.txt")
        if config["vocabulary"] != len(vocabulary):
            raise ValueError(f"vocabulary.txt has {len(vocabulary)} tokens, not {config['vocabulary']}")
        weights = load_file(folder / "model.safetensors")
        network = Network(len(vocabulary), Sizes(embedding=config["embedding"], hidden=config["hidden"]))
        network.load_state_dict(weights)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"The model in '{folder}' could not be read (a file may be missing or damaged): {reason}"
        ) from error
    return network, vocabulary


def load_lstm(name: str, folder: Path, options: Options) -> Lstm:
    """The folder as a model."""
    network, vocabulary = load(folder)
    import torch

    device: object = device_of(options.device)
    if device == "auto":
        device = torch.accelerator.current_accelerator()
    fingerprint = file_digest(folder / file for file in FILES)
    return Lstm(name, network.to(device), vocabulary, fingerprint, batch_size=options.batch_size)


class Lstm(WordModel):
    """Scores sentences by the chain rule, from the beginning mark to the end mark."""

    family = "lstm"

    def __init__(
        self, name: str, network: Network, vocabulary: Vocabulary, fingerprint: str, *, batch_size: int | None = None
    ) -> None:
        super().__init__(name, fingerprint)
        self._network, self.vocabulary = network.eval(), vocabulary
        self._budget = batch_size or AUTO_BUDGET

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary."""
        return word in self.vocabulary

    def logps(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Sentences of like length are read together; what pads the shorter ones stands after their end."""
        ids = [self.vocabulary.sentence(sentence) for sentence in sentences]
        found, self._budget = halving(lambda budget: self._batches(ids, budget), self._budget)
        return found

    def _batches(self, sentences: Sequence[Sequence[int]], budget: int) -> list[list[float]]:
        found: list[list[float]] = [[] for _ in sentences]
        batch: list[int] = []
        for index in sorted(range(len(sentences)), key=lambda i: len(sentences[i])):
            if batch and len(sentences[index]) * (len(batch) + 1) > budget:
                self._read(sentences, batch, budget, found)
                batch = []
            batch.append(index)
        if batch:
            self._read(sentences, batch, budget, found)
        return found

    def _read(
        self, sentences: Sequence[Sequence[int]], batch: Sequence[int], budget: int, found: list[list[float]]
    ) -> None:
        """One batch, a longer text than the budget in pieces: the state goes on from one to the next."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        with torch.inference_mode():
            device = self._network.output.weight.device
            rows = pad_sequence([torch.tensor(sentences[i]) for i in batch], batch_first=True).to(device)
            lengths = torch.tensor([len(sentences[i]) - 1 for i in batch], device=device)
            step = max(1, budget // len(batch))
            state = None
            for begin in range(0, rows.shape[1] - 1, step):
                fed = rows[:, begin : begin + step][:, : rows.shape[1] - 1 - begin]
                hidden, state = self._network.states(fed, state)
                targets = rows[:, begin + 1 : begin + 1 + fed.shape[1]]
                real = torch.arange(begin, begin + fed.shape[1], device=device) < lengths[:, None]
                logp = iter(self._logp(hidden[real], targets[real]).tolist())
                for index, count in zip(batch, real.sum(1).tolist(), strict=True):
                    found[index] += [next(logp) for _ in range(count)]

    def _logp(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The targets' log-probabilities, one a row of hidden states."""
        logits = self._network.output(hidden)
        return logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)  # type: ignore[no-any-return]
