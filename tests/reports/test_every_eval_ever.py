"""Records of Every Eval Ever: as its schema says, and the figures of the runs when read again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.runs.logs.test_pairing import rows, write
from tests.runs.made_up import Counting, task

from seesay import api
from seesay.errors import UserError
from seesay.questions import Task
from seesay.runs.ask import Settings, run


def nested_task() -> Task:
    """Two sets of questions of which there is no figure over all."""
    return replace(task(40), nested_by="half", name="nested")


def probability_task() -> Task:
    """A task whose answers are neither right nor wrong."""
    return replace(task(40), metrics=("jensen_shannon",), name="shares")


def make_results(folder: Path, *tasks: Task) -> api.Results:
    runs = [run(Counting(), one_task, folder / "runs", Settings()) for one_task in tasks]
    return api.Results(tuple(runs))


def read_record(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def read_samples(path: Path, folder: Path) -> list[dict[str, Any]]:
    samples = folder / read_record(path)["detailed_evaluation_results"]["file_path"]
    return [json.loads(line) for line in samples.read_text().splitlines()]


def test_a_record_read_again_has_the_figure_and_the_interval_of_the_run(tmp_path: Path) -> None:
    results = make_results(tmp_path, task(60))
    (path,) = results.save_records(tmp_path, "Our lab", "third_party")
    figure = next(figure for figure in results.figures if figure.template is None)
    (result, *_) = read_record(path)["evaluation_results"]
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert result["score_details"]["score"] == figure.value
    assert (interval["lower"], interval["upper"]) == (figure.low, figure.high)
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    (again,) = api.results(samples, cluster="object").runs
    # its own figure is compared with the mean of the rows, and any difference is noted
    assert again.manifest.notes == []
    assert again.figures[0].objects == figure.objects
    assert again.figures[0].value == pytest.approx(figure.value, abs=1e-12)
    assert again.figures[0].low == pytest.approx(figure.low, abs=1e-12)
    assert again.figures[0].high == pytest.approx(figure.high, abs=1e-12)
    # writing a run twice makes no second record of it
    assert results.save_records(tmp_path, "Our lab") == [path]


def test_the_record_names_its_answers_as_the_datastore_asks(tmp_path: Path) -> None:
    results = make_results(tmp_path, task(40))
    (path,) = results.save_records(tmp_path, "Our lab")
    record = read_record(path)
    detail = record["detailed_evaluation_results"]
    content = (tmp_path / detail["file_path"]).read_bytes()
    assert path.relative_to(tmp_path).parts[:-1] == (
        "data",
        "seesay-made-up",
        "unknown",
        "counting",
    )
    assert detail["checksum"] == hashlib.sha256(content).hexdigest()
    assert detail["total_rows"] == 80
    samples = read_samples(path, tmp_path)
    assert {sample["evaluation_id"] for sample in samples} == {record["evaluation_id"]}
    assert {sample["model_id"] for sample in samples} == {record["model_info"]["id"]}
    assert len({sample["sample_id"] for sample in samples}) == 80
    chosen = [sample["output"]["raw"][0] for sample in samples]
    # of tied options the first
    assert chosen == [row.options[row.logp.index(max(row.logp))] for row in results.answers()]


def test_nested_parts_are_evaluations_of_their_own(tmp_path: Path) -> None:
    results = make_results(tmp_path, nested_task())
    (path,) = results.save_records(tmp_path, "Our lab")
    accuracies = {
        result["evaluation_result_id"]: result["score_details"]["score"]
        for result in read_record(path)["evaluation_results"]
        if result["metric_config"]["metric_id"] == "accuracy"
    }
    assert set(accuracies) == {f"seesay.nested.half={half}.accuracy" for half in ("even", "odd")}
    samples = read_samples(path, tmp_path)
    assert len(samples) == 80
    for name, accuracy in accuracies.items():
        scores = [
            sample["evaluation"]["score"]
            for sample in samples
            if sample["evaluation_result_id"] == name
        ]
        assert len(scores) == 40
        assert sum(scores) / 40 == pytest.approx(accuracy)


def test_the_real_schema_accepts_the_records(tmp_path: Path) -> None:
    """The two schemas of the public repository, version 0.3.0: no registry has them, so this is
    skipped where `SEESAY_EEE_SCHEMAS` names no folder with them."""
    folder = Path(os.environ.get("SEESAY_EEE_SCHEMAS", ""))
    if not (folder / "eval.schema.json").is_file():
        pytest.skip("the schemas of Every Eval Ever are not here: SEESAY_EEE_SCHEMAS names them")
    aggregate = json.loads((folder / "eval.schema.json").read_text())
    instance = json.loads((folder / "instance_level_eval.schema.json").read_text())
    results = make_results(tmp_path, task(40), nested_task(), probability_task())
    paths = results.save_records(tmp_path, "Our lab", "first_party")
    assert len(paths) == 3
    for path in paths:
        record = read_record(path)
        assert record["schema_version"] == aggregate["version"] == instance["version"]
        jsonschema.Draft7Validator(aggregate).validate(record)
        # what is neither right nor wrong has no rows
        if "seesay-shares" not in path.parts:
            for sample in read_samples(path, tmp_path):
                jsonschema.Draft7Validator(instance).validate(sample)


def test_what_has_no_place_there_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    results = make_results(tmp_path, task(40))
    with pytest.raises(UserError, match="who ran the models: give by NAME"):
        results.save_records(tmp_path, " ")
    with pytest.raises(UserError, match="'friends' is no relationship to a model's makers"):
        results.save_records(tmp_path, "Our lab", "friends")
    logged = api.results(write(tmp_path / "log.jsonl", rows()))
    with pytest.raises(UserError, match="is a log of rows: Every Eval Ever has converters"):
        logged.save_records(tmp_path, "Our lab")
    (one_run,) = results.runs
    people = replace(one_run, manifest=one_run.manifest.model_copy(update={"family": "people"}))
    with pytest.raises(UserError, match="no run of a model"):
        api.Results((people,)).save_records(tmp_path, "Our lab")
    with caplog.at_level(logging.WARNING):
        assert len(api.Results((people, one_run)).save_records(tmp_path, "Our lab")) == 1
    assert "is left out" in caplog.text
