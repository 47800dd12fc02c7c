"""Every kind of model that sees, asked prior-color through the real path; a real server that looks
by a rule."""

from __future__ import annotations

import base64
import json
import math
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from tests.models.vision.test_dual_encoder import save_dual
from tests.models.vision.tiny_vision import save_tiny_vision
from tests.needs import absent

from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.options import ModelOptions
from seesay.pictures import icons
from seesay.pictures.look import dominant_color
from seesay.questions import Slice, Task
from seesay.runs.ask import Settings, limit_questions, run
from seesay.tasks import load_task


@pytest.fixture(scope="module")
def task() -> Task:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))
    torch.set_num_threads(1)
    task = limit_questions(load_task("prior-color"), 10, 0)
    return replace(task, templates=task.templates[:1])


@pytest.mark.parametrize("kind", ["llava", "qwen2-vl", "smolvlm", "blip", "clip", "siglip"])
def test_vision_models(kind: str, task: Task, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    save = save_dual if kind in ("clip", "siglip") else save_tiny_vision
    model = load_model(f"vision:{save(kind, folder)}")
    finished = run(model, task, tmp_path / "runs", Settings(resamples=100))
    assert {question.tags["question_type"] for question in finished.task.questions} == {
        "here",
        "usually",
        "blind",
    }
    for answer in finished.answers:
        assert len(answer.scores.logp) == 11
        assert all(math.isfinite(logp) for logp in answer.scores.logp)
    measured = {figure.metric for figure in finished.figures}
    assert measured >= {
        "relaxed_accuracy",
        "prior_pull",
        "prior_log_odds",
        "picture_pull",
        "gain_over_blind",
    }
    needs_picture = kind in ("blip", "clip", "siglip")
    assert any("plain gray" in note for note in finished.manifest.notes) == needs_picture


def test_opposite_log_odds_have_opposite_intervals(tmp_path: Path) -> None:
    """Who always says the most frequent colour is pulled by the prior as far as it is not by the
    picture."""
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))
    settings = Settings(limit=20)
    finished = run(
        load_model("baseline:majority"), load_task("prior-color"), tmp_path / "runs", settings
    )
    parts = {"prior_log_odds": "here", "picture_log_odds": "usually"}
    ends = {
        figure.metric: [figure.value, figure.low, figure.high]
        for figure in finished.figures
        if figure.template is None
        and figure.slice == Slice.of(question_type=parts.get(figure.metric, ""))
    }
    assert ends["prior_log_odds"] == pytest.approx([0.794, -0.492, 2.080], abs=5e-4)
    assert ends["picture_log_odds"] == pytest.approx([-0.794, -2.080, 0.492], abs=5e-4)


class Looking(BaseHTTPRequestHandler):
    """Speaks OpenAI's vision format: names the colour that it sees, and says yellow where there is
    no picture."""

    pictures: ClassVar[int] = 0
    folder: ClassVar[Path]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        color = "yellow"
        for part in body["messages"][-1]["content"]:
            if part["type"] == "image_url":
                type(self).pictures += 1
                path = self.folder / f"{self.pictures}.png"
                path.write_bytes(base64.b64decode(part["image_url"]["url"].partition("base64,")[2]))
                color = dominant_color(path)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": color}}
        if body.get("logprobs"):
            top = [{"token": color.title(), "logprob": -0.1}, {"token": "zebra", "logprob": -9.0}]
            choice["logprobs"] = {
                "content": [{"token": color, "logprob": -0.1, "top_logprobs": top}]
            }
        answer = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    Looking.folder, Looking.pictures = tmp_path, 0
    running = HTTPServer(("127.0.0.1", 0), Looking)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()


def test_vision_server(server: str, task: Task, tmp_path: Path) -> None:
    model = load_model("openai-vision:looking", ModelOptions(base_url=server))
    finished = run(model, task, tmp_path / "runs", Settings(resamples=100))
    values = {
        (figure.metric, str(figure.slice)): figure.value
        for figure in finished.figures
        if not figure.template
    }
    assert values["relaxed_accuracy", str(Slice.of(question_type="here"))] >= 0.9
    assert values["picture_pull", str(Slice.of(question_type="usually"))] >= 0.9
    assert values["prior_pull", str(Slice.of(question_type="here"))] <= 0.1
    with_picture = sum(bool(question.picture) for question in task.questions)
    assert Looking.pictures == with_picture * len(task.templates)


@pytest.mark.parametrize("missing", ["PIL", "resvg_py"])
@pytest.mark.parametrize("name", ["prior-color", "prior-size", "kind-size"])
def test_one_sentence_names_all_that_pictures_need(
    monkeypatch: pytest.MonkeyPatch, name: str, missing: str
) -> None:
    """Whichever package is missing, and whether its pictures were drawn before or not."""
    module = f"{missing}.Image" if missing == "PIL" else missing
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=f"'{name}' needs an extra .*seesay\\[pictures\\]"):
        load_task(name)
