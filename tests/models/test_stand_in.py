"""The picture in place of none reaches each network, and every condition is a run of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from tests.cli.program import error_here
from tests.models.encoders.tiny_encoders import PROJECTED, save_tiny_encoder
from tests.tiny import COLORS, wordpiece

from seesay import api
from seesay.condition import PictureKind, StandIn
from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.stand_in import REGIONS, Regions, read_regions, stand_in_regions
from seesay.models.vision.masked import FlavaReader
from seesay.questions import Prompt
from seesay.runs.request import Request, expand
from seesay.runs.store import FIGURES
from seesay.tasks import load_task

Folder = Callable[[str], Path]

SEES_PIXELS = ("vilt", "flava", "clip-bert")
SEES_REGIONS = ("visual-bert", "lxmert")
SIDE = 32  # of the tiny models' pictures
TEXT = "the color of an apple is [MASK] ."
PROMPT = Prompt(TEXT, COLORS)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a tiny model, made once."""
    return cache(lambda kind: save_tiny_encoder(kind, tmp_path_factory.mktemp(kind)))


@pytest.fixture
def regions(tmp_path: Path) -> Path:
    """A file of the regions of three pictures, two in each."""
    draw = np.random.default_rng(7)
    path = tmp_path / "regions.npz"
    boxes = np.sort(draw.random((3, 2, 2, 2)), axis=2).reshape(3, 2, 4)
    np.savez(path, features=draw.random((3, 2, PROJECTED)), boxes=boxes)
    return path


def logps(model: Any) -> tuple[float, ...]:
    [scores] = model.answer([PROMPT])
    return tuple(scores.logp)


def image(kind: PictureKind, mean: tuple[float, ...]) -> Image.Image:
    """The picture by hand: black, the color that the processor takes away, or uniform noise."""
    pixels = {
        PictureKind.BLANK: np.zeros((SIDE, SIDE, 3)),
        PictureKind.MEAN: np.full((SIDE, SIDE, 3), np.round(255 * np.array(mean))),
        PictureKind.RANDOM: np.random.default_rng(1).integers(
            0, 256, (SIDE, SIDE, 3), dtype=np.uint8
        ),
    }
    return Image.fromarray(pixels[kind].astype(np.uint8))


@pytest.mark.parametrize("kind", list(PictureKind))
@pytest.mark.parametrize("architecture", SEES_PIXELS)
def test_pixels_reach_the_network(
    architecture: str, kind: PictureKind, folder: Folder, tmp_path: Path
) -> None:
    """As if the question had that picture: a path which is compared with plain transformers in
    test_multimodal_cloze."""
    where = folder(architecture)
    model: Any = load_model(str(where))
    received: list[torch.Tensor] = []

    def keep(module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        # what cuts a picture into patches is the only convolution of these networks
        if isinstance(module, torch.nn.Conv2d):
            received.append(arguments[0])

    # of every module, since CLIP-BERT loads the half that sees when it is first shown a picture
    hook = torch.nn.modules.module.register_module_forward_pre_hook(keep)
    shown = model.with_picture(StandIn(kind, seed=1))
    hook.remove()
    pictures = where / "clip" if architecture == "clip-bert" else where
    processor: Any = tr.AutoImageProcessor.from_pretrained(pictures)
    [pixels] = received
    mean = np.array(processor.image_mean)
    deviation = np.array(processor.image_std)
    seen = pixels[0].numpy().transpose(1, 2, 0) * deviation + mean  # as shares of full brightness
    expected = np.asarray(image(kind, processor.image_mean)) / 255
    assert seen == pytest.approx(expected, abs=1e-5)
    if kind is PictureKind.MEAN:  # nothing but what rounding to 256 levels leaves
        assert float(pixels.abs().max()) <= 0.5 / 255 / deviation.min() + 1e-6
    path = tmp_path / "shown.png"
    image(kind, processor.image_mean).save(path)
    [of_own] = model.answer([Prompt(TEXT, COLORS, str(path))])
    assert logps(shown) == pytest.approx(of_own.logp, abs=1e-6)
    assert np.abs(np.subtract(logps(shown), logps(model))).max() > 1e-3


def plain_logps(architecture: str, where: Path, seen: Regions) -> list[float]:
    """transformers' own forward with these regions."""
    tokenizer = wordpiece()
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    features, boxes = (torch.from_numpy(part)[None] for part in seen)
    if architecture == "lxmert":
        lxmert: Any = tr.LxmertForPreTraining.from_pretrained(where)
        logits = lxmert.eval()(ids, visual_feats=features, visual_pos=boxes).prediction_logits
    else:
        ones = torch.ones(1, len(seen.features), dtype=torch.long)
        bert: Any = tr.VisualBertForPreTraining.from_pretrained(where)
        logits = bert.eval()(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            visual_embeds=features,
            visual_attention_mask=ones,
            visual_token_type_ids=ones,
        ).prediction_logits
    at = ids[0].tolist().index(tokenizer.mask_token_id)
    row = logits[0, at].log_softmax(-1)
    return [float(row[tokenizer.convert_tokens_to_ids(color)]) for color in COLORS]


@pytest.mark.parametrize("architecture", SEES_REGIONS)
def test_regions_reach_the_network(architecture: str, folder: Folder, regions: Path) -> None:
    where = folder(architecture)
    model = load_model(str(where))
    arrays = np.load(regions)
    features = arrays["features"].astype(np.float32)
    boxes = arrays["boxes"].astype(np.float32)
    whole = np.tile(np.array([0, 0, 1, 1], np.float32), (REGIONS, 1))
    number = np.random.default_rng(1).integers(3)
    seen = {
        StandIn(PictureKind.BLANK): Regions(np.zeros((REGIONS, PROJECTED), np.float32), whole),
        StandIn(PictureKind.MEAN, 0, regions): Regions(features.mean(0), boxes.mean(0)),
        StandIn(PictureKind.RANDOM, 1, regions): Regions(features[number], boxes[number]),
        StandIn(PictureKind.RANDOM, 2): stand_in_regions(
            StandIn(PictureKind.RANDOM, 2), PROJECTED, "it"
        ),
    }
    answers = {logps(model)}
    for stand_in, expected in seen.items():
        shown = model.with_picture(stand_in)
        with torch.inference_mode():
            assert logps(shown) == pytest.approx(
                plain_logps(architecture, where, expected), abs=1e-5
            )
        answers.add(logps(shown))
    assert len(answers) == 5  # none, and four pictures


def test_random_regions_are_not_negative_and_their_boxes_have_an_inside() -> None:
    first, again, other = (
        stand_in_regions(StandIn(PictureKind.RANDOM, seed), 8, "it") for seed in (0, 0, 1)
    )
    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.boxes, again.boxes)
    assert not np.array_equal(first.features, other.features)
    assert first.features.min() >= 0
    left, top, right, bottom = first.boxes.T
    assert (left <= right).all()
    assert (top <= bottom).all()
    assert first.boxes.max() <= 1


@pytest.mark.parametrize("architecture", [*SEES_PIXELS, *SEES_REGIONS])
def test_every_condition_is_a_run_of_its_own(
    architecture: str, folder: Folder, regions: Path, tmp_path: Path
) -> None:
    name = str(folder(architecture))

    def probe() -> api.Results:
        return api.probe(
            name,
            "core-color",
            picture="none,blank,mean,random",
            picture_seeds=2,
            regions=regions,
            limit=6,
            resamples=200,
            output=tmp_path / "runs",
        )

    results = probe()
    assert [run.label.removeprefix(name) for run in results.runs] == [
        "",
        " · blank picture",
        " · mean picture",
        " · random picture · seed 0",
        " · random picture · seed 1",
    ]
    assert len({run.folder for run in results.runs}) == 5
    signatures = [run.manifest.signature for run in results.runs]
    assert "|picture:" not in signatures[0]
    assert "|picture:mean|" in signatures[2]
    assert "|picture:random|picture-seed:1|" in signatures[4]
    # the file shapes what is seen of regions, and nothing else
    assert ["|regions:" in signature for signature in signatures] == [
        False,
        False,
        *[architecture in SEES_REGIONS] * 3,
    ]
    notes = results.runs[1].manifest.notes
    assert any("of a blank picture" in note for note in notes)
    assert not any("without regions" in note or "text alone" in note for note in notes)
    # the models are paired on the same questions
    tested = results.compare(against=name, resamples=200)
    assert {row.a for row in tested} | {row.b for row in tested} == {
        name,
        *(f"{name} · {shown} picture" for shown in ("blank", "mean")),
        f"{name} · random picture · seed 0",
    }
    # a second call finds what the first has answered
    times = [(run.folder / FIGURES).stat().st_mtime_ns for run in results.runs]
    again = probe()
    assert [run.folder for run in again.runs] == [run.folder for run in results.runs]
    assert [(run.folder / FIGURES).stat().st_mtime_ns for run in again.runs] == times


def test_an_interrupted_run_goes_on_with_the_same_picture(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def probe(output: str) -> api.Results:
        return api.probe(
            str(folder("flava")),
            "core-color",
            picture="random",
            limit=6,
            resamples=200,
            batch_size=32,
            output=tmp_path / output,
        )

    whole = probe("whole").runs[0]
    read = FlavaReader.logits
    calls = 0

    def stop_in_the_middle(*arguments: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 100:
            raise KeyboardInterrupt
        return read(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(FlavaReader, "logits", stop_in_the_middle)
        with pytest.raises(KeyboardInterrupt):
            probe("cut")
    calls_before = calls
    counted = 0

    def count(*arguments: Any) -> torch.Tensor:
        nonlocal counted
        counted += 1
        return read(*arguments)

    monkeypatch.setattr(FlavaReader, "logits", count)
    resumed = probe("cut").runs[0]
    resumed_calls = counted
    probe("once more")
    assert calls_before == 100
    assert 0 < resumed_calls < counted - resumed_calls  # fewer than a run from the beginning
    assert [figure.value for figure in resumed.figures] == [
        figure.value for figure in whole.figures
    ]


@pytest.mark.parametrize("architecture", SEES_REGIONS)
def test_the_mean_of_regions_needs_a_file(architecture: str, folder: Folder) -> None:
    model = load_model(str(folder(architecture)))
    with pytest.raises(UserError, match="whose mean it does not know: give a file of them"):
        model.with_picture(StandIn(PictureKind.MEAN))


def test_a_checkpoint_without_its_eyes_is_refused(folder: Folder, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    where = tmp_path / "blind"
    save_tiny_encoder("lxmert", where)
    weights = load_file(where / "model.safetensors")
    seeing = {name: value for name, value in weights.items() if "visn_fc" not in name}
    save_file(seeing, where / "model.safetensors", {"format": "pt"})
    model = load_model(str(where))
    assert len(logps(model)) == len(COLORS)
    with pytest.raises(UserError, match="lacks the weights that see"):
        model.with_picture(StandIn(PictureKind.BLANK))


def test_models_that_do_not_see_are_refused(
    tiny_folder: Callable[[str], Path], folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    message = error_here(
        capsys, "probe", tiny_folder("bert"), "--task", "core-color", "--picture", "blank"
    )
    assert "cannot be shown a picture in place of none" in message
    implicit = load_model(f"clip-bert-implicit:{folder('clip-bert')}")
    with pytest.raises(UserError, match="a CLIP-BERT that imagines"):
        implicit.with_picture(StandIn(PictureKind.BLANK))


def test_a_task_with_pictures_keeps_its_own(folder: Folder) -> None:
    task = load_task("core-color")
    with_pictures = tuple(replace(question, picture="a.png") for question in task.questions)
    request = Request(pictures=(PictureKind.BLANK,))
    with pytest.raises(UserError, match="core-color have pictures of their own"):
        list(expand(request, str(folder("vilt")), [replace(task, questions=with_pictures)]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--picture", "grey"], "--picture is 'grey': choose among none, blank, mean, random"),
        (["--picture", "blank", "--picture-seeds", "2"], "add --picture random"),
        (["--picture", "blank", "--shots", "1"], "without examples"),
        (["--picture", "blank", "--how", "linear"], "without examples"),
        (["--picture", "blank", "--layers", "all"], "--layers goes without"),
        (["--picture", "blank", "--how", "learning-curve"], "are not for --how learning-curve"),
    ],
)
def test_mistakes_are_one_sentence(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error_here(capsys, "probe", "mock", "--task", "core-color", *options)


def test_files_of_regions_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "regions.npz"
    with pytest.raises(UserError, match="There is no file"):
        read_regions(path, 4)
    path.write_bytes(b"no zip")
    with pytest.raises(UserError, match=r"is no \.npz file"):
        read_regions(path, 4)
    np.savez(path, features=np.ones((2, 3, 5)))
    with pytest.raises(UserError, match="pictures × regions × 4 finite numbers"):
        read_regions(path, 4)
    np.savez(path, features=np.full((2, 3, 4), np.nan))
    with pytest.raises(UserError, match="finite"):
        read_regions(path, 4)
    np.savez(path, features=np.ones((2, 3, 4)), boxes=np.full((2, 3, 4), 40.0))
    with pytest.raises(UserError, match="between 0 and 1"):
        read_regions(path, 4)
    # the mean of two pictures of one region, by hand; without boxes a region is the whole picture
    np.savez(path, features=np.array([[[1.0, 2.0]], [[3.0, 6.0]]]))
    mean = stand_in_regions(StandIn(PictureKind.MEAN, 0, path), 2, "it")
    assert mean.features.tolist() == [[2.0, 4.0]]
    assert mean.boxes.tolist() == [[0.0, 0.0, 1.0, 1.0]]
