"""GGUF files: read without their vocabulary, they give what transformers reads of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seesay.errors import UserError
from seesay.models.hf.gguf import convert_gguf
from seesay.models.hf.gguf_header import write_without_vocabulary

torch = pytest.importorskip("torch")
gguf = pytest.importorskip("gguf")
transformers = pytest.importorskip("transformers")

LETTERS = [chr(code) for code in range(33, 127)]
MERGES = ["t h", "th e", "Ġ the", "r e", "re d"]
TOKENS = [*LETTERS, "Ġ", *(merge.replace(" ", "") for merge in MERGES), "<|end|>"]


def write_llama(path: Path, *, alignment: int | None = None) -> None:
    """A llama of two layers with random weights of several types and a vocabulary of bytes. Its
    header does not say how many tokens there are: transformers counts the vocabulary's."""
    writer = gguf.GGUFWriter(path, "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_block_count(2)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(96)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_context_length(128)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([1] * (len(TOKENS) - 1) + [3])
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(len(TOKENS) - 1)
    writer.add_eos_token_id(len(TOKENS) - 1)
    shapes = {"token_embd": (len(TOKENS), 64), "output_norm": (64,)}
    for layer in range(2):
        block = f"blk.{layer}"
        shapes |= {f"{block}.attn_q": (64, 64), f"{block}.attn_output": (64, 64)}
        shapes |= {f"{block}.attn_k": (32, 64), f"{block}.attn_v": (32, 64)}
        shapes |= {f"{block}.ffn_down": (64, 96)}
        shapes |= {f"{block}.ffn_{name}": (96, 64) for name in ("gate", "up")}
        shapes |= {f"{block}.{name}_norm": (64,) for name in ("attn", "ffn")}
    draw = np.random.default_rng(0)
    for name, shape in shapes.items():
        weights = draw.normal(size=shape).astype(np.float32)
        kind = gguf.GGMLQuantizationType.F32 if len(shape) == 1 else gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quantize(weights, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("alignment", [None, 256])
def test_a_conversion_equals_what_transformers_reads_of_the_whole_file(
    alignment: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "llama.gguf"
    write_llama(path, alignment=alignment)
    folder = convert_gguf(path)
    whole: dict[str, Any] = {"gguf_file": path.name, "dtype": torch.float32}
    expected = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, **whole)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert model.config.vocab_size == len(TOKENS)
    weights = model.state_dict()
    assert weights.keys() == expected.state_dict().keys()
    for name, tensor in expected.state_dict().items():
        assert torch.equal(weights[name], tensor), name
    expected_tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path, gguf_file=path.name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    text = "the red the reader<|end|>"
    assert tokenizer(text)["input_ids"] == expected_tokenizer(text)["input_ids"]
    # nothing of what was needed on the way stays
    assert not list(folder.glob("*.gguf"))
    assert [made.name for made in folder.parent.iterdir()] == [folder.name]


def test_the_table_of_names_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    tables = []
    original = gguf.get_tensor_name_map

    def make_table(*arguments: Any) -> Any:
        tables.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(gguf, "get_tensor_name_map", make_table)
    path = tmp_path / "llama.gguf"
    write_llama(path)
    convert_gguf(path)
    assert tables == [(gguf.MODEL_ARCH.LLAMA, 2)]
    # what reads other files afterwards meets the library as it is
    assert gguf.get_tensor_name_map is make_table


def test_only_arrays_of_the_tokenizer_are_missing(tmp_path: Path) -> None:
    path, slim = tmp_path / "whole.gguf", tmp_path / "slim.gguf"
    write_llama(path, alignment=64)
    assert write_without_vocabulary(path, slim) == len(TOKENS)
    expected, reader = gguf.GGUFReader(path), gguf.GGUFReader(slim)
    missing = {f"tokenizer.ggml.{name}" for name in ("tokens", "token_type", "merges")}
    assert expected.fields.keys() - reader.fields.keys() == missing
    assert [tensor.name for tensor in reader.tensors] == [t.name for t in expected.tensors]
    for tensor, original in zip(reader.tensors, expected.tensors, strict=True):
        assert tensor.data_offset % 64 == 0
        assert np.array_equal(tensor.data, original.data)


def test_another_version_is_left_as_it_is(tmp_path: Path) -> None:
    path, copy = tmp_path / "first.gguf", tmp_path / "copy.gguf"
    path.write_bytes(b"GGUF" + (1).to_bytes(4, "little") + bytes(40))
    assert write_without_vocabulary(path, copy) is None
    assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (99, b"", "the unknown type 99"),
        (9, (8).to_bytes(4, "little") + b"\xff" * 8, "ends within its header"),
        (4, (1 << 31).to_bytes(4, "little"), "aligned to 2,147,483,648 bytes"),
    ],
)
def test_a_header_that_lies_is_one_sentence(
    kind: int, value: bytes, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    key = b"general.alignment"
    counts = (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    field = len(key).to_bytes(8, "little") + key + kind.to_bytes(4, "little") + value
    path = tmp_path / "lies.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + counts + field)
    with pytest.raises(UserError, match=problem) as raised:
        convert_gguf(path)
    assert "\n" not in str(raised.value)
