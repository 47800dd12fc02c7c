"""GGUF files: read once, kept as safetensors."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from seesay import caches
from seesay.errors import UserError, first_line
from seesay.files import atomic_folder
from seesay.models.files import file_digest
from seesay.models.hf.checkpoint_keys import note_of_unused, refuse_missing, unused_parts
from seesay.models.libraries import require_models
from seesay.models.untrusted import check_config

log = logging.getLogger(__name__)


def converted_folder(path: Path) -> Path:
    """Where a GGUF file's weights lie once they have been converted: another content, another
    folder."""
    return caches.CONVERTED_MODELS.folder / f"{path.stem}-{file_digest([path])}"


def convert_gguf(path: Path) -> Path:
    """Return the folder with the GGUF file's weights as float32 safetensors, made once: reading the
    file takes half a minute, its safetensors half a second."""
    folder = converted_folder(path)
    if (folder / "config.json").is_file():
        return folder
    require_models()
    log.info("Converting %s, which is done once and takes half a minute …", path.name)
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    try:
        arguments: dict[str, Any] = {"gguf_file": path.name, "trust_remote_code": False}
        config: Any = AutoConfig.from_pretrained(path.parent, **arguments)
        # keys are texts there
        check_config(path.name, json.loads(config.to_json_string()), "header")
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path.parent, **arguments, dtype=torch.float32, output_loading_info=True
        )
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **arguments)
    except UserError:
        raise
    except NotImplementedError as error:
        raise UserError(
            f"Could not read '{path}' as a GGUF model: {first_line(error)}. Give another "
            "quantisation of the model, such as Q4_K_M or Q8_0."
        ) from error
    except Exception as error:
        raise UserError(f"Could not read '{path}' as a GGUF model: {first_line(error)}") from error
    model, report = loaded
    # once saved, random weights would pass for the file's
    refuse_missing(path.name, sorted(report["missing_keys"]))
    if unused := unused_parts(path.name, model, report["unexpected_keys"]):
        log.warning("%s", note_of_unused(path.name, unused))
    # transformers refuses to save what it thinks is still quantised
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    with atomic_folder(
        folder, is_complete=lambda made: (made / "config.json").is_file()
    ) as unfinished:
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)
    return folder
