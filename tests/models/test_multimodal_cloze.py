"""VisualBERT, LXMERT, ViLT, FLAVA and CLIP-BERT fill slots, beside plain transformers, one sentence
at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from safetensors.torch import load_file
from tests.models.encoders.tiny_encoders import PROJECTED, save_tiny_encoder
from tests.tiny import COLORS, wordpiece

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.models.encoders import load_encoder
from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM
from seesay.models.vision import masked as vision_masked
from seesay.questions import SLOT, Prompt
from seesay.runs.ask import Settings, run
from seesay.tasks import load_task

Folder = Callable[[str], Path]
Logits = Callable[[Path, list[int], str], torch.Tensor]

TEXTS = (
    "the color of an apple is [MASK] .",
    "what is the color of snow ? [MASK] .",
    "the sky is [MASK] today",
)
PIECES = ("light blue", "turquoise", "bluered")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a tiny model, made once."""
    return cache(lambda kind: save_tiny_encoder(kind, tmp_path_factory.mktemp(kind)))


@pytest.fixture(scope="session")
def picture(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A picture file of noise, wider than high."""
    pixels = np.random.default_rng(0).integers(0, 255, (40, 56, 3), dtype=np.uint8)
    path = tmp_path_factory.mktemp("picture") / "noise.png"
    Image.fromarray(pixels).save(path)
    return str(path)


@cache
def loaded(name: str, folder: Path) -> Any:
    """A model by transformers' own class of that name."""
    network_class: Any = getattr(tr, name)
    return network_class.from_pretrained(folder).eval()


def visual_bert(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    model = loaded("VisualBertForPreTraining", folder)
    logits: torch.Tensor = model(input_ids=torch.tensor([ids])).prediction_logits
    return logits[0]


def lxmert(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    """transformers' own forward with some picture, of which cross-attention brings nothing into the
    language stream."""
    model = loaded("LxmertForPreTraining", folder)
    for layer in model.lxmert.encoder.x_layers:
        layer.visual_attention.att.value.weight.data.zero_()
        layer.visual_attention.att.value.bias.data.zero_()
    regions = {"visual_feats": torch.randn(1, 3, PROJECTED), "visual_pos": torch.rand(1, 3, 4)}
    logits: torch.Tensor = model(torch.tensor([ids]), **regions).prediction_logits
    return logits[0]


def vilt(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    """Any picture, as long as none of it is seen."""
    model = loaded("ViltForMaskedLM", folder)
    unseen = {"image_embeds": torch.randn(1, 3, 32), "pixel_mask": torch.zeros(1, 3)}
    logits: torch.Tensor = model(torch.tensor([ids]), **unseen).logits
    return logits[0]


def flava(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    model = loaded("FlavaForPreTraining", folder)
    masked = torch.tensor([ids])
    logits: torch.Tensor = model(
        input_ids=masked, input_ids_masked=masked, return_loss=False
    ).mlm_logits
    return logits[0]


def implicit(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    model = loaded("BertForMaskedLM", folder)
    logits: torch.Tensor = model(torch.tensor([ids])).logits
    return logits[0]


def after_text(folder: Path, ids: list[int], feature: torch.Tensor) -> torch.Tensor:
    """A feature is one more embedding, with the position and type that transformers' own BERT adds
    undone."""
    model = loaded("BertForMaskedLM", folder)
    weights = load_file(folder / "model.safetensors")
    shown = feature @ weights["bert.img_projection.weight"].T + weights["bert.img_projection.bias"]
    tables = model.bert.embeddings
    undone = (
        shown - tables.position_embeddings.weight[len(ids)] - tables.token_type_embeddings.weight[0]
    )
    embeds = torch.cat([tables.word_embeddings(torch.tensor([ids])), undone[None]], dim=1)
    logits: torch.Tensor = model(inputs_embeds=embeds).logits
    return logits[0, : len(ids)]


def explicit(folder: Path, ids: list[int], text: str) -> torch.Tensor:
    """CLIP reads the text as it is asked, `[MASK]` and all, as in the published code."""
    clip = loaded("CLIPModel", folder / "clip")
    read: Any = tr.AutoTokenizer.from_pretrained(folder / "clip")(text, return_tensors="pt")[
        "input_ids"
    ]
    return after_text(folder, ids, clip.text_projection(clip.text_model(read).pooler_output))


PLAIN: dict[str, Logits] = {
    "visual-bert": visual_bert,
    "lxmert": lxmert,
    "vilt": vilt,
    "flava": flava,
}
NAMES = {kind: (kind, "{}", plain) for kind, plain in PLAIN.items()} | {
    "clip-bert explicit": ("clip-bert", "clip-bert:{}", explicit),
    "clip-bert folder": ("clip-bert", "{}", explicit),
    "clip-bert implicit": ("clip-bert", "clip-bert-implicit:{}", implicit),
}


def left_to_right(folder: Path, logits: Logits, text: str, option: str) -> float:
    """The option's pieces written into the slot one after the other, those to come masked."""
    tokenizer = wordpiece()
    ids: list[int] = list(tokenizer(text)["input_ids"])
    at = ids.index(int(tokenizer.mask_token_id or 0))
    pieces = tokenizer(option, add_special_tokens=False)["input_ids"]
    ids[at : at + 1] = [ids[at]] * len(pieces)
    total = 0.0
    with torch.inference_mode():
        for piece in pieces:
            total += float(logits(folder, ids, text)[at].log_softmax(-1)[piece])
            ids[at] = piece
            at += 1
    return total


def expected(
    folder: Path, logits: Logits, texts: Sequence[str], options: Sequence[str]
) -> list[list[float]]:
    return [[left_to_right(folder, logits, text, option) for option in options] for text in texts]


@pytest.mark.parametrize("which", NAMES)
def test_a_slot_is_filled_as_by_plain_transformers(which: str, folder: Folder) -> None:
    kind, name, logits = NAMES[which]
    options = (*COLORS[:3], *PIECES)
    model = load_model(name.format(folder(kind)))
    answered = model.answer([Prompt(text, options) for text in TEXTS])
    for scores, row in zip(answered, expected(folder(kind), logits, TEXTS, options), strict=True):
        assert scores.logp == pytest.approx(row, abs=1e-5, rel=1e-6)
        assert scores.tokens[:4] == (1, 1, 1, 2)
        assert min(scores.tokens[3:]) > 1


@pytest.mark.parametrize("which", NAMES)
def test_batch_size_and_company_change_nothing(which: str, folder: Folder) -> None:
    kind, name, _ = NAMES[which]
    prompts = [Prompt(text, (*COLORS, *PIECES)) for text in TEXTS]
    small = load_model(name.format(folder(kind)), ModelOptions(batch_size=16))
    large = load_model(name.format(folder(kind)), ModelOptions(batch_size=4096))
    alone = [small.answer([prompt])[0].logp for prompt in prompts]
    for together, by_itself in zip(large.answer(prompts), alone, strict=True):
        assert together.logp == pytest.approx(by_itself, abs=1e-5)
    encoder = load_encoder(name.format(folder(kind)))
    np.testing.assert_allclose(
        large.encode(["the sky is blue"]), encoder.encode(["the sky is blue"]), atol=1e-5
    )


def test_explicit_and_implicit_differ_and_say_so(folder: Folder, tmp_path: Path) -> None:
    where = folder("clip-bert")
    ways = [
        load_model(name)
        for name in (str(where), f"clip-bert:{where}", f"clip-bert-implicit:{where}")
    ]
    plain, explicitly, implicitly = (
        [*scores.logp] for m in ways for scores in m.answer([Prompt(TEXTS[0], COLORS)])
    )
    assert plain == explicitly
    assert np.abs(np.subtract(explicitly, implicitly)).max() > 1e-2
    task = load_task("core-color")
    runs = [
        run(model, task, tmp_path, Settings(limit=2, resamples=100)).manifest for model in ways[1:]
    ]
    assert [
        "scope:slot-explicit" in runs[0].signature,
        "scope:slot-implicit" in runs[1].signature,
    ] == [True, True]
    assert runs[0].model_fingerprint != runs[1].model_fingerprint
    assert any("img_projection is not used" in note for note in runs[1].notes)


def test_another_encoder_may_imagine(folder: Folder, tmp_path: Path) -> None:
    """The layout that `pretrain` writes: the network's own class saves it, config.json names the
    text encoder."""
    sentence = folder("sentence")
    tokenizer = wordpiece()
    small: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 37,
    }
    config: Any = tr.BertConfig(**small, vocab_size=len(tokenizer), initializer_range=0.25)
    config.img_feature_dim, config.text_encoder = 32, str(sentence)
    torch.manual_seed(0)
    ClipBertForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    def by_hand(where: Path, ids: list[int], text: str) -> torch.Tensor:
        return after_text(where, ids, torch.from_numpy(load_encoder(str(sentence)).encode([text])))

    [scores] = load_model(str(tmp_path)).answer([Prompt(TEXTS[1], PIECES)])
    [row] = expected(tmp_path, by_hand, TEXTS[1:2], PIECES)
    assert scores.logp == pytest.approx(row, abs=1e-5)
    shutil.copytree(tmp_path, tmp_path / "other")
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps({**settings, "text_encoder": str(folder("clip"))})
    )
    with pytest.raises(
        UserError,
        match="holds no img_projection from the 16 numbers of its text encoder to BERT's 32",
    ):
        load_model(str(tmp_path))


def test_padding_changes_nothing_for_the_network(folder: Folder) -> None:
    """Training pads: the feature stands after the padding, which no token attends to."""
    network: Any = ClipBertForMaskedLM.from_pretrained(folder("clip-bert"))
    network.eval()
    ids = torch.tensor([[2, 7, 8, 4, 3]])
    padded, mask = torch.tensor([[2, 7, 8, 4, 3, 0, 0]]), torch.tensor([[1, 1, 1, 1, 1, 0, 0]])
    feature = torch.randn(1, PROJECTED)
    with torch.inference_mode():
        alone, beside = network(ids, feature).logits, network(padded, feature, mask).logits
    torch.testing.assert_close(beside[:, :5], alone, atol=1e-5, rtol=0)


def test_a_bert_and_a_clip_fill_no_slot(folder: Folder) -> None:
    with pytest.raises(UserError, match="no trained projection from CLIP to BERT"):
        load_model(f"clip-bert:{folder('clip-bert')}+{folder('clip')}")


def test_words_of_a_text_are_imagined_without_themselves(folder: Folder) -> None:
    """Pseudo-log-likelihood: what is imagined must not give the masked word away."""
    where = folder("clip-bert")
    [scored] = load_model(str(where)).score(["the sky is blue"])
    masked = [f"the sky is {SLOT}", f"the {SLOT} is blue"]
    assert scored.tokens == ("the", "sky", "is", "blue")
    by_hand = [
        left_to_right(where, explicit, text, word)
        for text, word in zip(masked, ("blue", "sky"), strict=True)
    ]
    assert [scored.logp[3], scored.logp[1]] == pytest.approx(by_hand, abs=1e-5)


def with_picture(kind: str, folder: Path, picture: str) -> Logits:
    """transformers' own forward with the picture."""
    image = Image.open(picture).convert("RGB")
    images: Any = tr.AutoImageProcessor.from_pretrained(
        folder / "clip" if kind == "clip-bert" else folder
    )
    pixels = images(images=image, return_tensors="pt")

    def logits(where: Path, ids: list[int], text: str) -> torch.Tensor:
        words = torch.tensor([ids])
        if kind == "vilt":
            vilt = loaded("ViltForMaskedLM", where)
            return vilt(words, **pixels).logits[0]  # type: ignore[no-any-return]
        if kind == "flava":
            flava = loaded("FlavaForPreTraining", where)
            shown = {
                "input_ids_masked": words,
                "pixel_values": pixels["pixel_values"],
                "return_loss": False,
            }
            return flava(input_ids=words, **shown).mmm_text_logits[0]  # type: ignore[no-any-return]
        clip = loaded("CLIPModel", where / "clip")
        seen = clip.vision_model(pixel_values=pixels["pixel_values"]).pooler_output
        return after_text(where, ids, clip.visual_projection(seen))

    return logits


@pytest.mark.parametrize("kind", ["vilt", "flava", "clip-bert"])
def test_a_picture_is_shown_where_the_model_can_see(
    kind: str, folder: Folder, picture: str
) -> None:
    where, options = folder(kind), (*COLORS[:2], *PIECES)
    model = load_model(str(where))
    assert "pictures" in model.accepts
    [shown] = model.answer([Prompt(TEXTS[0], options, picture)])
    [row] = expected(where, with_picture(kind, where, picture), TEXTS[:1], options)
    assert shown.logp == pytest.approx(row, abs=1e-5, rel=1e-6)
    [unseen] = model.answer([Prompt(TEXTS[0], options)])
    assert np.abs(np.subtract(shown.logp, unseen.logp)).max() > 1e-2
    mixed = model.answer([Prompt(TEXTS[0], options), Prompt(TEXTS[0], options, picture)])
    assert [*mixed[0].logp, *mixed[1].logp] == pytest.approx([*unseen.logp, *shown.logp], abs=1e-5)


@pytest.mark.parametrize("kind", ["visual-bert", "lxmert"])
def test_models_of_detected_regions_read_text_only(kind: str, folder: Folder) -> None:
    model = load_model(str(folder(kind)))
    assert model.accepts == {"text"}
    assert any("not used" in note for note in model.notes())


def test_a_checkpoint_without_tokenizer_shares_its_family_s(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uclanlp/visualbert-vqa-coco-pre has none: BERT's is used, as in the paper."""
    where = folder("visual-bert")
    shutil.copytree(where, tmp_path / "bare", ignore=shutil.ignore_patterns("*token*", "vocab*"))
    kind = vision_masked.ARCHITECTURES["visual_bert"]
    assert kind.tokenizer == "google-bert/bert-base-uncased"
    shared = {"visual_bert": replace(kind, tokenizer=str(where))}
    monkeypatch.setattr(vision_masked, "ARCHITECTURES", shared)
    [bare] = load_model(str(tmp_path / "bare")).answer([Prompt(TEXTS[0], COLORS)])
    assert bare == load_model(str(where)).answer([Prompt(TEXTS[0], COLORS)])[0]


def test_vilt_without_its_language_head_is_refused(folder: Folder, tmp_path: Path) -> None:
    tr.ViltModel.from_pretrained(folder("vilt")).save_pretrained(tmp_path)
    wordpiece().save_pretrained(tmp_path)
    with pytest.raises(
        UserError, match="saved without its language-model head, or for another use"
    ):
        load_model(str(tmp_path))
