"""How tasks put their questions, and what was published about them, as files declare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seesay.data.task_files.schema import PublishedFigure, TemplateText, Wording
from seesay.data.task_files.yaml_text import read_yaml
from seesay.questions import Published, Slice, Template

FOLDER = Path(__file__).parents[1] / "data" / "wordings"
"""The folder of the wordings of tasks that are Python code: `NAME.yaml` for each."""


@cache
def wording(name: str) -> Mapping[str, Any]:
    """The arguments of `Task` that the file of a built-in task declares."""
    file = Wording.model_validate(read_yaml(FOLDER / f"{name}.yaml").value)
    return {
        "templates": templates(file.templates, {}),
        "choice_templates": templates(file.choice_templates, {}),
        "linear_text": file.linear_text,
        "neutral": file.neutral,
        "metrics": file.metrics,
        "published": figures(file.published, "cloze"),
        "linear_published": figures(file.published, "linear"),
    }


def templates(
    entries: Mapping[str, TemplateText], words: Mapping[str, str]
) -> tuple[Template, ...]:
    """Templates as they are declared; `words` are those of every template."""
    return tuple(
        Template(name, entry.text, {**words, **entry.words}) for name, entry in entries.items()
    )


def figures(declared: Sequence[PublishedFigure], how: str) -> tuple[Published, ...]:
    """The published figures of models that were asked (`cloze`), or of probes that were trained
    (`linear`)."""
    return tuple(_published(figure) for figure in declared if figure.how == how)


def _published(figure: PublishedFigure) -> Published:
    part = None if figure.slice is None else Slice.parse(figure.slice)
    return Published(figure.model, figure.metric, figure.value, figure.source, figure.spread, part)
