"""easy-VQA (Zhou 2019, MIT licence): 5,000 pictures of one shape and questions, from PyPI."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from seesay.errors import UserError, missing_extra

SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True)
class VqaQuestion:
    """One question about a picture."""

    question: str
    answer: str
    image: int
    path: str


def release() -> str:
    """Return the package's version, which identifies its data."""
    _package()
    return version("easy-vqa")


def answers() -> tuple[str, ...]:
    """Return all possible answers, in the package's order: yes, no, three shapes, eight colours."""
    return tuple(_package().get_answers())


@cache
def read(split: str) -> tuple[VqaQuestion, ...]:
    """Read the questions of `train` or `test`, those about one picture together."""
    if split not in SPLITS:
        raise UserError(f"easy-vqa has no split '{split}': choose {' or '.join(SPLITS)}.")
    package = _package()
    questions, labels, images = getattr(package, f"get_{split}_questions")()
    paths = getattr(package, f"get_{split}_image_paths")()
    rows = []
    for question, answer, image in zip(questions, labels, images, strict=True):
        rows.append(VqaQuestion(question, answer, image, paths[image]))
    # one picture after the other, so that each is read only once
    return tuple(sorted(rows, key=lambda row: row.image))


def _package() -> Any:
    try:
        return import_module("easy_vqa")
    except ImportError as error:
        raise missing_extra("The easy-vqa data", "reasoners", error) from error
