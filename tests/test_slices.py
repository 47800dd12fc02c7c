"""Slices: typed, crossed, in numerical order, and stored as tags and values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from tests.runs.made_up import Counting
from tests.runs.test_figures import SETTINGS, example, figures_by_key

from seesay.api import Results
from seesay.errors import UserError
from seesay.questions import Question, Slice, Task
from seesay.reports.groups import group_runs
from seesay.reports.pages import run_views
from seesay.runs.answer_table import AnswerTable
from seesay.runs.ask import limit_questions, run
from seesay.runs.compare import compare
from seesay.runs.figures import slices

JSON = TypeAdapter(Slice)
PEOPLE = ("2", "5", "10", "20", "30")


def nested() -> Task:
    """Three things, each asked about in nested sets of which the last holds one of them only."""
    task, _ = example()
    questions = [
        replace(q, id=f"{q.id}/{n}", tags={**q.tags, "people": f"pf>={n}"})
        for n in PEOPLE
        for q in task.questions
        if n != "30" or q.id == "grass"
    ]
    return replace(task, questions=tuple(questions), nested_by="people")


@given(st.dictionaries(st.text(), st.text(), min_size=1, max_size=4))
def test_a_slice_comes_back_from_json(tags: dict[str, str]) -> None:
    part = Slice.of(tags)
    assert JSON.validate_json(JSON.dump_json(part)) == part
    assert part == Slice.of(dict(reversed(tags.items())))


def test_a_file_holds_no_slice_as_text() -> None:
    with pytest.raises(ValidationError):
        JSON.validate_json('"kind=fruit"')


def test_a_printed_slice_is_read() -> None:
    part = Slice.of(answers="colour", segment="pf>=10")
    assert Slice.parse(str(part)) == part
    assert (part.tags, part["segment"], part.without("segment")) == (
        ("answers", "segment"),
        "pf>=10",
        Slice.of(answers="colour"),
    )


@given(st.lists(st.integers(min_value=0), unique=True, min_size=2))
def test_values_are_in_numerical_order(numbers: list[int]) -> None:
    questions = [
        Question(str(n), {}, ("a",), {"a": 1.0}, "a", {"segment": f"pf>={n}"}) for n in numbers
    ]
    assert [part["segment"] for part in slices(questions, ["segment"])] == [
        f"pf>={n}" for n in sorted(numbers)
    ]


def test_crossed_slices_hold_what_has_all_the_tags() -> None:
    tags = [
        {"a": "x", "b": "1"},
        {"a": "x", "b": "2"},
        {"a": "x"},
        {"a": "y", "b": "1"},
        {"a": "x", "b": "1"},
    ]
    questions = [Question(str(i), {}, ("o",), {"o": 1.0}, "o", tag) for i, tag in enumerate(tags)]
    assert slices(questions, ["b", "a"]) == {
        Slice.of(a="x", b="1"): [0, 4],
        Slice.of(a="x", b="2"): [1],
        Slice.of(a="y", b="1"): [3],
    }


def test_nested_questions_have_a_headline_for_each_set_and_none_over_all() -> None:
    task, answers = example()
    whole = figures_by_key(task, answers)
    by_id = {answer.question: answer for answer in answers}
    assert by_id
    nested_task = nested()
    repeated = [
        replace(a, question=q.id)
        for q in nested_task.questions
        for a in answers
        if q.id.startswith(a.question)
    ]
    by_key = figures_by_key(nested_task, AnswerTable.of(repeated))
    assert [part for _, template, part in by_key if template is None][:5] == [
        f"people=pf>={n}" for n in PEOPLE
    ]
    assert all(part and "people=" in part for _, _, part in by_key)
    for n in PEOPLE[:-1]:  # every set of three is the example worked by hand
        for metric in ("accuracy", "calibrated_accuracy"):
            for template in (None, "A", "B"):
                figure, like = (
                    by_key[metric, template, f"people=pf>={n}"],
                    whole[metric, template, None],
                )
                assert (figure.value, figure.n, figure.chance) == pytest.approx(
                    (like.value, like.n, like.chance)
                )
            crossed = by_key[metric, None, f"kind=fruit × people=pf>={n}"]
            assert crossed.value == pytest.approx(whole[metric, None, "kind=fruit"].value)
    assert by_key["accuracy", None, "people=pf>=30"].n == 1


def test_a_run_of_nested_questions_from_its_folder_to_the_page(tmp_path: Path) -> None:
    model = Counting()
    done = run(model, nested(), tmp_path, SETTINGS)
    prompts = {template.ask(q).key for q in done.task.questions for template in done.task.templates}
    assert len(prompts) == 3 * 2  # nested questions are asked once
    (group,) = group_runs([done])
    assert [str(part) for part in group.parts] == [f"people=pf>={n}" for n in PEOPLE]
    assert len(run_views.headline(group).rows) == 5
    panels = {title: len(charts) for title, charts in run_views.curves(group)}
    assert panels == {"people": 1, "kind × people": 2, "template × people": 2}
    assert all(
        ">chance</text>" in chart for _, charts in run_views.curves(group) for chart in charts
    )
    other = run(Counting("other"), nested(), tmp_path, SETTINGS)
    assert [
        c.slice for c in compare([done, other], resamples=100) if c.metric == "accuracy"
    ] == list(group.parts)


def test_tags_are_crossed_on_demand(tmp_path: Path) -> None:
    task = example()[0]
    tagged = [
        replace(q, tags={**q.tags, "size": size})
        for q, size in zip(task.questions, ("2", "10", "2"), strict=True)
    ]
    results = Results(
        (run(Counting(), replace(task, questions=tuple(tagged)), tmp_path, SETTINGS),)
    )
    crossed = results.sliced("kind,size")
    more = [f for f in crossed.figures if f not in results.figures and f.metric == "accuracy"]
    assert [(str(f.slice), f.n) for f in more] == [
        ("kind=fruit × size=2", 1),
        ("kind=fruit × size=10", 1),
        ("kind=plant × size=2", 1),
    ]
    assert crossed.sliced(["size", "kind"]).figures == crossed.figures
    (plot,) = (
        plot
        for plot in run_views.slices(group_runs(crossed.runs)[0])
        if plot.title == "kind × size"
    )
    assert [row.name for row in plot.rows] == ["fruit · 2", "fruit · 10", "plant · 2"]
    with pytest.raises(
        UserError, match="No question has the tag 'colour' to slice by: there are kind, all, size"
    ):
        results.sliced("kind,colour")


def test_a_limit_counts_what_is_asked() -> None:
    assert {q.object for q in limit_questions(nested(), 2, 0).questions} <= {
        "apple",
        "lime",
        "grass",
    }
    assert len({q.object for q in limit_questions(nested(), 2, 0).questions}) == 2


def parted(counts: dict[str, int]) -> Task:
    """Thirty things with so many questions of each part, and thirty controls with one of "here"."""
    task, _ = example()
    template = task.questions[0]
    questions = [
        replace(
            template,
            id=f"{thing}/{part}/{n}",
            object=f"thing {thing}",
            tags={"part": part},
            fields={**template.fields, "n": f"{thing} {part} {n}"},
        )
        for thing in range(30)
        for part, count in counts.items()
        for n in range(count)
    ]
    questions += [
        replace(
            template,
            id=f"control {n}",
            object=f"control {n}",
            tags={"part": "here"},
            fields={**template.fields, "n": f"control {n}"},
        )
        for n in range(30)
    ]
    return replace(task, questions=tuple(questions), nested_by="part")


COUNTS = {"here": 4, "usually": 4, "blind": 1}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("limit", [3, 4, 6, 8])
def test_a_limit_below_an_object_still_has_every_part(limit: int, seed: int) -> None:
    limited = limit_questions(parted(COUNTS), limit, seed)
    parts = [question.tags["part"] for question in limited.questions]
    assert len(parts) == limit
    assert min(parts.count(part) for part in COUNTS) >= limit // 3
    note = limited.provenance.notes[-1]
    assert note.startswith(f"--limit {limit} is too small for whole objects")
    # the draw does not depend on the order of objects, and a larger limit goes on with a smaller
    # one's
    turned = sorted(parted(COUNTS).questions, key=lambda q: q.object, reverse=True)
    again = limit_questions(replace(parted(COUNTS), questions=tuple(turned)), limit, seed)
    assert {q.id for q in again.questions} == {q.id for q in limited.questions}
    smaller = {q.id for q in limit_questions(parted(COUNTS), 3, seed).questions}
    assert smaller <= {q.id for q in limited.questions}


def test_a_limit_below_the_parts_says_which_it_lacks() -> None:
    limited = limit_questions(parted(COUNTS), 2, 0)
    assert limited.provenance.notes[-1].endswith("and none with here: --limit 3 has all of them")


def test_what_has_every_part_is_drawn_as_ever() -> None:
    """Objects whole: the samples of published figures, with parts and without."""
    limited = limit_questions(parted(COUNTS), 40, 0)
    things = [q.object for q in limited.questions if q.object.startswith("thing")]
    assert {things.count(thing) for thing in things} == {9}
    assert limited.provenance.notes == parted(COUNTS).provenance.notes
    whole = replace(parted(COUNTS), nested_by="")
    # too small for a thing: controls alone, as there is no part that they lack
    assert {q.object for q in limit_questions(whole, 6, 1).questions} == {
        q.object for q in limit_questions(whole, 6, 1).questions if q.object.startswith("control")
    }
