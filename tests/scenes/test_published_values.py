"""Every value of the published annotations, computed again."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.modules import needed
from tests.scenes.published import EXAMPLES, annotation_files, full_k
from tests.shared_data import shared

from seesay.scenes.annotation import entry, match_picture, parse, read
from seesay.scenes.config import SceneConfig
from seesay.scenes.labels import eligible_targets
from seesay.scenes.raster import PUBLISHED, rgb
from seesay.scenes.task_kinds import task_kind

COUNTS = {  # scenes, objects
    "sup1": (2020, 11006),
    "pos1": (20, 117),
    "pos": (20, 118),
    "set+pos": (1020, 6429),
    "pos-hard": (20, 123),
    "set+pos-hard": (20, 129),
}
OURS = {"turn", "level"}


@pytest.mark.parametrize("task", EXAMPLES)
def test_annotation_is_written_as_published(task: str) -> None:
    """The scene, every object with area, label, probability, distance and vagueness, and every
    caption: all equal."""
    config, scenes, objects = SceneConfig(task), 0, 0
    for file in annotation_files(task):
        for key, published in json.loads(file.read_text()).items():
            known = parse(key, published)
            scene = known.scene
            if config.kind.degree == "positive":
                scene = replace(scene, k=full_k(known, config.kind))
            about, written, *captions = entry(config, scene, published[0]["image_url"])
            assert about == published[0]
            for ours, theirs in zip(written["objects"], published[1]["objects"], strict=True):
                assert {name: value for name, value in ours.items() if name not in OURS} == theirs
            by_sentence = {pair["captions"][0]["caption_true"]: pair for pair in published[2:]}
            assert {pair["captions"][0]["caption_true"]: pair for pair in captions} == by_sentence
            scenes += 1
            objects += len(written["objects"])
    assert (scenes, objects) == COUNTS[task]


@pytest.mark.parametrize("task", EXAMPLES)
def test_pictures_are_drawn_as_published(task: str) -> None:
    image = needed("PIL.Image")
    folder = shared(f"malevic/examples/{EXAMPLES[task]}")
    drawn = 0
    for file in sorted(folder.glob("annotations_*.json")):
        for known in read(file)[0]:
            picture = np.asarray(image.open(folder / known.image))
            assert picture.shape == (PUBLISHED, PUBLISHED, 4)
            scene = match_picture(known.scene, picture)
            assert np.array_equal(rgb(scene, PUBLISHED), picture[:, :, :3]), known.image
            assert (picture[:, :, 3] == 255).all()
            drawn += 1
    assert drawn == 20


@pytest.mark.parametrize("task", EXAMPLES)
def test_eligible_targets_match_the_published_captions(task: str) -> None:
    for file in annotation_files(task):
        for known in read(file)[0]:
            names = [
                f"The {known.scene.objects[i].color} {known.scene.objects[i].shape} is"
                for i in eligible_targets(known.scene, task_kind(task))
            ]
            subjects = [" ".join(true.split()[:4]) for true, _ in known.captions]
            assert sorted(names) == sorted(subjects)
