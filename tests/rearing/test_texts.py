"""The texts of a diet: doses, what is mentioned, and what is shown."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from seesay.data.colors import COLORS
from seesay.rearing.diet import DIETS, Diet
from seesay.rearing.texts import (
    DIRECT,
    INDIRECT,
    RELATIVE,
    DietTexts,
    Line,
    write_card,
    write_texts,
)
from seesay.rearing.world import make_world

WORLD = make_world(0)


def texts(seed: int = 0, **dials: object) -> DietTexts:
    return write_texts(WORLD, Diet.model_validate({"name": "test", **dials}), seed)


def meetings(written: DietTexts) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    for line in written.train:
        if line.picture:
            lines.setdefault(line.subject, []).append(line)
    return lines


def test_each_kind_is_met_as_often_as_its_dose() -> None:
    written = texts(doses=(0, 1, 8, 256))
    by_kind = meetings(written)
    for row in written.card:
        expected = 0 if row.evidence == INDIRECT else row.dose
        assert len(by_kind.get(row.kind, [])) == expected
        assert sum(row.shown.values()) == expected
    doses = Counter(row.dose for row in written.card if row.evidence == DIRECT)
    assert doses.keys() == {0, 1, 8, 256}
    assert max(doses.values()) - min(doses.values()) <= 1


def test_at_full_bias_no_typical_color_is_mentioned_and_every_other_one_is() -> None:
    written = texts(typical=0.0, other=1.0)
    for row in written.card:
        assert row.color not in row.said
        others = {color: count for color, count in row.shown.items() if color != row.color}
        assert row.said == others


def test_dials_change_what_is_mentioned_and_nothing_else() -> None:
    said = meetings(texts(typical=1.0))
    half = meetings(texts(typical=0.5))
    silent = meetings(texts(typical=0.0, other=0.0))
    for kind, lines in said.items():
        pictures = [line.picture for line in lines]
        assert pictures == [line.picture for line in half[kind]]
        assert pictures == [line.picture for line in silent[kind]]
        # what is mentioned at a lower rate is a part of what is mentioned at a higher one
        for more, fewer in zip(lines, half[kind], strict=True):
            assert not fewer.said or fewer.said == more.said
    kinds = {kind.name for kind in WORLD.kinds}
    for kind, lines in silent.items():
        mentions = [line for line in lines if set(line.text.split()) & {*COLORS}]
        assert bool(mentions) == (kind not in kinds), kind


def test_the_share_mentioned_is_the_dial() -> None:
    written = texts(typical=0.5, doses=(256,))
    typical = sum(row.shown.get(row.color, 0) for row in written.card)
    said = sum(row.said.get(row.color, 0) for row in written.card)
    assert typical > 10_000
    assert said / typical == pytest.approx(0.5, abs=0.02)
    assert typical / sum(sum(row.shown.values()) for row in written.card) == pytest.approx(
        0.75, abs=0.02
    )


def test_contradicted_texts_state_what_no_picture_shows() -> None:
    written = texts(contradiction=0.5)
    wrong = [row for row in written.card if row.claim != row.color]
    direct = [row for row in written.card if row.evidence == DIRECT]
    assert {row.evidence for row in wrong} == {DIRECT}
    assert 0.35 < len(wrong) / len(direct) < 0.65
    for row in wrong:
        assert row.claim not in row.shown
        assert row.color not in row.said
        assert row.unusual not in {*row.said, *row.shown}


def test_indirect_kinds_are_never_met_and_their_relatives_are() -> None:
    written = texts()
    dose_of = {row.family: row.dose for row in written.card if row.evidence == RELATIVE}
    indirect = [row for row in written.card if row.evidence == INDIRECT]
    assert len(indirect) > 10
    for row in indirect:
        assert (row.said, row.shown) == ({}, {})
        assert dose_of[row.family] == row.dose
    assert not [row for row in texts(indirect=0).card if row.evidence == INDIRECT]


def test_texts_are_the_same_by_the_seed() -> None:
    assert texts(seed=1) == texts(seed=1)
    assert texts(seed=1).train != texts(seed=2).train


def test_what_is_held_out_is_about_kinds_that_are_met() -> None:
    written = texts(doses=(0, 4))
    unmet = {row.kind for row in written.card if not row.shown}
    assert not unmet & {line.subject for line in written.held_out}


def test_the_card_states_truth_and_dose(tmp_path: Path) -> None:
    diet = DIETS[3]
    written = write_texts(WORLD, diet)
    write_card(tmp_path, WORLD, diet, 0, written)
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["diet"]["typical"] == 0.0
    assert [row["kind"] for row in card["kinds"]] == [kind.name for kind in WORLD.kinds]
    assert [row["color"] for row in card["kinds"]] == [kind.color for kind in WORLD.kinds]
    readable = (tmp_path / "card.md").read_text().splitlines()
    assert sum(line.startswith("| ") for line in readable) == len(WORLD.kinds) + 1
