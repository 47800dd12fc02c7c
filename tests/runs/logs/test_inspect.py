"""Logs of inspect: those of the real program, and damaged ones."""

from __future__ import annotations

import importlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.needs import absent
from tests.runs.logs.test_pairing import write

from seesay import api
from seesay.errors import UserError
from seesay.export import export
from seesay.runs.ask import Settings, limit_questions, run
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.read import read_log
from seesay.tasks import load_task

QUESTIONS = 24


def summary(number: int, epoch: int = 1, value: Any = "C") -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "epoch": epoch,
        "input": [{"role": "user", "content": [{"type": "text", "text": f"Thing {number}?"}]}],
        "choices": ["red", "green"],
        "target": "A",
        "metadata": {"object": f"thing {number}"},
        "scores": {"choice": {"value": value}},
    }


def archive(path: Path, samples: list[dict[str, Any]], **header: Any) -> Path:
    about = {"version": 2, "status": "success", "eval": {"task": "colors", "model": "m"}, **header}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(about))
        file.writestr("summaries.json", json.dumps(samples))
    return path


def test_epochs_are_one_item_and_the_reported_figure_is_checked(tmp_path: Path) -> None:
    samples = [summary(number, epoch, "CI"[epoch - 1]) for number in range(4) for epoch in (1, 2)]
    scores = [{"name": "choice", "metrics": {"accuracy": {"value": 0.75}}}]
    path = archive(tmp_path / "a.eval", samples, results={"scores": scores}, status="cancelled")
    log = read_log(path, LogKeys(cluster="object"))
    assert [item.score for item in log.items] == [0.5] * 4
    assert [item.cluster for item in log.items] == [f"thing {number}" for number in range(4)]
    assert log.items[1].text == "Thing 1?"
    assert log.items[0].right == {"red"}
    (logged,) = api.results(path).runs
    assert logged.manifest.notes == [
        "inspect calls this run 'cancelled': it may lack items",
        "inspect reports 0.75 as choice, and the mean of its 4 items is 0.5",
    ]


def test_shortened_texts_and_counted_ids_identify_nothing(tmp_path: Path) -> None:
    sample = summary(0) | {"id": 1, "input": f"{'word ' * 203}..."}
    (item,) = read_log(archive(tmp_path / "a.eval", [sample]), LogKeys()).items
    assert (item.id, item.text_key) == (None, None)
    (item,) = read_log(tmp_path / "a.eval", LogKeys(item="id")).items
    assert item.id == "1"


def test_damaged_and_unknown_logs_are_one_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.eval", [summary(number) for number in range(40)])
    content = path.read_bytes()
    cut = tmp_path / "cut.eval"
    cut.write_bytes(content[:-60])
    with pytest.raises(UserError, match="cut or damaged"):
        read_log(cut, LogKeys())
    flipped = tmp_path / "flipped.eval"
    place = content.index(b"summaries.json") + 40
    flipped.write_bytes(content[:place] + bytes(8) + content[place + 8 :])
    with pytest.raises(UserError, match=r"flipped\.eval"):
        read_log(flipped, LogKeys())
    with pytest.raises(UserError, match="is of version 7 of inspect's format"):
        read_log(archive(tmp_path / "new.eval", [summary(0)], version=7), LogKeys())
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as file:
        file.writestr("readme.txt", "no log")
    with pytest.raises(UserError, match="is not a log of inspect"):
        read_log(tmp_path / "other.eval", LogKeys())
    document = tmp_path / "other.json"
    document.write_text('{"results": []}')
    with pytest.raises(UserError, match="is not a log of inspect"):
        read_log(document, LogKeys())


def test_a_member_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path / "a.eval", [summary(number) for number in range(4000)])
    monkeypatch.setattr("seesay.runs.logs.inspect._LARGEST_MEMBER", 1 << 18)
    with pytest.raises(UserError, match="unpacks to more than"):
        read_log(path, LogKeys())


def test_a_json_log_that_is_cut_gives_the_items_before(tmp_path: Path) -> None:
    about = {"version": 2, "status": "started", "eval": {"task": "colors", "model": "m"}}
    text = json.dumps({**about, "samples": [summary(number) for number in range(5)]})
    path = tmp_path / "cut.json"
    path.write_text(text[:-300])
    log = read_log(path, LogKeys())
    assert len(log.items) == 3
    assert "cut or damaged from here on" in log.bad[0].reason


@pytest.mark.slow
def test_logs_of_the_real_inspect_compare_as_our_own_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        inspect_ai: Any = importlib.import_module("inspect_ai")
        model: Any = importlib.import_module("inspect_ai.model")
    except ImportError:
        absent("inspect-ai is not installed")
    task = limit_questions(load_task("core-color"), QUESTIONS, 0)
    task_name = task.choice_templates[0].name
    export(task, tmp_path / "exported", "inspect")
    monkeypatch.chdir(tmp_path / "exported")

    def output(letter: str) -> Any:
        written = model.ModelOutput.from_content("mockllm/model", f"ANSWER: {letter}")
        # else inspect counts tokens with a tokeniser that it fetches
        written.usage = model.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return written

    paths: list[Path] = []
    own = []
    # of the colors in the order of the task: one model likes brown, the other often knows
    right = [question.options.index(question.best_label) for question in task.questions]
    guesses = ([2] * QUESTIONS, [place if n % 3 else 0 for n, place in enumerate(right)])
    for number, places in enumerate(guesses):
        outputs = [output("ABCDEFGHIJK"[place]) for place in places]
        folder = tmp_path / f"logs-{number}"
        # one sample after the other, so that each gets its own answer
        (log,) = inspect_ai.eval(
            "core_color.py",
            model=model.get_model("mockllm/model", custom_outputs=outputs),
            max_samples=1,
            display="none",
            log_dir=str(folder),
            log_format=("eval", "json")[number],
        )
        assert log.status == "success", log.error
        paths += folder.iterdir()
        answers = [
            {"question": question.id, "template": task_name, "answer": question.options[place]}
            for question, place in zip(task.questions, places, strict=True)
        ]
        stored = write(tmp_path / f"answers-{number}.jsonl", answers)
        one_template = [t for t in task.templates if t.name == task_name]
        own.append((stored, one_template))
    results = api.results(paths, item="question", cluster="object")
    # inspect's own figure is that of its rows
    assert [r.manifest.notes for r in results.runs] == [[], []]
    (comparison,) = results.compare(strict=True)
    runs = [
        run(api.load_model(f"answers:{stored}"), task, tmp_path / "runs", Settings())
        for stored, _ in own
    ]
    ours = api.Results(tuple(runs)).compare(strict=True)[0]
    assert ours.metric == "relaxed_accuracy"
    assert comparison.n == ours.n == QUESTIONS
    for name in ("value_a", "value_b", "difference", "low", "high", "p_signflip", "p_bootstrap"):
        assert getattr(comparison, name) == pytest.approx(getattr(ours, name), abs=1e-12), name
    assert comparison.p_mcnemar == pytest.approx(ours.p_mcnemar)
    assert comparison.p_signflip < 0.5
