"""Start-up: what asking a model does not need is not imported, and is there for whoever needs it."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pytest

from seesay.models.hf import loading
from seesay.models.hf.light_imports import Distributions

PROGRAM = """
import sys
from seesay.models.hf.light_imports import import_transformers, without_compiler
transformers = import_transformers()
import torch
heavy = ("torch._dynamo", "torch.distributed.tensor", "scipy.optimize")
config = transformers.LlamaConfig(
    vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
)
with without_compiler(), torch.device("meta"):
    transformers.AutoModelForCausalLM.from_config(config)
assert not [name for name in heavy if name in sys.modules], [name for name in heavy if name in sys.modules]

from transformers import masking_utils
from transformers.loss import loss_for_object_detection as detection
assert type(masking_utils.TransformGetItemToIndex()).__module__ == "torch._dynamo._trace_wrapped_higher_order_op"
assert detection.linear_sum_assignment([[1, 0], [0, 1]])[1].tolist() == [1, 0]
with without_compiler():
    import torch._dynamo
    assert torch._dynamo.is_compiling() is False
assert all(sys.modules[name].__file__ for name in ("torch._dynamo", "scipy.optimize"))
"""


def test_heavy_modules_wait_until_they_are_needed() -> None:
    finished = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_distributions_are_found_by_name_or_by_search() -> None:
    distributions = Distributions()
    assert distributions["numpy"] == ["numpy"]
    assert distributions.get("PIL") in (["pillow"], ["Pillow"])
    assert distributions.get("flash_attn", []) == metadata.packages_distributions().get("flash_attn", [])
    assert distributions.get("no_such_package") is None


def test_the_digest_of_large_files_is_remembered_until_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loading, "LARGE", 4)
    file = tmp_path / "weights"
    file.write_bytes(b"12345")
    first = loading.file_digest([file])
    assert not (tmp_path / "cache").exists()  # it has just been written, and may still change within a tick
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 60)
    assert loading.file_digest([file]) == first
    (remembered,) = (tmp_path / "cache" / "digests").iterdir()
    remembered.write_text("0" * 16)
    assert loading.file_digest([file]) == "0" * 16
    remembered.write_text("damaged")
    assert loading.file_digest([file]) == first
    file.write_bytes(b"12346")
    assert loading.file_digest([file]) != first
