"""Conditions of one run compared, thing by thing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.needs import absent

from seesay.errors import UserError
from seesay.models import load_model
from seesay.pictures import icons
from seesay.pictures.conditions import contrasts
from seesay.questions import Slice
from seesay.reports.pages.runs import render
from seesay.runs.ask import Settings, limit_questions, run
from seesay.tasks import load_task


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "other"), [("prior-color", "counterfactual"), ("prior-size", "reversed")]
)
def test_contrasts_and_gallery(name: str, other: str, tmp_path: Path) -> None:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))
    task = limit_questions(load_task(name), 150, 0)
    same = "typical" if name == "prior-color" else "world"
    prior, mock = (
        run(load_model(model), task, tmp_path, Settings(resamples=200))
        for model in ("baseline:prior", "mock")
    )
    by_pair = {(contrast.a, contrast.b): contrast for contrast in contrasts(prior)}
    here = by_pair[
        Slice.of(question_type="here", condition=other),
        Slice.of(question_type="here", condition=same),
    ]
    assert (here.between.value_a, here.between.value_b, here.between.difference) == (0.0, 1.0, -1.0)
    assert here.p == pytest.approx(1 / 201)
    assert here.p <= here.p_holm <= 1
    usually = by_pair[
        Slice.of(question_type="usually", condition=other), Slice.of(question_type="blind")
    ]
    assert (usually.between.difference, usually.p) == (0.0, 1.0)
    assert usually.n == here.n
    page = render([prior, mock])
    assert page.count('<li class="pulled">') >= 12
    assert "the usual answer pulls" in page
    assert "data:image/png;base64," in page
