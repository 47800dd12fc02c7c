"""A language model that was given sight is asked prior-color like any other model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny import save_tiny

from seesay.language.seeing.prefix_model import LanguageModel, save
from seesay.language.seeing.prefix_network import PrefixProjector
from seesay.models import load_model
from seesay.models.options import ModelOptions
from seesay.models.picture_encoder import open_picture_encoder
from seesay.runs.ask import Settings, run
from seesay.tasks import load_task

pytest.importorskip("resvg_py", reason="pictures cannot be drawn")


@pytest.mark.seconds
def test_it_is_blind_where_there_is_no_picture_and_sees_where_there_is(tmp_path: Path) -> None:
    place = save_tiny("llama", tmp_path / "language")
    language_model = LanguageModel.load(str(place), ModelOptions(device="cpu"))
    torch.manual_seed(0)
    projector = PrefixProjector(64, 16, 3, language_model.words.embedding_dim)
    seeing = tmp_path / "seeing"
    seeing.mkdir()
    save(seeing, projector, language_model, open_picture_encoder("color-histogram"))
    task = load_task("prior-color")
    thing = next(question.object for question in task.questions if question.picture is None)
    questions = tuple(question for question in task.questions if question.object == thing)
    task = replace(task, questions=questions, neutral={})
    scores = {}
    for folder in (place, seeing):
        finished = run(load_model(str(folder)), task, tmp_path / "runs", Settings(resamples=100))
        for answer in finished.answers:
            scores[folder, answer.question, answer.template] = answer.scores.logp
    pictures = {question.id: question.picture for question in questions}
    by_picture: dict[str | None, list[float]] = {}
    for (folder, question, template), logp in scores.items():
        if folder == seeing and template == task.templates[0].name:
            by_picture[pictures[question]] = list(logp)
        # the language model alone is asked what has no picture
        if folder == place:
            assert pictures[question] is None
            assert logp == pytest.approx(scores[seeing, question, template], abs=1e-4)
    assert len(by_picture) > 3
    distinct = {tuple(np.round(logp, 4)) for logp in by_picture.values()}
    assert len(distinct) == len(by_picture)
