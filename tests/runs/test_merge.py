"""Shares of a run make the run that one job would have made, or a sentence that says what is
missing."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.made_up import Counting, task

from seesay.errors import UserError
from seesay.probes.generated import note_misses
from seesay.questions import Prompt, Scores
from seesay.runs import store
from seesay.runs.ask import Settings, run, run_shard
from seesay.runs.journal import Journal
from seesay.runs.merge import merge_shards
from seesay.shards import Shard

FEW = Settings(resamples=100)


def shares_of(root: Path, count: int, questions: int = 9) -> list[Path]:
    """Every share of a run, asked by a model of its own."""
    return [
        run_shard(Counting(), task(questions), root, FEW, Shard(number, count))
        for number in range(1, count + 1)
    ]


def contents(folder: Path) -> dict[str, object]:
    """The files of a run; when it was started is the one thing that may differ."""
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir()}
    manifest = json.loads((folder / store.MANIFEST).read_bytes())
    del manifest["created"]
    return {**files, store.MANIFEST: manifest}


@pytest.mark.seconds
@settings(max_examples=10, deadline=None)
@given(count=st.integers(1, 12), questions=st.integers(1, 9), seed=st.integers(0, 99))
def test_shares_in_any_order_make_the_same_run(
    tmp_path_factory: pytest.TempPathFactory, count: int, questions: int, seed: int
) -> None:
    root = tmp_path_factory.mktemp("shares")
    whole = run(Counting(), task(questions), root / "whole", FEW)
    folders = shares_of(root / "parts", count, questions)
    random.Random(seed).shuffle(folders)
    (merged,) = merge_shards(folders, root / "merged")
    assert contents(merged.folder) == contents(whole.folder)
    assert merged.folder.relative_to(root / "merged") == whole.folder.relative_to(root / "whole")
    assert merged.figures == whole.figures


def test_every_prompt_is_asked_by_one_share(tmp_path: Path) -> None:
    models = [Counting() for _ in range(3)]
    for number, model in enumerate(models, 1):
        run_shard(model, task(9), tmp_path, FEW, Shard(number, 3))
    prompts = [prompt for model in models for prompt in model.asked]
    assert len(prompts) == len(set(prompts)) == 9 * 2 + 2


def test_a_share_resumes(tmp_path: Path) -> None:
    broken = Counting(breaks_after=2)
    with pytest.raises(ConnectionError):
        run_shard(broken, task(9), tmp_path, FEW, Shard(1, 2))
    with pytest.raises(UserError, match=r"Share 1 of 2 in .* is unfinished: run its command again"):
        merge_shards([tmp_path], tmp_path / "runs")
    second = Counting()
    run_shard(second, task(9), tmp_path, FEW, Shard(1, 2))
    assert not set(broken.asked) & set(second.asked)
    run_shard(Counting(), task(9), tmp_path, FEW, Shard(2, 2))
    assert len(merge_shards([tmp_path], tmp_path / "runs")) == 1


def test_a_missing_share_is_named(tmp_path: Path) -> None:
    folders = shares_of(tmp_path, 4)
    with pytest.raises(UserError, match=r"shares 2, 4 of 4 are missing: .* --shard 2/4"):
        merge_shards([folders[0], folders[2]], tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_share_that_was_repeated_elsewhere_counts_once(tmp_path: Path) -> None:
    folders = shares_of(tmp_path / "here", 2)
    again = run_shard(Counting(), task(9), tmp_path / "there", FEW, Shard(2, 2))
    (merged,) = merge_shards([*folders, again], tmp_path / "runs")
    assert len(merged.answers) == 18


def test_what_was_paid_for_is_added_up(tmp_path: Path) -> None:
    """A folder that is given twice was paid for once."""
    folders = shares_of(tmp_path, 2)
    for number, folder in enumerate(folders, 1):
        manifest = store.read_manifest(folder / store.MANIFEST)
        spent = {"requests": number, "cost": 0.25}
        store.write_manifest(folder, manifest.model_copy(update={"spent": spent}))
    (merged,) = merge_shards([*folders, tmp_path], tmp_path / "runs")
    assert merged.manifest.spent == {"requests": 3, "cost": 0.5}


def test_two_answers_to_one_prompt_are_refused(tmp_path: Path) -> None:
    folders = shares_of(tmp_path / "here", 2)
    copy = tmp_path / "there" / folders[1].relative_to(tmp_path / "here")
    shutil.copytree(folders[1], copy)
    journal = Journal(copy / store.JOURNAL)
    key, scores = next(iter(journal.read().items()))
    other = type(scores)([-9.0] * len(scores.logp), scores.tokens, scores.chars)
    journal.append({key: other})
    with pytest.raises(UserError, match="Share 2/2 was answered twice, and not alike"):
        merge_shards([*folders, copy], tmp_path / "runs")


def test_divisions_do_not_mix(tmp_path: Path) -> None:
    shares_of(tmp_path, 2)
    shares_of(tmp_path, 3)
    with pytest.raises(UserError, match="shared out in 2 and 3 shares"):
        merge_shards([tmp_path], tmp_path / "runs")


def test_a_damaged_journal_is_no_run(tmp_path: Path) -> None:
    folders = shares_of(tmp_path, 2)
    journal = folders[0] / store.JOURNAL
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(UserError, match="1 of 20 prompts have no answer"):
        merge_shards([tmp_path], tmp_path / "runs")


def test_shares_are_not_taken_for_unfinished_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shares_of(tmp_path, 2)
    merge_shards([tmp_path], tmp_path)
    (merged,) = store.find_runs([tmp_path])
    assert merged.manifest.questions == 9
    assert "unfinished" not in caplog.text


def test_nothing_to_merge(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no share of a run there"):
        merge_shards([tmp_path], tmp_path / "runs")


def test_shares_of_other_questions_are_refused(tmp_path: Path) -> None:
    folders = shares_of(tmp_path, 2)
    questions = folders[1] / store.QUESTIONS
    questions.write_text(questions.read_text().replace('"gold": {"red"', '"gold": {"blue"'))
    with pytest.raises(UserError, match="are not those in"):
        merge_shards([tmp_path], tmp_path / "runs")


def test_a_run_that_is_there_has_to_have_the_same_answers(tmp_path: Path) -> None:
    folders = shares_of(tmp_path, 2)
    (merged,) = merge_shards(folders, tmp_path / "runs")
    assert merge_shards(folders, tmp_path / "runs") == [merged]
    journal = Journal(folders[0] / store.JOURNAL)
    key, scores = next(iter(journal.read().items()))
    journal.append({key: type(scores)([-9.0] * 3, scores.tokens, scores.chars)})
    with pytest.raises(UserError, match="has other answers than these shares"):
        merge_shards(folders, tmp_path / "runs")


def test_notes_that_count_are_of_the_whole_run(tmp_path: Path) -> None:
    """Free answers, of which some name nothing: the run says how many, and no share does."""

    class Writing(Counting):
        def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
            reply = ("no idea", "no option", False)
            return [replace(made, replies=(reply,)) for made in super().answer(prompts)]

        def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
            return [*super().notes(answered), *note_misses(answered)]

    whole = run(Writing(), task(9), tmp_path / "whole", FEW)
    for number in (1, 2):
        run_shard(Writing(), task(9), tmp_path / "parts", FEW, Shard(number, 2))
    (merged,) = merge_shards([tmp_path / "parts"], tmp_path / "runs")
    assert merged.manifest.notes == whole.manifest.notes
    assert "20 of 20 replies named no option" in merged.manifest.notes[0]
