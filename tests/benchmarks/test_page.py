"""The page of benchmarks: medians with their spread, beside an earlier checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benchmarks.page import BENCHMARKS, Benchmark, Figure, page, spread, table, took

from benchmarks import page as module

EMPTY: dict[str, list[str]] = {benchmark.script: [] for benchmark in BENCHMARKS}
NOW = EMPTY | {
    "startup": [f"`cmd`, day\nload smollm2    {n} s\nconvert smollm2   9.0 s" for n in (4, 5, 6)],
    "scenes": ["`cmd`, day\nmake, all formats, 2 processes, 4,000   5   3   2,016   1,405   180"],
}
BEFORE = EMPTY | {
    "startup": [f"`cmd`, day\nload smollm2    {n} s\nconvert smollm2   27.0 s" for n in (8, 5, 18)]
}


def test_seconds_stand_beside_those_of_an_earlier_checkout_with_the_ratio_of_each_repeat() -> None:
    rows = table("seconds", [NOW, BEFORE], with_peer=False).splitlines()
    assert rows[0] == "| what | seconds | before | before ÷ now | script |"
    *_, loading, converting = [row for row in rows if "#startup" in row]
    assert loading == (
        "| loading SmolLM2, processor | 5.0 (4.0–6.0) | 8.0 (5.0–18.0) | 2.00 (1.00–3.00) "
        "| [startup](#startup) |"
    )
    assert "| 9.0 (9.0–9.0) | 27.0 (27.0–27.0) | 3.00 (3.00–3.00) |" in converting


def test_a_ratio_to_a_peer_has_one_column_for_each_checkout() -> None:
    rows = table("times as fast", [NOW, {}], with_peer=True).splitlines()
    assert rows[0] == "| what | peer | times as fast | script |"
    (scenes,) = [row for row in rows if "#scenes" in row]
    assert "| drawing and discarding | 1405 |" in scenes
    (names,) = [row for row in rows if "#names" in row]
    assert "| – |" in names


def test_large_sizes_are_for_the_full_run() -> None:
    (mine,) = [benchmark for benchmark in BENCHMARKS if benchmark.script == "mine"]
    assert mine.words(full=True) == (*mine.words(full=False), "1000000")


def test_what_was_not_measured_has_no_section() -> None:
    text = page(NOW, {})
    assert "### startup" in text
    assert "### names" not in text


BUSY = """`cmd`, day
asking, 2 hogs, sleeping: 40.00 prompts/s (40.00 to 40.00), 0.90 of a fair share, 50.0 per second
asking, 2 hogs, spinning: 10.00 prompts/s (10.00 to 10.00), 0.30 of a fair share, 12.5 per second
asking, 2 hogs: 4.00 x
tests, 2 hogs at niceness 10, sleeping: 3.00 tests/s (3.00 to 3.00), 1.05 of a fair share
tests, 2 hogs at niceness 10, spinning: 2.00 tests/s (2.00 to 2.00), 0.70 of a fair share
tests, 2 hogs at niceness 10: 1.50 x
"""


def test_a_busy_machine_has_shares_of_a_fair_share_and_what_people_wait_for_beside_others() -> None:
    again = BUSY.replace("0.90 of", "0.80 of")
    text = page(NOW | {"busy": [BUSY, again]}, {}, "", [NOW, BEFORE])
    _, section = text.split("## On a busy machine")
    section, _ = section.split("## How time grows")
    row = "| asking | 2 hogs | 0.85 (0.80–0.90) | 0.30 (0.30–0.30) | 4.00 (4.00–4.00) |"
    assert row in section
    row = (
        "| tests | 2 hogs at niceness 10 | 1.05 (1.05–1.05) | 0.70 (0.70–0.70) | 1.50 (1.50–1.50) |"
    )
    assert row in section
    assert "| loading SmolLM2, processor | 5.0 (4.0–6.0) | 8.0 (5.0–18.0) |" in section
    assert "names in captions" not in section


def test_nothing_is_said_of_a_busy_machine_that_was_not_measured() -> None:
    assert "busy machine" not in page(NOW, {}, "", [EMPTY, {}])


def test_a_single_value_has_no_spread() -> None:
    assert [spread([3.0]), spread([]), spread([2.0, 1.0, 4.0])] == ["3.0", "–", "2.0 (1.0–4.0)"]
    assert spread([0.314]) == "0.31"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one benchmark, which took 8 s at the last tag and takes 2 s now."""
    folder = tmp_path / "repository"
    (folder / "benchmarks").mkdir(parents=True)
    (folder / "docs").mkdir()
    script = folder / "benchmarks" / "tiny.py"

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True)

    git("init", "--quiet")
    script.write_text("print('tiny 8 s')\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    git("tag", "v1")
    script.write_text("print('tiny 2 s')\n")
    tiny = Benchmark("tiny", (), (Figure("tiny", "", r"tiny (\d+) s"),))
    monkeypatch.setattr(module, "HERE", folder / "benchmarks")
    monkeypatch.setattr(module, "PAGE", folder / "docs" / "benchmarks.md")
    monkeypatch.setattr(module, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(module, "BENCHMARKS", (tiny,))
    return folder


def test_what_is_measured_beside_others_stands_in_a_section_of_its_own(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that compares with what was before by itself is measured in this checkout alone."""
    tiny = Benchmark("tiny", (), (Figure("tiny", "", r"tiny (\d+) s"),), loaded=True)
    other = Benchmark("other", (), (Figure("other", "", r"tiny (\d+) s"),), alone=True)
    (repository / "benchmarks" / "other.py").write_text("print('tiny 3 s')\n")
    monkeypatch.setattr(module, "BENCHMARKS", (tiny, other))
    for arguments in ([], ["--loaded"]):
        monkeypatch.setattr("sys.argv", ["page.py", "--minutes", "0", *arguments])
        module.main()
    text = (repository / "docs" / "benchmarks.md").read_text()
    quiet, loaded = text.split("## On a busy machine")
    assert "| tiny | 2.0 | 8.0 | 4.00 | [tiny](#tiny) |" in quiet.splitlines()
    assert "| other | 3.0 | – | – | [other](#other) |" in quiet.splitlines()
    assert "| tiny | 2.0 | 8.0 | 4.00 | [tiny](#tiny) |" in loaded.splitlines()
    assert "| other |" not in loaded


def test_todays_script_measures_an_earlier_checkout_whose_own_cannot(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        module, "BENCHMARKS", (Benchmark("tiny", ("--new",), module.BENCHMARKS[0].figures),)
    )
    script = "import sys\nprint('tiny', 5 if 'new' in sys.argv[-1] else 1, 's')\n"
    (repository / "benchmarks" / "tiny.py").write_text(script)
    old = "import argparse\nargparse.ArgumentParser().parse_args()\n"
    checkout = repository.parent / "old"
    (checkout / "benchmarks").mkdir(parents=True)
    (checkout / "benchmarks" / "tiny.py").write_text(old)
    monkeypatch.setattr("sys.argv", ["page.py", "--minutes", "0", "--before", str(checkout)])
    module.main()
    text = (repository / "docs" / "benchmarks.md").read_text()
    assert "| tiny | 5.0 | 5.0 | 1.00 | [tiny](#tiny) |" in text.splitlines()


@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        (["--minutes", "0"], "| tiny | 2.0 | 8.0 | 4.00 | [tiny](#tiny) |"),
        (
            ["--repeats", "2", "--before", "v1"],
            "| tiny | 2.0 (2.0–2.0) | 8.0 (8.0–8.0) | 4.00 (4.00–4.00) | [tiny](#tiny) |",
        ),
    ],
)
def test_the_last_tag_is_measured_too_and_repeats_end_when_time_is_up(
    arguments: list[str], row: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["page.py", *arguments])
    module.main()
    text = (repository / "docs" / "benchmarks.md").read_text()
    assert row in text.splitlines()
    assert "*before*: commit " in text


def test_the_page_says_how_long_one_pass_took(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = {"startup": ["`a`, day, load 1.0, 90 s\nx"], "names": ["`b`, day, load 9.0, 60 s\ny"]}
    assert took(heads) == " (one pass takes 2.5 minutes here)"
    monkeypatch.setattr("sys.argv", ["page.py", "--minutes", "0"])
    module.main()
    text = (repository / "docs" / "benchmarks.md").read_text()
    assert "(one pass takes 0.0 minutes here)" in text


def test_an_unknown_revision_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["page.py", "--before", "v2"])
    with pytest.raises(SystemExit, match="--before is 'v2': give a tag, a commit or a folder"):
        module.main()
    assert not (repository / "docs" / "benchmarks.md").exists()
