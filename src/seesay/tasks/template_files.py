"""The templates of tasks, and what was published about them, as files declare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seesay.braces import double_braces
from seesay.data.task_files.schema import PublishedFigure, TemplateFile, TemplateText
from seesay.data.task_files.texts import with_article
from seesay.data.task_files.yaml_text import read_yaml
from seesay.errors import UserError
from seesay.questions import ENGLISH, Instructions, Published, Slice, Template, Training

FOLDER = Path(__file__).parents[1] / "data" / "templates"
"""The folder of the templates of tasks that are Python code: `NAME.yaml` for each."""


@cache
def read_template_file(name: str) -> Mapping[str, Any]:
    """Return the arguments of `Task` that the template file of a built-in task declares.

    They are read once: a page of results asks for them many times.
    """
    file = TemplateFile.model_validate(read_yaml(FOLDER / f"{name}.yaml").value)
    return {
        "templates": build_templates(file.templates, {}),
        "choice_templates": build_templates(file.choice_templates, {}),
        "qa_templates": build_templates(file.qa_templates, {}),
        "neutral": file.neutral,
        "metrics": file.metrics,
        "published": select_figures(file.published, "cloze"),
        "training": Training(
            linear_text=file.linear_text,
            linear_published=select_figures(file.published, "linear"),
        ),
    }


def build_templates(
    entries: Mapping[str, TemplateText],
    words: Mapping[str, str],
    labels: Iterable[str] = (),
    instructions: Instructions = ENGLISH,
) -> tuple[Template, ...]:
    """Return the templates of declared entries; a template's own words override `words`.

    `labels` are all that any question offers: in a template that puts an article before its slot,
    each of them gets the one that fits.
    """
    templates = []
    for name, entry in entries.items():
        own_words = {**words, **entry.words}
        if entry.has_article:
            if any("{" in word for word in own_words.values()):
                raise UserError(
                    f"The template '{name}' puts an article before words that differ from row to "
                    "row: write the article into the column."
                )
            own_words = {
                label: with_article(own_words.get(label, double_braces(label))) for label in labels
            }
        templates.append(Template(name, entry.plain_text, own_words, instructions))
    return tuple(templates)


def published_figures(name: str) -> tuple[Published, ...]:
    """Return all published figures of a file, of models asked and of trained probes."""
    fields = read_template_file(name)
    return (*fields["published"], *fields["training"].linear_published)


def select_figures(figures: Sequence[PublishedFigure], how: str) -> tuple[Published, ...]:
    """Return the published figures of models asked (`cloze`) or of trained probes (`linear`)."""
    return tuple(_published(figure) for figure in figures if figure.how == how)


def _published(figure: PublishedFigure) -> Published:
    """Return a declared figure as tasks hold it."""
    part = None
    if figure.slice is not None:
        part = Slice.parse(figure.slice)
    return Published(
        model=figure.model,
        metric=figure.metric,
        value=figure.value,
        source=figure.source,
        spread=figure.spread,
        slice=part,
        place=figure.place,
    )
