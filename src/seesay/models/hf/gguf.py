"""GGUF files: read once, kept as safetensors."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seesay import caches
from seesay.errors import UserError, first_line
from seesay.files import atomic_folder
from seesay.models.files import file_digest
from seesay.models.hf.checkpoint_keys import note_of_unused, refuse_missing, unused_parts
from seesay.models.hf.gguf_header import write_without_vocabulary
from seesay.models.libraries import require_models
from seesay.models.untrusted import check_config

log = logging.getLogger(__name__)


def converted_folder(path: Path) -> Path:
    """Where a GGUF file's weights lie once they have been converted: another content, another
    folder."""
    return caches.CONVERTED_MODELS.folder / f"{path.stem}-{file_digest([path])}"


def convert_gguf(path: Path) -> Path:
    """Return the folder with the GGUF file's weights as float32 safetensors, made once: reading the
    file takes seconds, its safetensors half a second."""
    folder = converted_folder(path)
    if (folder / "config.json").is_file():
        return folder
    require_models()
    log.info("Converting %s, which is done once …", path.name)
    with atomic_folder(
        folder, is_complete=lambda made: (made / "config.json").is_file()
    ) as unfinished:
        try:
            model, report, tokenizer = _read(path, unfinished)
        except UserError:
            raise
        except Exception as error:
            sentence = f"Could not read '{path}' as a GGUF model: {first_line(error)}"
            if isinstance(error, NotImplementedError):
                sentence += ". Give another quantisation of the model, such as Q4_K_M or Q8_0."
            raise UserError(sentence) from error
        # once saved, random weights would pass for the file's
        refuse_missing(path.name, sorted(report["missing_keys"]))
        if unused := unused_parts(path.name, model, report["unexpected_keys"]):
            log.warning("%s", note_of_unused(path.name, unused))
        # transformers refuses to save what it thinks is still quantised
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)
    return folder


def _read(path: Path, scratch: Path) -> tuple[Any, Any, Any]:
    """Return the file's network, what became of its keys, and its tokenizer."""
    import torch
    from transformers import (
        TOKENIZER_MAPPING,
        AutoConfig,
        AutoModelForCausalLM,
        PreTrainedTokenizerFast,
    )

    slim = scratch / path.name
    tokens = write_without_vocabulary(path, slim)
    arguments: dict[str, Any] = {"gguf_file": path.name, "trust_remote_code": False}
    config: Any = AutoConfig.from_pretrained(scratch, **arguments)
    if tokens is not None:
        config.vocab_size = tokens
    # keys are texts there
    check_config(path.name, json.loads(config.to_json_string()), "header")
    with _names_of_tensors_once():
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            scratch, **arguments, config=config, dtype=torch.float32, output_loading_info=True
        )
    model, report = loaded
    slim.unlink()
    # what AutoTokenizer would choose after another reading of the header
    tokenizer_class: Any = TOKENIZER_MAPPING.get(type(config), PreTrainedTokenizerFast)
    tokenizer = tokenizer_class.from_pretrained(path.parent, gguf_file=path.name)
    return model, report, tokenizer


@contextmanager
def _names_of_tensors_once() -> Iterator[None]:
    """Within this context, the table from names in a network to names in a GGUF file is made once.

    transformers asks for it anew in every module of the network, and it has a line for every layer
    and architecture there is: 397 times 10 ms for SmolLM2, half of its conversion.
    """
    import gguf

    make_table = gguf.get_tensor_name_map
    gguf.get_tensor_name_map = functools.cache(make_table)
    try:
        yield
    finally:
        gguf.get_tensor_name_map = make_table
