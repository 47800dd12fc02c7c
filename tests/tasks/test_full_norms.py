"""Property norms at full size, from a file made up by a seed: counts, figures beside
scikit-learn's, and memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.full_norms import CONCEPTS, ENTRIES, WORDS, write_full_norms

from seesay.models import load_model
from seesay.questions import Slice
from seesay.reports.groups import group_runs
from seesay.reports.pages import run_views
from seesay.runs import store
from seesay.runs.ask import Settings, run
from seesay.runs.run import Run
from seesay.tasks import load_task

pytestmark = pytest.mark.seconds
# scikit-learn takes its time: benchmarks/norms.py checks all five
SEGMENTS = ("pf>=10", "pf>=20", "pf>=30")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All questions in three of the nine templates, asked of `baseline:random`; the benchmark takes
    all nine."""
    folder = write_full_norms(tmp_path_factory.mktemp("norms"))
    task = load_task("property-norms", folder / "norms.dat")
    task = replace(task, templates=task.templates[::4])
    return run(load_model("baseline:random"), task, folder / "runs", Settings(resamples=100))


def test_every_segment_has_its_entries(done: Run) -> None:
    assert [note.partition(";")[0] for note in done.task.provenance.notes[-5:]] == [
        f"entries of pf>={segment}: {count:,} (as published)" for segment, count in ENTRIES.items()
    ]
    assert (len({q.object for q in done.task.questions}), len(done.task.labels)) == (
        CONCEPTS,
        WORDS,
    )
    assert [str(part) for part in done.task.parts] == [
        f"segment=pf>={segment}" for segment in ENTRIES
    ]


def test_the_mean_average_precision_is_scikit_learns(done: Run) -> None:
    reference = pytest.importorskip("sklearn.metrics").average_precision_score
    template, options = done.task.templates[1], done.task.labels
    questions = {q.id: q for q in done.task.questions}
    by_segment: dict[str, list[float]] = {}
    for answer in done.answers:
        question = questions[answer.question]
        if answer.template == template.name and question.tags["segment"] in SEGMENTS:
            gold = [label in question.gold for label in options]
            by_segment.setdefault(question.tags["segment"], []).append(
                reference(gold, answer.scores.logp)
            )
    figures = {(f.metric, f.template, f.slice): f for f in done.figures}
    assert sorted(by_segment) == list(SEGMENTS)
    for segment, expected in by_segment.items():
        figure = figures["average_precision", template.name, Slice.of(segment=segment)]
        assert figure.value == pytest.approx(np.mean(expected), abs=1e-12, rel=0)
        assert figure.n == len(expected)


def test_chance_is_what_a_random_order_gets(done: Run) -> None:
    headline = [
        f for f in done.figures if f.metric == "average_precision" and f.slice in done.task.parts
    ]
    whole = headline[0]
    assert whole.chance is not None
    assert whole.low < whole.chance < whole.high
    assert whole.value == pytest.approx(whole.chance, rel=0.05)


def test_what_is_shared_is_stored_and_held_once(done: Run) -> None:
    """Nested questions are asked once: their rows share their scores, in memory as in the file."""
    pairs = {(q.fields["thing"], q.fields["relation"]) for q in done.task.questions}
    for answers in (done.answers, store.read_answers(done.folder / store.ANSWERS)):
        assert len(set(answers.places)) == 3 * len(pairs) < len(answers) / 2
        assert len(set(answers.neutral_places)) == 3 * 4
        assert len(answers.columns) == 3 * len(pairs) + 3 * 4
        assert len(set(answers.columns.chars)) == 1
        assert len(answers.columns.lengths) == 2  # in tokens, and in characters
    # bytes, compressed or not
    assert (done.folder / store.ANSWERS).stat().st_size < 3 * len(pairs) * WORDS * 9
    assert (done.folder / store.QUESTIONS).stat().st_size < 4_000_000


def test_every_panel_of_the_papers_figures(done: Run) -> None:
    (group,) = group_runs([done])
    panels = {title: len(charts) for title, charts in run_views.curves(group)}
    assert panels["segment"] == 1
    assert panels["relation × segment"] == 4
    assert panels["template × segment"] == 3
    assert panels["domain × segment"] == 2
