"""A gallery of pictures that pull: picture, question, and the options' probabilities as a colour
bar, by pull."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from markupsafe import Markup

from seesay.data.pictures import open_rgb, png_address
from seesay.pictures.conditions import Contrast, contrasts
from seesay.pictures.pull import LEAST
from seesay.questions import Question
from seesay.reports.answers import Choices, shared_options
from seesay.reports.charts.dotplot import share_bar
from seesay.reports.charts.kernel import swatches
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.layout import templates

SHOWN = 12
"""Pictures per model and source of the pull."""
_SIZE = 96


@dataclass(frozen=True)
class Exhibit:
    """A picture with its question and what the model made of it; `log_odds` of the pull against
    what is right."""

    picture: str
    text: str
    right: str
    pulled: str
    answer: str
    bar: Markup
    log_odds: float
    is_pulled: bool


@dataclass(frozen=True)
class Gallery:
    """The strongest pulls of one model by their source, and its conditions compared."""

    label: str
    series: int
    rooms: tuple[tuple[str, tuple[Exhibit, ...], int], ...]
    contrasts: tuple[Contrast, ...]


TITLES = {
    "prior": "What is shown is asked for, and the usual answer pulls",
    "picture": "What is usual is asked for, and the picture pulls",
}


def render_galleries(group: TaskRuns, chosen: Sequence[Choices]) -> Markup:
    """The galleries of a task's runs as HTML; empty for tasks without pulls."""
    shown = galleries(group, chosen)
    if not shown:
        return Markup("")
    return Markup(templates("seesay.pictures").get_template("gallery.html").render(galleries=shown))


def galleries(group: TaskRuns, chosen: Sequence[Choices]) -> list[Gallery]:
    """One per model; none for tasks without pulls."""
    options = shared_options(group.task)
    if options is None or not any(question.marks for question in group.task.questions):
        return []
    return [
        _gallery(entry, choices, options)
        for entry, choices in zip(group.entries, chosen, strict=True)
    ]


def _gallery(entry: LabelledRun, choices: Choices, options: Sequence[str]) -> Gallery:
    task = entry.run.task
    rooms = []
    for source, title in TITLES.items():
        exhibits = [
            _exhibit(
                question, source, choices, [template.name for template in task.templates], options
            )
            for question in task.questions
            if source in question.marks and question.picture and Path(question.picture).is_file()
        ]
        exhibits.sort(key=lambda exhibit: -exhibit.log_odds)
        if exhibits:
            rooms.append((title, tuple(exhibits[:SHOWN]), len(exhibits)))
    return Gallery(entry.label, entry.series, tuple(rooms), tuple(contrasts(entry.run)))


def _exhibit(
    question: Question,
    source: str,
    choices: Choices,
    templates: Sequence[str],
    options: Sequence[str],
) -> Exhibit:
    shares = np.mean([choices[question.id, template].shares for template in templates], axis=0)
    by_option = dict(zip(options, shares.tolist(), strict=True))
    pulled, right = (
        max(sum(by_option[label] for label in labels), LEAST)
        for labels in (question.marks[source], question.gold)
    )
    answer = max(by_option, key=by_option.__getitem__)
    spoken = ", ".join(
        f"{option} {100 * share:.0f} %" for option, share in by_option.items() if share >= 0.005
    )
    return Exhibit(
        picture=thumbnail(str(question.picture)),
        text=question.fields["question"],
        right=" or ".join(question.gold),
        pulled=" or ".join(question.marks[source]),
        answer=answer,
        bar=share_bar(list(zip(options, swatches(options), shares.tolist(), strict=True)), spoken),
        log_odds=float(np.log(pulled) - np.log(right)),
        is_pulled=answer in question.marks[source],
    )


@lru_cache(maxsize=512)
def thumbnail(path: str) -> str:
    """A small PNG as a data address."""
    picture = open_rgb(path)
    picture.thumbnail((_SIZE, _SIZE))
    return png_address(picture)
