"""How a run is asked, apart from the model and the task: a field of its manifest, part of its key.

No name carries it: a model, a scope and a template are called the same under every condition.
`label` is the only place that puts a model's name and a condition into words together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from seesay.defaults import MAX_TOKENS, NO_PICTURE
from seesay.documents import Document
from seesay.errors import UserError
from seesay.quantities import quantity

BETWEEN = " · "
"""Separates the parts of a label."""


class How(StrEnum):
    """How questions are put to a model."""

    CLOZE = "cloze"
    """Every option is scored in the blank of a sentence."""

    CHOICE = "choice"
    """The options are shown, lettered, in every rotation of their order."""

    GENERATE = "generate"
    """The model writes freely, and its replies are matched to the options."""

    QA = "qa"
    """The options are shown in one order, and the model writes one of them, letter for letter."""

    QA_TRAINED = "qa-trained"
    """The same, of a model whose output head was tuned on the training questions."""

    LINEAR = "linear"
    """A linear layer is trained on the model's vectors of a text about the thing."""

    LINEAR_QUESTION = "linear-question"
    """A linear layer is trained on the vectors of the question with its lettered options."""

    LEARNING_CURVE = "learning-curve"
    """Linear layers are trained on parts of the training questions."""

    LENS = "lens"
    """The output head reads the states of every layer, where a cloze question is asked by layer."""

    @property
    def trains(self) -> bool:
        """Whether something is trained: a probe on the model's vectors, or its output head."""
        return self in (How.QA_TRAINED, How.LINEAR, How.LINEAR_QUESTION, How.LEARNING_CURVE)


# `--how lens` is no choice: the lens is a cloze question with `--layers`
CHOICES = tuple(how for how in How if how is not How.LENS)
"""What `--how` takes."""


def parse_how(name: str) -> How:
    """Return what `--how` names; anything else is a user's mistake."""
    if name not in CHOICES:
        raise UserError(f"--how is '{name}': choose {', '.join(CHOICES)}.")
    return How(name)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are generated: with a temperature of 0 the likeliest one, else so many
    samples."""

    samples: int = 1
    temperature: float = 0.0
    max_tokens: int = MAX_TOKENS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.max_tokens < 1 or not 0 <= self.temperature <= 5:
            raise UserError(
                "--samples and --max-tokens are at least 1, and --temperature is between 0 and 5."
            )
        # the likeliest reply is one and the same
        if self.samples > 1 and not self.temperature:
            raise UserError(
                "Without a temperature all samples are the same: add --temperature 1, or leave out "
                "--samples."
            )

    def __str__(self) -> str:
        """As a part of signatures."""
        if self.temperature:
            replies = f"{self.samples}@{self.temperature:g}"
        else:
            replies = "greedy"
        return f"{replies}-{self.max_tokens}"


GREEDY = Sampling()


class PictureKind(StrEnum):
    """A picture that is shown beside questions which have none."""

    BLANK = "blank"
    """Nothing to see: every pixel is black, every feature of a region is 0."""

    MEAN = "mean"
    """The mean of the pictures that the model was trained on, or of a file of regions."""

    RANDOM = "random"
    """Noise, drawn with a seed; or the regions of a picture that is drawn from a file."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """The picture in place of none; `regions` is a file of what an object detector found in
    pictures, for models that see nothing else."""

    kind: PictureKind
    seed: int = 0
    regions: Path | None = None

    @property
    def drawn_with(self) -> int | None:
        """The seed, where there is something to draw."""
        return self.seed if self.kind is PictureKind.RANDOM else None


def parse_pictures(names: Iterable[str]) -> tuple[PictureKind | None, ...]:
    """Return what `--picture` names, each once and None for no picture.

    >>> parse_pictures(["none", "blank"])
    (None, <PictureKind.BLANK: 'blank'>)
    """
    kinds: dict[PictureKind | None, None] = {}
    for name in names:
        if name != NO_PICTURE and name not in list(PictureKind):
            raise UserError(
                f"--picture is '{name}': choose among {NO_PICTURE}, {', '.join(PictureKind)}."
            )
        kinds[None if name == NO_PICTURE else PictureKind(name)] = None
    return tuple(kinds)


class Condition(Document):
    """How a run is asked; a field that does not apply has its default."""

    how: How = How.CLOZE
    """How questions are put to the model: `cloze`, `choice`, `generate`, `qa`, `qa-trained`,
    `linear`, `linear-question` or `lens`."""

    chat: str | None = None
    """A digest of the chat template and system text that prompts are put through; null for plain
    texts."""

    system: str | None = None
    """The system's text, which opens the chat."""

    shots: int = 0
    """How many in-context examples stand before each question."""

    shot_seed: int | None = None
    """The seed that the examples were drawn with."""

    probe_seed: int | None = None
    """The seed that a linear probe was trained with."""

    sampling: Sampling | None = None
    """How free answers were generated: `samples`, `temperature`, `max_tokens` and `seed`."""

    picture: PictureKind | None = None
    """The picture shown beside every question, none of which has one: `blank`, `mean` or `random`;
    null for none."""

    picture_seed: int | None = None
    """The seed that a random picture was drawn with."""

    regions: str | None = None
    """A digest of the file of regions that the picture was made of; null for none."""

    layer: int | None = None
    """The layer that was read, 0 for the embedding; null for the model's own output."""

    scope: str = "option"
    """What is scored: `sentence` (option and the rest of the sentence), `option` (option alone),
    …"""

    length: str = "sum"
    """Length rule: `sum`, `mean` (per token) or `char` (per character)."""

    def replace(self, **changes: Any) -> Condition:
        """Return the condition with other values in some of its fields."""
        return Condition(**{**dict(self), **changes})

    @property
    def seed(self) -> int | None:
        """The seed by which runs of one model repeat each other: of its probe, of the draw of its
        examples, or of that of a picture."""
        seeds = (self.probe_seed, self.shot_seed, self.picture_seed)
        return next((seed for seed in seeds if seed is not None), None)

    @property
    def stated(self) -> dict[str, object]:
        """The fields that apply, by their names in words."""
        return {
            name.replace("_", " "): value
            for name, value in self
            if value is not None and (name, value) != ("shots", 0)
        }

    @property
    def signature_parts(self) -> tuple[str, ...]:
        """What a signature says of it, in order, but for the scope and the length rule."""
        # the system's text is in the digest of the chat; how many examples there are stands with a
        # digest of their draws, which the task knows
        parts = {
            "how": self.how,
            "sampling": self.sampling,
            "chat": self.chat,
            "shot-seed": self.shot_seed,
            "probe-seed": self.probe_seed,
            "picture": self.picture,
            "picture-seed": self.picture_seed,
            "regions": self.regions,
            "layer": self.layer,
        }
        return tuple(f"{name}:{value}" for name, value in parts.items() if value is not None)


def label(
    model: str,
    condition: Condition,
) -> str:
    """Return what tables, pages, comparisons and progress lines call a model under a condition.

    >>> label("smollm2", Condition(chat="0a1b", shots=5, shot_seed=0))
    'smollm2 · chat · 5 shots · seed 0'
    """
    name = label_without_seed(model, condition)
    if condition.seed is None:
        return name
    return f"{name}{BETWEEN}seed {condition.seed}"


def label_without_seed(
    model: str,
    condition: Condition,
) -> str:
    """Return the label that runs share which differ in their seed alone.

    >>> label_without_seed("minilm", Condition(how=How.LINEAR, probe_seed=3))
    'minilm · linear'
    """
    parts = [model]
    if condition.chat is not None:
        parts.append("chat")
    if condition.how is How.GENERATE:
        parts.append("generated")
    if condition.how is How.QA:
        parts.append(How.QA)
    if condition.shots:
        parts.append(quantity(condition.shots, "shot"))
    if condition.picture is not None:
        parts.append(f"{condition.picture} picture")
    # a baseline is asked what probes are asked, and is none
    if condition.probe_seed is not None:
        is_tuned = condition.how is How.QA_TRAINED
        parts.append(How.QA_TRAINED if is_tuned else "linear")
    return BETWEEN.join(parts)


def without_seed(condition: Condition) -> Condition:
    """Return the condition that runs share which differ in their seed alone."""
    return condition.replace(shot_seed=None, probe_seed=None, picture_seed=None)
