"""The published question files, in CLEVR's layout: dataset JSON, questions .h5 and vocab.json."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.scenes.annotation import load_json

SPECIAL = ("<NULL>", "<START>", "<END>", "<UNK>")
START, END, UNKNOWN = 1, 2, 3
ANSWERS = ("no", "yes")
LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """One question of a data set."""

    index: int
    question: str
    answer: bool
    image: str
    original: str
    split: str


def record(place: int, question: str, answer: bool, positive: bool, split: str) -> dict[str, Any]:
    """One question as the dataset JSON keeps it. Both compositional test sets call themselves `test`."""
    return {
        "question": question,
        "answer": ANSWERS[answer],
        "image_filename": f"{place}.png",
        "image_filename_original": f"{place}.png",
        "image_index": place,
        "question_index": place,
        "question_family_index": int(positive),
        "program": [],
        "split": split.partition("_")[0],
    }


def read_questions(path: Path) -> tuple[list[SceneQuestion], list[BadRow]]:
    """The questions of a dataset JSON, and those that cannot be used."""
    raw = load_json(path)
    if not isinstance(raw, dict) or not isinstance(raw.get("questions"), list):
        raise UserError(f"'{path}' is no dataset file: expected an object with a list of questions.")
    asked, bad = [], []
    for row, one in enumerate(raw["questions"]):
        try:
            if one["answer"] not in ANSWERS or not isinstance(one["question"], str):
                raise ValueError(f"answer {one['answer']!r} to {one['question']!r}")
            image = _name(one["image_filename"])
            original = _name(one.get("image_filename_original", image))
            split = str(one.get("split", path.stem))
            asked.append(
                SceneQuestion(int(one["image_index"]), one["question"], one["answer"] == "yes", image, original, split)
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad.append(BadRow(row, f"{type(error).__name__} {error}"))
    if not asked:
        raise UserError(f"'{path}' has no question that can be read{f': {bad[0].reason}' if bad else ''}.")
    return asked, bad


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
            if len(pair) > LONGEST_LINE:
                raise ValueError("longer than any pair of sentences")
            true, false = ast.literal_eval(pair)
            found.append((_name(image), str(true["caption_true"]), str(false["caption_false"])))
        except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
            bad.append(BadRow(row, f"{type(error).__name__} {error}"))
    return found, bad


def _name(text: object) -> str:
    """A file's name, which stays inside its folder."""
    if not isinstance(text, str) or not text or text != Path(text).name or text in (".", ".."):
        raise ValueError(f"image_filename {text!r}")
    return text


def vocabulary(sentences: Iterable[str]) -> dict[str, dict[str, int]]:
    """vocab.json: special tokens, then words in ASCII order."""
    words = sorted({word for sentence in sentences for word in sentence.split()})
    special = {token: i for i, token in enumerate(SPECIAL)}
    return {
        "question_token_to_idx": special | {word: len(SPECIAL) + i for i, word in enumerate(words)},
        "program_token_to_idx": dict(special),
        "answer_token_to_idx": special | {answer: len(SPECIAL) + i for i, answer in enumerate(ANSWERS)},
    }


def encode(sentence: str, tokens: Mapping[str, int], length: int) -> list[int]:
    """START, the words, END, and NULL up to the length."""
    ids = [START, *(tokens.get(word, UNKNOWN) for word in sentence.split()), END]
    return ids + [0] * (length - len(ids))


def arrays(
    records: Sequence[Mapping[str, Any]], vocab: Mapping[str, Mapping[str, int]], length: int | None = None
) -> dict[str, NDArray[Any]]:
    """What the .h5 file holds, by name; questions of `length` tokens, or of as many as the longest has."""
    tokens, answers = vocab["question_token_to_idx"], vocab["answer_token_to_idx"]
    length = length or max(len(one["question"].split()) for one in records) + 2
    columns = {
        "answers": [answers[one["answer"]] for one in records],
        "image_idxs": [one["image_index"] for one in records],
        "orig_idxs": [one["question_index"] for one in records],
        "question_families": [one["question_family_index"] for one in records],
    }
    questions = np.array([encode(one["question"], tokens, length) for one in records], dtype=np.int32)
    return {"questions": questions, **{name: np.array(column, dtype=np.int64) for name, column in columns.items()}}


def require_h5py() -> Any:
    """h5py, or the line that installs it."""
    try:
        return import_module("h5py")
    except ImportError as error:
        raise UserError("Files in .h5 need an extra that is not installed: pip install 'seesay[scenes]'") from error


def write_h5(
    path: Path,
    records: Iterable[Mapping[str, Any]],
    vocab: Mapping[str, Mapping[str, int]],
    *,
    count: int,
    length: int,
    rows: int = 10_000,
) -> None:
    """The questions as token ids, so many rows at a time."""
    beside = path.with_suffix(".part")
    waiting = iter(records)
    with require_h5py().File(beside, "w") as file:
        for start in range(0, count, rows):
            for name, values in arrays(list(islice(waiting, rows)), vocab, length).items():
                if not start:
                    file.create_dataset(name, shape=(count, *values.shape[1:]), dtype=values.dtype)
                file[name][start : start + len(values)] = values
    beside.replace(path)


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


def stream_json(path: Path, before: str, texts: Iterable[str], after: str) -> None:
    """A large JSON file from the JSON texts of its members, whole or not at all."""
    beside = path.with_suffix(".part")
    with beside.open("w", encoding="utf-8") as file:
        file.write(before)
        for number, text in enumerate(texts):
            file.write(f", {text}" if number else text)
        file.write(after)
    beside.replace(path)


def write_json(path: Path, document: Any) -> None:
    """A small JSON file, whole or not at all."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    beside.replace(path)
