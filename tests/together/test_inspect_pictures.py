"""Tasks of an instrument in inspect_ai: pictures, and questions that are nested."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.export.test_inspect_tasks import evaluate, figures_of, our_figures

from seesay.probes.choice import choice_task
from seesay.runs.ask import limit_questions
from seesay.tasks import load_task


@pytest.mark.seconds
def test_nested_questions_have_figures_of_their_own(tmp_path: Path) -> None:
    """Pictures among them; what is asked with and without one is never put together."""
    replies = ("ANSWER: A", "ANSWER: J")
    log = evaluate(tmp_path, "seesay/prior_color", replies, limit=60)
    task = choice_task(limit_questions(load_task("prior-color"), 60, 0))
    theirs = figures_of(log)
    assert "accuracy" not in theirs
    for part, figure in our_figures(task, log, tmp_path).items():
        assert part is not None
        name = part["question_type"]
        assert theirs[f"{name} accuracy"] == pytest.approx(figure.value, abs=1e-12)
        assert theirs[f"{name} low"] == pytest.approx(figure.low, abs=1e-9)
        assert theirs[f"{name} high"] == pytest.approx(figure.high, abs=1e-9)
    pictured = [question.id for question in task.questions if question.picture]
    shown = [
        sample.metadata["question"]
        for sample in log.samples
        if not isinstance(sample.input, str) and sample.input[0].content[0].type == "image"
    ]
    assert sorted(shown) == sorted(pictured)
    assert pictured
