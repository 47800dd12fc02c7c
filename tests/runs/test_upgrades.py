"""Run folders of format 1 open with today's fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.runs.made_up import Counting, task

from seesay.questions import BadRow, DataSource
from seesay.runs import store
from seesay.runs.ask import Settings, run
from seesay.runs.records import Manifest
from seesay.runs.upgrades import FORMAT

OLD_DATA = [
    "results/size.csv sha256:0123456789abcdef (as published)",
    "mine.csv sha256:fedcba9876543210 (not verified)",
    "1 of 43,096 rows in no split: each is rounded down (as published)",
]


def rewritten_as_format_1(folder: Path) -> None:
    """The run's files as the first version wrote them."""
    path = folder / store.MANIFEST
    manifest: dict[str, Any] = json.loads(path.read_text())
    for field in ("format", "probe", "probe_seed", "data_notes", "digests"):
        del manifest[field]
    manifest |= {
        "data": OLD_DATA,
        "bad_rows": ["row 2: not JSON", "something else"],
        "model": "minilm · linear · seed 3",
        "family": "linear",
    }
    path.write_text(json.dumps(manifest))
    path = folder / store.QUESTIONS
    stored: dict[str, Any] = json.loads(path.read_text())
    for field in ("data_notes", "as_published", "choice_templates", "linear_text", "linear_published"):
        del stored[field]
    path.write_text(json.dumps({**stored, "data": OLD_DATA, "bad_rows": [{"row": 2, "reason": "not JSON"}]}))


def test_a_run_of_format_1_opens(tmp_path: Path) -> None:
    done = run(Counting(), task(), tmp_path, Settings(resamples=100))
    assert done.manifest.format == FORMAT
    rewritten_as_format_1(done.folder)
    old = store.read_run(done.folder)
    sources = [
        DataSource("results/size.csv", "0123456789abcdef", as_published=True),
        DataSource("mine.csv", "fedcba9876543210", as_published=False),
    ]
    assert (old.manifest.data, list(old.task.data)) == (sources, sources)
    assert (old.manifest.data_notes, list(old.task.data_notes)) == (OLD_DATA[2:], OLD_DATA[2:])
    assert old.manifest.bad_rows == [BadRow(2, "not JSON"), BadRow(0, "something else")]
    assert old.task.bad_rows == (BadRow(2, "not JSON"),)
    assert (old.manifest.probe, old.manifest.probe_seed, old.manifest.format) == ("minilm · linear", 3, 1)
    assert old.answers == done.answers
    assert old.figures == done.figures


def test_the_folder_of_a_run_is_the_one_it_always_had(tmp_path: Path) -> None:
    """The key of the first version, computed by it: runs that were started with it are found and resumed."""
    manifest = Manifest(
        seesay="0.1.0", created="", command="", model="m", family="f", model_fingerprint="p", task="t",
        task_version="1", task_fingerprint="q", templates=["a"], questions=3, limit=None, scope="s", length="sum",
        seed=0, resamples=100, signature="x", environment={},
    )  # fmt: skip
    assert store.folder_for(tmp_path, manifest) == tmp_path / "m" / "t" / "421481ddd2"
