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
START = 1
END = 2
UNKNOWN = 3
ANSWERS = ("no", "yes")
LONGEST_LINE = 10_000
LONGEST_NAME = 200
MOST_VALUES = 1 << 28
ROWS = 10_000
"""Questions per step of writing an .h5 file: what is in memory at a time."""
Vocabulary = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """One question of a data set."""

    index: int
    question: str
    answer: bool
    image: str


def record(
    place: int,
    question: str,
    answer: bool,
    positive: bool,
    split: str,
) -> dict[str, Any]:
    """Return one question as the dataset JSON stores it."""
    return {
        "question": question,
        "answer": ANSWERS[answer],
        "image_filename": f"{place}.png",
        "image_filename_original": f"{place}.png",
        "image_index": place,
        "question_index": place,
        "question_family_index": int(positive),
        "program": [],
        # both compositional test sets (test_seen, test_unseen) call themselves `test`
        "split": split.partition("_")[0],
    }


def read_questions(path: Path) -> tuple[list[SceneQuestion], list[BadRow]]:
    """Read the questions of a dataset JSON, and those that cannot be used."""
    raw = load_json(path, LARGEST_FILE)
    if not isinstance(raw, dict) or not isinstance(raw.get("questions"), list):
        raise UserError(
            f"'{path}' is not a dataset file: expected an object with a list of questions."
        )
    rows = [(row,) for row in raw["questions"]]
    return parse_each(path, "question", _parse_question, rows)


def _parse_question(row: Mapping[str, Any]) -> SceneQuestion:
    if row["answer"] not in ANSWERS or not isinstance(row["question"], str):
        raise ValueError(f"answer {row['answer']!r} to {row['question']!r}")
    return SceneQuestion(
        index=int(row["image_index"]),
        question=row["question"],
        answer=row["answer"] == "yes",
        image=_name(row["image_filename"]),
    )


def read_captions(path: Path) -> tuple[list[tuple[str, str, str]], list[BadRow]]:
    """Read the examples' captions.txt: image, true sentence and false sentence of every line.

    Lines that cannot be read are returned apart.
    """
    captions = []
    bad = []
    # the first line is a header
    # the file holds Python literals, not JSON: parsed as such, never run
    for number, line in islice(read_lines(path, longest=LONGEST_LINE), 1, None):
        try:
            if isinstance(line, BadRow):
                raise ValueError(line.reason)
            image, _, pair = line.partition("\t")
            true, false = ast.literal_eval(pair)
            sentences = (str(true["caption_true"]), str(false["caption_false"]))
            captions.append((_name(image), *sentences))
        except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
            bad.append(BadRow(number - 1, f"{type(error).__name__} {error}"))
    return captions, bad


def _name(text: object) -> str:
    """Return a file's name; refuse one that leads out of its folder."""
    name = text if isinstance(text, str) else ""
    if name in ("", ".", "..") or name != Path(name).name or len(name) > LONGEST_NAME:
        raise ValueError(f"image_filename {str(text)[:80]!r}")
    return name


def vocabulary(sentences: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return vocab.json: special tokens, then words in ASCII order."""
    words: set[str] = set()
    for sentence in sentences:
        words.update(sentence.split())
    return {
        "question_token_to_idx": _number([*SPECIAL, *sorted(words)]),
        "program_token_to_idx": _number(SPECIAL),
        "answer_token_to_idx": _number([*SPECIAL, *ANSWERS]),
    }


def _number(tokens: Iterable[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def encode(sentence: str, tokens: Mapping[str, int], length: int) -> list[int]:
    """Return the ids of START, the words, END, and NULL up to the length."""
    ids = [START, *(tokens.get(word, UNKNOWN) for word in sentence.split()), END]
    return ids + [0] * (length - len(ids))


def arrays(
    records: Sequence[Mapping[str, Any]],
    vocab: Vocabulary,
    length: int,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the .h5 file by name, with questions of `length` tokens."""
    tokens = vocab["question_token_to_idx"]
    answers = vocab["answer_token_to_idx"]
    columns = {
        "answers": [answers[row["answer"]] for row in records],
        "image_idxs": [row["image_index"] for row in records],
        "orig_idxs": [row["question_index"] for row in records],
        "question_families": [row["question_family_index"] for row in records],
    }
    ids = [encode(row["question"], tokens, length) for row in records]
    # the published files have 32 bits here and 64 in all other columns
    result: dict[str, NDArray[Any]] = {"questions": np.array(ids, dtype=np.int32)}
    for name, column in columns.items():
        result[name] = np.array(column, dtype=np.int64)
    return result


def require_h5py() -> Any:
    """Import h5py, or raise an error with the line that installs it."""
    try:
        return import_module("h5py")
    except ImportError as error:
        raise missing_extra("Writing .h5 files", "scenes", error) from error


def write_h5(
    path: Path,
    records: Iterable[Mapping[str, Any]],
    vocab: Vocabulary,
    *,
    count: int,
    length: int,
) -> None:
    """Write the questions as token ids, some thousands at a time."""
    remaining = iter(records)
    with atomic_write(path) as unfinished, require_h5py().File(unfinished, "w") as file:
        for start in range(0, count, ROWS):
            rows = list(islice(remaining, ROWS))
            for name, values in arrays(rows, vocab, length).items():
                if start == 0:
                    shape = (count, *values.shape[1:])
                    file.create_dataset(name, shape=shape, dtype=values.dtype)
                file[name][start : start + len(values)] = values


def read_h5(path: Path, vocab_path: Path) -> list[tuple[int, str, bool]]:
    """Read image index, sentence and answer of every question."""
    h5 = require_h5py()
    vocab = load_json(vocab_path)
    try:
        words = {int(i): str(word) for word, i in vocab["question_token_to_idx"].items()}
        # an unknown word stays visible as <UNK>
        plain = {i: word for i, word in words.items() if word not in SPECIAL[:UNKNOWN]}
        yes = int(vocab["answer_token_to_idx"]["yes"])
        with h5.File(path, "r") as file:
            questions = _column(file, "questions")
            answers = _column(file, "answers")
            images = _column(file, "image_idxs")
        rows = []
        for ids, answer, image in zip(questions, answers, images, strict=True):
            sentence = " ".join(plain[i] for i in ids.tolist() if i in plain)
            rows.append((int(image), sentence, int(answer) == yes))
        return rows
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise UserError(
            f"'{path}' is not a questions file: {type(error).__name__} {error}."
        ) from error


def _column(file: Any, name: str) -> NDArray[np.int64]:
    """Read one column; refuse a size that a small damaged file may claim to have."""
    values = file[name]
    if values.size > MOST_VALUES:
        raise ValueError(f"{name} is too large")
    return np.asarray(values[:], dtype=np.int64)
