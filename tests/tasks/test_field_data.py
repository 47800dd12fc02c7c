"""The field's data as tasks: counts as published, and the rules that make questions of the
published rows."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.api import load_tasks, probe
from seesay.data import store
from seesay.errors import UserError
from seesay.questions import Task
from seesay.tasks import INDEX, TASK_FILES, TASKS, expand, load_task, prost, task_card, task_groups

# Questions that are asked, and all with those of the other splits.
COUNTS = {
    "verb-physics-size": ("verb_physics", 1265, 2552),
    "verb-physics-weight": ("verb_physics", 1289, 2586),
    "verb-physics-strength": ("verb_physics", 1180, 2335),
    "verb-physics-rigidness": ("verb_physics", 1177, 2355),
    "verb-physics-speed": ("verb_physics", 1096, 2184),
    "numersense": ("numersense", 200, 10_644),
    "vsr-random": ("vsr", 2195, 10_972),
    "vsr-zeroshot": ("vsr", 1222, 5051),
    "spatial-commonsense-size": ("spatial_commonsense", 500, None),
    "spatial-commonsense-height": ("spatial_commonsense", 500, None),
    "spatial-commonsense-posrel": ("spatial_commonsense", 224, None),
    "imagenetvc-color": ("imagenetvc", 557, None),
    "imagenetvc-shape": ("imagenetvc", 424, None),
    "imagenetvc-material": ("imagenetvc", 430, None),
    "imagenetvc-component": ("imagenetvc", 1114, None),
    "imagenetvc-others": ("imagenetvc", 1551, None),
    "prost": ("prost", 18_736, None),
}


def loaded(name: str) -> Task:
    return load_task(name, shared(COUNTS[name][0]))


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_published_ones_and_no_row_is_lost(name: str) -> None:
    task = loaded(name)
    _, asked, everything = COUNTS[name]
    assert len(task.questions) == asked
    assert not task.provenance.bad_rows
    assert task.provenance.as_published
    assert task.provenance.citation
    assert task.provenance.licence
    if everything is not None:
        assert sum(len(part) for part in task.training.load_splits().values()) == everything  # type: ignore[misc]


def test_imagenetvc_has_4076_questions_and_five_examples_of_each_kind() -> None:
    names = task_groups()["imagenetvc"]
    assert sum(COUNTS[name][1] for name in names) == 4076
    for name in names:
        splits = loaded(name).splits()
        assert len(splits["train"].questions) == (15 if name.endswith("others") else 5)
        assert len(splits["test"].templates) == 5


def test_imagenetvc_others_has_three_sets_of_options() -> None:
    sets = {
        question.tags["kind"]: question.options
        for question in loaded("imagenetvc-others").questions
    }
    assert sets["yes or no"] == ("no", "yes")
    assert sets["number"] == ("1", "10", "2", "3", "4", "5", "6", "8")
    assert len(sets["word"]) == 46
    assert "forest" in sets["word"]


def test_votes_of_vsr_are_weights_and_the_label_is_the_majority() -> None:
    for name in task_groups()["vsr"]:
        for question in loaded(name).questions:
            assert (
                max(question.gold, key=lambda label: question.gold[label])
                == question.tags["answer"]
            )
            assert sum(question.gold.values()) == pytest.approx(1)
    assert "1,874 pictures are not there" in loaded("vsr-random").provenance.notes[0]


def test_positions_have_the_published_counts() -> None:
    answers = Counter(q.tags["answer"] for q in loaded("spatial-commonsense-posrel").questions)
    assert answers == {"inside": 16, "above": 64, "below": 32, "beside": 112}


# PROST


def test_prost_gold_follows_its_rules() -> None:
    task = loaded("prost")
    by_id = {question.id: question for question in task.questions}
    assert Counter(question.tags["concept"] for question in task.questions).keys() == {
        "bouncing",
        "breaking",
        "circumference",
        "directions",
        "grasping",
        "height",
        "mass",
        "rolling",
        "sliding",
        "stacking",
    }
    turned = {
        q.fields["context"]: next(iter(q.gold))
        for q in task.questions
        if q.id.startswith("directions_1/")
    }
    assert turned["A person is walking west. They turn to the right."] == "north"
    assert turned["A person is walking east. They turn around."] == "west"
    assert turned["A person is walking north. They turn to the left."] == "west"
    mass = by_id["mass_1_a/0"]
    assert mass.options == ("leaf", "coin", "egg", "apple")
    assert mass.gold == {"apple": 1.0}
    assert mass.fields["context"].startswith(
        "A leaf, a coin, an egg, and an apple moving at identical speeds"
    )
    seesaw = by_id["mass_2_a/0"]  # only the first two are on it
    assert (seesaw.options, seesaw.gold) == (("leaf", "coin", "egg", "apple"), {"coin": 1.0})
    broken = by_id["breaking_1/0"]
    assert task.templates[0].ask(broken).text == (
        "A person drops an egg, a coin, a shirt, and a pen from a balcony. The [MASK] is the most "
        "likely to break."
    )
    assert broken.gold == {"egg": 1.0}
    assert (
        task.choice_templates[0]
        .ask(broken)
        .text.endswith("Which object is the most likely to break? [MASK]")
    )
    for question in task.questions:
        assert len(set(question.options)) == 4


def test_prost_refuses_what_is_not_its_files(tmp_path: Path) -> None:
    for path in shared("prost").glob("*.yml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "mass.yml").write_text("configs: [{name: x}]")
    with pytest.raises(UserError, match=r"mass\.yml is not one of PROST's files of templates"):
        load_task("prost", tmp_path)
    (tmp_path / "lexicons.yml").write_text("- a")
    with pytest.raises(UserError, match=r"lexicons\.yml is not one of PROST's files"):
        load_task("prost", tmp_path)
    with pytest.raises(UserError, match="PROST needs the folder"):
        load_task("prost", tmp_path / "mass.yml")


# THINGS


def test_the_embedded_sizes_are_the_published_ones() -> None:
    with (TASK_FILES / "things-sizes.csv").open(encoding="utf-8") as file:
        ours = list(csv.DictReader(file))
    with shared("things_sizes/size_fixed.csv").open(encoding="utf-8-sig") as file:
        theirs = list(csv.DictReader(file, delimiter=";"))
    assert ours == [{name: row[name] for name in ours[0]} for row in theirs]
    assert (
        len(ours),
        len({row["word"] for row in ours}),
        len({row["uniqueID"] for row in ours}),
    ) == (1854, 1824, 1854)


def test_things_are_compared_by_their_ratings() -> None:
    task = load_task("things-size")
    assert len(task.questions) == 3000
    assert task.provenance.notes == ("3,000 pairs drawn from 1,854 rows with seed 0",)
    with (TASK_FILES / "things-sizes.csv").open(encoding="utf-8") as file:
        sizes = {
            row["uniqueID"]: (float(row["meanSize"]), float(row["stdSize"]))
            for row in csv.DictReader(file)
        }
    occurrences: Counter[str] = Counter()
    for question in task.questions:
        a, b = question.id.split("|")
        occurrences.update((a, b))
        (mean_a, sd_a), (mean_b, sd_b) = sizes[a], sizes[b]
        z = (mean_a - mean_b) / math.hypot(sd_a, sd_b)
        share = 0.5 * math.erfc(-z / math.sqrt(2))
        assert question.gold.get("larger", 0.0) == pytest.approx(share, abs=1e-6)
        sure = max(share, 1 - share)
        expected = "sure" if sure >= 0.95 else "rather sure" if sure >= 0.75 else "unsure"
        assert (
            question.tags["certainty"] == expected
            or min(abs(sure - edge) for edge in (0.75, 0.95)) < 1e-6
        )
    assert set(occurrences.values()) <= {2, 3, 4}  # 6,000 places for 1,854 things


# Groups, catalogue, cards


def test_groups_hold_every_source() -> None:
    assert expand(["color"]) == [
        "core-color",
        "memory-colors",
        "coda",
        "viphy-color",
        "imagenetvc-color",
    ]
    assert set(expand(["size,space"])) >= {
        "things-size",
        "verb-physics-size",
        "spatial-commonsense-posrel",
        "vsr-random",
    }
    for members in task_groups().values():
        assert set(members) <= set(TASKS.names())


def test_group_is_asked_as_far_as_data_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path))
    store.add("memory-colors", shared("memory_colors"))
    tasks, errors = load_tasks(["color"])
    assert [task.name for task in tasks] == ["core-color", "memory-colors"]
    assert len(errors) == 3
    results = probe("baseline:uniform", "color", limit=5, resamples=100, output=tmp_path / "runs")
    assert [run.manifest.task for run in results.runs] == ["core-color", "memory-colors"]


@pytest.mark.parametrize("path", sorted(TASK_FILES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_is_a_task_of_its_name(path: Path) -> None:
    assert path.stem in TASKS.names()
    assert f"name: {path.stem}\n" in path.read_text()


def test_a_vision_model_is_asked_about_drawn_pictures_of_the_published_names(
    tmp_path: Path,
) -> None:
    """COCO's pictures are not here, so others are drawn under their names; a tiny model of random
    weights answers."""
    image = pytest.importorskip("PIL.Image")
    from tests.models.vision.tiny_vision import save_tiny_vision

    rows = (shared("vsr") / "random" / "test.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    (tmp_path / "random").mkdir()
    (tmp_path / "images").mkdir()
    (tmp_path / "random" / "test.jsonl").write_text("\n".join(rows), encoding="utf-8")
    for number, row in enumerate(rows):
        name = json.loads(row)["image"]
        image.new("RGB", (32, 32), (20 * number, 100, 255 - 20 * number)).save(
            tmp_path / "images" / name
        )
    task = load_task("vsr-random", tmp_path)
    assert not task.provenance.notes  # no picture is missing
    assert not task.provenance.as_published
    model = f"vision:{save_tiny_vision('llava', tmp_path / 'model')}"
    results = probe([model, "baseline:majority"], task, output=tmp_path / "runs", resamples=100)
    assert not results.errors
    assert {run.manifest.questions for run in results.runs} == {12}
    for run in results.runs:
        assert run.figures[0].metric == "majority_accuracy"
        assert 0 <= run.figures[0].low <= run.figures[0].value <= run.figures[0].high <= 1
    logp = [tuple(answer.scores.logp) for answer in results.runs[0].answers]
    assert len(set(logp)) == len(logp)  # every picture and sentence gets its own numbers


@pytest.mark.parametrize(
    ("choices", "rule"),
    [(("{w}", "{w}", "{w}", "{w}"), "pick_odd_one_out"), (("x",) * 4, "turning")],
)
def test_a_prost_template_that_does_not_fit_its_rule_is_one_sentence(
    choices: tuple[str, ...], rule: str
) -> None:
    pattern = prost.Pattern("p1", "mass", "A {w}.", "It is [MASK].", "", choices, rule)
    with pytest.raises(UserError, match=f"PROST's p1 does not fit its rule, '{rule}'"):
        list(prost.expand(pattern, {"w": ["cup", "lid"]}))


def test_the_index_says_what_the_files_say() -> None:
    from tools.task_index import heads

    index = json.loads(INDEX.read_text(encoding="utf-8"))
    assert index == heads(), "run `make index`"
    for name in index:
        card = task_card(name)
        assert card.title
        assert card.source
        assert card.needs or card.licence


def test_listing_tasks_reads_no_task_file() -> None:
    code = """
import sys
import seesay.tasks as tasks

assert not {"yaml", "numpy", "pydantic"} & sys.modules.keys()
assert all(tasks.task_card(name).title for name in tasks.TASKS.names())
assert not {"yaml", "seesay.data.task_files"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
