"""Readers of models, servers, pictures, matrices and trainings, with small good files to begin
from."""

from __future__ import annotations

import ast
import io
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from PIL import Image
from tests.fuzz.data_samples import READERS as READERS
from tests.fuzz.samples import (
    TABLE,
    TASK,
    add,
    as_bytes,
    json_lines,
    npy,
    parquet,
    png,
    read_corpus,
)
from tests.scenes.reasoners.small import save_random
from tests.tiny import ALL as TINY

from seesay.captions.coco.cider import DocumentFrequency
from seesay.data.json_stream import parse_json
from seesay.data.pictures import open_thumbnail
from seesay.errors import UserError
from seesay.export import TARGETS, export
from seesay.language.relations import pvectors
from seesay.language.relations.correlation import read_human
from seesay.language.relations.lexicon import read_lexicon
from seesay.matching import match
from seesay.mining.depth_maps import BadDepthMapError, read_map
from seesay.models import ModelOptions
from seesay.models.hf.loading import _tokenizer as load_tokenizer
from seesay.models.hf.tokenization import tokenize
from seesay.models.libraries import require_models
from seesay.models.pictures import open_picture
from seesay.models.server.answer_store import AnswerStore
from seesay.models.server.client import retry_after
from seesay.models.server.logprobs import completed_text, next_tokens, prompt_tokens
from seesay.models.server.replies import positions, reply_of, score_reply
from seesay.models.template_process import TEMPLATES, TemplateError
from seesay.models.untrusted import check_folder
from seesay.probes.stored import load_stored
from seesay.questions import Question, Task, Template
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.sweep import read_results
from seesay.tasks import load_task
from seesay.training.checkpoint import read_history
from seesay.training.loop import read_result

require_models()  # before children are made, who would need seconds for it

CHAT_TEMPLATES = [
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "{{ bos_token }}{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
    "{{ m.content | trim }}{% endfor %}{{ ns.n }}",
    "{{ messages | tojson }}",
]
TOKENS = [
    {
        "token": "red",
        "logprob": -0.5,
        "id": 3,
        "top_logprobs": [{"token": "red", "logprob": -0.5, "id": 3}],
    }
]
OLD_LAYOUT = {
    "tokens": ["A", "red"],
    "token_logprobs": [None, -0.5],
    "top_logprobs": [{"red": -0.5}, {"a": -1}],
}
ANSWERS = [
    {"choices": [{"text": "red", "logprobs": OLD_LAYOUT}], "usage": {"prompt_tokens": 3}},
    {
        "choices": [
            {
                "message": {"content": "It is red."},
                "logprobs": {"content": TOKENS},
                "finish_reason": "stop",
            }
        ]
    },
    {"choices": [{"message": {"content": [{"type": "text", "text": "red"}], "refusal": None}}]},
]
PARSERS: list[Callable[[Any], object]] = [
    completed_text,
    prompt_tokens,
    next_tokens,
    lambda answer: score_reply(positions(answer), ("red", "green", "light blue")),
    lambda answer: match(
        reply_of(answer, "http://x").text, ("red", "green"), question="A cup is [MASK]."
    ),
]


def _server_answer(path: Path) -> None:
    try:
        answer = parse_json(path.read_bytes())
    except ValueError as error:
        raise UserError("did not answer in JSON") from error  # as the client says
    if isinstance(answer, dict):  # the client lets nothing else through
        for parse in PARSERS:
            with suppress(UserError):
                parse(answer)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _depth(path: Path) -> None:
    with suppress(BadDepthMapError):  # a bad row to its callers
        read_map(path)


def _kept_answer(path: Path) -> object:
    return AnswerStore(path).get("http://x", {})


def _picture(kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 12), (200, 30, 30)).save(file, kind)
    return file.getvalue()


def _files(fill: Callable[[Path], object]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as temporary:
        fill(Path(temporary))
        return {
            path.name: path.read_bytes() for path in Path(temporary).iterdir() if path.is_file()
        }


def _each(kind: str, files: dict[str, bytes], read: Callable[[Path], object]) -> None:
    """Each of the files that belong together is mutated in turn."""
    for name, content in files.items():
        beside = {other: text for other, text in files.items() if other != name}
        add(f"{kind}-{name}", name, [content], read, beside=beside)


add("server-answer", "answer.json", ANSWERS, _server_answer)
add(
    "reply",
    "reply.txt",
    ["It is red.", "<think>red?</think> Not red, but **green**.\n\nAnswer: (b) green"],
    lambda path: (
        match(_text(path), ("red", "green"), question="A cup is [MASK].", letters="ab").labels
    ),
)
add(
    "retry-after",
    "header.txt",
    ["7.5", "Mon, 16 Nov 2026 12:01:30 GMT"],
    lambda path: str(retry_after(_text(path))),
)
add(
    "kept-answers",
    "a.sqlite",
    _files(lambda folder: AnswerStore(folder / "a").put("http://x", {}, {})).values(),
    _kept_answer,
)

STORED = [
    json_lines(
        {"question": "q1", "logp": {"red": -0.5, "green": -1}},
        {"id": "q2", "template": "is", "logp": [-1, -2.5]},
    ),
    json_lines(
        {"question": "q1", "answer": "It is red."}, {"question": "q2", "answer": ["red", "green"]}
    ),
    json_lines(
        {
            "doc": {"id": "q1", "choices": ["green", "red"]},
            "filtered_resps": [[-0.5, True], [-1.5, False]],
        }
    ),
]
QUESTIONS = tuple(
    Question(name, {"x": name}, ("red", "green"), {"red": 1.0}, name) for name in ("q1", "q2")
)
ASKED = Task("asked", "1", "Asked", (Template("is", "{x} is [MASK]."),), QUESTIONS, ("accuracy",))


def _stored(path: Path) -> object:
    model = load_stored(str(path), ModelOptions())
    task = model.restrict(ASKED)
    model.prepare(task)
    return [
        scores.logp
        for scores in model.answer([task.templates[0].ask(question) for question in task.questions])
    ]


add("stored-answers", "answers.jsonl", STORED, _stored)
PAIRS = "rows: rows.jsonl\nobject: topic\npairs: {good: good, bad: bad}\n"
add(
    "task-pairs",
    "rows.jsonl",
    [
        json_lines(
            {"topic": "a", "good": "Dogs bark.", "bad": "Dogs barks."},
            {"topic": "b", "good": "x", "bad": "y"},
        )
    ],
    lambda path: load_task(str(path.with_name("pairs.yaml"))).questions,
    beside={"pairs.yaml": PAIRS.encode()},
)

CONFIG = {
    "model_type": "gpt2",
    "n_layer": 2,
    "hidden_size": 8,
    "text_config": {"attn_implementation": "eager"},
}
INDEX = {
    "metadata": {"total_size": 9},
    "weight_map": {"a.weight": "model-00001-of-00001.safetensors"},
}
_each(
    "model",
    {"config.json": as_bytes(CONFIG), "model.safetensors.index.json": as_bytes(INDEX)},
    lambda path: check_folder("it", path.parent),
)
_each(
    "reasoner",
    _files(lambda folder: save_random("film", folder)),
    lambda path: len(checkpoints.load(path.parent)),
)
SETTINGS = {"format": 1, "network": "film", "features": "pixels", "image_size": 64, "task": "pos"}
add(
    "training-settings",
    "training/settings.json",
    [SETTINGS],
    lambda path: checkpoints.read_settings(path.parent.parent),
)
RESULT = {
    "steps": 2,
    "epochs": 1.0,
    "seconds": 1.5,
    "best": 0.5,
    "best_step": 1,
    "stopped_early": False,
}
HISTORY = json_lines(
    {"step": 1, "epoch": 0.5, "seconds": 1.5, "loss": 2.0},
    {"step": 2, "epoch": 1, "seconds": 2, "loss": 1},
)
add("training-history", "history.jsonl", [HISTORY], lambda path: read_history(path.parent))
add("training-result", "result.json", [RESULT], lambda path: str(read_result(path.parent)))
SWEEP = (
    "network,task,config,seed,folder,validation,test,test_seen,test_unseen,pos-hard,"
    "set+pos-hard,minutes,error,warning\n"
    "film,pos,a,0,film/pos/0,0.5,0.5,,,,,1.5,,\n"
)
add("sweep-results", "results.csv", [SWEEP], lambda path: read_results(path.parent))

MATRIX = {
    "matrix.csv": b"relation,in,on\nin,1,2\non,2,1\n",
    "about.json": as_bytes({"model": "m", "contexts": {"in": 5, "on": 7}}),
}
_each("matrix", MATRIX, lambda path: str(pvectors.read(path.parent)))
rows = [{"relation": "in", "in": 1.0, "on": 2.0}, {"relation": "on", "in": 2.0, "on": 1.0}]
add(
    "matrix-parquet",
    "matrix.parquet",
    [parquet(rows)],
    lambda path: str(pvectors.read(path.parent)),
)
AGREEMENT = {
    "people": 3,
    "people_counted": 2,
    "judgements_per_item": 2.5,
    "agreement": {"split_half_spearman_brown": {"value": 0.9}},
}
_each(
    "study-export",
    {"items.csv": b"a,b,mean\nin,on,0.5\non,up,0.2\n", "agreement.json": as_bytes(AGREEMENT)},
    lambda path: read_human(path.parent).pairs,
)
add("lexicon", "relations.txt", ["in\non\nin front of\n"], lambda path: str(read_lexicon(path)))
add(
    "document-frequency",
    "df.json",
    [{"images": 2, "counts": {"a dog": 1, "a": 2}}],
    lambda path: str(DocumentFrequency.load(path).images),
)

PICTURES = [png(), *map(_picture, ("JPEG", "GIF", "WEBP", "BMP", "TIFF"))]
add("picture", "picture.png", PICTURES, lambda path: open_picture(str(path), "a model").size)
add("thumbnail", "picture.jpg", PICTURES, lambda path: str(open_thumbnail(str(path))))
add(
    "depth-npy",
    "depth.npy",
    [npy(np.ones((3, 4), np.float32)), npy(np.ones((3, 4), np.uint16))],
    _depth,
)
add("depth-png", "depth.png", [png(), _picture("TIFF")], _depth)


def _arrow() -> bytes:
    sink = io.BytesIO()
    table = pa.table({"image": ["1", "2"], "caption": ["a dog", "a cat"]})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


STATE = {"_data_files": [{"filename": "data.arrow"}], "_split": "train"}
_each(
    "data-set",
    {"state.json": as_bytes(STATE), "data.arrow": _arrow()},
    lambda path: read_corpus(path.parent),
)


def _template(path: Path) -> str:
    messages = [{"role": "user", "content": "What color is snow?"}]
    try:
        return TEMPLATES.render(_text(path), messages, {"add_generation_prompt": True})
    except TemplateError as error:
        raise UserError(str(error)) from error  # as chat formats do


add("chat-template", "template.jinja", CHAT_TEMPLATES, _template, batch=6)


def _tokenizer(path: Path) -> object:
    loaded = load_tokenizer("it", path.parent, ModelOptions())
    return tokenize("it", loaded, ["The sky is [MASK].", "Größe \N{SNOWMAN}"])["input_ids"]


_each(
    "tokenizer",
    _files(lambda folder: TINY["bert"].tokenizer().save_pretrained(folder)),
    _tokenizer,
)


def _exported(path: Path) -> None:
    """Export a task to every target; what is written is a document, or code that parses."""
    whole = load_task(str(path.with_name("fruit.yaml")))
    # a row repeated 50,000 times is written four times over, which is slow and no fault
    task = replace(whole, questions=whole.questions[:300])
    for target in TARGETS:
        folder = path.with_name(target)
        with suppress(UserError):
            export(task, folder, target)
        for file in folder.rglob("*.yaml"):
            yaml.load(file.read_text(encoding="utf-8"), LmEvalLoader)
        for file in folder.rglob("*.py"):
            ast.parse(file.read_text(encoding="utf-8"))
        for file in folder.rglob("*.jsonl"):
            for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
                json.loads(line)


class LmEvalLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Knows the one tag of lm-eval, which names a function of its own."""


LmEvalLoader.add_constructor("!function", lambda loader, node: None)

add(
    "export",
    "rows.csv",
    [TABLE],
    _exported,
    beside={"fruit.yaml": TASK.encode()},
    batch=6,
)


def _exported_task(path: Path) -> object:
    (task_file,) = path.parent.glob("*.yaml")
    return load_task(str(task_file)).questions


def _export_fruit(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "rows.csv").write_text(TABLE)
    (folder / "in" / "fruit.yaml").write_text(TASK)
    export(load_task(str(folder / "in" / "fruit.yaml")), folder / "out", "seesay")
    for path in (folder / "out").iterdir():
        if path.is_file():
            path.rename(folder / path.name)


_each("exported-task", _files(_export_fruit), _exported_task)
