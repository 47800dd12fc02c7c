"""Memory Colors against the published files, and against files that are not as they should be."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.tasks import load_task

# How `results.csv` calls the models of the paper.
MODELS = {
    "clip-bert-explicit": "CLIP-BERT-explicit",
    "clip-bert-implicit": "CLIP-BERT-implicit",
    "bert-base-trained": "BERT-CLIP-BERT-train",
    "bert-base-trained-lxmert": "BERT-LXMERT-train",
    "bert-base-trained-lxmert-scratch": "BERT-LXMERT-train-scratch",
    "lxmert-base-uncased": "LXMERT",
    "visualbert-vqa-coco": "VisualBERT",
    "bert-base-uncased": "BERT-base",
}


def write(path: Path, *rows: object) -> Path:
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    )
    return path


def row(item: str, label: str = "red", descriptor: str = "a") -> dict[str, str]:
    return {"descriptor": descriptor, "item": item, "label": label}


def test_the_published_file_has_109_things() -> None:
    task = load_task("memory-colors", shared("memory_colors/memory_colors.jsonl"))
    assert len(task.questions) == 109
    assert task.provenance.bad_rows == ()
    assert set(task.labels) == {label for question in task.questions for label in question.gold}
    questions = {question.id: question for question in task.questions}
    templates = task.templates
    assert (
        templates[0].ask(questions["sunflower"]).text
        == "Q: What is the color of a sunflower? A: It is [MASK]."
    )
    assert templates[4].ask(questions["grass"]).text == "What is the color of grass? [SEP] [MASK]."
    assert (
        templates[8].ask(questions["pineapple"]).text
        == "the inside of a pineapple usually has the color of [MASK]."
    )
    assert questions["stone"].gold == {"grey": 1.0}


def test_templates_are_those_of_the_published_results() -> None:
    with shared("memory_colors/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    published = list(dict.fromkeys(row["question_template"] for row in rows))
    templates = load_task("memory-colors", shared("memory_colors")).templates
    assert [
        template.text.replace("{thing}", "[DESCRIPTOR] [ITEM]") for template in templates
    ] == published


def test_published_figures_are_those_of_the_published_results() -> None:
    accuracies: dict[str, list[float]] = {}
    with shared("memory_colors/results.csv").open() as file:
        for entry in csv.DictReader(file):
            accuracies.setdefault(entry["model"], []).append(float(entry["accuracy"]))
    assert set(accuracies) == set(MODELS)
    figures = {
        figure.model: figure
        for figure in load_task("memory-colors", shared("memory_colors")).published
    }
    for model, values in accuracies.items():
        assert len(values) == 13
        assert all(value * 109 == pytest.approx(round(value * 109), abs=1e-6) for value in values)
        figure = figures[MODELS[model]]
        assert figure.value == pytest.approx(statistics.mean(values), abs=5.01e-4)
        assert figure.spread == pytest.approx(statistics.stdev(values), abs=5.01e-4)


def test_colours_are_in_alphabetical_order() -> None:
    options = load_task("memory-colors", shared("memory_colors")).questions[0].options
    assert list(options) == sorted(options)
    assert len(options) == 11


def test_bad_rows_are_skipped_and_reported(tmp_path: Path) -> None:
    path = write(
        tmp_path / "memory_colors.jsonl",
        row("tomato"),
        "not json",
        row("sky", "turquoise"),
        {"item": "snow", "label": "white"},
        row("tomato", "green"),
        row("x" * 20_001),
        {**row("coal"), "item": ["coal"]},
        row("grass", "green", ""),
    )
    task = load_task("memory-colors", path)
    assert [question.id for question in task.questions] == ["tomato", "grass"]
    assert [question.fields["thing"] for question in task.questions] == ["a tomato", "grass"]
    assert task.provenance.bad_rows == (
        BadRow(2, "not JSON"),
        BadRow(
            3,
            "gold 'turquoise' is not among the options (black, blue, brown, green, grey, orange, "
            "…)",
        ),
        BadRow(4, "'thing' is missing"),
        BadRow(5, "id 'tomato' is already that of row 1"),
        BadRow(6, "'thing' is longer than 20,000 characters"),
        BadRow(7, "'item' is a list, not a text"),
    )


def test_a_folder_the_data_folder_and_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    with pytest.raises(UserError, match="`seesay data fetch memory-colors` fetches it"):
        load_task("memory-colors")
    (tmp_path / "data" / "memory-colors").mkdir(parents=True)
    write(tmp_path / "data" / "memory-colors" / "memory_colors.jsonl", row("tomato"))
    assert len(load_task("memory-colors").questions) == 1
    assert len(load_task("memory-colors", tmp_path / "data" / "memory-colors").questions) == 1


def test_another_format_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "memory_colors.jsonl", "descriptor,item,label", "a,tomato,red")
    with pytest.raises(UserError, match="holds no row that can be used"):
        load_task("memory-colors", path)


def test_published_figures_are_shown_with_published_questions_only(tmp_path: Path) -> None:
    path = shared("memory_colors/memory_colors.jsonl")
    published = load_task("memory-colors", path)
    assert published.published
    assert published.provenance.as_published
    assert (published.provenance.data[0].name, published.provenance.data[0].as_published) == (
        "memory_colors.jsonl",
        True,
    )
    assert str(published.provenance.data[0]).startswith("memory_colors.jsonl sha256:")
    changed = tmp_path / "mine.jsonl"
    changed.write_text("".join(path.read_text().splitlines(keepends=True)[:50]))
    mine = load_task("memory-colors", changed)
    assert mine.published == ()
    assert not mine.provenance.as_published
    assert str(mine.provenance.data[0]).endswith("(not verified)")
