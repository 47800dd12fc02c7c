"""A finished run is shown without loading its model; a model that has changed, or that is needed,
is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import load_file
from tests.tiny import save_tiny

import seesay
from seesay.caches import IDENTITIES
from seesay.models import ModelOptions, load_model
from seesay.models.deferred import DeferredModel, load_when_asked
from seesay.tasks import load_task


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    return save_tiny("bert", tmp_path / "bert")


def test_parameters_are_counted_and_remembered(folder: Path) -> None:
    """As many as the tensors of the file have elements: none of this network's is used twice."""
    tensors = load_file(folder / "model.safetensors")
    elements = sum(tensor.size for tensor in tensors.values())
    loaded = load_when_asked(str(folder), ModelOptions())
    remembered = load_when_asked(str(folder), ModelOptions())
    assert isinstance(remembered, DeferredModel)
    assert loaded.parameters == remembered.parameters == elements


def test_a_finished_run_is_shown_without_pytorch(folder: Path, tmp_path: Path) -> None:
    first = seesay.probe(str(folder), "core-color", limit=3, output=tmp_path / "runs")
    script = (
        "import sys, seesay\n"
        f"again = seesay.probe({str(folder)!r}, 'core-color', limit=3, "
        f"output={str(tmp_path / 'runs')!r})\n"
        "print(again.figures[0].value, [name for name in ('torch', 'transformers') if name in "
        "sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert shown.stdout.split(maxsplit=1) == [str(first.figures[0].value), "[]\n"]


def test_a_model_that_is_needed_is_loaded_and_gives_its_own_answers(folder: Path) -> None:
    options = ModelOptions()
    plain = load_model(str(folder), options)
    assert type(load_when_asked(str(folder), options)) is type(plain)  # nothing is remembered yet
    deferred = load_when_asked(str(folder), options)
    assert isinstance(deferred, DeferredModel)
    assert (deferred.name, deferred.fingerprint, deferred.scope) == (
        plain.name,
        plain.fingerprint,
        plain.scope,
    )
    assert deferred.abilities == plain.abilities
    assert deferred.accepts == plain.accepts
    task = load_task("core-color")
    deferred.prepare(task)
    prompts = [task.templates[0].ask(question) for question in task.questions[:5]]
    assert deferred.plan(prompts) == plain.plan(prompts)
    assert deferred.answer(prompts) == plain.answer(prompts)


def test_changed_files_and_other_options_are_another_model(folder: Path) -> None:
    load_when_asked(str(folder), ModelOptions())
    assert not isinstance(
        load_when_asked(str(folder), ModelOptions(dtype="float64")), DeferredModel
    )
    before = load_model(str(folder)).fingerprint
    save_tiny("bert", folder, hidden_size=24)
    changed = load_when_asked(str(folder), ModelOptions())
    assert not isinstance(changed, DeferredModel)
    assert changed.fingerprint != before


def test_replaced_weights_of_equal_size_and_time_are_another_model(folder: Path) -> None:
    before = load_when_asked(str(folder), ModelOptions())
    assert isinstance(load_when_asked(str(folder), ModelOptions()), DeferredModel)
    weights = folder / "model.safetensors"
    stat = weights.stat()
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = load_when_asked(str(folder), ModelOptions())
    assert not isinstance(after, DeferredModel)
    assert after.fingerprint != before.fingerprint


def test_another_chat_template_is_another_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no part of the fingerprint, but a model that is asked through it states its digest."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    folder = save_tiny("llama", tmp_path / "llama")
    template = folder / "chat_template.jinja"
    options = ModelOptions(chat=True)
    digests = []
    for mark in ("User", "Human"):
        template.write_text("{% for m in messages %}" + mark + ": {{ m['content'] }}{% endfor %}")
        model = load_when_asked(str(folder), options)
        assert not isinstance(model, DeferredModel)
        assert load_when_asked(str(folder), options).chat == model.chat
        digests.append(model.chat)
    assert digests[0] != digests[1]


def test_a_damaged_memory_is_not_believed(folder: Path, tmp_path: Path) -> None:
    load_when_asked(str(folder), ModelOptions())
    (memory,) = IDENTITIES.folder.iterdir()
    for damage in ("", "[]", '{"name": "bert"}', "{" * 100_000):
        memory.write_text(damage)
        assert not isinstance(load_when_asked(str(folder), ModelOptions()), DeferredModel)
    whole = json.loads(memory.read_text())
    for field in whole:
        for value in (7, [7], {"a": 1}, 0.5):
            if type(value) is not type(whole[field]) or value == [7]:
                memory.write_text(json.dumps({**whole, field: value}))
                assert not isinstance(load_when_asked(str(folder), ModelOptions()), DeferredModel)


def test_baselines_and_servers_are_loaded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        assert not isinstance(load_when_asked("baseline:uniform", ModelOptions()), DeferredModel)
    assert not IDENTITIES.root.exists()
