"""seesay beside lm-eval and minicons: the same questions, the same model, the same scores, in one
run.

    python benchmarks/cloze.py [--data memory_colors.jsonl] [--objects 109]

109 objects × 11 colors. First with one-token options at the end of the text (the option after the
prefix), then with options of one or several tokens in mid-sentence (option and rest). Without the
published file the objects come from the embedded battery.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from minicons import scorer
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, AutoTokenizer

from seesay.models import ModelOptions, load_model
from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.gguf import convert_gguf
from seesay.questions import Prompt
from seesay.tasks import load_task

OBJECTS = 109
ONE_TOKEN = (
    "black",
    "blue",
    "brown",
    "green",
    "grey",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
)
SEVERAL = tuple(
    {
        "blue": "navy blue",
        "brown": "chestnut brown",
        "grey": "silvery grey",
        "pink": "salmon pink",
        "red": "crimson",
    }.get(c, c)
    for c in ONE_TOKEN
)
REPEATS = 3
TOLERANCE = 1e-4
"""Per token. Logits of about 30 are 2e-6 apart in float32, and batches of other shapes round
differently in each of 30 layers: some dozens of roundings. Scores are sums over tokens, so their
differences grow with the number of tokens."""

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A template, its options, and what seesay's score covers."""

    title: str
    template: str
    options: tuple[str, ...]
    scope: str

    def prompts(self, things: Sequence[str]) -> list[Prompt]:
        return [Prompt(self.template.format(thing=thing), self.options) for thing in things]


SETTINGS = (
    Setting("one-token options at the end", "The color of {thing} is [MASK].", ONE_TOKEN, "option"),
    Setting(
        "one or several tokens in mid-sentence",
        "Everybody knows that {thing} is of [MASK] color",
        SEVERAL,
        "sentence",
    ),
)


def with_seesay(
    folder: Path, prompts: Sequence[Prompt], scope: str
) -> tuple[Callable[[], Scores], Scores]:
    """A function that scores all options, and the number of tokens of each."""
    model = load_model(str(folder), ModelOptions(scope=scope))

    tokens = np.empty((len(prompts), len(prompts[0].options)))

    def score() -> Scores:
        logp = np.empty_like(tokens)
        for batch in model.plan(prompts):
            for index, scores in zip(batch, model.answer([prompts[i] for i in batch]), strict=True):
                logp[index], tokens[index] = scores.logp, scores.tokens
        return logp

    return score, tokens


def continuations(prompts: Sequence[Prompt], scope: str) -> list[tuple[str, str]]:
    """Context and continuation as the peers take them: the continuation starts with its space."""
    pairs = []
    for prompt in prompts:
        before, after = prompt.parts
        for option in prompt.options:
            pairs.append((before.rstrip(), f" {option}{after if scope == 'sentence' else ''}"))
    return pairs


def with_lm_eval(
    folder: Path, prompts: Sequence[Prompt], scope: str, batch_size: int
) -> Callable[[], Scores]:
    peer = HFLM(pretrained=str(folder), dtype="float32", device="cpu", batch_size=batch_size)
    requests = [
        Instance("loglikelihood", {}, pair, i)
        for i, pair in enumerate(continuations(prompts, scope))
    ]

    def score() -> Scores:
        scores = peer.loglikelihood(requests, disable_tqdm=True)
        return np.array([logp for logp, _ in scores]).reshape(len(prompts), -1)

    return score


def with_minicons(
    folder: Path, prompts: Sequence[Prompt], scope: str, batch_size: int
) -> Callable[[], Scores]:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    peer = scorer.IncrementalLMScorer(
        model, device="cpu", tokenizer=AutoTokenizer.from_pretrained(folder)
    )
    pairs = continuations(prompts, scope)

    def score() -> Scores:
        scores: list[float] = []
        for start in range(0, len(pairs), batch_size):
            contexts, targets = zip(*pairs[start : start + batch_size], strict=True)
            scores += peer.conditional_score(
                list(contexts),
                [target.lstrip() for target in targets],
                reduction=lambda x: x.sum(0).item(),
            )
        return np.array(scores).reshape(len(prompts), -1)

    return score


def seconds(score: Callable[[], Scores], repeats: int) -> tuple[Scores, float]:
    """The scores, and the median of the repeats after one run that warms up."""
    scores = score()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        score()
        times.append(time.perf_counter() - begun)
    return scores, statistics.median(times)


def things(data: Path | None, count: int) -> list[str]:
    task = load_task("memory-colors", data) if data else load_task("core-color")
    return [question.fields["thing"] for question in task.questions][:count]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="Memory Colors' published file; else the embedded battery's objects",
    )
    parser.add_argument("--objects", type=int, default=OBJECTS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument(
        "--threads", type=int, help="of PyTorch, for all three; on a busy machine 1 is the fairest"
    )
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    logging.disable(logging.WARNING)
    os.environ["TQDM_DISABLE"] = "1"
    folder = convert_gguf(CATALOGUE["smollm2"].fetch())
    objects = things(arguments.data, arguments.objects)
    for setting in SETTINGS:
        prompts = setting.prompts(objects)
        print(
            f"\n{setting.title}: {len(prompts)} x {len(setting.options)}, "
            f"{torch.get_num_threads()} threads"
        )
        score, tokens = with_seesay(folder, prompts, setting.scope)
        ours, our_time = seconds(score, arguments.repeats)
        print(f"{'seesay':<22}{our_time:8.2f} s")
        for name, make, sizes in (
            ("lm-eval", with_lm_eval, (16, 64)),
            ("minicons", with_minicons, (16, 64)),
        ):
            timed = {
                size: seconds(make(folder, prompts, setting.scope, size), arguments.repeats)
                for size in sizes
            }
            best = min(timed, key=lambda size: timed[size][1])
            theirs, their_time = timed[best]
            difference = float((np.abs(ours - theirs) / tokens).max())
            print(
                f"{name + f' (batch {best})':<22}{their_time:8.2f} s   "
                f"{their_time / our_time:5.1f} x   "
                f"largest difference per token {difference:.1e}"
            )
            assert difference < TOLERANCE, f"{name} scores differently"


if __name__ == "__main__":
    main()
