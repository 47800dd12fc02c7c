"""Condition: its label, its part of a signature, and what it states."""

from __future__ import annotations

import pytest

from seesay.condition import (
    Condition,
    How,
    PictureKind,
    Sampling,
    label,
    label_without_seed,
    without_seed,
)


@pytest.mark.parametrize(
    ("condition", "suffix"),
    [
        (Condition(), ""),
        (Condition(how=How.CHOICE, scope="sentence", length="mean"), ""),
        (Condition(chat="0a1b", system="Be brief."), " · chat"),
        (Condition(how=How.GENERATE, sampling=Sampling()), " · generated"),
        (Condition(shots=1, shot_seed=2), " · 1 shot · seed 2"),
        (Condition(how=How.LINEAR, probe_seed=0), " · linear · seed 0"),
        (Condition(picture=PictureKind.BLANK), " · blank picture"),
        (Condition(picture=PictureKind.RANDOM, picture_seed=1), " · random picture · seed 1"),
        (
            Condition(how=How.GENERATE, chat="0a1b", shots=5, shot_seed=0),
            " · chat · generated · 5 shots · seed 0",
        ),
    ],
)
def test_labels(condition: Condition, suffix: str) -> None:
    assert label("smollm2", condition) == f"smollm2{suffix}"
    name = label_without_seed("smollm2", condition)
    assert name == label("smollm2", without_seed(condition)) or condition.probe_seed is not None
    assert label("smollm2", condition).startswith(name)


def test_a_signature_says_what_applies() -> None:
    assert Condition().signature_parts == ("how:cloze",)
    condition = Condition(
        how=How.GENERATE, sampling=Sampling(2, 1.0, 16), chat="0a1b", shots=3, shot_seed=1
    )
    assert condition.signature_parts == (
        "how:generate",
        "sampling:2@1-16",
        "chat:0a1b",
        "shot-seed:1",
    )
    assert Condition(how=How.LENS, layer=0).signature_parts == ("how:lens", "layer:0")
    shown = Condition(picture=PictureKind.RANDOM, picture_seed=0, regions="0a1b")
    assert shown.signature_parts == (
        "how:cloze",
        "picture:random",
        "picture-seed:0",
        "regions:0a1b",
    )


def test_a_page_states_what_applies() -> None:
    assert Condition(shots=2, shot_seed=0).stated == {
        "how": "cloze",
        "shots": 2,
        "shot seed": 0,
        "scope": "option",
        "length": "sum",
    }


def test_a_condition_survives_its_document() -> None:
    condition = Condition(how=How.GENERATE, sampling=Sampling(2, 1.0, 16, 3), system="Be brief.")
    assert Condition.model_validate_json(condition.model_dump_json()) == condition
    assert len({condition, condition.replace(), Condition()}) == 2
