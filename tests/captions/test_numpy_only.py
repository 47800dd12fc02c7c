"""Captions and parses are scored where nothing but NumPy is installed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seesay

PROGRAM = """
import json, sys
sys.path[:0] = sys.argv[1:]
from seesay.captions import CaptionCorpus, MeteorResources, bleu, cider_d, meteor, rouge
from seesay.captions import relevance, score_captions, score_parses
from seesay.captions.parses import parse, score
from seesay.captions.pycocoevalcap import Rouge
hypotheses = ["A dog runs.", "A cat sleeps."]
references = [["A dog is running."], ["The cat sleeps."]]
corpus = CaptionCorpus.tokenized(hypotheses, references)
metrics = [*bleu(corpus), meteor(corpus, MeteorResources()), rouge(corpus), cider_d(corpus)]
gold = "(S (NP (DT the) (NN dog)) (VP (VBD barked)))"
test = "(S (NP (DT the) (NN dog)) (ADJP (VBD barked)))"
scored = score_captions(hypotheses, references, versus=hypotheses, meteor=None, resamples=100)
print(json.dumps({
    "corpus": {metric.name: metric.value for metric in metrics},
    "scored": {name: record.value for name, record in scored.figures.items()},
    "difference": [test.difference for test in scored.comparisons],
    "pycocoevalcap": Rouge().compute_score({1: ["a dog is running"]}, {1: ["a dog runs"]})[0],
    "relevance": relevance([[1.0, 0.0]], [[3.0, 4.0]]).value,
    "matched": score(parse(gold), parse(test)).matched,
    "recall": score_parses([gold], [test], resamples=100).figures["labelled recall"].value,
}))
"""


@pytest.fixture
def only_numpy(tmp_path: Path) -> Path:
    """A folder of installed packages that has NumPy and nothing else."""
    installed = Path(np.__file__).parents[1]
    folder = tmp_path / "packages"
    folder.mkdir()
    for name in ("numpy", "numpy.libs"):
        if (installed / name).is_dir():
            (folder / name).symlink_to(installed / name, target_is_directory=True)
    return folder


def test_figures_need_numpy_alone(only_numpy: Path, tmp_path: Path) -> None:
    """Without the site's packages (-S) nothing else could be imported; figures worked out by the
    usual installation."""
    folders = [str(Path(seesay.__file__).parents[1]), str(only_numpy)]
    environment = {"HOME": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-S", "-c", PROGRAM, *folders]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["corpus"]["ROUGE-L"] == pytest.approx(figures["scored"]["ROUGE-L"])
    assert set(figures["corpus"]) < set(figures["scored"])
    assert figures["scored"]["BLEU-1"] == pytest.approx(4 / 6 * math.exp(1 - 7 / 6))
    assert figures["difference"] == [0.0] * len(figures["difference"])
    # two words in common: precision 2/3, recall 2/4, β = 1.2
    assert figures["pycocoevalcap"] == pytest.approx(2.44 / 3 / (0.5 + 1.44 * 2 / 3))
    assert figures["relevance"] == pytest.approx(2.5 * 3 / 5)
    assert figures["matched"] == 2
    assert figures["recall"] == pytest.approx(2 / 3)
