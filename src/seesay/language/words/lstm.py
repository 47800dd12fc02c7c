"""A word-level LSTM trained by seesay.

Its folder holds `config.json`, `vocabulary.txt` and `model.safetensors`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError, first_line
from seesay.files import refuse_newer, write_json
from seesay.language.words.vocabulary import Vocabulary
from seesay.language.words.word_model import WordModel
from seesay.models.base import FilledScores
from seesay.models.batches import halve_until_it_fits
from seesay.models.files import file_digest
from seesay.models.libraries import device_of, require_models
from seesay.models.untrusted import refuse_other_sizes

if TYPE_CHECKING:
    import torch
    from torch.nn.utils.rnn import PackedSequence

    from seesay.language.words.lstm_network import LstmNetwork, State
    from seesay.models.options import ModelOptions

MODEL_TYPE = "seesay-lstm"
FORMAT = 1
FILES = ("config.json", "vocabulary.txt", "model.safetensors")
DEFAULT_BUDGET = 4096
"""Tokens read at a time, unless `--batch-size` says otherwise."""
ROWS = 256
"""Rows of logits computed at a time: they stay in the processor's cache."""
BEGIN_ID = 1
END_ID = 2

Ids = tuple[int, ...]


def save(
    folder: Path,
    network: LstmNetwork,
    vocabulary: Vocabulary,
    *,
    drop: bool = False,
) -> None:
    """Write the folder that `load_lstm` reads.

    The configuration is written last, so that half a model is not taken for one.

    `drop`: sentences with a rare word were dropped, so that the network has never met the unknown
    word.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.save(folder / "vocabulary.txt")
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    config = {
        "model_type": MODEL_TYPE,
        "format": FORMAT,
        "vocabulary": len(vocabulary),
        "drops_unknown": drop,
        "embedding": network.lstm.input_size,
        "hidden": network.lstm.hidden_size,
    }
    write_json(folder / "config.json", config)


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration, as `save` wrote it."""
    text = (folder / "config.json").read_text(encoding="utf-8")
    config: dict[str, Any] = json.loads(text)
    refuse_newer(config, FORMAT, f"The model in '{folder}'")
    if not isinstance(config["drops_unknown"], bool):
        raise ValueError("drops_unknown is neither true nor false")
    return config


def load(folder: Path) -> tuple[LstmNetwork, Vocabulary]:
    """Load the network and its words, as saved."""
    require_models()
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from seesay.language.words.lstm_network import LstmNetwork

    try:
        config = read_config(folder)
        vocabulary = Vocabulary.read(folder / "vocabulary.txt")
        if config["vocabulary"] != len(vocabulary):
            raise ValueError(
                f"vocabulary.txt has {len(vocabulary)} tokens, not {config['vocabulary']}"
            )
        weights = load_file(folder / "model.safetensors")
        sizes = {"embedding": config["embedding"], "hidden": config["hidden"]}
        # Before a network of the declared size is made, which might not fit the memory.
        refuse_other_sizes(lambda: LstmNetwork(len(vocabulary), **sizes), weights, sizes)
        network = LstmNetwork(len(vocabulary), **sizes)
        network.load_state_dict(weights)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(
            f"The model in '{folder}' could not be read (a file may be missing or damaged): "
            f"{first_line(error)}"
        ) from error
    return network, vocabulary


def load_lstm(name: str, options: ModelOptions) -> LstmModel:
    """Load the model in a folder."""
    folder = Path(name).expanduser()
    network, vocabulary = load(folder)
    import torch

    device_name = device_of(options.device)
    if device_name == "auto":
        device = torch.accelerator.current_accelerator()
    else:
        device = torch.device(device_name)
    fingerprint = file_digest(folder / file for file in FILES)
    model = LstmModel(name, network.to(device), vocabulary, fingerprint, options.batch_size)
    model.drops_unknown = read_config(folder)["drops_unknown"]
    return model


class LstmModel(WordModel):
    """Scores sentences by the chain rule, from the beginning mark to the end mark."""

    family = "lstm"

    def __init__(
        self,
        name: str,
        network: LstmNetwork,
        vocabulary: Vocabulary,
        fingerprint: str,
        batch_size: int | None = None,
    ) -> None:
        super().__init__(name, fingerprint)
        self._network = network.eval()
        self.vocabulary = vocabulary
        self._budget = batch_size or DEFAULT_BUDGET

    def knows(self, word: str) -> bool:
        return word in self.vocabulary

    def tokens(self) -> Sequence[str]:
        return self.vocabulary.tokens

    def logps(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return each text's log-probabilities.

        Sentences of similar length are read together; what pads the shorter ones comes after their
        end.
        """
        ids = [self.vocabulary.sentence(sentence) for sentence in sentences]
        # A budget that did not fit the memory is halved, and stays so for the texts to come.
        logps, self._budget = halve_until_it_fits(
            lambda budget: self._batches(ids, budget), self._budget
        )
        return logps

    def _batches(
        self,
        sentences: Sequence[Sequence[int]],
        budget: int,
    ) -> list[list[float]]:
        """Return each sentence's log-probabilities, read in batches of a budget of tokens."""
        batches: list[list[int]] = []
        for index in sorted(range(len(sentences)), key=lambda i: len(sentences[i])):
            # By length, so that the next sentence is the longest of its batch.
            if not batches or len(sentences[index]) * (len(batches[-1]) + 1) > budget:
                batches.append([])
            batches[-1].append(index)
        logps: list[list[float]] = [[] for _ in sentences]
        for batch in batches:
            self._read(sentences, batch, budget, logps)
        return logps

    def _read(
        self,
        sentences: Sequence[Sequence[int]],
        batch: Sequence[int],
        budget: int,
        logps: list[list[float]],
    ) -> None:
        """Read one batch.

        Texts longer than the budget are read in pieces, the state carried from one to the next.
        """
        import torch
        from torch.nn.utils.rnn import pad_sequence

        with torch.inference_mode():
            device = self._network.output.weight.device
            texts = [torch.tensor(sentences[i]) for i in batch]
            rows = pad_sequence(texts, batch_first=True).to(device)
            # The last token of a text is predicted, and not read.
            lengths = torch.tensor([len(text) - 1 for text in texts], device=device)
            steps = rows.shape[1] - 1
            size = max(1, budget // len(batch))
            state = None
            for begin in range(0, steps, size):
                end = min(begin + size, steps)
                hidden, state = self._network.states(rows[:, begin:end], state)
                targets = rows[:, begin + 1 : end + 1]
                real = torch.arange(begin, end, device=device) < lengths[:, None]
                logp = iter(self._logp(hidden[real], targets[real]).tolist())
                for index, count in zip(batch, real.sum(1).tolist(), strict=True):
                    logps[index] += islice(logp, count)

    def score_filled(
        self,
        gaps: Sequence[tuple[str, str]],
        words: Sequence[str],
    ) -> FilledScores:
        """Score every word in every gap.

        The text before a gap is read once, and its last state predicts all the words; only what
        follows is read again for each of them.
        """
        import torch

        fills = [self._numbers(self.fill(word)) for word in words]
        sides = []
        for before, after in gaps:
            sides.append((self._numbers(self.known(before)), self._numbers(self.known(after))))
        # Captions of one picture often differ in nothing but the relation.
        index = {side: i for i, side in enumerate(dict.fromkeys(sides))}
        with torch.inference_mode():
            logp, self._budget = halve_until_it_fits(
                lambda budget: self._fill(fills, list(index), budget), self._budget
            )
        fill_sizes = np.array([len(fill) for fill in fills], np.int64)
        # The end is scored too.
        side_sizes = np.array([len(before) + len(after) + 1 for before, after in sides], np.int64)
        columns = [index[side] for side in sides]
        return FilledScores(logp[:, columns], fill_sizes[:, None] + side_sizes)

    def _numbers(self, sentence: Sequence[str]) -> Ids:
        """Return the ids of words that the model knows."""
        return tuple(self.vocabulary.number[word] for word in sentence)

    def _fill(
        self,
        fills: Sequence[Ids],
        sides: Sequence[tuple[Ids, Ids]],
        budget: int,
    ) -> NDArray[np.float64]:
        """Return log P of every sentence: words × gaps."""
        import torch

        befores = [(BEGIN_ID, *before) for before, _ in sides]
        # What stands before a gap is the same for all words; the end read with it is not used.
        ended = self._batches([(*before, END_ID) for before in befores], budget)
        shared = [sum(logps[:-1]) for logps in ended]
        _, (hidden, cell) = self._states(self._packed(befores))
        logits = self._network.output(hidden[0])
        firsts = torch.tensor([fill[0] for fill in fills], device=logits.device)
        predicted = logits[:, firsts] - logits.logsumexp(1, keepdim=True)
        logp: NDArray[np.float64] = predicted.T.cpu().double().numpy() + shared
        # All words of a gap are read at once, so a part holds as many gaps as the budget allows.
        longest = max(map(len, fills)) + max(len(after) for _, after in sides)
        size = max(1, budget // (longest * len(fills)))
        for begin in range(0, len(sides), size):
            part = slice(begin, begin + size)
            texts = [(*fill, *after, END_ID) for _, after in sides[part] for fill in fills]
            state = (
                hidden[:, part].repeat_interleave(len(fills), 1),
                cell[:, part].repeat_interleave(len(fills), 1),
            )
            follows = self._follows(texts, state).view(-1, len(fills))
            logp[:, part] += follows.T.cpu().double().numpy()
        return logp

    def _follows(self, texts: Sequence[Ids], state: State) -> torch.Tensor:
        """Return log P of what follows each text's first token, read from the state before it."""
        from torch.nn.utils.rnn import pad_packed_sequence

        hidden, _ = self._states(self._packed([text[:-1] for text in texts]), state)
        targets = self._packed([text[1:] for text in texts])
        scored = targets._replace(data=self._logp(hidden.data, targets.data))
        # Padded with zeros, which change no sum.
        logp, _ = pad_packed_sequence(scored, batch_first=True)
        return logp.sum(1)

    def _packed(self, texts: Sequence[Ids]) -> PackedSequence:
        """Return texts of different lengths as torch reads them without padding."""
        import torch
        from torch.nn.utils.rnn import pack_sequence

        device = self._network.output.weight.device
        rows = [torch.tensor(text, device=device) for text in texts]
        return pack_sequence(rows, enforce_sorted=False)

    def _states(
        self,
        texts: PackedSequence,
        state: State | None = None,
    ) -> tuple[PackedSequence, State]:
        """Return the hidden state after every word, and the state at the end of each text."""
        embedded = texts._replace(data=self._network.embedding(texts.data))
        states: tuple[PackedSequence, State] = self._network.lstm(embedded, state)
        return states

    def _logp(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the targets' log-probabilities, one per row of hidden states."""
        import torch

        parts = []
        for states, golds in zip(hidden.split(ROWS), targets.split(ROWS), strict=True):
            logits = self._network.output(states)
            gold_logits = logits.gather(1, golds[:, None])[:, 0]
            parts.append(gold_logits - logits.logsumexp(1))
        return torch.cat(parts)
