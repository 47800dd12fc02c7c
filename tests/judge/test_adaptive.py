"""The adaptive design: its rule, its assignment, what it saves, and the plan before it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from tests.judge.conftest import Opener
from tests.judge.studies import form_token, task

from seesay.judge.adaptive import estimate_need, share_width
from seesay.judge.items import ChoiceItem, ItemAnswer, RatingItem
from seesay.judge.planning import (
    Simulated,
    judgements_for_width,
    mean_judgements,
    pilot_shares,
    plan_design,
    rating_judgements,
    simulate_adaptive,
)
from seesay.judge.results.annotators import annotator_columns, estimated_labels, remarks
from seesay.judge.results.disputes import apply_rulings, disputed_items
from seesay.judge.results.export import export_study
from seesay.judge.results.quality import Judgement
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_task

ADAPTIVE = StudyDesign(allocation="adaptive", judgements=30, min_judgements=5, width=0.4)
OPTIONS = tuple("abcdef")
PEOPLE, CARELESS, ITEMS = 200, 9, 300


def needed(item: ChoiceItem | RatingItem, values: list[int]) -> int:
    return estimate_need(ADAPTIVE, item, [ItemAnswer(value, "chosen") for value in values])[0]


def test_disputed_items_need_more_judgements() -> None:
    """Wilson's interval of 6 of 6 is 0.390 wide, of 5 of 5 0.434; at one half it takes 21 to get to
    0.4. Ratings of 0, 1, 0, 1, ½ have a variance of (1 + 2 · 0.04) / 6 = 0.18: (2 · 1.96)² · 0.18 /
    0.4² = 17.3 judgements."""
    item = ChoiceItem(id="a", base="a", options=OPTIONS)
    assert share_width(1, 5) == pytest.approx(0.4345, abs=1e-4)
    assert share_width(1, 6) == pytest.approx(0.3903, abs=1e-4)
    assert [needed(item, [0] * n) for n in (0, 3, 5, 6)] == [5, 6, 6, 6]
    assert needed(item, [0, 1] * 3) == judgements_for_width(0.5, 0.4) == 21
    pair = RatingItem(id="a", base="a", words=("a", "b"))
    assert needed(pair, [50] * 5) == 5
    assert needed(pair, [0, 100, 0, 100, 50]) == 18


Answer = Callable[[int, int], int]


def crowd(seed: int) -> tuple[list[float], Answer, random.Random]:
    """200 people of whom 9 answer at random, and 300 items whose true answer is the first option:
    on six in ten nearly everyone knows it, on the others 35 to 80 %."""
    rng = random.Random(seed)
    shares = [0.97 if rng.random() < 0.6 else rng.uniform(0.35, 0.8) for _ in range(ITEMS)]
    careless = set(rng.sample(range(PEOPLE), CARELESS))

    def answer(person: int, item: int) -> int:
        if person in careless:
            return rng.randrange(len(OPTIONS))
        return 0 if rng.random() < shares[item] else rng.randrange(1, len(OPTIONS))

    return shares, answer, rng


def errors(simulated: Simulated, shares: list[float]) -> tuple[float, float]:
    """How often the most frequent answer is wrong (a tie counts in parts), and the mean error of
    the shares."""
    wrong = []
    for answers in simulated:
        counts = Counter(answers)
        best = [label for label, count in counts.items() if count == max(counts.values())]
        wrong.append(1 - (0 in best) / len(best))
    return fmean(wrong), fmean(
        abs(g.count(0) / len(g) - share) for g, share in zip(simulated, shares, strict=True)
    )


def simulate_fixed(answer: Answer, judgements: int) -> list[list[int]]:
    """Everyone answers items in turn until each has its number."""
    return [
        [answer((item * judgements + n) % PEOPLE, item) for n in range(judgements)]
        for item in range(ITEMS)
    ]


def savings(seed: int, draws: int) -> tuple[float, list[float], list[float]]:
    """Judgements per item of the adaptive design, its errors, and for each the share saved against
    the fixed one with the same error. Means of several draws: one draw is mostly chance."""
    shares, answer, _ = crowd(seed)
    items = [ChoiceItem(id=str(i), base=str(i), options=OPTIONS) for i in range(ITEMS)]
    simulated = [simulate_adaptive(answer, items, PEOPLE, ADAPTIVE) for _ in range(draws)]
    spent = fmean(sum(map(len, draw)) / ITEMS for draw in simulated)
    adaptive = [
        fmean(values) for values in zip(*(errors(draw, shares) for draw in simulated), strict=True)
    ]
    saved: dict[int, float] = {}
    for n in range(8, 60):
        fixed = [errors(simulate_fixed(answer, n), shares) for _ in range(draws)]
        for kind in (0, 1):
            if kind not in saved and fmean(draw[kind] for draw in fixed) <= adaptive[kind]:
                saved[kind] = 1 - spent / n
        if len(saved) == 2:
            break
    return spent, adaptive, [saved[0], saved[1]]


@pytest.mark.seconds
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_adaptive_design_saves_judgements_at_equal_error(seed: int) -> None:
    _, _, saved = savings(seed, 10)
    assert saved[0] > 0.15  # wrong labels
    assert saved[1] > 0.1  # the error of the shares


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_careless_people_have_low_competence(seed: int) -> None:
    study = study_from_task(task(ITEMS), StudyDesign(controls=0))
    rng = random.Random(seed)
    skill = {
        person: 1 / 3 if person <= CARELESS else rng.uniform(0.6, 0.98)
        for person in range(1, PEOPLE + 1)
    }
    truth = {item.id: rng.randrange(3) for item in study.measured}
    judgements = []
    for number, item in enumerate(study.measured):
        for n in range(20):
            person = (number * 20 + n) % PEOPLE + 1
            right = rng.random() < skill[person]
            value = truth[item.id] if right else (truth[item.id] + rng.randint(1, 2)) % 3
            judgements.append(Judgement(person, item, value, None, "chosen", 3.0, 0, float(number)))
    columns = annotator_columns(study, judgements)
    people = sorted(columns)
    estimates = [columns[person]["competence"] for person in people]
    mean_e, mean_s = fmean(estimates), fmean(skill[p] for p in people)
    cov = fmean((e - mean_e) * (skill[p] - mean_s) for e, p in zip(estimates, people, strict=True))
    spread_e = fmean((e - mean_e) ** 2 for e in estimates) ** 0.5
    correlation = cov / spread_e / fmean((skill[p] - mean_s) ** 2 for p in people) ** 0.5
    lowest = sorted(people, key=lambda person: columns[person]["competence"])[:CARELESS]
    careless = sum(person <= CARELESS for person in lowest)
    print(
        f"seed {seed}: correlation with the truth {correlation:.3f}; {careless} of the 9 careless "
        "among the 9 lowest"
    )
    assert correlation > 0.8
    assert careless >= 7


def test_columns_of_a_straight_liner() -> None:
    study = study_from_task(task(6), StudyDesign(controls=0))
    judgements = [
        Judgement(
            person,
            item,
            0 if person == 1 else place % 3,
            None,
            "chosen",
            0.5 if person == 1 else 4.0,
            0,
            place,
        )
        for person in (1, 2, 3)
        for place, item in enumerate(study.measured)
    ]
    columns = annotator_columns(study, judgements)
    assert (columns[1]["longest_run"], columns[1]["same_share"], columns[1]["fast_share"]) == (
        6,
        1.0,
        1.0,
    )
    assert (columns[2]["longest_run"], columns[2]["same_share"], columns[2]["fast_share"]) == (
        1,
        2 / 6,
        0.0,
    )
    assert columns[1]["competence"] < columns[2]["competence"]


def test_two_people_have_no_competence() -> None:
    """Where they disagree nobody can tell who is right: no number, and a sentence that says so."""
    study = study_from_task(task(6), StudyDesign(controls=0))
    judgements = [
        Judgement(person, item, (place + person) % 3, None, "chosen", seconds, 0, place)
        for person, seconds in ((1, 0.05), (2, 4.0))
        for place, item in enumerate(study.measured)
    ]
    columns = annotator_columns(study, judgements)
    assert [columns[person]["competence"] for person in (1, 2)] == [None, None]
    assert estimated_labels(study, judgements) == {}
    assert [columns[person]["hasty_answers"] for person in (1, 2)] == [6, 0]
    few, hasty = remarks(study, judgements)
    assert "3 people, and 2 people count" in few
    assert "participants: 1 (6 of 6)" in hasty


def test_excluded_people_and_few_judgements_estimate_nothing() -> None:
    """Three careful people and a careless one who is excluded, two or three judgements an item."""
    study = study_from_task(task(10), StudyDesign(controls=0))

    def judgement(person: int, place: int) -> Judgement:
        value = 0 if person == 1 else place % 3
        return Judgement(person, study.measured[place], value, None, "chosen", 4.0, 0, place)

    sparse = [
        judgement(person, place)
        for person, places in ((1, range(8)), (2, range(8)), (3, range(2, 10)), (4, [8]))
        for place in places
    ]
    columns = annotator_columns(study, sparse, {1})
    assert [columns[person]["competence"] for person in (1, 2, 3, 4)] == [None] * 4
    counted = [each for each in sparse if each.person != 1]
    assert estimated_labels(study, counted) == {}
    (sentence,) = remarks(study, sparse, {1})
    assert "take 3 judgements that count of an item, and of each person at least 5" in sentence

    # Everyone judges the first eight items; the others are judged once, by the last person.
    shared = [judgement(person, place) for person in (1, 2, 3, 4) for place in range(8)]
    shared += [judgement(4, 8), judgement(4, 9)]
    counted = [each for each in shared if each.person != 1]
    columns = annotator_columns(study, shared, {1})
    alone = annotator_columns(study, counted)
    assert columns[1]["competence"] is None
    for person in (2, 3, 4):
        assert columns[person]["competence"] == alone[person]["competence"] > 0.7
    estimates = estimated_labels(study, counted)
    labels = study.task.labels if study.task else ()
    expected = {study.measured[place].id: (labels[place % 3],) for place in range(8)}
    assert {item: named for item, (named, _) in estimates.items()} == expected
    (sentence,) = remarks(study, shared, {1})
    assert "empty for 2 of 10 judged items, and competence for 0 of 3 people" in sentence


def test_assignment_follows_disagreement(serve: Opener, tmp_path: Path) -> None:
    """Everyone agrees on all but one thing: it gets all its judgements, the others the few that
    they need."""
    design = StudyDesign(
        allocation="adaptive",
        judgements=12,
        min_judgements=3,
        width=0.55,
        per_page=4,
        pages=1,
        controls=0,
    )
    served = serve(study_from_task(task(4), design))
    for number in range(20):
        token = served.begin()
        page = served.client.get(f"/a/{token}").text
        if 'id="page"' not in page:
            break
        fields = {"form": form_token(page)}
        person = served.rows("SELECT MAX(id) FROM person")[0][0]
        for place, item in served.rows(
            "SELECT place, item FROM assignment WHERE person = ?", person
        ):
            fields[f"v{place}"] = str(number % 2 if item == "thing 0" else 0)
        assert served.send(token, 1, fields).status_code == 303
    counts = dict(served.rows("SELECT item, COUNT(*) FROM answer GROUP BY item"))
    assert counts == {
        "thing 0": judgements_for_width(0.5, 0.55),
        "thing 1": 4,
        "thing 2": 4,
        "thing 3": 4,
    }
    assert "nothing left to judge" in served.client.get(f"/a/{token}").text
    served.login()
    assert served.client.get("/api/counts").json()["judgements_needed"] == 9 + 3 * 4
    disputes = served.client.get("/researcher/disputes").text
    assert "A thing 0 is ____." in disputes
    assert "A thing 1" not in disputes
    form = {"form": form_token(disputes), "item": "thing 0", "o1": "1"}
    assert "ruled: green" in served.client.post("/researcher/disputes", data=form).text
    export_study(
        served.database, served.study, tmp_path / "export", resamples=100, adjudicated=True
    )
    rows = (tmp_path / "export" / "items.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1].endswith(",True,green")
    assert rows[2].endswith(",False,")


def test_rulings_exclude_contradicting_judgements() -> None:
    study = study_from_task(task(2), StudyDesign(controls=0))
    first, second = study.measured
    judgements = [Judgement(p, first, p % 2, None, "chosen", 1.0, 0, 0.0) for p in range(1, 7)]
    judgements += [Judgement(p, second, 0, None, "chosen", 1.0, 0, 0.0) for p in range(1, 7)]
    assert [dispute.item.id for dispute in disputed_items(judgements)] == [first.id]
    assert len(apply_rulings(judgements, {first.id: ("green",)})) == 3 + 6


def test_plans() -> None:
    plan = plan_design(
        "fixed", 10, items=66, items_per_person=60, most=10, minutes=4.0, pay=0.1, fee=0.5
    )
    assert (plan.judgements, plan.people, plan.minutes) == (660, 11, 4.0)
    assert plan.cost == pytest.approx(99.0)
    assert pilot_shares([[("a",)] * 4, [("a",), ("b",)]]) == [5 / 6, 1 / 2]
    # (2 · 1.96 · 0.2 / 0.2)² = 15.4 judgements, and one quarter of that at half of the spread, but
    # at least 5
    assert rating_judgements([0.2, 0.1], ADAPTIVE.model_copy(update={"width": 0.2})) == (
        16,
        (16 + 5) / 2,
    )
    unanimous, split = mean_judgements(ADAPTIVE, [1.0] * 50), mean_judgements(ADAPTIVE, [0.5] * 50)
    assert unanimous == 6
    assert split > 15


if __name__ == "__main__":  # for docs/results/people.md
    for seed in (1, 2, 3):
        print(seed, *savings(seed, 25))
