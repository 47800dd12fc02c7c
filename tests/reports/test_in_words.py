"""Sentences that claim no more than the figures do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reports.made_up import COLORS, run, task

from seesay.answers import NO_ANSWER, Scores
from seesay.condition import How
from seesay.quantities import listed
from seesay.reports.formatting import finding
from seesay.reports.groups import group_runs
from seesay.reports.in_words import asked_figure, layers_in_words, results_in_words
from seesay.reports.pages.runs import render
from seesay.runs.answer_table import AnswerTable
from seesay.runs.layers import LayerCurve, LayerFigure
from seesay.runs.records import Comparison, Figure
from seesay.runs.run import Run


def words(runs: list[Run], *comparisons: Comparison) -> str:
    return results_in_words(group_runs(runs), comparisons)


def beside(model: Run, baseline: Run, difference: float, p: float) -> Comparison:
    """The model minus the baseline, with an interval of 0.02 around the difference."""
    return Comparison(
        task=model.manifest.task,
        metric="accuracy",
        a=model.label,
        b=baseline.label,
        value_a=0.5 + difference,
        value_b=0.5,
        difference=difference,
        low=difference - 0.01,
        high=difference + 0.01,
        p_bootstrap=p,
        p_signflip=p,
        p_holm=p,
        p_mcnemar=None,
        n=3,
        objects=12,
        too_few=False,
        signature_a=model.manifest.signature,
        signature_b=baseline.manifest.signature,
    )


def pair(name: str) -> tuple[Run, Run]:
    return run(task(name), "smollm2"), run(task(name), "baseline:majority")


def test_a_model_beside_its_baseline() -> None:
    size, color, space = pair("size"), pair("color"), pair("space")
    sentence = words(
        [*size, *color, *space],
        beside(*size, 0.10, 0.001),
        beside(*color, -0.10, 0.001),
        # neither an interval nor a test alone is enough
        beside(*space, 0.10, 0.2),
    )
    assert sentence == (
        "Compared with baseline:majority, smollm2 is ahead on size, not shown to differ on space "
        "and behind on color."
    )


def test_of_two_samples_of_a_baseline_the_larger_counts() -> None:
    model, baseline = pair("size")
    large = beside(model, baseline, 0.10, 0.001)
    small = beside(model, baseline, 0.10, 0.5).model_copy(update={"n": 2})
    expected = "Compared with baseline:majority, smollm2 is ahead on size."
    assert words([model, baseline], small, large) == expected
    assert words([model, baseline], large, small) == expected


def test_another_metric_that_shows_a_difference_is_named() -> None:
    model, baseline = pair("size")
    headline = beside(model, baseline, 0.10, 0.2)
    other = beside(model, baseline, -0.10, 0.001).model_copy(update={"metric": "macro_f1"})
    assert words([model, baseline], headline, other) == (
        "Compared with baseline:majority, smollm2 is not shown to differ on size (accuracy; behind "
        "by macro_f1)."
    )


def test_the_other_way_round_it_is_the_same_sentence() -> None:
    model, baseline = pair("size")
    turned = beside(baseline, model, -0.10, 0.001)
    assert words([model, baseline], turned) == (
        "Compared with baseline:majority, smollm2 is ahead on size."
    )


def test_without_a_baseline_there_is_chance() -> None:
    model = run(task(), "smollm2")
    # 0.412 (0.362 to 0.462), chance 0.091
    assert words([model]) == "smollm2 is above chance on made-up."
    at_chance = tuple(replace_chance(model, 0.4))
    assert (
        words([replace(model, figures=at_chance)])
        == "smollm2 is not shown to differ from chance on made-up."
    )
    assert words([run(task(), "baseline:majority")]) == ""


def test_a_verdict_on_few_objects_is_marked_as_its_figure_is() -> None:
    model = run(task(), "smollm2")
    few = tuple(figure.model_copy(update={"too_few": True}) for figure in model.figures)
    assert words([replace(model, figures=few)]) == "smollm2 is above chance on made-up†."


def test_a_figure_that_is_grey_on_the_page_is_not_called_above_chance() -> None:
    """p = 0.03 is below 0.05 alone, and 0.06 is not as one of two headline figures."""
    numbers = {"value": 0.6085, "low": 0.6085 - 0.05 * 1.96, "high": 0.7, "chance": 0.5}
    close, other = (run(task(), name) for name in ("smollm2", "other"))
    figures = tuple(
        figure.model_copy(update=numbers | {"objects": 1000}) for figure in close.figures
    )
    close = replace(close, figures=figures)
    assert words([close]) == "smollm2 is above chance on made-up."
    # another figure, which is like chance, makes them two
    other = replace(other, figures=tuple(replace_chance(other, 0.4)))
    assert words([close, other]) == (
        "smollm2 and other are not shown to differ from chance on made-up."
    )
    page = render([close, other])
    assert '<span class="like-chance" title="not shown to differ from chance">0.609</span>' in page


def test_models_of_which_the_same_is_said_share_a_sentence() -> None:
    models = [run(task(), name) for name in ("one", "two", "three")]
    assert words(models) == "one, two and three are above chance on made-up."
    size, color = pair("size"), pair("color")
    other = run(task("size"), "other")
    assert words(
        [*size, *color, other],
        beside(*size, 0.10, 0.001),
        beside(other, size[1], 0.10, 0.001),
        beside(*color, 0.10, 0.2),
    ) == (
        "Compared with baseline:majority, smollm2 is ahead on size and not shown to differ on "
        "color. Compared with baseline:majority, other is ahead on size."
    )


def test_prompts_without_an_answer_are_counted_beside_the_verdict() -> None:
    """The figure is about them, and says little of what the model knows."""
    whole = run(task(count=120), "smollm2")
    mute = Scores((NO_ANSWER,) * len(COLORS), (1,) * len(COLORS), (1,) * len(COLORS))
    rows = list(whole.answers)

    def without(count: int) -> Run:
        answers = [replace(answer, scores=mute) for answer in rows[:count]]
        return replace(whole, answers=AnswerTable.of([*answers, *rows[count:]]))

    assert len(rows) == 240
    assert words([without(2)]) == "smollm2 is above chance on made-up."
    sentence = (
        "smollm2 is above chance on made-up (200 of 240 prompts without an answer count as wrong)."
    )
    assert words([without(200)]) == sentence
    assert sentence in render([without(200)])


def replace_chance(run: Run, chance: float) -> list[Figure]:
    return [figure.model_copy(update={"chance": chance}) for figure in run.figures]


def layer(number: int, value: float, **more: float) -> LayerFigure:
    return LayerFigure(
        "smollm2",
        "made-up",
        "accuracy",
        number,
        value,
        value - 0.05,
        value + 0.05,
        None,
        0.5,
        420,
        40,
        False,
        "",
        **more,
    )


def test_layers_stand_beside_their_controls_and_the_answers() -> None:
    figures = (
        layer(0, 0.55),
        layer(1, 0.75),
        layer(
            2,
            0.70,
            control=0.52,
            selectivity=0.18,
            second_thing=0.64,
            beyond_second=0.06,
            beyond_second_low=-0.01,
            beyond_second_high=0.13,
        ),
    )
    curve = LayerCurve(How.LINEAR, figures, "")
    asked = run(task(), "smollm2")
    answer = asked_figure(curve, [run(task(), "other"), asked])
    assert answer
    assert layers_in_words(curve, answer) == (
        "On made-up (accuracy), a linear probe of smollm2's layer 2 gets 0.700 (0.650–0.750); "
        "beside it, the embedding alone 0.550 (0.500–0.600), a probe that is shown the second "
        "thing alone 0.640 (both give +0.060, −0.010 to 0.130), labels that mean nothing 0.520, "
        "the model's answers to all 3 questions "
        "0.412 (0.362–0.462) and chance 0.500. The best of 3 layers on these questions is 1: 0.750 "
        "(0.700–0.800)."
    )
    assert "answers" not in layers_in_words(curve)
    assert asked_figure(curve, [run(task("other"), "smollm2")]) is None


@pytest.mark.parametrize("limit", [2, None])
def test_a_sample_is_not_the_whole(limit: int | None) -> None:
    curve = LayerCurve(How.LINEAR, (layer(0, 0.5),), "")
    asked = run(task(), "smollm2")
    manifest = asked.manifest.model_copy(update={"limit": limit})
    figure = asked_figure(curve, [replace(asked, manifest=manifest)])
    assert (figure is None) == (limit is not None)


def test_lists_in_a_sentence() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_a_metric_that_says_the_opposite_is_named() -> None:
    model, baseline = pair("space")
    ahead = beside(model, baseline, 0.05, 0.03)
    behind = beside(model, baseline, -0.12, 0.01).model_copy(update={"metric": "macro_f1"})
    sentence = words([model, baseline], ahead, behind)
    assert sentence == (
        "Compared with baseline:majority, smollm2 is ahead on space (accuracy; behind by macro_f1)."
    )
    # a difference that is not shown contradicts nothing
    unclear = behind.model_copy(update={"p_holm": 0.2})
    assert words([model, baseline], ahead, unclear).endswith("is ahead on space.")


def people(run_of_model: Run) -> Run:
    """The run as one of people."""
    manifest = run_of_model.manifest
    signature = f"model:people|family:people|{manifest.signature}"
    changes = {"model": "people", "family": "people", "signature": signature}
    return replace(run_of_model, manifest=manifest.model_copy(update=changes))


def test_people_are_several() -> None:
    _, baseline = pair("size")
    human_run = people(run(task("size"), "somebody"))
    comparison = beside(human_run, baseline, 0.10, 0.001)
    assert words([human_run, baseline], comparison) == (
        "Compared with baseline:majority, people are ahead on size."
    )
    assert finding(comparison).endswith("people are ahead.")
    other_way = comparison.model_copy(update={"difference": -0.1, "low": -0.11, "high": -0.09})
    assert finding(other_way).endswith("people are behind.")


@pytest.mark.parametrize(
    ("models", "title", "count"),
    [
        (["smollm2"], "a model says", "<bdi>smollm2</bdi>, 1 task"),
        (["smollm2", "people"], "a model and people say", "1 model and people, 1 task"),
        (
            ["smollm2", "gpt2", "baseline:majority", "people"],
            "models and people say",
            "2 models, 1 baseline and people, 1 task",
        ),
        (["people"], "people say", "<bdi>people</bdi>, 1 task"),
    ],
)
def test_a_page_counts_people_apart(models: list[str], title: str, count: str) -> None:
    runs = []
    for seed, name in enumerate(models):
        made = run(task("size"), name, seed=seed)
        if name.startswith("baseline"):
            changed = made.manifest.model_copy(update={"family": "baseline"})
            made = replace(made, manifest=changed)
        runs.append(people(made) if name == "people" else made)
    page = " ".join(render(runs).split())
    assert f"<h1>What {title} about what anyone can see</h1>" in page
    assert count in page
