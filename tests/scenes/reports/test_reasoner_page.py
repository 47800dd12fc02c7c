"""The pages of reasoners: their numbers, their figures, and what a real browser makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from tests.browser import chromium

from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.diagnostics import BinAccuracy, DiagnosedExample, Diagnosis, share
from seesay.scenes.reasoners.paper_tables import best_configurations, summary
from seesay.scenes.reasoners.sweep import SweepRow
from seesay.scenes.reports import attention_overlay, reasoner_charts, scene_charts
from seesay.scenes.reports.reasoner_page import reasoner_page, sweep_page, sweep_sections
from seesay.scenes.world import Scene, SceneObject

SCENE = Scene(
    (SceneObject("circle", "red", 100, 512, 512), SceneObject("square", "blue", 50, 200, 800)), 0.3
)
TYPES = [(adjective, answer) for adjective in ("big", "small") for answer in ("true", "false")]


def row(
    network: str, task: str, seed: int = 0, validation: float = 0.9, **tests: float
) -> SweepRow:
    config = "best" if validation == 0.9 else "other"
    named = {name.replace("_hard", "-hard"): value for name, value in tests.items()}
    return SweepRow(network, task, config, seed, Path(network, task), validation, named, 1.0)


def made_up(network: str, task: str, tests: tuple[str, ...], look: AttentionMap) -> Diagnosis:
    """Ten items a test; the reasoner has eight of them, the rules nine and five."""
    own = tuple(test for test in tests if not test.endswith("hard"))
    marks = [("reasoner", 8), ("fixed-k", 9), ("max-is-big", 5)]
    return Diagnosis(
        name=f"out/{network}",
        network=network,
        task=task,
        task_tests=own,
        accuracy=tuple(share(test, (who,), right, 10) for test in tests for who, right in marks),
        types=tuple(share(test, (*kind, "circle"), 2, 3) for test in tests for kind in TYPES),
        colors=tuple(share(test, ("red",), 8, 10) for test in tests),
        k=tuple(
            BinAccuracy(None, 0.29, 0.25, 0.9, share(test, kind, 1, 2))
            for test in tests
            for kind in TYPES
        ),
        distance=tuple(
            BinAccuracy(start, end, mean, 1.0, share(test, (), right, 5))
            for test in tests
            for start, end, mean, right in ((None, 0.05, 0.02, 3), (0.05, None, 0.4, 5))
        ),
        examples=(
            DiagnosedExample(
                own[0], "The red circle is a big object", SCENE, 0, True, 0.75, True, (look,)
            ),
            DiagnosedExample(
                own[0],
                "The red circle is a small object",
                SCENE,
                0,
                True,
                0.25,
                False,
                (look, look),
            ),
        ),
    )


CELLS = AttentionMap("channels' maxima", np.array([[0.0, 3.0], [1.0, 0.0]]))
BOXES = AttentionMap(
    "target", np.array([1.0, 0.0]), np.array([[0.25, 0.25, 0.75, 0.75], [0.0, 0.8, 0.1, 0.9]])
)
FILM = made_up("film", "pos", ("pos", "pos-hard"), CELLS)
OBJECTS = made_up(
    "object-centred", "compositional", ("compositional-seen", "compositional-unseen"), BOXES
)


def tooltips(chart: str) -> list[str]:
    return [
        node.text or ""
        for node in ElementTree.fromstring(chart).iter()
        if node.tag.endswith("title")
    ]


def test_accuracy_beside_rules() -> None:
    drawn = reasoner_charts.accuracy([FILM, OBJECTS])
    assert list(drawn) == ["pos", "pos-hard", "compositional-seen", "compositional-unseen"]
    hints = tooltips(str(drawn["pos-hard"]))
    assert "FiLM, POS, reasoners: 0.8 (0.4902 to 0.9433)" in hints  # Wilson's interval of 8 of 10
    assert any(text.startswith("k = 0.29 (ceiling), rules: 0.9 ") for text in hints)
    assert any(text.startswith("only the biggest is big, rules: 0.5 ") for text in hints)


def test_right_and_wrong_by_distance() -> None:
    counted, accuracy = reasoner_charts.by_distance(FILM, "FiLM")
    assert {*tooltips(str(counted))} == {
        "up to 0.05: 3 right, 2 wrong",
        "from 0.05: 5 right, 0 wrong",
    }
    assert "k = 0.29: 0.4, 1" in tooltips(str(accuracy))


def test_shared_names_include_the_folder() -> None:
    assert reasoner_charts.labels([FILM, OBJECTS]) == ["FiLM, POS", "object-centred, seen only"]
    twice = reasoner_charts.labels([FILM, replace(FILM, name="out/other")])
    assert twice == ["FiLM, POS (out/film)", "FiLM, POS (out/other)"]


def test_unseen_accuracy_by_number_of_examples() -> None:
    assert reasoner_charts.unseen([OBJECTS, FILM]) is None
    mixed = [replace(OBJECTS, task=f"mixture-{count}") for count in (64, 512)]
    drawn = reasoner_charts.unseen([OBJECTS, *mixed])
    assert [text.partition(" (")[0] for text in tooltips(str(drawn))] == [
        "object-centred: 64, 0.8",
        "object-centred: 512, 0.8",
        "object-centred, 0: 64, 0.8",
        "object-centred, 0: 512, 0.8",
    ]


def test_overlay_follows_the_weights() -> None:
    """An even share is 1: the cell with 3 is veiled by two thirds, the others not at all; a box by
    its probability."""
    black = np.zeros((4, 4, 3), dtype=np.uint8)
    cells = attention_overlay.overlay(black, CELLS)
    assert cells[0, 3].tolist() == [int(0.9 * 2 / 3 * part) for part in attention_overlay.OVERLAY]
    assert cells[:2, 2:].any(axis=2).all()
    assert cells.any(axis=2).sum() == 4
    boxes = attention_overlay.overlay(black, BOXES)
    assert boxes[1, 1].tolist() == [int(0.9 * part) for part in attention_overlay.OVERLAY]
    assert boxes.any(axis=2).sum() == 4
    flat = attention_overlay.overlay(black, AttentionMap("", np.full((2, 2), 0.25)))
    assert not flat.any()


def test_published_beside_ours() -> None:
    results = [row("film", "pos", seed, test=0.9 + seed / 50, pos_hard=0.8) for seed in range(3)]
    results += [
        row("film", "pos", validation=0.8, test=0.99),
        row("object-centred", "compositional", test_seen=0.95, test_unseen=0.93),
        row("film", "comparative", test=0.625),
    ]
    sections, charts = sweep_sections(summary(results), [FILM])
    tables = [section.table for section in sections if section.table]
    rows = [{str(row[0]): row[1:] for row in table.rows} for table in tables]
    assert [list(table.header[1:]) for table in tables] == [
        ["SUP1", "POS1", "POS", "SET+POS"],
        ["POS-hard", "SET+POS-hard"],
        ["seen combinations", "unseen combinations"],
        ["task and test", "ours"],
    ]
    # published: Pezzelle & Fernández 2019, Tables 1 to 3; the mean of 0.90, 0.92 and 0.94 and their
    # deviation by hand
    assert list(rows[0]["FiLM, published"]) == ["0.999", "0.8546", "0.9333", "0.8788"]
    assert list(rows[0]["FiLM, ours"]) == ["–", "–", "0.920 ± 0.020 (3)", "–"]
    assert list(rows[1]["FiLM, published"]) == ["0.8693", "0.6513"]
    assert list(rows[1]["FiLM, ours"]) == ["0.800 ± 0.000 (3)", "–"]
    assert list(rows[2]["object-centred, ours"]) == ["0.950 (1)", "0.930 (1)"]
    assert "object-centred, published" not in rows[2]
    assert list(rows[0]["ceiling, k = 0.29, published"]) == ["–", "97%", "97%", "97%"]
    assert list(rows[0]["ceiling, k = 0.29, ours"]) == ["–", "–", "0.900", "–"]
    expected = ("pos", "pos-hard", "compositional-seen", "compositional-unseen")
    assert list(charts) == [f"published {test}" for test in expected]
    assert "FiLM, ours: 0.92 (0.9 to 0.94)" in tooltips(str(charts["published pos"]))
    # no table of the paper has it
    assert list(rows[3]["FiLM"]) == ["comparative test", "0.625 (1)"]


def test_sweep_page(tmp_path: Path) -> None:
    results = [row("film", "pos", validation=0.8, test=0.5), row("film", "pos", test=0.9)]
    written = sweep_page(tmp_path / "sweep.html", summary(results), [FILM])
    text = written[0].read_text(encoding="utf-8")
    assert "0.900 (1)" in text
    assert "0.500 (1)" not in text
    assert "Distance from the threshold" in text
    assert (tmp_path / "sweep-published-pos.svg") in written


def test_learning_curves_of_the_best_runs(tmp_path: Path) -> None:
    """Every network with a history has a curve on the chart of its task; a run whose folder is gone
    has none."""
    (tmp_path / "training").mkdir()
    points = [(0, 0.0, 0.5), (500, 1.0, 0.625), (1000, 2.0, 0.75)]
    history = [
        {"step": step, "epoch": epoch, "validation_accuracy": accuracy}
        for step, epoch, accuracy in points
    ]
    (tmp_path / "training" / "history.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in history)
    )
    trained = [
        replace(row("film", "pos", test=0.9), folder=tmp_path),
        row("cnn-lstm", "pos", test=0.5),
    ]
    sections, charts = sweep_sections(summary(trained), best=best_configurations(trained))
    assert sections[-1].heading == "Learning curves"
    marks = tooltips(str(charts["curves pos"]))
    assert [mark for mark in marks if mark.startswith(("FiLM", "CNN"))] == [
        f"FiLM: {epoch:g}, {accuracy:g}" for _, epoch, accuracy in points
    ]


def test_page_in_a_browser(tmp_path: Path) -> None:
    mixed = replace(OBJECTS, task="mixture-64")
    written = reasoner_page(tmp_path / "page.html", [FILM, OBJECTS, mixed])
    for path in written[1:]:
        ElementTree.parse(path)
    names = [path.name for path in written]
    assert names[:2] == ["page.html", "page-accuracy-pos.svg"]
    assert {
        "page-unseen.svg",
        "page-k-film-pos-1.svg",
        "page-distance-object-centred-seen-only-4.svg",
    } < {*names}
    with chromium() as browser:
        page = browser.new_page()
        noise: list[str] = []
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.goto(written[0].as_uri())
        assert page.title() == "Diagnosis of 3 reasoners"
        assert page.locator("h2").all_text_contents() == [
            "Accuracy",
            "Few unseen examples",
            "Sentence types, shapes and colours",
            "The scene's k",
            "Distance from the threshold",
            "Where they look",
        ]
        charts = page.locator("svg.chart:not(.look)")
        assert charts.count() == len(written) - 1
        assert page.locator("svg.look").count() == 6
        # every picture was decoded: a broken one has no size of its own
        pictures = page.evaluate(
            "Promise.all([...document.querySelectorAll('svg image')].map(i => new Promise(done => {"
            "const img = new Image(); img.onload = () => done(img.naturalWidth); img.onerror = () "
            "=> done(0);"
            "img.src = i.getAttribute('href')})))"
        )
        assert pictures == [scene_charts.IMAGE_SIZE] * 15
        assert noise == []


def test_page_of_a_reasoner_without_attention_maps(tmp_path: Path) -> None:
    plain = replace(FILM, network="cnn-lstm", k=(), distance=(), examples=())
    page, *figures = reasoner_page(tmp_path / "page.html", [plain])
    text = page.read_text(encoding="utf-8")
    assert "Diagnosis of CNN+LSTM, POS" in text
    assert "Where they look" not in text
    assert "The scene's k" not in text
    assert len(figures) == 4
