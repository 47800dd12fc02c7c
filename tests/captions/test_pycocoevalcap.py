"""pycocoevalcap's interface beside pycocoevalcap itself: equal digits."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.needs import absent

import seesay.captions.pycocoevalcap as ours
from seesay.captions import MeteorResources
from seesay.errors import UserError

CAPTIONS = {
    7: ["A man riding a wave on top of a surfboard."],
    3: ["Two dogs don't run in the U.S. park (fast)!"],
    12: ["the the the the"],
    5: [""],
}
REFERENCES = {
    7: ["A surfer rides a large wave.", "The man is surfing on a big wave in the ocean."],
    3: ["Two dogs running through a park.", "Dogs run.", "A pair of dogs play in the U.S."],
    12: ["The cat sits on the mat near the door."],
    5: ["A plate of food."],
}
MODULES = {
    "Bleu": "bleu.bleu",
    "Cider": "cider.cider",
    "Meteor": "meteor.meteor",
    "PTBTokenizer": "tokenizer.ptbtokenizer",
    "Rouge": "rouge.rouge",
}


def peer(name: str) -> Any:
    """A class of the real pycocoevalcap."""
    if importlib.util.find_spec("pycocoevalcap") is None:
        absent("pycocoevalcap not found: nothing to compare with")
    if name in ("Meteor", "PTBTokenizer") and shutil.which("java") is None:
        absent("Java not found: pycocoevalcap cannot run")
    return getattr(importlib.import_module(f"pycocoevalcap.{MODULES[name]}"), name)


def coco_annotations(texts: dict[int, list[str]]) -> dict[int, list[dict[str, str]]]:
    return {image: [{"caption": text} for text in captions] for image, captions in texts.items()}


def assert_equal_results(own: tuple[Any, Any], others: tuple[Any, Any]) -> None:
    """Figures and scores of the same types and, up to the order of additions, the same digits."""
    assert type(own[0]) is type(others[0])
    assert type(own[1]) is type(others[1])
    assert np.asarray(own[0]) == pytest.approx(np.asarray(others[0]), abs=1e-12)
    assert np.asarray(own[1]) == pytest.approx(np.asarray(others[1]), abs=1e-12)


@pytest.mark.parametrize("arguments", [("Bleu", 4), ("Bleu", 2), ("Rouge",), ("Cider",)])
@pytest.mark.parametrize("tokenized", [True, False])
def test_metrics_that_need_no_java(arguments: tuple[Any, ...], tokenized: bool) -> None:
    """Whether or not the texts were tokenised, which no metric does by itself."""
    name, *parameters = arguments
    gts, res = REFERENCES, CAPTIONS
    if tokenized:
        gts = ours.PTBTokenizer().tokenize(coco_annotations(REFERENCES))
        res = ours.PTBTokenizer().tokenize(coco_annotations(CAPTIONS))
    own = getattr(ours, name)(*parameters)
    other = peer(name)(*parameters)
    assert own.method() == other.method()
    assert_equal_results(own.compute_score(gts, res), other.compute_score(gts, res))


def test_the_width_of_the_length_penalty() -> None:
    own = ours.Cider(sigma=2.0).compute_score(REFERENCES, CAPTIONS)
    assert_equal_results(own, peer("Cider")(sigma=2.0).compute_score(REFERENCES, CAPTIONS))
    assert own[0] != ours.Cider().compute_score(REFERENCES, CAPTIONS)[0]


def test_tokens_equal_those_of_java() -> None:
    own = ours.PTBTokenizer().tokenize(
        coco_annotations(REFERENCES | {1: ['It\'s 5 p.m. -- "now"']})
    )
    other = peer("PTBTokenizer")().tokenize(
        coco_annotations(REFERENCES | {1: ['It\'s 5 p.m. -- "now"']})
    )
    assert own == other
    assert list(own) == list(other)


@pytest.mark.slow
@pytest.mark.parametrize("tokenized", [True, False])
def test_meteor_equals_that_of_java(tokenized: bool, resources: MeteorResources) -> None:
    gts, res = REFERENCES, CAPTIONS
    if tokenized:
        gts = ours.PTBTokenizer().tokenize(coco_annotations(REFERENCES))
        res = ours.PTBTokenizer().tokenize(coco_annotations(CAPTIONS))
    assert ours.Meteor().method() == "METEOR"
    own = ours.Meteor().compute_score(gts, res)
    assert_equal_results(own, peer("Meteor")().compute_score(gts, res))


USERS_CODE = """
import json, sys
from pycocoevalcap.eval import Bleu, Cider, COCOEvalCap, Meteor, Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from pycocotools.coco import COCO

captions, references = json.loads(sys.argv[1])
annotations = []
for image, texts in references.items():
    for text in texts:
        annotations.append({"image_id": int(image), "caption": text, "id": len(annotations)})
coco = COCO()
coco.dataset = {"annotations": annotations, "images": [{"id": int(i)} for i in references]}
coco.createIndex()
results = coco.loadRes([{"image_id": int(i), "caption": t[0]} for i, t in captions.items()])
evaluation = COCOEvalCap(coco, results)
gts = {image: evaluation.coco.imgToAnns[image] for image in evaluation.params["image_id"]}
res = {image: evaluation.cocoRes.imgToAnns[image] for image in evaluation.params["image_id"]}
gts, res = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)
figures = {}
for scorer in (Bleu(4), Meteor(), Rouge(), Cider()):
    score, scores = scorer.compute_score(gts, res)
    figures[scorer.method()] = score if type(score) == list else [score]
print()
print(json.dumps(figures))
"""
"""How caption tasks of other harnesses call pycocoevalcap, lmms-eval's among them."""

STAND_IN = "from seesay.captions.pycocoevalcap import stand_in\nstand_in()\n"


def run_users_code(program: str, path: str) -> dict[str, list[float]]:
    """The figures that a program prints on its last line, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps([CAPTIONS, REFERENCES])],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return figures


@pytest.mark.slow
def test_users_code_runs_unchanged_and_without_java(resources: MeteorResources) -> None:
    pytest.importorskip("pycocotools")
    peer("Meteor")
    others = run_users_code(USERS_CODE, os.environ["PATH"])
    own = run_users_code(STAND_IN + USERS_CODE, "")
    assert list(own) == list(others) == ["Bleu", "METEOR", "Rouge", "CIDEr"]
    for metric, figures in own.items():
        assert figures == pytest.approx(others[metric], abs=1e-12)
        assert min(figures) > 0


class Annotations:
    """What COCOEvalCap reads of a `pycocotools.coco.COCO`."""

    def __init__(self, texts: dict[int, list[str]]) -> None:
        self.imgToAnns = coco_annotations(texts)

    def getImgIds(self) -> list[int]:  # noqa: N802
        return list(self.imgToAnns)


def test_the_whole_evaluation_has_every_metric_but_spice(resources: MeteorResources) -> None:
    evaluation = ours.COCOEvalCap(Annotations(REFERENCES), Annotations(CAPTIONS))
    evaluation.evaluate()
    orders = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]
    assert list(evaluation.eval) == [*orders, "METEOR", "ROUGE_L", "CIDEr"]
    gts = ours.PTBTokenizer().tokenize(coco_annotations(REFERENCES))
    res = ours.PTBTokenizer().tokenize(coco_annotations(CAPTIONS))
    bleus = peer("Bleu")(4).compute_score(gts, res)[0]
    assert [evaluation.eval[order] for order in orders] == pytest.approx(bleus, abs=1e-12)
    consensus, by_image = peer("Cider")().compute_score(gts, res)
    assert evaluation.eval["CIDEr"] == pytest.approx(consensus, abs=1e-12)
    assert [row["image_id"] for row in evaluation.evalImgs] == list(REFERENCES)
    assert [row["CIDEr"] for row in evaluation.evalImgs] == pytest.approx(by_image, abs=1e-12)


@pytest.mark.parametrize(
    ("gts", "res", "sentence"),
    [
        ({1: ["a"]}, {2: ["a"]}, "not both"),
        ({1: ["a"]}, {1: ["a", "b"]}, "a list of one caption"),
        ({1: ["a"]}, {1: "a"}, "a list of one caption"),
        ({1: []}, {1: ["a"]}, "a list of references"),
        ({1: "a"}, {1: ["a"]}, "a list of references"),
        ({}, {}, "no caption"),
    ],
)
def test_captions_that_cannot_be_scored(gts: Any, res: Any, sentence: str) -> None:
    for scorer in (ours.Bleu(), ours.Meteor(), ours.Rouge(), ours.Cider()):
        with pytest.raises(UserError, match=sentence):
            scorer.compute_score(gts, res)


def test_what_is_not_computed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="SPICE is not computed"):
        ours.Spice()
    with pytest.raises(UserError, match="from 1 to 4"):
        ours.Bleu(5)
    with pytest.raises(UserError, match="up to 4"):
        ours.Cider(n=2)
    # a lesser METEOR must not pass for METEOR
    monkeypatch.setattr(ours, "load", MeteorResources)
    with pytest.raises(UserError, match="METEOR's data are not found"):
        ours.Meteor().compute_score(REFERENCES, CAPTIONS)
