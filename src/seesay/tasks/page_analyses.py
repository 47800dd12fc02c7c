"""Which analyses of a task's questions and answers a page of its runs shows, declared here by the
task's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seesay.tasks.viphy.facts import SOURCE


@dataclass(frozen=True)
class PageAnalyses:
    """A task that is analysed by the tags and labels of its questions.

    `label_words` has the labels in words, where they are signs; `by_entropy` asks for the gold
    distribution of every question, from one label to many.
    """

    label_words: Mapping[str, str] = field(default_factory=dict)
    by_entropy: bool = False


@dataclass(frozen=True)
class ComparedTasks:
    """Tasks whose headline figures are shown side by side; `parts` maps each to its name in the
    comparison."""

    name: str
    title: str
    chart_title: str
    text: str
    source: str
    parts: Mapping[str, str]


_SIZES = PageAnalyses({">": "larger", "<": "smaller"})

PAGE_ANALYSES: Mapping[str, PageAnalyses] = {
    "viphy-color": PageAnalyses(by_entropy=True),
    "viphy-space": PageAnalyses(
        {
            ">": "above",
            "=": "similar level",
            "<": "below",
        }
    ),
    "viphy-size": _SIZES,
    "viphy-size-pairs": _SIZES,
    "viphy-size-things": _SIZES,
    "viphy-size-subtype": _SIZES,
    "viphy-size-transitive": _SIZES,
}

SIZE_SETS = ComparedTasks(
    name="size-sets",
    title="Sizes by inference",
    chart_title="Sizes: three sets of pairs",
    text=(
        "The standard pairs, their subtypes, and pairs that are comparable only through a third "
        "object. In the "
        "published transitive set the first object is always the smaller one: a model that always "
        "says so scores 1."
    ),
    source=f"{SOURCE}, Table 6",
    parts={
        "viphy-size": "standard",
        "viphy-size-subtype": "subtype",
        "viphy-size-transitive": "transitive",
    },
)

COMPARED_TASKS = (SIZE_SETS,)
