"""What a run folder holds, as Pydantic models: the schema is the documentation."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from seesay.condition import Condition
from seesay.documents import Document
from seesay.questions import BadRow, DataSource, Slice

FORMAT = 1
"""The format of a run folder: of its manifest and of the files beside it."""


class Record(Document):
    """One figure. `seesay probe --json` prints a list of these."""

    model: str
    """The model's name as the user gave it."""

    condition: Condition | None = None
    """How the model was asked; null for texts that nobody was asked for, such as captions."""

    task: str
    """The task's name."""

    metric: str
    """The metric's name, such as `accuracy`; `calibrated_…` is the same under the calibrated
    rule."""

    template: str | None
    """The template's name; null for the mean over templates."""

    slice: Slice | None
    """`tag=value` for a part of the questions, `tag=value × tag=value` for a crossed one; null for
    all."""

    value: float
    """The figure itself."""

    low: float
    """Lower end of the 95 % interval (bootstrap clustered by object; Wilson's where all are
    alike)."""

    high: float
    """Upper end of the 95 % interval."""

    n: int
    """How many questions it rests on."""

    objects: int
    """How many objects these are about; where objects are pairs, no more than there are things in
    them."""

    too_few: bool
    """Whether there are fewer than ten objects: the interval may then be too narrow."""

    signature: str
    """How the number was made, in one line."""


class Figure(Record):
    """A record as a run stores it: with what is needed to judge it."""

    spread: float | None = None
    """Standard deviation over templates; null for a single template."""

    chance: float | None = None
    """What a model that gives every option the same probability scores."""

    def as_record(self) -> dict[str, Any]:
        """Return the record alone, as `--json` prints it."""
        return self.model_dump(include=set(Record.model_fields))


class Manifest(Document):
    """Which model was asked which task and how: enough to repeat the run."""

    format: int = FORMAT
    """Version of the run folder's format."""

    seesay: str
    """seesay's version."""

    created: str
    """When the run was started, ISO 8601, UTC."""

    command: str
    """The command line that started it, without secrets."""

    model: str
    """The model's name as the user gave it."""

    family: str
    """How the model answers: masked, causal, encoder-decoder, completions, chat, baseline…"""

    model_fingerprint: str
    """Digest of the model's weights and tokeniser (or their equivalent)."""

    parameters: int | None = None
    """How many parameters the model's network has; null where that is not known."""

    diet: dict[str, str] = Field(default_factory=dict)
    """What the model was raised on, dial by dial; empty where that is not known."""

    condition: Condition
    """How it was asked: by cloze or choice, in a chat, with examples; what is scored, and by which
    length rule."""

    task: str
    """The task's name."""

    task_version: str
    """The task's version."""

    task_fingerprint: str
    """Digest of every question, template and option."""

    templates: list[str]
    """Names of the templates asked."""

    questions: int
    """How many questions were asked, each in every template."""

    limit: int | None
    """How many questions the user asked to keep; null for all."""

    seed: int
    """Seed of the bootstrap and of any sampling."""

    resamples: int
    """How many bootstrap resamples the intervals rest on."""

    signature: str
    """All of the above that shapes the number, in one line."""

    environment: dict[str, str]
    """Versions of Python and of the libraries that computed the answers."""

    citation: str = ""
    """How to cite the task's data."""

    notes: list[str] = Field(default_factory=list)
    """Warnings given while the model was asked."""

    spent: dict[str, float] = Field(default_factory=dict)
    """What a server reports of this run: `requests`, `tokens_read`, `tokens_written`, and `cost` at
    the prices given; empty for a model that costs nothing."""

    data: list[DataSource] = Field(default_factory=list)
    """The data files read: name, SHA-256, and whether as published."""

    digests: dict[str, str] = Field(default_factory=dict)
    """Digests of the finished run's files, by which an edit is noticed."""

    data_notes: list[str] = Field(default_factory=list)
    """What else was done to the data."""

    bad_rows: list[BadRow] = Field(default_factory=list)
    """Rows of the data files that were left out, with the reason."""


class Comparison(Document):
    """Two models on the same questions of one task, or on two editions of it."""

    task: str
    """The task's name."""

    metric: str
    """The metric's name."""

    slice: Slice | None = None
    """The part of the questions compared; null for all of them."""

    a: str
    """The first model."""

    b: str
    """The second model."""

    value_a: float
    """The first model's figure on the shared questions."""

    value_b: float
    """The second model's figure on the shared questions."""

    difference: float
    """value_a − value_b."""

    low: float
    """Lower end of the difference's 95 % interval (paired bootstrap clustered by object)."""

    high: float
    """Upper end of the difference's 95 % interval."""

    p_bootstrap: float
    """Two-sided p-value of the paired bootstrap."""

    p_signflip: float
    """Two-sided p-value of the sign-flip test, objects exchanged whole."""

    p_holm: float
    """p_signflip after Holm's correction for all the comparisons of the task."""

    p_mcnemar: float | None
    """Exact McNemar p-value; null for metrics that are not right-or-wrong, and where two questions
    are about one thing or are asked in several templates: the test takes answers to be
    independent."""

    n: int
    """How many questions both answered; of two editions, how many either of them did."""

    anchors: int | None = None
    """How many of the questions two editions share, by which these are equated; null where both
    were asked the same."""

    objects: int
    """How many objects these are about; where objects are pairs, no more than there are things in
    them."""

    too_few: bool
    """Whether there are fewer than ten objects: the interval may then be too narrow."""

    signature_a: str
    """How the first figure was made."""

    signature_b: str
    """How the second figure was made."""
