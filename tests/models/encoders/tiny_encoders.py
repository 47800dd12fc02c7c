"""Tiny encoders that are no plain language models, with random weights, saved as real ones are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch
import transformers as tr
from safetensors.torch import load_file, save_file
from tests.tiny import save_tiny, wordpiece

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "initializer_range": 0.25,
}
PICTURE = {**SMALL, "image_size": 32, "patch_size": 16}
PLACES = 64
PROJECTED = 16


def save_tiny_encoder(kind: str, folder: Path) -> Path:
    """An encoder of one of KINDS in a folder, always with the same weights."""
    torch.manual_seed(0)
    KINDS[kind](folder)
    return folder


def _text(**more: Any) -> dict[str, Any]:
    return {**SMALL, "vocab_size": len(wordpiece()), "max_position_embeddings": PLACES, **more}


def _clip(folder: Path) -> None:
    tokenizer = wordpiece()
    text = _text(
        eos_token_id=tokenizer.sep_token_id,
        bos_token_id=tokenizer.cls_token_id,
        projection_dim=PROJECTED,
    )
    config = tr.CLIPConfig(
        text_config=text,
        vision_config={**PICTURE, "projection_dim": PROJECTED},
        projection_dim=PROJECTED,
    )
    tr.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    cast(Any, tr.CLIPImageProcessor)(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)


def _siglip(folder: Path) -> None:
    tr.SiglipModel(tr.SiglipConfig(text_config=_text(), vision_config=PICTURE)).save_pretrained(
        folder
    )
    wordpiece().save_pretrained(folder)


def _flava(folder: Path) -> None:
    config = cast(Any, tr.FlavaConfig)(
        text_config=_text(),
        image_config=PICTURE,
        multimodal_config=SMALL,
        projection_dim=PROJECTED,
        hidden_size=32,
        init_codebook=False,
    )
    tr.FlavaForPreTraining(config).save_pretrained(folder)
    wordpiece().save_pretrained(folder)
    cast(Any, tr.FlavaImageProcessor)(
        size={"height": 32, "width": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)


def _vilt(folder: Path) -> None:
    tr.ViltForMaskedLM(tr.ViltConfig(**_text(), image_size=32, patch_size=16)).save_pretrained(
        folder
    )
    wordpiece().save_pretrained(folder)
    cast(Any, tr.ViltImageProcessor)(size={"shortest_edge": 32}, size_divisor=16).save_pretrained(
        folder
    )


def _visual_bert(folder: Path) -> None:
    config = tr.VisualBertConfig(**_text(), visual_embedding_dim=PROJECTED)
    tr.VisualBertForPreTraining(config).save_pretrained(folder)
    wordpiece().save_pretrained(folder)


def _lxmert(folder: Path) -> None:
    text = {key: value for key, value in _text().items() if key != "num_hidden_layers"}
    config = tr.LxmertConfig(
        **text,
        l_layers=2,
        x_layers=2,
        r_layers=1,
        visual_feat_dim=PROJECTED,
        num_qa_labels=3,
        num_object_labels=3,
    )
    tr.LxmertForPreTraining(config).save_pretrained(folder)
    wordpiece().save_pretrained(folder)


def _sentence(folder: Path) -> None:
    """A BERT without head or pooler, and the files that sentence-transformers writes beside it."""
    cast(Any, tr.BertModel)(tr.BertConfig(**_text()), add_pooling_layer=False).save_pretrained(
        folder
    )
    wordpiece().save_pretrained(folder)
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
    }
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32, **modes})
    )


def _clip_bert(folder: Path) -> None:
    """The layout of the published code: BERT's weights, a projection among them, and CLIP in a
    folder beside."""
    save_tiny("bert", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "img_feature_dim": PROJECTED}))
    weights = load_file(folder / "model.safetensors")
    weights["bert.img_projection.weight"] = torch.randn(32, PROJECTED)
    weights["bert.img_projection.bias"] = torch.randn(32)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    save_tiny_encoder("clip", folder / "clip")


KINDS: dict[str, Callable[[Path], None]] = {
    "clip": _clip,
    "siglip": _siglip,
    "flava": _flava,
    "vilt": _vilt,
    "visual-bert": _visual_bert,
    "lxmert": _lxmert,
    "sentence": _sentence,
    "clip-bert": _clip_bert,
}
