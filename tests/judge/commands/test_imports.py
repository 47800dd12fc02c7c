"""`seesay judge import`: tables and a run of another program's file, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from seesay.errors import UserError
from seesay.judge.commands.judge import app
from seesay.runs.store import find_runs

TASK = """rows: [{fruit: lemon, color: yellow}, {fruit: apple, color: red}]
id: fruit
object: fruit
gold: color
templates: The color of {a fruit} is [MASK].
"""


def test_trials_become_a_run_beside_models(tmp_path: Path) -> None:
    task = tmp_path / "fruit.yaml"
    task.write_text(TASK)
    rows = [
        {"trial_type": "survey-text", "trial_index": 0, "item": item, "response": {"Q0": answer}}
        for item, answer in (("lemon", "yellow"), ("apple", "yellow"), ("pear", "green"))
    ]
    for number, row in enumerate(rows):
        row["trial_index"] = number
    trials = tmp_path / "trials.json"
    trials.write_text(json.dumps(rows))
    arguments = ["import", str(task), str(trials), "-o", str(tmp_path / "out"), "--json"]
    result = CliRunner().invoke(app, [*arguments, "--resamples", "100"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.output)
    assert "1 answers are to no item of 'fruit' (pear)." in printed["agreement"]["remarks"]
    (run,) = find_runs([tmp_path / "out" / "runs"])
    assert run.manifest.model == "people"
    accuracy = next(figure.value for figure in run.figures if figure.metric == "accuracy")
    assert accuracy == 0.5
    assert (tmp_path / "out" / "psych-ds" / "dataset_description.json").is_file()
    people = (tmp_path / "out" / "people.csv").read_text()
    assert "imported_id" in people
    trials.write_text("[]")
    failed = CliRunner().invoke(app, [*arguments, "--resamples", "100"])
    assert isinstance(failed.exception, UserError)
    assert "holds no row that can be read" in str(failed.exception)
