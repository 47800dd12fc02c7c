"""What imagination adds to a tiny BERT: `python benchmarks/imagine.py FOLDER [seeds] [encoder]`.

A corpus of our own: sentences that state the colours of core-color's things (CC0), in templates
that are no task's. Of each seed's things three tenths are held out, with all their sentences. The
same network is trained with and without `--imagine`, then asked the colours of the held-out things,
in the corpus's templates and in core-color's: without, it can only know which colours are common
(and what words a name shares with others). FOLDER keeps the models; what is finished is not
repeated.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.language.training import capbert
from seesay.language.training.captions import split
from seesay.language.training.statements import STATEMENT_TEMPLATES
from seesay.models import load_model
from seesay.questions import SLOT, Prompt, Question
from seesay.tasks import load_task
from seesay.training.checkpoint import best_line
from seesay.training.schedule import Schedule

CONFIG = capbert.CapBertConfig(
    # one word of each sentence
    layers=2,
    hidden=128,
    heads=4,
    vocabulary=2_000,
    tokens=256,
    rate=0.01,
    dropout=0.1,
    schedule=Schedule(  # names of held-out things are beyond either network, and dominate the loss
        epochs=40,
        learning_rate=1e-3,
        warmup=0.05,
        decay="linear",
        weight_decay=0.01,
        best_by="accuracy",
        highest=True,
    ),
)
TEMPLATES = [STATEMENT_TEMPLATES[number] for number in (0, 1, 2, 4, 5)]  # the short ones
HELD_OUT = 0.3


def write_corpus(path: Path, questions: list[Question]) -> dict[str, Prompt]:
    """JSON lines with the thing as the picture; each sentence with its colour as a slot, and the
    thing as a field."""
    rng = np.random.default_rng(0)
    slots: dict[str, Prompt] = {}
    for question in questions:
        for template in TEMPLATES:
            text = template.replace("{a} {thing}", str(question.fields["thing"])).replace(
                "{thing}", question.object
            )
            sentence = text.replace("{color}", str(rng.choice(sorted(question.gold))))
            slots[sentence] = Prompt(
                text.replace("{color}", SLOT), question.options, None, {"thing": question.object}
            )
    rows = (
        json.dumps({"caption": text, "image_id": slot.fields["thing"]}) + "\n"
        for text, slot in slots.items()
    )
    path.write_text("".join(rows), encoding="utf-8")
    return slots


def right(name: str, questions: list[Question], prompts: list[list[Prompt]]) -> NDArray[np.float64]:
    """For each thing, the share of its prompts in which the likeliest colour is one of its
    colours."""
    asked = [
        (question, prompt)
        for question, row in zip(questions, prompts, strict=True)
        for prompt in row
    ]
    answers = zip(asked, load_model(name).answer([prompt for _, prompt in asked]), strict=True)
    hits = [
        question.options[int(np.argmax(scores.logp))] in question.gold
        for (question, _), scores in answers
    ]
    shares: NDArray[np.float64] = np.reshape(hits, (len(questions), -1)).mean(1)
    return shares


def main() -> None:
    folder, seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    encoder = sys.argv[3] if len(sys.argv) > 3 else "minilm"
    folder.mkdir(parents=True, exist_ok=True)
    task = load_task("core-color")
    slots = write_corpus(folder / "colors.jsonl", list(task.questions))
    names = ("with", "without", "with, asked without")
    print(
        f"{'seed':>4} {'things':>6}  {'':20} {'held-out loss':>13} {'colours right':>13} "
        f"{'core-color':>10}"
    )
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    gains: dict[str, list[float]] = {}
    for seed in range(seeds):
        captions = split([folder / "colors.jsonl"], held_out=HELD_OUT, seed=seed)
        held_out = {slots[text].fields["thing"] for text in captions.held_out}
        asked = [question for question in task.questions if question.object in held_out]
        own = [
            [slot for slot in slots.values() if slot.fields["thing"] == question.object]
            for question in asked
        ]
        others = [[template.ask(question) for template in task.templates] for question in asked]
        config = replace(CONFIG, schedule=CONFIG.schedule.override(seed=seed))
        hits = {}
        for name, prefix in zip(names, ("", "", "clip-bert-implicit:"), strict=True):
            place = folder / f"{'without' if name == 'without' else 'with'}-{seed}"
            imagine = None if name == "without" else encoder
            result = capbert.pretrain(captions, place, config, imagine=imagine, device="cpu")
            loss = (
                np.nan
                if prefix
                else best_line(place / "training", result.best_step)["validation_loss"]
            )
            hits[name] = right(f"{prefix}{place}", asked, own)
            shares = (
                loss,
                float(hits[name].mean()),
                float(right(f"{prefix}{place}", asked, others).mean()),
            )
            rows[name].append(shares)
            figures = "{:13.3f} {:13.3f} {:10.3f}".format(*shares)
            print(f"{seed:4} {len(asked):6}  {name:20} {figures}", flush=True)
        for question, gain in zip(asked, hits["with"] - hits["without"], strict=True):
            gains.setdefault(question.object, []).append(float(gain))
    for name in names:
        print(
            f"{'':13}{name:20} " + "{:13.3f} {:13.3f} {:10.3f}".format(*np.mean(rows[name], axis=0))
        )
    paired = np.array(rows["with"]) - np.array(rows["without"])
    print(
        "with − without, by seed:",
        "; ".join(", ".join(f"{x:+.3f}" for x in column) for column in paired.T),
    )
    sums, counts = (
        np.array([sum(gain) for gain in gains.values()]),
        np.array([len(gain) for gain in gains.values()]),
    )
    drawn = np.random.default_rng(0).integers(len(sums), size=(10_000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), (0.025, 0.975))
    mean = sums.sum() / counts.sum()
    print(
        f"colours right, with − without: {mean:+.3f} ({low:+.3f} to {high:+.3f}, {len(sums)} "
        "things)"
    )


if __name__ == "__main__":
    main()
