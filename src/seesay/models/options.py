"""How a model is loaded and asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self, get_type_hints

from seesay.arguments import plain_number, validate_types
from seesay.cluster import Engine
from seesay.errors import UserError
from seesay.registry import did_you_mean


class Scope(StrEnum):
    """What a causal model scores: the option and the rest of its sentence, the option alone, or the
    rest alone, given the option."""

    SENTENCE = "sentence"
    OPTION = "option"
    REST = "rest"


class Style(StrEnum):
    """How an encoder-decoder is asked: as UnifiedQA, or with T5's sentinel in the slot."""

    QA = "qa"
    INFILL = "infill"


class Family(StrEnum):
    """How a model of transformers fills a slot."""

    MASKED = "masked"
    CAUSAL = "causal"
    ENCODER_DECODER = "encoder-decoder"


class Endpoint(StrEnum):
    """What a server is asked at."""

    COMPLETIONS = "completions"
    CHAT = "chat"


DTYPES = ("auto", "float32", "bfloat16", "float16", "float64")
_CHOICES: dict[str, type[StrEnum]] = {
    "scope": Scope,
    "style": Style,
    "family": Family,
    "endpoint": Endpoint,
    "engine": Engine,
}


@dataclass(frozen=True)
class ModelOptions:
    """How a model is loaded and asked. What shapes an answer is part of the signature; the rest is
    the machine's.

    Choices may be given as plain strings: `ModelOptions(scope="option")`. The weights are float32
    on a CPU and of the checkpoint's own type elsewhere, unless `dtype` says otherwise; `device_map`
    and `quantization` are those of transformers, `engine_options` vLLM's. A server is asked at its
    completions endpoint unless `endpoint` or `chat` says otherwise; `system` is the text that opens
    a conversation. A model that `generates` is asked for free answers only, so that a server needs
    no log-probabilities. `concurrency` is the number of requests at a time, `budget` an amount of
    money at the `price` given, else of tokens; with `reuse`, answers are kept and reused by prompt.
    With the `engine` ray, `workers` copies of the model answer on a cluster.
    """

    scope: Scope | str = Scope.SENTENCE
    style: Style | str = Style.QA
    family: Family | str | None = None
    batch_size: int | None = None
    device: str = "auto"
    dtype: str | None = None
    device_map: str | None = None
    quantization: str | None = None
    engine_options: tuple[str, ...] = ()
    revision: str | None = None
    base_url: str | None = None
    endpoint: Endpoint | str | None = None
    generates: bool = False
    chat: bool = False
    system: str | None = None
    concurrency: int | None = None
    budget: float | None = None
    price: str | None = None
    reuse: bool = False
    engine: Engine | str = Engine.LOCAL
    workers: int = 2
    trust_remote_code: bool = False
    allow_pickle: bool = False

    @classmethod
    def from_keywords(cls, options: Mapping[str, Any], others: Iterable[str] = ()) -> Self:
        """The options of a call that has `others` of its own; a name that there is not is a user's
        mistake."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                choices = list(dict.fromkeys([*others, *names]))
                hint = did_you_mean(name, choices)
                raise UserError(
                    f"There is no option '{name}'{hint}: choose from {', '.join(choices)}."
                )
        validate_types(options, get_type_hints(cls))
        plain: dict[str, Any] = {name: plain_number(value) for name, value in options.items()}
        return cls(**plain)

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in list(choices):
                raise UserError(f"Unknown {name} '{value}': choose one of {', '.join(choices)}.")
            # a plain string becomes its choice, also in a class that is frozen from here on
            object.__setattr__(self, name, choices(value) if value else None)
        if self.dtype is not None and self.dtype not in DTYPES:
            raise UserError(f"Unknown dtype '{self.dtype}': choose one of {', '.join(DTYPES)}.")
        for name in ("batch_size", "concurrency", "workers"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise UserError(f"--{name.replace('_', '-')} is {count}: give 1 or more.")
        if self.budget is not None and not self.budget > 0:  # nor is NaN
            raise UserError(f"--budget is {self.budget}: give an amount above 0.")
        if self.chat and self.endpoint == Endpoint.COMPLETIONS:
            raise UserError(
                "--chat asks a server's chat endpoint, and --endpoint completions the other one: "
                "give one."
            )
        if self.system is not None and not self.chat and self.endpoint != Endpoint.CHAT:
            raise UserError("--system is the first turn of a conversation: add --chat.")
