"""Asking: each prompt once, nothing asked again after a breakdown, and a manifest that says it
all."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.made_up import Counting, task
from tests.tiny import COLORS

from seesay.errors import UserError
from seesay.models import load_model
from seesay.progress import Kept
from seesay.questions import Prompt, Published, Question, Scores, Task, Template
from seesay.runs import answer_file, ask, records, store
from seesay.runs.ask import Settings, describe, limit_questions, run
from seesay.runs.chosen import explain_answers
from seesay.runs.journal import Journal

FEW = Settings(resamples=100)


def test_equal_prompts_are_asked_once(tmp_path: Path) -> None:
    whole_task, model = task(4), Counting()
    ask.ask(model, whole_task, Journal(tmp_path / "journal.jsonl"))
    assert set(Counter(model.asked).values()) == {1}
    # every question in both templates, and each template's neutral prompt
    assert len(model.asked) == 4 * 2 + 2
    assert "The something is [MASK]." in model.asked


def test_no_neutral_prompts_without_neutral_fields(tmp_path: Path) -> None:
    model = Counting()
    done = run(model, task(4, neutral=False), tmp_path, FEW)
    assert len(model.asked) == 8
    assert all(answer.neutral is None for answer in done.answers)
    assert {figure.metric for figure in done.figures} == {"accuracy"}


def test_questions_with_equal_prompts_share_their_answer(tmp_path: Path) -> None:
    alike = Question(
        "again", {"thing": "thing 0"}, ("red", "green", "blue"), {"blue": 1.0}, "object 9"
    )
    whole_task, model = replace(task(2), questions=(*task(2).questions, alike)), Counting()
    done = run(model, whole_task, tmp_path, FEW)
    assert len(model.asked) == 2 * 2 + 2
    scores = {(a.question, a.template): a.scores for a in done.answers}
    assert scores["again", "is"] == scores["q0", "is"]


def test_a_crash_loses_no_answer(tmp_path: Path) -> None:
    whole = run(Counting(), task(9), tmp_path / "whole", FEW)
    broken = Counting(breaks_after=6)
    with pytest.raises(ConnectionError):
        run(broken, task(9), tmp_path / "broken", FEW)
    second = Counting()
    calls: list[tuple[int, int]] = []
    resumed = run(
        second, task(9), tmp_path / "broken", FEW, lambda done, total: calls.append((done, total))
    )
    # the first call says what is there, the others what is asked now
    assert isinstance(calls[0][0], Kept)
    assert calls[0] == (len(broken.asked), 9 * 2 + 2)
    assert not any(isinstance(done, Kept) for done, _ in calls[1:])
    assert sum(done for done, _ in calls) == 9 * 2 + 2
    assert not set(broken.asked) & set(second.asked)
    assert len(broken.asked) + len(second.asked) == 9 * 2 + 2
    assert resumed.answers == whole.answers
    assert resumed.figures == whole.figures
    assert resumed.manifest.signature == whole.manifest.signature
    assert (resumed.folder / store.ANSWERS).read_bytes() == (
        whole.folder / store.ANSWERS
    ).read_bytes()
    assert not (resumed.folder / store.JOURNAL).exists()


def test_a_finished_run_is_read_not_asked(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    done = run(first, task(), tmp_path, FEW)
    progress: list[tuple[int, int]] = []
    again = run(second, task(), tmp_path, FEW, lambda n, of: progress.append((n, of)))
    assert second.asked == []
    assert again == done
    assert progress == [(8, 8)]


def test_missing_figures_are_computed_from_the_answers(tmp_path: Path) -> None:
    done = run(Counting(), task(), tmp_path, FEW)
    (done.folder / store.FIGURES).unlink()
    model = Counting()
    assert run(model, task(), tmp_path, FEW).figures == done.figures
    assert model.asked == []


def test_progress_counts_every_prompt(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    run(Counting(), task(), tmp_path, FEW, lambda n, of: seen.append((n, of)))
    assert sum(n for n, _ in seen) == 10
    assert {of for _, of in seen} == {10}


def test_a_limit_takes_whole_objects_by_a_seed() -> None:
    whole_task = task(40)
    some = limit_questions(whole_task, 10, seed=0)
    assert len(some.questions) == 10
    assert set(Counter(q.object for q in some.questions).values()) == {2}
    assert limit_questions(whole_task, 10, seed=0) == some
    assert limit_questions(whole_task, 10, seed=1) != some
    assert {q.id for q in some.questions} < {
        q.id for q in limit_questions(whole_task, 20, seed=0).questions
    }
    assert len(limit_questions(whole_task, 11, seed=0).questions) == 10
    assert len(limit_questions(whole_task, 1, seed=0).questions) == 1
    assert limit_questions(whole_task, 1000, seed=0) == whole_task


def test_a_limit_that_takes_nothing_away_is_none(tmp_path: Path) -> None:
    """It makes the same run, and no report calls it a sample."""
    published = (Published("other", "accuracy", 0.5, "Nobody 2020"),)
    whole_task = replace(task(10), published=published)
    whole = run(Counting(), whole_task, tmp_path / "whole", replace(FEW, limit=10))
    assert whole.manifest.limit is None
    assert whole.task.published == published
    part = run(Counting(), whole_task, tmp_path / "part", replace(FEW, limit=8))
    assert part.manifest.limit == 8
    assert not part.task.published


def of_sizes(*sizes: int) -> Task:
    """Return a task with so many questions about each of its objects."""
    return replace(
        task(),
        questions=tuple(
            replace(task().questions[0], id=f"{name}-{i}", object=f"object {name}")
            for name, size in enumerate(sizes)
            for i in range(size)
        ),
    )


def test_a_limit_takes_a_share_of_large_objects() -> None:
    """BLiMP by paradigm: 67 objects with 1,000 pairs each."""
    paradigms = of_sizes(*[1_000] * 67)
    some = limit_questions(paradigms, 100, seed=0)
    counts = Counter(question.object for question in some.questions)
    assert len(some.questions) == 100
    assert len(counts) == 67
    assert set(counts.values()) == {1, 2}
    (note,) = some.provenance.notes
    assert note.startswith("--limit 100 takes a share of the questions about each object that has")
    assert "67 of 67 objects" in note
    model = Counting()
    ask.prepare_task(model, paradigms, Settings(limit=100))
    # in the words of whoever calls from Python
    called = note.replace("--limit 100", "limit=100")
    assert any(called in kept for kept in model.notes())
    # not the first ones of each
    assert len({question.id.partition("-")[2] for question in some.questions}) > 90
    assert limit_questions(paradigms, 100, seed=0) == some
    assert limit_questions(paradigms, 100, seed=1) != some
    assert len(limit_questions(paradigms, 20, seed=0).questions) == 20
    turned = replace(paradigms, questions=paradigms.questions[::-1])
    assert {q.id for q in limit_questions(turned, 100, 0).questions} == {
        q.id for q in some.questions
    }
    whole = limit_questions(paradigms, 67_000, seed=0)
    assert len(whole.questions) == 67_000
    assert not whole.provenance.notes


def test_a_limit_keeps_small_objects_whole_beside_large_ones() -> None:
    mixed = of_sizes(500, 300, *[2] * 100)
    some = limit_questions(mixed, 100, seed=0)
    counts = Counter(question.object for question in some.questions)
    assert counts.pop("object 0") == 50
    assert counts.pop("object 1") == 30
    assert list(counts.values()) == [2] * 10


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    limit=st.integers(1, 200),
    seed=st.integers(0, 3),
)
def test_a_limit_is_never_exceeded(sizes: list[int], limit: int, seed: int) -> None:
    limited = limit_questions(of_sizes(*sizes), limit, seed)
    assert 1 <= len(limited.questions) <= limit
    if sum(sizes) <= limit:
        assert len(limited.questions) == sum(sizes)


def test_a_limit_does_not_depend_on_the_order_of_the_questions() -> None:
    whole_task = task(40)
    turned = replace(whole_task, questions=whole_task.questions[::-1])
    assert {q.id for q in limit_questions(whole_task, 10, 3).questions} == {
        q.id for q in limit_questions(turned, 10, 3).questions
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"length": "median"},
        {"limit": 0},
        {"limit": -3},
        {"seed": -1},
        {"resamples": 99},
        {"resamples": 10**12},
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError):
        Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "document", [records.Record, records.Figure, records.Manifest, records.Comparison]
)
def test_every_field_is_described(document: type[pydantic.BaseModel]) -> None:
    for name, field in document.model_fields.items():
        assert field.description, name
        assert field.description.endswith((".", "…")), name


def test_the_manifest_says_how_the_run_was_made() -> None:
    whole_task = task()
    manifest = describe(
        Counting(),
        whole_task,
        Settings(length="mean", limit=4, seed=3, command="seesay probe counting"),
    )
    for part in (
        "made-up.1@" + whole_task.fingerprint,
        "counting@f",
        "scope:option",
        "length:mean",
        "seed:3",
    ):
        assert part in manifest.signature
    assert {"python", "numpy"} <= manifest.environment.keys()
    assert manifest.templates == ["is", "asked"]
    assert manifest.citation == "Nobody 2020"
    assert manifest.command == "seesay probe counting"


def test_a_task_of_one_question_gives_figures(tmp_path: Path) -> None:
    one = Question("only", {"thing": "x"}, ("red", "green"), {"red": 1.0}, "x")
    done = run(
        Counting(),
        Task("one", "1", "One", (Template("is", "{thing} is [MASK]."),), (one,), ("accuracy",)),
        tmp_path,
        FEW,
    )
    overall = next(figure for figure in done.figures if figure.template is None)
    assert overall.n == 1
    assert (overall.low, overall.value) == (0, 0)
    # Wilson's interval of 0 in 1
    assert overall.high == pytest.approx(1.959964**2 / (1 + 1.959964**2), abs=1e-6)
    assert overall.spread is None


class Says(Counting):
    """A model with a fixed answer to everything."""

    def __init__(
        self,
        logp: tuple[float, ...],
        scope: str = "option",
        warning: str = "",
        breaks_after: int = 10**9,
    ) -> None:
        super().__init__(breaks_after=breaks_after)
        self.scope, self._logp, self._warning = scope, logp, warning
        self.only_chooses = scope == "choice"

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        if self._warning:
            self.note(self._warning)
        super().answer(prompts)
        return [Scores(self._logp, (1,) * len(self._logp), (1,) * len(self._logp)) for _ in prompts]


@pytest.mark.parametrize("logp", [(-1.0, float("nan"), -2.0), (-1.0,)])
def test_a_score_that_is_no_number_is_refused_before_it_is_written(
    tmp_path: Path, logp: tuple[float, ...]
) -> None:
    with pytest.raises(UserError, match="gave no number for an option"):
        run(Says(logp), task(3), tmp_path, FEW)
    assert not list(tmp_path.rglob(store.ANSWERS))


def test_a_model_that_only_chooses_gets_right_or_wrong_figures(tmp_path: Path) -> None:
    whole_task = replace(task(3), metrics=("accuracy", "true_confidence"))
    done = run(Says((0.0, -9.0, -9.0), scope="choice"), whole_task, tmp_path, FEW)
    assert {figure.metric for figure in done.figures} == {"accuracy"}
    with pytest.raises(
        UserError, match="needs probabilities, which 'counting' does not give: ask a model"
    ):
        run(
            Says((0.0, -9.0, -9.0), scope="choice"),
            replace(task(3), metrics=("jensen_shannon",)),
            tmp_path,
            FEW,
        )


def test_a_models_notes_are_logged_and_stay_with_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = Says((-1.0, -2.0, -3.0), warning="2 options were out of reach")
    with caplog.at_level(logging.WARNING):
        done = run(model, task(3), tmp_path, FEW)
    assert caplog.messages == ["2 options were out of reach"]
    assert done.manifest.notes == ["2 options were out of reach"]
    assert model.notes() == [], "the next run starts without them"


def test_a_resumed_run_that_notes_something_keeps_how_it_was_started(tmp_path: Path) -> None:
    """`created`, `command` and `environment` are those of the process that started the run."""
    note = "2 options were out of reach"
    with pytest.raises(ConnectionError):
        run(Says((-1.0, -2.0, -3.0), warning=note, breaks_after=6), task(9), tmp_path, FEW)
    [path] = tmp_path.rglob(store.MANIFEST)
    started = records.Manifest.model_validate_json(path.read_bytes())
    assert started.notes == [note], "notes of a process that died are kept"
    began = started.model_copy(
        update={
            "created": "2020-01-01T00:00:00+00:00",
            "command": "seesay probe says",
            "environment": {"python": "3"},
        }
    )
    store.write_manifest(path.parent, began)
    done = run(
        Says((-1.0, -2.0, -3.0), warning="another note"),
        task(9),
        tmp_path,
        replace(FEW, command="again"),
    )
    assert done.manifest.digests.keys() == {store.QUESTIONS, store.ANSWERS, store.FIGURES}
    assert done.manifest == began.model_copy(
        update={"notes": [note, "another note"], "digests": done.manifest.digests}
    )


def begun(root: Path) -> Path:
    """The journal of a run that broke down after six prompts."""
    with pytest.raises(ConnectionError):
        run(Counting(breaks_after=6), task(9), root, FEW)
    [path] = root.rglob(store.JOURNAL)
    return path


def test_damaged_lines_of_a_journal_are_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = run(Counting(), task(9), tmp_path / "whole", FEW)
    path = begun(tmp_path / "broken")
    lines = path.read_text().splitlines()
    short = Scores((-1.0,), (1,), (1,))  # of another length than its options
    path.write_text("\n".join([lines[0].replace("A", "B"), *lines[2:], ""]))
    Journal(path).append({json.loads(lines[1])["key"]: short})
    model = Counting()
    resumed = run(model, task(9), tmp_path / "broken", FEW)
    assert len(model.asked) == 9 * 2 + 2 - 6 + 3  # the batch of the two is asked again, all of it
    assert resumed.answers == whole.answers
    assert f"2 answers in {path} are damaged: they are asked again." in caplog.messages


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"format": 1}']
)
@pytest.mark.parametrize("name", [store.MANIFEST, store.QUESTIONS])
def test_a_good_journal_with_a_damaged_manifest_is_resumed(
    tmp_path: Path, name: str, damage: bytes
) -> None:
    folder = begun(tmp_path).parent
    (folder / name).write_bytes(damage)
    model = Counting()
    done = run(model, task(9), tmp_path, FEW)
    assert len(model.asked) == 9 * 2 + 2 - 6
    assert store.read_run(folder) == done


@pytest.mark.parametrize(
    ("logp", "why"),
    [
        ((float("nan"), -1.0, -1.0), "a score is not a number"),
        ((float("inf"), -1.0, -1.0), "a score is not a number"),
        ((-1.0, -1.0), "one score per option is missing"),
    ],
)
def test_a_models_answer_passes_the_check_of_the_journal(
    tmp_path: Path, logp: tuple[float, ...], why: str
) -> None:
    with pytest.raises(UserError, match=f"gave no number for an option of .*: {why}"):
        run(Says(logp), task(2), tmp_path, FEW)


def test_many_questions_are_held_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once per part of the answers was a time that grew with the square of their number."""
    calls: list[int] = []

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return explain_answers(*arguments)

    monkeypatch.setattr(answer_file, "explain_answers", counted)
    monkeypatch.setattr(answer_file, "_ROWS", 2)
    whole = task(9)
    done = run(Counting(), whole, tmp_path, FEW)
    assert len(calls) == 1
    assert done.task.questions is whole.questions
    assert store.read_run(done.folder) == done


def test_another_picture_or_metric_is_another_task(tmp_path: Path) -> None:
    picture = tmp_path / "scene.png"
    picture.write_bytes(b"one")
    question = replace(task(1).questions[0], picture=str(picture))
    first = replace(task(1), questions=(question,)).fingerprint
    picture.write_bytes(b"two")
    assert replace(task(1), questions=(question,)).fingerprint != first
    assert replace(task(1), metrics=("true_confidence",)).fingerprint != task(1).fingerprint


def test_a_lost_questions_file_is_written_again(tmp_path: Path) -> None:
    done = run(Counting(), task(3), tmp_path, FEW)
    (done.folder / store.QUESTIONS).unlink()
    assert run(Counting(), task(3), tmp_path, FEW).task == done.task


def test_a_tokenizer_that_splits_most_options_is_noted_with_the_time_it_takes(
    tmp_path: Path, tiny_folder: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    options = tuple(f"{color}ish{i}" for color in COLORS for i in range(10))
    questions = tuple(
        Question(thing, {"thing": thing}, options, {options[0]: 1.0}, thing)
        for thing in ("sky", "snow")
    )
    templates = (
        Template("is", "The {thing} is [MASK]."),
        Template("very", "The {thing} is very [MASK]."),
    )
    many = Task("many", "1", "", templates, questions, ("accuracy", "vocabulary_accuracy"))
    model = load_model(str(tiny_folder("bert")))
    with caplog.at_level(logging.WARNING):
        done = run(model, many, tmp_path, FEW)
    note = (
        f"The tokenizer of '{model.name}' splits 110 of 110 options into several pieces: "
        "they take longer to score"
    )
    assert [text.startswith(note) for text in done.manifest.notes] == [True]
    assert re.search(r"about \d+ s for 4 prompts", caplog.text)
    few = replace(many, questions=tuple(replace(q, options=options[:99]) for q in questions))
    assert run(model, few, tmp_path, FEW).manifest.notes == []


class Network(Counting):
    """A network, which logs when it is asked."""

    parameters: int | None = 7

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        logging.getLogger("seesay").warning("asked")
        return super().answer(prompts)


@pytest.mark.parametrize(
    ("load_seconds", "rate_seconds", "batches"), [(0, 1_000, 1), (1_000, 0, 2)]
)
def test_a_task_of_many_options_is_announced_before_and_timed_as_soon_as_there_is_a_rate(
    load_seconds: int,
    rate_seconds: int,
    batches: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    texts = len(task(3).templates) * sum(len(question.options) for question in task(3).questions)
    monkeypatch.setattr(ask, "MANY_TEXTS", texts)
    monkeypatch.setattr(ask, "LOAD_SECONDS", load_seconds)
    monkeypatch.setattr(ask, "RATE_SECONDS", rate_seconds)
    run(Network(), task(3), tmp_path, FEW)
    messages = [record.getMessage() for record in caplog.records]
    prompts = 3 * len(task(3).templates)
    first, *asked, timed = messages[: batches + 2]
    assert f"has {prompts} prompts with {texts} options in all" in first
    assert asked == ["asked"] * batches
    assert re.search(r"about \d+ s for \d+ prompts, at [\d,.]+ prompts/s", timed)
    # once
    assert sum("about" in message for message in messages) == 1


@pytest.mark.parametrize(("seconds", "is_told"), [(0, True), (1_000, False)])
def test_prompts_that_take_long_are_timed_whatever_they_are(
    seconds: int,
    is_told: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(ask, "RATE_SECONDS", 0)
    monkeypatch.setattr(ask, "LONG", seconds)
    model = Network()
    model.parameters = None
    run(model, task(3), tmp_path, FEW)
    assert ("about" in caplog.text) is is_told


def test_the_time_of_the_first_batch_in_which_a_model_is_loaded_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter([0.0, 50.0, 50.0, 54.0])
    monkeypatch.setattr(ask, "monotonic", lambda: next(clock))
    monkeypatch.setattr(ask, "LONG", 0)
    # names of one letter, so that every prompt counts alike: two batches of three
    questions = tuple(
        replace(task(1).questions[0], id=name, fields={"thing": name}) for name in "abcdef"
    )
    alike = replace(task(1), questions=questions, templates=task(1).templates[:1], neutral={})
    run(Network(), alike, tmp_path, FEW)
    assert "about 8 s for 6 prompts, at 0.8 prompts/s" in caplog.text


@pytest.mark.parametrize(("parameters", "many"), [(7, 1_000), (None, 1)])
def test_what_is_done_soon_is_not_announced(
    parameters: int | None,
    many: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Counting()
    model.parameters = parameters
    monkeypatch.setattr(ask, "MANY_TEXTS", many)
    run(model, task(3), tmp_path, FEW)
    assert "options in all" not in caplog.text
