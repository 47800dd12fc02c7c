"""prior-size: which of two things is larger in this picture, and which is larger in the world?"""

from __future__ import annotations

from pathlib import Path

from seesay.pictures.dataset_writer import images
from seesay.pictures.icons import ICONS, LICENCE
from seesay.pictures.plan import size_pictures
from seesay.pictures.questions import size_questions
from seesay.pictures.tasks.prior_color import picture_folder, prior_task
from seesay.questions import Task, Template

NAME = "prior-size"
VERSION = "1"
_WORDS = {"larger": "larger than", "smaller": "smaller than", "equal": "as large as"}
_BIG = {"larger": "bigger than", "smaller": "smaller than", "equal": "as big as"}
TEMPLATES = (
    Template("question", "{question} Answer: [MASK].", _WORDS),
    Template("claim", "{first} [MASK] {second}.", _WORDS),
    Template("claim-big", "{first} [MASK] {second}.", _BIG),
)


def load(data: Path | None = None, *, seed: int = 0) -> Task:
    """Load the task about the pictures of a folder that `seesay pictures make` wrote.

    By default it is about those in the cache, which are drawn with a seed.
    """
    folder, seed = picture_folder(NAME, data, seed)
    questions = tuple(size_questions(size_pictures(seed), images(folder)))
    notes = (f"{ICONS.requirement}, {LICENCE}",)
    return prior_task(NAME, VERSION, questions, TEMPLATES, notes)
