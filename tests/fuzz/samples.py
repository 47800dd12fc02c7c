"""Every reader of other people's files, with small good files to begin from."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch  # noqa: F401  before children are made, who would need seconds for it
from PIL import Image

import seesay
from seesay.captions.pairs import pair, read_captions, read_references
from seesay.data import json_stream, lines
from seesay.data.captions import Corpus
from seesay.data.cells import text_field
from seesay.data.rows import parse_json_lines
from seesay.language.words import arpa, lstm
from seesay.runs.journal import Journal
from seesay.runs.store import find_runs
from seesay.scenes import annotation, published
from seesay.scenes.reasoners.sources import folder_source
from seesay.tasks import load_task
from seesay.tasks.from_file.check import check
from seesay.tasks.from_file.draft import draft_file


@dataclass(frozen=True)
class Reader:
    """A reader: the file that is mutated, good contents of it, the files beside it, and how it is
    read."""

    name: str
    file: str
    seeds: list[bytes]
    read: Callable[[Path], object]
    beside: Mapping[str, bytes] = field(default_factory=dict)
    batch: int = 12

    def run(self, folder: Path, content: bytes) -> None:
        """Read this content; rows that are made on demand are made."""
        for name, other in self.beside.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(other)
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        rows = self.read(path)
        if isinstance(rows, Iterable):
            for _ in rows:
                pass


READERS: dict[str, Reader] = {}


def add(
    name: str,
    file: str,
    seeds: Iterable[str | bytes | object],
    read: Callable[[Path], object],
    **more: Any,
) -> None:
    READERS[name] = Reader(name, file, [as_bytes(seed) for seed in seeds], read, **more)


def as_bytes(seed: object) -> bytes:
    if isinstance(seed, bytes):
        return seed
    return seed.encode() if isinstance(seed, str) else json.dumps(seed).encode()


def parquet(rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return file.getvalue()


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG")
    return file.getvalue()


def json_lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _entries(path: Path) -> object:
    try:
        return list(json_stream.entries(path))
    except json_stream.BrokenFileError:
        return None  # what its callers report as a bad row


def read_corpus(path: Path) -> object:
    with Corpus(path) as corpus:
        return list(corpus.read())


COCO = {
    "images": [
        {"id": 1, "file_name": "1.jpg", "width": 640, "height": 480},
        {"id": 2, "width": 10, "height": 20},
    ],
    "categories": [{"id": 3, "name": "dog"}],
    "annotations": [
        {
            "id": 1,
            "image_id": 1,
            "category_id": 3,
            "bbox": [1, 2, 30, 40],
            "segmentation": [[1, 2, 30, 2, 30, 40]],
        },
        {"id": 2, "image_id": 1, "caption": "a dog under a table"},
        {"id": 3, "image_id": 2, "caption": "a red apple"},
    ],
}
REGIONS = [
    {
        "id": 1,
        "regions": [
            {
                "region_id": 4,
                "image_id": 1,
                "phrase": "a red apple",
                "x": 1,
                "y": 2,
                "width": 3,
                "height": 4,
            }
        ],
    }
]
QUESTIONS = {
    "questions": [{"image_id": 1, "question_id": 7, "question": "What colour is the dog?"}]
}
VQA_ANSWERS = {
    "annotations": [
        {"question_id": 7, "image_id": 1, "answers": [{"answer": "red"}, {"answer": "brown"}]}
    ]
}
CAPTIONS = [
    "a dog under a table\na red apple on a plate\n",
    "1.jpg#0\tA dog under a table .\n1.jpg#1\tA red apple .\n",
    "a dog under a table\thttp://example.org/1.jpg\n",
    'image,caption\n1.jpg,"a dog, under ""a"" table"\n',
    json_lines({"image": 1, "caption": "a dog"}, {"image": 2, "captions": ["a cat", "a red cat"]}),
    COCO,
    REGIONS,
    QUESTIONS,
    [{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a cat"}],
    {"1": ["a dog", "the dog"], "2": ["a cat"]},
]

WITH_CAPTIONS = [*CAPTIONS[:6], *CAPTIONS[8:]]
"""Those that hold captions by picture, and not regions or questions."""

add("corpus", "corpus.txt", [*CAPTIONS[:7], CAPTIONS[8]], read_corpus)
add("corpus-json", "corpus.json", [*CAPTIONS[4:7], CAPTIONS[8]], read_corpus)
add(
    "corpus-vqa",
    "questions.json",
    [QUESTIONS],
    read_corpus,
    beside={"annotations.json": as_bytes(VQA_ANSWERS)},
)
add(
    "corpus-vqa-answers",
    "annotations.json",
    [VQA_ANSWERS],
    lambda path: read_corpus(path.with_name("questions.json")),
    beside={"questions.json": as_bytes(QUESTIONS)},
)
add("corpus-tsv", "corpus.tsv", CAPTIONS[1:4], read_corpus)
add(
    "corpus-parquet", "corpus.parquet", [parquet([{"image": "1", "caption": "a dog"}])], read_corpus
)
add("caption-pairs", "captions.json", WITH_CAPTIONS, lambda path: read_captions(path, single=True))
add(
    "references",
    "references.json",
    WITH_CAPTIONS[4:],
    lambda path: pair(
        read_captions(path.with_name("h.json"), single=True), read_references([path])
    )[0],
    beside={"h.json": as_bytes({"1": "a dog", "2": "a cat"})},
)
add(
    "references-plain",
    "references.txt",
    CAPTIONS[:1],
    lambda path: pair(read_captions(path.with_name("h.txt"), single=True), read_references([path])),
    beside={"h.txt": b"a dog\na cat\n"},
)
add("lines", "text.txt", CAPTIONS[:4], lines.read_lines)
add("json-stream", "stream.json", CAPTIONS[5:], lambda path: _entries(path))
add(
    "json-lines",
    "rows.jsonl",
    [CAPTIONS[4]],
    lambda path: parse_json_lines(path, lambda row: text_field(row, "caption")),
)

SCENE: list[dict[str, Any]] = [
    {"image_url": "0.png"},
    {
        "objects": [
            {
                "shape": "circle",
                "color": "red",
                "radius": "20",
                "rr": "100",
                "cc": "100",
                "size": "big",
                "k": "0.29",
            },
            {
                "shape": "triangle",
                "color": "blue",
                "radius": "25",
                "rr": "300",
                "cc": "300",
                "size": "small",
                "k": "0.29",
            },
        ]
    },
    {"captions": [{"caption_true": "The circle is big"}, {"caption_false": "The circle is small"}]},
]
DATASET = {
    "questions": [
        {
            "image_index": 0,
            "image_filename": "0.png",
            "question": "A circle",
            "answer": "yes",
            "split": "train",
        },
        {
            "image_index": 1,
            "image_filename": "1.png",
            "question": "A square",
            "answer": "no",
            "split": "train",
        },
    ]
}
PNGS = {f"images/{split}/{name}.png": png() for split in ("train", "val") for name in (0, 1)}
add("scenes", "scenes.json", [{"0": SCENE, "1": SCENE}], annotation.read)
add("scene-questions", "train.json", [DATASET], published.read_questions)
add(
    "scene-captions",
    "captions.txt",
    ["image\tcaptions\n0.png\t" + repr(SCENE[2]["captions"]) + "\n"],
    published.read_captions,
)
add(
    "scene-folder",
    "dataset/train.json",
    [DATASET],
    lambda path: folder_source(path.parent.parent).splits,
    beside={"dataset/val.json": as_bytes(DATASET), **PNGS},
)

TABLE = "fruit,color,n\nlemon,yellow,1\napple,red,2\nlime,green,3\n"
TASK = """name: fruit
rows: rows.csv
object: fruit
options: [red, green, yellow]
gold: color
tags: {size: n}
templates:
  is: The color of {a fruit} is [MASK].
"""
WEIGHTED = """name: weighted
version: "2"
rows:
  - {fruit: lemon, red: 1, yellow: 9}
  - {fruit: apple, red: 7, yellow: 3}
object: fruit
options: [red, yellow]
gold: {weights: [red, yellow]}
templates:
  is: {text: "A {fruit} is [MASK].", words: {red: reddish}}
metrics: [majority_accuracy]
"""
add(
    "task-file",
    "fruit.yaml",
    [TASK, WEIGHTED],
    lambda path: load_task(str(path)).questions,
    beside={"rows.csv": TABLE.encode()},
)
add(
    "task-check",
    "fruit.yaml",
    [TASK, WEIGHTED],
    lambda path: check(path).problems,
    beside={"rows.csv": TABLE.encode()},
)
for suffix, seed in (
    ("csv", TABLE),
    ("tsv", TABLE.replace(",", "\t")),
    (
        "jsonl",
        json_lines(
            {"fruit": "lemon", "color": "yellow", "n": 1},
            {"fruit": "apple", "color": "red", "n": 2},
        ),
    ),
    (
        "json",
        [
            {"fruit": "lemon", "color": "yellow", "n": 1},
            {"fruit": "apple", "color": ["red", "green"], "n": 2},
        ],
    ),
    (
        "parquet",
        parquet(
            [
                {"fruit": "lemon", "color": "yellow", "n": 1},
                {"fruit": "apple", "color": "red", "n": 2},
            ]
        ),
    ),
):
    task = TASK.replace("rows.csv", f"rows.{suffix}").encode()
    add(
        f"task-rows-{suffix}",
        f"rows.{suffix}",
        [seed],
        lambda path: load_task(str(path.with_name("fruit.yaml"))).questions,
        beside={"fruit.yaml": task},
    )
JOINED = """rows: rows.csv
rules:
  - {join: labels.json, on: {fruit: name}, take: taste, read: {key: name}}
  - {spread: {said: [color, taste]}, into: [case, other], names: [look, tongue]}
  - number: row
id: [row, case]
twin: [row, other]
object: fruit
options: {answers: said}
gold: said
templates: "{A fruit} is {a [MASK]}, I think."
instructions: {answer: "Antwort:", one_of: "Eins von {options}!"}
metrics: [accuracy, text_score]
"""
LABELS = {"lemon": {"taste": "sour"}, "apple": {"taste": "sweet"}, "lime": {"taste": "sour"}}
add(
    "task-joined",
    "fruit.yaml",
    [JOINED],
    lambda path: check(path).problems,
    beside={"rows.csv": TABLE.encode(), "labels.json": as_bytes(LABELS)},
)
add(
    "task-labels",
    "labels.json",
    [LABELS, {"lemon": "sour", "apple": {"taste": "sweet", "x": [1, None]}}],
    lambda path: load_task(str(path.with_name("fruit.yaml"))).questions,
    beside={"fruit.yaml": JOINED.encode(), "rows.csv": TABLE.encode()},
)
add(
    "task-rows-lines",
    "pairs.txt",
    ["The cats sleep.\nThe cats sleeps.\n\nA dog barks.\nA dog bark.\n"],
    lambda path: load_task(str(path.with_name("pairs.yaml"))).questions,
    beside={
        "pairs.yaml": b"rows: pairs.txt\nread: {format: lines, columns: [good, bad]}\n"
        b"pairs: {good: good, bad: bad}\n"
    },
)
VOTES = """rows: votes.jsonl
options: [red, green]
gold: {votes: counts, says: order}
templates: "{thing} is [MASK]."
"""
add(
    "task-votes",
    "votes.jsonl",
    [json_lines({"thing": "lemon", "counts": [3, 0]}, {"thing": "x", "counts": "[1, 2]"})],
    lambda path: load_task(str(path.with_name("votes.yaml"))).questions,
    beside={"votes.yaml": VOTES.encode()},
)
add("task-draft", "table.csv", [TABLE], lambda path: draft_file(path).text)


@cache
def _run() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="seesay-fuzz-"))
    seesay.probe("mock", "core-color", limit=3, resamples=100, output=folder)
    return folder


def _add_runs() -> None:
    (manifest,) = _run().rglob("manifest.json")
    files = {
        path.name: path.read_bytes()
        for path in manifest.parent.iterdir()
        if path.is_file() and path.name != ".lock"
    }
    for name in files:
        beside = {f"run/{other}": content for other, content in files.items() if other != name}
        add(
            f"run-{name}",
            f"run/{name}",
            [files[name]],
            lambda path: [run.figures for run in find_runs([path.parent.parent])],
            beside=beside,
        )
    shutil.rmtree(_run())


_add_runs()
add(
    "journal",
    "answers.jsonl",
    [
        json_lines(
            {"key": "a", "logp": [-1.0, -2.0], "tokens": [1, 1], "chars": [3, 4], "rank": None},
            {
                "key": "b",
                "logp": "AAAAAAAA8L8=",
                "tokens": "AQAAAA==",
                "chars": "AQAAAA==",
                "rank": "AQAAAA==",
                "picks": [0],
                "hidden": None,
                "replies": [["red", "exact", True]],
            },
        )
    ],
    lambda path: Journal(path).read(),
)

ARPA = (
    "\\data\\\nngram 1=4\nngram "
    "2=1\n\n\\1-grams:\n-1.0\t<s>\t-0.3\n-0.6\t</s>\n-0.7\ta\t-0.2\n-0.9\t<unk>\n\n"
    "\\2-grams:\n-0.1\t<s> a\n\n\\end\\\n"
)
add("arpa", "model.arpa", [ARPA, gzip.compress(ARPA.encode(), mtime=0)], arpa.read_arpa)


def _add_networks() -> None:
    """A word LSTM of a few numbers, each of its files in turn."""
    from safetensors.numpy import save

    words = ["<unk>", "<s>", "</s>", "a", "dog"]
    shapes = {
        "embedding.weight": (5, 2),
        "lstm.weight_ih_l0": (12, 2),
        "lstm.weight_hh_l0": (12, 3),
        "lstm.bias_ih_l0": (12,),
        "lstm.bias_hh_l0": (12,),
        "output.weight": (5, 3),
        "output.bias": (5,),
    }
    files = {
        "config.json": as_bytes(
            {
                "model_type": lstm.MODEL_TYPE,
                "format": 1,
                "vocabulary": 5,
                "drops_unknown": False,
                "embedding": 2,
                "hidden": 3,
            }
        ),
        "vocabulary.txt": ("\n".join(words) + "\n").encode(),
        "model.safetensors": save(
            {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        ),
    }
    for name in files:
        add(
            f"lstm-{name}",
            name,
            [files[name]],
            lambda path: len(lstm.load(path.parent)),
            beside={n: c for n, c in files.items() if n != name},
        )


_add_networks()
