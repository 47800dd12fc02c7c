"""What vLLM's engine says beside the same model here: run by an interpreter that has vLLM.

`python -m tests.models.vllm_comparison MODEL FOLDER` writes FOLDER/facts.json: the engine's own
processes may print at any time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import seesay
from seesay.models import Model, ModelOptions, load_model
from seesay.questions import Prompt, Scores

CPU = ("enforce_eager=true", "max_model_len=512")
COLORS = ("yellow", "red", "light blue", "green")
BEGINNING = "Grass is green. Snow is white. Coal is black. A lemon is yellow. Blood is red. " * 8
PROMPTS = [
    *(Prompt(f"The color of {thing} is [MASK].", COLORS) for thing in ("a banana", "the sky")),
    Prompt("[MASK] is the color of snow.", ("White", "Red")),
    *(Prompt(f"{BEGINNING}The color of {thing} is [MASK]", COLORS) for thing in ("milk", "tar")),
]
"""The last two have a long beginning in common, as questions with examples have."""
TEXTS = ["The color of snow is white.", "a banana", BEGINNING]


def main(model: str, folder: Path) -> None:
    """Write the largest differences, and how many prompts the engine read for each."""
    import vllm

    reads: list[int] = []
    generate = vllm.LLM.generate

    def count_reads(self: Any, prompts: Any, *arguments: Any, **named: Any) -> Any:
        reads.append(len(prompts))
        return generate(self, prompts, *arguments, **named)

    vllm.LLM.generate = count_reads
    engine = load_model(f"vllm:{model}", ModelOptions(engine_options=CPU))
    local = load_model(model, ModelOptions(device="cpu"))
    forward = engine.answer(PROMPTS)
    backward = engine.answer(PROMPTS[::-1])[::-1]
    here = local.answer(PROMPTS)
    texts = zip(engine.score(TEXTS), local.score(TEXTS), strict=True)
    facts: dict[str, Any] = {
        "notes": engine.notes(),
        "answers": difference(forward, here),
        "order": difference(forward, backward),
        "texts": max(
            abs(a - b)
            for ours, theirs in texts
            for a, b in zip(ours.logp, theirs.logp, strict=True)
        ),
        "ranks": [[scores.rank for scores in answers] for answers in (forward, here)],
    }
    # a choice is asked once for each order of the options
    for how, limit in (("cloze", 4), ("choice", 6)):
        reads.clear()
        tables = [
            probe(asked, how, limit, folder / name)
            for name, asked in (("engine", engine), ("local", local))
        ]
        facts[how] = {
            "difference": max(abs(a - b) for a, b in zip(*tables, strict=True)),
            "log_probabilities": len(tables[0]),
            "reads": sum(reads),
        }
    (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def probe(model: Model, how: str, limit: int, folder: Path) -> list[float]:
    """Ask a model some questions as the command does; the log-probabilities of all options."""
    (run,) = seesay.probe(
        model, "core-color", how=how, limit=limit, resamples=100, output=folder / how
    ).runs
    column = pq.read_table(run.folder / "answers.parquet").column("scores")
    # scores that several rows have in common are there once
    return [logp for scores in column.to_pylist() if scores for logp in scores["logp"]]


def difference(some: list[Scores], others: list[Scores]) -> float:
    """Return the largest difference of two log-probabilities of one option."""
    pairs = zip(some, others, strict=True)
    return max(abs(a - b) for x, y in pairs for a, b in zip(x.logp, y.logp, strict=True))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
