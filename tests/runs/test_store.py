"""The run folder: files come back as they were written, whole or not at all, and no two runs share
a folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.made_up import Counting, task
from tests.runs.strategies import answers, names, tasks

from seesay.errors import NewerVersionError, UserError
from seesay.files import lock_folder, write_text
from seesay.questions import Answer, Scores, Task
from seesay.runs import answer_file, store
from seesay.runs.answer_table import AnswerTable
from seesay.runs.ask import Settings, describe, run
from seesay.runs.records import FORMAT

FEW = Settings(resamples=100)


def test_no_folder_is_one_sentence() -> None:
    with pytest.raises(UserError, match="no folder of runs"):
        store.find_runs([])


@given(st.lists(answers(), max_size=5))
@settings(deadline=None)
def test_answers_come_back(written: list[Answer]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / store.ANSWERS
        store.write_answers(path, AnswerTable.of(written))
        assert list(store.read_answers(path)) == written


def test_answers_are_readable_without_the_other_files(tmp_path: Path) -> None:
    done = run(Counting(), task(6), tmp_path, FEW)
    rows = pq.read_table(done.folder / store.ANSWERS).to_pylist()
    first = rows[0]
    assert (first["prompt"], first["gold"]) == ("The thing 0 is [MASK].", [("red", 1.0)])
    for row in rows:
        best = max(row["scores"]["logp"])
        top = [
            option
            for option, logp in zip(row["options"], row["scores"]["logp"], strict=True)
            if logp == best
        ]
        assert row["chosen"] == top[0]
        assert row["right"] == pytest.approx(
            sum(option == row["gold"][0][0] for option in top) / len(top)
        )
    accuracy = next(figure for figure in done.figures if figure.metric == "accuracy")
    assert sum(row["right"] for row in rows) / len(rows) == pytest.approx(accuracy.value)


def test_the_chosen_answer_follows_the_length_rule(tmp_path: Path) -> None:
    whole_task = task(1)
    scores = Scores((-3.0, -4.0, -9.0), (1, 2, 1), (3, 5, 4))
    options = whole_task.questions[0].options
    rows = AnswerTable.of(Answer("q0", t.name, options, scores) for t in whole_task.templates)
    for length, chosen in (("sum", "red"), ("mean", "green")):
        store.write_answers(tmp_path / store.ANSWERS, rows, whole_task, length)
        assert pq.read_table(tmp_path / store.ANSWERS)["chosen"].to_pylist() == [chosen] * 2


@given(tasks())
@settings(deadline=None)
def test_tasks_come_back(written: Task) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / store.QUESTIONS
        store.write_task(path, written)
        read = store.read_task(path)
        assert read == written
        assert read.fingerprint == written.fingerprint


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", [store.MANIFEST, store.QUESTIONS, store.ANSWERS, store.FIGURES])
def test_a_missing_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    folder = run(Counting(), task(), tmp_path, FEW).folder
    (folder / name).unlink()
    with pytest.raises(UserError, match=rf"not a finished run \({name} is missing\)"):
        store.read_run(folder)


def damaged(content: bytes) -> list[bytes]:
    middle = len(content) // 2
    return [
        b"",
        b"\0" * 40,
        b"\xff\xfe\x00",
        content[:middle],
        content[1:],
        content[:-1],
        content[:middle] + bytes(64) + content[middle + 64 :],
        b"[]",
        b"{}",
        b"null",
    ]


@pytest.mark.parametrize("digests", [True, False])
@pytest.mark.parametrize("name", [store.MANIFEST, store.QUESTIONS, store.ANSWERS])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str, digests: bool) -> None:
    done = run(Counting(), task(), tmp_path, FEW)
    if not digests:  # the damage is found without them, too
        store.write_manifest(done.folder, done.manifest.model_copy(update={"digests": {}}))
    content = (done.folder / name).read_bytes()
    for bad in damaged(content):
        (done.folder / name).write_bytes(bad)
        with pytest.raises(UserError, match=r"is damaged \(.+\): delete the folder"):
            store.read_run(done.folder)


def test_figures_that_were_edited_or_damaged_are_computed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done = run(Counting(), task(), tmp_path, FEW)
    path = done.folder / store.FIGURES
    content = path.read_bytes()
    edited = content.replace(
        f'"value":{json.dumps(done.figures[0].value)}'.encode(), b'"value":0.99'
    )
    for bad in (*damaged(content), edited, content.replace(b'"value": 0', b'"value": 1')):
        if bad == content:
            continue
        path.write_bytes(bad)
        caplog.clear()
        assert store.read_run(done.folder).figures == done.figures
        assert (
            "metrics.json was changed after the run: its figures are computed again" in caplog.text
        )
    assert run(Counting(), task(), tmp_path, FEW).figures == done.figures
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "column", [[-1.0, float("nan"), -2.0], [-1.0, float("inf"), -2.0], [-1.0, -2.0], None]
)
@pytest.mark.parametrize("where", ["scores", "neutral"])
def test_answers_with_bad_numbers_are_damage(
    tmp_path: Path, column: list[float] | None, where: str
) -> None:
    done = run(Counting(), task(), tmp_path, FEW)
    rows = pq.read_table(done.folder / store.ANSWERS).to_pylist()
    rows[0][where]["logp"] = column
    pq.write_table(pa.Table.from_pylist(rows, answer_file._ANSWER), done.folder / store.ANSWERS)
    store.write_manifest(done.folder, done.manifest.model_copy(update={"digests": {}}))
    with pytest.raises(UserError, match=r"is damaged \(.+\): delete the folder"):
        store.read_run(done.folder)
    with pytest.raises(UserError, match=r"is damaged \(.+\): delete the folder"):
        run(Counting(), task(), tmp_path, FEW)


def test_a_run_of_a_newer_version_says_so(tmp_path: Path) -> None:
    folder = run(Counting(), task(), tmp_path, FEW).folder
    newer = json.loads((folder / store.MANIFEST).read_text()) | {
        "format": FORMAT + 1,
        "invented": 1,
    }
    (folder / store.MANIFEST).write_text(json.dumps(newer))
    sentence = rf"by a newer version of seesay \(format {FORMAT + 1}, .*update seesay"
    with pytest.raises(NewerVersionError, match=sentence):
        store.read_run(folder)
    with pytest.raises(NewerVersionError, match=sentence):
        run(Counting(), task(), tmp_path, FEW)


def test_runs_that_cannot_be_read_are_left_out_with_a_sentence_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done = [run(Counting(name=f"model {i}"), task(), tmp_path, FEW) for i in range(4)]
    (done[1].folder / store.ANSWERS).write_bytes(b"PAR1")
    newer = json.loads((done[2].folder / store.MANIFEST).read_text()) | {"format": FORMAT + 1}
    (done[2].folder / store.MANIFEST).write_text(json.dumps(newer))
    runs = store.find_runs([tmp_path])
    assert [one.manifest.model for one in runs] == ["model 0", "model 3"]
    assert [r.message.startswith("Left out: The run in") for r in caplog.records] == [True, True]
    with pytest.raises(UserError, match="is damaged"):
        store.find_runs([done[1].folder])


def test_a_run_without_its_manifest_is_left_out_with_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept, lost = (run(Counting(name=f"model {i}"), task(), tmp_path, FEW) for i in range(2))
    (lost.folder / store.MANIFEST).unlink()
    # a file of that name that is no run's
    (tmp_path / store.FIGURES).write_text("[]")
    sentence = f"Left out: the run in {lost.folder} has no manifest.json."
    assert [one.folder for one in store.find_runs([tmp_path])] == [kept.folder]
    assert caplog.messages == [sentence]
    caplog.clear()
    assert store.other_runs(tmp_path, [kept]) == []
    assert caplog.messages == [sentence]


@pytest.mark.seconds
@given(st.data())
@settings(deadline=None, max_examples=60)
def test_a_changed_byte_never_ends_in_anything_but_a_run_or_a_sentence(data: st.DataObject) -> None:
    with TemporaryDirectory() as root:
        folder = run(Counting(), task(2), Path(root), FEW).folder
        path = folder / data.draw(
            st.sampled_from([store.MANIFEST, store.QUESTIONS, store.ANSWERS, store.FIGURES])
        )
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        with suppress(UserError):
            store.read_run(folder)


def test_answers_to_other_questions_are_damage(tmp_path: Path) -> None:
    folder = run(Counting(), task(), tmp_path, FEW).folder
    store.write_answers(folder / store.ANSWERS, store.read_answers(folder / store.ANSWERS)[1:])
    with pytest.raises(UserError, match=r"answers\.parquet was changed after the run"):
        store.read_run(folder)
    manifest = store.read_manifest(folder / store.MANIFEST)
    store.write_manifest(folder, manifest.model_copy(update={"digests": {}}))
    with pytest.raises(UserError, match="its answers do not match its questions"):
        store.read_run(folder)


def test_damaged_answers_of_a_run_without_figures_are_one_sentence(tmp_path: Path) -> None:
    folder = run(Counting(), task(), tmp_path, FEW).folder
    (folder / store.FIGURES).unlink()
    (folder / store.ANSWERS).write_bytes(b"PAR1 and no more")
    with pytest.raises(UserError, match="is damaged"):
        run(Counting(), task(), tmp_path, FEW)


def test_a_second_process_is_refused_and_goes_on_when_the_first_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = (
        "import sys, time; from pathlib import Path; from seesay.files import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout
        assert first.stdout.readline() == "held\n"
        with (
            pytest.raises(
                UserError,
                match=r"Another process is using .*: wait for it, or give this one its own",
            ),
            lock_folder(folder, hint="give this one its own --output"),
        ):
            pass
        first.kill()
        first.wait()
    with lock_folder(folder):
        pass


def test_what_a_crash_left_behind_is_cleared(tmp_path: Path) -> None:
    folder = run(Counting(), task(), tmp_path, FEW).folder
    (folder / ".answers.parquet.1234abcd.unfinished").write_bytes(b"half")
    run(Counting(), task(), tmp_path, FEW)
    assert not list(folder.glob("*unfinished*"))
    assert not list(folder.glob(".*unfinished"))


def test_whatever_shapes_a_figure_is_another_folder(tmp_path: Path) -> None:
    model, whole_task, run_settings = Counting(), task(), Settings()
    described = [
        describe(model, whole_task, run_settings),
        describe(replace(model, fingerprint="g"), whole_task, run_settings),
        describe(replace(model, name="other"), whole_task, run_settings),
        describe(replace(model, scope="sentence"), whole_task, run_settings),
        describe(model, replace(whole_task, questions=whole_task.questions[:-1]), run_settings),
        describe(model, replace(whole_task, templates=whole_task.templates[::-1]), run_settings),
        describe(model, replace(whole_task, neutral={}), run_settings),
        describe(model, replace(whole_task, version="2"), run_settings),
        describe(model, whole_task, replace(run_settings, length="mean")),
        describe(model, whole_task, replace(run_settings, limit=3)),
        describe(model, whole_task, replace(run_settings, seed=1)),
        describe(model, whole_task, replace(run_settings, resamples=500)),
    ]
    assert len({store.folder_for(tmp_path, manifest) for manifest in described}) == len(described)
    same = describe(model, whole_task, replace(run_settings, command="seesay probe --quiet"))
    assert store.folder_for(tmp_path, same) == store.folder_for(tmp_path, described[0])


ODD = [
    "../../x",
    "a/b",
    "a_b",
    "a b",
    "a.b",
    ".",
    "..",
    "",
    "/",
    "~",
    "x" * 300,
    "x" * 301,
    "🍋",
    "🍊",
    "\n",
    "con.",
    "-rf",
]


def folder_names(models: list[str]) -> list[Path]:
    manifest = describe(Counting(), task(), Settings())
    return [
        store.folder_for(Path("root"), manifest.model_copy(update={"model": name}))
        for name in models
    ]


def test_odd_names_never_collide_or_escape() -> None:
    folders = folder_names(ODD)
    assert len({folder.parts[1] for folder in folders}) == len(ODD)
    for folder in folders:
        assert folder.parts[0] == "root"
        assert len(folder.parts) == 4
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,100}", folder.parts[1])
        assert folder.parts[1].strip(".")


@given(
    st.lists(
        st.text(st.sampled_from("ab/_.-0"), max_size=12) | names,
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_two_names_are_two_folders(pair: list[str]) -> None:
    (hashed,) = folder_names([pair[0]])
    one, other, mimic = (folder.parts[1] for folder in folder_names([*pair, hashed.parts[1]]))
    assert one != other
    assert mimic != one or pair[0] == hashed.parts[1]


def test_runs_are_found_once_and_unfinished_ones_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done = run(Counting(), task(), tmp_path, FEW)
    with pytest.raises(ConnectionError):
        run(Counting(name="broken", breaks_after=3), task(), tmp_path, FEW)
    # one that ended before its first answer leaves nothing out
    with pytest.raises(ConnectionError):
        run(Counting(name="refused", breaks_after=0), task(), tmp_path, FEW)
    monkeypatch.chdir(tmp_path)
    runs = store.find_runs([tmp_path, Path(), done.folder])
    assert "1 unfinished run." in caplog.text
    assert [one.folder for one in runs] == [done.folder]
    with pytest.raises(UserError, match="no finished run"):
        store.find_runs([tmp_path / "nowhere"])
    with pytest.raises(UserError, match="no finished run"):
        store.find_runs([tmp_path / "broken"])
