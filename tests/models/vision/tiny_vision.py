"""Tiny vision-language models with random weights, saved as real ones are."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any, cast

import torch
import transformers as tr
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

KINDS = ("llava", "blip", "smolvlm", "qwen2-vl", "vilt")
TEXT = (
    "The red blue yellow white green circle square rectangle triangle is a big small object. True "
    "or false? "
    "yes no Yes No true false True False Is it true that the user: assistant:"
)
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {% for c in m['content'] %}{% if c['type'] == 'image' "
    "%}IMAGE"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endfor %}{% if add_generation_prompt %} "
    "assistant:{% endif %}"
)
TEXT_MODEL: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "initializer_range": 0.5,
}
VISION_MODEL: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.5,
}


def save_tiny_vision(kind: str, folder: Path) -> Path:
    """A model of one of KINDS in a folder."""
    torch.manual_seed(0)
    {"llava": _llava, "blip": _blip, "smolvlm": _smolvlm, "qwen2-vl": _qwen, "vilt": _vilt}[kind](
        folder
    )
    return folder


def byte_tokenizer(extra: list[str], image: str) -> Any:
    """A byte-level tokenizer whose chat template puts `image` where a picture goes."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>", *extra]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet)
    core.train_from_iterator([TEXT] * 3, trainer)
    tokenizer = tr.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    tokenizer.chat_template = TEMPLATE.replace("IMAGE", image)
    return tokenizer


def _llava(folder: Path) -> None:
    tokenizer = byte_tokenizer(["<image>"], "<image>\n")
    config = cast(Any, tr.LlavaConfig)(
        vision_config=tr.CLIPVisionConfig(
            **VISION_MODEL, image_size=56, patch_size=14, projection_dim=32
        ),
        text_config=tr.LlamaConfig(**TEXT_MODEL, vocab_size=len(tokenizer)),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    tr.LlavaForConditionalGeneration(config).save_pretrained(folder)
    images = tr.CLIPImageProcessor(
        size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56}
    )
    tr.LlavaProcessor(
        images,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)


def word_tokenizer(folder: Path) -> Any:
    """A lower-case word tokenizer, as BERT's."""
    words = TEXT.lower().replace(".", " .").replace("?", " ?").replace(":", " :").split()
    pieces = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    vocab = folder / "words.txt"
    vocab.write_text(
        "\n".join(
            dict.fromkeys(
                ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]", "[ENC]", *words, *pieces]
            )
        )
    )
    return tr.BertTokenizer(vocab=str(vocab))


def _blip(folder: Path) -> None:
    tokenizer = word_tokenizer(folder)
    text = {**TEXT_MODEL, "vocab_size": len(tokenizer), "encoder_hidden_size": 32}
    text |= {"bos_token_id": 5, "sep_token_id": 3, "pad_token_id": 0, "eos_token_id": 3}
    config = tr.BlipConfig(
        vision_config={**VISION_MODEL, "image_size": 56, "patch_size": 14},
        text_config=text,
        projection_dim=32,
        image_text_hidden_size=32,
    )
    tr.BlipForQuestionAnswering(config).save_pretrained(folder)
    tr.BlipProcessor(
        tr.BlipImageProcessor(size={"height": 56, "width": 56}), tokenizer
    ).save_pretrained(folder)


def _smolvlm(folder: Path) -> None:
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    marks = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"]
    tiles = [f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)]
    tokenizer = byte_tokenizer([*marks, *tiles], "<image>")
    config = tr.SmolVLMConfig(
        vision_config={**VISION_MODEL, "image_size": 64, "patch_size": 16},
        text_config={
            **TEXT_MODEL,
            "model_type": "llama",
            "vocab_size": len(tokenizer),
            "pad_token_id": 0,
        },
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    tr.SmolVLMForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    SmolVLMImageProcessorPil(
        size={"longest_edge": 128}, max_image_size={"longest_edge": 64}, do_image_splitting=True
    ).save_pretrained(folder)


def _qwen(folder: Path) -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    marks = {
        "vision_start": "<|vision_start|>",
        "vision_end": "<|vision_end|>",
        "image": "<|image_pad|>",
    }
    marks["video"] = "<|video_pad|>"
    tokenizer = byte_tokenizer(list(marks.values()), "<|vision_start|><|image_pad|><|vision_end|>")
    ids = {
        f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in marks.items()
    }
    rope = {
        "type": "default",
        "rope_type": "default",
        "mrope_section": [1, 1, 2],
        "rope_theta": 10000.0,
    }
    config = tr.Qwen2VLConfig(
        text_config={**TEXT_MODEL, "vocab_size": len(tokenizer), "rope_parameters": rope},
        vision_config={
            "depth": 2,
            "embed_dim": 32,
            "hidden_size": 32,
            "num_heads": 4,
            "mlp_ratio": 2,
            "patch_size": 14,
        },
        **ids,
    )
    tr.Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=4 * 56 * 56).save_pretrained(folder)


def _vilt(folder: Path) -> None:
    tokenizer = word_tokenizer(folder)
    answers = {0: "yes", 1: "no", 2: "maybe"}
    config = tr.ViltConfig(
        **{key: value for key, value in TEXT_MODEL.items() if key != "num_key_value_heads"},
        vocab_size=len(tokenizer),
        image_size=64,
        patch_size=16,
        id2label=answers,
        label2id={name: i for i, name in answers.items()},
    )
    tr.ViltForQuestionAnswering(config).save_pretrained(folder)
    images = cast(Any, tr.ViltImageProcessor)(size={"shortest_edge": 64}, size_divisor=16)
    tr.ViltProcessor(images, tokenizer).save_pretrained(folder)
