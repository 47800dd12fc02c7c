"""A small LSTM with random weights that are far from nothing, saved so that tests load it through
the real code."""

from __future__ import annotations

from pathlib import Path

import torch

from seesay.language.words.lstm import LstmModel, save
from seesay.language.words.lstm_network import LstmNetwork
from seesay.language.words.vocabulary import SPECIAL, Vocabulary

TEXT = (
    "a the man woman dog cat horse mat table red blue on in under over near in_front_of front of "
    "sits stands is"
)


def saved(folder: Path, *, seed: int = 0) -> Path:
    """The model's folder."""
    torch.manual_seed(seed)
    vocabulary = Vocabulary([*SPECIAL, *TEXT.split()])
    network = LstmNetwork(len(vocabulary), embedding=12, hidden=16)
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_(std=0.7)
    save(folder, network, vocabulary)
    return folder


def reference(folder: Path, tokens: list[str]) -> list[float]:
    """A sentence's log-probabilities, its end included, word by word with the gates written out."""
    from safetensors.torch import load_file

    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split()
    weights = {
        name: tensor.double() for name, tensor in load_file(folder / "model.safetensors").items()
    }
    h = c = torch.zeros(16, dtype=torch.float64)
    logps = []
    for word, following in zip(["<s>", *tokens], [*tokens, "</s>"], strict=True):
        x = weights["embedding.weight"][words.index(word)]
        gates = weights["lstm.weight_ih_l0"] @ x + weights["lstm.bias_ih_l0"]
        gates = gates + weights["lstm.weight_hh_l0"] @ h + weights["lstm.bias_hh_l0"]
        i, f, g, o = gates.split(16)  # PyTorch's order of the gates: input, forget, cell, output
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        logp = (weights["output.weight"] @ h + weights["output.bias"]).log_softmax(0)
        logps.append(float(logp[words.index(following)]))
    return logps


def loaded(folder: Path) -> LstmModel:
    """Through the real loading code."""
    from seesay.models import load_model

    model = load_model(str(folder))
    assert isinstance(model, LstmModel)
    return model
