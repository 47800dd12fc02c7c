"""Tiny random models with real tokenizers, saved to a folder so that tests load them through the
real code.

Words of WORDS are one token, others ("turquoise", "light blue") several.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers import AddedToken, models, pre_tokenizers, trainers
from transformers import (
    AlbertTokenizer,
    BertTokenizer,
    DebertaV2Tokenizer,
    GPT2Tokenizer,
    LlamaTokenizer,
    PreTrainedTokenizerBase,
    RobertaTokenizer,
    T5Tokenizer,
)

COLORS = (
    "black",
    "blue",
    "brown",
    "green",
    "grey",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
)
TEXT = """
The the color colour of a an is are apple banana sky snow grass usually mostly light dark
and . , : ? !
What Answer question I saw it today in very
"""
WORDS = (*COLORS, *(color.capitalize() for color in COLORS), *TEXT.split())
LETTERS = string.ascii_letters + string.digits + ".,:?!'()-_\\"
SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
}


def wordpiece() -> BertTokenizer:
    """BERT's: lower case, `##` before what goes on within a word."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *(w.lower() for w in WORDS),
        *LETTERS.lower(),
    ]
    pieces += [f"##{letter}" for letter in LETTERS.lower()]
    return BertTokenizer(vocab={piece: i for i, piece in enumerate(dict.fromkeys(pieces))})


def unigram(*special: str) -> list[tuple[str, float]]:
    """SentencePiece's: words with their space before them, letters, and the space alone."""
    pieces = dict.fromkeys(special, 0.0)
    pieces |= {f"▁{word}": -3.0 for word in WORDS}
    pieces |= dict.fromkeys(LETTERS, -10.0)
    return [*pieces.items(), ("▁", -6.0)]


def bpe(
    special: list[str], alphabet: list[str], cut: pre_tokenizers.PreTokenizer
) -> tuple[dict[str, int], list[Any]]:
    """Vocabulary and merges trained on WORDS, each with a space before it."""
    trained = tokenizers.Tokenizer(models.BPE())
    trained.pre_tokenizer = cut
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        min_frequency=1,
        special_tokens=special,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    trained.train_from_iterator([" " + " ".join(WORDS)] * 3, trainer)
    return trained.get_vocab(), [
        tuple(pair) for pair in json.loads(trained.to_str())["model"]["merges"]
    ]


def byte_level(*special: str) -> tuple[dict[str, int], list[Any]]:
    """GPT-2's and RoBERTa's: bytes, the space part of the word that follows."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return bpe(list(special), alphabet, pre_tokenizers.ByteLevel(add_prefix_space=False))


def lstripped(token: str) -> Any:
    """A token that takes the space before it along."""
    return AddedToken(token, lstrip=True)


def roberta_tokenizer() -> RobertaTokenizer:
    vocabulary, merges = byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    return RobertaTokenizer(vocab=vocabulary, merges=merges, mask_token=lstripped("<mask>"))


def modernbert_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """Byte-level BPE under BERT's special tokens."""
    special = {"unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]"}
    vocabulary, merges = byte_level(*special.values())
    inner = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")]
    )
    named: dict[str, Any] = {f"{kind}_token": token for kind, token in special.items()}
    named["mask_token"] = lstripped("[MASK]")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **named)


def gpt2_tokenizer() -> GPT2Tokenizer:
    vocabulary, merges = byte_level("<|endoftext|>")
    return GPT2Tokenizer(vocab=vocabulary, merges=merges)


def llama_tokenizer() -> LlamaTokenizer:
    """SentencePiece's BPE: a beginning mark, and bytes for what it does not know."""
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary, merges = bpe(special, [*LETTERS, "▁"], pre_tokenizers.Metaspace(replacement="▁"))
    return LlamaTokenizer(vocab=vocabulary, merges=merges, add_bos_token=True)


def albert_tokenizer() -> AlbertTokenizer:
    vocabulary = unigram("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    return AlbertTokenizer(vocab=vocabulary, mask_token=lstripped("[MASK]"), do_lower_case=False)


def deberta_tokenizer() -> DebertaV2Tokenizer:
    return DebertaV2Tokenizer(vocab=unigram("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))


def t5_tokenizer() -> T5Tokenizer:
    sentinels = [f"<extra_id_{i}>" for i in range(9, -1, -1)]
    return T5Tokenizer(
        vocab=[*unigram("<pad>", "</s>", "<unk>"), *((s, 0.0) for s in sentinels)], extra_ids=10
    )


@dataclass(frozen=True)
class Tiny:
    """An architecture small enough for tests: its classes' prefix, its configuration and its
    tokenizer."""

    head: str
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    config: dict[str, Any]


MASKED = {
    "bert": Tiny("BertForMaskedLM", wordpiece, SMALL),
    "distilbert": Tiny(
        "DistilBertForMaskedLM",
        wordpiece,
        {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
    ),
    "electra": Tiny("ElectraForMaskedLM", wordpiece, {**SMALL, "embedding_size": 16}),
    "roberta": Tiny("RobertaForMaskedLM", roberta_tokenizer, SMALL),
    "albert": Tiny("AlbertForMaskedLM", albert_tokenizer, {**SMALL, "embedding_size": 16}),
    "deberta-v2": Tiny(
        "DebertaV2ForMaskedLM", deberta_tokenizer, {**SMALL, "relative_attention": True}
    ),
    "modernbert": Tiny("ModernBertForMaskedLM", modernbert_tokenizer, SMALL),
    "convbert": Tiny("ConvBertForMaskedLM", wordpiece, {**SMALL, "embedding_size": 32}),
}
CAUSAL = {
    "gpt2": Tiny(
        "GPT2LMHeadModel",
        gpt2_tokenizer,
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128},
    ),
    "llama": Tiny("LlamaForCausalLM", llama_tokenizer, {**SMALL, "num_key_value_heads": 2}),
    "mistral": Tiny(
        "MistralForCausalLM",
        llama_tokenizer,
        {**SMALL, "num_key_value_heads": 2, "sliding_window": 8},
    ),
    "bloom": Tiny(
        "BloomForCausalLM", gpt2_tokenizer, {"hidden_size": 32, "n_layer": 2, "n_head": 4}
    ),
    "mamba": Tiny(
        "MambaForCausalLM",
        gpt2_tokenizer,
        {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    ),
}
ENCODER_DECODER = {
    "t5": Tiny(
        "T5ForConditionalGeneration",
        t5_tokenizer,
        {
            "d_model": 32,
            "num_layers": 2,
            "num_heads": 4,
            "d_ff": 64,
            "d_kv": 8,
            "decoder_start_token_id": 0,
        },
    ),
}
ALL = {**MASKED, **CAUSAL, **ENCODER_DECODER}


def save_tiny(kind: str, folder: Path, **changed: Any) -> Path:
    """The model of this kind in a folder of its own, always with the same weights."""
    tiny = ALL[kind]
    tokenizer = tiny.tokenizer()
    special = {
        f"{name}_token_id": getattr(tokenizer, f"{name}_token_id", None)
        for name in ("bos", "eos", "pad", "cls", "sep")
    }
    head: Any = getattr(transformers, tiny.head)
    config = head.config_class(vocab_size=len(tokenizer), **special, **{**tiny.config, **changed})
    torch.manual_seed(0)
    model = head(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(std=0.25)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
