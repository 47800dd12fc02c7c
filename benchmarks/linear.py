"""seesay's linear probe beside a plain loop that encodes every batch anew in every epoch, as the
paper's code does.

    python benchmarks/linear.py [--data FOLDER] [--train 300] [--epochs 50] [--encoder minilm]

Both train one layer on a frozen encoder for ViPhy's colours: the same texts, batches of eight, Adam
at 1e-4, 50 epochs, the epoch chosen on the validation questions after each. The loop is PyTorch's:
tokenise a batch, run the encoder without gradients and in evaluation mode, one linear layer,
cross-entropy, torch.optim.Adam. seesay's time includes encoding, with an empty cache. Both begin
with the same weights, see the same batches in the same order, and must agree on the test questions.
On the same vectors, the layer alone is timed beside scikit-learn's LogisticRegression, which gets
the first right answer of each question, as it takes one. `--published` adds the time of the paper's
full training sets, for seesay alone.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from sklearn.linear_model import LogisticRegression

from seesay.models import ModelOptions
from seesay.models.catalogue import CATALOGUE, source_of
from seesay.models.encoders import load_encoder
from seesay.models.encoders.sentence import steps_of
from seesay.probes.linear import gold_matrix, linear_task, probe_texts
from seesay.probes.linear_layer import (
    ProbeConfig,
    initial_weights,
    relaxed_accuracy,
    targets_of,
    train_layer,
    with_bias,
)
from seesay.probes.vector_cache import VectorCache
from seesay.questions import Task
from seesay.tasks import load_task

PEER_TEXTS = 256  # a batch of the peer's when it evaluates


@dataclass(frozen=True)
class Result:
    """A trained probe: how long it took, the epoch chosen, and its answers to the test
    questions."""

    seconds: float
    epoch: int
    logits: np.ndarray[Any, np.dtype[np.float32]]


def with_seesay(name: str, splits: dict[str, Task], config: ProbeConfig, seed: int) -> Result:
    encoder = load_encoder(name)
    gold = {
        part: gold_matrix(task.questions, splits["train"].labels) for part, task in splits.items()
    }
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        vectors = VectorCache(encoder, Path(folder))
        rows = {part: vectors.rows(probe_texts(task)) for part, task in splits.items()}
        layer = train_layer(
            rows["train"],
            gold["train"],
            rows["validation"],
            gold["validation"],
            seed=seed,
            config=config,
        )
        logits = with_bias(rows["test"]) @ layer.weights
    return Result(time.perf_counter() - begun, layer.epoch, logits)


def beside_scikit_learn(name: str, splits: dict[str, Task], config: ProbeConfig, seed: int) -> str:
    """The layer alone, on vectors that both get: times, their ratio, and relaxed accuracies."""
    encoder = load_encoder(name)
    gold = {
        part: gold_matrix(task.questions, splits["train"].labels) for part, task in splits.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        rows = {
            part: VectorCache(encoder, Path(folder)).rows(probe_texts(task))
            for part, task in splits.items()
        }
    begun = time.perf_counter()
    layer = train_layer(
        rows["train"],
        gold["train"],
        rows["validation"],
        gold["validation"],
        seed=seed,
        config=config,
    )
    trained = time.perf_counter()
    peer = LogisticRegression(max_iter=1000).fit(rows["train"], gold["train"].argmax(axis=1))
    seconds = trained - begun, time.perf_counter() - trained
    # labels that are nowhere the first right answer
    logits = np.full(gold["test"].shape, -np.inf, dtype=np.float32)
    logits[:, peer.classes_] = peer.decision_function(rows["test"])
    ours = relaxed_accuracy(with_bias(rows["test"]) @ layer.weights, gold["test"])
    theirs = relaxed_accuracy(logits, gold["test"])
    return (
        f"the layer alone: seesay {seconds[0]:.2f} s, scikit-learn {seconds[1]:.2f} s, "
        f"{seconds[1] / seconds[0]:.1f} x; relaxed accuracy {ours:.4f} and {theirs:.4f}"
    )


class Peer:
    """The published way, with seesay's first weights and order so that the two can be compared
    digit by digit."""

    def __init__(self, name: str) -> None:
        source = source_of(CATALOGUE[name], ModelOptions()) if name in CATALOGUE else name
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(source)
        self.model: Any = (
            transformers.AutoModel.from_pretrained(source, dtype=torch.float32)
            .eval()
            .requires_grad_(False)
        )
        steps = steps_of(name, source, ModelOptions())
        self.mean = steps is not None and steps.pooling == "mean"
        self.last = bool(self.model.config.model_type in ("llama", "gpt2"))
        if self.last:
            self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token
            self.tokenizer.padding_side = "right"

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        read = self.tokenizer(list(texts), padding=True, return_tensors="pt")
        if self.last:  # seesay puts a beginning before every text; so does the peer
            first = torch.full((len(texts), 1), self.tokenizer.bos_token_id)
            read = {
                "input_ids": torch.cat([first, read["input_ids"]], dim=1),
                "attention_mask": torch.cat(
                    [torch.ones_like(first), read["attention_mask"]], dim=1
                ),
            }
        with torch.no_grad():
            states = self.model(**read)[0]
        mask = read["attention_mask"]
        if self.last:
            return states[torch.arange(len(texts)), mask.sum(1) - 1]  # type: ignore[no-any-return]
        if self.mean:
            return (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)  # type: ignore[no-any-return]
        return states[:, 0]  # type: ignore[no-any-return]

    def run(self, splits: dict[str, Task], config: ProbeConfig, seed: int, epochs: int) -> Result:
        texts = {part: probe_texts(task) for part, task in splits.items()}
        gold = {
            part: gold_matrix(task.questions, splits["train"].labels)
            for part, task in splits.items()
        }
        targets = torch.from_numpy(targets_of(gold["train"]))
        draw = np.random.default_rng(seed)
        layer = self._layer(gold["train"].shape[1], draw)
        adam = torch.optim.Adam(layer.parameters(), config.rate)
        best, best_epoch, state = -1.0, 0, {}
        begun = time.perf_counter()
        for epoch in range(1, epochs + 1):
            order = draw.permutation(len(texts["train"]))
            for start in range(0, len(order), config.batch):
                members = order[start : start + config.batch]
                adam.zero_grad()
                logits = layer(self.vectors([texts["train"][i] for i in members]))
                torch.nn.functional.cross_entropy(logits, targets[members]).backward()
                adam.step()
            accuracy = relaxed_accuracy(self._all(layer, texts["validation"]), gold["validation"])
            if accuracy > best:
                best, best_epoch, state = (
                    accuracy,
                    epoch,
                    {k: v.clone() for k, v in layer.state_dict().items()},
                )
        layer.load_state_dict(state)
        logits_of_test = self._all(layer, texts["test"])
        return Result(time.perf_counter() - begun, best_epoch, logits_of_test)

    def _layer(self, labels: int, draw: np.random.Generator) -> torch.nn.Linear:
        size = int(self.model.config.hidden_size)
        weights = initial_weights(size + 1, labels, draw)
        layer = torch.nn.Linear(size, labels)
        layer.weight.data = torch.from_numpy(weights[:-1].T.copy())
        layer.bias.data = torch.from_numpy(weights[-1].copy())
        return layer

    def _all(
        self, layer: torch.nn.Linear, texts: Sequence[str]
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        with torch.no_grad():
            parts = [
                layer(self.vectors(texts[i : i + PEER_TEXTS])).numpy()
                for i in range(0, len(texts), PEER_TEXTS)
            ]
        return np.concatenate(parts)


def published_sets(name: str, data: Path | None) -> None:
    """How long the paper's own training sets take: encoding with an empty cache, then one
    training."""
    encoder = load_encoder(name)
    for task in ("viphy-color", "viphy-size", "viphy-space"):
        splits = linear_task(load_task(task, data)).splits()
        del splits["test"]
        gold = {
            part: gold_matrix(of.questions, splits["train"].labels) for part, of in splits.items()
        }
        with tempfile.TemporaryDirectory() as folder:
            vectors = VectorCache(encoder, Path(folder))
            begun = time.perf_counter()
            rows = {part: vectors.rows(probe_texts(of)) for part, of in splits.items()}
            encoded = time.perf_counter()
            layer = train_layer(
                rows["train"], gold["train"], rows["validation"], gold["validation"], seed=0
            )
            done = time.perf_counter()
        texts = sum(map(len, rows.values()))
        rate = texts / (encoded - begun)
        print(
            f"{task:<12} {texts:>6} texts encoded in {encoded - begun:6.1f} s ({rate:4.0f} a "
            "second), "
            f"{len(rows['train'])} x {layer.config.epochs} epochs trained in {done - encoded:5.1f} "
            "s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="ViPhy's published folder; else the data folder's"
    )
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument(
        "--train", type=int, default=300, help="training questions; validation has half as many"
    )
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=50, help="of both")
    parser.add_argument(
        "--threads", type=int, help="of PyTorch, for both; on a busy machine 1 is the fairest"
    )
    parser.add_argument(
        "--published", action="store_true", help="time the full training sets too, seesay alone"
    )
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    sizes = {"train": given.train, "validation": given.train // 2, "test": given.test}
    splits = linear_task(load_task("viphy-color", given.data)).splits()
    splits = {
        part: replace(task, questions=task.questions[: sizes[part]])
        for part, task in splits.items()
    }
    config = ProbeConfig(epochs=given.epochs)
    gold = gold_matrix(splits["test"].questions, splits["train"].labels)
    counts = ", ".join(f"{len(task.questions)} {part}" for part, task in splits.items())
    print(f"{given.encoder}: {counts}, {given.epochs} epochs, {torch.get_num_threads()} threads")
    ours = with_seesay(given.encoder, splits, config, seed=0)
    theirs = Peer(given.encoder).run(splits, config, 0, given.epochs)
    for name, result in (("seesay", ours), ("re-encoding loop", theirs)):
        print(
            f"{name:<18}{result.seconds:8.2f} s   epoch {result.epoch:>2}   relaxed accuracy "
            f"{relaxed_accuracy(result.logits, gold):.4f}"
        )
    apart = float(np.abs(ours.logits - theirs.logits).max())
    print(f"{theirs.seconds / ours.seconds:.1f} x; largest difference of a logit {apart:.1e}")
    assert ours.epoch == theirs.epoch, "another epoch was chosen"
    assert apart < 1e-3, "the two probes differ"
    print(beside_scikit_learn(given.encoder, splits, config, seed=0))
    if given.published:
        published_sets(given.encoder, given.data)


if __name__ == "__main__":
    main()
