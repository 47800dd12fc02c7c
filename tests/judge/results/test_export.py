"""From answers to tables, agreement, and a run that reports and comparisons read like any
model's."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.judge.annotators import careful, judge
from tests.judge.studies import (
    COLOURS,
    ServedStudy,
    choice_study,
    rating_study,
    serve_in_test,
    task,
)

from seesay.errors import UserError
from seesay.judge import participants
from seesay.judge.items import RatingItem
from seesay.judge.results.export import StudyExport, export_study
from seesay.judge.results.human_run import share_scores
from seesay.judge.results.quality import Judgement
from seesay.judge.storage.database import Transaction, set_setting
from seesay.judge.storage.studies import create_study, find_study, open_database, open_study
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_pairs, study_from_task
from seesay.models import ModelOptions, load_model
from seesay.reports.pages import runs as runs_page
from seesay.reports.tables import overview
from seesay.runs.ask import Settings
from seesay.runs.ask import run as ask
from seesay.runs.compare import compare
from seesay.runs.store import find_runs


def put(served: ServedStudy, judgements: list[Judgement]) -> None:
    """Put made-up judgements where people's would be."""
    people = sorted({j.person for j in judgements})

    def work(tx: Transaction) -> None:
        tx.insert(
            "person",
            ("id", "token", "source", "created", "last_active", "consented"),
            [(person, f"token {person}", "link", 0, 0, 0) for person in people],
        )
        tx.insert(
            "answer",
            ("person", "item", "value", "start", "how", "seconds", "answered_at"),
            [(j.person, j.item.id, j.value, j.start, j.how, j.seconds, 1.8e9) for j in judgements],
        )

    served.database.submit(work).result()


def choose(study: Study, people: int, right: float, seed: int = 0) -> list[Judgement]:
    """People who choose a gold label with some probability, and know every control."""
    assert study.task is not None
    gold = {
        q.id: [label for label, weight in q.gold.items() if weight] for q in study.task.questions
    }
    chance = random.Random(seed)
    judgements = []
    for person in range(1, people + 1):
        for item in (*study.measured, *study.controls_for(person)):
            labels = item.known or gold[item.base]
            label = (
                chance.choice(list(labels))
                if item.known or chance.random() < right
                else chance.choice(COLOURS)
            )
            judgements.append(
                Judgement(person, item, item.names.index(label), None, "chosen", 2.0, 0, 0.0)
            )
    return judgements


@pytest.fixture
def colours(tmp_path: Path) -> Iterator[tuple[ServedStudy, StudyExport]]:
    served = serve_in_test(choice_study(count=30), str(tmp_path / "study.sqlite"))
    put(served, choose(served.study, people=9, right=0.8))
    yield (
        served,
        export_study(
            served.database,
            served.study,
            tmp_path / "out",
            resamples=500,
            command="seesay judge export",
        ),
    )
    served.database.close()


def test_the_tables(colours: tuple[ServedStudy, StudyExport], tmp_path: Path) -> None:
    _, exported = colours
    with (exported.folder / "items.csv").open(encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    assert len(items) == 30
    assert {row["n"] for row in items} == {"9"}
    counts = dict(part.split(": ") for part in items[0]["answers"].split("; "))
    assert sum(map(int, counts.values())) == 9
    assert float(items[0]["majority_share"]) == max(map(int, counts.values())) / 9
    judgements = pq.read_table(exported.folder / "judgements.parquet").to_pylist()
    assert len(judgements) == 9 * (30 + 2)
    assert sum(row["counts"] for row in judgements) == 9 * 30
    people = pq.read_table(exported.folder / "people.parquet").to_pylist()
    assert [row["person"] for row in people] == list(range(1, 10))
    report = json.loads((exported.folder / "agreement.json").read_text(encoding="utf-8"))
    assert report["people_counted"] == 9
    assert (
        report["agreement"]["fleiss_kappa"]["low"]
        < report["agreement"]["fleiss_kappa"]["value"]
        < 1
    )


def test_report_shows_people_beside_a_model(
    colours: tuple[ServedStudy, StudyExport], tmp_path: Path
) -> None:
    served, exported = colours
    assert exported.run is not None
    assert served.study.task is not None
    model = load_model("baseline:uniform", ModelOptions())
    ask(model, served.study.task, tmp_path / "runs", Settings(resamples=500))
    runs = find_runs([exported.folder / "runs", tmp_path / "runs"])
    assert {run.manifest.family for run in runs} == {"people", "baseline"}
    assert len({run.manifest.task_fingerprint for run in runs}) == 1  # so they stand in one table
    comparisons = compare(runs, resamples=500)
    best = next(c for c in comparisons if c.metric == "relaxed_accuracy")
    ahead = best.difference if best.a == "people" else -best.difference
    assert ahead > 0.3
    text = runs_page.write(tmp_path / "page.html", runs, comparisons).read_text(encoding="utf-8")
    for name in ("people", "fleiss_kappa", "krippendorff_alpha", "leave_one_out_macro_f1"):
        assert name in text
    assert overview(runs).row_count > 8


def test_figures_follow_from_shares(colours: tuple[ServedStudy, StudyExport]) -> None:
    """True confidence of the shares is how often a person names a gold label: the honest
    single-person figure."""
    served, exported = colours
    assert exported.run is not None
    assert served.study.task is not None
    gold = {
        q.id: {label for label, weight in q.gold.items() if weight}
        for q in served.study.task.questions
    }
    rows = pq.read_table(exported.folder / "judgements.parquet").to_pylist()
    hits = [row["label"] in gold[row["item"]] for row in rows if row["counts"]]
    whole = [f for f in exported.run.figures if not f.template and not f.slice]
    confidence = next(f for f in whole if f.metric == "true_confidence")
    assert confidence.value == pytest.approx(np.mean(hits), abs=1e-5)
    assert all(np.isfinite(answer.scores.logp).all() for answer in exported.run.answers)
    assert len(exported.run.answers) == 30 * 2  # one template was asked and stands for both
    alone = next(f for f in exported.run.figures if f.metric == "leave_one_out_relaxed_accuracy")
    top = next(f for f in whole if f.metric == "relaxed_accuracy")
    assert alone.value < top.value  # one person falls short of all together
    assert not any(f.metric.startswith("calibrated_") for f in exported.run.figures)


def test_the_same_judgements_give_the_same_run(
    colours: tuple[ServedStudy, StudyExport], tmp_path: Path
) -> None:
    served, exported = colours
    again = export_study(served.database, served.study, tmp_path / "again", resamples=500)
    assert exported.run is not None
    assert again.run is not None
    assert again.run.folder.name == exported.run.folder.name
    assert again.run.figures == exported.run.figures


def test_shares_without_zeros() -> None:
    scores = share_scores([0.75, 0.25, 0.0])
    assert np.exp(scores.logp[:2]) == pytest.approx([0.75, 0.25], abs=1e-5)
    assert -16 < scores.logp[2] < -13
    assert np.exp(scores.logp).sum() == pytest.approx(1)
    assert share_scores([0.5, 0.5]).logp[0] == share_scores([0.5, 0.5]).logp[1]


def test_pairs_without_a_reference_are_measured_against_other_people(tmp_path: Path) -> None:
    study = rating_study(tmp_path, count=28, judgements=8)
    chance = random.Random(1)
    truth = {item.id: chance.random() for item in study.measured}
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    put(served, judge(study, [careful(truth)] * 12))
    exported = export_study(served.database, study, tmp_path / "out", resamples=500)
    assert exported.run is not None
    headline = exported.run.figures[0]
    assert headline.metric == "jensen_shannon"
    assert headline.value < 0.05
    assert headline.chance is not None
    assert headline.value < headline.chance
    assert "asked:slider, gold:other half" in headline.signature
    gold = {q.id: q.gold.get("similar", 0.0) for q in exported.run.task.questions}
    answers = {a.question: float(np.exp(a.scores.logp[1])) for a in exported.run.answers}
    assert gold != pytest.approx(answers, abs=1e-4)  # never against themselves
    figures = {f.metric: f for f in exported.run.figures}
    assert {"krippendorff_alpha_interval", "split_half", "leave_one_out_spearman"} <= set(figures)
    assert all(
        f.low < f.value < f.high
        for f in figures.values()
        if f.metric.startswith(("split", "leave", "kripp"))
    )
    split = exported.report.agreement["split_half"].value
    assert split is not None
    assert split > 0.8
    runs_page.write(tmp_path / "page.html", [exported.run])
    served.database.close()


def test_pairs_with_a_reference(tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text(
        "a,b,similarity\nabove,over,0.9\nabove,below,0.1\nleft,right,0\nin,inside,1\n",
        encoding="utf-8",
    )
    study = study_from_pairs(path, StudyDesign(judgements=2))
    truth = {
        item.id: item.reference or 0.0 for item in study.measured if isinstance(item, RatingItem)
    }
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    put(served, judge(study, [careful(truth, 0.02)] * 3))
    exported = export_study(served.database, study, tmp_path / "out", resamples=200)
    assert exported.run is not None
    assert exported.run.task.questions[0].gold == {"dissimilar": pytest.approx(0.1), "similar": 0.9}
    assert exported.run.task.questions[2].gold == {"dissimilar": 1.0}
    assert exported.run.figures[0].value < 0.02
    served.database.close()


def test_a_study_without_answers_exports_without_a_run(tmp_path: Path) -> None:
    served = serve_in_test(rating_study(tmp_path), str(tmp_path / "study.sqlite"))
    exported = export_study(served.database, served.study, tmp_path / "out")
    assert exported.run is None
    assert "No pair has two judgements that count yet" in exported.no_run_reason
    assert exported.report.judgements == 0
    assert (tmp_path / "out" / "items.csv").read_text(encoding="utf-8").count("\n") == 13
    served.database.close()


def test_an_export_removes_what_has_been_withdrawn(tmp_path: Path) -> None:
    served = serve_in_test(
        rating_study(tmp_path, per_page=12, pages=1), str(tmp_path / "study.sqlite")
    )
    token = served.begin()
    served.send(token, 1, served.fill(token))
    export_study(served.database, served.study, tmp_path / "out", resamples=100)
    tables = {"judgements.csv", "judgements.parquet", "people.csv", "people.parquet"}
    assert all((tmp_path / "out" / name).is_file() for name in tables)
    served.database.submit(lambda tx: participants.withdraw(tx, token)).result()
    export_study(served.database, served.study, tmp_path / "out", resamples=100)
    served.database.close()
    assert not any((tmp_path / "out" / name).exists() for name in tables)


def test_invalid_studies_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "a,b\nabove,over\nover,above\nnear,near\n,far\nx|y,z\ngreen,blue\n", encoding="utf-8"
    )
    with pytest.raises(UserError, match="--odd-word"):
        study_from_pairs(path, StudyDesign())
    study = study_from_pairs(path, StudyDesign(), odd_word="seven")
    assert [item.id for item in study.measured] == ["above|over", "green|blue"]
    assert len(study.bad_rows) == 4
    assert {item.control for item in study.controls} == {"distinct", "same"}
    with pytest.raises(UserError, match="no template 'sung'"):
        study_from_task(task(), StudyDesign(), template="sung")
    with pytest.raises(UserError, match="'nothing' is not a question"):
        study_from_task(task(), StudyDesign(), known=["nothing"])
    study = study_from_task(task(), StudyDesign(), known=["thing 1", "thing 2"], template="asked")
    assert [item.id for item in study.controls] == ["control|thing 1", "control|thing 2"]
    assert study.measured[0].columns["text"] == "What colour is a thing 0? [MASK]."
    with pytest.raises(UserError, match="picture"):
        study_from_task(task(picture="nowhere.png"), StudyDesign())


def test_a_run_that_cannot_be_written_is_an_error_and_not_a_missing_run(
    colours: tuple[ServedStudy, StudyExport], tmp_path: Path
) -> None:
    served, exported = colours
    assert exported.run is not None
    assert exported.no_run_reason == ""
    code = "import sys, time; from pathlib import Path; from seesay.files import lock_folder\n"
    code += "with lock_folder(Path(sys.argv[1])): print('locked', flush=True); time.sleep(60)"
    other = subprocess.Popen(
        [sys.executable, "-c", code, exported.run.folder], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(UserError, match="Another process is using"):
            export_study(
                served.database,
                served.study,
                tmp_path / "out",
                resamples=500,
                command="seesay judge export",
            )
    finally:
        other.kill()
        other.communicate()


def test_keys_of_written_files(colours: tuple[ServedStudy, StudyExport]) -> None:
    served, exported = colours
    definition = json.loads(served.rows("SELECT value FROM study WHERE key = 'definition'")[0][0])
    assert list(definition["items"][0]) == [
        *("id", "base", "picture", "icons", "control", "known"),
        *("question", "template", "text", "options", "option_texts", "kind"),
    ]
    assert served.rows("SELECT value FROM study WHERE key = 'format'") == [("1",)]
    reopened = find_study(served.database)
    assert reopened == served.study
    assert reopened.fingerprint == served.study.fingerprint  # so the run keeps its name
    assert (
        Study.model_validate_json((exported.folder / "study.json").read_text(encoding="utf-8"))
        == served.study
    )
    report = json.loads((exported.folder / "agreement.json").read_text(encoding="utf-8"))
    assert list(report) == [
        *("study", "fingerprint", "kind", "criteria", "people", "people_counted", "excluded"),
        *(
            "judgements",
            "judgements_counted",
            "items",
            "items_judged",
            "judgements_per_item",
            "agreement",
            "remarks",
        ),
    ]


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_study_of_a_newer_version_is_refused(
    tmp_path: Path, request: pytest.FixtureRequest, where: str
) -> None:
    location = (
        str(tmp_path / "study.sqlite") if where == "sqlite" else request.getfixturevalue("postgres")
    )
    database = open_database(location, "newer")
    create_study(database, study_from_task(task(), StudyDesign(controls=0), name="newer"))
    database.submit(lambda tx: set_setting(tx, "format", "2")).result()
    database.submit(
        lambda tx: tx.execute("ALTER TABLE item RENAME COLUMN taken TO renamed")
    ).result()
    database.close()
    with pytest.raises(
        UserError,
        match=r"written by a newer version of seesay \(in format 2, .*: update seesay to open",
    ):
        open_study(location, "newer")


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "9" * 5000])
def test_study_without_a_format_is_damaged(tmp_path: Path, number: str) -> None:
    location = str(tmp_path / "study.sqlite")
    database = open_database(location)
    create_study(database, study_from_task(task(), StudyDesign(controls=0)))
    database.submit(lambda tx: set_setting(tx, "format", number)).result()
    database.close()
    with pytest.raises(UserError, match="The study is damaged"):
        open_study(location)
