"""kind-size: is the thing in the frame big here, and is it big for its kind?"""

from __future__ import annotations

from pathlib import Path

from seesay.pictures.dataset_writer import images
from seesay.pictures.icons import ICONS, LICENCE
from seesay.pictures.kinds import kind_pictures, kind_questions
from seesay.pictures.tasks.prior_color import CHOICE, CITATION, picture_folder
from seesay.questions import Provenance, Task, Template

NAME = "kind-size"
VERSION = "1"
TEMPLATES = (
    Template("question", "{question} Answer: [MASK]."),
    Template("q-a", "Q: {question} A: [MASK]."),
)


def load(data: Path | None = None, *, seed: int = 0) -> Task:
    """Load the task about the pictures of a folder that `seesay pictures make` wrote.

    By default it is about those in the cache, which are drawn with a seed.
    """
    folder, seed = picture_folder(NAME, data, seed)
    return Task(
        name=NAME,
        version=VERSION,
        title="",
        templates=TEMPLATES,
        questions=tuple(kind_questions(kind_pictures(seed), images(folder))),
        metrics=("accuracy",),
        nested_by="question_type",
        choice_templates=CHOICE,
        provenance=Provenance(notes=(f"{ICONS.requirement}, {LICENCE}",), citation=CITATION),
    )
