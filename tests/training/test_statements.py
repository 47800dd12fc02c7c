"""Statements say what captions say, and nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from seesay.training.statements import COLORS, WORDINGS, colored_things, statements

WORDS = st.lists(st.sampled_from([*COLORS, "dog", "shirt", "and", "in", "a", "colored", "hair"]), max_size=12)


def test_by_hand() -> None:
    assert list(colored_things("Two brown dogs and a grey-haired man in the red of dawn")) == [("dogs", "brown")]
    assert list(colored_things("a black-colored cat on blue, white and green colored grass")) == [
        ("cat", "black"),
        ("grass", "green"),
    ]
    assert list(colored_things("a man in a white t-shirt and a blue tank top by a red striped wall")) == [
        ("t-shirt", "white")
    ]
    assert list(colored_things("the boy in green jumps off a yellow pull-up bar")) == [("pull-up", "yellow")]
    made = statements(["a red shirt", "no colour at all", "a blue sky"])
    assert len(made) == 2
    assert "red" in made[0]
    assert "shirt" in made[0]


@given(WORDS, st.integers(0, 99))
def test_every_statement_rests_on_its_caption(words: list[str], seed: int) -> None:
    caption = " ".join(words)
    made = statements([caption], seed)
    assert made == statements([caption], seed)
    forms = [
        re.escape(w).replace(r"\{thing\}", "(?P<thing>[a-z]+)").replace(r"\{color\}", "(?P<color>[a-z]+)")
        for w in WORDINGS
    ]
    for statement in made:
        found = next(match for form in forms if (match := re.fullmatch(form, statement)))
        pair = f"{found['color']} {found['thing']}"
        assert pair in caption or pair in caption.replace(" colored", "")
