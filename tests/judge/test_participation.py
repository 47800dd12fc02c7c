"""What a person meets from the link to the code, on both databases, without a browser."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psycopg
import pytest
from tests.judge.conftest import Opener
from tests.judge.studies import choice_study, form_token, rating_study, serve_in_test

from seesay.judge.storage.sqlite import SqliteDatabase


def test_from_link_to_code(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    token = served.invite()
    first = served.client.get(f"/a/{token}")
    assert "I agree to take part" in first.text
    served.client.post(f"/a/{token}/consent", data={"form": form_token(first.text), "agree": "yes"})
    for page in (1, 2):
        shown = served.client.get(f"/a/{token}").text
        assert f"Page {page} of 2" in shown
        assert shown.count('class="item rating') == 6  # four pairs and two controls
        assert served.send(token, page, served.fill(token)).status_code == 303
    assert "Thank you" in served.client.get(f"/a/{token}").text
    (code,) = served.rows("SELECT code FROM person")[0]
    assert len(code) == 10
    assert code in served.client.get(f"/a/{token}").text
    assert served.rows("SELECT COUNT(*) FROM answer")[0][0] == 12


def test_no_answer_without_consent(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    token = served.invite()
    form = form_token(served.client.get(f"/a/{token}").text)
    assert served.client.post(f"/a/{token}/consent", data={"form": form}).status_code == 422
    assert served.save(token, 1, 50).status_code == 403
    assert served.rows("SELECT COUNT(*) FROM answer")[0][0] == 0


def test_slider_counts_only_when_moved_or_confirmed(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, slider_start="random"))
    token = served.begin()
    fields = served.fill(token)
    unmoved = {name: value for name, value in fields.items() if name not in ("ok1", "ok2")}
    reply = served.send(token, 1, unmoved)
    assert reply.status_code == 422
    assert "Some answers are missing" in reply.text
    assert reply.text.count(" missing") >= 2
    rows = served.rows("SELECT place FROM assignment WHERE state = 'open' ORDER BY place")
    assert rows == [(1,), (2,)]
    assert served.rows("SELECT COUNT(*) FROM answer")[0][0] == 4  # what was given is kept
    assert served.send(token, 1, {**fields, "ok2": "confirmed"}).status_code == 303
    starts = dict(served.rows("SELECT item, start FROM answer"))
    assert starts == {item: served.study.initial_position(1, item) for item in starts}
    assert len(set(starts.values())) > 1
    assert {how for (how,) in served.rows("SELECT how FROM answer")} == {"moved", "confirmed"}


def test_answers_survive_a_reload(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    token = served.begin()
    before = served.client.get(f"/a/{token}").text
    assert served.save(token, 3, 81).json() == {"page": 1, "answered": 1, "items": 6}
    after = served.client.get(f"/a/{token}").text
    assert 'name="v3" min="0" max="100" step="1" value="81"' in after
    assert 'name="ok3" value="moved" checked' in after
    assert before.count(" checked") == 0  # there is no default answer


def test_second_tab_duplicates_no_answer(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    token = served.begin()
    served.save(token, 1, 20)
    served.save(token, 1, 70)
    assert served.rows("SELECT value, changes FROM answer") == [(70, 1)]
    assert served.send(token, 1, served.fill(token)).status_code == 303
    late = served.save(token, 1, 5)
    assert late.status_code == 409
    assert "closed" in late.json()["error"]
    assert served.rows("SELECT COUNT(*) FROM answer WHERE value = 5")[0][0] == 0


def test_the_researcher_sees_the_median_time(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, controls=0))
    token = served.begin()
    served.client.get(f"/a/{token}")
    medians = []
    for place, seconds in enumerate((2, 10, 5), 1):
        medians.append(served.progress().seconds)
        served.clock.now += seconds
        served.save(token, place, 50)
    assert [*medians, served.progress().seconds] == [None, 2, 6, 5]


def test_order_of_items_is_random_and_stable(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path, per_page=12, judgements=5))
    orders = []
    for _ in range(3):
        token = served.begin()
        number = served.rows("SELECT MAX(id) FROM person")[0][0]
        orders.append(
            served.rows("SELECT item FROM assignment WHERE person = ? ORDER BY place", number)
        )
        assert served.client.get(f"/a/{token}").text == served.client.get(f"/a/{token}").text
    assert orders[0] != orders[1] != orders[2]


def test_choices(serve: Opener) -> None:
    served = serve(choice_study())
    token = served.begin()
    shown = served.client.get(f"/a/{token}").text
    assert shown.count('type="radio"') == 5 * 3
    assert " checked" not in shown
    assert served.send(token, 1, served.fill(token, lambda n: n % 3)).status_code == 303
    assert {how for (how,) in served.rows("SELECT how FROM answer")} == {"chosen"}
    served.client.get(f"/a/{token}")
    assert served.save(token, 1, 3, page=2).status_code == 422  # there are three options: 0, 1, 2


def test_pause_close_and_open_again(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    token = served.begin()
    fields = served.fill(token)
    served.save(token, 1, 10)
    assert served.login().status_code == 303

    def switch(state: str) -> None:
        form = form_token(served.client.get("/researcher").text)
        assert (
            served.client.post("/researcher/state", data={"form": form, "state": state}).status_code
            == 200
        )

    for state, words in (("paused", "The study is paused"), ("closed", "takes no more answers")):
        switch(state)
        assert words in served.client.get(f"/a/{token}").text
        assert served.send(token, 1, fields).status_code == 409
        assert served.save(token, 2, 10).status_code == 409
    assert served.rows("SELECT COUNT(*) FROM answer")[0][0] == 1
    switch("open")
    assert served.send(token, 1, fields).status_code == 303


def test_returning_workers_resume(serve: Opener, tmp_path: Path) -> None:
    served = serve(
        rating_study(tmp_path, return_url="https://app.example.org/done?cc={code}", pages=1)
    )
    join = f"/join/{served.rows('SELECT value FROM study WHERE key = ?', 'join')[0][0]}"
    first = served.client.get(
        join, params={"PROLIFIC_PID": "5f3c", "SESSION_ID": "2"}, follow_redirects=False
    )
    again = served.client.get(
        join, params={"PROLIFIC_PID": "5f3c", "SESSION_ID": "2"}, follow_redirects=False
    )
    other = served.client.get(join, params={"workerId": "5f3c"}, follow_redirects=False)
    assert first.headers["location"] == again.headers["location"] != other.headers["location"]
    assert served.rows("SELECT COUNT(*) FROM person")[0][0] == 2
    people = served.rows("SELECT * FROM person")
    assert "5f3c" not in repr(people)  # the worker's id is not kept
    assert served.client.get(join).status_code == 400
    preview = served.client.get(
        join, params={"workerId": "x", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    )
    assert "nothing you do here is saved" in preview.text
    assert served.rows("SELECT COUNT(*) FROM person")[0][0] == 2
    token = first.headers["location"].removeprefix("/a/")
    form = form_token(served.client.get(f"/a/{token}").text)
    served.client.post(f"/a/{token}/consent", data={"form": form, "agree": "yes"})
    served.send(token, 1, served.fill(token))
    end = served.client.get(f"/a/{token}").text
    (code,) = served.rows("SELECT code FROM person WHERE finished IS NOT NULL")[0]
    assert f'href="https://app.example.org/done?cc={code}"' in end


def test_unsaved_answers_are_not_acknowledged(tmp_path: Path, fresh_postgres: str) -> None:
    """A full disk, a database that is gone: 503, which the script tries again, and never
    "saved"."""
    small = serve_in_test(rating_study(tmp_path), str(tmp_path / "small.sqlite"))
    token = small.begin()
    small.rows("PRAGMA max_page_count = 1")  # no page can be added: as on a full disk
    replies = {small.save(token, 1 + n % 6, n).status_code for n in range(100)}
    assert replies == {200, 503}
    small.rows("PRAGMA max_page_count = 100000")
    assert small.save(token, 1, 42).status_code == 200
    small.database.close()

    gone = serve_in_test(rating_study(tmp_path), fresh_postgres)
    token = gone.begin()
    gone.client.get(f"/a/{token}")
    assert gone.save(token, 1, 10).status_code == 200
    with pytest.raises(psycopg.Error), psycopg.connect(fresh_postgres, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity")
    later = [gone.save(token, 1, 20 + n).status_code for n in range(12)]
    assert set(later) <= {200, 503}
    assert later[-1] == 200  # lost connections are made anew
    gone.database.close()


def test_cancelled_request_stops_no_other(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "study.sqlite")
    begin = threading.Event()
    first = database.submit(lambda _: begin.wait(60))
    while not first.running():
        time.sleep(0.001)
    assert database.submit(lambda _: "given up").cancel()
    begin.set()
    assert database.submit(lambda _: "answered").result(60) == "answered"
    database.close()
