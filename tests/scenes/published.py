"""The published samples of MALeViC: where they are, readers of their formats, and k to more decimals than they give."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.scenes.annotation import AnnotatedScene, load_json
from seesay.scenes.labels import BIG, WEBER, measure, reference_sets
from seesay.scenes.published import _name, require_h5py
from seesay.scenes.task_kinds import TaskKind

EXAMPLES = {
    "sup1": "sup1",
    "pos1": "pos1",
    "pos": "pos",
    "set+pos": "set-pos",
    "pos-hard": "data-hard/pos-hard",
    "set+pos-hard": "data-hard/set-pos-hard",
}
WHOLE = {
    "sup1": "sup1/annotation/test_annotation.json",
    "set+pos": "set-pos-compositional/annotation/test_seen_annotation.json",
}


def annotation_files(task: str) -> list[Path]:
    """Every published annotation of a task."""
    folder = shared(f"malevic/examples/{EXAMPLES[task]}")
    files = sorted(folder.glob("annotations_*.json"))
    return files + ([shared(f"malevic/{WHOLE[task]}")] if task in WHOLE else [])


def full_k(known: AnnotatedScene, kind: TaskKind) -> float:
    """A k that rounds to the published one and to which every published distance and probability of the scene fits.

    Labels were computed before k was rounded to four decimals: the rounded one misses about 4 % of the last digits.
    """
    stored = known.scene.k
    assert stored is not None
    low, high = stored - 5e-5, stored + 5e-5
    values = measure(known.scene.objects, BIG)
    for value, members, label in zip(
        values, reference_sets(known.scene.objects, kind.by_set), known.labels, strict=True
    ):
        top, width = values[members].max(), np.ptp(values[members])
        if width == 0 or label.prob is None or label.distance is None:
            continue
        side = 1 if label.word == "big" else -1
        base = (top - value) / width
        ends = [base + side * (label.distance + error) for error in (-5e-5, 5e-5)]
        low, high = max(low, min(ends)), min(high, max(ends))
        probs = np.clip([label.prob - 5e-5, label.prob + 5e-5], 0, 1)
        ends = [base + side * float(z) * WEBER / BIG.scale / width for z in ndtri(probs)]
        low, high = max(low, min(ends)), min(high, max(ends))
    assert low <= high, f"no k fits scene {known.index}"
    return (low + high) / 2


LONGEST_PAIR = 10_000


def read_captions(path: Path) -> tuple[list[tuple[str, str, str]], list[BadRow]]:
    """The examples' captions.txt: image, true sentence and false sentence of every line, and lines that are none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"'{path}' cannot be read as text ({type(error).__name__}).") from error
    found, bad = [], []
    for row, line in enumerate(lines[1:], start=1):
        image, _, pair = line.partition("\t")
        try:
            if len(pair) > LONGEST_PAIR:
                raise ValueError("longer than any pair of sentences")
            true, false = ast.literal_eval(pair)
            found.append((_name(image), str(true["caption_true"]), str(false["caption_false"])))
        except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
            bad.append(BadRow(row, f"{type(error).__name__} {error}"))
    return found, bad


def read_h5(path: Path, vocab_path: Path) -> list[tuple[int, str, bool]]:
    """Image index, sentence and answer of every question."""
    h5 = require_h5py()
    vocab = load_json(vocab_path)
    try:
        words = {int(i): str(word) for word, i in vocab["question_token_to_idx"].items()}
        yes = int(vocab["answer_token_to_idx"]["yes"])
        with h5.File(path, "r") as file:
            questions, answers, images = (_column(file, name) for name in ("questions", "answers", "image_idxs"))
            plain = {i: word for i, word in words.items() if word not in ("<NULL>", "<START>", "<END>")}
            return [
                (int(image), " ".join(plain[i] for i in row.tolist() if i in plain), int(answer) == yes)
                for row, answer, image in zip(questions, answers, images, strict=True)
            ]
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise UserError(f"'{path}' is no questions file: {type(error).__name__} {error}.") from error


def _column(file: Any, name: str) -> NDArray[np.int64]:
    found = file[name]
    if found.size > 1 << 28:
        raise ValueError(f"{name} is too large")
    return np.asarray(found[:], dtype=np.int64)
