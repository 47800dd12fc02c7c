"""The grammar of a task file, with a sentence under every field: `seesay tasks schema` prints it
for editors.

A text is whatever is written, numbers and `yes` included. Where a field takes a *text source*, it
is the name of a column, or a text with columns in braces: `{fruit}`, `{Fruit}` with a capital, `{a
fruit}` with its article.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    Tag,
    field_validator,
    model_validator,
)

from seesay import metrics
from seesay.braces import references
from seesay.data.task_files.pairs import STANDS_FOR, Pairs, expand_pairs
from seesay.data.task_files.row_rules import Join, Rule
from seesay.data.task_files.schema_base import (
    READS,
    Column,
    ListBranch,
    Names,
    Part,
    Text,
    TextBranch,
    exactly_one,
    kind_of,
)
from seesay.data.task_files.schema_rows import Reading, RowSources, Split, SplitRows
from seesay.questions import ENGLISH, SLOT
from seesay.registry import did_you_mean

Source = str | list[str] | list[dict[str, Any]]
"""A file or data set, several of them, or rows."""
Sources = dict[str, Source]
"""A source of rows for each split."""

MOST_TEMPLATES = 1_000
MOST_OPTIONS = 10_000


class Options(Part):
    """Where a question's options come from, where they are not one list for all questions."""

    column: Column = ""
    """A column that lists the row's options."""
    separator: Text = ";"
    """What separates the options in that column."""
    columns: Annotated[Names, READS] = ()
    """Columns that hold one option each."""
    answers: Column = ""
    """A column: all of its values are the options of every question."""
    within: Column = ""
    """With `answers`: only the values of rows that are equal in this column."""
    order: Literal["alphabet", "rows"] = "alphabet"
    """With `answers`: their order, by alphabet or as the rows have them."""
    sets: dict[str, Names] = Field(default={})
    """Named sets of options, of which `by` chooses one."""
    by: Column = ""
    """With `sets`: the column that names the row's set."""

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        """Refuse options from several places, and halves of fields that go together."""
        exactly_one(self, "column", "columns", "answers", "sets")
        if bool(self.sets) != bool(self.by):
            raise ValueError(
                "'sets' and 'by' go together: `by` names the column that chooses the set"
            )
        if self.within and not self.answers:
            raise ValueError("'within' goes with 'answers'")
        return self


ByLabel = Annotated[
    TextBranch | ListBranch | Annotated[dict[str, Text], Tag("<mapping>")],
    Discriminator(kind_of),
]


class Gold(Part):
    """The right answers of a row, where they are not simply the label in a column."""

    column: Column = ""
    """The column with the label, or with a list of labels."""
    separator: Text = ""
    """What separates several right labels in that column."""
    says: Literal["label", "index", "number", "letter", "column", "order"] = "label"
    """What the column holds: the label itself, the option's index from 0 or number from 1, its
    letter from A, or the name of its column. Of one column of weights or votes also `order`: a
    number for each option, in the order of the options."""
    share: Column = ""
    """A column with the number of people who gave that label; its weight is their share."""
    of: FiniteFloat | None = Field(default=None, gt=0)
    """With `share`: the number of people who were asked."""
    weights: Annotated[ByLabel | None, READS] = None
    """Weights instead of one label: a column per label (`{yes: share_yes}`), columns named as the
    labels, or one column that holds a mapping."""
    votes: Annotated[ByLabel | None, READS] = None
    """Numbers of votes instead of one label, given as `weights` are, or one column that lists the
    votes; a label weighs its share."""

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        """Refuse gold answers from several places, and halves of fields that go together."""
        exactly_one(self, "column", "weights", "votes")
        if bool(self.share) != (self.of is not None):
            raise ValueError("'share' and 'of' go together: how many gave the label, of how many")
        if self.share and self.separator:
            raise ValueError("'share' goes with one label, not with a list")
        if self.says == "order" and not isinstance(self.votes or self.weights, str):
            raise ValueError("`says: order` goes with one column of 'votes' or 'weights'")
        if self.says not in ("label", "order") and not self.column:
            raise ValueError(f"`says: {self.says}` goes with 'column'")
        return self


ARTICLE_SLOTS = (f"{{a {SLOT}}}", f"{{A {SLOT}}}")
"""A slot whose word gets the article that fits it."""


class TemplateText(Part):
    """A template with words of its own."""

    text: Text
    """The text, with one [MASK] and columns in braces. `{a [MASK]}` gives every option the article
    that fits it."""
    words: dict[str, Text] = Field(default={})
    """The word that stands for an option in this template."""

    @property
    def has_article(self) -> bool:
        """Whether options get the article that fits them."""
        return any(slot in self.text for slot in ARTICLE_SLOTS)

    @property
    def plain_text(self) -> str:
        """The text with a slot for the word and its article, if it has one."""
        text = self.text
        for slot in ARTICLE_SLOTS:
            text = text.replace(slot, SLOT)
        return text

    @field_validator("text")
    @classmethod
    def _check_slot(cls, text: str) -> str:
        """Refuse a template in which a model would find no slot, or two."""
        if text.count(SLOT) != 1:
            raise ValueError(
                f"a template needs exactly one {SLOT}, and this has {text.count(SLOT) or 'none'}: "
                f"{text!r}"
            )
        return text


def _as_template(value: Any) -> Any:
    """Return a bare text in the long form of a template."""
    if isinstance(value, str):
        return {"text": value}
    return value


def _by_name(value: Any) -> Any:
    """Templates as a mapping from names, whether they came as one text, a list or a mapping."""
    if isinstance(value, str):
        return {"template": value}
    if isinstance(value, list):
        return {f"template-{number}": text for number, text in enumerate(value, start=1)}
    return value


TemplateEntry = Annotated[
    TemplateText, BeforeValidator(_as_template, json_schema_input_type=str | TemplateText)
]
Templates = Annotated[
    dict[str, TemplateEntry],
    Field(max_length=MOST_TEMPLATES),
    BeforeValidator(_by_name, json_schema_input_type=str | list[str] | dict[str, TemplateEntry]),
]


TEMPLATE_FIELDS = ("templates", "choice_templates", "qa_templates")
"""The fields of a file that hold templates."""


class PublishedFigure(Part):
    """A figure from a paper, shown as it was published."""

    model: Text
    """The model's name in the paper."""
    metric: Text
    """The metric, by seesay's name."""
    value: FiniteFloat
    """The figure, as a share: 0.75, not 75."""
    source: Text
    """Where it was published: authors, year, and the file where no table prints it."""
    spread: FiniteFloat | None = None
    """Its published standard deviation."""
    slice: Text | None = None
    """The slice that it is about, as in `kind=animal`."""
    how: Literal["cloze", "linear"] = "cloze"
    """Whether the model was asked or a probe was trained."""
    place: str = ""
    """The table that prints it, as in `Table 4`."""


class InstructionTexts(Part):
    """What is put around a question where a model is shown the options or answers freely, in the
    language of the task."""

    answer: Text = ENGLISH.answer
    """The cue before the answer."""
    one_of: Text = ENGLISH.one_of
    """How to answer, where the options are named; {options} stands for them."""
    few_words: Text = ENGLISH.few_words
    """How to answer, where they are too many to name."""
    blank: Text = ENGLISH.blank
    """What stands before a sentence with a blank, in a chat and for free answers."""

    @field_validator("one_of")
    @classmethod
    def _check_options(cls, text: str) -> str:
        """Refuse an instruction that does not name the options, or names anything else."""
        if references(text) != ["options"]:
            raise ValueError("'one_of' needs {options}, and nothing else in braces")
        return text


OptionSource = Annotated[
    TextBranch
    | Annotated[Annotated[Names, Field(min_length=2, max_length=MOST_OPTIONS)], Tag("<list>")]
    | Annotated[Options, Tag("<mapping>")],
    Discriminator(kind_of),
]
GoldSource = Annotated[
    TextBranch | Annotated[Gold, Tag("<mapping>")],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<mapping>"),
]
ColumnOrColumns = Annotated[
    TextBranch | ListBranch,
    Discriminator(lambda value: "<list>" if isinstance(value, list | tuple) else "<text>"),
]
TagSources = Annotated[
    ListBranch | Annotated[dict[str, Text], Tag("<mapping>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list | tuple) else "<mapping>"),
]


class TemplateFile(Part):
    """The templates of a task whose rows Python code reads, and what was published about it."""

    templates: Templates
    """The templates by name."""
    choice_templates: Templates = Field(default={})
    """How to put it to a model that is shown the options."""
    qa_templates: Templates = Field(default={})
    """Whole questions, their options included, for a model that writes one of them; `trained` is
    the one that a model is tuned on."""
    linear_text: Text = ""
    """What is encoded for a linear probe."""
    neutral: dict[str, Text] = Field(default={})
    """What to put for fields in the prompt of the calibrated rule."""
    metrics: Names
    """Metrics by name, the headline first."""
    published: list[PublishedFigure] = Field(default=[])
    """Published figures, shown beside the answers."""


class TaskFile(Part):
    """A task: where its rows are, how a row becomes a question, and how the question is put."""

    model_config = ConfigDict(title="seesay task file")

    name: Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] | None = None
    """The task's name in results: small letters, digits, '-', '.' and '_'. Default: the file's
    name."""
    version: Text = "1"
    """The version; a change of the questions deserves a new one."""
    title: Text = ""
    """What the task asks, in a few words."""
    licence: Text = ""
    """The licence of the rows."""
    citation: Text = ""
    """What to cite."""
    source: Text = ""
    """Who published it, in a few words: Forbes & Choi 2017."""
    dataset: Text = ""
    """The data set of `seesay data` that the files of rows belong to."""
    rows: RowSources
    """The rows: a file beside this one (CSV, TSV, JSON lines, JSON, Parquet),
    `hf:owner/name@revision`, several of these, the rows themselves, or one of these for each of
    `train`, `validation` and `test`."""
    read: Reading = Reading()
    """How the files of rows are written."""
    rules: list[Rule] = Field(default=[])
    """What is done to the rows, in this order, before they become questions."""
    anchors: FiniteFloat | None = Field(default=None, gt=0, lt=1)
    """The share of the objects that stay in every edition, where rules draw the rows; with it, the
    task can be drawn anew (`--edition`)."""
    split: Split | None = None
    """How the rows are divided, where there is not one file per split."""
    id: ColumnOrColumns | None = None
    """A question's name: a text source, or columns whose values are joined. Default: the row's
    number."""
    object: ColumnOrColumns | None = None
    """What a question is about; intervals are clustered by it. A text source, or columns whose
    values together make it, in any order. Default: every question is about something of its own."""
    twin: ColumnOrColumns | None = None
    """The id of the question that asks the same the other way round, such as the mirror image of a
    pair (`id: [a, b]`, `twin: [b, a]`), for metrics that compare the two: a text source, or columns
    whose values are joined."""
    fields: dict[str, Text] = Field(default={})
    """Names for text sources, to be used in templates. Columns can be used without."""
    options: OptionSource | None = None
    """The options: a list, the name of a column that lists them, or a mapping that says where they
    come from. Default: all values of the gold column."""
    gold: GoldSource
    """The right answer: the column with its label, or a mapping for anything else."""
    pairs: Pairs | None = None
    """Minimal pairs instead of gold, options and templates: the columns with the good and the bad
    sentence of each row."""
    picture: Text | None = None
    """A text source for the path of the question's picture, below the folder of the rows; or a
    column that holds the picture itself, in a data set of the Hub or a Parquet file."""
    tags: TagSources = Field(default={})
    """What results are sliced by: columns, or names with their text sources."""
    nested_by: Text = ""
    """A tag whose values are nested sets of the same questions: each has its figure, and there is
    none over all of them."""
    templates: Templates = Field(min_length=1)
    """The templates by name: a text with one [MASK] and columns in braces, or a mapping with `text`
    and `words`. One text, or a list of them, will do too."""
    words: dict[str, Text] = Field(default={})
    """The word that stands for an option in every template."""
    choice_templates: Templates = Field(default={})
    """How to put it to a model that is shown the options."""
    qa_templates: Templates = Field(default={})
    """Whole questions, their options included, for a model that writes one of them; `trained` is
    the one that a model is tuned on."""
    instructions: InstructionTexts = InstructionTexts()
    """The words around a question for `--how choice` and `generate`, where the task is not in
    English."""
    linear_text: Text = ""
    """What is encoded for a linear probe."""
    neutral: dict[str, Text] = Field(default={})
    """What to put for columns in the prompt of the calibrated rule, which must not name the
    object."""
    metrics: Names = ()
    """Metrics by name, the headline first. Default: one that fits the gold answers."""
    published: list[PublishedFigure] = Field(default=[])
    """Published figures, shown beside the answers."""

    @model_validator(mode="before")
    @classmethod
    def _expand_pairs(cls, fields: Any) -> Any:
        """Write `pairs` out as the fields that it stands for, before these are checked."""
        return expand_pairs(fields)

    @field_validator("rules")
    @classmethod
    def _check_joins(cls, rules: list[Rule]) -> list[Rule]:
        """Refuse to join row by row what another rule has changed the number or order of."""
        is_changed = False
        for rule in rules:
            if not isinstance(rule, Join):
                is_changed = True
            elif is_changed and not rule.on:
                raise ValueError("a 'join' without 'on' goes row by row: put it first")
        return rules

    @field_validator("metrics")
    @classmethod
    def _check_metrics(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse metrics that do not exist, with the one that may be meant."""
        for name in names:
            if name not in metrics.names():
                raise ValueError(f"unknown metric '{name}'{did_you_mean(name, metrics.names())}")
        return names

    @property
    def word_texts(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """The words that stand for options, with their places; those of `pairs` are not the
        file's."""
        for label, word in self.words.items():
            yield ("words", label), word
        if self.pairs is not None:
            return
        for place in TEMPLATE_FIELDS:
            for name, entry in getattr(self, place).items():
                for label, word in entry.words.items():
                    yield (place, name, "words", label), word

    @property
    def gold_rule(self) -> Gold:
        """The gold answers in their long form."""
        if isinstance(self.gold, Gold):
            return self.gold
        return Gold(column=self.gold)

    @property
    def option_rule(self) -> Options | tuple[str, ...]:
        """The options in their long form; by default all answers of the gold column."""
        if self.options is None:
            return Options(answers=self.gold_rule.column)
        if isinstance(self.options, str):
            return Options(column=self.options)
        return self.options

    @property
    def sources(self) -> Sources:
        """The sources of rows by split; one alone is asked, as `test`."""
        if not isinstance(self.rows, SplitRows):
            return {"test": cast("Source", self.rows)}
        parts = {
            "test": self.rows.test,
            "train": self.rows.train,
            "validation": self.rows.validation,
        }
        sources = {name: source for name, source in parts.items() if source is not None}
        return cast("Sources", sources)

    @property
    def tag_sources(self) -> Mapping[str, str]:
        """The tags by name."""
        if isinstance(self.tags, dict):
            return self.tags
        return {name: name for name in self.tags}


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a task file."""
    schema = TaskFile.model_json_schema()
    # `pairs` stands for some of the required fields, which pydantic's schema does not say.
    always = [name for name in schema["required"] if name not in STANDS_FOR]
    without_pairs = [name for name in schema["required"] if name in STANDS_FOR]
    schema["required"] = always
    schema["anyOf"] = [{"required": without_pairs}, {"required": ["pairs"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
