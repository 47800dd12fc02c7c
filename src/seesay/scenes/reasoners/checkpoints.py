"""A trained reasoner in a folder: `config.json`, `model.safetensors`, and `training/`.

`config.json` and `training/settings.json` carry a format number each: files of newer versions are
refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay import files
from seesay.errors import UserError, first_line
from seesay.files import atomic_write, refuse_newer, write_json
from seesay.models.libraries import require_models
from seesay.models.untrusted import refuse_other_sizes
from seesay.scenes.reasoners.config import NetworkConfig, ReasonerConfig
from seesay.scenes.reasoners.networks.registry import NAMES, build
from seesay.scenes.reasoners.vocabulary import SPECIAL, SentenceVocabulary
from seesay.training import checkpoint

if TYPE_CHECKING:
    from seesay.scenes.reasoners.networks.base import ReasonerNetwork

MODEL_TYPE = "seesay-reasoner"
FILES = ("config.json", "model.safetensors")
FORMAT = 1
_FIELDS = {"network", "features", "image_size", "features_fingerprint", "config"}


def save(
    folder: Path,
    network: ReasonerNetwork,
    config: ReasonerConfig,
    network_config: NetworkConfig,
    fingerprint: str,
) -> None:
    """Write the folder that `load` reads.

    `fingerprint` is that of the feature extractor: with other weights, the network would get
    features it never learnt.
    """
    from safetensors.torch import save

    # safetensors refuses tensors in channels-last memory
    weights = {name: value.cpu().contiguous() for name, value in network.state_dict().items()}
    with atomic_write(folder / "model.safetensors") as path:
        path.write_bytes(save(weights))
    fields = {
        "model_type": MODEL_TYPE,
        "format": FORMAT,
        "network": config.network,
        "features": config.features,
        "image_size": config.image_size,
        "features_fingerprint": fingerprint,
        "config": {**asdict(network_config), "vocabulary": network_config.vocabulary.words},
    }
    # last: it marks a complete model
    write_json(folder / "config.json", fields)


def load(folder: Path) -> tuple[ReasonerNetwork, NetworkConfig, dict[str, Any]]:
    """Load the network, its config, and the fields of `config.json`."""
    require_models()
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        fields = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        refuse_newer(fields, FORMAT, f"The reasoner in '{folder}'")
        config = _parse_config(fields)
        weights = load_file(folder / "model.safetensors")
        # before the network is built: sizes in a damaged file could ask for any amount of memory
        refuse_other_sizes(lambda: build(fields["network"], config), weights, asdict(config))
        network = build(fields["network"], config)
        network.load_state_dict(weights)
    except (
        OSError,
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
        RuntimeError,
        SafetensorError,
    ) as error:
        reason = f"could not be read (a file may be missing or damaged): {first_line(error)}"
        raise UserError(f"The reasoner in '{folder}' {reason}") from error
    return network.eval(), config, fields


def _parse_config(fields: Mapping[str, Any]) -> NetworkConfig:
    """Return the network's config from the fields of `config.json`."""
    if missing := _FIELDS - set(fields):
        raise ValueError(f"config.json has no {min(missing)}")
    if fields["network"] not in NAMES:
        raise ValueError(f"there is no network '{fields['network']}'")
    sizes: dict[str, Any] = {}
    for key, value in fields["config"].items():
        # JSON has lists where the config has tuples
        sizes[key] = tuple(value) if isinstance(value, list) else value
    sizes["vocabulary"] = SentenceVocabulary(sizes["vocabulary"])
    return NetworkConfig(**sizes)


def copy_weights(network: ReasonerNetwork, config: NetworkConfig, folder: Path) -> None:
    """Start from the weights of a trained reasoner.

    Words that it lacks keep their random vectors.
    """
    import torch

    trained, trained_config, fields = load(folder)
    ids = config.vocabulary.ids
    trained_ids = trained_config.vocabulary.ids
    shared = [word for word in config.vocabulary.words if word in trained_ids]
    rows = [*range(len(SPECIAL)), *(ids[word] for word in shared)]
    trained_rows = [*range(len(SPECIAL)), *(trained_ids[word] for word in shared)]
    weights = trained.state_dict()
    random = network.state_dict()
    try:
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.Embedding):
                key = f"{name}.weight"
                vectors = random[key].clone()
                # the same word may have another number in the other vocabulary
                vectors[rows] = weights[key][trained_rows]
                weights[key] = vectors
        network.load_state_dict(weights)
    except (KeyError, RuntimeError) as error:
        raise UserError(
            f"The reasoner in '{folder}' ({fields['network']}) has other layers: start from one of "
            "the same network, preset and features."
        ) from error


def training_settings(config: ReasonerConfig, source: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings of a training but for its schedule; `source` identifies its items."""
    fields = asdict(config)
    del fields["schedule"]
    return {**fields, **source}


def read_settings(folder: Path) -> dict[str, Any]:
    """Read the settings of the training in a folder, its schedule among them.

    They are empty if there is no training.
    """
    path = folder / "training" / checkpoint.SETTINGS
    if not path.is_file():
        return {}
    return files.read_settings(
        path, what=f"The training in {path.parent}", hint=checkpoint.start_again(path)
    )


def refuse_other_training(
    folder: Path, config: ReasonerConfig, source: Mapping[str, object]
) -> None:
    """Refuse a folder whose training was begun with other settings.

    A folder without a training is fine.
    """
    if (folder / "training" / checkpoint.SETTINGS).is_file():
        settings = config.schedule.settings() | training_settings(config, source)
        checkpoint.check_settings(folder / "training", settings)
