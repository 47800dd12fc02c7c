"""Probes of every layer at once, their control task, and the logit lens: the same figures as one at
a time."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.tiny import save_tiny

from seesay import api
from seesay.errors import UserError
from seesay.metrics import Resamples
from seesay.metrics.base import weighted_mean
from seesay.models import load_model
from seesay.models.encoders import load_encoder
from seesay.probes.layers import (
    control_note,
    control_splits,
    first_thing,
    layer_logps,
    second_thing_splits,
)
from seesay.probes.linear import linear_task, probe_texts
from seesay.probes.linear_layer import ProbeConfig, train_layer, train_layers
from seesay.probes.vector_cache import LayerCache, VectorCache
from seesay.questions import Question, Task, Template
from seesay.reports.pages.layers import write_layers
from seesay.runs.ask import Settings, ask, limit_questions, pairs
from seesay.runs.journal import Journal
from seesay.runs.layers import layer_figures, parse_layers, read_curves
from seesay.runs.lens import JOURNAL, lens
from seesay.tasks import load_task

RESAMPLES = 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny("gpt2", tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="module")
def task() -> Task:
    whole = load_task("core-color")
    parts = {name: part.questions[:60] for name, part in whole.splits().items()}
    return replace(
        whole,
        questions=parts["test"],
        templates=whole.templates[:2],
        training=replace(whole.training, load_splits=lambda: parts),
    )


def test_training_layers_together_gives_the_same_weights() -> None:
    draw = np.random.default_rng(0)
    vectors, validation = (draw.normal(size=(3, n, 6)).astype(np.float32) for n in (50, 20))
    gold, val_gold = (np.eye(4, dtype=bool)[draw.integers(0, 4, n)] for n in (50, 20))
    config = ProbeConfig(epochs=6, rate=0.01)
    together = train_layers(vectors, gold, validation, val_gold, seed=3, config=config)
    for i, layer in enumerate(together):
        alone = train_layer(vectors[i], gold, validation[i], val_gold, seed=3, config=config)
        np.testing.assert_array_equal(layer.weights, alone.weights)
        assert (layer.epoch, layer.history) == (alone.epoch, alone.history)


def test_cached_layers_equal_the_encoder_output(folder: str, tmp_path: Path) -> None:
    encoder = load_encoder(folder)
    texts = ["the color of snow", "the color of grass", "the color of snow"]
    cache = LayerCache(encoder, tmp_path)
    cache.fill(texts)
    assert cache.layers(texts) == 3
    assert cache.size(texts) == 2 * 3 * 32 * 4  # two texts, three layers, 32 numbers of four bytes
    again = LayerCache(encoder, tmp_path).layer_rows(texts, [0, 2])
    np.testing.assert_array_equal(again, encoder.encode_layers(texts).swapaxes(0, 1)[[0, 2]])


def test_control_labels_belong_to_things() -> None:
    parts = linear_task(load_task("core-size")).splits()
    control = control_splits(parts)
    label_of: dict[str, str] = {}
    changed = 0
    for name, part in control.items():
        for before, after in zip(parts[name].questions, part.questions, strict=True):
            (label,) = after.gold
            assert label_of.setdefault(first_thing(after), label) == label
            assert (before.id, before.fields, before.options) == (
                after.id,
                after.fields,
                after.options,
            )
            changed += before.gold != after.gold
    total = sum(len(part.questions) for part in parts.values())
    assert 0.3 < changed / total < 0.7  # two labels: half of them are the same by chance
    assert control_note(parts).startswith("Only 96 of the 198 things of core-size")
    assert control_note({**parts, "test": parts["train"]}) == ""
    by_object = linear_task(load_task("core-color")).splits()
    assert control_note(by_object).startswith("No thing of core-color")


def test_few_shared_things_are_noted() -> None:
    """One thing of all that the test asks about occurs in training: it silenced the note."""
    parts = linear_task(load_task("core-color")).splits()
    train = parts["train"]
    questions = (*train.questions, parts["test"].questions[0])
    things = {first_thing(question) for question in parts["test"].questions}
    note = control_note({**parts, "train": replace(train, questions=questions)})
    assert note.startswith(f"Only 1 of the {len(things)} things of core-color")
    assert note.endswith("the control is what guessing gets for the others.")


def test_the_last_layer_equals_the_plain_probe(folder: str, task: Task, tmp_path: Path) -> None:
    parts = linear_task(task).splits()
    cache = LayerCache(load_encoder(folder), tmp_path / "vectors")
    curves, errors = api.layers(
        folder, task, seeds=2, settings=Settings(resamples=RESAMPLES), output=tmp_path / "layers"
    )
    assert not errors
    (curve,) = curves
    assert [figure.layer for figure in curve.figures] == [0, 1, 2]
    assert curve.vector_bytes > 0
    assert curve.notes
    assert "learnt by heart" in curve.notes[0]
    runs = api.probe(
        folder, task, how="linear", seeds=2, resamples=RESAMPLES, output=tmp_path / "runs"
    ).runs
    values = [next(f.value for f in run.figures if f.metric == "relaxed_accuracy") for run in runs]
    assert curve.figures[-1].value == pytest.approx(np.mean(values), abs=1e-12)
    for figure in curve.figures:
        assert figure.control is not None
        assert figure.selectivity == pytest.approx(figure.value - figure.control)
        assert figure.low <= figure.value <= figure.high
    stored = json.loads((tmp_path / "layers" / "layers.json").read_text())
    assert [row["layer"] for row in stored[0]["figures"]] == [0, 1, 2]
    page = write_layers(tmp_path / "layers.html", curves).read_text()
    assert "selectivity" in page
    chart = (tmp_path / "layers-1.svg").read_text()
    for name in ("linear probe", "meaningless labels", "chance"):
        assert f">{name}<" in chart
    assert "beside it, the embedding alone" in page
    with pytest.raises(KeyError):  # texts must be kept before a probe reads them
        layer_logps(cache, parts, [0])
    assert isinstance(cache, VectorCache)


def test_the_last_layer_of_the_lens_equals_the_answers_and_it_resumes(
    folder: str, task: Task, tmp_path: Path
) -> None:
    model, settings = load_model(folder), Settings(resamples=RESAMPLES, limit=20)
    curve = lens(model, task, tmp_path, settings, "all")
    small = replace(limit_questions(task, 20, 0), neutral={})
    answers = ask(model, small, Journal(tmp_path / "own.jsonl"))
    (path,) = tmp_path.rglob(JOURNAL)
    by_layer = Journal(path).read()
    for answer, (_, _, prompt, _) in zip(answers, pairs(small), strict=True):
        last_layer = by_layer[f"{prompt.key}:2"]
        np.testing.assert_allclose(last_layer.logp, answer.scores.logp, atol=1e-5)
    lines = path.read_bytes().splitlines(keepends=True)
    # killed in the middle of a line
    path.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:20])
    assert lens(model, task, tmp_path, settings, "all") == curve
    last = [answer.takeover for answer in curve.answers]
    right = np.mean([takeover is not None for takeover in last])
    assert curve.figures[-1].value == pytest.approx(right)
    assert lens(model, task, tmp_path, settings, "0,-1").figures[1].value == curve.figures[-1].value


def test_a_lens_on_text_asks_nothing_about_pictures(
    folder: str, task: Task, tmp_path: Path
) -> None:
    shown = replace(
        task, questions=tuple(replace(q, picture="picture.png") for q in task.questions)
    )
    with pytest.raises(UserError, match="asks about pictures"):
        lens(load_model(folder), shown, tmp_path, Settings(resamples=RESAMPLES), "all")


def test_parsing_of_layer_numbers() -> None:
    assert parse_layers("all", 3) == [0, 1, 2]
    assert parse_layers("-1,0", 31) == [0, 30]
    for wrong in ("3", "-4", "first", ""):
        with pytest.raises(UserError, match="--layers"):
            parse_layers(wrong, 3)


def test_a_model_without_layers_is_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be asked by layer"):
        api.layers("mock", task, how="cloze", output=tmp_path)
    with pytest.raises(UserError, match=r"^layers goes with"):
        api.layers("mock", task, how="choice", output=tmp_path)


def test_layers_allow_for_pairs_that_share_a_thing() -> None:
    """A figure of pairs is as uncertain by layers as it is in a run."""
    names = [f"{a}|{b}" for a, b in combinations("abcdefghijkl", 2)]
    # a model that is wrong about whatever has to do with three of the things
    right = [not set(name.split("|")) & set("abc") for name in names]
    questions = tuple(
        Question(f"q{i}", {"x": name}, ("yes", "no"), {"yes": 1.0}, name)
        for i, name in enumerate(names)
    )
    template = Template("is", "{x} is [MASK].")
    pairs_task = Task("pairs", "1", "", (template,), questions, ("accuracy",))
    stats = np.stack([np.array(right, dtype=float), np.ones(len(right))], axis=1)[None]
    control = np.stack([np.full(len(right), 0.5), np.ones(len(right))], axis=1)[None]
    settings = Settings(resamples=400)
    (figure,) = layer_figures("m", pairs_task, [0], [[stats], [control]], settings, str)
    things = [question.things for question in questions]
    whole = Resamples(names, 400, 0, things).interval(stats, weighted_mean, bounds=(0.0, 1.0))
    assert (figure.low, figure.high) == (whole.low, whole.high)
    by_pair = Resamples(names, 400, 0).interval(stats, weighted_mean, bounds=(0.0, 1.0))
    assert figure.high - figure.low > 1.5 * (by_pair.high - by_pair.low)
    assert (figure.objects, figure.too_few) == (12, False)
    # the control is the same for every pair: the difference is as uncertain as the figure
    assert figure.selectivity_low is not None
    assert figure.selectivity_high is not None
    assert figure.selectivity_high - figure.selectivity_low >= whole.high - whole.low - 1e-9


@pytest.mark.parametrize("how", ["linear", "cloze"])
def test_layers_that_a_model_does_not_have_are_refused_before_it_is_asked(
    how: str, folder: str, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_nothing(*_: object) -> None:
        raise AssertionError("the model was asked")

    for hook in ("encode_layers", "answer_layers"):
        monkeypatch.setattr(f"seesay.models.hf.causal.TransformersCausalModel.{hook}", ask_nothing)
    with pytest.raises(UserError, match=r"^layers names layer 99: there are 3, 0"):
        api.layers(folder, task, layers="0,99", how=how, output=tmp_path)
    # what is no number at all, before a model is even loaded
    monkeypatch.setattr("seesay.runs.curves.load_encoder", ask_nothing)
    with pytest.raises(UserError, match="give all, or numbers"):
        api.layers(folder, task, layers="first", how="linear", output=tmp_path)


def test_curves_stay_in_the_folder_unless_they_are_made_again(
    folder: str, task: Task, tmp_path: Path
) -> None:
    settings = Settings(resamples=RESAMPLES)
    (probes,), _ = api.layers(folder, task, settings=settings, output=tmp_path)
    (by_lens,), _ = api.layers(folder, task, how="cloze", settings=settings, output=tmp_path)
    assert read_curves(tmp_path) == [probes, by_lens]
    (some,), _ = api.layers(folder, task, layers="0,2", settings=settings, output=tmp_path)
    assert read_curves(tmp_path) == [by_lens, some]
    (tmp_path / "layers.json").write_text("[{]")
    with pytest.raises(UserError, match="move it away"):
        read_curves(tmp_path)


def test_a_probe_of_one_thing_is_not_shown_the_other(folder: str, tmp_path: Path) -> None:
    """The embedding of the last token knows nothing of what comes before it: to this layer both
    texts are one."""
    task = load_task("core-size")
    parts = linear_task(task).splits()
    question = parts["test"].questions[1]
    assert (question.things, first_thing(question)) == (("garden shed", "peach"), "peach")
    alone = second_thing_splits(parts)
    assert alone
    assert probe_texts(parts["test"])[1] == "the size of a peach compared with a garden shed"
    assert probe_texts(alone["test"])[1] == "the size of something compared with a garden shed"
    assert alone["test"].questions[1].gold == question.gold
    (curve,), _ = api.layers(folder, task, settings=Settings(resamples=RESAMPLES), output=tmp_path)
    # gpt2 adds positions to its embedding, and "something" is as long as few things are
    assert curve.figures[0].second_thing == pytest.approx(curve.figures[0].value, abs=0.06)
    for figure in curve.figures:
        assert figure.second_thing is not None
        assert figure.beyond_second == pytest.approx(figure.value - figure.second_thing)
        assert figure.beyond_second_low is not None
        assert figure.beyond_second_high is not None
        assert figure.beyond_second_low <= figure.value - figure.second_thing
        assert figure.beyond_second_high >= figure.value - figure.second_thing
    page = write_layers(tmp_path / "layers.html", [curve]).read_text()
    assert "beyond_second" in page
    assert second_thing_splits(linear_task(load_task("core-color")).splits()) is None
