"""Diets: known dials only, within their bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.rearing.diet import DIETS, choose_diets, make_diet, read_diets


def test_an_unknown_dial_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match=r"no dial 'typcal' \(did you mean 'typical'\?\)"):
        make_diet({"name": "mine", "typcal": 0.5})


@pytest.mark.parametrize(
    ("dials", "message"),
    [
        ({"name": "mine", "typical": 2}, "The dial 'typical' of the diet 'mine' cannot be 2"),
        ({"name": "mine", "doses": [1, 1]}, "give each dose once"),
        ({"name": "mine", "doses": []}, "give each dose once"),
        ({"typical": 0.5}, "The dial 'name'"),
    ],
)
def test_a_dial_out_of_bounds_is_refused(dials: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_diet(dials)


def test_diets_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "diets.yaml"
    path.write_text("- {name: a, typical: 0.25}\n- {name: b, doses: [4, 0]}\n")
    first, second = read_diets(path)
    assert (first.typical, second.doses) == (0.25, (0, 4))
    path.write_text("name: a\n")
    with pytest.raises(UserError, match="no list of diets"):
        read_diets(path)


def test_diets_by_name() -> None:
    assert [diet.name for diet in choose_diets(["silent", "all-said", "silent"])] == [
        "silent",
        "all-said",
    ]
    with pytest.raises(UserError, match="no diet 'silnt'"):
        choose_diets(["silnt"])
    assert len(DIETS) >= 6
