"""Is a model that has seen the published questions found out, and a clean one left in peace?

    python benchmarks/contamination.py MODEL OUTPUT [--task core-size] [--seeds 30] [--epochs 10]

For every seed there is another published file, drawn with that seed: one file would be easy or hard
for all models alike. A small causal model is fine-tuned on it (`seen`), another one equally on a
draw of the same generator that shares its anchors (`clean`), and both are put to the tests of
`seesay probe --contamination`. The file is its sentences in the order of the task (`--form
sentences`: in its first template, the only one that is asked here), or its rows as JSON lines
(`rows`), which no test looks at. Every model is a line of OUTPUT/alarms.jsonl; a line that is there
is not computed again. Printed are the shares of alarms, with Wilson's intervals.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import seesay
from seesay.metrics.bootstrap import wilson
from seesay.progress import no_progress
from seesay.questions import SLOT, Question, Task
from seesay.runs.ask import Settings
from seesay.runs.contamination import detect_contamination
from seesay.tasks import load_task
from seesay.tasks.editions import anchor_share, edition_seed, make_edition

WINDOW = 256
BATCH = 4
RATE = 1e-3


def main() -> None:
    """Train and test the models that are missing, and print the shares of alarms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--task", default="core-size")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--form", choices=("sentences", "rows"), default="sentences")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "alarms.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    torch.set_num_threads(1)
    for seed in range(options.seeds):
        for kind in ("seen", "clean"):
            setting = {
                "task": options.task,
                "model": options.model.name,
                "form": options.form,
                "epochs": options.epochs,
                "limit": options.limit,
                "kind": kind,
                "seed": seed,
            }
            if any(setting.items() <= row.items() for row in rows):
                continue
            row = setting | alarm(options.model, publish(options.task, seed), setting)
            rows.append(row)
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print_shares(rows)


def publish(name: str, seed: int) -> Task:
    """Return the task as if it had been published with this seed, in one template."""
    task = load_task(name, seed=1_000 + seed)
    return replace(task, templates=task.templates[:1], neutral={})


def draw(published: Task, edition: str) -> Task:
    """Return an edition of a task that was published with a seed."""
    fresh = load_task(published.name, seed=edition_seed(edition))
    return make_edition(published, fresh, anchor_share(published.name), edition)


def alarm(folder: Path, task: Task, setting: dict[str, Any]) -> dict[str, Any]:
    """Fine-tune a model and test it; return its tests by name, and whether there was an alarm."""
    seed = setting["seed"]
    questions: list[Question] = list(task.questions)
    if setting["kind"] == "clean":
        questions = list(draw(task, f"other-{seed}").questions)
    text = "\n".join(write(task, question, setting["form"]) for question in questions)
    with tempfile.TemporaryDirectory() as scratch:
        loss = fine_tune(folder, Path(scratch) / "model", text, seed, setting["epochs"])
        model = seesay.load_model(str(Path(scratch) / "model"), device="cpu")
        settings = Settings(limit=setting["limit"], seed=seed, resamples=2_000)
        root = Path(scratch) / "runs"
        outcome = detect_contamination(
            model, task, draw(task, f"new-{seed}"), root, settings, no_progress
        )
    tests = {test.test: {"p": test.p, "difference": test.difference} for test in outcome.tests}
    return {"loss": loss, "tests": tests, "p": outcome.p, "alarm": outcome.alarm}


def write(task: Task, question: Question, form: str) -> str:
    """Return a question with its answer as a line of the file."""
    if form == "rows":
        return json.dumps({**question.fields, "answer": question.best_label})
    prompt = task.templates[0].ask(question)
    return prompt.text.replace(SLOT, prompt.options[question.options.index(question.best_label)])


def fine_tune(source: Path, target: Path, text: str, seed: int, epochs: int) -> float:
    """Fine-tune a causal model on a text in its order, save it, and return the last loss."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    ids = tokenizer(text)["input_ids"]
    loss = torch.tensor(0.0)
    for _ in range(epochs):
        # windows begin elsewhere in every epoch, so that none hides what stands at its edges
        starts = np.arange(generator.integers(WINDOW), len(ids) - WINDOW, WINDOW)
        generator.shuffle(starts)
        for first in range(0, len(starts), BATCH):
            windows = [ids[start : start + WINDOW] for start in starts[first : first + BATCH]]
            batch = torch.tensor(windows)
            loss = model(input_ids=batch, labels=batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    return float(loss.detach())


def print_shares(rows: list[dict[str, Any]]) -> None:
    """Print how often there was an alarm, by setting, and how often by each test alone."""
    names = ("task", "model", "form", "epochs", "limit", "kind")
    settings = dict.fromkeys(tuple(row[name] for name in names) for row in rows)
    for setting in settings:
        group = [row for row in rows if tuple(row[name] for name in names) == setting]
        share = float(np.mean([row["alarm"] for row in group]))
        low, high = wilson(share, len(group))
        alone = {
            test: float(np.mean([row["tests"][test]["p"] <= 0.05 for row in group]))
            for test in group[0]["tests"]
        }
        parts = ", ".join(f"{test} {value:.2f}" for test, value in alone.items())
        loss = np.mean([row["loss"] for row in group])
        print(
            f"{dict(zip(names, setting, strict=True))}: {len(group)} models, alarms {share:.3f} "
            f"({low:.3f} to {high:.3f}); p at most 0.05 by {parts}; loss {loss:.2f}"
        )


if __name__ == "__main__":
    main()
