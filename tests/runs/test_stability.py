"""The stability of a ranking over templates: by hand, beside SciPy, and through the command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from seesay import api
from seesay.cli import main
from seesay.errors import UserError
from seesay.questions import Question, Task, Template
from seesay.runs.stability import mean_tau


def test_tau_beside_scipy() -> None:
    kendalltau = pytest.importorskip("scipy.stats").kendalltau
    draw = np.random.default_rng(0)
    figures = draw.integers(0, 6, (4, 5)).astype(float)  # ties among them
    taus = [kendalltau(a, b).statistic for a, b in combinations(figures, 2)]
    assert mean_tau(figures[None])[0] == pytest.approx(np.mean(taus), abs=1e-12)


def test_a_template_without_a_ranking_is_left_out() -> None:
    figures = np.array([[1.0, 2, 3], [1, 2, 3], [5, 5, 5]])
    assert mean_tau(figures[None])[0] == 1.0
    assert np.isnan(mean_tau(figures[None, 1:])[0])


def stored(task: Task, right: dict[str, int], path: Path) -> str:
    """A file of answers that has the first so many questions right in each template."""
    rows = [
        {"question": q.id, "template": name, "logp": [-0.1, -3.0] if i < count else [-3.0, -0.1]}
        for name, count in right.items()
        for i, q in enumerate(task.questions)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"answers:{path}"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    templates = tuple(Template(name, f"{name}: {{thing}} is [MASK].") for name in ("a", "b", "c"))
    questions = tuple(
        Question(f"q{i}", {"thing": f"t{i}"}, ("yes", "no"), {"yes": 1.0}, f"t{i}")
        for i in range(40)
    )
    task = Task("made-up", "1", "", templates, questions, ("accuracy",))
    # by a and b the order is one, two, three; by c the other way round, and so far that c decides
    # the mean
    models = [("one", 20, 20, 2), ("two", 19, 19, 20), ("three", 18, 18, 38)]
    names = [
        stored(task, {"a": a, "b": b, "c": c}, tmp_path / f"{name}.jsonl")
        for name, a, b, c in models
    ]
    api.probe(names, task, output=tmp_path / "runs", resamples=100)
    return tmp_path / "runs"


def test_the_template_that_decides(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ranking,) = api.results(runs).stability(resamples=200)
    assert ranking.tau == pytest.approx((1 - 1 - 1) / 3)
    assert ranking.tau is not None
    assert ranking.low is not None
    assert ranking.high is not None
    assert ranking.low <= ranking.tau <= ranking.high
    assert ranking.decisive == "c"
    by_name = {row.template: row for row in ranking.templates}
    assert (by_name["c"].tau, by_name["c"].tau_without) == (1.0, -1.0)
    assert (by_name["a"].tau, by_name["a"].tau_without) == (-1.0, 1.0)
    assert "three" in by_name["c"].best
    with pytest.raises(SystemExit):
        main(["compare", str(runs), "--stability", "--resamples", "100", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["decisive"] == "c"
    with pytest.raises(SystemExit):
        main(["compare", str(runs), "--stability", "--resamples", "100"])
    assert "decides the order" in " ".join(capsys.readouterr().out.split())


def test_one_model_has_no_ranking(runs: Path) -> None:
    with pytest.raises(UserError, match="two models"):
        replace(results := api.results(runs), runs=results.runs[:1]).stability()


def test_further_metrics_of_runs(runs: Path) -> None:
    results = api.results(runs).measured("brier", "expected_calibration_error")
    figures = [
        figure for figure in results.figures if figure.metric == "brier" and figure.template == "a"
    ]
    assert len(figures) == 3
    share = 1 / (1 + np.exp(-2.9))  # of the option at −0.1 beside the one at −3
    expected = (20 * 2 * (1 - share) ** 2 + 20 * 2 * share**2) / 40
    assert figures[0].value == pytest.approx(expected) or figures[1].value == pytest.approx(
        expected
    )
    assert all(figure.low <= figure.value <= figure.high for figure in figures)
    several = replace(results.runs[0].task.questions[0], gold={"yes": 0.5, "no": 0.5})
    run = replace(results.runs[0], task=replace(results.runs[0].task, questions=(several,)))
    with pytest.raises(UserError, match="several right answers"):
        api.Results((replace(run, figures=()),)).measured("brier")


def pairs_known(folder: Path, objects: list[str], known: dict[str, dict[str, set[str]]]) -> Path:
    """Runs of models that are right about the pairs of which they know a thing."""
    folder.mkdir()
    questions = tuple(
        Question(name, {"thing": name}, ("yes", "no"), {"yes": 1.0}, name) for name in objects
    )
    templates = tuple(Template(name, f"{name}: {{thing}} is [MASK].") for name in "ab")
    task = Task("made-up", "1", "", templates, questions, ("accuracy",))
    models = []
    for model, by_template in known.items():
        rows = []
        for template, things in by_template.items():
            for name in objects:
                is_known = bool(things & set(re.findall("t[0-9]", name)))
                logp = [-0.1, -3.0] if is_known else [-3.0, -0.1]
                rows.append({"question": name, "template": template, "logp": logp})
        path = folder / f"{model}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        models.append(f"answers:{path}")
    api.probe(models, task, output=folder / "runs", resamples=100)
    return folder / "runs"


def test_pairs_that_share_things_make_an_order_less_sure(tmp_path: Path) -> None:
    """In template a, one knows 35 of 45 pairs and two knows 17: 3.6 standard errors apart if pairs
    were independent, so that 2.5 % of the resamples do not turn the order; but five things and two
    decide it."""
    things = [f"t{number}" for number in range(10)]
    known = {
        "one": {"a": set(things[:5]), "b": set(things)},
        "two": {"a": set(things[5:7]), "b": set[str]()},
    }
    pairs = list(combinations(things, 2))
    shared = pairs_known(tmp_path / "shared", [f"{a}|{b}" for a, b in pairs], known)
    apart = pairs_known(tmp_path / "apart", [f"{a} and {b}" for a, b in pairs], known)
    (of_shared,) = api.results(shared).stability(resamples=1000)
    (of_apart,) = api.results(apart).stability(resamples=1000)
    assert (of_apart.tau, of_apart.low, of_apart.high) == (1.0, 1.0, 1.0)
    assert (of_shared.tau, of_shared.low, of_shared.high) == (1.0, -1.0, 1.0)


def test_models_that_tie_are_both_the_best(tmp_path: Path) -> None:
    names = ["baseline:uniform", "baseline:random"]
    api.probe(names, "core-size", limit=10, output=tmp_path / "runs", resamples=100)
    figures = {run.manifest.model: run.figures for run in api.results(tmp_path / "runs").runs}
    (ranking,) = api.results(tmp_path / "runs").stability(resamples=100)
    best = {row.template: row.best for row in ranking.templates}
    for a, b in zip(*figures.values(), strict=True):
        if a.template and a.metric == ranking.metric and not a.slice and a.value == b.value:
            assert best.pop(a.template) == " and ".join(ranking.models)
    assert len(best) < len(ranking.templates)
