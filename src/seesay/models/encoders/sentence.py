"""Sentence encoders (Reimers & Gurevych 2019), with the pooling that their sentence-transformers
files describe.

The last step of many of them, scaling to unit length, is left out: a cosine does not need it, and a
linear layer learns no less from the length.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import read_json
from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, encoder_class, load_complete
from seesay.models.hf.encoding import Reader
from seesay.models.hf.hub import find_file
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch

POOLING = {
    "pooling_mode_cls_token": "first",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
MODULES = ("Transformer", "Pooling", "Dense", "Normalize")
ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")


@dataclass(frozen=True)
class PoolingSteps:
    """How states become one vector: a pooling, then folders of dense layers ("" scales to unit
    length, which a layer after it needs)."""

    pooling: str
    after: tuple[str, ...] = ()


def steps_of(name: str, source: str | Path, options: ModelOptions) -> PoolingSteps | None:
    """What follows the transformer; None where the model is no sentence encoder, or one that takes
    the last token."""
    listed = _read(source, "modules.json", options)
    if listed is None:
        return None
    modules = _modules(name, listed)
    unknown = [kind for kind, _ in modules if kind not in MODULES]
    if unknown:
        raise UserError(
            f"'{name}' makes its vectors with a module that seesay does not support ({unknown[0]})."
        )
    folder = next((path for kind, path in modules if kind == "Pooling"), None)
    pooling = None
    if folder:
        pooling = _pooling(name, _read(source, f"{folder}/config.json", options))
    after = []
    for kind, path in modules:
        if kind == "Dense":
            after.append(path)
        elif kind == "Normalize":
            after.append("")
    # scaling to unit length matters only where a layer follows
    while after and not after[-1]:
        after.pop()
    if pooling is None and after:
        raise UserError(f"'{name}' has a dense layer without a supported pooling before it.")
    if pooling is None:
        return None
    return PoolingSteps(pooling, tuple(after))


def _modules(name: str, listed: Any) -> list[tuple[str, str]]:
    """The last word of every module's type, and its folder, which lies within the model's."""
    if not isinstance(listed, list) or not all(map(_is_module, listed)):
        raise UserError(
            f"'{name}' has a modules.json that is not a list of modules with a type and a path."
        )
    modules = []
    for module in listed:
        kind: str = module["type"]
        folder: str = module["path"]
        # other people's files are untrusted: nothing outside of the model's folder is opened
        path = PurePosixPath(folder.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in folder:
            raise UserError(f"'{name}' has a modules.json that leads out of its folder ({folder}).")
        modules.append((kind.rpartition(".")[2], folder))
    return modules


def _is_module(module: Any) -> bool:
    if not isinstance(module, dict):
        return False
    return isinstance(module.get("type"), str) and isinstance(module.get("path"), str)


def _pooling(name: str, settings: Any) -> str | None:
    """Return the one pooling that is on; None where that is the last token, or nothing says."""
    if settings is None:
        return None
    if not isinstance(settings, dict):
        raise UserError(f"The pooling of '{name}' has a config.json that is not a JSON object.")
    if settings.get("pooling_mode_lasttoken"):
        return None  # a causal model's own way
    poolings = [pooling for key, pooling in POOLING.items() if settings.get(key)]
    # sentence-transformers joins the vectors of several poolings, which is not done here
    others = [
        key
        for key, value in settings.items()
        if key.startswith("pooling_mode") and value is True and key not in POOLING
    ]
    if len(poolings) != 1 or others:
        raise UserError(
            f"'{name}' pools its states in a way that seesay does not support "
            f"({', '.join(others) or 'several'})."
        )
    return poolings[0]


def load_sentence(
    name: str,
    source: str | Path,
    options: ModelOptions,
    config: Any,
    steps: PoolingSteps,
) -> Model:
    """The transformer with its pooling and the layers after it."""
    import torch

    spare = ("pooler", "decoder", "lm_head")
    checkpoint = load_complete(
        name,
        source,
        options,
        encoder_class(config),
        spare=spare,
    )
    network = checkpoint.model
    layers: list[Reader] = []
    marks = [steps.pooling]
    for folder in steps.after:
        if folder:
            layer, mark = _dense(name, source, folder, options)
            layers.append(layer.to(network.device, network.dtype))
        else:
            layers.append(torch.nn.functional.normalize)
            mark = "unit"
        marks.append(mark)

    def vectors(ids: torch.Tensor) -> torch.Tensor:
        """No text is padded, so the mean is over all tokens, special ones too, as published."""
        states: torch.Tensor = network(input_ids=ids)[0]
        if steps.pooling == "first":
            rows = states[:, 0]
        elif steps.pooling == "mean":
            rows = states.mean(1)
        else:
            rows = states.amax(1)
        for layer in layers:
            rows = layer(rows)
        return rows

    return BatchEncoder(name, checkpoint, vectors, options, pooling="-".join(marks))


def _dense(
    name: str,
    source: str | Path,
    folder: str,
    options: ModelOptions,
) -> tuple[torch.nn.Module, str]:
    """A dense layer with its activation, and a digest of both."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    settings = _read(source, f"{folder}/config.json", options)
    activation = ""
    if isinstance(settings, dict):
        # a dotted path to a class of PyTorch, of which the last word is taken and nothing imported
        activation = str(settings.get("activation_function", "")).rpartition(".")[2]
    path = find_file(source, f"{folder}/model.safetensors", options.revision)
    if activation not in ACTIVATIONS or path is None:
        raise UserError(
            f"'{name}' has a dense layer ({folder}) that seesay cannot read: it needs "
            f"model.safetensors and one of the activations {', '.join(ACTIVATIONS)}."
        )
    try:
        weights = load_file(path)
        outputs, inputs = weights["linear.weight"].shape
        linear = torch.nn.Linear(inputs, outputs, bias="linear.bias" in weights)
        parameters = {key.removeprefix("linear."): tensor for key, tensor in weights.items()}
        linear.load_state_dict(parameters)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f"'{path}' holds no linear.weight and linear.bias of a dense layer."
        ) from error
    digest = text_digest(path.read_bytes() + activation.encode(), 6)
    return torch.nn.Sequential(linear, getattr(torch.nn, activation)()).eval(), digest


def _read(source: str | Path, file: str, options: ModelOptions) -> Any:
    """A JSON file beside the weights; None where there is none."""
    path = find_file(source, file, options.revision)
    if path is None:
        return None
    try:
        return read_json(path)
    except (ValueError, OSError) as error:
        raise UserError(f"'{path}' cannot be read as JSON ({error}).") from error
