"""From a Hub id, a folder or a GGUF file to a model that answers. Other people's files are untrusted here:
weights come from safetensors or GGUF, and code from a model's repository runs only when the user asks for it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seesay.digests import json_digest
from seesay.errors import UserError, first_line, missing_extra
from seesay.files import write_text
from seesay.folders import cache_folder
from seesay.models.hf.batching import is_out_of_memory
from seesay.models.hf.checkpoint_keys import note_of_unused, refuse_missing_head, unused_parts
from seesay.models.hf.hub import commit, on_hub
from seesay.models.hf.light_imports import import_transformers, without_compiler
from seesay.models.hf.precision import weight_arguments, weights_digest
from seesay.models.hf.untrusted import check_folder
from seesay.models.options import Family

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

    from seesay.models.base import Model
    from seesay.models.options import ModelOptions

log = logging.getLogger(__name__)

PICKLED = "which can run code when opened; if you trust them add --allow-pickle."
SHAPES_ANSWERS = ("*.safetensors", "*.bin", "*.gguf", "*.json", "*.txt", "*.model", "*.py")
CACHE_LINE = 64  # bytes
LARGE = 1 << 25  # bytes
DIGEST = re.compile(r"[0-9a-f]{16}")
TRIAL = "What color is the sky?"


def require_models() -> None:
    """One sentence with the install line where PyTorch or transformers is missing."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress is shown by the command, not by libraries
    try:
        transformers = import_transformers()
    except ImportError as error:
        raise missing_extra("A local model", "models", error) from error
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


@dataclass(frozen=True)
class Checkpoint:
    """What was read from a folder or the hub: which of the network's weights its files lack, and which parts of the
    files the network does not use."""

    model: Any
    tokenizer: Any
    config: Any
    fingerprint: str
    missing: tuple[str, ...]
    unused: tuple[str, ...] = ()


class LoadedNetwork(NamedTuple):
    """A network, the names of the weights that its files lack, and of the parts of the files that it does not use."""

    network: Any
    missing: tuple[str, ...]
    unused: tuple[str, ...]


def load_checkpoint(
    name: str,
    source: str | Path,
    options: ModelOptions,
    network_class: Any,
    *,
    shared_tokenizer: str | None = None,
    **changed: Any,
) -> Checkpoint:
    """The network in evaluation mode, its tokenizer and its fingerprint.

    `shared_tokenizer` is used where there is none beside the weights; `changed` are entries of the configuration."""
    config = read_config(name, source, options)
    tokenizer = _tokenizer(name, source, options)
    model, missing, unused = load_network(name, source, options, network_class, **changed)
    if tokenizer is None and shared_tokenizer:
        tokenizer = _tokenizer(name, find_source(shared_tokenizer, None), replace(options, revision=None))
    if tokenizer is None:
        raise UserError(f"'{name}' has no tokenizer: save it beside the weights (tokenizer.save_pretrained).")
    digest = fingerprint(source, options.revision) + weights_digest(options, model.dtype)  # other digits, another run
    return Checkpoint(model, tokenizer, config, digest, missing, unused)


def _tokenizer(name: str, source: str | Path, options: ModelOptions) -> Any:
    """The tokenizer; None where there is none, of which transformers makes an empty one."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **hub_arguments(options))
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise loading_error(name, source, options, error) from error
    written = str(tokenizer.decode(tokenizer(TRIAL)["input_ids"], skip_special_tokens=True))
    return tokenizer if written.strip() else None


def load_network(
    name: str, source: str | Path, options: ModelOptions, model_class: Any, what: str = "", **changed: Any
) -> LoadedNetwork:
    """A network in evaluation mode; `what` names it in an error."""
    weights = weight_arguments(options, device_of(options.device))
    try:
        with without_compiler():
            model, report = model_class.from_pretrained(
                source,
                **hub_arguments(options),
                **weights,
                use_safetensors=None if options.allow_pickle else True,
                output_loading_info=True,
                **changed,
            )
    except Exception as error:
        raise loading_error(name, source, options, error, what) from error
    unused = unused_parts(name, model, report["unexpected_keys"])
    return LoadedNetwork(aligned(model).eval(), tuple(sorted(report["missing_keys"])), unused)


def load_component(name: str, options: ModelOptions, kind: str, what: str) -> Any:
    """A network, image processor or tokenizer by its `Auto…` class in transformers; `what` names the expected model in
    an error. Missing weights are no error: the published DPT lacks some that its network never uses."""
    source = find_source(name, options.revision)
    import transformers

    auto_class: Any = getattr(transformers, kind)
    if kind.startswith("AutoModel"):
        network, _, unused = load_network(name, source, replace(options, device="cpu"), auto_class, what)
        if unused:
            log.warning("%s", note_of_unused(name, unused))
        return network
    try:
        return auto_class.from_pretrained(source, **hub_arguments(options))
    except Exception as error:
        raise loading_error(name, source, options, error, what) from error


def hub_arguments(options: ModelOptions) -> dict[str, Any]:
    """What every `from_pretrained` is given."""
    return {"trust_remote_code": options.trust_remote_code, "revision": options.revision}


def aligned(model: torch.nn.Module) -> torch.nn.Module:
    """The model with every weight at the start of a cache line.

    A mapped safetensors file leaves its tensors wherever its header ends, and the last digits of a matrix product
    depend on that address. Copied, the same weights give the same digits from any file, and are read faster.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.device.type == "cpu" and tensor.data_ptr() % CACHE_LINE:
            tensor.data = tensor.data.clone()
    return model


def find_source(name: str, revision: str | None) -> str | Path:
    """The folder of that name or the Hub id, or one sentence that says why there is neither."""
    require_models()
    folder = Path(name).expanduser()
    if folder.is_dir():
        check_folder(name, folder)
        return folder
    if not on_hub(name, revision):
        raise UserError(
            f"Could not load '{name}': there is no such folder or catalogue name, and the model hub did not provide it "
            "(offline, unknown or private?). `seesay models` lists what works without the hub."
        )
    return name


def read_config(name: str, source: str | Path, options: ModelOptions) -> PreTrainedConfig:
    """The model's configuration, or one sentence that says why there is none."""
    require_models()
    from transformers import AutoConfig

    find_source(str(source), options.revision)
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(source, **hub_arguments(options))
    except Exception as error:
        raise loading_error(name, source, options, error) from error
    return config


def load_transformers(name: str, source: str | Path, options: ModelOptions) -> Model:
    """A masked, causal or encoder-decoder model, as its configuration says unless the user names the family."""
    config = read_config(name, source, options)
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    from seesay.models.encoders import clip_bert, clip_bert_masked
    from seesay.models.hf.causal import CausalModel
    from seesay.models.hf.masked import MaskedModel
    from seesay.models.hf.seq2seq import EncoderDecoderModel
    from seesay.models.vision import masked as vision_masked

    if clip_bert.is_clip_bert(config):
        return clip_bert_masked.load_masked(name, str(source), options, imagine=True)
    if config.model_type in vision_masked.ARCHITECTURES:
        return vision_masked.load_masked(name, source, options, config.model_type)
    heads = {
        Family.MASKED: AutoModelForMaskedLM,
        Family.CAUSAL: AutoModelForCausalLM,
        Family.ENCODER_DECODER: AutoModelForSeq2SeqLM,
    }

    family = Family(options.family) if options.family else family_of(name, config)
    checkpoint = load_checkpoint(name, source, options, heads[family])
    refuse_missing_head(name, family, checkpoint.missing)
    if family == Family.MASKED:
        return MaskedModel(name, checkpoint, batch_size=options.batch_size)
    if family == Family.ENCODER_DECODER:
        return EncoderDecoderModel(name, checkpoint, style=options.style, batch_size=options.batch_size)
    return CausalModel(name, checkpoint, scope=options.scope, batch_size=options.batch_size)


def file_digest(paths: Iterable[Path]) -> str:
    """A digest of the files' names and contents, in order of name. That of large files is remembered together with
    their state (place, size, times of change, inode): reading them takes longer than loading the model."""
    ordered = sorted(paths)
    states = {path: path.stat() for path in ordered}
    files = [(str(path.resolve()), s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in states.items()]
    remembered = cache_folder() / "digests" / json_digest(files)
    is_large = sum(state.st_size for state in states.values()) >= LARGE
    if is_large and remembered.is_file() and DIGEST.fullmatch(text := remembered.read_text(errors="replace")):
        return text
    began = time.time()
    digest = hashlib.blake2b(digest_size=8)
    for path in ordered:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    if is_large and max(state.st_ctime for state in states.values()) < began - 10:  # a change would get another time
        write_text(remembered, digest.hexdigest())
    return digest.hexdigest()


def fingerprint(source: str | Path, revision: str | None, patterns: Iterable[str] = SHAPES_ANSWERS) -> str:
    """A digest of the files of a folder that match; for the Hub the commit, which names every file's content."""
    folder = Path(source)
    if folder.is_dir():
        return file_digest(path for pattern in patterns for path in folder.glob(pattern))
    return commit(str(source), revision)


def device_of(name: str) -> str:
    """The device of that name; for `auto` an accelerator if there is one."""
    import torch

    if name == "auto":
        return "auto" if torch.accelerator.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(f"There is no device '{name}' here ({first_line(error)}): try --device auto.") from error
    return name


def family_of(name: str, config: PreTrainedConfig) -> Family:
    """The family that a configuration stands for."""
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        return Family.ENCODER_DECODER
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return Family.MASKED
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return Family.CAUSAL
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return Family.MASKED
    if config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return Family.CAUSAL
    raise UserError(
        f"'{name}' is a {config.model_type} ({architecture or 'no architecture named'}), which cannot fill a slot; "
        f"if it can, say how with --family {' | '.join(Family)}."
    )


def loading_error(name: str, source: str | Path, options: ModelOptions, error: Exception, what: str = "") -> UserError:
    """One sentence for the many ways in which loading fails; `what` names the kind of model that was expected."""
    folder, text = Path(source), first_line(error)
    if "trust_remote_code" in str(error):
        sentence = f"'{name}' brings code of its own; read it, and if you trust it add --trust-remote-code."
    elif "Unrecognized configuration class" in str(error) and what:
        sentence = f"'{name}' is not a {what}."
    elif "Unrecognized configuration class" in str(error):
        sentence = f"'{name}' is not a {options.family or 'known'} model: try another --family ({', '.join(Family)})."
    elif is_out_of_memory(error):
        sentence = f"'{name}' does not fit into this machine's memory."
    elif not folder.is_dir() and "safetensors" in str(error) and "does not appear" in str(error):
        sentence = f"'{name}' has no safetensors weights, only pickled ones, {PICKLED}"
    elif not folder.is_dir():
        sentence = f"The hub has '{name}', but it could not be loaded: {text}"
    elif not options.allow_pickle and not any(folder.glob("*.safetensors")) and (pickled := _pickled(folder)):
        sentence = f"'{name}' has only pickled weights ({pickled[0]}), {PICKLED}"
    elif not (folder / "config.json").is_file():
        sentence = f"The folder '{name}' holds no config.json: it is not a transformers model."
    else:
        sentence = f"The model in '{name}' could not be read (a file may be damaged or half-downloaded): {text}"
    return UserError(sentence)


def _pickled(folder: Path) -> list[str]:
    return sorted(path.name for path in (*folder.glob("*.bin"), *folder.glob("*.pt")))


def model_type(folder: Path) -> str | None:
    """The model type that the folder's configuration names."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    kind = config.get("model_type") if isinstance(config, dict) else None
    return kind if isinstance(kind, str) else None
