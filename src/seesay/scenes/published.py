"""The published question files, in CLEVR's layout: dataset JSON, questions .h5 and vocab.json."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.data.lines import read_lines
from seesay.data.rows import load_json
from seesay.errors import UserError, missing_extra
from seesay.files import atomic_write
from seesay.questions import BadRow
from seesay.scenes.annotation import LARGEST_FILE, parse_each

SPECIAL = ("<NULL>", "<START>", "<END>", "<UNK>")
START, END, UNKNOWN = 1, 2, 3
ANSWERS = ("no", "yes")
LONGEST_LINE = 10_000
ROWS = 10_000
Vocabulary = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """One question of a data set."""

    index: int
    question: str
    answer: bool
    image: str


def record(place: int, question: str, answer: bool, positive: bool, split: str) -> dict[str, Any]:
    """One question as the dataset JSON keeps it. Both compositional test sets call themselves
    `test`."""
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
    raw = load_json(path, LARGEST_FILE)
    if not isinstance(raw, dict) or not isinstance(raw.get("questions"), list):
        raise UserError(
            f"'{path}' is not a dataset file: expected an object with a list of questions."
        )
    return parse_each(path, "question", _parse_question, [(row,) for row in raw["questions"]])


def _parse_question(row: Mapping[str, Any]) -> SceneQuestion:
    if row["answer"] not in ANSWERS or not isinstance(row["question"], str):
        raise ValueError(f"answer {row['answer']!r} to {row['question']!r}")
    answer = row["answer"] == "yes"
    return SceneQuestion(
        int(row["image_index"]), row["question"], answer, _name(row["image_filename"])
    )


def read_captions(path: Path) -> tuple[list[tuple[str, str, str]], list[BadRow]]:
    """The examples' captions.txt: image, true sentence and false sentence of every line, and lines
    that are none."""
    captions = []
    bad = []
    for number, line in islice(read_lines(path, longest=LONGEST_LINE), 1, None):
        try:
            if isinstance(line, BadRow):
                raise ValueError(line.reason)
            image, _, pair = line.partition("\t")
            true, false = ast.literal_eval(pair)
            captions.append((_name(image), str(true["caption_true"]), str(false["caption_false"])))
        except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
            bad.append(BadRow(number - 1, f"{type(error).__name__} {error}"))
    return captions, bad


def _name(text: object) -> str:
    """A file's name, which stays inside its folder."""
    if (
        not isinstance(text, str)
        or not text
        or text != Path(text).name
        or text in (".", "..")
        or len(text) > 200
    ):
        raise ValueError(f"image_filename {str(text)[:80]!r}")
    return text


def vocabulary(sentences: Iterable[str]) -> dict[str, dict[str, int]]:
    """vocab.json: special tokens, then words in ASCII order."""
    words = sorted({word for sentence in sentences for word in sentence.split()})
    special = {token: i for i, token in enumerate(SPECIAL)}
    return {
        "question_token_to_idx": special | {word: len(SPECIAL) + i for i, word in enumerate(words)},
        "program_token_to_idx": dict(special),
        "answer_token_to_idx": special
        | {answer: len(SPECIAL) + i for i, answer in enumerate(ANSWERS)},
    }


def encode(sentence: str, tokens: Mapping[str, int], length: int) -> list[int]:
    """START, the words, END, and NULL up to the length."""
    ids = [START, *(tokens.get(word, UNKNOWN) for word in sentence.split()), END]
    return ids + [0] * (length - len(ids))


def arrays(
    records: Sequence[Mapping[str, Any]], vocab: Vocabulary, length: int
) -> dict[str, NDArray[Any]]:
    """What the .h5 file holds, by name; questions of `length` tokens."""
    tokens = vocab["question_token_to_idx"]
    answers = vocab["answer_token_to_idx"]
    columns = {
        "answers": [answers[row["answer"]] for row in records],
        "image_idxs": [row["image_index"] for row in records],
        "orig_idxs": [row["question_index"] for row in records],
        "question_families": [row["question_family_index"] for row in records],
    }
    questions = np.array(
        [encode(row["question"], tokens, length) for row in records], dtype=np.int32
    )
    return {
        "questions": questions,
        **{name: np.array(column, dtype=np.int64) for name, column in columns.items()},
    }


def require_h5py() -> Any:
    """h5py, or an error with the line that installs it."""
    try:
        return import_module("h5py")
    except ImportError as error:
        raise missing_extra("Writing .h5 files", "scenes", error) from error


def write_h5(
    path: Path, records: Iterable[Mapping[str, Any]], vocab: Vocabulary, *, count: int, length: int
) -> None:
    """Write the questions as token ids, some thousands at a time."""
    remaining = iter(records)
    with atomic_write(path) as unfinished, require_h5py().File(unfinished, "w") as file:
        for start in range(0, count, ROWS):
            for name, values in arrays(list(islice(remaining, ROWS)), vocab, length).items():
                if not start:
                    file.create_dataset(name, shape=(count, *values.shape[1:]), dtype=values.dtype)
                file[name][start : start + len(values)] = values


def read_h5(path: Path, vocab_path: Path) -> list[tuple[int, str, bool]]:
    """Image index, sentence and answer of every question."""
    h5 = require_h5py()
    vocab = load_json(vocab_path)
    try:
        words = {int(i): str(word) for word, i in vocab["question_token_to_idx"].items()}
        yes = int(vocab["answer_token_to_idx"]["yes"])
        with h5.File(path, "r") as file:
            questions, answers, images = (
                _column(file, name) for name in ("questions", "answers", "image_idxs")
            )
            plain = {
                i: word for i, word in words.items() if word not in ("<NULL>", "<START>", "<END>")
            }
            return [
                (
                    int(image),
                    " ".join(plain[i] for i in row.tolist() if i in plain),
                    int(answer) == yes,
                )
                for row, answer, image in zip(questions, answers, images, strict=True)
            ]
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise UserError(
            f"'{path}' is not a questions file: {type(error).__name__} {error}."
        ) from error


def _column(file: Any, name: str) -> NDArray[np.int64]:
    values = file[name]
    if values.size > 1 << 28:
        raise ValueError(f"{name} is too large")
    return np.asarray(values[:], dtype=np.int64)
