"""The checkpoints of the published reasoners, as the code of Johnson et al. (2017) and Perez et al.
(2018) writes them.

A checkpoint is a dictionary that `torch.save` wrote: the arguments of the training, the vocabulary,
the weights that were best on the validation items, and how accurate they were. FiLM's are in two
parts: `program_generator` reads the sentence, `execution_engine` looks at the picture. Each layer
is written to the place it has in our network; what computes the same in another order is turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from seesay.errors import UserError, first_line
from seesay.files import atomic_folder, write_json
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.config import NetworkConfig, ReasonerConfig, preset_config
from seesay.scenes.reasoners.networks.registry import NAMES, build
from seesay.scenes.reasoners.vocabulary import SPECIAL, SentenceVocabulary
from seesay.training import checkpoint
from seesay.training.loop import Result

if TYPE_CHECKING:
    import torch

    from seesay.scenes.reasoners.features.extractor import FeatureExtractor
    from seesay.scenes.reasoners.networks.base import ReasonerNetwork

_NETWORKS = {name: key for key, name in NAMES.items()}


@dataclass(frozen=True)
class PublishedCheckpoint:
    """A network of ours with the weights of a checkpoint."""

    config: ReasonerConfig
    network_config: NetworkConfig
    network: ReasonerNetwork
    validation: float
    """The accuracy of its weights on the authors' validation items."""
    step: int
    """The step after which they were the best."""


def read_checkpoint(path: Path) -> PublishedCheckpoint:
    """Read a checkpoint of the published code; only tensors and plain values are unpickled."""
    import torch

    if not path.is_file():
        raise UserError(f"There is no file '{path}': give a checkpoint of the published code.")
    try:
        # without weights_only, a pickle could run any code
        fields = torch.load(path, map_location="cpu", weights_only=True)
        return _convert(fields)
    # a file that is none fails in many ways: unpickling, missing fields, other sizes
    except Exception as error:
        raise UserError(
            f"'{path}' is no checkpoint of the published CNN+LSTM, CNN+LSTM+SA or FiLM: "
            f"{type(error).__name__} {first_line(error)}"
        ) from error


def _convert(fields: Mapping[str, Any]) -> PublishedCheckpoint:
    """Return our network with the weights of a checkpoint's fields."""
    vocab = fields["vocab"]
    words = _tokens(vocab["question_token_to_idx"])
    answers = _tokens(vocab["answer_token_to_idx"])
    baseline = fields["baseline_type"]
    if baseline is None:
        name = "film"
        kwargs = fields["program_generator_kwargs"] | fields["execution_engine_kwargs"]
        weights = fields["program_generator_state"] | fields["execution_engine_state"]
    else:
        name = _NETWORKS[baseline]
        kwargs = fields["baseline_kwargs"]
        weights = fields["baseline_state"]
    names = _names()[name]
    sizes = _sizes(kwargs, names)
    shape = kwargs[names["shape"]]
    config = preset_config(name, "paper")
    config = config.override(sizes=sizes, learning_rate=fields["args"]["learning_rate"])
    if sizes.get("strided_layers"):
        config = replace(config, features="pixels")
    vocabulary = SentenceVocabulary(words[len(SPECIAL) :])
    network_config = NetworkConfig(vocabulary, answers, tuple(shape), **config.sizes)
    network = build(name, network_config)
    state = network.state_dict()
    for layer, published in _layers(names, weights, state):
        for key, value in _tensors(weights, published).items():
            expected = state[f"{layer}.{key}"].shape
            turned = _turn(name, layer, value, network_config)
            if turned.numel() != expected.numel():
                raise ValueError(f"{published}.{key} has another size than {tuple(expected)}")
            # a 1 x 1 convolution there may be a linear layer here
            state[f"{layer}.{key}"] = turned.reshape(expected)
    network.load_state_dict(state)
    return PublishedCheckpoint(
        config,
        network_config,
        network.eval(),
        float(fields["best_val_acc"]),
        int(fields["model_t"]),
    )


def write_reasoner(
    published: PublishedCheckpoint,
    folder: Path,
    task: str,
    extractor: FeatureExtractor,
    digest: str,
) -> None:
    """Write the folder of a reasoner, with the record of a training on this task.

    `digest` is that of the checkpoint.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"'{folder}' is not empty: give a new folder.")
    config = replace(published.config, features=extractor.name, image_size=extractor.image_size)
    settings = checkpoints.training_settings(config, {"task": task, "checkpoint": digest})
    result = Result(
        steps=published.step,
        epochs=published.step / 250,
        seconds=0.0,
        best=published.validation,
        best_step=published.step,
        stopped_early=False,
    )
    with atomic_folder(folder) as unfinished:
        checkpoint.check_settings(unfinished / "training", config.schedule.settings() | settings)
        checkpoints.save(
            unfinished,
            published.network,
            config,
            published.network_config,
            extractor.fingerprint,
        )
        write_json(unfinished / "training" / checkpoint.RESULT, result.as_json())


def _tokens(numbers: Mapping[str, int]) -> tuple[str, ...]:
    """Return tokens in the order of their numbers, which begin with the special ones."""
    tokens = tuple(sorted(numbers, key=lambda token: numbers[token]))
    are_consecutive = sorted(numbers.values()) == list(range(len(tokens)))
    if tokens[: len(SPECIAL)] != SPECIAL or not are_consecutive:
        raise ValueError("its vocabulary is not numbered as CLEVR's")
    return tokens


def _names() -> dict[str, Any]:
    """Return how the published code calls what our networks have, by network."""
    path = files("seesay.scenes.reasoners") / "published_checkpoints.yaml"
    names: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return names


def _sizes(kwargs: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sizes of a network; refuse one that would compute something else here."""
    for option, value in names["options"].items():
        if kwargs[option] != value:
            raise ValueError(f"its {option} is {kwargs[option]}, not {value}")
    sizes = {size: kwargs[option] for size, option in names["sizes"].items()}
    (sizes["classifier"],) = sizes["classifier"]
    # the scripts give numbers where ours have other types
    sizes["batch_norm"] = bool(sizes["batch_norm"])
    sizes["dropout"] = float(sizes["dropout"])
    # only FiLM's stem may read pixels, and its convolutions then have strides
    if "stem_stride" in kwargs:
        strided = kwargs["stem_stride"] > 1
        layers = kwargs["stem_num_layers"]
        sizes["strided_layers"] = layers if strided else 0
        sizes["plain_layers"] = 0 if strided else layers
    return sizes


def _layers(
    names: Mapping[str, Any],
    weights: Mapping[str, torch.Tensor],
    state: Mapping[str, torch.Tensor],
) -> Iterator[tuple[str, str]]:
    """Yield our layers and theirs."""
    for ours, theirs in names["layers"].items():
        sequence, _, part = ours.partition(".#.")
        if not part:
            yield ours, theirs
            continue
        for layer in _numbered(state, sequence):
            number = layer.removeprefix(f"{sequence}.")
            yield f"{layer}.{part}", theirs.replace("#", number)
    for prefix, parts in names["sequences"].items():
        yield from _in_order(state, parts, weights, prefix)


def _in_order(
    state: Mapping[str, torch.Tensor],
    parts: list[str],
    weights: Mapping[str, torch.Tensor],
    prefix: str,
) -> Iterator[tuple[str, str]]:
    """Yield the layers that have weights in parts of ours, and in a sequence of theirs.

    The sequences number layers without weights, too, such as dropout, which ours has and theirs may
    lack.
    """
    layers = [layer for part in parts for layer in _numbered(state, part)]
    yield from zip(layers, _numbered(weights, prefix), strict=True)


def _numbered(state: Mapping[str, torch.Tensor], prefix: str) -> list[str]:
    """Return the layers of a sequence in order; a part that is a layer itself is the only one."""
    numbers = set()
    for key in state:
        if not key.startswith(f"{prefix}."):
            continue
        number = key.removeprefix(f"{prefix}.").partition(".")[0]
        if not number.isdecimal():
            return [prefix]
        numbers.add(int(number))
    return [f"{prefix}.{number}" for number in sorted(numbers)]


def _tensors(weights: Mapping[str, torch.Tensor], layer: str) -> dict[str, torch.Tensor]:
    """Return the weights of one of their layers by what they are."""
    start = f"{layer}."
    return {
        key.removeprefix(start): value for key, value in weights.items() if key.startswith(start)
    }


def _turn(name: str, layer: str, value: torch.Tensor, config: NetworkConfig) -> torch.Tensor:
    """Return a tensor in the order of ours, where both compute the same in another order."""
    import torch

    reads_coordinates = layer == "last" or layer.endswith(".narrow")
    if layer == "stem.layers.0" and not config.strided_layers:
        reads_coordinates = True
    # theirs appends columns and then rows to a map, ours rows and then columns
    if reads_coordinates and value.ndim > 1:
        channels = value.shape[1]
        order = [*range(channels - 2), channels - 1, channels - 2]
        return value[:, order]
    # an older layout has further outputs for each block, which are not used
    if layer == "modulate":
        by_block = value.reshape(config.blocks, -1, *value.shape[1:])
        return by_block[:, : 2 * config.width].flatten(0, 1)
    # theirs puts the sentence before the picture, ours after it; a norm's counter is no vector
    if name == "cnn-lstm" and layer.startswith("classifier.") and value.ndim:
        cells = config.input_shape[1] // 2 * (config.input_shape[2] // 2)
        if value.shape[-1] == config.hidden + config.projection * cells:
            return torch.roll(value, -config.hidden, dims=-1)
    return value
