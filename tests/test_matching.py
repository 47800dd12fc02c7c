"""The matcher on answers that were written out and labelled by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.matching import match, without_reasoning
from seesay.models.multiple_choice import letter

NEGATED = (
    " not ",
    "n't",
    "neither",
    "never",
    " no ",
    "anything but",
    "except",
    "wrong",
    "rather than",
    "instead of",
)


class FreeAnswer(NamedTuple):
    options: tuple[str, ...]
    lettered: bool
    question: str
    text: str
    labels: frozenset[str]


def answers() -> Iterator[FreeAnswer]:
    options: tuple[str, ...] = ()
    question, lettered = "", False
    for line in (
        Path(__file__).with_name("free_answers.txt").read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("#"):
            continue
        if line.startswith("options: "):
            lettered = line.endswith(" letters")
            options = tuple(line.removeprefix("options: ").removesuffix(" letters").split("|"))
        elif line.startswith("asked: "):
            question = line.removeprefix("asked: ")
        else:
            label, _, text = line.partition("\t")
            yield FreeAnswer(
                options,
                lettered,
                question,
                text.replace("\\n", "\n"),
                frozenset(label.split("+")) - {"-"},
            )


def named(answer: FreeAnswer) -> frozenset[str]:
    letters = [letter(i) for i in range(len(answer.options))] if answer.lettered else []
    return frozenset(
        match(answer.text, answer.options, question=answer.question, letters=letters).labels
    )


def test_98_percent_of_466_answers_and_no_negation_taken_for_an_answer() -> None:
    rows = list(answers())
    assert len(rows) == 466
    wrong = [
        (row.text, sorted(row.labels), sorted(named(row)))
        for row in rows
        if named(row) != row.labels
    ]
    assert len(wrong) <= 0.02 * len(rows), wrong
    negations = [row for row in rows if any(sign in f" {row.text.lower()} " for sign in NEGATED)]
    assert len(negations) > 120
    assert [row.text for row in negations if named(row) - row.labels] == []
    assert {label for row in rows for label in row.labels} <= {
        option for row in rows for option in row.options
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("<think>It is red", "unfinished"),
        ("It is not red.", "denied"),
        ("A stone.", "none"),
        ("red, green, blue, white, black", "all"),
    ],
)
def test_why_an_answer_names_nothing(text: str, reason: str) -> None:
    reading = match(text, ("red", "green", "blue", "white", "black"))
    assert (reading.labels, reading.reason) == ((), reason)


def test_further_names() -> None:
    aliases = {"red": ("crimson", "Scarlet Red")}
    assert match("A scarlet red.", ("red", "blue"), aliases=aliases).labels == ("red",)
    assert match("crimson", ("red", "blue")).labels == ()


OPTIONS = ("red", "light blue", "blue", "whiskers", "a tail")


@given(
    st.sampled_from(OPTIONS),
    st.sampled_from(["{}", "{}.", "It is {}.", "The answer is {}!", "\n{}\n"]),
)
def test_an_option_alone_is_itself(option: str, frame: str) -> None:
    assert match(frame.format(option), OPTIONS).labels == (option,)


@given(
    st.sampled_from(OPTIONS),
    st.sampled_from(["not {}", "It isn't {}.", "never {}", "It is not {}!", "no {}"]),
)
def test_a_negated_option_is_none(option: str, frame: str) -> None:
    assert match(frame.format(option), OPTIONS).labels == ()


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert set(match(text, OPTIONS).labels) <= set(OPTIONS)
    assert "<think>" not in without_reasoning(text)[0]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("<think>" * 500_000, ()),
        ("<think>a</think>" + "<thought>" * 400_000 + "</think> red", ("red",)),
        ("not red, " * 400_000, ()),
        ("red " * 1_000_000, ("red",)),
        ("I do not know. " * 200_000 + "The answer is red.", ("red",)),
        ("answer" + "\n" * 4_000_000, ()),
        ("\u0130" * 50_000 + ". <THINK>green</Think> red", ("red",)),
    ],
)
def test_replies_of_megabytes_are_read_in_no_time(text: str, labels: tuple[str, ...]) -> None:
    start = time.process_time()
    assert match(text, ("red", "green"), question="A cup is [MASK].").labels == labels
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "labels"), [("\\boxed{}", ()), ("It is red: \\boxed{}", ("red",))]
)
def test_an_empty_box_answers_nothing(text: str, labels: tuple[str, ...]) -> None:
    assert match(text, ("red", "green")).labels == labels


@given(st.lists(st.text(min_size=1, max_size=40), min_size=2, max_size=5, unique=True), st.data())
def test_an_option_copied_word_for_word_is_that_option(
    options: list[str], data: st.DataObject
) -> None:
    option = data.draw(st.sampled_from(options))
    reply = option.strip()
    same = [other for other in options if other.strip() == reply]
    if "<" in reply or "{" in reply or not reply or len(same) > 1:
        return  # a trace, a JSON object, nothing at all, or two options that differ in spaces alone
    assert match(option, [text.strip() for text in options]).labels == (reply,)


@pytest.mark.parametrize(
    ("text", "labels", "reason"),
    [
        ("US", ("US",), ""),
        ("us", ("us",), ""),
        ("Us", (), "ambiguous"),
        ("It is us.", (), "ambiguous"),
        ("them", ("them",), ""),
    ],
)
def test_options_that_differ_in_case_alone_take_the_exact_text(
    text: str, labels: tuple[str, ...], reason: str
) -> None:
    named_options = match(text, ("US", "us", "them"))
    assert (named_options.labels, named_options.reason) == (labels, reason)


def test_a_comparison_turned_round_without_a_word_for_its_converse_names_nothing() -> None:
    question = "A hedgehog is [MASK] than a sparrow."
    reply = "A sparrow is larger than a hedgehog."
    assert match(reply, ("larger", "rounder"), question=question).reason == "reversed"
