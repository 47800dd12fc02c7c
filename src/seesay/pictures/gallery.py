"""A gallery of pictures that pull: picture, question, and the options' probabilities as a bar.

The strongest pulls come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from seesay.data.pictures import open_thumbnail
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


@dataclass(frozen=True)
class Exhibit:
    """A picture with its question and the model's answer."""

    picture: str
    """A small PNG as a data address."""
    text: str
    """The question."""
    right: str
    pulled: str
    """The wrong answer that the prior or the picture suggests."""
    answer: str
    bar: Markup
    """The probabilities of all options."""
    log_odds: float
    """Those of the pull against what is right."""
    is_pulled: bool


@dataclass(frozen=True)
class Gallery:
    """The strongest pulls of one model by their source, and its conditions compared."""

    label: str
    series: int
    rooms: tuple[tuple[str, tuple[Exhibit, ...], int], ...]
    """Title, the strongest exhibits, and the number of all, by source of the pull."""
    contrasts: tuple[Contrast, ...]


TITLES = {
    "prior": "What is shown is asked for, and the usual answer pulls",
    "picture": "What is usual is asked for, and the picture pulls",
}


def render_galleries(group: TaskRuns, choices: Sequence[Choices]) -> Markup:
    """Render the galleries of a task's runs as HTML; empty for tasks without pulls."""
    rooms = galleries(group, choices)
    if not rooms:
        return Markup("")
    template = templates("seesay.pictures").get_template("gallery.html")
    return Markup(template.render(galleries=rooms))


def galleries(group: TaskRuns, choices: Sequence[Choices]) -> list[Gallery]:
    """Return a gallery per model; none for tasks without pulls."""
    options = shared_options(group.task)
    if options is None or not any(question.marks for question in group.task.questions):
        return []
    runs = zip(group.entries, choices, strict=True)
    return [_gallery(entry, run_choices, options) for entry, run_choices in runs]


def _gallery(entry: LabelledRun, choices: Choices, options: Sequence[str]) -> Gallery:
    """Return the gallery of one model."""
    task = entry.run.task
    template_names = [template.name for template in task.templates]
    rooms = []
    for source, title in TITLES.items():
        exhibits = []
        for question in task.questions:
            if source not in question.marks or not question.picture:
                continue
            # a page may be made on a machine that lacks the pictures, or what opens them
            picture = open_thumbnail(question.picture)
            if picture is not None:
                exhibits.append(
                    _exhibit(
                        question,
                        picture,
                        source,
                        choices,
                        template_names,
                        options,
                    )
                )
        exhibits.sort(key=lambda exhibit: -exhibit.log_odds)
        if exhibits:
            rooms.append((title, tuple(exhibits[:SHOWN]), len(exhibits)))
    return Gallery(entry.label, entry.series, tuple(rooms), tuple(contrasts(entry.run)))


def _exhibit(
    question: Question,
    picture: str,
    source: str,
    choices: Choices,
    templates: Sequence[str],
    options: Sequence[str],
) -> Exhibit:
    """Return the exhibit of a question, with probabilities that are means over templates."""
    # templates count equally, as in the figures
    shares = np.mean([choices[question.id, template].shares for template in templates], axis=0)
    by_option = dict(zip(options, shares.tolist(), strict=True))
    suggested = question.marks[source]
    pulled = max(sum(by_option[label] for label in suggested), LEAST)
    right = max(sum(by_option[label] for label in question.gold), LEAST)
    answer = max(by_option, key=by_option.__getitem__)
    # what a screen reader says in place of the bar: shares that round to 0 % are noise
    spoken = ", ".join(
        f"{option} {100 * share:.0f} %" for option, share in by_option.items() if share >= 0.005
    )
    segments = list(zip(options, swatches(options), shares.tolist(), strict=True))
    # the eye takes what a bar begins with for the answer; what is right comes next
    segments.sort(key=lambda segment: (segment[0] != answer, segment[0] not in question.gold))
    return Exhibit(
        picture=picture,
        text=question.fields["question"],
        right=" or ".join(question.gold),
        pulled=" or ".join(suggested),
        answer=answer,
        bar=share_bar(segments, spoken),
        log_odds=float(np.log(pulled) - np.log(right)),
        is_pulled=answer in suggested,
    )
