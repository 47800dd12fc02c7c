"""Property norms at full size: time and peak memory of a whole run, and its figures beside
scikit-learn's.

    python benchmarks/norms.py [--words labels.txt] [--models bert,smollm2] [--seesay FOLDER]

The norms are made up by a seed, with as many entries in each segment as the paper counts. The BERT
is random, of two layers, with a vocabulary as large as bert-base-uncased's in which every answer is
one piece; SmolLM2 is asked 30 questions. `--seesay` runs another checkout's `src` on the same file,
for a comparison. Every command runs in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import string
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from seesay.runs.store import find_runs
from seesay.tasks.property_norms import RELATIONS
from seesay.tasks.template_files import read_template_file

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.tasks.full_norms import ENTRIES, write_full_norms  # noqa: E402

VOCABULARY = 30_522
SHAPE: dict[str, Any] = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 512,
}


def save_bert(folder: Path, norms: Path) -> Path:
    """A random BERT that writes each answer and concept of the norms as one piece."""
    words = (norms / "labels.txt").read_text().split()
    words += [
        line.partition(",")[0] for line in (norms / "descriptors.csv").read_text().splitlines()[1:]
    ]
    texts = [
        template.text.lower() for template in read_template_file("property-norms")["templates"]
    ] + [
        *RELATIONS.values(),
        "a an the",
    ]
    words += re.findall(r"\w+|[.,:?]", " ".join(texts))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    pieces += [
        mark + letter for mark in ("", "##") for letter in string.ascii_lowercase + string.digits
    ]
    pieces = list(dict.fromkeys(pieces))
    pieces += [f"[unused{i}]" for i in range(VOCABULARY - len(pieces))]
    BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}).save_pretrained(folder)
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=VOCABULARY, **SHAPE)).save_pretrained(folder)
    return folder


def measured(arguments: list[str], source: Path) -> tuple[float, float, float]:
    """Seconds, seconds of the processor (other programs may run beside it) and peak memory (MiB) of
    a command."""
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(source)}
    child = os.spawnve(
        os.P_NOWAIT, sys.executable, [sys.executable, "-m", "seesay", *arguments], environment
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"seesay {' '.join(arguments)} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def largest_difference(folder: Path) -> float:
    """The largest difference of a segment's mean average precision, over all templates, from
    scikit-learn's."""
    (run,) = find_runs([folder])
    questions = {question.id: question for question in run.task.questions}
    gold = {q.id: np.isin(run.task.labels, list(q.gold)) for q in run.task.questions}
    sums: dict[tuple[str, str], list[float]] = {}
    for answer in run.answers:
        key = (questions[answer.question].tags["segment"], answer.template)
        sums.setdefault(key, []).append(
            average_precision_score(gold[answer.question], answer.scores.logp)
        )
    figures = {
        (figure.slice["segment"], figure.template): figure.value
        for figure in run.figures
        if figure.metric == "average_precision" and figure.template and figure.slice
    }
    return max(abs(figures[key] - float(np.mean(values))) for key, values in sums.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--words",
        type=Path,
        help="The published list of answer words; otherwise they are invented.",
    )
    parser.add_argument("--models", default="bert,smollm2")
    parser.add_argument("--seesay", type=Path, default=ROOT / "src")
    parser.add_argument("--no-check", action="store_true", help="Leave scikit-learn out.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        norms = folder / "norms"
        norms.mkdir()
        write_full_norms(norms, words=options.words.read_text().split() if options.words else ())
        print(
            "entries:", ", ".join(f"pf>={segment} {count:,}" for segment, count in ENTRIES.items())
        )
        for name in options.models.split(","):
            model = str(save_bert(folder / "bert", norms)) if name == "bert" else name
            limit = [] if name == "bert" else ["--limit", "30"]
            runs = folder / "runs" / name
            asked = [
                "probe",
                model,
                "--task",
                "property-norms",
                "--data",
                str(norms),
                "-o",
                str(runs),
                "--quiet",
                *limit,
            ]
            for title, arguments in (
                ("probe", asked),
                ("report", ["report", str(runs), "-o", str(folder / "page.html")]),
            ):
                seconds, busy, memory = measured(arguments, options.seesay)
                print(
                    f"{name:8} {title:7} {seconds:7.1f} s ({busy:.0f} s busy)   peak "
                    f"{memory:7,.0f} MiB",
                    flush=True,
                )
            if not options.no_check:
                print(
                    f"{name:8} largest difference from scikit-learn: "
                    f"{largest_difference(runs):.1e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
