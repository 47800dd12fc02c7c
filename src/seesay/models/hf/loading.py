"""From a Hub id, a folder or a GGUF file to a model that answers. Other people's files are
untrusted here: weights come from safetensors or GGUF, and code from a model's repository runs only
when the user asks for it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seesay.errors import UserError, first_line
from seesay.models.batches import is_out_of_memory
from seesay.models.files import file_digest
from seesay.models.hf.checkpoint_keys import note_of_unused, unused_parts
from seesay.models.hf.hub import commit, refuse_unless_on_hub
from seesay.models.hf.precision import weight_arguments, weights_digest
from seesay.models.hf.tokenization import tokenize
from seesay.models.libraries import device_of, require_models
from seesay.models.options import Family
from seesay.models.untrusted import check_folder

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

    from seesay.models.options import ModelOptions

log = logging.getLogger(__name__)

PICKLED = "which can run code when opened; if you trust them add --allow-pickle."
SHAPES_ANSWERS = ("*.safetensors", "*.bin", "*.gguf", "*.json", "*.txt", "*.model", "*.py")
CACHE_LINE = 64  # bytes
GENERATION_TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
TRIAL = "What color is the sky?"


@dataclass(frozen=True)
class Checkpoint:
    """What was read from a folder or the hub: which of the network's weights its files lack, and
    which parts of the files the network does not use."""

    model: Any
    tokenizer: Any
    config: Any
    fingerprint: str
    missing: tuple[str, ...]
    unused: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """How many parameters the network has, those that it shares counted once."""
        return int(self.model.num_parameters())


class LoadedNetwork(NamedTuple):
    """A network, the names of the weights that its files lack, and of the parts of the files that
    it does not use."""

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

    `shared_tokenizer` is used where there is none beside the weights; `changed` are entries of the
    configuration."""
    config = read_config(name, source, options)
    tokenizer = _tokenizer(name, source, options)
    model, missing, unused = load_network(
        name,
        source,
        options,
        network_class,
        **changed,
    )
    if tokenizer is None and shared_tokenizer:
        tokenizer = _tokenizer(
            name, find_source(shared_tokenizer, None), replace(options, revision=None)
        )
    if tokenizer is None:
        raise UserError(
            f"'{name}' has no tokenizer: save it beside the weights (tokenizer.save_pretrained)."
        )
    return Checkpoint(
        model, tokenizer, config, fingerprint(source, options, model.dtype), missing, unused
    )


def _tokenizer(name: str, source: str | Path, options: ModelOptions) -> Any:
    """The tokenizer; None where there is none, of which transformers makes an empty one."""
    from transformers import AutoTokenizer

    tokenizer = from_pretrained(AutoTokenizer, name, source, options)
    ids = tokenize(name, tokenizer, TRIAL)["input_ids"]
    text = str(tokenizer.decode(ids, skip_special_tokens=True))
    if not text.strip():
        return None
    return tokenizer


def load_network(
    name: str,
    source: str | Path,
    options: ModelOptions,
    model_class: Any,
    what: str = "",
    **changed: Any,
) -> LoadedNetwork:
    """A network in evaluation mode; `what` names it in an error."""
    arguments = weight_arguments(options, device_of(options.device))
    # True refuses pickles, None prefers safetensors where there are both
    arguments["use_safetensors"] = None if options.allow_pickle else True
    arguments["output_loading_info"] = True
    model, report = from_pretrained(
        model_class, name, source, options, what, **arguments, **changed
    )
    unused = unused_parts(name, model, report["unexpected_keys"])
    align_weights(model)
    reset_generation(model)
    return LoadedNetwork(model.eval(), tuple(sorted(report["missing_keys"])), unused)


def load_component(
    name: str,
    options: ModelOptions,
    kind: str,
    what: str,
) -> Any:
    """A network, image processor or tokenizer by its `Auto…` class in transformers; `what` names
    the expected model in an error. Missing weights are no error: the published DPT lacks some that
    its network never uses."""
    source = find_source(name, options.revision)
    import transformers

    auto_class: Any = getattr(transformers, kind)
    if kind.startswith("AutoModel"):
        network, _, unused = load_network(
            name, source, replace(options, device="cpu"), auto_class, what
        )
        if unused:
            log.warning("%s", note_of_unused(name, unused))
        return network
    return from_pretrained(auto_class, name, source, options, what)


def from_pretrained(
    auto_class: Any,
    name: str,
    source: str | Path,
    options: ModelOptions,
    what: str = "",
    **arguments: Any,
) -> Any:
    """What a class of transformers reads in a folder or on the hub, or one sentence that says why
    it cannot."""
    try:
        return auto_class.from_pretrained(source, **hub_arguments(options), **arguments)
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise loading_error(name, source, options, error, what) from error


def hub_arguments(options: ModelOptions) -> dict[str, Any]:
    """What every `from_pretrained` is given."""
    return {"trust_remote_code": options.trust_remote_code, "revision": options.revision}


def align_weights(model: torch.nn.Module) -> None:
    """Move every weight of the model to the start of a cache line.

    A mapped safetensors file leaves its tensors wherever its header ends, and the last digits of a
    matrix product depend on that address. Copied, the same weights give the same digits from any
    file, and are read faster.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.device.type == "cpu" and tensor.data_ptr() % CACHE_LINE:
            tensor.data = tensor.data.clone()


def reset_generation(network: Any) -> None:
    """Forget how the checkpoint writes but for its first and last tokens: transformers merges its
    penalties, beams and suppressed tokens into any configuration that it is given, and a reply
    would be called greedy that is not the likeliest."""
    from transformers import GenerationConfig

    for module in network.modules():
        # a network of pictures and text may hold one that writes
        settings = getattr(module, "generation_config", None)
        if isinstance(settings, GenerationConfig):
            tokens = {name: getattr(settings, name, None) for name in GENERATION_TOKENS}
            module.generation_config = GenerationConfig(**tokens)


def find_source(name: str, revision: str | None) -> str | Path:
    """The folder of that name or the Hub id, or one sentence that says why there is neither."""
    require_models()
    folder = Path(name).expanduser()
    if folder.is_dir():
        check_folder(name, folder)
        return folder
    refuse_unless_on_hub(name, revision)
    return name


def read_config(name: str, source: str | Path, options: ModelOptions) -> PreTrainedConfig:
    """The model's configuration, or one sentence that says why there is none."""
    require_models()
    from transformers import AutoConfig

    find_source(str(source), options.revision)
    config: PreTrainedConfig = from_pretrained(AutoConfig, name, source, options)
    return config


def content_fingerprint(source: str | Path, revision: str | None) -> str:
    """Return a digest of a folder's files that shape answers, for the hub the commit, which names
    every file's content."""
    folder = Path(source)
    if folder.is_dir():
        return file_digest(path for pattern in SHAPES_ANSWERS for path in folder.glob(pattern))
    return commit(str(source), revision)


def fingerprint(source: str | Path, options: ModelOptions, dtype: Any) -> str:
    """Return the fingerprint of a loaded model: that of its files, and the type of the weights
    where they are not float32, because they give other digits."""
    return content_fingerprint(source, options.revision) + weights_digest(options, dtype)


def loading_error(
    name: str,
    source: str | Path,
    options: ModelOptions,
    error: Exception,
    what: str = "",
) -> UserError:
    """Return one sentence for the many ways in which loading fails; `what` names the kind of model
    that was expected."""
    # transformers raises the same few exceptions for everything: only their texts differ
    message = str(error)
    folder = Path(source)
    if "trust_remote_code" in message:
        sentence = (
            f"'{name}' brings code of its own; read it, and if you trust it add "
            "--trust-remote-code."
        )
    elif "Unrecognized configuration class" in message and what:
        sentence = f"'{name}' is not a {what}."
    elif "Unrecognized configuration class" in message:
        sentence = (
            f"'{name}' is not a {options.family or 'known'} model: try another --family "
            f"({', '.join(Family)})."
        )
    elif is_out_of_memory(error):
        sentence = f"'{name}' does not fit into this machine's memory."
    elif folder.is_dir():
        sentence = _folder_problem(name, folder, options, first_line(error))
    elif "safetensors" in message and "does not appear" in message:
        sentence = f"'{name}' has no safetensors weights, only pickled ones, {PICKLED}"
    else:
        sentence = f"The hub has '{name}', but it could not be loaded: {first_line(error)}"
    return UserError(sentence)


def _folder_problem(
    name: str,
    folder: Path,
    options: ModelOptions,
    reason: str,
) -> str:
    """Return what is wrong with a folder, by what is in it."""
    pickles = sorted(path.name for path in (*folder.glob("*.bin"), *folder.glob("*.pt")))
    if pickles and not options.allow_pickle and not any(folder.glob("*.safetensors")):
        return f"'{name}' has only pickled weights ({pickles[0]}), {PICKLED}"
    if not (folder / "config.json").is_file():
        return f"The folder '{name}' holds no config.json: it is not a transformers model."
    return (
        f"The model in '{name}' could not be read (a file may be damaged or half-downloaded): "
        f"{reason}"
    )
