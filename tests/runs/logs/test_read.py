"""Logs of the other formats, each recognised by what it holds."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.memory import run_and_measure
from tests.runs.logs.test_inspect import archive, summary
from tests.runs.logs.test_lm_eval import SAMPLES, sample
from tests.runs.logs.test_pairing import write

from seesay import api
from seesay.errors import UserError
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.read import read_log


def instance(number: int, **more: Any) -> dict[str, Any]:
    """A row of the instance-level schema of Every Eval Ever, version 0.3.0."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "lab/model/1750000000",
        "model_id": "lab/model",
        "evaluation_name": "colors",
        "evaluation_result_id": "lab.colors",
        "sample_id": f"q{number}",
        "interaction_type": "single_turn",
        "input": {"raw": f"Thing {number}?", "reference": ["red"], "choices": ["red", "green"]},
        "output": {"raw": ["red"]},
        "answer_attribution": [],
        "evaluation": {"score": float(number % 2), "is_correct": bool(number % 2)},
        "metadata": {"object": f"thing {number}"},
        **more,
    }


def test_every_eval_ever(tmp_path: Path) -> None:
    rows = [instance(number) for number in range(10)]
    rows.append(instance(10, evaluation_result_id="lab.sizes"))
    path = write(tmp_path / "f3a1_samples.jsonl", rows)
    result = {"evaluation_result_id": "lab.colors", "score_details": {"score": 0.75}}
    (tmp_path / "f3a1.json").write_text(json.dumps({"evaluation_results": [result]}))
    log = read_log(path, LogKeys(cluster="object"))
    assert (log.program, log.model, log.task) == ("every-eval-ever", "lab/model", "colors")
    item = log.items[3]
    assert (item.id, item.text, item.score, item.cluster) == ("q3", "Thing 3?", 1.0, "thing 3")
    assert item.right == {"red"}
    assert [row.row for row in log.bad] == [11]
    (logged,) = api.results(path).runs
    assert "every-eval-ever reports 0.75 as score, and the mean of its 10 items is 0.5" in (
        logged.manifest.notes
    )
    newer = write(tmp_path / "newer.jsonl", [instance(0, schema_version="1.0.0")])
    with pytest.raises(UserError, match=r"is of version 1\.0\.0 of the Every Eval Ever schema"):
        read_log(newer, LogKeys())


@pytest.mark.parametrize("present", [8, 10])
def test_a_log_that_lost_rows_is_reported(present: int, tmp_path: Path) -> None:
    """Cut where a line ends, it looks whole: what stands beside it says how many rows it had."""
    noted = []
    path = write(tmp_path / "f3a1_samples.jsonl", [instance(n) for n in range(present)])
    results = {"detailed_evaluation_results": {"total_rows": 10}}
    (tmp_path / "f3a1.json").write_text(json.dumps(results))
    noted += api.results(path).runs[0].manifest.notes
    path = write(tmp_path / SAMPLES, [sample(n, right=n % 2 > 0) for n in range(present)])
    date = SAMPLES.removesuffix(".jsonl").rpartition("_")[2]
    counted = {"n-samples": {"colors": {"original": 20, "effective": 10}}}
    (tmp_path / f"results_{date}.json").write_text(json.dumps(counted))
    noted += api.results(path).runs[0].manifest.notes
    programs = ("every-eval-ever", "lm-eval") if present < 10 else ()
    assert noted == [f"{name} says that the log has 10 rows, and it has 8" for name in programs]


def test_records_of_openai_evals(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"spec": {"base_eval": "colors", "completion_fns": ["gpt"]}}]
    for number in range(4):
        event = {"run_id": "r", "event_id": number, "sample_id": f"colors.dev.{number}"}
        prompt = [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": f"Thing {number}?"},
        ]
        records.append({**event, "type": "sampling", "data": {"prompt": prompt, "sampled": "red"}})
        records.append({**event, "type": "match", "data": {"correct": number > 0}})
    unfinished = write(tmp_path / "unfinished.jsonl", records)
    path = write(tmp_path / "run.jsonl", [*records, {"final_report": {"accuracy": 0.75}}])
    log = read_log(path, LogKeys())
    assert (log.program, log.model, log.task) == ("openai-evals", "gpt", "colors")
    assert [item.score for item in log.items] == [0, 1, 1, 1]
    assert log.items[2].text == "Thing 2?"
    assert log.reported == 0.75
    (logged,) = api.results(path).runs
    assert logged.manifest.notes == []
    assert "no final report" in read_log(unfinished, LogKeys()).notes[0]


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_of_vlmevalkit(suffix: str, separator: str, tmp_path: Path) -> None:
    header = ["index", "question", "A", "B", "C", "answer", "category", "prediction", "hit"]
    rows = [
        [f"{number}", f"Thing {number}?", "red", "green", "", "B", "color", "B", f"{number % 2}"]
        for number in range(6)
    ]
    path = tmp_path / f"model_set_result.{suffix}"
    path.write_text("".join(f"{separator.join(cells)}\n" for cells in [header, *rows]))
    log = read_log(path, LogKeys(cluster="category"))
    assert log.program == "VLMEvalKit"
    item = log.items[1]
    assert (item.id, item.text, item.score, item.cluster) == ("1", "Thing 1?", 1.0, "color")
    assert item.choices == ("red", "green")
    assert item.right == {"green"}


def test_programs_are_compared_with_one_another(tmp_path: Path) -> None:
    paths = [
        archive(tmp_path / "a.eval", [summary(n, value="CI"[n % 2]) for n in range(20)]),
        write(tmp_path / SAMPLES, [sample(n, right=n % 4 > 0) for n in range(20)]),
        write(tmp_path / "b_samples.jsonl", [instance(n) for n in range(20)]),
    ]
    results = api.results(paths, cluster="object")
    comparisons = results.compare(strict=True, all_pairs=True)
    assert [(c.value_a, c.value_b, c.n) for c in comparisons] == [
        (0.5, 0.75, 20),
        (0.5, 0.5, 20),
        (0.75, 0.5, 20),
    ]


def test_what_is_no_log_is_one_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    table = tmp_path / "a.xlsx"
    table.write_bytes(b"PK")
    for path, problem in (
        (tmp_path / "missing.jsonl", "There is no file or folder"),
        (empty, "holds no row"),
        (table, "save it as CSV"),
        (write(tmp_path / "chat.jsonl", [{"messages": []}]), "rows have no score"),
    ):
        with pytest.raises(UserError, match=problem):
            read_log(path, LogKeys())


COUNT = """
import sys
from pathlib import Path
from seesay import api
results = api.results([Path(path) for path in sys.argv[1:]], cluster="object")
print([run.figures[0].n for run in results.runs])
"""


@pytest.mark.slow
def test_a_hundred_thousand_items_take_less_than_a_gigabyte(tmp_path: Path) -> None:
    number = 100_000
    paths = [
        archive(tmp_path / "a.eval", [summary(n, value="CI"[n % 2]) for n in range(number)]),
        write(tmp_path / SAMPLES, [sample(n, right=n % 4 > 0) for n in range(number)]),
    ]
    counts, peak = run_and_measure(COUNT, *map(str, paths))
    assert json.loads(counts) == [number, number]
    assert peak < 1e9


@pytest.mark.seconds
def test_ten_thousand_items_take_less_than_five_seconds(tmp_path: Path) -> None:
    number = 10_000
    paths = [
        archive(tmp_path / "a.eval", [summary(n, value="CI"[n % 2]) for n in range(number)]),
        write(tmp_path / SAMPLES, [sample(n, right=n % 4 > 0) for n in range(number)]),
    ]
    # of this process alone: others may be at work
    start = time.process_time()
    (comparison,) = api.results(paths, cluster="object").compare(strict=True)
    assert time.process_time() - start < 5
    assert comparison.n == number
