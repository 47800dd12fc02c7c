"""What imagination adds to a tiny BERT: `python benchmarks/imagine.py FOLDER [seeds] [encoder]`.

A corpus of our own: sentences that state the colours of core-color's things (CC0), in templates that are no task's. Of
each seed's things three tenths are held out, with all their sentences. The same network is trained with and without
`--imagine`, then asked core-color about the held-out things: without, it can only know which colours are common (and
what words a name shares with others). FOLDER keeps the models; what is finished is not repeated.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.models import load_model
from seesay.questions import Question
from seesay.tasks import load_task
from seesay.training import capbert
from seesay.training.captions import split
from seesay.training.checkpoint import best_line
from seesay.training.schedule import Schedule
from seesay.training.statements import STATEMENT_TEMPLATES

CONFIG = capbert.CapBertConfig(
    layers=2, hidden=128, heads=4, vocabulary=2_000, tokens=256, rate=0.25, dropout=0.1,
    schedule=Schedule(epochs=10, learning_rate=1e-3, warmup=0.05, decay="linear", weight_decay=0.01),
)  # fmt: skip
SENTENCES = 6  # per thing
HELD_OUT = 0.3


def write_corpus(path: Path, questions: list[Question]) -> dict[str, str]:
    """JSON lines with the thing as the picture; the thing of each sentence."""
    rng = np.random.default_rng(0)
    thing_of: dict[str, str] = {}
    for question in questions:
        for template in rng.choice(len(STATEMENT_TEMPLATES), SENTENCES, replace=False):
            filled = STATEMENT_TEMPLATES[template].replace("{a} {thing}", str(question.fields["thing"]))
            filled = filled.replace("{thing}", question.object)
            thing_of[filled.replace("{color}", str(rng.choice(sorted(question.gold))))] = question.object
    rows = (json.dumps({"caption": text, "image_id": thing}) + "\n" for text, thing in thing_of.items())
    path.write_text("".join(rows), encoding="utf-8")
    return thing_of


def right(name: str, questions: list[Question]) -> NDArray[np.float64]:
    """For each thing, the share of core-color's templates in which the likeliest colour is one of its colours."""
    model, task = load_model(name), load_task("core-color")
    asked = [(question, template.ask(question)) for question in questions for template in task.templates]
    answers = zip(asked, model.answer([prompt for _, prompt in asked]), strict=True)
    hits = [question.options[int(np.argmax(scores.logp))] in question.gold for (question, _), scores in answers]
    shares: NDArray[np.float64] = np.reshape(hits, (len(questions), -1)).mean(1)
    return shares


def main() -> None:
    folder, seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    encoder = sys.argv[3] if len(sys.argv) > 3 else "minilm"
    folder.mkdir(parents=True, exist_ok=True)
    questions = list(load_task("core-color").questions)
    thing_of = write_corpus(folder / "colors.jsonl", questions)
    names = ("with", "without", "with, asked without")
    print(f"{'seed':>4} {'things':>6}  {'':20} {'held-out loss':>13} {'masked words right':>18} {'core-color':>10}")
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    gains: dict[str, list[float]] = {}
    for seed in range(seeds):
        captions = split([folder / "colors.jsonl"], held_out=HELD_OUT, seed=seed)
        held_out = {thing_of[text] for text in captions.held_out}
        asked = [question for question in questions if question.object in held_out]
        config = replace(CONFIG, schedule=CONFIG.schedule.changed(seed=seed))
        hits = {}
        for name, prefix in zip(names, ("", "", "clip-bert-implicit:"), strict=True):
            place = folder / f"{'without' if name == 'without' else 'with'}-{seed}"
            imagine = None if name == "without" else encoder
            result = capbert.pretrain(captions, place, config, imagine=imagine, device="cpu")
            line = best_line(place / "training", result.best_step)
            hits[name] = right(f"{prefix}{place}", asked)
            loss, accuracy = (line["validation_loss"], line["validation_accuracy"]) if not prefix else (np.nan, np.nan)
            rows[name].append((loss, accuracy, float(hits[name].mean())))
            figures = f"{loss:13.3f} {accuracy:18.3f} {hits[name].mean():10.3f}"
            print(f"{seed:4} {len(asked):6}  {name:20} {figures}", flush=True)
        for question, gain in zip(asked, hits["with"] - hits["without"], strict=True):
            gains.setdefault(question.object, []).append(float(gain))
    for name in names:
        print(f"{'':13}{name:20} " + "{:13.3f} {:18.3f} {:10.3f}".format(*np.mean(rows[name], axis=0)))
    paired = np.array(rows["with"]) - np.array(rows["without"])
    print("with − without, by seed:", "; ".join(", ".join(f"{x:+.3f}" for x in column) for column in paired.T))
    sums, counts = np.array([sum(gain) for gain in gains.values()]), np.array([len(gain) for gain in gains.values()])
    drawn = np.random.default_rng(0).integers(len(sums), size=(10_000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), (0.025, 0.975))
    print(
        f"core-color, with − without: {sums.sum() / counts.sum():+.3f} ({low:+.3f} to {high:+.3f}, {len(sums)} things)"
    )


if __name__ == "__main__":
    main()
