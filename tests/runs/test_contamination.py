"""The alarm: who sets it off, who does not, and what cannot be tested."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from seesay import api
from seesay.cli import main
from seesay.digests import text_number
from seesay.errors import UserError
from seesay.models.base import Model, TokenScores
from seesay.progress import ProgressCallback, no_progress
from seesay.questions import SLOT, Prompt, Question, Scores, Task
from seesay.runs.ask import Settings
from seesay.runs.contamination import (
    Contamination,
    adjust_for_things,
    detect_contamination,
    exchange,
)
from seesay.tasks import load_task
from seesay.tasks.editions import Place, renewable_tasks
from seesay.tasks.editions import pair_places as task_places

SETTINGS = Settings(resamples=500)


@cache
def task() -> Task:
    """The embedded task, in one template."""
    whole_task = load_task("core-size")
    return replace(whole_task, templates=whole_task.templates[:1], neutral={})


@cache
def file_lines() -> dict[str, int]:
    """The sentences of the published file, with their places."""
    lines = []
    for question in task().questions:
        text = task().templates[0].ask(question).text
        lines.append(text.replace(SLOT, question.best_label))
    return {line: place for place, line in enumerate(lines)}


@dataclass
class Reader(Model):
    """Finds a text as likely as chance has it, but for what it has read of the file: a line by
    heart, and which line follows which."""

    name: str = "reader"
    family: str = "mock"
    fingerprint: str = "f"
    knows_answers: bool = False
    knows_lines: float = 0.0
    knows_order: float = 0.0
    texts: list[str] = field(default_factory=list)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Choose at random, or by heart."""
        answers = []
        for prompt in prompts:
            logps = [-(text_number(prompt.key + option) % 97) / 97 for option in prompt.options]
            if self.knows_answers:
                lines = [prompt.text.replace(SLOT, option) for option in prompt.options]
                pairs = zip(logps, lines, strict=True)
                logps = [logp + 2 * (line in file_lines()) for logp, line in pairs]
            answers.append(Scores(tuple(logps), (1, 1), (1, 1)))
        return answers

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """A token per line."""
        for text in texts:
            self.texts.append(text)
            lines = text.split("\n")
            logps = [-5 - (text_number(line) % 100) / 50 for line in lines]
            places = [file_lines().get(line) for line in lines]
            logps = [
                logp + self.knows_lines * (place is not None)
                for logp, place in zip(logps, places, strict=True)
            ]
            follows = sum(
                first is not None and second is not None and 0 < second - first < 9
                for first, second in pairwise(places)
            )
            yield TokenScores(tuple(lines), (*logps[:-1], logps[-1] + self.knows_order * follows))


@dataclass
class Mute(Model):
    """Scores no texts, and knows no answer."""

    name: str = "mute"
    family: str = "mock"
    fingerprint: str = "f"

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Find all options alike."""
        return [Scores((-1.0, -1.0), (1, 1), (1, 1)) for _ in prompts]


def detect(model: Model, folder: Path) -> Contamination:
    edition = load_task("core-size@new")
    return detect_contamination(model, task(), edition, folder, SETTINGS, no_progress)


def test_a_clean_model_sets_off_no_alarm(tmp_path: Path) -> None:
    outcome = detect(Reader(), tmp_path)
    assert not outcome.alarm
    assert [test.test for test in outcome.tests] == ["score", "text", "order"]
    assert [test.n for test in outcome.tests] == [225, 225, 37]
    assert "does not prove that it has not" in str(outcome)
    assert all(test.low < 0 < test.high for test in outcome.tests)


@pytest.mark.parametrize(
    ("knowledge", "test"),
    [
        ({"knows_answers": True}, "score"),
        ({"knows_lines": 0.5}, "text"),
        ({"knows_order": 0.3}, "order"),
    ],
)
def test_each_kind_of_knowledge_is_found_by_its_test(
    tmp_path: Path, knowledge: dict[str, float], test: str
) -> None:
    outcome = detect(Reader(**knowledge), tmp_path)  # type: ignore[arg-type]
    assert outcome.alarm
    by_name = {each.test: each for each in outcome.tests}
    assert by_name[test].p == min(each.p for each in outcome.tests) < 0.005
    assert by_name[test].low > 0
    assert "clean models in 100" in str(outcome)
    # three tests: the smallest p-value counts three times
    assert outcome.p == pytest.approx(3 * by_name[test].p)


def test_questions_about_one_pair_stay_together(tmp_path: Path) -> None:
    reader = Reader()
    detect(reader, tmp_path)
    shards = [text for text in reader.texts if text.count("\n") == 11]
    assert len(shards) == 37 * 10
    lines = shards[1].split("\n")
    places = [file_lines()[line] for line in lines]
    # a pair is asked both ways: its second line follows its first in every order
    assert [second - first for first, second in zip(places[::2], places[1::2], strict=True)] == [
        1
    ] * 6
    assert sorted(lines) == sorted(shards[0].split("\n")) != lines


def test_a_model_that_scores_no_texts_is_asked_alone(tmp_path: Path) -> None:
    outcome = detect(Mute(), tmp_path)
    assert [test.test for test in outcome.tests] == ["score"]
    assert "not tested: 'mute' gives texts no probability" in outcome.notes[0]


def test_scoring_texts_shows_progress(tmp_path: Path) -> None:
    steps: dict[str, list[tuple[int, int]]] = {}

    @contextmanager
    def bars(title: str, unit: str) -> Iterator[ProgressCallback]:
        yield lambda done, total: steps.setdefault(title, []).append((done, total))

    edition = load_task("core-size@new")
    reader = Reader()
    detect_contamination(reader, task(), edition, tmp_path, SETTINGS, bars)
    texts = steps["reader · core-size as texts, in several orders"]
    # 450 questions in each of two draws, and 37 shards in ten orders, one by one
    assert texts == [(1, 450 + 450 + 370)] * len(reader.texts)
    assert len(reader.texts) == 1270


@pytest.mark.parametrize("name", ["prior-color", "malevic-pos", "easy-vqa"])
def test_a_task_with_pictures_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Before a picture is drawn or a model is loaded, with the names of tasks that can be."""

    def load_nothing(*arguments: object, **options: object) -> Task:
        raise AssertionError(arguments)

    monkeypatch.setattr("seesay.tasks.several.load_task", load_nothing)
    with pytest.raises(UserError, match=r"asks about pictures: .* tests core-size, things-size, "):
        api.probe("baseline:majority", name, contamination=True, output=tmp_path)


def test_no_task_of_a_list_with_pictures_is_offered() -> None:
    """What a test of texts names comes without pictures, as the tasks themselves say."""
    offered = renewable_tasks(texts_only=True)
    assert "core-size" in offered
    others = set(renewable_tasks()) - set(offered)
    assert {"prior-color", "prior-size", "kind-size", "malevic-pos"} <= others
    # a card without a mark, of a task with pictures, would be offered
    assert not any(question.picture for question in load_task("core-size").questions)


def test_what_cannot_be_tested_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'core-color' is a fixed list"):
        api.probe("baseline:majority", "core-color", contamination=True, output=tmp_path)
    with pytest.raises(UserError, match="'core-size@2027-01' is an edition itself"):
        api.probe("baseline:majority", "core-size@2027-01", contamination=True, output=tmp_path)
    shown = replace(task(), questions=(replace(task().questions[0], picture="a.png"),))
    with pytest.raises(UserError, match="'core-size' asks about pictures: "):
        detect_contamination(Reader(), shown, task(), tmp_path, SETTINGS, no_progress)
    with pytest.raises(UserError, match="fewer than 30 show nothing: raise limit"):
        api.probe("baseline:majority", "core-size", contamination=True, limit=20, output=tmp_path)
    with pytest.raises(UserError, match="go without shard"):
        api.probe(
            "baseline:majority", "core-size", contamination=True, shard="1/2", output=tmp_path
        )


def test_the_command_tests_a_real_model_and_keeps_what_came_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared("tinystories260k/config.json").parent
    arguments = ["--contamination", "--limit", "70", "--resamples", "200", "--json"]
    with pytest.raises(SystemExit) as ended:
        main(["probe", str(folder), "--task", "core-size", *arguments, "--output", str(tmp_path)])
    assert ended.value.code == 0
    (printed,) = json.loads(capsys.readouterr().out)
    assert [printed] == json.loads((tmp_path / "contamination.json").read_text())
    assert [test["test"] for test in printed["tests"]] == ["score", "text", "order"]
    # 70 of 450 questions that are no anchors: 35 pairs of things, in five shards of six
    assert [test["n"] for test in printed["tests"]] == [35, 35, 5]
    assert not printed["alarm"]


def pair_places(count: int, generator: np.random.Generator) -> list[Place]:
    """Places whose objects are pairs of 40 things."""

    def questions() -> tuple[Question, ...]:
        first, second = generator.choice(40, 2, replace=False)
        return (Question("q", {}, ("yes", "no"), {"yes": 1.0}, f"{first}|{second}"),)

    return [Place(questions(), questions()) for _ in range(count)]


def values_of(
    places: Sequence[Place], effect: float, generator: np.random.Generator
) -> list[np.ndarray]:
    """What a text has of its things, which differ widely, of being published, and of chance."""
    things = generator.normal(0, 5, 40)
    sides = []
    for side in (0, 1):
        groups = [(place.published, place.renewed)[side] for place in places]
        values = [sum(things[int(thing)] for thing in group[0].things) for group in groups]
        sides.append(np.array(values) + generator.normal(0, 1, len(places)) + effect * (side == 0))
    return sides


def test_things_are_allowed_for() -> None:
    generator = np.random.default_rng(0)
    places = pair_places(200, generator)
    _, estimate = adjust_for_things(places, *values_of(places, 1.0, generator))
    # the noise of 200 pairs of texts is 0.1; with that of the things it would be 0.7
    assert estimate.value == pytest.approx(1.0, abs=0.35)
    assert 0.075 < estimate.error < 0.175


def test_intervals_of_texts_cover_the_effect() -> None:
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        places = pair_places(225, generator)
        _, estimate = adjust_for_things(places, *values_of(places, 0.5, generator))
        covered += abs(estimate.value - 0.5) <= 1.96 * estimate.error
    # 95 %, and three standard errors of 300 worlds
    assert covered / 300 == pytest.approx(0.95, abs=0.038)


@pytest.mark.parametrize("deviation", [0.0, 1.0], ids=["guesses", "things count"])
def test_few_pairs_set_off_no_more_alarms(deviation: float) -> None:
    """The first 30 pairs of the task itself, of which nearly every thing is in one or two."""
    places = task_places(task(), load_task("core-size@fresh"))[:30]
    groups = [group for place in places for group in (place.published, place.renewed)]
    names = sorted({thing for group in groups for thing in group[0].things})
    generator = np.random.default_rng(3)
    covered, alarms, worlds = 0, 0, 400
    for _ in range(worlds):
        effects = dict(zip(names, generator.normal(0, deviation, len(names)), strict=True))
        of_things = [sum(effects[thing] for thing in group[0].things) for group in groups]
        values = np.array(of_things) + generator.normal(0, 1, len(groups))
        _, estimate = adjust_for_things(places, values[::2], values[1::2])
        covered += abs(estimate.value) <= 2.05 * estimate.error
        alarms += estimate.p <= 0.05
    # 95 % and 5 %, and three standard errors of 400 worlds
    assert covered / worlds == pytest.approx(0.95, abs=0.033)
    assert alarms / worlds == pytest.approx(0.05, abs=0.033)


def test_orders_are_exchanged_within_shards() -> None:
    generator = np.random.default_rng(2)
    # the first of four orders is always the likeliest: one case in 4⁶ by chance
    likeliest = np.tile([1.0, 0.0, 0.0, 0.0], (6, 1))
    assert exchange(likeliest, 20_000, generator) == pytest.approx(1 / 4**6, abs=4e-4)
    p_values = [exchange(generator.normal(size=(10, 5)), 200, generator) for _ in range(4_000)]
    # 5 %, and three standard errors of 4,000 worlds
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.0103)
