"""The page of benchmarks: medians with their spread, beside an earlier checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benchmarks.page import BENCHMARKS, Benchmark, Figure, page, spread, table

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
    assert rows[-2] == (
        "| loading SmolLM2, processor | 5.0 (4.0–6.0) | 8.0 (5.0–18.0) | 2.00 (1.00–3.00) "
        "| [startup](#startup) |"
    )
    assert "| 9.0 (9.0–9.0) | 27.0 (27.0–27.0) | 3.00 (3.00–3.00) |" in rows[-1]


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


def test_a_single_value_has_no_spread() -> None:
    assert [spread([3.0]), spread([]), spread([2.0, 1.0, 4.0])] == ["3.0", "–", "2.0 (1.0–4.0)"]


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


def test_an_unknown_revision_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["page.py", "--before", "v2"])
    with pytest.raises(SystemExit, match="--before is 'v2': give a tag, a commit or a folder"):
        module.main()
    assert not (repository / "docs" / "benchmarks.md").exists()
