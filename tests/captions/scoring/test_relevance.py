"""`seesay score relevance`: captions beside pictures, through the real loading code of a tiny
CLIP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from tests.models.vision.test_dual_encoder import picture, save_dual
from typer.testing import CliRunner

from seesay.captions import score_relevance
from seesay.captions.commands import app
from seesay.captions.scoring.relevance import find_pictures
from seesay.errors import UserError

CAPTIONS = {"1": "a red circle", "2": "the big square is blue", "3": "a circle"}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_dual("clip", tmp_path_factory.mktemp("clip"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures named as COCO names them."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in CAPTIONS:
        picture(int(number)).save(folder / f"COCO_val2014_{int(number):012}.png")
    return folder


class ByHand:
    """Looks at a picture's first pixel, and at whether a text has the word red."""

    name = "by hand"

    def pictures(self, pictures: Sequence[Image.Image]) -> list[list[float]]:
        pixels = [cast(tuple[int, ...], image.getpixel((0, 0))) for image in pictures]
        return [[float(red), float(green)] for red, green, _ in pixels]

    def texts(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "red" in text else [0.0, 1.0] for text in texts]


def test_any_encoder_of_both_will_do(tmp_path: Path) -> None:
    """Pixels (30, 40): the cosine with (1, 0) is 0.6, with (0, 1) it is 0.8."""
    paths = {}
    for name in ("a", "b"):
        paths[name] = tmp_path / f"{name}.png"
        Image.new("RGB", (2, 2), (30, 40, 0)).save(paths[name])
    scores = score_relevance(
        {"a": "red", "b": "green"},
        paths,
        ByHand(),
        versus={"a": "green", "b": "green"},
        resamples=100,
    )
    ours, theirs = scores.records
    assert (ours.model, ours.metric, ours.n) == ("system 1", "relevance", 2)
    assert ours.value == pytest.approx((2.5 * 0.6 + 2.5 * 0.8) / 2)
    assert theirs.value == pytest.approx(2.5 * 0.8)
    [test] = scores.comparisons
    assert (test.task, test.metric) == ("relevance", "relevance")
    assert test.difference == pytest.approx(-0.25)
    assert "relevance:w2.5|encoder:by hand|captions:2" in scores.signature
    rows = list(scores.rows())
    assert rows[0] == {"model": "system 1", "image_id": "a", "relevance": pytest.approx(1.5)}
    assert len(rows) == 4


def test_a_tiny_clip_gives_the_cosines_of_transformers(folder: Path, clip: Path) -> None:
    scores = score_relevance(CAPTIONS, folder, str(clip), weight=1.0, resamples=100)
    model: Any = tr.CLIPModel.from_pretrained(clip)
    model.eval()
    tokenizer: Any = tr.AutoTokenizer.from_pretrained(clip)
    processor: Any = tr.AutoImageProcessor.from_pretrained(clip)
    expected = []
    for image, text in CAPTIONS.items():
        inputs = {
            **tokenizer(text, return_tensors="pt"),
            **processor(images=picture(int(image)), return_tensors="pt"),
        }
        names = ("input_ids", "attention_mask", "pixel_values")
        with torch.inference_mode():
            output = model(**{name: inputs[name] for name in names})
        cosine = float((output.text_embeds * output.image_embeds).sum())
        expected.append(max(cosine, 0.0))
    [measured] = scores.systems.values()
    assert measured.scores == pytest.approx(expected, abs=1e-5)
    assert max(expected) > 0
    assert f"encoder:{clip}@" in scores.signature


def test_the_command(folder: Path, clip: Path, tmp_path: Path) -> None:
    captions = tmp_path / "ours.json"
    entries = [{"image_id": int(image), "caption": text} for image, text in CAPTIONS.items()]
    entries.append({"image_id": 9, "caption": "a circle"})
    captions.write_text(json.dumps(entries))
    (folder / "COCO_val2014_000000000003.png").write_bytes(b"no picture")
    rows = tmp_path / "rows.jsonl"
    arguments = ["relevance", captions, folder, "--encoder", clip, "--per-caption", rows]
    done = CliRunner().invoke(app, [*map(str, arguments), "--resamples", "100", "--json"])
    assert done.exit_code == 1  # two captions were left out
    [record] = json.loads(done.stdout)
    assert (record["model"], record["metric"], record["n"]) == ("ours", "relevance", 2)
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["image_id"] for row in written] == ["1", "2"]
    assert record["value"] == pytest.approx(np.mean([row["relevance"] for row in written]))
    assert "image 9 has no picture" in done.stderr
    assert "image 3: " in done.stderr


def test_pictures_are_found_by_name_and_number(tmp_path: Path) -> None:
    for name in ("cat.jpg", "COCO_val2014_000000000042.jpg", "000000000007.PNG", "notes.txt"):
        (tmp_path / name).touch()
    # 42 would be either of two files
    (tmp_path / "0042.png").touch()
    names = {name: path.name for name, path in find_pictures(tmp_path).items()}
    assert names == {
        "cat": "cat.jpg",
        "COCO_val2014_000000000042": "COCO_val2014_000000000042.jpg",
        "0042": "0042.png",
        "000000000007": "000000000007.PNG",
        "7": "000000000007.PNG",
    }


def test_mistakes_are_one_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="have no picture: give them as JSON"):
        score_relevance(["a circle"], folder, ByHand())
    with pytest.raises(UserError, match="There is no folder"):
        score_relevance(CAPTIONS, tmp_path / "none", ByHand())
    with pytest.raises(UserError, match="No caption has a picture: image 8 has no picture"):
        score_relevance({"8": "a circle"}, folder, ByHand())
    with pytest.raises(UserError, match="above 0"):
        score_relevance(CAPTIONS, folder, ByHand(), weight=0.0)
