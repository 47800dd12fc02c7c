"""From a Hub id, a folder or a GGUF file to a model that answers. Other people's files are untrusted here:
weights come from safetensors or GGUF, and code from a model's repository runs only when asked for."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.folders import cache_folder
from seesay.models.hf.batching import is_out_of_memory
from seesay.models.options import Family

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

    from seesay.models.base import Model
    from seesay.models.options import ModelOptions

PICKLED = "which can run code when opened; if you trust them add --allow-pickle."
SHAPES_ANSWERS = ("*.safetensors", "*.bin", "*.gguf", "*.json", "*.txt", "*.model", "*.py")
HUB_PATIENCE = 5  # seconds
CACHE_LINE = 64  # bytes
TRIAL = "What color is the sky?"


def require_models() -> None:
    """One sentence with the install line where PyTorch and transformers are missing."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress is shown by the command, not by libraries
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise UserError(
            f"Local models need an extra that is not installed ({error.name}): pip install 'seesay[models]'"
        ) from error
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


@dataclass(frozen=True)
class Opened:
    """What was read from a folder or the hub, and which of the weights asked for were not there."""

    model: Any
    tokenizer: Any
    config: Any
    fingerprint: str
    missing: tuple[str, ...]


def open_model(
    name: str, source: str | Path, options: ModelOptions, choose: Callable[[PreTrainedConfig], Any]
) -> Opened:
    """The model in evaluation mode, its tokeniser and its fingerprint; `choose` names the class for a configuration."""
    require_models()
    import torch
    from transformers import AutoTokenizer

    config = read_config(name, source, options)
    where: dict[str, Any] = {"trust_remote_code": options.trust_remote_code, "revision": options.revision}
    device = device_of(options.device)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **where)
        model, report = choose(config).from_pretrained(
            source,
            **where,
            dtype=torch.float32 if device == "cpu" else "auto",
            device_map=None if device == "cpu" else device,
            use_safetensors=None if options.allow_pickle else True,
            output_loading_info=True,
        )
    except UserError:
        raise
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(_why(name, source, options, error)) from error
    if not str(tokenizer.decode(tokenizer(TRIAL)["input_ids"], skip_special_tokens=True)).strip():
        # transformers makes an empty one where there is none
        raise UserError(f"'{name}' has no tokeniser: save it beside the weights (tokenizer.save_pretrained).")
    fingerprint = _fingerprint(source, options.revision)
    if model.dtype != torch.float32:  # other digits, so another run
        fingerprint += f"-{str(model.dtype).removeprefix('torch.')}"
    return Opened(aligned(model).eval(), tokenizer, config, fingerprint, tuple(sorted(report["missing_keys"])))


def aligned(model: torch.nn.Module) -> torch.nn.Module:
    """The model with every weight at the start of a cache line.

    A mapped safetensors file leaves its tensors wherever its header ends, and the last digits of a matrix product
    depend on that address. Copied, the same weights give the same digits from any file, and are read faster.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.device.type == "cpu" and tensor.data_ptr() % CACHE_LINE:
            tensor.data = tensor.data.clone()
    return model


def read_config(name: str, source: str | Path, options: ModelOptions) -> PreTrainedConfig:
    """What a model's config.json says, or one sentence that says why there is none."""
    require_models()
    from transformers import AutoConfig

    if not Path(source).is_dir() and not on_hub(str(source), options.revision):
        raise UserError(
            f"Could not load '{name}': there is no such folder or catalogue name, and the model hub did not give it "
            "(offline, unknown or private?). `seesay models` lists what works without the hub."
        )
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            source, trust_remote_code=options.trust_remote_code, revision=options.revision
        )
    except Exception as error:
        raise UserError(_why(name, source, options, error)) from error
    return config


def load_transformers(name: str, source: str | Path, options: ModelOptions) -> Model:
    """A masked, causal or encoder-decoder model, found out from its own configuration unless the user says which."""
    require_models()
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    from seesay.models.hf.causal import Causal
    from seesay.models.hf.masked import Masked
    from seesay.models.hf.seq2seq import EncoderDecoder

    heads = {
        "masked": AutoModelForMaskedLM,
        "causal": AutoModelForCausalLM,
        "encoder-decoder": AutoModelForSeq2SeqLM,
    }
    opened = open_model(name, source, options, lambda config: heads[options.family or family_of(name, config)])
    family = options.family or family_of(name, opened.config)
    if opened.missing:
        raise UserError(
            f"'{name}' lacks {len(opened.missing)} of the weights that a {family} model needs ({opened.missing[0]}, "
            "…): they would be random. It was saved without its language-model head, or for another use."
        )
    model, tokenizer, fingerprint = opened.model, opened.tokenizer, opened.fingerprint
    if not tokenizer.is_fast:
        raise UserError(f"'{name}' has only a slow tokeniser, which does not say where its tokens stand in the text.")
    if family == "masked":
        return Masked(name, model, tokenizer, fingerprint, batch_size=options.batch_size)
    if family == "encoder-decoder":
        return EncoderDecoder(name, model, tokenizer, fingerprint, style=options.style, batch_size=options.batch_size)
    return Causal(name, model, tokenizer, fingerprint, scope=options.scope, batch_size=options.batch_size)


def load_gguf(name: str, path: Path, options: ModelOptions) -> Model:
    """A GGUF file, converted once into the cache: reading it takes half a minute, its safetensors half a second."""
    return load_transformers(name, converted(path), options)


def converted(path: Path) -> Path:
    """The folder with the GGUF file's weights as float32 safetensors, made if it is not there yet."""
    digest = file_digest([path])
    folder = cache_folder() / "models" / f"{path.stem}-{digest}"
    if (folder / "config.json").is_file():
        return folder
    require_models()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        where: dict[str, Any] = {"gguf_file": path.name, "trust_remote_code": False}
        model: Any = AutoModelForCausalLM.from_pretrained(path.parent, **where, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **where)
    except Exception as error:
        raise UserError(f"Could not read '{path}' as a GGUF model: {_first_line(error)}") from error
    # transformers refuses to save what it thinks is still quantised
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        made = Path(unfinished) / folder.name
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        try:
            made.replace(folder)
        except OSError:  # another process may have been quicker
            if not (folder / "config.json").is_file():
                raise
    return folder


def on_hub(hub_id: str, revision: str | None = None) -> bool:
    """Whether the hub, asked once, gives the model's configuration, or a copy of it is on this machine.

    transformers itself asks six times, for half a minute, where there is no network.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    try:
        if isinstance(try_to_load_from_cache(hub_id, "config.json", revision=revision), str):
            return True
        get_hf_file_metadata(hf_hub_url(hub_id, "config.json", revision=revision), timeout=HUB_PATIENCE)
    except Exception:  # each version of the library has another HTTP client with errors of its own
        return False
    return True


def file_digest(paths: Iterable[Path]) -> str:
    """A digest of the files' contents, in order of name."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(paths):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def _fingerprint(source: str | Path, revision: str | None) -> str:
    """The weights' digest for a folder; for the Hub the commit, which names every file's content."""
    folder = Path(source)
    if folder.is_dir():
        return file_digest(path for pattern in SHAPES_ANSWERS for path in folder.glob(pattern))
    return commit(str(source), revision)


def commit(hub_id: str, revision: str | None) -> str:
    """The commit of a Hub model whose configuration has just been read: the name of the copy's folder."""
    from huggingface_hub import try_to_load_from_cache

    copy = try_to_load_from_cache(hub_id, "config.json", revision=revision)
    if not isinstance(copy, str):
        raise UserError(f"The hub gave '{hub_id}', but no copy of it is kept on this machine: download it to a folder.")
    return Path(copy).parent.name


def device_of(wanted: str) -> str:
    """The device asked for, or an accelerator if there is one."""
    import torch

    if wanted == "auto":
        return "auto" if torch.accelerator.is_available() else "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(f"There is no device '{wanted}' here ({_first_line(error)}): try --device auto.") from error
    return wanted


def family_of(name: str, config: PreTrainedConfig) -> str:
    """Masked, causal or encoder-decoder, from what the configuration says of itself."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    if config.is_encoder_decoder:
        return "encoder-decoder"
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return "masked"
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal"
    if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "masked"
    if config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "causal"
    raise UserError(
        f"'{name}' is a {config.model_type} ({architecture or 'no architecture named'}), which cannot fill a slot; "
        f"if it can, say how with --family {' | '.join(Family)}."
    )


def _why(name: str, source: str | Path, options: ModelOptions, error: Exception) -> str:
    """One sentence for the many ways in which loading fails."""
    folder, text = Path(source), _first_line(error)
    if "trust_remote_code" in str(error):
        return f"'{name}' brings code of its own; read it, and if you trust it add --trust-remote-code."
    if "Unrecognized configuration class" in str(error):
        return f"'{name}' is not a {options.family or 'known'} model: try another --family ({', '.join(Family)})."
    if is_out_of_memory(error):
        return f"'{name}' does not fit into this machine's memory."
    if folder.is_dir():
        pickled = sorted(p.name for p in [*folder.glob("*.bin"), *folder.glob("*.pt")])
        if pickled and not options.allow_pickle and not any(folder.glob("*.safetensors")):
            return f"'{name}' has only pickled weights ({pickled[0]}), {PICKLED}"
        if not (folder / "config.json").is_file():
            return f"The folder '{name}' holds no config.json: it is not a transformers model."
        return f"The model in '{name}' could not be read (a file may be damaged or half-downloaded): {text}"
    if "safetensors" in str(error) and "does not appear" in str(error):
        return f"'{name}' has no safetensors weights, only pickled ones, {PICKLED}"
    return f"The hub has '{name}', but it could not be loaded: {text}"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def model_type(folder: Path) -> str | None:
    """What the folder's configuration says is in it."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = config.get("model_type") if isinstance(config, dict) else None
    return found if isinstance(found, str) else None
