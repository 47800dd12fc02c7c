"""Picture tasks run by lm-eval and lmms-eval with tiny vision models, and their logs compared."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from tests.export.test_export import hostile_task
from tests.models.vision.tiny_vision import save_tiny_vision
from tests.needs import absent
from transformers import AutoModelForImageTextToText, AutoTokenizer

from seesay import api
from seesay.export import export
from seesay.models import load_model
from seesay.probes.choice import choice_task
from seesay.questions import Question, Task
from seesay.runs.ask import Settings, run

QUESTIONS = 16
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }} {% endfor %}assistant:"


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Pictures of noise: a question about each, all in the same words."""
    folder = tmp_path_factory.mktemp("pictures")
    draw = random.Random(0)
    questions = []
    for number in range(QUESTIONS):
        path = folder / f"{number}.png"
        Image.frombytes("RGB", (8, 8), draw.randbytes(192)).save(path)
        questions.append(
            Question(
                f"q{number}",
                {"thing": "thing"},
                ("red", "green"),
                {("red", "green")[number % 3 % 2]: 1.0},
                f"thing {number}",
                picture=str(path),
            )
        )
    plain = hostile_task("")
    return replace(plain, questions=tuple(questions), templates=plain.templates[:1], neutral={})


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two LLaVAs with random weights, which write A or B, whatever they are shown.

    Of the output layer, the row of A is left, and that of B is its negative.
    """
    folders = []
    for name, token in (("first", "r"), ("second", "t")):
        folder = save_tiny_vision("llava", tmp_path_factory.mktemp("model") / name)
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        network: Any = AutoModelForImageTextToText.from_pretrained(folder)
        a, b, other = tokenizer.convert_tokens_to_ids(["A", "B", token])
        weights = network.get_output_embeddings().weight
        with torch.no_grad():
            row = weights[other].clone()
            weights.zero_()
            weights[a], weights[b] = row, -row
        network.save_pretrained(folder)
        folders.append(folder)
    return folders


def compare_with_our_runs(
    logs: Sequence[Path], replies: Sequence[dict[str, str]], task: Task, folder: Path
) -> None:
    """The comparison of two logs is that of our runs on the same replies, to 1e-12."""
    results = api.results(logs)
    assert [logged.manifest.notes for logged in results.runs] == [[], []]
    (theirs,) = results.compare(strict=True)
    runs = []
    for number, by_question in enumerate(replies):
        rows = []
        for question in task.questions:
            answer = question.options["AB".index(by_question[question.id])]
            row = {"question": question.id, "template": choice_task(task).templates[0].name}
            rows.append(json.dumps({**row, "answer": answer}))
        path = folder / f"{number}.jsonl"
        path.write_text("\n".join(rows))
        runs.append(run(load_model(f"answers:{path}"), choice_task(task), folder, Settings()))
    (ours,) = api.Results(tuple(runs)).compare(strict=True)
    assert theirs.n == ours.n == QUESTIONS
    for name in ("value_a", "value_b", "low", "high", "p_signflip", "p_bootstrap", "p_mcnemar"):
        assert getattr(theirs, name) == pytest.approx(getattr(ours, name), abs=1e-12), name
    # replies that nobody made up: they differ between pictures and between models
    assert len({tuple(by_question.items()) for by_question in replies}) == 2
    assert all(len(set(by_question.values())) == 2 for by_question in replies)


@pytest.mark.slow
def test_lm_eval(
    task: Task, models: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `hf-multimodal`, with generated answers."""
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.models.hf_vlms import HFMultimodalLM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    export(task, tmp_path / "exported", "lm-eval")
    logs: list[Path] = []
    replies = []
    for folder in models:
        model = HFMultimodalLM(pretrained=str(folder), device="cpu", dtype="float32", batch_size=1)
        evaluated = lm_eval.simple_evaluate(
            model,
            tasks=["small_one"],
            task_manager=TaskManager(
                include_path=str(tmp_path / "exported"), include_defaults=False
            ),
            log_samples=True,
            bootstrap_iters=0,
            apply_chat_template=True,
            gen_kwargs="max_gen_toks=1",
        )
        ((name, samples),) = evaluated["samples"].items()
        tracker = EvaluationTracker(output_path=str(tmp_path / folder.name))
        tracker.save_results_aggregated({"results": evaluated["results"]}, evaluated["samples"])
        tracker.save_results_samples(name, samples)
        logs += (tmp_path / folder.name).rglob("samples_*.jsonl")
        replies.append(
            {sample["doc"]["id"].partition("/")[0]: sample["resps"][0][0] for sample in samples}
        )
    compare_with_our_runs(logs, replies, task, tmp_path)


@pytest.mark.slow
def test_lmms_eval(task: Task, models: list[Path], tmp_path: Path) -> None:
    """Its `llava_hf`, by its own command, in the interpreter that SEESAY_LMMS_PYTHON names."""
    python = os.environ.get("SEESAY_LMMS_PYTHON")
    if python is None:
        absent("SEESAY_LMMS_PYTHON names no interpreter with lmms-eval")
    export(task, tmp_path / "exported", "lmms-eval")
    logs: list[Path] = []
    replies = []
    for folder in models:
        # it fills in a template of texts, and not one of messages in parts
        (folder / "chat_template.jinja").write_text(TEMPLATE)
        arguments = {
            "--model": "llava_hf",
            "--model_args": f"pretrained={folder},device=cpu,device_map=cpu,dtype=float32",
            "--tasks": "small_one",
            "--include_path": str(tmp_path / "exported"),
            "--gen_kwargs": "max_new_tokens=1",
            "--output_path": str(tmp_path / folder.name),
        }
        command = [python, "-m", "lmms_eval", "--force_simple", "--log_samples"]
        for option, value in arguments.items():
            command += [option, value]
        environment = {
            **os.environ,
            "PYTHONPATH": "",
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        }
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        (log,) = (tmp_path / folder.name).rglob("*_samples_*.jsonl")
        assert done.returncode == 0, done.stderr
        logs.append(log)
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        replies.append({f"q{row['doc_id']}": row["filtered_resps"] for row in rows})
    compare_with_our_runs(logs, replies, task, tmp_path)
