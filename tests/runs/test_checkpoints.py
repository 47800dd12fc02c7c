"""Checkpoints by their names, on the Hub and in folders, and when facts are learnt."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.cli.program import error_of, seesay
from tests.runs.made_up import Counting, task
from tests.tiny import save_tiny

from seesay import api
from seesay.errors import UserError
from seesay.models import ModelOptions
from seesay.models.source import ModelSource
from seesay.questions import Prompt, Scores
from seesay.runs.ask import Settings, run
from seesay.runs.checkpoints import parse_checkpoint


@pytest.mark.parametrize(
    ("name", "training", "step"),
    [
        ("EleutherAI/pythia-70m@step1000", "EleutherAI/pythia-70m", 1000),
        ("allenai/OLMo-2@stage1-step150-tokens1B", "allenai/OLMo-2", 150),
        ("mine/checkpoint-20", "mine", 20),
        ("/models/mine/checkpoint-20", "/models/mine", 20),
        ("mine@step_7", "mine", 7),
    ],
)
def test_a_name_states_its_step(name: str, training: str, step: int) -> None:
    assert parse_checkpoint(name) == (training, step)


@pytest.mark.parametrize("name", ["EleutherAI/pythia-70m", "a@main", "checkpoint-20", "smollm2"])
def test_a_name_without_a_step_is_no_checkpoint(name: str) -> None:
    assert parse_checkpoint(name) is None


@dataclass
class Learner(Counting):
    """Knows the first `known` questions, and is wrong about the others."""

    known: int = 0
    forgotten: tuple[int, ...] = ()

    def answer(self, prompts: list[Prompt]) -> list[Scores]:  # type: ignore[override]
        """The right color, or the one after it."""
        scores = []
        for prompt in prompts:
            number = int(re.findall(r"thing (\d+)", prompt.text)[0])
            is_right = number < self.known and number not in self.forgotten
            place = (number + (not is_right)) % 3
            logps = tuple(0.0 if option == place else -9.0 for option in range(3))
            scores.append(Scores(logps, (1, 1, 1), (1, 1, 1)))
        return scores


def test_a_fact_is_learnt_where_it_stays(tmp_path: Path) -> None:
    asked = task(6, neutral=False)
    for step, known, forgotten in ((10, 2, ()), (20, 4, (0,)), (30, 5, ())):
        model = Learner(f"mine/checkpoint-{step}", known=known, forgotten=forgotten)
        model.fingerprint = str(step)
        run(model, asked, tmp_path, Settings(resamples=100))
    (curve,) = api.results(tmp_path).checkpoints()
    assert [(figure.step, round(figure.value * 6)) for figure in curve.figures] == [
        (10, 2),
        (20, 3),
        (30, 5),
    ]
    # the first was known, forgotten, and learnt again
    assert [(fact.first, fact.step) for fact in curve.facts] == [
        (10, 30),
        (10, 10),
        (20, 20),
        (20, 20),
        (30, 30),
        (None, None),
    ]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Hub's layout on disk: two revisions of a model, with a tiny network under each."""
    folder = tmp_path_factory.mktemp("hub")
    copy = folder / "models--owner--tiny"
    (copy / "refs").mkdir(parents=True)
    for number, revision in enumerate(("step10", "step20")):
        commit = f"{number}" * 40
        save_tiny("bert", folder / revision, num_hidden_layers=number + 1)
        shutil.move(folder / revision, copy / "snapshots" / commit)
        (copy / "refs" / revision).write_text(commit)
    return folder


@pytest.mark.seconds
def test_revisions_of_the_hub_are_models_of_their_own(hub: Path, tmp_path: Path) -> None:
    """Offline, from the copies on this machine."""
    where = {"HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1"}
    options = ("--task", "core-color", "--limit", "20", "-o", tmp_path, "--resamples", "100")
    done = seesay(
        "probe", "owner/tiny", "--revisions", "step20,step10", *options, "--json", **where
    )
    assert done.returncode == 0, done.stderr
    (curve,) = json.loads(done.stdout)
    assert [figure["step"] for figure in curve["figures"]] == [10, 20]
    fingerprints = {
        result.manifest.model: result.manifest.model_fingerprint
        for result in api.results(tmp_path).runs
    }
    assert fingerprints == {"owner/tiny@step10": "0" * 40, "owner/tiny@step20": "1" * 40}
    pattern = error_of("probe", "owner/tiny", "--revisions", "step*", *options, **where)
    assert "The hub did not list the revisions of 'owner/tiny'" in pattern
    missing = error_of("probe", "owner/tiny@step30", *options, **where)
    assert "the model hub did not provide it" in missing


class Refs(BaseHTTPRequestHandler):
    """Answers as the Hub does when it is asked for a model's branches and tags."""

    def do_GET(self) -> None:
        """List three branches and a tag."""
        names = ("main", "step20", "step10")
        branches = [
            {"name": name, "ref": f"refs/heads/{name}", "targetCommit": "0" * 40} for name in names
        ]
        tags = [{"name": "step5", "ref": "refs/tags/step5", "targetCommit": "1" * 40}]
        content = json.dumps({"branches": branches, "converts": [], "tags": tags}).encode()
        is_known = self.path.startswith("/api/models/owner/tiny/refs")
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refs)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.seconds
def test_a_pattern_is_looked_up_among_branches_and_tags(address: str, tmp_path: Path) -> None:
    code = (
        "from seesay.models import ModelOptions; "
        "from seesay.runs.checkpoints import list_checkpoints; "
        "print(*list_checkpoints('owner/tiny', 'step*', ModelOptions()))"
    )
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [f"owner/tiny@step{step}" for step in (5, 10, 20)], done.stderr
    where = {"HF_ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path)}
    options = ("--task", "core-color", "-o", tmp_path / "runs")
    unknown = error_of("probe", "owner/tiny", "--revisions", "epoch*", *options, **where)
    assert "'owner/tiny' has no revision 'epoch*'" in unknown


def test_a_revision_is_named_once() -> None:
    source = ModelSource.parse("owner/tiny@step10", ModelOptions())
    assert (source.name, source.place, source.revision) == (
        "owner/tiny@step10",
        "owner/tiny",
        "step10",
    )
    for name in ("owner/tiny@", "owner/tiny@step10"):
        with pytest.raises(UserError, match="names its revision after the @"):
            ModelSource.parse(name, ModelOptions(revision="step20"))
