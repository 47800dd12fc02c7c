"""The page of benchmarks: medians with their spread, beside an earlier checkout."""

from __future__ import annotations

from benchmarks.page import BENCHMARKS, page, spread, table

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
