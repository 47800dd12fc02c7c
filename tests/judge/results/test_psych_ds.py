"""A study as a Psych-DS dataset: the rules of its validator (1.5), and what is not shared."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.judge.studies import choice_study, rating_study

from seesay.judge.items import ChoiceItem
from seesay.judge.results.export import StudyAnswers, export_answers
from seesay.judge.results.psych_ds import VARIABLES
from seesay.judge.results.quality import Judgement
from seesay.judge.study import Study

# rules.files.tabular_data.data.Datafile of the validator's schema
DATA_FILE = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.(csv|tsv)")


def judged(study: Study) -> list[Judgement]:
    judgements = []
    for number, item in enumerate(study.measured):
        value = number % 3 if isinstance(item, ChoiceItem) else 5 * number
        for person in (1, 2, 3):
            how = item.how[0]
            judgements.append(Judgement(person, item, value, 50, how, 2.0, 0, 1e9))
    return judgements


def validate(folder: Path) -> dict[str, Any]:
    """Check the rules of level `error`, and return the description."""
    description = json.loads((folder / "dataset_description.json").read_text(encoding="utf-8"))
    assert description["@context"] == "https://schema.org/"
    assert description["@type"] == "Dataset"  # MISSING_DATASET_TYPE, INCORRECT_DATASET_TYPE
    for key in ("name", "description", "variableMeasured"):  # JSON_KEY_REQUIRED
        assert description[key]
    variables = [variable["name"] for variable in description["variableMeasured"]]
    assert all(v["@type"] == "PropertyValue" for v in description["variableMeasured"])
    assert len(variables) == len(set(variables))
    files = list((folder / "data").rglob("*"))
    assert files  # MISSING_DATAFILE
    columns: set[str] = set()
    for path in files:
        assert DATA_FILE.fullmatch(path.name)  # FILENAME_KEYWORD_FORMATTING_ERROR
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file, strict=True)
        assert len(header) == len(set(header))  # CSV_HEADER_REPEATED
        assert all(len(row) == len(header) for row in rows)  # CSV_HEADER_LENGTH_MISMATCH
        assert rows
        assert "row_id" not in header  # ROWID_VALUES_NOT_UNIQUE
        columns |= set(header)
    # CSV_COLUMN_MISSING_FROM_METADATA, VARIABLE_MISSING_FROM_CSV_COLUMNS
    assert columns == set(variables)
    return dict(description)


@pytest.mark.parametrize("kind", ["choice", "rating"])
def test_a_study_passes_the_rules_of_the_validator(kind: str, tmp_path: Path) -> None:
    study = choice_study() if kind == "choice" else rating_study(tmp_path)
    study = study.model_copy(update={"name": "my study-2"})
    details = {1: {"language": "de"}}
    codes = {1: "SECRET-CODE"}
    answers = StudyAnswers(judged(study), codes=codes, details=details)
    export_answers(answers, study, tmp_path / "out", resamples=100)
    folder = tmp_path / "out" / "psych-ds"
    description = validate(folder)
    meanings = {v["name"]: v["description"] for v in description["variableMeasured"]}
    assert meanings["language"] == "What is known of the participant: language."
    undescribed = [name for name in meanings if name not in VARIABLES and name != "language"]
    assert undescribed == []
    names = sorted(path.name for path in (folder / "data").iterdir())
    assert names[0] == "study-mystudy2_table-items_data.csv"
    # what tells who a participant was stays with the researcher
    assert "SECRET-CODE" in (tmp_path / "out" / "people.csv").read_text()
    assert not any("SECRET-CODE" in path.read_text() for path in folder.rglob("*.*"))


def test_what_was_withdrawn_is_gone(tmp_path: Path) -> None:
    study = choice_study()
    export_answers(StudyAnswers(judged(study)), study, tmp_path, resamples=100)
    left_behind = tmp_path / "psych-ds" / "data" / "study-old_data.csv"
    left_behind.write_text("person\n1\n")
    export_answers(StudyAnswers(judged(study)), study, tmp_path, resamples=100)
    validate(tmp_path / "psych-ds")
    assert not left_behind.exists()
