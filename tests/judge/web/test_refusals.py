"""What must be refused: strangers, guesses, replays, scripts, floods, and each other's pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.judge.studies import (
    PASSWORD,
    ServedStudy,
    choice_study,
    form_token,
    rating_study,
    serve_in_test,
    task,
)

from seesay.judge import security
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_pairs, study_from_task
from seesay.judge.web.rate_limits import (
    LOGIN_LIMIT,
    PARTICIPANT_LIMIT,
    UNKNOWN_LIMIT,
    RateLimit,
    RateLimiter,
)

RESEARCHER_PAGES = [
    "/researcher/preview",
    "/researcher/export.zip",
    "/api/counts",
    "/a/preview/picture/0/1",
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    opened = serve_in_test(rating_study(tmp_path), str(tmp_path / "study.sqlite"))
    yield opened
    opened.database.close()


def everything(served: ServedStudy) -> list[Any]:
    """All that a refused request could have changed."""
    return [
        served.rows(f"SELECT * FROM {table}")
        for table in ("person", "assignment", "answer", "receipt", "item")
    ]


def test_no_link(served: ServedStudy) -> None:
    reply = served.client.get("/")
    assert reply.status_code == 403
    assert "you need your own link" in reply.text


def test_guessed_token_is_rejected(served: ServedStudy) -> None:
    for token in (security.new_token(), "a" * 32, "1", "%2e%2e", "x" * 5000):
        assert served.client.get(f"/a/{token}").status_code in (404, 429)
        assert served.client.post(f"/a/{token}/consent", data={}).status_code in (404, 429)
        reply = served.client.get("/api/progress", headers={"Authorization": f"Bearer {token}"})
        assert reply.status_code in (401, 429)
    for _ in range(40):
        reply = served.client.get(f"/a/{security.new_token()}")
    assert reply.status_code == 429  # guessing is slow
    assert reply.headers["retry-after"]
    token = served.invite()
    # and does not shut out those with a link
    assert served.client.get(f"/a/{token}").status_code == 200


def test_links_are_not_stored(served: ServedStudy) -> None:
    token = served.invite()
    assert len(token) == 32  # 192 bits
    assert token not in repr(served.rows("SELECT * FROM person"))
    assert len({served.invite() for _ in range(20)}) == 20


def test_guessed_join_link_is_rejected(served: ServedStudy) -> None:
    assert served.client.get("/join/guess", params={"PROLIFIC_PID": "me"}).status_code == 404
    assert served.rows("SELECT COUNT(*) FROM person") == [(0,)]


def test_replayed_form_changes_nothing(served: ServedStudy) -> None:
    token = served.begin()
    fields = served.fill(token, lambda n: n)
    assert served.send(token, 1, fields).status_code == 303
    served.client.get(f"/a/{token}")
    before = everything(served)
    # a double click: answered as the first time
    assert served.send(token, 1, fields).status_code == 303
    assert everything(served) == before
    changed = {**fields, "v1": "99"}
    reply = served.send(token, 1, changed)
    assert reply.status_code == 409
    assert "the first ones are kept" in reply.text
    assert everything(served) == before


def test_replayed_answer_changes_nothing(served: ServedStudy) -> None:
    token = served.begin()
    key = security.new_token()
    assert served.save(token, 1, 30, key).status_code == 200
    assert served.save(token, 1, 80).status_code == 200
    before = everything(served)
    assert served.save(token, 1, 30, key).status_code == 200
    assert everything(served) == before  # the later answer stands
    assert served.save(token, 1, 31, key).status_code == 409
    assert everything(served) == before


def test_replayed_consent_changes_nothing(served: ServedStudy) -> None:
    token = served.invite()
    form = {"form": form_token(served.client.get(f"/a/{token}").text), "agree": "yes"}
    served.client.post(f"/a/{token}/consent", data=form)
    before = everything(served)
    served.clock.now += 100
    served.client.post(f"/a/{token}/consent", data=form, follow_redirects=False)
    assert everything(served) == before


@pytest.mark.parametrize(
    "answer",
    [
        "<script>alert(1)</script>",
        "'; DROP TABLE answer; --",
        "101",
        "-1",
        "1e2",
        "٣",
        "0x10",
        "",
        "9" * 50,
    ],
)
def test_malformed_answers_are_rejected(served: ServedStudy, answer: str) -> None:
    token = served.begin()
    fields = served.fill(token)
    before = everything(served)
    assert served.send(token, 1, {**fields, "v1": answer}).status_code == 422
    assert everything(served) == before
    body = {"page": 1, "place": 1, "value": answer, "how": "moved", "key": security.new_token()}
    reply = served.client.post(
        "/api/answers", json=body, headers={"Authorization": f"Bearer {token}"}
    )
    assert reply.status_code == 422
    assert everything(served) == before


def test_scripts_in_texts_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(
        'a,b\n<script>alert(1)</script>,"""><img src=x onerror=alert(1)>"\n', encoding="utf-8"
    )
    study = study_from_pairs(file, StudyDesign(judgements=1, controls=0)).model_copy(
        update={
            "title": "<script>alert(2)</script>",
            "consent": "<script>alert(3)</script> [x](javascript:alert(4)) ![p](http://elsewhere.example/p.png)",
        }
    )
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    token = served.invite()
    first = served.client.get(f"/a/{token}").text
    token = served.begin()
    second = served.client.get(f"/a/{token}").text
    served.login()
    third = served.client.get("/researcher").text
    for text in (first, second, third):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert 'href="javascript' not in text
        assert 'src="http' not in text
    assert "&lt;script&gt;" in second
    served.database.close()


def test_large_bodies_are_rejected(served: ServedStudy) -> None:
    token = served.begin()
    before = everything(served)
    big = b"x" * 10_000_000
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert served.client.post(f"/a/{token}/page/1", content=big, headers=form).status_code == 413

    def pieces() -> Iterator[bytes]:  # without a length known in advance
        for _ in range(1000):
            yield b"x" * 10_000

    assert (
        served.client.post(f"/a/{token}/page/1", content=pieces(), headers=form).status_code == 413
    )
    api = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    assert served.client.post("/api/answers", content=big, headers=api).status_code == 413
    assert served.client.post("/researcher/login", content=big, headers=form).status_code == 413
    many = "&".join(f"v{i}=1" for i in range(5000))
    assert served.client.post(f"/a/{token}/page/1", content=many, headers=form).status_code == 400
    assert everything(served) == before


def test_page_of_another_participant(tmp_path: Path) -> None:
    picture = tmp_path / "scene.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    study = study_from_task(
        task(picture=str(picture)), StudyDesign(judgements=3, per_page=4, pages=2, controls=0)
    )
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    first, second = served.begin(), served.begin()
    form_of_second = served.fill(second, lambda n: 1)
    before = everything(served)
    assert served.send(first, 1, form_of_second).status_code == 403  # a form made for someone else
    assert (
        served.send(first, 1, {k: v for k, v in form_of_second.items() if k != "form"}).status_code
        == 403
    )
    assert served.save(first, 99, 1).status_code == 404  # an item that is not on one's page
    assert served.save(first, 1, 1, page=2).status_code == 409  # a page that is not open
    assert everything(served) == before
    assert served.client.get(f"/a/{first}/picture/1/1").status_code == 200
    assert served.client.get(f"/a/{first}/picture/2/1").status_code == 404
    assert served.client.get(f"/a/{security.new_token()}/picture/1/1").status_code == 404
    served.database.close()


def test_only_pictures_are_served(tmp_path: Path) -> None:
    picture = tmp_path / "scene.png"
    picture.write_text("root:x:0:0", encoding="utf-8")
    study = study_from_task(task(picture=str(picture)), StudyDesign(judgements=3, controls=0))
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    token = served.begin()
    served.client.get(f"/a/{token}")
    assert served.client.get(f"/a/{token}/picture/1/1").status_code == 404
    served.database.close()


def test_researcher_pages_need_the_password(served: ServedStudy) -> None:
    login = served.client.get("/researcher")
    assert "Password" in login.text
    assert "judgements" not in login.text
    for path in RESEARCHER_PAGES:
        assert served.client.get(path).status_code == 401, path
    form = form_token(login.text)
    for path in ("/researcher/state", "/researcher/links", "/researcher/logout"):
        assert (
            served.client.post(
                path, data={"form": form, "state": "closed", "count": "1"}
            ).status_code
            == 401
        )
    assert served.rows("SELECT value FROM study WHERE key = 'state'") == [("open",)]
    served.client.cookies.set("seesay_researcher", security.new_token())
    assert served.client.get("/api/counts").status_code == 401


@pytest.mark.seconds
def test_wrong_passwords_are_limited(served: ServedStudy) -> None:
    assert served.login("wrong").status_code == 403
    replies = [served.login(f"wrong {i}").status_code for i in range(12)]
    assert replies[-1] == 429
    assert served.login(PASSWORD).status_code == 429
    stored = served.rows("SELECT value FROM study WHERE key = 'password'")[0][0]
    assert PASSWORD not in stored
    assert stored.startswith("scrypt$")


def test_researcher_session(served: ServedStudy) -> None:
    reply = served.login()
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    for path in RESEARCHER_PAGES[:3]:
        assert served.client.get(path).status_code == 200, path
    before = served.rows("SELECT COUNT(*) FROM person")
    # no form token
    assert served.client.post("/researcher/links", data={"count": "3"}).status_code == 403
    assert served.rows("SELECT COUNT(*) FROM person") == before
    form = form_token(served.client.get("/researcher").text)
    assert (
        served.client.post("/researcher/links", data={"form": form, "count": "3"}).text.count("/a/")
        == 3
    )
    assert (
        served.client.post("/researcher/state", data={"form": form, "state": "gone"}).status_code
        == 422
    )
    served.clock.now += 13 * 3600
    assert served.client.get("/api/counts").status_code == 401  # sessions end
    served.client.cookies.clear()
    served.login()
    form = form_token(served.client.get("/researcher").text)
    served.client.post("/researcher/logout", data={"form": form})
    served.client.cookies.set("seesay_researcher", cookie.split("=")[1].split(";")[0])
    assert served.client.get("/api/counts").status_code == 401


def test_form_from_another_site_is_rejected(served: ServedStudy) -> None:
    token = served.begin()
    fields = served.fill(token)
    for origin in ("https://elsewhere.example", "null", "http://testserver.elsewhere.example"):
        reply = served.client.post(f"/a/{token}/page/1", data=fields, headers={"Origin": origin})
        assert reply.status_code == 403
    assert served.rows("SELECT COUNT(*) FROM answer") == [(0,)]


@pytest.mark.parametrize(
    "path", ["/", "/researcher", "/static/style.css", "/api/openapi.json", "/nowhere", "/a/x"]
)
def test_every_response_has_security_headers(served: ServedStudy, path: str) -> None:
    headers = served.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "set-cookie" not in headers


def test_no_inline_script_or_style(served: ServedStudy) -> None:
    token = served.begin()
    text = served.client.get(f"/a/{token}").text
    assert "<script>" not in text
    assert " style=" not in text
    assert " on" not in text.split("<body", 1)[1].split(">", 1)[0]


def test_participants_get_no_cookie(served: ServedStudy) -> None:
    token = served.begin()
    served.send(token, 1, served.fill(token))
    assert not served.client.cookies


def test_repeated_fields_are_rejected(served: ServedStudy) -> None:
    token = served.begin()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (
        served.client.post(f"/a/{token}/page/1", content="form=a&form=b", headers=form).status_code
        == 400
    )
    assert served.client.post(f"/a/{token}/page/1", json={}).status_code == 415
    assert (
        served.client.post(f"/a/{token}/page/1", content=b"form=\xff", headers=form).status_code
        == 400
    )


@pytest.mark.seconds
def test_participant_requests_are_limited(tmp_path: Path) -> None:
    served = serve_in_test(choice_study(), str(tmp_path / "study.sqlite"))
    token = served.begin()
    statuses = {served.save(token, 1, 1).status_code for _ in range(200)}
    assert statuses == {200, 429}
    served.database.close()


@pytest.mark.parametrize("rate", [PARTICIPANT_LIMIT, UNKNOWN_LIMIT, LOGIN_LIMIT])
def test_bucket_empties_and_refills(rate: RateLimit) -> None:
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])
    allowed = sum(limiter.allows(rate, "one") for _ in range(1000))
    assert allowed == rate.burst
    assert limiter.allows(rate, "other")
    now[0] += 3 / rate.per_second
    assert [limiter.allows(rate, "one") for _ in range(4)] == [True, True, True, False]
