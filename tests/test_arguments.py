"""A value of another type than an argument has is refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seesay
from seesay import api
from seesay.errors import UserError


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ({"seed": None}, "seed is None: give a whole number."),
        ({"seed": 1.5}, "seed is 1.5: give a whole number."),
        ({"shots": "2"}, "shots is '2': give a whole number."),
        ({"limit": "5"}, "limit is '5': give a whole number or None."),
        ({"samples": True}, "samples is True: give a whole number."),
        ({"temperature": "1"}, "temperature is '1': give a number."),
        ({"picture": 3}, "picture is 3: give a text or a list."),
        ({"regions": 3}, "regions is 3: give a path or None."),
        ({"adaptive": "no"}, "adaptive is 'no': give True or False."),
        ({"progress": True}, "progress is True: give a function."),
        # an option of the model, not of the call
        ({"batch_size": "2"}, "batch_size is '2': give a whole number or None."),
        # these say which choices there are
        ({"chat": "yes"}, "chat is 'yes': give True, False or 'both'."),
        ({"tasks": 3}, "3 is no task: give its name, a seesay Task, or a list."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_argument_of_another_type_is_refused(
    argument: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    call = {"models": "mock", "tasks": "core-color", "output": tmp_path, **argument}
    with pytest.raises(UserError) as refusal:
        seesay.probe(**call)
    assert str(refusal.value) == sentence
    assert not list(tmp_path.iterdir())


def test_other_functions_refuse_them_too(tmp_path: Path) -> None:
    untyped: Any = api
    with pytest.raises(UserError, match="runs is 3: give a path or a list"):
        untyped.results(3)
    with pytest.raises(UserError, match="layer is '1': give a whole number or None"):
        untyped.encode("mock", "a word", layer="1")
    with pytest.raises(UserError, match="output is None: give a path"):
        untyped.report(tmp_path, output=None)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """As in `for seed in np.arange(3)`."""
    untyped: Any = seesay
    plain = seesay.probe("baseline:random", "core-color", limit=4, seed=1, output=tmp_path / "1")
    numpy = untyped.probe(
        "baseline:random",
        "core-color",
        limit=np.int64(4),
        seed=np.int32(1),
        temperature=np.float32(0),
        output=tmp_path / "2",
    )
    assert numpy.answers() == plain.answers()
