"""How long 200 made-up runs take: `seesay site` of all, `report` of 100, `compare` of 30 of one
task.

    python benchmarks/leaderboard.py [FOLDER]

Models of rising skill answer the embedded battery (50 models, 4 tasks); with a FOLDER, the runs are
kept there.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import seesay
from seesay.models.base import Model
from seesay.questions import Prompt, Scores, Task

MODELS = 50
RESAMPLES = 200  # behind the stored intervals: making the runs is not what is measured


class MadeUp(Model):
    """Random scores, with so much added to the gold label's."""

    def __init__(self, size: int, skill: float) -> None:
        self.name = f"made-up/model-{size}M"
        self.family = "made-up"
        self.fingerprint = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()
        self.scope = "option"
        self.skill = skill
        self.gold: dict[str, int] = {}

    def prepare(self, task: Task) -> None:
        """Learn the gold answers."""
        pairs = ((question, template) for question in task.questions for template in task.templates)
        self.gold = {template.ask(q).key: q.options.index(q.best_label) for q, template in pairs}

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Scores that depend on the model's name and the prompt alone."""
        scores = []
        for prompt in prompts:
            draw = random.Random(f"{self.name} {prompt.key}")
            logp = [draw.gauss(-6, 2) for _ in prompt.options]
            if prompt.key in self.gold:
                logp[self.gold[prompt.key]] += self.skill
            scores.append(Scores(tuple(logp), (1,) * len(logp), tuple(map(len, prompt.options))))
        return scores


def make_runs(folder: Path) -> None:
    """The runs of all models, those that are there already kept."""
    models = [MadeUp(35 * (i + 1), 0.08 * i) for i in range(MODELS)]
    seesay.probe(models, "core", resamples=RESAMPLES, output=folder)


def timed(*arguments: str | Path) -> str:
    """The seconds that a command takes, and those of the processor."""
    before, start = os.times(), monotonic()
    subprocess.run(
        [sys.executable, "-m", "seesay", *map(str, arguments)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    processor = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return f"{monotonic() - start:.1f} s ({processor:.1f} s of the processor)"


def main(folder: Path) -> None:
    """Make the runs and time the commands."""
    runs, work = folder / "runs", folder / "out"
    make_runs(runs)
    models = sorted(runs.iterdir())
    colors = [model / "core-color" for model in models[:30]]
    print(f"compare, {len(colors)} runs of core-color: {timed('compare', *colors)}")
    print(f"report, 100 runs: {timed('report', *models[:25], '-o', work / 'report.html')}")
    print(f"site, 40 runs: {timed('site', *models[:10], '-o', work / 'small')}")
    print(f"site, 200 runs: {timed('site', runs, '-o', work / 'public')}")
    size = sum(file.stat().st_size for file in (work / "public").rglob("*") if file.is_file())
    print(
        f"site: {size / 1e6:.1f} MB; report: {(work / 'report.html').stat().st_size / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
