"""People asked about scenes: answers of simulated people, imported by judge, give back their k."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.modules import needed

from seesay.cli import main
from seesay.files import write_csv
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.labels import above
from seesay.scenes.lookup import find_scene
from seesay.scenes.plan import test_plan as plan_of_test
from seesay.scenes.sentences import parse_sentence
from seesay.scenes.tasks.malevic import load

needed("scipy")

K = 0.4
DEVIATION = 0.08
PEOPLE = 12


def run(arguments: list[str]) -> None:
    """Run a command in this process; it must end well."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code


@pytest.mark.seconds
def test_people_give_back_their_planted_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    config = SceneConfig("pos")
    write_dataset(config, plan_of_test("pos", 240), SceneOutput(data, 64, formats=("json",)))
    rng = np.random.default_rng(0)
    rows = []
    for question in load("pos", data).questions:
        assert question.picture is not None
        scene = find_scene(question.picture).scene
        parsed = parse_sentence(question.fields["sentence"])
        assert parsed is not None
        color, shape, _, _, positive, _ = parsed
        (place,) = scene.places(color, shape)
        for person in range(PEOPLE):
            big = above(scene, False, rng.normal(K, DEVIATION))[place]
            label = "true" if big == positive else "false"
            rows.append({"person": f"p{person}", "item": question.id, "label": label})
    table = tmp_path / "answers.csv"
    write_csv(table, ["person", "item", "label"], rows)
    results = tmp_path / "results"
    imported = ["judge", "import", "malevic-pos", str(table), "--data", str(data)]
    run([*imported, "-o", str(results), "--resamples", "100", "--quiet"])
    capsys.readouterr()
    run(["scenes", "fit", str(results), "--resamples", "40", "--json"])
    (fitted,) = json.loads(capsys.readouterr().out)
    best = fitted["fits"][0]
    assert best["threshold"] == "rh-r"
    assert best["mean"] == pytest.approx(K, rel=0.05)
    assert best["mean_low"] < K < best["mean_high"]
    assert best["deviation"] == pytest.approx(DEVIATION, rel=0.25)
    # their k lies above 0.29: things of the middle are called big more often than that says
    middle = [each for each in fitted["calibration"] if 0.2 < each["expected"] < 0.8]
    assert middle
    assert all(each["observed"] > each["expected"] + 0.1 for each in middle)
