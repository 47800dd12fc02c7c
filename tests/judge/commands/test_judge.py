"""`seesay judge` as a user meets it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.judge.annotators import careful, judge
from tests.judge.crowd import Server
from tests.judge.postgres import cluster
from tests.judge.results.test_export import choose, put
from tests.judge.studies import choice_study, pairs_file, rating_study, serve_in_test
from typer.testing import CliRunner, Result

from seesay.errors import UserError
from seesay.judge import security
from seesay.judge.commands.judge import app
from seesay.judge.commands.options import other_links
from seesay.judge.storage.studies import OpenStudy, create_or_open_study, open_study
from seesay.reports.pages import runs as runs_page
from seesay.runs.store import find_runs


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("SEESAY_JUDGE_PASSWORD", raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def printed_json(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def prepared(source: str, **options: Any) -> OpenStudy:
    return create_or_open_study(source, **options)


def test_preview_is_the_page_of_the_first_participant() -> None:
    """Six items make one page, no item is there twice, and only controls that somebody gets are
    shown."""
    document = printed_json("preview", "core-color", "--limit", "6")
    items = [entry["item"].removeprefix("control|") for entry in document["page"]]
    assert len(items) == len(set(items)) == 6
    shown = run("preview", "core-color", "--limit", "6").stdout
    assert "1 page of up to 6 items" in shown
    assert "[MASK]" not in shown
    # 6 items x 10 judgements, of which everyone gives at most 4: two are their controls
    assert document["people_needed"] == 20
    (fixed, _) = printed_json("plan", "core-color", "--limit", "6")["plans"]
    assert (fixed["people"], fixed["simulated"]) == (20, True)


def test_a_list_of_controls_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("lemon\nsnow\n", encoding="utf-8-sig")
    assert printed_json("preview", "core-color", "--known", "known.txt")["controls"] == 2


def test_plan_reports_people_time_and_cost(tmp_path: Path) -> None:
    document = printed_json(
        "plan", "core-color", "--limit", "50", "--width", "0.4", "--pay", "0.1", "--fee", "0.5"
    )
    fixed, adaptive = document["plans"]
    assert fixed["judgements"] == 21 * 50
    assert fixed["cost"] == pytest.approx(21 * 50 * 0.15)
    assert adaptive["judgements"] < 0.8 * fixed["judgements"]
    assert fixed["people"] >= 21
    pairs = printed_json("plan", str(pairs_file(tmp_path)), "--width", "0.2", "--spread", "0.2")
    assert pairs["plans"][0]["judgements_per_item"] == 16
    assert "which is assumed" in run("plan", "core-color", "--limit", "5").stdout


def test_a_plan_from_a_pilot(tmp_path: Path) -> None:
    """Minutes come from the pilot's 2 s per item, judgements from how far its people agreed."""
    planned = {}
    for right in (1.0, 0.3):
        pilot = str(tmp_path / f"pilot-{right}.sqlite")
        served = serve_in_test(choice_study(count=30), pilot)
        put(served, choose(served.study, people=9, right=right))
        served.database.close()
        options = (
            "plan",
            "core-color",
            "--limit",
            "60",
            "--pilot",
            pilot,
            "--width",
            "0.4",
            "--per-page",
            "15",
        )
        planned[right] = printed_json(*options, "--pages", "2")["plans"]
        assert "the pilot's 30 items" in run(*options).stdout
    # with two controls per page
    assert [plan["minutes"] for plan in planned[0.3]] == [(30 + 2 * 2) * 2.0 / 60] * 2
    fixed, adaptive = zip(*planned.values(), strict=True)
    # whatever the agreement: a half takes so many
    assert {plan["judgements_per_item"] for plan in fixed} == {21}
    assert adaptive[0]["judgements_per_item"] < 15 < adaptive[1]["judgements_per_item"] < 21

    rated = serve_in_test(rating_study(tmp_path, judgements=4), str(tmp_path / "ratings.sqlite"))
    put(rated, judge(rated.study, [lambda item, chance: 50] * 4))
    rated.database.close()
    same = printed_json(
        "plan",
        str(pairs_file(tmp_path)),
        "--width",
        "0.2",
        "--pilot",
        str(tmp_path / "ratings.sqlite"),
    )
    # people who all rate alike
    assert [plan["judgements_per_item"] for plan in same["plans"]] == [1, 1]


def test_a_participant_withdraws(tmp_path: Path) -> None:
    served = serve_in_test(
        rating_study(tmp_path, per_page=12, pages=1, judgements=1), str(tmp_path / "study.sqlite")
    )
    token = served.begin()
    served.send(token, 1, served.fill(token))
    (code,) = served.rows("SELECT code FROM person")[0]
    assert "Deleted 14 answers." in run("withdraw", "study.sqlite", code).stdout
    assert served.rows("SELECT COUNT(*) FROM answer") == [(0,)]
    assert served.rows("SELECT SUM(taken) FROM item") == [(0,)]
    assert isinstance(run("withdraw", "study.sqlite", code).exception, UserError)
    (secret,) = served.rows("SELECT value FROM study WHERE key = 'secret'")[0]
    consent = {"form": security.sign(secret, "form", "consent", 1), "agree": "yes"}
    shown = served.client.post(f"/a/{token}/consent", data=consent).text  # they stay withdrawn
    assert "Your answers have been deleted, as you asked." in shown
    assert "are saved" not in shown
    progress = served.progress()
    assert (progress.invited, progress.started, progress.finished) == (1, 0, 0)
    served.database.close()


def test_shared_code_does_not_identify_who_withdraws(tmp_path: Path) -> None:
    study = rating_study(tmp_path, per_page=12, pages=1, judgements=2, completion_code="DONE")
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    tokens = [served.begin(), served.begin()]
    for token in tokens:
        served.send(token, 1, served.fill(token))
    result = run("withdraw", "study.sqlite", "DONE")
    assert "share this completion code" in str(result.exception)
    assert (
        "Deleted 14 answers."
        in run("withdraw", "study.sqlite", f"http://127.0.0.1:8080/a/{tokens[1]}").stdout
    )
    assert served.rows("SELECT DISTINCT person FROM answer") == [(1,)]
    served.database.close()


def test_refused_study_is_not_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the corrected command would be refused too, as one that changes the study."""
    monkeypatch.setattr("seesay.judge.web.server.serve_study", lambda *_, **__: None)
    pairs = str(pairs_file(tmp_path))
    (tmp_path / "texts.yaml").write_text("xx: {title: Tere}", encoding="utf-8")
    public = ("serve", pairs, "--public-url", "https://study.example.org")
    assert "--contact" in str(run(*public).exception)
    assert "no texts in 'xx'" in str(
        run(*public, "--contact", "me", "--texts", "texts.yaml").exception
    )
    assert run(*public, "--contact", "me").exit_code == 0
    assert "another --contact" in str(run(*public, "--contact", "you").exception)


def test_preview_of_a_task_and_of_pairs(tmp_path: Path) -> None:
    document = printed_json("preview", "core-color", "--judgements", "5", "--per-page", "10")
    assert (document["name"], document["kind"], document["judgements"]) == (
        "core-color",
        "choice",
        5 * document["items"],
    )
    assert len(document["page"]) == 12
    shown = run(
        "preview", str(pairs_file(tmp_path)), "--per-page", "5", "--judgements", "3", "--pages", "1"
    )
    assert shown.exit_code == 0
    assert "12 items." in shown.stdout
    assert "At least 8 people for 3 judgements of each item" in shown.stdout
    assert not list(tmp_path.glob("*.sqlite"))  # nothing is made


def test_limited_task_equals_that_of_probe(tmp_path: Path) -> None:
    from seesay.runs.ask import limit_questions
    from seesay.tasks import load_task

    opened = prepared("core-color", limit=20)
    try:
        assert opened.study.task is not None
        assert (
            opened.study.task.fingerprint
            == limit_questions(load_task("core-color"), 20, 0).fingerprint
        )
        assert (tmp_path / "core-color.judge.sqlite").is_file()
        assert opened.password  # made, and told this once
    finally:
        opened.database.close()


def test_existing_study_is_continued_unchanged(tmp_path: Path) -> None:
    source = str(pairs_file(tmp_path))
    first = prepared(source, design={"judgements": 4})
    first.database.close()
    again = prepared(source)
    assert again.study == first.study
    assert again.password is None
    again.database.close()
    by_file = prepared("relations.judge.sqlite")
    assert by_file.study == first.study
    by_file.database.close()
    with pytest.raises(UserError, match="created with another --judgements"):
        prepared(source, design={"judgements": 5})
    (tmp_path / "relations.csv").write_text("a,b\nup,down\n", encoding="utf-8")
    with pytest.raises(UserError, match="has other items"):
        prepared(source)


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "not.sqlite").write_text("hello " * 100, encoding="utf-8")
    source = str(pairs_file(tmp_path))
    for arguments, words in (
        (["serve", "core-colour"], "Did you mean 'core-color'"),
        (["serve", "nowhere.csv"], "There is no file"),
        (["serve", source, "--pages", "0"], "--pages"),
        (["serve", source, "--lease", "0"], "--lease: "),
        (["serve", source, "--study", "not.sqlite"], "cannot be used as a study"),
        (["export", "nowhere.sqlite", "-o", "out"], "There is no study"),
        (["link", "nowhere.sqlite"], "There is no study"),
        (["serve", source, "--consent", "nowhere.md"], "cannot be read"),
        (
            ["serve", source, "--database", "postgresql://nobody@127.0.0.1:1/none"],
            "check its address (--database)",
        ),
    ):
        result = run(*arguments)
        assert isinstance(result.exception, UserError), (arguments, result.output, result.exception)
        assert words in str(result.exception), arguments


def test_a_short_password_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_JUDGE_PASSWORD", "short")
    with pytest.raises(UserError, match="too short"):
        prepared(str(pairs_file(tmp_path)))


def test_the_command_for_the_links_that_are_missing_makes_them(tmp_path: Path) -> None:
    prepared("core-color", limit=6, location="a study.sqlite").database.close()
    sentence = other_links("a study.sqlite", 3)
    command = re.findall("`(.*)`", sentence)[0]
    program, group, *arguments = shlex.split(command)
    assert (program, group) == ("seesay", "judge")
    assert len(run(*arguments).stdout.split()) == 3


def test_links(tmp_path: Path) -> None:
    prepared(str(pairs_file(tmp_path))).database.close()
    links = printed_json(
        "link", "relations.judge.sqlite", "-n", "3", "--public-url", "https://study.example.org/"
    )["links"]
    assert len(set(links)) == 3
    assert all(link.startswith("https://study.example.org/a/") for link in links)


@pytest.mark.seconds
def test_export(tmp_path: Path) -> None:
    study = rating_study(tmp_path, count=20, judgements=6)
    served = serve_in_test(study, "study.sqlite")
    put(served, judge(study, [careful({item.id: 0.5 for item in study.measured})] * 9))
    served.database.close()
    document = printed_json(
        "export", "study.sqlite", "-o", "out", "--resamples", "200", "--as", "students"
    )
    assert document["agreement"]["people_counted"] == 9
    assert Path(document["run"]).parts[:3] == ("out", "runs", "students")
    shown = run(
        "export", "study.sqlite", "-o", "out", "--resamples", "200", "--distinct-above", "0.1"
    )
    assert shown.exit_code == 0, shown.output
    assert "Excluded participant" in shown.stdout
    assert "above 10%" in shown.stdout
    assert "krippendorff_alpha_interval" in shown.stdout
    nobody = run(
        "export", "study.sqlite", "-o", "empty", "--resamples", "200", "--seconds-below", "1000"
    )
    assert (
        "No run: No pair has two judgements that count yet: wait for participants" in nobody.stdout
    )
    document = printed_json(
        "export", "study.sqlite", "-o", "empty", "--resamples", "200", "--seconds-below", "1000"
    )
    assert document["run"] is None
    assert "No pair has two judgements" in document["no_run_reason"]


def test_no_record_holds_the_password_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = rating_study(tmp_path, count=20, judgements=6)
    with cluster() as server:
        address = server.replace("seesay@", "seesay:hunter2@") + "&sslpassword=hunter2"
        served = serve_in_test(study, address, "secrets")
        put(served, judge(study, [careful({item.id: 0.5 for item in study.measured})] * 9))
        served.database.close()
        arguments = ["export", address, "-o", "out", "--resamples", "200"]
        monkeypatch.setattr("sys.argv", ["seesay", "judge", *arguments])
        other = run(*arguments, "--name", "secret")  # creates nothing
        assert "no study 'secret', only these: secrets" in str(other.exception)
        shown = run(*arguments)
    assert shown.exit_code == 0, shown.output
    assert "hunter2" not in shown.output
    runs = find_runs([tmp_path / "out"])
    runs_page.write(tmp_path / "out" / "page.html", runs)
    assert "judge export 'postgresql://***@/postgres" in runs[0].manifest.command
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes(), path


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hunter2@127.0.0.1:1/none",  # nothing listens there
        "postgresql://127.0.0.1:1/none?user=ann&password=hunter2",
        "postgresql://ann:hunter2/x@127.0.0.1:1/none",  # libpq takes the password for a port
        "postgresql://localhost:hunter2/x@127.0.0.1:1/none",
        "postgresql://localhost:1/hunter2@127.0.0.1:1/none",
        "postgresql://ann:hunter2%zz@127.0.0.1:1/none",
    ],
)
@pytest.mark.parametrize("command", ["serve", "export", "link"])
def test_no_message_holds_the_password_of_the_database(
    tmp_path: Path, command: str, address: str
) -> None:
    arguments = {
        "serve": ["serve", str(pairs_file(tmp_path)), "--database", address],
        "export": ["export", address, "-o", "out"],
        "link": ["link", address],
    }[command]
    result = run(*arguments)
    assert isinstance(result.exception, UserError), result.output
    assert "hunter2" not in str(result.exception)
    assert "PostgreSQL" in str(result.exception)


def test_serve_announces_its_addresses(tmp_path: Path) -> None:
    server = Server(pairs_file(tmp_path), str(tmp_path / "a.sqlite"), "--title", "Say it")
    try:
        document = server.start(links=2)
        assert document["password"]
        assert len(document["links"]) == 2
        busy = subprocess.run(
            [
                sys.executable,
                "-m",
                "seesay",
                "judge",
                "serve",
                "relations.csv",
                "--port",
                str(server.port),
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "choose another --port" in busy.stderr
    finally:
        server.stop()
    opened = open_study(str(tmp_path / "a.sqlite"))
    assert opened.study.title == "Say it"
    opened.database.close()


def test_help_does_not_import_the_server() -> None:
    """The command line is imported by every command: nothing heavy may come with it."""
    heavy = ("starlette", "numpy", "rich")
    code = (
        "import sys, seesay.judge.commands.judge; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=True,
    )
    assert done.stdout.strip() == "[]"
