"""Every item reaches its number, nothing is handed out in vain, and people who leave give their
items back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.judge.conftest import Opener
from tests.judge.studies import ServedStudy, choice_study, rating_study

from seesay.judge.planning import people_needed


def measured(served: ServedStudy) -> dict[str, int]:
    rows = served.rows(
        "SELECT i.id, COUNT(a.person) FROM item i LEFT JOIN answer a ON a.item = i.id "
        "WHERE i.control = '' GROUP BY i.id"
    )
    return {item: int(count) for item, count in rows}


def consistent(served: ServedStudy) -> bool:
    """An item's count is the leases and answers that are there."""
    return not served.rows(
        """SELECT i.id FROM item i WHERE i.taken !=
        (SELECT COUNT(*) FROM assignment s WHERE s.item = i.id AND s.state != 'returned')"""
    )


def work(served: ServedStudy, token: str, page: int) -> bool:
    """Send a page; False where there is none."""
    if f"Page {page} of" not in served.client.get(f"/a/{token}").text:
        return False
    assert served.send(token, page, served.fill(token)).status_code == 303
    return True


def test_every_item_reaches_its_number_and_no_more(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=3, per_page=5, pages=3))
    for _ in range(served.study.participants_needed + 1):
        token = served.begin()
        page = 1
        while work(served, token, page):
            page += 1
    assert set(measured(served).values()) == {3}
    assert consistent(served)
    late = served.invite()
    assert served.client.get(f"/a/{late}").status_code == 200


@pytest.mark.parametrize("judgements", [2, 3])
def test_a_plan_takes_as_many_people_as_the_server(serve: Opener, judgements: int) -> None:
    """A person's controls are not theirs to judge, so that ten items take more than 4 people."""
    served = serve(choice_study(count=10, judgements=judgements, per_page=5, pages=2, controls=1))
    needed = people_needed(served.study)
    assert needed > served.study.participants_needed
    for person in range(1, needed + 1):
        assert min(measured(served).values()) < judgements, f"complete before person {person}"
        token = served.begin()
        page = 1
        while f"Page {page} of" in served.client.get(f"/a/{token}").text:
            fields = served.fill(token, lambda place: 0)
            assert served.send(token, page, fields).status_code == 303
            page += 1
    assert set(measured(served).values()) == {judgements}


def test_full_study_turns_people_away(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=1, per_page=12, pages=1))
    assert work(served, served.begin(), 1)
    late = served.begin()
    assert "nothing left to judge" in served.client.get(f"/a/{late}").text
    # no code for no work
    assert served.rows("SELECT COUNT(*) FROM person WHERE code IS NOT NULL")[0][0] == 1


def test_items_of_inactive_people_become_available(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=1, per_page=12, pages=1, lease_minutes=30))
    gone = served.begin()
    served.client.get(f"/a/{gone}")
    (first,) = served.rows(
        "SELECT MIN(s.place) FROM assignment s JOIN item i ON i.id = s.item WHERE i.control = ''"
    )[0]
    served.save(gone, int(first), 40)
    other = served.begin()
    assert "nothing left to judge" in served.client.get(f"/a/{other}").text
    served.clock.now += 31 * 60
    assert work(served, other, 1)
    assert set(measured(served).values()) == {1}
    assert consistent(served)
    back = served.client.get(f"/a/{gone}").text
    # the answered pair and the two controls are still theirs
    assert back.count('class="item rating') == 3
    assert served.send(gone, 1, served.fill(gone)).status_code == 303
    assert set(measured(served).values()) == {1}


def test_late_answer_counts_only_where_it_is_still_needed(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=1, per_page=6, pages=1, controls=0))
    slow = served.begin()
    served.client.get(f"/a/{slow}")
    served.clock.now += 31 * 60
    quick = served.begin()
    assert work(served, quick, 1)  # gives back the slow one's items, and takes some of the twelve
    counts = measured(served)
    replies = {}
    for item, number in served.rows("SELECT item, place FROM assignment WHERE person = 1"):
        replies[item] = served.save(slow, int(number), 50).status_code
    assert replies == {item: 410 if counts[item] else 200 for item in replies}
    assert max(measured(served).values()) == 1
    assert consistent(served)


def test_answer_to_a_reassigned_item_does_not_count_for_its_successor(
    serve: Opener, tmp_path: Path
) -> None:
    served = serve(rating_study(tmp_path, judgements=1, per_page=6, pages=1, controls=0))
    slow = served.begin()
    stale = served.fill(slow)
    before = dict(served.rows("SELECT place, item FROM assignment WHERE person = 1"))
    served.clock.now += 31 * 60
    others = [served.begin() for _ in range(2)]
    for item in before.values():  # the first of the others gets what the slow one had
        served.rows("UPDATE item SET place = -1 WHERE id = ? RETURNING id", item)
    served.rows("UPDATE item SET taken = 1 WHERE place >= 0 RETURNING id")
    assert work(served, others[0], 1)
    served.rows("UPDATE item SET taken = 0 WHERE place >= 0 RETURNING id")
    served.client.get(f"/a/{slow}")  # in a second tab: other items
    after = dict(served.rows("SELECT place, item FROM assignment WHERE person = 1"))
    assert not set(before.values()) & set(after.values())
    assert not before.keys() & after.keys()
    assert {served.save(slow, place, 50).status_code for place in before} == {404}
    assert served.send(slow, 1, stale).status_code == 422  # asks for the new ones
    assert served.rows("SELECT COUNT(*) FROM answer WHERE person = 1") == [(0,)]
    assert work(served, slow, 1)


def test_activity_renews_the_leases(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=1, per_page=12, pages=1))
    token = served.begin()
    served.client.get(f"/a/{token}")
    for number in range(1, 6):
        served.clock.now += 20 * 60
        assert served.save(token, number, 50).status_code == 200
    other = served.begin()
    assert "nothing left to judge" in served.client.get(f"/a/{other}").text


def test_judgements_never_exceed_the_design(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, judgements=2, per_page=3, pages=4, lease_minutes=10))
    chance = random.Random(7)
    tokens = [served.begin() for _ in range(6)]
    for _ in range(150):
        token = chance.choice(tokens)
        served.clock.now += chance.choice((1, 30, 400))
        number = tokens.index(token) + 1
        page = int(served.rows("SELECT pages_sent FROM person WHERE id = ?", number)[0][0]) + 1
        match chance.randrange(3):
            case 0:
                served.client.get(f"/a/{token}")
            case 1:
                assert served.save(token, chance.randint(1, 5), 50, page=page).status_code in (
                    200,
                    404,
                    409,
                    410,
                )
            case _:
                work(served, token, page)
        assert max(measured(served).values()) <= 2
        assert consistent(served)


def test_control_question_is_not_measured_with_the_same_person(serve: Opener) -> None:
    served = serve(choice_study(judgements=4, per_page=5, pages=2, controls=2))
    for _ in range(4):
        token = served.begin()
        for page in (1, 2):
            assert served.send(token, page, served.fill(token, lambda n: n % 3)).status_code == 303
    assert consistent(served)
    twice = served.rows(
        "SELECT person, base FROM assignment GROUP BY person, base HAVING COUNT(*) > 1"
    )
    assert twice == []
    assert served.rows(
        "SELECT COUNT(*) FROM assignment s JOIN item i ON i.id = s.item WHERE i.control = 'known'"
    )[0][0]
