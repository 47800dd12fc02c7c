"""Settings of networks and of their training: `paper` as published, `cpu` for two cores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from seesay.data.picture_sets import find_picture_set
from seesay.errors import UserError, refuse_unknown
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary
from seesay.training.schedule import Schedule


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Layer sizes of a network, its words and its answers."""

    vocabulary: SentenceVocabulary
    answers: tuple[str, ...]
    input_shape: tuple[int, ...]
    """The shape of one picture's features."""
    width: int = 64
    """Channels of the maps."""
    first_width: int = 0
    """Channels of the strided layers before the last; 0: as many as the others."""
    strided_layers: int = 2
    """Layers that halve the height and width of a map."""
    plain_layers: int = 0
    """Layers that keep the height and width of a map."""
    blocks: int = 4
    """FiLM's residual blocks."""
    embedding: int = 64
    hidden: int = 128
    """The size of the recurrent state."""
    recurrent_layers: int = 1
    text_norm: bool = False
    """Whether to normalise the sentence's vector and to open the recurrent gates."""
    projection: int = 256
    """Channels of the 1 x 1 convolution before pooling; stacked attention: of a hidden layer."""
    classifier: int = 256
    """The size of the classifier's hidden layer."""
    dropout: float = 0.0
    batch_norm: bool = True
    """Batch norm of the classifier, as in the paper's grid."""
    measures_learnt: bool = False
    """Object-centred: whether to learn what an adjective is about; otherwise it is the area."""
    roles_learnt: bool = False
    """Object-centred: whether to learn the roles of words from their order."""
    presupposition: float = 1.0
    """Object-centred: the weight of what a sentence presupposes."""


@dataclass(frozen=True, slots=True)
class ReasonerConfig:
    """A network, its features, the layer sizes that differ from the defaults, and its training."""

    network: str
    features: str
    image_size: int
    schedule: Schedule
    batch_size: int = 64
    augment: bool = False
    """Whether to mirror about half of the batches along the diagonal from top left to bottom right.

    It needs pixels. This is the one mirroring that makes only scenes of the task: triangles stand
    on their base at the top or on the left.
    """
    sizes: dict[str, Any] = field(default_factory=dict)
    """Fields of `NetworkConfig` that differ from the defaults."""
    curriculum: tuple[str, ...] = ()
    """The tasks that are learnt before, in this order."""
    published_tokens: bool = False
    """Whether words keep their capitals and `NULL`, `START`, `END` and `UNK` are answers, too.

    The published vocabularies have both.
    """

    def training_name(self, task: str) -> str:
        """Return the name of a training on a task.

        With a curriculum, it is never the name of a training on only that task.
        """
        return "-".join([task, *(f"after-{first}" for first in self.curriculum)])

    def override(
        self,
        *,
        batch_size: int | None = None,
        sizes: dict[str, Any],
        **schedule: Any,
    ) -> ReasonerConfig:
        """Return the config with another batch size, layer sizes or schedule.

        None leaves a value as it is.
        """
        new_sizes = {name: value for name, value in sizes.items() if value is not None}
        return replace(
            self,
            batch_size=batch_size or self.batch_size,
            sizes={**self.sizes, **new_sizes},
            schedule=self.schedule.override(**schedule),
        )


# Adam as published: no clipping, no warm-up, no decay; 10,000 steps, validated every 250 and never
# before the first, so that untrained weights are not kept
_PAPER = Schedule(
    epochs=40,
    learning_rate=3e-4,
    optimizer="adam",
    clip=math.inf,
    validate_every=250,
    validate_epochs=False,
    validate_untrained=False,
    best_by="accuracy",
    highest=True,
)
# The rate stays up until learning ends: how long a network stays at chance is not known beforehand.
_CPU = Schedule(
    epochs=30,
    learning_rate=4e-4,
    warmup=0.02,
    cooldown=0.15,
    patience=8,
    enough=0.995,
    best_by="accuracy",
    highest=True,
)
# a few thousand weights: as fast on two cores as it needs to be, so both presets share it
_OBJECTS = ReasonerConfig(
    "object-centred",
    "objects",
    192,
    Schedule(
        epochs=20,
        learning_rate=6e-3,
        warmup=0.05,
        decay="cosine",
        best_by="accuracy",
        highest=True,
    ),
    sizes={"width": 16, "hidden": 64, "embedding": 8},
)
# the sentence encoder of Johnson et al. (2017), which the paper's first two networks use
_LSTM = {"strided_layers": 0, "embedding": 300, "hidden": 256, "recurrent_layers": 2}


def _paper(network: str, weight_decay: float = 0.0, **sizes: int) -> ReasonerConfig:
    """Return the published config of a network: conv4 of a ResNet-101, at 224 pixels."""
    schedule = replace(_PAPER, weight_decay=weight_decay)
    sizes = {**sizes, "projection": 512, "classifier": 1024}
    return ReasonerConfig(
        network,
        "resnet101",
        224,
        schedule,
        published_tokens=True,
        sizes=sizes,
    )


def _cpu(network: str, **sizes: int) -> ReasonerConfig:
    """Return a config that learns from pixels on two cores."""
    sizes = {
        "first_width": 32,
        "strided_layers": 2,
        "projection": 128,
        **sizes,
        "text_norm": True,
    }
    return ReasonerConfig(
        network,
        "pixels",
        56,
        _CPU,
        batch_size=32,
        augment=True,
        sizes=sizes,
    )


PRESETS: dict[str, dict[str, ReasonerConfig]] = {
    "paper": {
        "cnn-lstm": _paper("cnn-lstm", **_LSTM),
        "stacked-attention": _paper("stacked-attention", **_LSTM),
        "film": _paper(
            "film",
            1e-5,
            width=128,
            strided_layers=0,
            plain_layers=1,
            embedding=200,
            hidden=4096,
        ),
        "object-centred": _OBJECTS,
    },
    "cpu": {
        "cnn-lstm": _cpu("cnn-lstm", plain_layers=1, projection=64),
        "stacked-attention": _cpu("stacked-attention", plain_layers=2, projection=256),
        "film": _cpu("film"),
        "object-centred": _OBJECTS,
    },
}
"""Presets by name and network.

`paper` is one of the published grid's 16 configurations (`reasoners.sweep.PAPER_GRID`), with batch
norm.
"""


def preset_config(network: str, preset: str = "auto", task: str = "") -> ReasonerConfig:
    """Return the preset of a network; `auto` is the published one where there is a GPU."""
    refuse_unknown("network", network, NAMES)
    if preset == "auto":
        import torch

        preset = "paper" if torch.accelerator.is_available() else "cpu"
    if preset not in PRESETS:
        raise UserError(f"--preset is '{preset}': choose {', '.join(PRESETS)} or auto.")
    config = PRESETS[preset][network]
    # Compositional and mixtures have 8,000 items: twice the epochs are as many steps as for the
    # 16,000 of other tasks.
    if (task == "compositional" or task.startswith("mixture-")) and config.features != "objects":
        epochs = config.schedule.epochs
        patience = config.schedule.patience
        config = config.override(sizes={}, epochs=2 * epochs, patience=patience and 2 * patience)
    # Where scenes have many small shapes, a plug-in's pictures show one large thing, never mirrored
    # diagonally.
    if find_picture_set(task) and config.features == "pixels":
        sizes = {**config.sizes, "strided_layers": 3, "width": 32, "first_width": 16, "blocks": 2}
        schedule = config.schedule.override(epochs=4)
        config = replace(
            config,
            image_size=64,
            augment=False,
            sizes=sizes,
            schedule=schedule,
        )
    return config
