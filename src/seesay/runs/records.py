"""What a run folder holds, as Pydantic models: the schema is the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Record(_Document):
    """One figure. `seesay probe --json` prints a list of these."""

    model: str = Field(description="The model's name as the user gave it.")
    task: str = Field(description="The task's name.")
    metric: str = Field(
        description="The metric's name, such as `accuracy`; `calibrated_…` is the same under the calibrated rule."
    )
    template: str | None = Field(description="The template's name; null for the mean over templates.")
    slice: str | None = Field(description="`tag=value` for a part of the questions; null for all of them.")
    value: float = Field(description="The figure itself.")
    low: float = Field(description="Lower end of the 95 % interval (bootstrap clustered by object).")
    high: float = Field(description="Upper end of the 95 % interval.")
    n: int = Field(description="How many questions it rests on.")
    signature: str = Field(description="How the number was made, in one line.")


class Figure(Record):
    """A record as a run keeps it: with what is needed to judge it."""

    spread: float | None = Field(
        default=None, description="Standard deviation over templates; null for a single template."
    )
    chance: float | None = Field(
        default=None, description="What a model that gives every option the same probability scores."
    )


class Manifest(_Document):
    """What was asked of whom and how: enough to make the run again."""

    seesay: str = Field(description="seesay's version.")
    created: str = Field(description="When the run was begun, ISO 8601, UTC.")
    command: str = Field(description="The command line that began it.")
    model: str = Field(description="The model's name as the user gave it.")
    family: str = Field(
        description="How the model answers: masked, causal, encoder-decoder, completions, chat, baseline…"
    )
    model_fingerprint: str = Field(description="Digest of the model's weights and tokeniser (or what stands for them).")
    task: str = Field(description="The task's name.")
    task_version: str = Field(description="The task's version.")
    task_fingerprint: str = Field(description="Digest of every question, template and option.")
    templates: list[str] = Field(description="Names of the templates asked.")
    questions: int = Field(description="How many questions were asked, each in every template.")
    limit: int | None = Field(description="How many questions the user asked to keep; null for all.")
    scope: str = Field(
        description="What is scored: `sentence` (option and the rest of the sentence), `option` (option alone), …"
    )
    length: str = Field(description="Length rule: `sum`, `mean` (per token) or `char` (per character).")
    seed: int = Field(description="Seed of the bootstrap and of any sampling.")
    resamples: int = Field(description="How many bootstrap resamples the intervals rest on.")
    signature: str = Field(description="All of the above that shapes the number, in one line.")
    environment: dict[str, str] = Field(
        description="Versions of Python and of the libraries that computed the answers."
    )
    citation: str = Field(default="", description="How to cite the task's data.")
    notes: list[str] = Field(default_factory=list, description="What was warned of while the model was asked.")
    data: list[str] = Field(default_factory=list, description="The data files read: name, sha256, and how they stand.")
    bad_rows: list[str] = Field(
        default_factory=list, description="Rows of the data file that were left out, with the reason."
    )


class Comparison(_Document):
    """Two models on the same questions of one task."""

    task: str = Field(description="The task's name.")
    metric: str = Field(description="The metric's name.")
    a: str = Field(description="The first model.")
    b: str = Field(description="The second model.")
    value_a: float = Field(description="The first model's figure on the shared questions.")
    value_b: float = Field(description="The second model's figure on the shared questions.")
    difference: float = Field(description="value_a − value_b.")
    low: float = Field(
        description="Lower end of the difference's 95 % interval (paired bootstrap clustered by object)."
    )
    high: float = Field(description="Upper end of the difference's 95 % interval.")
    p_bootstrap: float = Field(description="Two-sided p-value of the paired bootstrap.")
    p_signflip: float = Field(description="Two-sided p-value of the sign-flip test, objects exchanged whole.")
    p_holm: float = Field(description="p_signflip after Holm's correction for all the comparisons made at once.")
    p_mcnemar: float | None = Field(description="Exact McNemar p-value; null for metrics that are not right-or-wrong.")
    n: int = Field(description="How many questions both answered.")
    signature_a: str = Field(description="How the first figure was made.")
    signature_b: str = Field(description="How the second figure was made.")
